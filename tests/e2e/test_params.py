"""What handlers read by name: paths, queries, forms, JSON and cookies; and the answers that have helpers."""
import json
import unittest

from wire import KIB, MIB, Lost, Shared, chunked, request

FORM, JSON = 'content-type: application/x-www-form-urlencoded', 'content-type: application/json'


class Params(Shared):
    program = 'routes'

    def assertText(self, response, text):
        self.assertEqual((response.status, response.body.decode('latin-1')), (200, text), response)

    def post(self, path, kind, body, method='POST'):
        return self.server.ask(request(method, path, kind, body=body))

    def test_path_into_a_struct(self):
        self.assertText(self.server.get('/posts/a%20b/42'), '42 a b 0 newest')
        for value in ('4294967296', '-1', 'x', '1.0', '%20'):
            with self.subTest(value):
                self.assertProblem(self.server.get(f'/posts/x/{value}'), 400,
                                   '^the path parameter "id" must be an integer from 0 to 4294967295$')

    def test_all_of_the_path(self):
        self.assertText(self.server.get('/map/1/%3D/x/y'), 'a=1\nb==\nc=x/y\n')

    def test_same_table_for_query_form_and_json(self):
        for query, text in (('slug=a+b&id=7', '7 a b 1 newest'), ('id=1000&slug=x&page=9&order-by=cheapest&id=2&y', '1000 x 9 cheapest')):
            self.assertText(self.server.get('/search?' + query), text)
            self.assertText(self.post('/search', FORM, query), text)
        self.assertText(self.post('/search', JSON, '{"slug":"a b","id":7,"x":[1]}', method='PUT'), '7 a b 1 newest')
        for query, data, name, must in (
                ('slug=x', {'slug': 'x'}, 'id', 'is missing: it must be an integer from 1 to 1000'),
                ('slug=x&id=0', {'slug': 'x', 'id': 0}, 'id', 'must be an integer from 1 to 1000'),
                ('slug=&id=1', {'slug': '', 'id': 1}, 'slug', 'must be text of 1 to 8 bytes'),
                ('slug=x&id=1&order-by=x', {'slug': 'x', 'id': 1, 'order-by': 'x'}, 'order-by', 'must be one of newest, cheapest'),
                ('slug=x&id=1&page=-1', {'slug': 'x', 'id': 1, 'page': -1}, 'page', 'must be an integer from 0 to 4294967295')):
            with self.subTest(query):
                self.assertProblem(self.server.get('/search?' + query), 400, f'^the query parameter "{name}" {must}$')
                self.assertProblem(self.post('/search', FORM, query), 400, f'^the form field "{name}" {must}$')
                self.assertProblem(self.post('/search', JSON, json.dumps(data), method='PUT'), 400, f'^the JSON member "{name}" {must}$')
        self.assertProblem(self.post('/search', JSON, '[]', method='PUT'), 400, 'object')

    def test_members_of_a_json_body_that_no_table_names(self):
        """Refused by a table that is strict; others ignore them, as /search does."""
        put = lambda body: self.post('/tag', JSON, body, method='PUT')
        self.assertText(put('{"name":"a","w":2}'), 'a 2')
        self.assertText(put('{"name":"a"}'), 'a 1')
        self.assertProblem(put('{"name":"a","weight":2}'), 422, '^the JSON member "weight" is unknown$')
        self.assertProblem(put('{"name":"a","":null}'), 422, '^the JSON member "" is unknown$')
        # What is misspelt is told of, not what is missing for it.
        self.assertProblem(put('{"nmae":"a"}'), 422, '"nmae" is unknown')
        self.assertProblem(put('{"w":2}'), 400, '"name" is missing')
        for name in ('ü' * 33, 'x' + 'ü' * 32, 'x' * 66, '€' * 30):
            shown = name.encode()[:64].decode(errors='ignore')
            self.assertProblem(put(json.dumps({'name': 'a', name: 1}, ensure_ascii=False).encode()), 422, f'^the JSON member "{shown}" is unknown$')

    def test_query_as_pairs(self):
        self.assertText(self.server.get('/query?x=1&y=a+b%26&x=2&z&%zz=%&=e&&'), 'x=1\ny=a b&\nx=2\nz=\n%zz=%\n=e\n')
        self.assertText(self.server.get('/query'), '')
        self.assertText(self.server.get('/query?'), '')
        self.assertText(self.server.get('/query?a=%ff%00'), 'a=\xff\0\n')

    def test_form(self):
        self.assertText(self.post('/form', FORM, 'x=1&y=a+b%26&x=2'), 'x=1\ny=a b&\nx=2\n')
        self.assertText(self.post('/form', FORM + '; charset=utf-8', 'x'), 'x=\n')
        response = self.server.ask(request('POST', '/form', FORM, 'transfer-encoding: chunked', body=chunked('a=%', '41', '&b')))
        self.assertText(response, 'a=A\nb=\n')
        for kind in (JSON, 'x: y', 'content-type: multipart/form-data; boundary=x', 'content-type:'):
            self.assertProblem(self.post('/form', kind, 'x=1'), 415, 'application/x-www-form-urlencoded')
        self.assertProblem(self.post('/form', FORM, 'a&' * 4097), 413, 'fields')
        self.assertText(self.post('/form', FORM, 'a&' * 4096), 'a=\n' * 4096)
        self.assertProblem(self.post('/form', FORM, 'a' * (MIB + 1)), 413)

    def test_json(self):
        for text in ('{}', '[]', '0', '"x"', 'null', '[1,{"a":[true,null,-0.5,"\u00e4\\n"]}]', '9007199254740993', '[' * 128 + ']' * 128):
            response = self.post('/json', JSON, text.encode())
            self.assertEqual(response.status, 200, text)
            self.assertEqual(response.header('content-type'), 'application/json')
            self.assertEqual(response.json(), json.loads(text))
        self.assertEqual(self.post('/json', JSON, ' [ 1 ,\n2 ] ').body, b'[1,2]')
        for text in ('', '{', '[1,]', '[] []', '{"a":1,"a":2}', 'nul', "{'a':1}", b'\xef\xbb\xbf{}', b'"\xff"', b'[1\0]', '"\\u0000"',
                     '"\\ud800"', '[1e999]', '[' * 129 + ']' * 129, '[' * 100000, '{"a":' * 100000):
            with self.subTest(text[:20]):
                self.assertProblem(self.post('/json', JSON, text if isinstance(text, bytes) else text.encode()), 400)

    def test_json_type(self):
        for kind in ('application/json', 'APPLICATION/JSON;charset=utf-8', 'application/vnd.api+json', 'application/json ; x=y'):
            self.assertEqual(self.post('/json', 'content-type: ' + kind, '[]').status, 200, kind)
        for kind in ('text/plain', 'application/jsonp', 'text/json', '+json', 'a/+json', 'json', 'application/x-www-form-urlencoded'):
            self.assertProblem(self.post('/json', 'content-type: ' + kind, '[]'), 415, 'application/json')
        self.assertProblem(self.server.ask(request('POST', '/json', body='[]')), 415)
        self.assertProblem(self.post('/json', JSON, '"' + 'x' * MIB + '"'), 413)

    def test_cookies(self):
        get = self.server.get
        self.assertText(get('/cookies', 'Cookie: a=1; b=x=y; c="q"; a=2; d; =e; f='), 'a=1\nb=x=y\nc=q\na=2\nf=\n')
        self.assertText(get('/cookies', 'cookie: a=1', 'x: y', 'COOKIE: b=2'), 'a=1\nb=2\n')
        self.assertText(get('/cookies', 'cookie: ===;;;', 'cookie:'), '')
        self.assertText(get('/cookies'), '')

    def test_set_cookies(self):
        response = self.server.get('/cookies/set?value=abc')
        self.assertEqual(response.status, 204)
        self.assertEqual(response.all('set-cookie'), ['__Host-id=abc; Path=/; Secure; HttpOnly; SameSite=Lax',
                                                      'old=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT'])
        for value in ('a;b', 'a%20b', 'a%0d%0aset-cookie:+x', 'a"b', '%ff', '%00', 'a,b'):
            with self.subTest(value):
                response = self.server.get('/cookies/set?value=' + value)
                self.assertProblem(response, 400)
                self.assertEqual(response.all('set-cookie'), [])

    def test_redirect(self):
        response = self.server.get('/redirect?to=/a%252Fb?c%23d')
        self.assertEqual((response.status, response.header('location'), response.body), (303, '/a%2Fb?c#d', b''))
        for to in ('/a%20b', '/%0d%0ax:+y', '/%c3%a9', '/%00', '/%7f'):
            response = self.server.get('/redirect?to=' + to)
            self.assertProblem(response, 400)
            self.assertIsNone(response.header('location'))

    def test_created(self):
        response = self.server.ask(request('POST', '/create'))
        self.assertEqual((response.status, response.header('location'), response.header('vary')), (201, '/things/7', 'origin'))

    def test_values_of_fields(self):
        response = self.server.get('/header?value=+a%09b+')
        self.assertEqual((response.status, response.header('x-value')), (204, 'a\tb'))
        for value in ('a%0ab', 'a%0db', 'a%0d%0ax:+y', 'a%00', '%7f', '%1b'):
            response = self.server.get('/header?value=' + value)
            self.assertProblem(response, 400)
            self.assertIsNone(response.header('x-value'))

    def test_trace(self):
        body = bytes(range(256)) * 300
        response = self.server.ask(request('TRACE', '/trace', body=body))
        self.assertEqual((response.status, response.header('content-type'), response.body), (200, 'message/http', body))
        with self.server.connect() as wire:
            wire.send(request('TRACE', '/trace', 'transfer-encoding: chunked'))
            for piece in (b'one', b'two'):
                wire.send(b'%x\r\n%s\r\n' % (len(piece), piece))
                if piece == b'one':
                    response = wire.read_head()
                    self.assertEqual(response.header('transfer-encoding'), 'chunked')
                self.assertEqual((wire.take_line(), wire.take_line()), (b'3', piece))
            wire.send(b'0\r\n\r\n')
            self.assertEqual((wire.take_line(), wire.take_line()), (b'0', b''))
            self.assertServes(wire, '/api/ok')
        self.assertEqual(self.server.ask(request('TRACE', '/trace')).body, b'')

    def test_trace_of_a_client_that_leaves(self):
        with self.server.connect() as wire:
            wire.send(request('TRACE', '/trace', 'content-length: 10', body='12345'))
            wire.read_head()
            wire.end()
            with self.assertRaises(Lost):
                while wire.take_line() != b'0':
                    pass

    def test_long_query(self):
        value = 'v' * (7 * KIB)
        self.assertText(self.server.get('/query?a=' + value), f'a={value}\n')


if __name__ == '__main__':
    unittest.main()
