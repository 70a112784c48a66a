"""Records of sizes at the edges, received and sent by both roles. big_tls_records.py has all sizes."""
import os
import time
import socket

import tls12
import tls13
from libssl import FRAME, SUITES, V12, V13, Client, Context, fetch
from tls import TlsCase, setUpModule, tearDownModule  # noqa: F401
from wire import KIB, MIB, pattern, request

RECORD = 16 * KIB
# With which a connection begins: a segment each, and what is left of as much as one record has.
FIRST = [1300] * 10 + [RECORD - 13000]
EDGES = 1, 2, 15, 16, 17, 255, 256, 257, 4095, 4096, 4097, RECORD - 1, RECORD
RECORD_OVERFLOW = 22
# Text, which ends at a zero for who prints it.
DATA = pattern(3 * RECORD).replace(b'\0', b'\1')


class Records(TlsCase):
    sizes = EDGES

    def each(self, check, versions=(V12, V13)):
        """Of these versions and all suites."""
        for version in versions:
            for suite in SUITES:
                with self.subTest(version=hex(version), suite=suite):
                    check(version, suite, FRAME[version][suite])

    def bodies(self, most=MIB * 7):
        """The sizes, in lists that are not too long together."""
        body = []
        for size in self.sizes:
            if sum(body) + size > most:
                yield body
                body = []
            body.append(size)
        yield body

    def begin(self, server, version, suite):
        wire = Client(server.port, Context(version, suite), timeout=60)
        self.addCleanup(wire.close)
        return wire

    def test_the_server_receives(self):
        server = self.secure()

        def check(version, suite, frame):
            wire = self.begin(server, version, suite)
            wire.send(request('PUT', '/files/got', f'Content-Length: {sum(self.sizes)}'))
            for size in self.sizes:
                wire.send(DATA[size:2 * size])
            self.assertIn(wire.read().status, (200, 201))
            self.assertEqual([size - frame for size in wire.socket.sent[-len(self.sizes):]], list(self.sizes))
            with open(os.path.join(self.dir, 'got'), 'rb') as file:
                for size in self.sizes:
                    self.assertTrue(file.read(size) == DATA[size:2 * size], f'a record of {size} bytes')
                self.assertEqual(file.read(), b'')
        self.each(check)

    def test_the_server_sends(self):
        """The last record of an answer of 16 KiB and some bytes has these bytes."""
        server = self.secure()
        self.write('f', DATA)

        def check(version, suite, frame):
            wire, seen = self.begin(server, version, suite), set()

            def get(size):
                answer = wire.ask(request('GET', '/files/f', f'Range: bytes=0-{size - 1}'))
                self.assertTrue(answer.body == DATA[:size], size)
                return len(answer.raw) + 4
            head = get(RECORD)
            for size in self.sizes:
                del wire.socket.received[:]
                self.assertEqual(get(RECORD + size - head), head)
                seen.update(length - frame for length in wire.socket.received)
            self.assertEqual(seen, {*self.sizes, RECORD})
        self.each(check)

    def test_the_server_begins(self):
        """What it sends first, and first after a pause of a second, can be read with the first segment."""
        server = self.secure()
        self.write('f', DATA)

        def check(version, suite, frame):
            wire = self.begin(server, version, suite)
            for pause, first in (0, FIRST), (0, []), (1.1, FIRST):
                time.sleep(pause)
                del wire.socket.received[:]
                whole = len(wire.ask(request('GET', '/files/f')).raw) + 4 + len(DATA)
                seen = [size - frame for size in wire.socket.received]
                # Tickets come before.
                seen = seen[seen.index(first[0] if first else RECORD):]
                self.assertEqual(seen[:len(first)], first)
                self.assertEqual(sum(seen), whole)
                self.assertEqual(set(seen[len(first):-1]), {RECORD})
        check(V13, 'AES_128_GCM_SHA256', FRAME[V13]['AES_128_GCM_SHA256'])

    def test_the_client_receives(self):
        bodies = list(self.bodies())
        want = b''.join(b'200 ' + b''.join(DATA[size:2 * size] for size in body) + b'\n' for body in bodies)

        def play(peer):
            for body in bodies:
                peer.read_request()
                peer.answer(sum(body))
                for size in body:
                    peer.send(DATA[size:2 * size])
        self.each(lambda version, suite, _frame: self.assertTrue(
            fetch(Context(version, suite, cert='server'), play, urls=len(bodies)) == want))

    def check_what_the_client_sends(self, version):
        """Likewise, but for the beginning of a connection."""
        path = os.path.join(self.folder(), 'f')

        def check(version, suite, frame):
            head = 0
            for size in (RECORD, *EDGES):
                length = RECORD + size - head
                with open(path, 'wb') as file:
                    file.write(DATA[:length])

                def play(peer, length=length):
                    nonlocal head
                    del peer.socket.received[:]
                    head = len(peer.read_request()) + 4
                    self.assertTrue(peer.take(length) == DATA[:length])
                    peer.answer(0)
                    seen = [size - frame for size in peer.socket.received]
                    whole, rest = divmod(head + length, RECORD)
                    self.assertEqual(seen, FIRST + [RECORD] * (whole - 1) + [rest] * (rest > 0))
                self.assertEqual(fetch(Context(version, suite, cert='server'), play, '--put', path), b'200 \n')
        self.each(check, (version,))

    def test_the_client_sends_by_tls_1_2(self):
        self.check_what_the_client_sends(V12)

    def test_the_client_sends_by_tls_1_3(self):
        self.check_what_the_client_sends(V13)

    def test_too_long_ones_are_refused(self):
        server = self.secure()
        for made in (tls12.Client, tls13.Client):
            for more in (0, 1):
                with self.subTest(made.__module__, more=more):
                    sock = socket.create_connection(('127.0.0.1', server.port), timeout=20)
                    self.addCleanup(sock.close)
                    client = made(sock)
                    client.begin()
                    if made is tls12.Client:
                        client.exchange()
                    client.finish()
                    client.send(tls13.DATA, request('PUT', '/files/x', f'Content-Length: {RECORD + more}'))
                    client.send(tls13.DATA, DATA[:RECORD + more])
                    kind = said = None
                    try:
                        while kind != tls13.DATA:
                            kind, said = client.recv()
                    except tls13.Alerted as alerted:
                        said = alerted.code
                    self.assertEqual(said if more else said[:11], RECORD_OVERFLOW if more else b'HTTP/1.1 20')
