"""Groups, filters around them, limits of routes, and errors as the app renders them."""
import unittest

from wire import KIB, MIB, Shared, chunked, request


class Groups(Shared):
    program = 'routes'

    def passed(self, path, *headers, method='GET', status=200):
        response = self.server.get(path, *headers, method=method)
        self.assertEqual(response.status, status)
        return response.all('x-passed')

    def test_filters_in_order(self):
        self.assertEqual(self.passed('/api/ok'), ['api', 'app'])
        self.assertEqual(self.passed('/api/secret/ok', 'x-key: 123'), ['route', 'secret', 'api', 'app'])

    def test_a_filter_answers(self):
        response = self.server.get('/api/secret/ok')
        self.assertProblem(response, 401)
        self.assertEqual(response.header('www-authenticate'), 'Key')
        self.assertEqual(response.all('x-passed'), ['api', 'app'])

    def test_without_a_route(self):
        self.assertEqual(self.passed('/nowhere', status=404), ['app'])
        self.assertEqual(self.passed('/api/nowhere', status=404), ['api', 'app'])
        self.assertEqual(self.passed('/api/ok', method='DELETE', status=405), ['api', 'app'])
        self.assertEqual(self.passed('/api/ok', method='OPTIONS', status=204), ['api', 'app'])
        self.assertEqual(self.passed('/api/secret/nowhere', status=401), ['api', 'app'])
        self.assertEqual(self.passed('/api/secret/nowhere', 'x-key: 123', status=404), ['secret', 'api', 'app'])

    def test_dot_segments_in_a_path(self):
        for path in ('/api/./secret/ok', '/x/../api/secret/ok', '/api/ok/../secret/./ok', '/api/%2e/secret/ok', '/api/x/%2E%2e/secret/x/.%2e/ok',
                     '/api/secret/ok/.', 'http://localhost/api/./secret/ok'):
            with self.subTest(path):
                self.assertEqual(self.passed(path, status=401), ['api', 'app'])
                self.assertEqual(self.passed(path, 'x-key: 123'), ['route', 'secret', 'api', 'app'])
        self.assertEqual(self.passed('/api/secret/../ok'), ['api', 'app'])
        for path in ('/..', '/../api/ok', '/api/../../api/ok', '/%2e%2e/api/ok', '/api/%2e./.%2E/%2e%2e'):
            with self.subTest(path):
                self.assertProblem(self.server.get(path), 400, 'the path leads above the root')
        # An escaped slash ends no segment.
        self.assertEqual(self.passed('/api/%2e%2e%2fapi/ok', status=404), ['api', 'app'])

    def test_head_is_behind_the_same_filters(self):
        self.assertEqual(self.passed('/api/secret/ok', method='HEAD', status=401), ['api', 'app'])
        self.assertEqual(self.passed('/api/secret/ok', 'x-key: 123', method='HEAD'), ['route', 'secret', 'api', 'app'])


class Filters(Shared):
    """Those that eddy brings."""
    program = 'routes'

    def fields(self, path, *headers, **options):
        """Those that say something of other origins."""
        response = self.server.get(path, *headers, **options)
        return response.status, {name: value for name, value in response.headers if name == 'vary' or name.startswith('access-control-')}

    def test_cors(self):
        ours, credentials = 'https://app.example', {'access-control-allow-credentials': 'true'}
        allowed = {'vary': 'origin', 'access-control-allow-origin': ours, **credentials}
        for path, method, status in (('/shared/ok', 'GET', 200), ('/shared/none', 'GET', 404), ('/shared/ok', 'DELETE', 405)):
            with self.subTest((path, method)):
                self.assertEqual(self.fields(path, f'Origin: {ours}', method=method),
                                 (status, {**allowed, 'access-control-expose-headers': 'x-passed'}))
                for other in ((), ('Origin: https://evil.example',), ('Origin: null',), (f'Origin: {ours}:444',)):
                    self.assertEqual(self.fields(path, *other, method=method), (status, {'vary': 'origin'}))

    def test_preflight(self):
        ask = 'Access-Control-Request-Method: PUT', 'Access-Control-Request-Headers: x-a, x-b'
        vary = 'origin, access-control-request-method, access-control-request-headers'
        self.assertEqual(self.fields('/shared/ok', 'Origin: https://app.example', *ask, method='OPTIONS'), (204, {
            'vary': vary, 'access-control-allow-origin': 'https://app.example', 'access-control-allow-credentials': 'true',
            'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE', 'access-control-allow-headers': 'x-a, x-b',
            'access-control-max-age': '60'}))
        self.assertEqual(self.fields('/shared/ok', 'Origin: https://evil.example', *ask, method='OPTIONS'), (204, {'vary': vary}))
        self.assertEqual(self.server.get('/shared/ok', method='OPTIONS').header('allow'), 'GET, HEAD, PUT, OPTIONS')

    def test_rate(self):
        for key in ((), ('x-key: a',), ('x-key: b',)):
            with self.subTest(key):
                self.assertEqual([self.server.get('/seldom', *key).status for _ in range(2)], [200, 200])
                response = self.server.get('/seldom', *key)
                self.assertProblem(response, 429)
                self.assertRegex(response.header('retry-after'), r'^3[56]\d\d$')

    def test_security(self):
        response = self.server.get('/hard')
        self.assertEqual(response.header('x-content-type-options'), 'nosniff')
        self.assertEqual(response.header('x-frame-options'), 'SAMEORIGIN')
        self.assertIn("default-src 'self'", response.header('content-security-policy'))
        self.assertIsNone(response.header('strict-transport-security'))

    def test_same_origin(self):
        for headers, status in (((), 200), (('Origin: http://localhost',), 200), (('Origin: http://evil.example',), 403),
                                (('Origin: null',), 403), (('Sec-Fetch-Site: cross-site',), 403), (('Sec-Fetch-Site: same-origin',), 200)):
            with self.subTest(headers):
                self.assertEqual(self.server.get('/hard', *headers, method='POST').status, status)

    def test_body_limit(self):
        with self.server.connect() as wire:
            for size, status in ((5, 200), (6, 413)):
                self.assertEqual(wire.ask(request('POST', '/brief', body=b'x' * size)).status, status)
                body = chunked(b'x' * 3, b'x' * (size - 3))
                self.assertEqual(wire.ask(request('POST', '/brief', 'Transfer-Encoding: chunked', body=body)).status, status)


class Limits(Shared):
    program = 'routes'

    def post(self, path, size):
        return self.server.ask(request('POST', path, body=b'x' * size)).status

    def test_of_routes(self):
        self.assertEqual([self.post('/small', n) for n in (10, 11)], [200, 413])
        self.assertEqual([self.post('/echo', n) for n in (11, MIB, MIB + 1)], [200, 200, 413])
        self.assertEqual([self.post('/large', n) for n in (MIB + 1, 2 * MIB + 1)], [200, 413])

    def test_before_anything_is_read(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/small', 'expect: 100-continue', 'content-length: 11'))
            self.assertProblem(wire.read(), 413)


class Errors(Shared):
    program = 'routes'

    @classmethod
    def options(cls):
        return ('--plain-errors',)

    def assertPlain(self, response, status, detail=''):
        self.assertEqual(response.header('content-type'), 'text/plain; charset=utf-8')
        self.assertEqual(response.status, status)
        self.assertRegex(response.body.decode(), f'^error {status}: {detail}')

    def test_of_the_framework(self):
        get = self.server.get
        self.assertPlain(get('/nowhere'), 404)
        response = get('/api/ok', method='DELETE')
        self.assertPlain(response, 405)
        self.assertEqual(response.header('allow'), 'GET, HEAD, OPTIONS')
        response = get('/api/secret/ok')
        self.assertPlain(response, 401)
        self.assertEqual(response.header('www-authenticate'), 'Key')
        self.assertPlain(get('/%zz'), 400, 'the path')
        self.assertPlain(self.server.ask(request('POST', '/small', body='x' * 11)), 413)
        response = self.server.ask(request('POST', '/echo', 'content-encoding: br', body='x'))
        self.assertPlain(response, 415, 'the body')
        self.assertEqual(response.header('accept-encoding'), 'identity')

    def test_of_refused_heads(self):
        for data, status in ((b'GET / HTTP/1.1\r\n\r\n', 400), (request('GET', '/' + 'x' * 9 * KIB), 414),
                             (request('GET', '/', 'x: ' + 'x' * 17 * KIB), 431), (request('BREW', '/'), 501),
                             (b'GET / HT', 408)):
            with self.subTest(status), self.server.connect() as wire:
                wire.send(data)
                response = wire.read()
                self.assertPlain(response, status, '.')
                self.assertTrue(response.closes)
                self.assertClosed(wire)

    def test_of_a_body_that_stalls(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/echo', 'content-length: 5'))
            response = wire.read()
            self.assertPlain(response, 408, 'the request body')
            self.assertTrue(response.closes)

    def test_renderer_that_fails(self):
        response = self.server.get('/nowhere', 'x-fail: yes')
        self.assertProblem(response, 404)

    def test_head(self):
        get, head = self.server.get('/nowhere'), self.server.get('/nowhere', method='HEAD')
        self.assertEqual((head.status, head.header('content-length')), (404, str(len(get.body))))


if __name__ == '__main__':
    unittest.main()
