"""KeyUpdates, many on a connection: what is sent between them arrives, and they leave nothing behind. big_tls_updates.py has a million."""
import os
import re

from libssl import SUITES, V13, Client, Context, fetch
from recorded import unrepeatable
from tls import TlsCase, setUpModule, tearDownModule  # noqa: F401
from wire import KIB, is_sanitized, pattern, request

STEP = 100      # between two exchanges of data; their answers have room in the buffers
SLACK = 128 * KIB, KIB   # the buffers of a connection come and go, and the heap has gaps: a byte for each of a million
DATA = pattern(18 * KIB).replace(b'\0', b'\1')


def resident(pid):
    with open(f'/proc/{pid}/status') as file:
        return int(re.search(r'VmRSS:\s+(\d+) kB', file.read())[1])


class Updates(TlsCase):
    count, first = 2000, 1000     # of each suite; what is allocated behind the first is what is allocated behind all
    suites = SUITES

    def each(self, check):
        for suite in self.suites:
            with self.subTest(suite):
                check(suite)

    def assertConstant(self, samples):
        """Pairs of the bytes that are allocated and the KiB that are resident."""
        if not is_sanitized():
            for before, after, slack in zip(*samples, SLACK, strict=True):
                self.assertLess(after, before + slack)

    @unrepeatable('memory in use is not recorded')
    def test_the_server(self):
        """Each is answered by one. Between them files go both ways, with one more in the middle."""
        server = self.secure('--no_ktls')
        self.write('f', DATA)

        def check(suite):
            wire, samples = Client(server.port, Context(V13, suite), timeout=60), []
            self.addCleanup(wire.close)
            for done in range(STEP, self.count + 1, STEP):
                for _ in range(STEP - 2):
                    wire.socket.update_keys(True)
                wire.send(request('PUT', '/files/got', f'Content-Length: {len(DATA)}'))
                wire.send(DATA[:1 + done % KIB])
                wire.socket.update_keys(True)
                wire.send(DATA[1 + done % KIB:])
                self.assertIn(wire.read().status, (200, 201))
                wire.send(request('GET', '/files/f'))
                wire.socket.update_keys(True)
                self.assertTrue(wire.read().body == DATA)
                if done in (self.first, self.count):
                    with open(os.path.join(self.dir, 'got'), 'rb') as file:
                        self.assertTrue(file.read() == DATA)
                    samples.append((int(wire.ask(request('GET', '/memory')).body.split()[0]), resident(server.pid)))
                    self.assertEqual(wire.socket.updates, [done, done])
            self.assertConstant(samples)
        self.each(check)

    def test_those_that_ask_for_none(self):
        server = self.secure()

        def check(suite):
            wire = Client(server.port, Context(V13, suite))
            self.addCleanup(wire.close)
            for _ in range(STEP):
                wire.socket.update_keys(False)
                self.assertEqual(self.session(wire).header('x-version'), 'TLSv1.3')
            self.assertEqual(wire.socket.updates, [0, STEP])
        self.each(check)

    def test_the_client(self):
        """Each is answered by one. They come before responses, and in the middle."""
        def check(suite):
            samples = []

            def play(peer):
                for done in range(STEP, self.count + 1, STEP):
                    peer.read_request()
                    for _ in range(STEP - 1):
                        peer.socket.update_keys(True)
                    peer.answer(len(DATA))
                    peer.send(DATA[:1 + done % KIB])
                    peer.socket.update_keys(True)
                    if done in (self.first, self.count):
                        samples.append((0, resident(peer.pid)))
                    peer.send(DATA[1 + done % KIB:])
                self.assertEqual(peer.read_end(), b'')
                self.assertEqual(peer.socket.updates, [self.count, self.count])
            said = fetch(Context(V13, suite, cert='server'), play, urls=self.count // STEP)
            self.assertTrue(said == (b'200 ' + DATA + b'\n') * (self.count // STEP))
            self.assertConstant(samples)
        self.each(check)
