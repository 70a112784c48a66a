"""Requests that come coded, to the program `coded`."""
import os
import unittest

from coding import CODINGS, decode, encode
from wire import KIB, MIB, Shared, chunked, form, is_sanitized, part, pattern, request

GZIP = 'Content-Encoding: gzip'


class Coded(Shared):
    program = 'coded'

    @classmethod
    def options(cls):
        return ()

    def post(self, path, coding, body, *headers):
        return self.server.ask(request('POST', path, f'Content-Encoding: {coding}', *headers, body=body))

    def assertRead(self, response, text):
        self.assertEqual((response.status, response.body), (200, text))


class Readers(Coded):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.stop()
        from wire import Server
        cls.server = Server(cls.dir, program='coded')
        cls.addClassCleanup(cls.server.stop)

    def test_sizes(self):
        for size in (0, 1, 64 * KIB, 8 * MIB):
            text = pattern(size).hex().encode()[:size]
            for coding in CODINGS:
                body = encode(coding, text)
                with self.subTest(size=size, coding=coding):
                    self.assertRead(self.post('/in/size', coding, body), str(size).encode())
                    pieces = chunked(*(body[i:i + 10000] for i in range(0, len(body), 10000)))
                    self.assertRead(self.post('/in/size', coding, pieces, 'Transfer-Encoding: chunked'), str(size).encode())

    def test_in_and_out(self):
        text = pattern(50000).hex().encode()
        for coming in CODINGS:
            for going in CODINGS:
                response = self.post('/in/echo', coming, encode(coming, text), f'Accept-Encoding: {going}')
                self.assertEqual((response.status, response.header('content-encoding')), (200, going))
                self.assertEqual(decode(going, response.body), text)

    def test_a_byte_at_a_time(self):
        for coding in CODINGS:
            body = encode(coding, b'some text\n' * 100)
            with self.server.connect() as wire:
                wire.send(request('POST', '/in/size', f'Content-Encoding: {coding}', f'Content-Length: {len(body)}'))
                for i in range(len(body)):
                    wire.send(body[i:i + 1])
                self.assertRead(wire.read(), b'1000')

    def test_json(self):
        for coding in CODINGS:
            response = self.post('/in/json', coding, encode(coding, b'[1, {"a": 2}]'), 'Content-Type: application/json')
            self.assertRead(response, b'[1,{"a":2}]')
            self.assertProblem(self.post('/in/json', coding, encode(coding, b'[1'), 'Content-Type: application/json'), 400)
            # A limit of the reader is one of what comes out.
            much = encode(coding, b'"' + pattern(700000).hex().encode() + b'"')
            self.assertProblem(self.post('/in/json', coding, much, 'Content-Type: application/json'), 413)

    def test_saved(self):
        text = pattern(300000)
        for coding in CODINGS:
            self.assertRead(self.post('/in/save', coding, encode(coding, text)), b'300000')
            with open(self.path('saved'), 'rb') as file:
                self.assertEqual(file.read(), text)
            os.unlink(self.path('saved'))
            self.assertProblem(self.post('/in/save', coding, encode(coding, text)[:-1]), 400)
            self.assertEqual(self.names(), [])

    def test_multipart(self):
        _, _, body = form(part('a', pattern(50000), 'a.bin'), part('b', b'text', 'b.txt')).partition(b'\r\n\r\n')
        for coding in CODINGS:
            response = self.post('/in/save-all', coding, encode(coding, body), 'Content-Type: multipart/form-data; boundary=xYz')
            self.assertRead(response, b'2')
            self.assertEqual(self.names(), ['a.bin', 'b.txt'])
            for name in self.names():
                os.unlink(self.path(name))


class Refused(Coded):
    def test_others_and_several(self):
        for coding in ('compress', 'gzip, br', 'x', 'gzip;q=1'):
            with self.subTest(coding):
                response = self.post('/in/size', coding, 'x')
                self.assertProblem(response, 415)
                self.assertEqual(response.header('accept-encoding'), 'zstd, br, gzip, deflate')
        self.assertProblem(self.post('/in/size', 'gzip', 'x', GZIP), 415)
        response = self.post('/plain', 'gzip', encode('gzip', b'x'))
        self.assertProblem(response, 415)
        self.assertEqual(response.header('accept-encoding'), 'identity')
        self.assertRead(self.post('/in/size', 'identity', 'text'), b'4')
        self.assertRead(self.post('/in/size', 'X-GZIP', encode('gzip', b'text')), b'4')

    def test_cut_off_and_followed(self):
        text = pattern(20000).hex().encode()
        for coding in CODINGS:
            body = encode(coding, text)
            for wrong in (body[:-1], body[:len(body) // 2], body[:1], body + b'x', b'x' + body, text):
                with self.subTest(coding=coding, length=len(wrong)):
                    self.assertProblem(self.post('/in/size', coding, wrong), 400, 'does not match its content-encoding')
        self.assertProblem(self.post('/in/size', 'gzip', chunked(), 'Transfer-Encoding: chunked'), 400)

    def test_bombs(self):
        for coding in CODINGS:
            bomb = encode(coding, b'\0' * (200 * MIB), level=9)
            before = self.server.peak()
            with self.subTest(coding):
                self.assertProblem(self.post('/in/size', coding, bomb), 413, 'the decoded body is too large')
                self.assertProblem(self.post('/in/save', coding, bomb), 413)
                self.assertProblem(self.post('/in/json', coding, bomb, 'Content-Type: application/json'), 413)
                # The window alone may have 16 MiB with br, 8 with zstd.
                if not is_sanitized():
                    self.assertLess(self.server.peak() - before, 20 * MIB)
            self.assertRead(self.post('/few', coding, encode(coding, b'x' * 1000)), b'1000')
            self.assertProblem(self.post('/few', coding, encode(coding, b'x' * 1001)), 413)

    def test_the_connection_goes_on(self):
        """What was refused without being read is read away, as any other."""
        with self.server.connect() as wire:
            for path, coding, body, status in (('/in/size', 'compress', b'x' * 1000, 415), ('/in/refuse', 'gzip', encode('gzip', pattern(9000)), 403),
                                               ('/plain', 'gzip', b'x' * 1000, 415), ('/few', 'gzip', encode('gzip', b'x' * 1001), 413),
                                               ('/in/size', 'gzip', b'x' * 1000, 400)):
                with self.subTest(path=path, coding=coding):
                    response = wire.ask(request('POST', path, f'Content-Encoding: {coding}', body=body))
                    self.assertProblem(response, status)
                    self.assertFalse(response.closes)
                    self.assertRead(wire.ask(request('POST', '/in/size', GZIP, body=encode('gzip', b'text'))), b'4')

    def test_expect_100(self):
        body = encode('gzip', b'text')
        with self.server.connect() as wire:
            wire.send(request('POST', '/in/size', GZIP, 'Expect: 100-continue', f'Content-Length: {len(body)}'))
            self.assertEqual(wire.read().status, 100)
            wire.send(body)
            self.assertRead(wire.read(), b'4')
            # Who is refused is not asked for more.
            wire.send(request('POST', '/in/size', 'Content-Encoding: compress', 'Expect: 100-continue', 'Content-Length: 5'))
            self.assertProblem(wire.read(), 415)

    def test_those_who_vanish_leave_nothing(self):
        body = encode('gzip', pattern(100000))
        start = self.server.held()
        for i in range(40):
            with self.server.connect() as wire:
                wire.send(request('POST', ('/in/size', '/in/save', '/in/echo')[i % 3], GZIP, f'Content-Length: {len(body)}', body=b''))
                wire.send(body[:50000])
                wire.reset()
        self.eventually(lambda: self.server.held() <= start + 1, what='descriptors are left')


if __name__ == '__main__':
    unittest.main()
