"""Heads of requests: how they may arrive, and which are refused."""
import socket
import time
import unittest

from wire import Lost, Shared, chunked, request, speaks_http2


class Arriving(Shared):
    program = 'limits'

    def test_split_at_every_byte(self):
        data = request('POST', '/echo?a=b', 'X-Y: z', 'Content-Length: 5', body='hello')
        with self.server.connect() as wire:
            for at in range(1, len(data)):
                wire.send(data[:at])
                time.sleep(0.0005)
                wire.send(data[at:])
                self.assertEqual(wire.read().body, b'hello', at)

    def test_byte_by_byte(self):
        with self.server.connect() as wire:
            for byte in request('POST', '/echo', body='hello'):
                wire.send(bytes([byte]))
                time.sleep(0.0002)
            self.assertEqual(wire.read().body, b'hello')

    def test_pipelined_requests_are_served_in_order(self):
        with self.server.connect() as wire:
            paths = [f'/slow/{i % 3}' if i % 4 == 3 else f'/hello/{i}' for i in range(16)]
            wire.send(b''.join(request('GET', path) for path in paths))
            for i, path in enumerate(paths):
                expected = b'slept' if 'slow' in path else f'Hello, {i}!'.encode()
                self.assertEqual(wire.read().body, expected)
            self.assertTrue(wire.is_open())

    def test_an_answer_does_not_wait_for_a_slow_one_behind_it(self):
        def is_quick():
            with self.server.connect() as wire:
                began = time.monotonic()
                wire.send(b''.join(request('GET', path) for path in ('/hello/a', '/hello/b', '/slow/500')))
                for name in ('a', 'b'):
                    self.assertEqual(wire.read().body, f'Hello, {name}!'.encode())
                took = time.monotonic() - began
                self.assertEqual(wire.read().body, b'slept')
                return took < 0.4
        # A machine that is busy is asked again.
        self.eventually(is_quick)

    def test_pipelined_bodies(self):
        with self.server.connect() as wire:
            data = b''
            for i in range(16):
                body = bytes([i]) * (i * 700)
                data += (request('POST', '/echo', 'Transfer-Encoding: chunked', body=chunked(body)) if i % 2 and i else
                         request('POST', '/echo', f'Content-Length: {len(body)}', body=body))
            wire.send(data)
            for i in range(16):
                self.assertEqual(wire.read().body, bytes([i]) * (i * 700))
            self.assertServes(wire)

    def test_pipelined_beyond_the_inbox(self):
        """More than is kept of what is not read yet: the server stops reading, and goes on later."""
        with self.server.connect() as wire:
            wire.send(request('GET', '/slow/50') + request('GET', '/hello/x') * 3000)
            self.assertEqual(wire.read().body, b'slept')
            for _ in range(3000):
                self.assertEqual(wire.read().body, b'Hello, x!')

    def test_blank_lines_before_a_request(self):
        with self.server.connect() as wire:
            wire.send(b'\r\n' + request('GET', '/') + b'\r\n' + request('POST', '/echo', body='q=42') + b'\r\n\r\n' + request('GET', '/'))
            self.assertEqual([wire.read().status for _ in range(3)], [200, 200, 200])
            self.assertServes(wire)

    def test_http_1_0_closes(self):
        with self.server.connect() as wire:
            response = wire.ask('GET /hello/x HTTP/1.0\r\n\r\n')
            self.assertEqual((response.status, response.body, response.closes), (200, b'Hello, x!', True))
            self.assertClosed(wire)

    def test_http_1_0_keeps_when_asked(self):
        with self.server.connect() as wire:
            for _ in range(2):
                response = wire.ask('GET /hello/x HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n')
                self.assertEqual((response.body, response.header('connection')), (b'Hello, x!', 'keep-alive'))

    def test_http_1_0_gets_no_chunks(self):
        with self.server.connect() as wire:
            response = wire.ask('GET /stream/3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
            self.assertIsNone(response.header('transfer-encoding'))
            self.assertEqual(response.body, b'line 1\nline 2\nline 3\n')

    def test_other_versions_are_1_1(self):
        for version in ('1.2', '1.9', '2.0'):
            with self.server.connect() as wire:
                self.assertEqual(wire.ask(request('GET', '/', version=version)).status, 200)
                self.assertServes(wire)

    def test_connection_close(self):
        for value in ('close', 'Close', 'x, close', 'keep-alive, close'):
            with self.subTest(value), self.server.connect() as wire:
                wire.send(request('GET', '/', f'Connection: {value}') + request('GET', '/'))
                self.assertTrue(wire.read().closes)
                self.assertClosed(wire)

    def test_bytes_behind_the_last_request(self):
        """A stray line, or a request too many, does not cost the client the answer."""
        for version in ('1.0', '1.1'):
            for late in (b'\r\n', request('GET', '/'), b'x' * 100000):
                with self.subTest(version=version, late=late[:10]), self.server.connect(rcvbuf=8192) as wire:
                    wire.send(request('GET', '/big/2000000', 'Connection: close', version=version))
                    time.sleep(0.02)
                    wire.send(late)
                    time.sleep(0.02)
                    self.assertEqual(len(wire.read().body), 2000000)
                    self.assertClosed(wire)

    def test_half_close_before_the_answer(self):
        with self.server.connect() as wire:
            wire.send(request('GET', '/slow/100'))
            wire.end()
            self.assertEqual(wire.read().body, b'slept')
            self.assertClosed(wire)

    def test_half_close_of_a_pipeline(self):
        with self.server.connect() as wire:
            wire.send(request('GET', '/slow/20') * 3)
            wire.end()
            self.assertEqual([wire.read().body for _ in range(3)], [b'slept'] * 3)
            self.assertClosed(wire)

    def test_half_close_of_a_large_answer(self):
        with self.server.connect() as wire:
            wire.send(request('GET', '/big/5000000'))
            wire.end()
            self.assertEqual(len(wire.read().body), 5000000)

    def test_half_close_inside_a_head(self):
        with self.server.connect() as wire:
            wire.send('GET / HTTP/1.1\r\nHos')
            wire.end()
            self.assertProblem(wire.read(), 400, 'ended too early')
            self.assertClosed(wire)
        for start in ('G', 'GET / HTTP/1.1', 'GET / HTTP/1.1\r', '\r\n', 'GET /\r\n'):
            with self.subTest(start), self.server.connect() as wire:
                wire.send(start)
                wire.end()
                self.assertClosed(wire)

    def test_nothing_at_all(self):
        for _ in range(50):
            with self.server.connect():
                pass
        with self.server.connect() as wire:
            wire.end()
            self.assertClosed(wire)

    def test_reset_anywhere(self):
        data = request('POST', '/echo', body='x' * 100)
        for at in [0, 1, 20, len(data) - 100, len(data) - 50, len(data)]:
            wire = self.server.connect()
            wire.send(data[:at])
            wire.reset()
        for path in ('/slow/30', '/big/8000000', '/stream/100000'):
            wire = self.server.connect()
            wire.send(request('GET', path))
            time.sleep(0.01)
            wire.reset()
        with self.server.connect() as wire:
            self.assertServes(wire)

    def test_client_that_leaves_a_stream_ends_it(self):
        wire = self.server.connect()
        wire.send(request('GET', '/stream/1000000000'))
        wire.take(100000)
        wire.close()
        with self.server.connect() as wire:
            self.assertServes(wire)


class Malformed(Shared):
    """Each is refused with its status, the connection closes, and what follows is not taken for a request."""
    program = 'limits'

    def refuse(self, status, *heads):
        for head in heads:
            with self.subTest(head):
                self.assertRefused(self.server, head, status)

    def test_request_line(self):
        self.refuse(
            400, 'GET /\r\n\r\n', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n',
            'GET / HTTP/3.0\r\nHost: a\r\n\r\n', 'GET / HTTP/0.9\r\nHost: a\r\n\r\n', 'GET / HTTP/1.10\r\nHost: a\r\n\r\n',
            'GET / HTTP/1\r\nHost: a\r\n\r\n', 'GET / HTTP/11\r\nHost: a\r\n\r\n', 'GET / http/1.1\r\nHost: a\r\n\r\n',
            'GET / HTP/1.1\r\nHost: a\r\n\r\n', 'GET\r\nHost: a\r\n\r\n', ' GET / HTTP/1.1\r\nHost: a\r\n\r\n',
            'GET / HTTP/1.1\nHost: a\r\n\r\n', 'GET / HTTP/1.1\rHost: a\r\n\r\n', 'GET /\tHTTP/1.1\r\nHost: a\r\n\r\n',
            'GET / RTSP/1.0\r\nHost: a\r\n\r\n', 'OPTIONS / RTSP/1.0\r\nHost: a\r\n\r\n', 'SOURCE / ICE/1.0\r\nHost: a\r\n\r\n',
            'G ET / HTTP/1.1\r\nHost: a\r\n\r\n', 'Extra lineGET / HTTP/1.1\r\nHost: a\r\n\r\n', '\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
            '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', '\x00\r\n\r\n')
        if not speaks_http2():
            self.refuse(400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

    def test_target(self):
        self.refuse(
            400, *(f'GET {target} HTTP/1.1\r\nHost: a\r\n\r\n' for target in (
                'hello', '/a#b', '/a b', '/\x01', '/\x7f', '/\xe9', '*', 'ftp://a/', 'http://', 'http:///x', 'http://a@b/',
                'http://a b/', 'http://a:x/', '//\\x\x00', 'localhost:80', '?x', '/a\\b', 'http://a/\\b')))
        for path in ('/%00', '/hello/a%0d%0aX-Injected:%20true', '/hello/%', '/hello/%zz'):
            with self.subTest(path):
                self.assertProblem(self.server.get(path), 400)

    def test_host(self):
        self.refuse(
            400, *(f'GET / HTTP/1.1\r\n{lines}\r\n' for lines in (
                '', 'Host:\r\n', 'Host: a\r\nHost: a\r\n', 'Host: a\r\nhost: b\r\n', 'Host: a@b\r\n', 'Host: a/b\r\n',
                'Host: a,b\r\n', 'Host: a b\r\n', 'Host: a:b\r\n', 'Host: a:99999\r\n', 'Host: [::1\r\n', 'Host: 1.2.3\r\n',
                'Host: 1.2.3.4.5\r\n', 'Host: 01.2.3.4\r\n', 'Host: 0x7f.1\r\n', 'Host: a%41\r\n', 'Host: a..b\r\n',
                'Host: -\x01\r\n', 'Host: http://a\r\n', 'Host: [::1]x\r\n', 'Host: ::1\r\n', 'Host: a?b\r\n', 'Host: a#b\r\n',
                f'Host: {"a" * 300}\r\n')))
        self.refuse(400, 'GET http://a/ HTTP/1.1\r\n\r\n', 'GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
                    'GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n')

    def test_good_hosts(self):
        for host in ('a', 'A.b-c', 'a_b', '1.2.3.4', '1.2.3.4:80', '[::1]', '[::1]:80', '[1:2:3:4:5:6:7:8]', 'a.', 'xn--a.b',
                     '1a.b', '3.com', 'a:'):
            with self.subTest(host):
                self.assertEqual(self.server.ask(request('GET', '/', host=host)).status, 200)

    def test_fields(self):
        self.refuse(
            400, *(f'GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n' for lines in (
                'A : b\r\n', 'A\t: b\r\n', ' A: b\r\n', 'A: b\r\n c\r\n', 'A: b\r\n\tc\r\n', 'A\r\n', ': b\r\n', 'A: b\nC: d\r\n',
                'A: b\rC: d\r\n', 'A: \x00\r\n', 'A: \x01\r\n', 'A: \x7f\r\n', 'A(: b\r\n', 'A\x00: b\r\n', 'A: b\r\r\n',
                '\xe9: b\r\n', 'A: b\n', '\nB: c\r\n', '"A": b\r\n', 'A: b\r\n \r\n')))

    def test_good_fields(self):
        for line in ('A:', 'A: ', 'A:b', 'A: \t b \t', 'A: \xe9\xff', 'A: b\tc', "!#$%&'*+-.^_`|~0: x"):
            with self.subTest(line):
                self.assertEqual(self.server.get('/', line).status, 200)

    def test_framing(self):
        self.refuse(
            400, *(f'POST /echo HTTP/1.1\r\nHost: a\r\n{lines}\r\n' for lines in (
                'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
                'Transfer-Encoding: chunked\r\nContent-Length: 0\r\n',
                'Content-Length: 5\r\nContent-Length: 6\r\n', 'Content-Length: 0\r\nContent-Length: 1\r\n', 'Content-Length: 5, 6\r\n',
                'Content-Length: -1\r\n', 'Content-Length: +5\r\n', 'Content-Length: 0x5\r\n', 'Content-Length: 5 5\r\n',
                'Content-Length:\r\n', 'Content-Length: 99999999999999999999\r\n', 'Content-Length: 18446744073709551616\r\n',
                'Content-Length: 005\r\n', 'Content-Length: 00\r\n', 'Content-Length:  5\r\n', 'Content-Length:\t5\r\n',
                'Content-Length: 5 \r\n', 'Content-Type: a/b\r\nContent-Length: 5\r\nContent-Type: a/c\r\n',
                'Content-Length: 5.\r\n', 'Content-Length: \x0b5\r\n', 'Content_Length : 5\r\n',
                'Transfer-Encoding:\r\n', 'Transfer-Encoding: gzip\r\n', 'Transfer-Encoding: chunked, gzip\r\n',
                'Transfer-Encoding: gzip, chunked\r\n', 'Transfer-Encoding: identity\r\n', 'Transfer-Encoding: chunked, chunked\r\n',
                'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', 'Transfer-Encoding: xchunked\r\n',
                'Transfer-Encoding: chunked;a=b\r\n', 'Transfer-Encoding: "chunked"\r\n', 'Transfer-Encoding: \x0bchunked\r\n',
                'Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n', 'Transfer-Encoding:\r\nContent-Length: 5\r\n',
                'Transfer-Encoding : chunked\r\n', 'Transfer-Encoding\t: chunked\r\n', 'Transfer-Encoding:\r\n chunked\r\n')))
        self.refuse(400, 'POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n',
                    'POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n')

    def test_smuggled_request(self):
        """The classic ones: whatever stands in the body is never answered."""
        inner = request('GET', '/hello/smuggled')
        for head in ('Content-Length: 4\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 4',
                     'Transfer-Encoding:\x0bchunked\r\nContent-Length: 4', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x'):
            with self.subTest(head), self.server.connect() as wire:
                wire.send(f'POST /echo HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n'.encode('latin-1') + b'0\r\n\r\n' + inner)
                self.assertProblem(wire.read(), 400)
                self.assertClosed(wire)

    def test_expectation(self):
        self.refuse(417, request('GET', '/', 'Expect: 200-ok'), request('POST', '/echo', 'Expect: x', body='abc'))

    def test_refused_with_a_long_body(self):
        """The client still sends: it gets the answer, and no reset."""
        with self.server.connect() as wire:
            wire.send('POST /echo HTTP/1.1\r\nHost: a@b\r\nContent-Length: 3000000\r\n\r\n')
            for _ in range(30):
                wire.send(b'x' * 100000)
                time.sleep(0.001)
            self.assertProblem(wire.read(), 400)
            self.assertClosed(wire)

    def test_websocket(self):
        """A handshake of a version that does not exist is none; one of a protocol that nobody speaks here is ignored."""
        handshake = 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
        self.refuse(426, request('GET', '/', *handshake, 'Sec-WebSocket-Version: 99'))
        for headers in ((*handshake, 'Sec-WebSocket-Version: 13'), ('Connection: Upgrade', 'Upgrade: made-up/1.0'), handshake[1:]):
            with self.server.connect() as wire:
                self.assertEqual(wire.ask(request('GET', '/', *headers)).status, 200)
                self.assertServes(wire)

    def test_other_protocols(self):
        """They are told at once: some wait for an answer to what is no line."""
        for data in (b'\x16\x03\x01\x02\x00\x01', b'\x80', b'\x00', b'\r\n\x16\x03'):
            with self.subTest(data), self.server.connect() as wire:
                self.assertProblem(wire.ask(data), 400, 'method')
                wire.end()
                self.assertClosed(wire)

    def test_garbage(self):
        for data in (b'\xff' * 100000, b'\r\n' * 50000 + b'\xff\r\n\r\n', b'G' * 100000, b'\x00' * 100000):
            with self.server.connect() as wire:
                wire.try_send(data)
                try:
                    self.assertIn(wire.read().status, (400, 414, 501))
                except Lost as error:
                    self.fail(f'{data[:10]}: {error}')


class Limits(Shared):
    program = 'limits'

    @classmethod
    def options(cls):
        return '--request_line_max', 200, '--header_block_max', 1000, '--header_count_max', 10

    def test_request_line(self):
        def line(size):
            return request('GET', '/hello/' + 'x' * (size - len('GET /hello/ HTTP/1.1\r\n')))
        self.assertEqual(self.server.ask(line(200)).status, 200)
        self.assertRefused(self.server, line(201), 414)
        self.assertRefused(self.server, line(100000), 414)
        self.assertProblem(self.server.ask('GET /' + 'x' * 200), 414)

    def test_header_block(self):
        def block(size):
            return request('GET', '/', 'A: ' + 'x' * (size - len('Host: localhost\r\nA: \r\n\r\n')))
        self.assertEqual(self.server.ask(block(1000)).status, 200)
        self.assertRefused(self.server, block(1001), 431)
        self.assertRefused(self.server, block(100000), 431)
        self.assertProblem(self.server.ask('GET / HTTP/1.1\r\nHost: a\r\nA: ' + 'x' * 1000), 431)

    def test_header_count(self):
        self.assertEqual(self.server.get('/', *['A: b'] * 9).status, 200)
        self.assertRefused(self.server, request('GET', '/', *['A: b'] * 10), 431)

    def test_many_small_pieces(self):
        with self.server.connect() as wire:
            wire.send('GET / HTTP/1.1\r\nHost: a\r\n')
            for i in range(20):
                if not wire.try_send(f'A{i}: b\r\n'):
                    break
                time.sleep(0.002)
            self.assertProblem(wire.read(), 431)


class Defaults(Shared):
    program = 'limits'

    def test_request_line(self):
        self.assertEqual(self.server.get('/hello/' + 'x' * 8100).status, 200)
        self.assertRefused(self.server, request('GET', '/hello/' + 'x' * 8192), 414)

    def test_header_block(self):
        self.assertEqual(self.server.get('/', *[f'A{i}: {"x" * 300}' for i in range(50)]).status, 200)
        self.assertRefused(self.server, request('GET', '/', *[f'A{i}: {"x" * 400}' for i in range(50)]), 431)
        self.assertEqual(self.server.get('/', *['A: b'] * 99).status, 200)
        self.assertRefused(self.server, request('GET', '/', *['A: b'] * 100), 431)


class ManyAtOnce(Shared):
    program = 'limits'

    def test_half_open_heads_leave_room(self):
        """Those who never finish their head cost little and stand in nobody's way."""
        wires = [self.server.connect() for _ in range(300)]
        for wire in wires:
            wire.send('GET / HTTP/1.1\r\nHost: a\r\nX: ')
        with self.server.connect() as wire:
            self.assertServes(wire)
        for wire in wires:
            wire.send('y\r\n\r\n')
        for wire in wires:
            self.assertEqual(wire.read().status, 200)
            wire.close()

    def test_urgent_data(self):
        with self.server.connect() as wire:
            wire.send('GET / HTTP/1.1\r\n')
            wire.socket.send(b'!', socket.MSG_OOB)
            wire.send('Host: a\r\n\r\n')
            self.assertEqual(wire.read().status, 200)


if __name__ == '__main__':
    unittest.main()
