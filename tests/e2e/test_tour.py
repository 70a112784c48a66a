"""The program tour: what it takes out of requests, what it answers, and its command line."""
import errno
import os
import re
import subprocess
import unittest

from wire import MIB, PROGRAMS, Case, Server, Shared, chunked, only_http1, request

JSON = 'Content-Type: application/json'


class Tour(Shared):
    program = 'tour'

    def get(self, path, *headers, method='GET'):
        return self.server.get(path, *headers, method=method)

    def assertText(self, path, text):
        response = self.get(path)
        self.assertEqual((response.status, response.header('content-type'), response.body.decode()),
                         (200, 'text/plain; charset=utf-8', text))

    def assertJson(self, path, text):
        """Byte for byte."""
        response = self.get(path)
        self.assertEqual((response.status, response.header('content-type'), response.body.decode()),
                         (200, 'application/json', text))


class Arguments(Tour):
    def test_hello(self):
        self.assertText('/hello', 'Hello, World!')
        self.assertText('/hello/Ada', 'Hello, Ada!')
        self.assertText('/hello/a%20b%2Fc', 'Hello, a b/c!')
        self.assertText('/hello/%C3%BC', 'Hello, ü!')

    def test_by_position(self):
        self.assertText('/add/2/3', '5')
        self.assertText('/add/-2/1', '-1')
        self.assertText('/add/9223372036854775807/-9223372036854775808', '-1')
        for path, name in (('x/1', '"a"'), ('1/1.0', '"b"'), ('9223372036854775808/0', '"a"'), ('1/-9223372036854775809', '"b"'),
                           ('%20/1', '"a"'), ('9223372036854775807/1', 'sum'), ('-9223372036854775808/-1', 'sum')):
            with self.subTest(path):
                self.assertProblem(self.get(f'/add/{path}'), 400, name)

    def test_struct_by_name(self):
        self.assertJson('/users/42/posts/x', '{"id":42,"slug":"x"}')
        self.assertJson('/users/4294967295/posts/%C3%BC%22', '{"id":4294967295,"slug":"ü\\""}')
        for value in ('4294967296', '-1', 'x', '1.5', '0x1'):
            with self.subTest(value):
                self.assertProblem(self.get(f'/users/{value}/posts/x'), 400, '"id"')

    def test_map_of_all(self):
        self.assertJson('/map/1/b%2Fb/%C3%BC', '{"a":"1","b":"b/b","c":"ü"}')

    def test_query(self):
        for query, answer in (('', '{}'), ('?', '{}'), ('?x=1&x=2', '{"x":["1","2"]}'), ('?x=1&y=2&x=3', '{"x":["1","3"],"y":["2"]}'),
                              ('?a=b%20c+d&%61=%26', '{"a":["b c d","&"]}'), ('?a', '{"a":[""]}'), ('?a=b=c', '{"a":["b=c"]}'),
                              ('?a=%zz&b=%', '{"a":["%zz"],"b":["%"]}'), ('?%C3%BC=%00', '{"ü":["\\u0000"]}')):
            with self.subTest(query):
                self.assertJson(f'/query{query}', answer)

    def test_what_json_does_not_hold(self):
        for path in ('/users/1/posts/%ff', '/map/a/%c0%80/c', '/query?a=%ed%a0%80', '/query?%ff=1'):
            with self.subTest(path):
                self.assertProblem(self.get(path), 400, 'UTF-8')

    def post_json(self, body, *headers, **options):
        return self.server.ask(request('POST', '/json', *(headers or (JSON,)), body=body, **options))

    def test_json(self):
        for body, answer in (('{ "b" : [ 1, 2.5 , null ],\n "a": {"x": true} }', '{"b":[1,2.5,null],"a":{"x":true}}'), ('[]', '[]'),
                             ('[0.1, -3.14]', '[0.1,-3.14]'), ('"\\u00fc"', '"ü"'), (' 7 ', '7'), ('null', 'null')):
            with self.subTest(body):
                response = self.post_json(body)
                self.assertEqual((response.status, response.header('content-type')), (200, 'application/json'))
                self.assertEqual(response.body.decode(), answer)
        self.assertEqual(self.post_json(b'[1]', 'Content-Type: application/ld+json; charset=utf-8').body, b'[1]')
        self.assertEqual(self.post_json(chunked('[1', ', 2]'), JSON, 'Transfer-Encoding: chunked').body, b'[1,2]')

    def test_json_that_is_none(self):
        for body in ('', '{', '{"a":1,}', '[1] 2', 'nul', "{'a':1}", '{"a":1,"a":2}', '"\\ud800"', b'"\xff"', '[NaN]', '[' * 1000,
                     '[' * 129 + ']' * 129):
            with self.subTest(body[:20]):
                self.assertProblem(self.post_json(body, JSON, f'Content-Length: {len(body)}'), 400)

    def test_other_types_are_not_taken_for_json(self):
        for headers in (('Content-Type: text/plain',), ('Content-Type: application/jsonp',), ('Content-Type:',), ('X-Y: z',)):
            with self.subTest(headers):
                self.assertProblem(self.post_json('[]', *headers), 415)

    def test_json_that_is_too_large(self):
        self.assertProblem(self.post_json('"' + 'x' * MIB + '"'), 413)


class Answers(Tour):
    def test_headers(self):
        response = self.get('/headers')
        self.assertEqual((response.status, response.body), (200, b'ok'))
        self.assertEqual((response.header('x-api-key'), response.header('x-request-method')), ('123', 'GET'))

    def test_every_status(self):
        with self.server.connect() as wire:
            for status in range(200, 600):
                response = wire.ask(request('GET', f'/status/{status}'))
                if status < 400:
                    self.assertEqual((response.status, response.body), (status, b''))
                    self.assertEqual(response.header('content-length'), None if status in (204, 304) else '0')
                else:
                    self.assertProblem(response, status)

    def test_status_that_is_none(self):
        for status in ('0', '100', '199', '600', '65536', '-200', 'x', '200.0'):
            with self.subTest(status):
                self.assertProblem(self.get(f'/status/{status}'), 400, 'code')

    def test_every_errno(self):
        table = {
            404: 'ENOENT ENOTDIR', 403: 'EACCES', 409: 'EEXIST', 400: 'EINVAL EBADMSG EILSEQ ERANGE',
            413: 'EMSGSIZE EFBIG', 507: 'ENOSPC EDQUOT', 504: 'ETIMEDOUT',
            502: 'ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH', 503: 'EAGAIN EBUSY ECONNABORTED',
        }
        status_of = {getattr(errno, name): status for status, names in table.items() for name in names.split()}
        others = 0
        with self.server.connect() as wire:
            for number in errno.errorcode:
                response = wire.ask(request('GET', f'/errno/{number}'))
                self.assertProblem(response, status_of.get(number, 500))
                self.assertNotIn(os.strerror(number).encode(), response.body.replace(response.json()['title'].encode(), b''))
                # Nobody's mistake: the end of a server is one, too.
                others += number not in status_of and number != errno.ECANCELED
            self.assertEqual(wire.ask(request('GET', '/errno/0')).status, 200)
        self.server.wait_for(r'ERROR eddy::http: GET /errno/5 failed: ')

        def told():
            return len([line for line in self.server.lines if ' ERROR ' in line and '/errno/' in line])
        # Records are written in the background.
        self.eventually(lambda: told() >= others)
        self.assertEqual(told(), others)

    def test_errno_that_is_none(self):
        for number in ('-1', 'x', '4096', '65536'):
            with self.subTest(number):
                self.assertProblem(self.get(f'/errno/{number}'), 400)

    @only_http1('responses to HEAD that say nothing of a length')
    def test_health(self):
        with self.server.connect() as wire:
            response = wire.ask(request('HEAD', '/health'), head=True)
            self.assertEqual((response.status, response.header('x-health')), (200, 'ok'))
            self.assertEqual([name for name, _ in response.headers], ['server', 'date', 'x-health'])
            response = wire.ask(request('GET', '/health'))
            self.assertProblem(response, 405)
            self.assertEqual(set(response.header('allow').split(', ')), {'HEAD', 'OPTIONS'})

    def test_options(self):
        response = self.get('/options', method='OPTIONS')
        self.assertEqual((response.status, response.header('allow'), response.body), (200, 'GET, HEAD, OPTIONS', b''))
        self.assertProblem(self.get('/options'), 405)

    def test_later_layers_are_not_there(self):
        for path in ('/me', '/admin', '/editors', '/read', '/.well-known/oauth-protected-resource'):
            with self.subTest(path):
                self.assertProblem(self.get(path), 404)


@unittest.skipUnless(os.path.exists(PROGRAMS['tour']), 'needs the program tour')
class Program(Case):
    def run_tour(self, *args):
        return subprocess.run([PROGRAMS['tour'], *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=30, check=False)

    def test_help(self):
        done = self.run_tour('--help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        for switch in ('--bind', '--dir', '--workers', '--config', '--max-size'):
            self.assertIn(switch, done.stdout)

    def test_bad_command_lines(self):
        for args in (['--nonsense'], ['--workers', '0'], ['--workers', 'x'], ['--workers'], ['--max-size', '-1'], ['--max-size', '0'],
                     ['--max-size', '1k'], ['folder']):
            with self.subTest(args):
                done = self.run_tour(*args)
                self.assertEqual((done.returncode, done.stdout), (2, ''))
                self.assertRegex(done.stderr, r'usage: tour|takes a number')

    def test_folder_that_is_none(self):
        path = os.path.join(self.folder(), 'nowhere')
        done = self.run_tour('--dir', path, '--bind', '127.0.0.1:0')
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'"{path}"', done.stderr)

    def test_address_that_is_none(self):
        done = self.run_tour('--bind', '127.0.0.1:x')
        self.assertEqual(done.returncode, 1)
        self.assertIn('"127.0.0.1:x"', done.stderr)

    def test_workers(self):
        server = self.serve('--workers', 3, program='tour')
        self.assertGreaterEqual(server.threads(), 3)
        for _ in range(10):
            self.assertEqual(server.get('/hello').body, b'Hello, World!')

    def test_config_wins(self):
        folder = self.folder()
        path = os.path.join(folder, 'tour.toml')
        with open(path, 'w') as file:
            file.write('[server]\nfile_max = 10\n')
        server = self.serve('--dir', folder, '--max-size', 1000, '--config', path, program='tour')
        self.assertEqual(server.ask(request('PUT', '/files/a', body='x' * 10)).status, 201)
        self.assertProblem(server.ask(request('PUT', '/files/b', body='x' * 11)), 413)

    def test_config_speaks_of_layers_that_are_off(self):
        path = os.path.join(self.folder(), 'tour.toml')
        with open(path, 'w') as file:
            file.write('[tls]\ncert = "none.pem"\nclient_certs = "required"\n[compression]\n')
        self.assertEqual(self.serve('--config', path, program='tour').get('/hello').status, 200)
        with open(path, 'w') as file:
            file.write('[tls]\nclient_certs = "always"\n')
        server = Server('--config', path, program='tour', start=False)
        self.assertEqual(server.wait(), 1)
        server.process.stderr.close()
        self.assertRegex(server.log, re.escape(f'{path}:2: [tls] client_certs: expected '))

    def test_config_with_a_mistake(self):
        path = os.path.join(self.folder(), 'tour.toml')
        with open(path, 'w') as file:
            file.write('[server]\n\nworker = 1\n')
        server = Server('--config', path, program='tour', start=False)
        self.assertEqual(server.wait(), 1)
        server.process.stderr.close()
        self.assertRegex(server.log, re.escape(f'{path}:3: [server] unknown key "worker"; did you mean "workers"?') + '$')


if __name__ == '__main__':
    unittest.main()
