"""Ten thousand idle connections."""
import resource
import time
import unittest

import h2idle
from wire import KIB, Case, is_sanitized, request, speaks_http2

COUNT = 10000


class Idle(Case):
    def setUp(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < COUNT + 200:
            self.skipTest(f'needs {COUNT + 200} descriptors, the limit is {hard}')
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    def test_10000_idle_connections(self):
        server = self.serve(self.folder())
        wires = [server.connect() for _ in range(50)]
        for wire in wires:
            self.assertServes(wire)
        before = server.rss()
        for _ in range(COUNT // 100):
            group = [server.connect() for _ in range(100)]
            for wire in group:
                wire.send(request('GET', '/'))
            for wire in group:
                self.assertEqual(wire.read().status, 200)
            wires += group
        time.sleep(0.2)
        per = (server.rss() - before) / COUNT
        print(f'{per:.0f} bytes for each of {COUNT} idle connections')
        if not is_sanitized():
            self.assertLess(per, 2 * KIB)
        began = time.monotonic()
        with server.connect() as wire:
            self.assertServes(wire)
        self.assertLess(time.monotonic() - began, 1)
        for wire in wires[::1000]:
            self.assertServes(wire)
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 5)
        for wire in wires:
            wire.close()

    @unittest.skipUnless(speaks_http2(), 'needs an eddy with -Dhttp2=enabled')
    def test_10000_idle_connections_of_http_2(self):
        h2idle.check(self, COUNT)
