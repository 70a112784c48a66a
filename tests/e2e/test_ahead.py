"""Bytes that come while a request is being answered: behind one that had no body they are received ahead."""
import os
import unittest

from wire import KIB, MIB, Case, Lost, Shared, chunked, pattern, request

# Around a buffer of the kernel's, the inbox, and where a body goes by splice.
SIZES = (1, 100, 8 * KIB - 1, 8 * KIB, 8 * KIB + 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 24 * KIB, 64 * KIB - 1, 300 * KIB)


class Bodies(Shared):
    program = 'limits'

    def ask_without_body(self, wire):
        self.assertEqual(wire.ask(request('GET', '/hello/a')).body, b'Hello, a!')

    def test_behind_a_request_without(self):
        with self.server.connect() as wire:
            for size in SIZES:
                body = pattern(size, size)
                for data in (request('POST', '/echo', f'Content-Length: {size}', body=body),
                             request('POST', '/echo', 'Transfer-Encoding: chunked', body=chunked(body))):
                    with self.subTest(size=size):
                        self.ask_without_body(wire)
                        self.assertEqual(wire.ask(data).body, body)

    def test_in_two_parts(self):
        with self.server.connect() as wire:
            for size in SIZES:
                for first in (0, 1, size // 2, size - 1):
                    with self.subTest(size=size, first=first):
                        body = pattern(size, size)
                        self.ask_without_body(wire)
                        wire.send(request('POST', '/echo', f'Content-Length: {size}') + body[:first])
                        wire.send(body[first:])
                        self.assertEqual(wire.read().body, body)

    def test_and_requests_around_them(self):
        """All at once: what is behind a body is no part of it."""
        with self.server.connect() as wire:
            self.ask_without_body(wire)
            parts = []
            for size in SIZES:
                parts += [request('GET', f'/hello/{size}'),
                          request('POST', '/echo', f'Content-Length: {size}', body=pattern(size, size))]
            wire.send(b''.join(parts))
            for size in SIZES:
                self.assertEqual(wire.read().body, f'Hello, {size}!'.encode())
                self.assertEqual(wire.read().body, pattern(size, size))
            self.assertServes(wire)

    def test_one_that_nobody_reads(self):
        with self.server.connect() as wire:
            for size in SIZES[:-1]:
                self.ask_without_body(wire)
                wire.send(request('POST', '/nothing', f'Content-Length: {size}', body=bytes(size)))
                wire.read()
                self.assertServes(wire)


class Waiting(Shared):
    """A handler takes its time meanwhile."""
    program = 'limits'

    def begin_slow(self, ms=100):
        wire = self.server.connect()
        self.addCleanup(wire.close)
        self.assertServes(wire)
        wire.send(request('GET', f'/slow/{ms}'))
        return wire

    def test_requests(self):
        """More of them than are kept: the rest waits in the socket."""
        wire = self.begin_slow()
        count = 2000
        wire.send(b''.join(request('GET', f'/hello/{i}') for i in range(count)))
        self.assertEqual(wire.read().body, b'slept')
        for i in range(count):
            self.assertEqual(wire.read().body, f'Hello, {i}!'.encode())
        self.assertServes(wire)

    def test_a_body(self):
        wire = self.begin_slow()
        body = pattern(300 * KIB)
        wire.send(request('POST', '/echo', f'Content-Length: {len(body)}', body=body))
        self.assertEqual(wire.read().body, b'slept')
        self.assertEqual(wire.read().body, body)

    def test_a_head_byte_by_byte(self):
        wire = self.begin_slow()
        for byte in request('GET', '/hello/a'):
            wire.send(bytes([byte]))
        self.assertEqual(wire.read().body, b'slept')
        self.assertEqual(wire.read().body, b'Hello, a!')

    def test_the_end(self):
        wire = self.begin_slow()
        wire.send(request('GET', '/hello/a'))
        wire.end()
        self.assertEqual(wire.read().body, b'slept')
        self.assertEqual(wire.read().body, b'Hello, a!')
        self.assertClosed(wire)

    def test_a_reset(self):
        for _ in range(8):
            self.begin_slow(20).reset()
        with self.server.connect() as wire:
            self.assertServes(wire)

    def test_what_is_no_request(self):
        wire = self.begin_slow()
        wire.send(b'\0' * 20 * KIB)
        self.assertEqual(wire.read().body, b'slept')
        self.assertEqual(wire.read().status, 400)
        self.assertClosed(wire)


class Requests(Case):
    def test_many_that_are_large(self):
        """More than comes of one arming."""
        with self.limits().connect() as wire:
            for size in (10, 1000, 3000, 7000):
                for i in range(20):
                    self.assertEqual(wire.ask(request('GET', f'/hello/{i}', f'X: {"x" * size}')).body, f'Hello, {i}!'.encode())

    def test_split_at_every_byte(self):
        data = request('GET', '/hello/a', 'X-Y: z')
        with self.limits().connect() as wire:
            for at in range(1, len(data)):
                self.assertServes(wire)
                wire.send(data[:at])
                wire.send(data[at:])
                self.assertEqual(wire.read().body, b'Hello, a!', at)

    def test_the_last_answer(self):
        server = self.limits()
        before = server.descriptors()
        for _ in range(20):
            with server.connect() as wire:
                self.assertServes(wire)
                self.assertTrue(wire.ask(request('GET', '/hello/a', 'Connection: close')).closes)
                self.assertClosed(wire)
        self.eventually(lambda: server.descriptors() == before)

    def test_a_part_of_a_head_has_its_time(self):
        with self.limits(head_timeout=200).connect() as wire:
            self.assertServes(wire)
            wire.send('GET / HT')
            self.assertProblem(wire.read(), 408)
            self.assertClosed(wire)

    def test_nothing_has_its_time(self):
        with self.limits(idle_timeout=200).connect() as wire:
            for _ in range(3):
                self.assertServes(wire)
            self.assertClosed(wire)

    def test_a_server_that_ends_closes_them(self):
        server = self.serve(program='limits', log='eddy::app=trace')
        with server.connect() as wire:
            self.assertServes(wire)
            self.begin_end(server)
            self.assertClosed(wire)
        self.assertEqual(server.wait(), 0)


class Files(Shared):
    def test_uploads_behind_downloads(self):
        """By splice, from the byte on that was not received ahead."""
        with self.server.connect() as wire:
            for i, size in enumerate((*SIZES, 64 * KIB, 64 * KIB + 1, 3 * MIB)):
                body = pattern(size, i)
                wire.send(request('PUT', f'/files/{i}', f'Content-Length: {size}', body=body))
                self.assertIn(wire.read().status, (200, 201))
                self.assertEqual(wire.ask(request('GET', f'/files/{i}')).body, body)
                with open(self.path(str(i)), 'rb') as file:
                    self.assertEqual(file.read(), body)
        for name in self.names():
            os.unlink(self.path(name))

    def test_uploads_that_begin_when_they_are_waited_for(self):
        with self.server.connect() as wire:
            for i, size in enumerate((100, 20 * KIB, 64 * KIB, 300 * KIB, 3 * MIB)):
                body = pattern(size, i)
                wire.ask(request('GET', '/files/none'))
                wire.send(request('PUT', '/files/new', f'Content-Length: {size}', 'Expect: 100-continue'))
                self.assertEqual(wire.read().status, 100)
                for at in range(0, size, 10 * KIB):
                    wire.send(body[at:at + 10 * KIB])
                self.assertIn(wire.read().status, (200, 201))
                self.assertEqual(wire.ask(request('GET', '/files/new')).body, body)
        os.unlink(self.path('new'))

    def test_a_client_that_goes_in_the_middle(self):
        with self.server.connect() as wire:
            wire.ask(request('GET', '/files/none'))
            wire.send(request('PUT', '/files/cut', f'Content-Length: {MIB}', body=bytes(100 * KIB)))
            wire.end()
            try:
                wire.read_end()
            except Lost:
                pass
        self.assertNotIn('cut', self.names())


if __name__ == '__main__':
    unittest.main()
