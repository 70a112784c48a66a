"""The bodies that the program tour makes, and sends back, piece by piece."""
import gzip
import threading
import time
import unittest
import zlib

from wire import KIB, MIB, OVER_HTTP2, Shared, chunked, pattern, request

ENDLESS = 4294967295


class Tour(Shared):
    program = 'tour'

    def get(self, path, *headers, method='GET'):
        return self.server.get(path, *headers, method=method)

    def take_chunk(self, wire):
        data = wire.take(int(wire.take_line(), 16))
        self.assertEqual(wire.take(2), b'\r\n')
        return data


class Streams(Tour):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.idle = cls.server.sockets()

    def test_each_line_is_written_on_its_own(self):
        with self.server.connect() as wire:
            wire.send(request('GET', '/stream/100'))
            head = wire.read_head()
            self.assertEqual((head.status, head.header('transfer-encoding')), (200, 'chunked'))
            for i in range(1, 101):
                self.assertEqual(self.take_chunk(wire), b'line %d\n' % i)
            self.assertEqual(wire.take(5), b'0\r\n\r\n')
            self.assertEqual(wire.ask(request('GET', '/stream/0')).body, b'')
        self.assertProblem(self.get('/stream/-1'), 400)
        self.assertProblem(self.get(f'/stream/{ENDLESS + 1}'), 400)

    def test_a_line_arrives_before_the_last_is_written(self):
        """As the last one would be after days. Meanwhile others are answered, and nothing is heaped up."""
        before = self.server.rss()
        with self.server.connect(rcvbuf=4 * KIB) as wire:
            wire.send(request('GET', f'/stream/{ENDLESS}'))
            self.assertEqual(wire.read_head().status, 200)
            for i in range(1, 1001):
                self.assertEqual(self.take_chunk(wire), b'line %d\n' % i)
                if i % 100 == 0:
                    self.assertEqual(self.get('/hello').body, b'Hello, World!')
            self.assertLess(self.server.rss() - before, 8 * MIB)
            self.eventually(lambda: self.server.sockets() == self.idle + 1)
        self.eventually(lambda: self.server.sockets() == self.idle)

    def test_head_of_a_stream_is_its_head(self):
        """The handler has nothing to write behind it, however much it would."""
        with self.server.connect() as wire:
            for path in (f'/stream/{ENDLESS}', f'/text/{1 << 62}', f'/random/{1 << 62}'):
                wire.send(request('HEAD', path) + request('GET', '/hello'))
                head = wire.read(head=True)
                self.assertEqual((head.status, head.header('transfer-encoding'), head.closes), (200, 'chunked', False))
                self.assertEqual(wire.read().body, b'Hello, World!')

    def test_http_1_0_gets_lines_and_the_end(self):
        with self.server.connect() as wire:
            wire.send(request('GET', '/stream/3', version='1.0'))
            self.assertIn(b'\r\n\r\nline 1\nline 2\nline 3\n', wire.read_end())


class Echo(Tour):
    def exchange(self, method, path, type_):
        """Half of the body is back before the other half has left."""
        half = b'x' * 1000, b'y' * 1000
        for framing in (('Transfer-Encoding: chunked',), ('Content-Length: 2000',)):
            with self.subTest(framing), self.server.connect() as wire:
                frame = (lambda data: chunked(data, end=b'')) if framing[0].startswith('T') else bytes
                wire.send(request(method, path, 'Content-Type: application/x-half', *framing) + frame(half[0]))
                head = wire.read_head()
                self.assertEqual((head.status, head.header('content-type'), head.header('transfer-encoding')), (200, type_, 'chunked'))
                self.assertEqual(self.take(wire, 1000), half[0])
                wire.send(frame(half[1]))
                self.assertEqual(self.take(wire, 1000), half[1])
                if frame is not bytes:
                    wire.send('0\r\n\r\n')
                self.assertEqual(wire.take(5), b'0\r\n\r\n')
                self.assertEqual(wire.ask(request('GET', '/hello')).status, 200)

    def take(self, wire, size):
        data = b''
        while len(data) < size:
            data += self.take_chunk(wire)
        return data

    def test_echo_as_it_arrives(self):
        self.exchange('POST', '/echo', 'application/x-half')

    def test_trace_as_it_arrives(self):
        self.exchange('TRACE', '/trace', 'message/http')

    def test_whole_bodies(self):
        with self.server.connect() as wire:
            for size in (1, 16 * KIB, 16 * KIB + 1, 3 * MIB):
                data = pattern(size)
                response = wire.ask(request('POST', '/echo', 'Content-Type: image/x-none', body=data)) if size < 100000 else \
                    self.both_ways(wire, data)
                self.assertEqual((response.body, response.header('content-type')), (data, 'image/x-none'))

    def both_ways(self, wire, data):
        """What is larger than all buffers on the way has to be read while it is sent."""
        text = request('POST', '/echo', 'Content-Type: image/x-none', body=data)
        if OVER_HTTP2:
            return wire.ask(text)   # which reads meanwhile
        sender = threading.Thread(target=wire.send, args=(text,))
        sender.start()
        response = wire.read()
        sender.join()
        return response

    def test_without_a_body_or_a_type(self):
        with self.server.connect() as wire:
            response = wire.ask(request('POST', '/echo', 'Content-Length: 0'))
            self.assertEqual((response.status, response.body, response.header('content-type')), (200, b'', None))
            for headers in ((), ('Content-Type:',)):
                response = wire.ask(request('POST', '/echo', *headers, body='x'))
                self.assertEqual((response.body, response.header('content-type')), (b'x', None))
            response = wire.ask(request('TRACE', '/trace'))
            self.assertEqual((response.status, response.body, response.header('content-type')), (200, b'', 'message/http'))

    def test_type_is_sent_back_as_it_came(self):
        response = self.server.ask(request('POST', '/echo', 'Content-Type: a/b;  c="d\\"\xe9"', body='x'))
        self.assertEqual(response.header('content-type'), 'a/b;  c="d\\"\xe9"')

    def test_body_that_breaks_off(self):
        """What came is sent back, and the client sees that it was not all."""
        with self.server.connect() as wire:
            wire.send(request('POST', '/echo', 'Content-Length: 10', body='12345'))
            wire.end()
            said = wire.read_end()
        self.assertIn(b'5\r\n12345\r\n', said)
        self.assertNotIn(b'0\r\n\r\n', said)

    def test_body_that_is_malformed(self):
        for method, path in (('POST', '/echo'), ('TRACE', '/trace')):
            with self.server.connect() as wire:
                wire.send(request(method, path, 'Transfer-Encoding: chunked', body=b'3\r\nabc\r\nzz\r\n') + request('GET', '/hello'))
                said = wire.read_end()
            self.assertIn(said.partition(b'\r\n')[0], (b'HTTP/1.1 200 OK', b'HTTP/1.1 400 Bad Request'))
            self.assertNotIn(b'\r\n0\r\n\r\n', said)
            self.assertEqual(said.count(b'HTTP/1.1'), 1)


class Made(Tour):
    def test_text(self):
        all_of_it = self.get('/text/3000000')
        self.assertEqual((len(all_of_it.body), all_of_it.header('content-type')), (3000000, 'text/plain; charset=utf-8'))
        self.assertRegex(all_of_it.body[:100000].decode('ascii'), r'^[A-Za-z,. \n]+$')
        self.assertLess(len(zlib.compress(all_of_it.body)), 3000000 // 3)
        for size in (0, 1, 7, 100, 16 * KIB, 16 * KIB + 1, MIB, MIB + 1):
            with self.subTest(size):
                response = self.get(f'/text/{size}')
                self.assertEqual(response.status, 200)
                self.assertEqual(response.body, all_of_it.body[:size])
                self.assertEqual(response.header('content-length'), str(size) if size <= MIB else None)

    def test_random(self):
        all_of_it = self.get('/random/2000003')
        self.assertEqual((len(all_of_it.body), all_of_it.header('content-type')), (2000003, 'application/octet-stream'))
        self.assertGreater(len(zlib.compress(all_of_it.body)), 2000003)
        for size in (0, 1, 7, 8, 9, 16 * KIB, MIB, MIB + 1):
            with self.subTest(size):
                self.assertEqual(self.get(f'/random/{size}').body, all_of_it.body[:size])

    def test_sizes_that_are_none(self):
        for path in ('/text/-1', '/text/x', '/random/18446744073709551616', '/slow/x', '/slow/4294967296'):
            with self.subTest(path):
                self.assertProblem(self.get(path), 400)

    def test_slow(self):
        begin = time.monotonic()
        with self.server.connect() as wire:
            wire.send(request('GET', '/slow/300'))
            self.assertEqual(self.get('/slow/0').body, b'ok')
            self.assertEqual(wire.read().body, b'ok')
        self.assertGreaterEqual(time.monotonic() - begin, 0.3)

    def test_preset(self):
        response = self.get('/preset')
        self.assertEqual((response.header('content-encoding'), response.header('etag')), ('gzip', '"v1"'))
        self.assertEqual(response.header('content-type'), 'text/plain; charset=utf-8')
        self.assertEqual(gzip.decompress(response.body), b'compressed before anybody asked\n')

    def test_no_transform(self):
        response = self.get('/no-transform')
        self.assertEqual((response.header('cache-control'), response.header('content-type')), ('no-transform', 'text/plain; charset=utf-8'))
        self.assertEqual(response.body, self.get(f'/text/{64 * KIB}').body)


class Heads(Tour):
    def test_head_of_all_that_get_answers(self):
        self.write('file', 'x' * 1000)
        with self.server.connect() as wire:
            for path in ('/hello', '/hello/a', '/add/1/2', '/add/1/x', '/users/1/posts/a', '/map/1/2/3', '/query?a=b', '/headers',
                         '/status/200', '/status/204', '/status/304', '/status/404', '/status/599', '/errno/2', '/errno/5', '/stream/3',
                         '/stream/0', '/text/10', '/text/2000000', '/random/10', '/slow/1', '/preset', '/no-transform', '/files/file',
                         '/files/none', '/nowhere'):
                with self.subTest(path):
                    get = wire.ask(request('GET', path))
                    head = wire.ask(request('HEAD', path), head=True)
                    self.assertEqual(head.status, get.status)
                    self.assertEqual([h for h in head.headers if h[0] != 'date'], [h for h in get.headers if h[0] != 'date'])
            self.assertEqual(wire.ask(request('GET', '/hello')).body, b'Hello, World!')

    def test_options_of_all(self):
        with self.server.connect() as wire:
            for path, methods in (('/hello', 'GET HEAD'), ('/json', 'POST'), ('/files/a', 'GET HEAD PUT'), ('/files', 'POST'),
                                  ('/trace', 'TRACE'), ('/health', 'HEAD')):
                response = wire.ask(request('OPTIONS', path))
                self.assertEqual((response.status, response.body), (204, b''))
                self.assertEqual(set(response.header('allow').split(', ')), {*methods.split(), 'OPTIONS'})
                response = wire.ask(request('DELETE', path))
                self.assertProblem(response, 405)
                self.assertEqual(set(response.header('allow').split(', ')), {*methods.split(), 'OPTIONS'})
            response = wire.ask(request('OPTIONS', '*'))
            self.assertEqual(response.status, 204)
            self.assertEqual(set(response.header('allow').split(', ')), set('GET HEAD POST PUT OPTIONS TRACE'.split()))


if __name__ == '__main__':
    unittest.main()
