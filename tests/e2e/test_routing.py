"""Which handler answers, and what is said when none does."""
import errno
import os
import unittest

from wire import Shared, request


class Routing(Shared):
    program = 'limits'

    def get(self, path, *headers, method='GET'):
        return self.server.get(path, *headers, method=method)

    def assertText(self, path, text):
        response = self.get(path)
        self.assertEqual((response.status, response.body.decode()), (200, text))

    def assertMethods(self, response, *methods):
        self.assertEqual(set(response.header('allow').split(', ')), set(methods))

    def test_static_beats_parameter(self):
        self.assertText('/hello/world', 'static')
        self.assertText('/hello/worlds', 'Hello, worlds!')

    def test_backtracks(self):
        self.assertText('/hello/world/x/end', 'Hello, x!')
        self.assertText('/hello/world/x/else', 'Hello, world!')

    def test_segments_are_decoded_once_after_splitting(self):
        self.assertText('/%68ello/%61', 'Hello, a!')
        self.assertText('/hello/%2561', 'Hello, %61!')
        self.assertText('/hello/a%2Fb', 'Hello, a/b!')
        self.assertText('/hello/a+b', 'Hello, a+b!')

    def test_rest_of_path(self):
        self.assertText('/rest/a/b%20c/d', 'a/b c/d')

    def test_trailing_slash_is_ignored(self):
        self.assertText('/hello/world/', 'static')

    def test_other_empty_segments_are_not(self):
        for path in ('/hello//world', '//hello/world', '/hello/world//'):
            with self.subTest(path):
                self.assertProblem(self.get(path), 404)

    def test_bad_escapes(self):
        for path in ('/hello/%', '/hello/%a', '/hello/%zz', '/hello/%00', '/%', '/nowhere/%g1'):
            with self.subTest(path):
                self.assertProblem(self.get(path), 400)

    def test_no_route(self):
        self.assertProblem(self.get('/nowhere'), 404)
        self.assertProblem(self.get('/nowhere', method='POST'), 404)
        self.assertProblem(self.get('/nowhere', method='OPTIONS'), 404)

    def test_method_not_mapped(self):
        response = self.get('/hello/world', method='POST')
        self.assertProblem(response, 405)
        self.assertMethods(response, 'GET', 'HEAD', 'OPTIONS')

    def test_trace_not_mapped(self):
        response = self.get('/hello/world', method='TRACE')
        self.assertProblem(response, 405)
        self.assertMethods(response, 'GET', 'HEAD', 'OPTIONS')

    def test_options_not_mapped(self):
        response = self.get('/hello/world', method='OPTIONS')
        self.assertEqual((response.status, response.body), (204, b''))
        self.assertMethods(response, 'GET', 'HEAD', 'OPTIONS')

    def test_options_mapped(self):
        response = self.get('/options', method='OPTIONS')
        self.assertEqual((response.status, response.header('x-health')), (200, 'ok'))

    def test_options_of_the_server(self):
        response = self.get('*', method='OPTIONS')
        self.assertEqual(response.status, 204)
        self.assertLessEqual({'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'},
                             set(response.header('allow').split(', ')))

    def test_get_of_asterisk(self):
        self.assertRefused(self.server, request('GET', '*'), 400)

    def test_http_0_9(self):
        self.assertRefused(self.server, b'GET /\r\n\r\n', 400)
        self.assertRefused(self.server, request('GET', '/', version='0.9'), 400)

    def test_head_of_get(self):
        for path in ('/hello/you', '/big/100000', '/status/404', '/errno/2'):
            with self.subTest(path):
                get, head = self.get(path), self.get(path, method='HEAD')
                self.assertEqual(head.status, get.status)
                drop = ('date',)
                self.assertEqual([h for h in head.headers if h[0] not in drop],
                                 [h for h in get.headers if h[0] not in drop])

    def test_head_of_stream(self):
        with self.server.connect() as wire:
            wire.send(request('HEAD', '/stream/5') + request('GET', '/hello/x'))
            head = wire.read(head=True)
            self.assertEqual((head.status, head.header('transfer-encoding')), (200, 'chunked'))
            self.assertEqual(wire.read().body, b'Hello, x!')

    def test_explicit_head(self):
        response = self.get('/health', method='HEAD')
        self.assertEqual((response.status, response.header('x-health')), (200, 'ok'))
        self.assertIsNone(response.header('content-length'), 'of a body that nobody knows')
        response = self.get('/health')
        self.assertProblem(response, 405)
        self.assertMethods(response, 'HEAD', 'OPTIONS')

    def test_explicit_trace(self):
        response = self.server.ask(request('TRACE', '/trace', body='x'))
        self.assertEqual((response.status, response.body), (200, b'x'))

    def test_unknown_method(self):
        for method in ('BREW', 'get', 'Get', 'gEt', 'X', 'QUERYING'):
            with self.subTest(method):
                self.assertRefused(self.server, request(method, '/'), 501)

    def test_method_that_cannot_be_one(self):
        for method in ('G3T', '{}', '"GET"', 'GET\t', '(', '', 'G/T', 'G ET', 'A' * 100000):
            with self.subTest(method):
                self.assertRefused(self.server, request(method, '/'), 400)

    def test_known_method_that_is_not_mapped(self):
        for method in ('PROPFIND', 'LINK', 'SEARCH', 'M-SEARCH'):
            with self.subTest(method):
                self.assertProblem(self.get('/hello/world', method=method), 405)

    def test_connect(self):
        """What a client sends behind it is meant for the tunnel that it did not get."""
        for data, statuses in ((request('CONNECT', 'localhost:80'), (405,)), (request('CONNECT', '/'), (400, 405))):
            with self.server.connect() as wire:
                wire.send(data + request('GET', '/hello/smuggled'))
                response = wire.read()
                self.assertIn(response.status, statuses)
                self.assertTrue(response.closes)
                self.assertClosed(wire)

    def test_upgrade_that_is_not_offered(self):
        for headers in (('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: x'),
                        ('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: x')):
            with self.server.connect() as wire:
                wire.send(request('GET', '/hello/a', *headers) + request('POST', '/echo', *headers, body='b') + request('GET', '/hello/c'))
                self.assertEqual([wire.read().body for _ in range(3)], [b'Hello, a!', b'b', b'Hello, c!'])

    def test_parameters_by_type(self):
        self.assertText('/numbers/255/-9223372036854775808', '255 -9223372036854775808')
        for path, name in (('/numbers/256/1', 'small'), ('/numbers/-1/1', 'small'), ('/numbers/x/1', 'small'),
                           ('/numbers/%20/1', 'small'), ('/numbers/1/9223372036854775808', 'large'),
                           ('/numbers/1/1.0', 'large'), ('/numbers/1/+', 'large')):
            with self.subTest(path):
                self.assertProblem(self.get(path), 400, f'"{name}"')

    def test_every_answer_passes_the_filters(self):
        for path in ('/hello/you', '/nowhere', '/status/500', '/errno/2', '/hello/%'):
            with self.subTest(path):
                self.assertEqual(self.get(path).header('x-filtered'), 'yes')
        self.assertEqual(self.get('/hello/world', method='POST').header('x-filtered'), 'yes')
        with self.server.connect() as wire:
            self.assertEqual(wire.ask('GET / HTTP/1.1\r\n\r\n').header('x-filtered'), 'yes')

    def test_every_answer_has_server_and_date(self):
        for path in ('/hello/you', '/nowhere', '/status/204', '/stream/1'):
            with self.subTest(path):
                response = self.get(path)
                self.assertEqual(response.header('server'), 'eddy')
                self.assertTrue(response.header('date'))

    def test_what_the_server_says_itself(self):
        with self.server.connect() as wire:
            response = wire.ask(request('GET', '/own'))
            self.assertEqual(response.body, b'14 of 14')
            self.assertEqual([name for name, _ in response.headers],
                             ['server', 'date', 'content-type', 'x-filtered', 'content-length'])
            self.assertServes(wire)

    def test_an_error_keeps_the_connection(self):
        with self.server.connect() as wire:
            for path, status in (('/nowhere', 404), ('/hello/%', 400), ('/status/500', 500), ('/errno/13', 403)):
                response = wire.ask(request('GET', path))
                self.assertProblem(response, status)
                self.assertIsNone(response.header('connection'))
            self.assertServes(wire)

    def test_status_of_a_handler(self):
        for status in (200, 202, 299, 301, 400, 418, 451, 500, 503, 599):
            with self.subTest(status):
                response = self.get(f'/status/{status}')
                if status < 400:
                    self.assertEqual((response.status, response.body), (status, b''))
                else:
                    self.assertProblem(response, status)
        for status in (100, 199, 600, 1000):
            with self.subTest(status):
                self.assertProblem(self.get(f'/status/{status}'), 500)

    def test_204_and_304_have_no_body(self):
        with self.server.connect() as wire:
            for status in (204, 304):
                response = wire.ask(request('GET', f'/status/{status}'))
                self.assertEqual(response.status, status)
                self.assertIsNone(response.header('transfer-encoding'))
            self.assertServes(wire)

    def test_errno_of_a_handler(self):
        table = {
            404: 'ENOENT ENOTDIR', 403: 'EACCES', 409: 'EEXIST', 400: 'EINVAL EBADMSG EILSEQ ERANGE',
            413: 'EMSGSIZE EFBIG', 507: 'ENOSPC EDQUOT', 504: 'ETIMEDOUT',
            502: 'ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH', 503: 'EAGAIN EBUSY ECONNABORTED', 500: 'EIO ENOMEM EBADF EPERM',
        }
        for status, names in table.items():
            for name in names.split():
                with self.subTest(name):
                    response = self.get(f'/errno/{getattr(errno, name)}')
                    self.assertProblem(response, status)
                    self.assertNotIn(os.strerror(getattr(errno, name)).lower(), response.json()['detail'].lower())
        self.server.wait_for(r'ERROR.*errno')

    def test_a_handler_returns_eperm(self):
        """-1 is a mistake of the program's, and no answer for its client."""
        self.assertEqual(errno.EPERM, 1)
        self.assertProblem(self.get('/errno/1'), 500)
        self.server.wait_for(r'ERROR eddy::http: GET /errno/1 failed: Operation not permitted \(-1 is -EPERM: return -errno or a status\) route="/errno/\{n\}"$')
        self.assertProblem(self.get(f'/errno/{errno.EACCES}'), 403)

    def test_error_behind_the_head_cuts(self):
        with self.server.connect() as wire:
            wire.send(request('GET', '/broken/3') + request('GET', '/'))
            said = wire.read_end()
        self.assertIn(b'line 3\n', said)
        self.assertNotIn(b'\r\n0\r\n', said)
        self.assertEqual(said.count(b'HTTP/1.1'), 1)

    def test_host_is_the_targets_authority(self):
        response = self.server.ask(request('GET', 'http://example.org:81/host'))
        self.assertEqual(response.body, b'example.org:81')
        response = self.server.ask(request('GET', 'https://[::1]/host'))
        self.assertEqual(response.body, b'[::1]')
        self.assertEqual(self.server.ask(request('GET', '/host', host='a_b')).body, b'a_b')


class Fallback(Shared):
    program = 'limits'

    @classmethod
    def options(cls):
        return ('--fallback',)

    def test_fallback(self):
        self.assertEqual(self.server.get('/nowhere').body, b'fallback')
        self.assertProblem(self.server.get('/hello/world', method='POST'), 405)

    def test_coded_body(self):
        self.assertProblem(self.server.ask(request('POST', '/nowhere', 'Content-Encoding: gzip', body='x')), 415)


if __name__ == '__main__':
    unittest.main()
