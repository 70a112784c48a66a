"""Bodies of requests: their framing, who reads them, and what becomes of those that nobody reads."""
import time
import unittest

from wire import KIB, MIB, Shared, chunked, request


class Chunked(Shared):
    program = 'limits'
    head = request('POST', '/echo', 'Transfer-Encoding: chunked')

    def assertBody(self, data, expected):
        with self.server.connect() as wire:
            self.assertEqual(wire.ask(self.head + data).body, expected)
            self.assertServes(wire)

    def test_plain(self):
        self.assertBody(b'0\r\n\r\n', b'')
        self.assertBody(b'5\r\nhello\r\n0\r\n\r\n', b'hello')
        self.assertBody(b'000005\r\nhello\r\n1\r\n!\r\n00\r\n\r\n', b'hello!')
        self.assertBody(b'a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n', b'0123456789' * 2)

    def test_extensions(self):
        for ext in (b';a', b';a=b', b';a="b"', b';a="b;c\\"\r"'.replace(b'\r', b' '), b';a=b;c=d;e', b';a="\xe9\t"'):
            with self.subTest(ext):
                self.assertBody(b'5' + ext + b'\r\nhello\r\n0' + ext + b'\r\n\r\n', b'hello')

    def test_chunk_extension_with_blanks_around_semicolon_and_equals(self):
        for ext in (b' ;a', b'\t; a', b' ; a = b', b';a =b', b';a= "b" ; c', b'; \t a\t=\tb ;c'):
            with self.subTest(ext):
                self.assertBody(b'5' + ext + b'\r\nhello\r\n0' + ext + b'\r\n\r\n', b'hello')
        for line in (b'5 ', b'5\t', b'5 ;a ', b'5;a=b ', b'5 a', b'5 ; ', b'5;a= ', b'5;a b', b' 5;a'):
            with self.subTest(line):
                self.assertRefused(self.server, self.head + line + b'\r\nhello\r\n0\r\n\r\n', 400)

    def test_trailers(self):
        self.assertBody(b'5\r\nhello\r\n0\r\nX-A: b\r\nContent-Length: 3\r\nTransfer-Encoding: x\r\n\r\n', b'hello')

    def test_trailers_are_dropped(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/echo', 'Transfer-Encoding: chunked') + b'0\r\nHost: evil\r\n\r\n' + request('GET', '/host'))
            wire.read()
            self.assertEqual(wire.read().body, b'localhost')

    def test_split_anywhere(self):
        data = self.head + b'5;a="b"\r\nhello\r\n6\r\n world\r\n0\r\nT: x\r\n\r\n'
        with self.server.connect() as wire:
            for at in range(len(self.head) - 2, len(data)):
                wire.send(data[:at])
                time.sleep(0.0005)
                wire.send(data[at:])
                self.assertEqual(wire.read().body, b'hello world', at)

    def test_one_byte_chunks(self):
        self.assertBody(chunked(*[b'x'] * 20000), b'x' * 20000)

    def test_large_chunks(self):
        self.assertBody(chunked(b'x' * 300000, b'y' * 700000), b'x' * 300000 + b'y' * 700000)

    def test_malformed(self):
        for data in (b'5\r\nhelloX\r\n0\r\n\r\n', b'5\r\nhello\n0\r\n\r\n', b'5\nhello\r\n0\r\n\r\n', b'g\r\n', b'\r\n', b'-1\r\n',
                     b'+5\r\nhello\r\n0\r\n\r\n', b'0x5\r\nhello\r\n0\r\n\r\n', b' 5\r\nhello\r\n0\r\n\r\n', b'5 \r\nhello\r\n0\r\n\r\n',
                     b'5;\r\nhello\r\n0\r\n\r\n', b'5;a="\r\n"\r\nhello\r\n0\r\n\r\n', b'5;a=\r\nhello\r\n0\r\n\r\n',
                     b'5;a\rb\r\nhello\r\n0\r\n\r\n', b'10000000000000000\r\n', b'ffffffffffffffffff\r\n', b'5;' + b'a' * 2000 + b'\r\nhello\r\n0\r\n\r\n',
                     b'0\r\nA\r\n\r\n', b'0\r\n: x\r\n\r\n', b'0\r\nA : x\r\n\r\n', b'0\r\nA: \x00\r\n\r\n', b'0\r\nA: b\nC: d\r\n\r\n', b'0\r\n\n',
                     b'0\r\nA: ' + b'x' * 20000 + b'\r\n\r\n', b'5\r\nhello\r\n\r\n0\r\n\r\n', b'0\r\n X: y\r\n\r\n'):
            with self.subTest(data[:40]):
                self.assertRefused(self.server, self.head + data, 400)

    def test_refused_before_the_end_of_what_is_sent(self):
        with self.server.connect() as wire:
            wire.send(self.head + b'zz\r\n')
            for _ in range(20):
                wire.send(b'x' * 100000)
                time.sleep(0.001)
            self.assertProblem(wire.read(), 400)
            self.assertClosed(wire)


class Reading(Shared):
    program = 'limits'

    @classmethod
    def options(cls):
        return '--body_max', 1000

    def test_at_the_limit(self):
        with self.server.connect() as wire:
            self.assertEqual(wire.ask(request('POST', '/echo', body='x' * 1000)).body, b'x' * 1000)
            self.assertEqual(wire.ask(request('POST', '/echo', 'Transfer-Encoding: chunked', body=chunked('x' * 1000))).body,
                             b'x' * 1000)
            self.assertServes(wire)

    def test_past_the_limit(self):
        with self.server.connect() as wire:
            self.assertProblem(wire.ask(request('POST', '/echo', body='x' * 1001)), 413)
            self.assertServes(wire)
            data = request('POST', '/echo', 'Transfer-Encoding: chunked', body=chunked('x' * 600, 'y' * 600))
            self.assertProblem(wire.ask(data), 413)
            self.assertServes(wire)

    def test_past_the_limit_before_it_is_sent(self):
        with self.server.connect() as wire:
            response = wire.ask(request('POST', '/echo', 'Content-Length: 100000000'))
            self.assertProblem(response, 413)
            self.assertTrue(response.closes)

    def test_echo_while_it_arrives(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/pump', 'Transfer-Encoding: chunked'))
            for i in range(10):
                wire.send(chunked(f'piece {i}', end=b''))
                if i == 0:
                    self.assertEqual(wire.read_head().status, 200)
                self.assertEqual(wire.take(int(wire.take_line(), 16)), f'piece {i}'.encode())
                self.assertEqual(wire.take(2), b'\r\n')
            wire.send('0\r\n\r\n')
            self.assertEqual(wire.take(5), b'0\r\n\r\n')
            self.assertServes(wire)

    def test_half_close_inside_a_body(self):
        for data in (request('POST', '/echo', 'Content-Length: 10', body='abc'),
                     request('POST', '/echo', 'Transfer-Encoding: chunked', body='5\r\nab'),
                     request('POST', '/echo', 'Transfer-Encoding: chunked', body='5\r\nabcde\r\n')):
            with self.subTest(data), self.server.connect() as wire:
                wire.send(data)
                wire.end()
                response = wire.read()
                self.assertProblem(response, 400)
                self.assertTrue(response.closes)
                self.assertClosed(wire)


class Continue(Shared):
    program = 'limits'

    @classmethod
    def options(cls):
        return '--body_max', 1000

    def test_sent_when_the_handler_reads(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/echo', 'Expect: 100-continue', 'Content-Length: 5'))
            self.assertEqual(wire.read().status, 100)
            wire.send('hello')
            self.assertEqual(wire.read().body, b'hello')
            self.assertServes(wire)

    def test_for_chunks(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/echo', 'Expect: 100-Continue', 'Transfer-Encoding: chunked'))
            self.assertEqual(wire.read().status, 100)
            wire.send(chunked('hello'))
            self.assertEqual(wire.read().body, b'hello')
            self.assertServes(wire)

    def test_not_sent_when_nobody_reads(self):
        for path, status in (('/ignore', 200), ('/refuse', 409), ('/nowhere', 404)):
            with self.subTest(path), self.server.connect() as wire:
                response = wire.ask(request('POST', path, 'Expect: 100-continue', 'Content-Length: 5'))
                self.assertEqual(response.status, status)
                self.assertTrue(response.closes)
                self.assertClosed(wire)

    def test_not_sent_when_it_is_too_much(self):
        with self.server.connect() as wire:
            response = wire.ask(request('POST', '/echo', 'Expect: 100-continue', 'Content-Length: 1001'))
            self.assertProblem(response, 413)

    def test_not_sent_when_the_body_is_there(self):
        with self.server.connect() as wire:
            response = wire.ask(request('POST', '/echo', 'Expect: 100-continue', body='hello'))
            self.assertEqual((response.status, response.body), (200, b'hello'))
            self.assertServes(wire)

    def test_without_a_body(self):
        with self.server.connect() as wire:
            self.assertEqual(wire.ask(request('POST', '/echo', 'Expect: 100-continue', 'Content-Length: 0')).status, 200)
            self.assertEqual(wire.ask(request('GET', '/', 'Expect: 100-continue')).status, 200)
            self.assertServes(wire)

    def test_http_1_0_has_none(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/echo', 'Expect: 100-continue', 'Content-Length: 5', version='1.0'))
            self.assertTrue(wire.is_open())
            wire.send('hello')
            self.assertEqual(wire.read().body, b'hello')


class Unread(Shared):
    """The handler answers without having read the body."""
    program = 'limits'

    def test_small_body_keeps_the_connection(self):
        with self.server.connect() as wire:
            for path, status in (('/ignore', 200), ('/refuse', 409), ('/nowhere', 404)):
                for size in (1, 20 * KIB, 256 * KIB):
                    response = wire.ask(request('POST', path, body='x' * size))
                    self.assertEqual(response.status, status)
                    self.assertFalse(response.closes)
                response = wire.ask(request('POST', path, 'Transfer-Encoding: chunked', body=chunked('x' * 200 * KIB)))
                self.assertFalse(response.closes)
            self.assertServes(wire)

    def test_large_body_closes(self):
        for path, status in (('/ignore', 200), ('/refuse', 409), ('/nowhere', 404)):
            for size in (256 * KIB + 1, 3 * MIB):
                with self.subTest(path=path, size=size), self.server.connect() as wire:
                    wire.send(request('POST', path, body='x' * size) + request('GET', '/'))
                    response = wire.read()
                    self.assertEqual(response.status, status)
                    self.assertTrue(response.closes)
                    self.assertClosed(wire)

    def test_the_answer_comes_before_the_body(self):
        with self.server.connect() as wire:
            response = wire.ask(request('POST', '/refuse', 'Content-Length: 1000'))
            self.assertEqual(response.status, 409)
            wire.send('x' * 1000)
            self.assertServes(wire)

    def test_slow_sender_gets_the_answer_and_no_reset(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/refuse', 'Content-Length: 5000000'))
            for _ in range(50):
                wire.send(b'x' * 100000)
                time.sleep(0.002)
            self.assertEqual(wire.read().status, 409)
            self.assertClosed(wire)

    def test_endless_chunks(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/ignore', 'Transfer-Encoding: chunked'))
            for _ in range(40):
                wire.send(chunked('x' * 50000, end=b''))
                time.sleep(0.001)
            self.assertEqual(wire.read().body, b'ignored')
            self.assertClosed(wire)

    def test_malformed_body_that_nobody_reads(self):
        with self.server.connect() as wire:
            wire.send(request('POST', '/ignore', 'Transfer-Encoding: chunked') + b'zz\r\n')
            for _ in range(10):
                wire.send(b'x' * 100000)
                time.sleep(0.001)
            self.assertEqual(wire.read().body, b'ignored')
            self.assertClosed(wire)

    def test_nothing_of_the_body_is_taken_for_a_request(self):
        inner = request('GET', '/hello/smuggled')
        with self.server.connect() as wire:
            wire.send(request('POST', '/ignore', body=inner) + request('GET', '/hello/next'))
            self.assertEqual(wire.read().body, b'ignored')
            self.assertEqual(wire.read().body, b'Hello, next!')
            wire.send(request('POST', '/ignore', 'Expect: 100-continue', body=inner))
            self.assertEqual(wire.read().body, b'ignored')
            self.assertNotIn(b'smuggled', wire.read_end())

    def test_body_of_a_get(self):
        with self.server.connect() as wire:
            wire.send(request('GET', '/hello/x', body='GET / HTTP/1.1\r\n\r\n') + request('GET', '/hello/y'))
            self.assertEqual([wire.read().body, wire.read().body], [b'Hello, x!', b'Hello, y!'])


if __name__ == '__main__':
    unittest.main()
