"""What a server takes: threads, descriptors, memory; and what it gives back."""
import os
import random
import resource
import select
import time
import unittest

import h2idle
from wire import (KIB, MIB, Case, chunked, in_threads, is_sanitized, links_of, only_http1, pattern, request,
                  speaks_http2)


class Resources(Case):
    def quiet(self, server, start, workers=1):
        self.eventually(lambda: server.held() <= start, 20,
                        lambda: f'{server.held()} descriptors, {start} at the start: ' + str(links_of(server.pid)))
        self.assertFewPipes(server, workers)

    def assertFewPipes(self, server, workers=1):
        """Two descriptors each, eight of a loop; and stderr."""
        self.eventually(lambda: server.count('pipe') <= 1 + 2 * 8 * workers, what=lambda: f'{server.count("pipe")} pipes')

    def warm_up(self, server, folder):
        """After one of each, the pools are filled."""
        with open(os.path.join(folder, 'file'), 'wb') as file:
            file.write(pattern(3 * MIB))

        def work(i):
            self.assertEqual(len(server.get('/files/file').body), 3 * MIB)
            self.assertIn(server.ask(request('PUT', f'/files/{i}', body=pattern(MIB))).status, (200, 201))
            self.assertEqual(server.get('/api/files').status, 200)
        in_threads(12, work)
        time.sleep(0.1)

    def test_stalled_transfers(self):
        """A hundred that don't read and a hundred that don't write: few threads, and others are served at once."""
        folder = self.folder()
        server = self.serve(folder)
        self.warm_up(server, folder)
        start = server.held()
        with open(os.path.join(folder, 'large'), 'wb') as file:
            file.write(pattern(20 * MIB))
        wires = []
        for i in range(100):
            wire = server.connect(rcvbuf=8192)
            wire.send(request('GET', '/files/large'))
            wires.append(wire)
            wire = server.connect()
            wire.send(request('PUT', f'/files/up{i}', f'Content-Length: {10 * MIB}') + b'x' * 300000)
            wires.append(wire)
        time.sleep(0.5)
        # Of the kernel's workers there are 8 bounded and 8 unbounded at most, and some of the pool for blocking code.
        self.assertLessEqual(server.threads(), 2 + 16 + 8)
        worst = 0
        with server.connect() as wire:
            for _ in range(50):
                began = time.monotonic()
                self.assertEqual(wire.ask(request('GET', '/')).status, 200)
                worst = max(worst, time.monotonic() - began)
        self.assertLess(worst, 3)
        began = time.monotonic()
        self.assertEqual(len(server.get('/files/file').body), 3 * MIB)
        self.assertLess(time.monotonic() - began, 5)
        # A stalled transfer holds its socket and its file, and no pipe.
        self.assertLessEqual(server.held(), start + 400 + 4)
        self.assertFewPipes(server)
        for wire in wires[::2]:
            wire.close()
        for wire in wires[1::2]:
            wire.reset()
        self.quiet(server, start)
        self.assertFalse([name for name in os.listdir(folder) if name.startswith('up')])

    def vanish(self, server, count):
        """So many clients at once in the middle of a transfer, each gone in its own way."""
        wires = []
        for i in range(count):
            wire = server.connect(rcvbuf=8192)
            if i % 3 == 0:
                wire.send(request('GET', '/files/large'))
            elif i % 3 == 1:
                wire.send(request('PUT', f'/files/up{i}', f'Content-Length: {10 * MIB}') + b'x' * 100000)
            else:
                wire.send(request('POST', '/files', 'Content-Type: multipart/form-data; boundary=x', f'Content-Length: {10 * MIB}') +
                          b'--x\r\nContent-Disposition: form-data; name="f"; filename="part%d"\r\n\r\n' % i + b'x' * 100000)
            wires.append(wire)
        for i, wire in enumerate(wires):
            if i % 3 == 0:
                wire.take(10000)
            if i % 2:
                wire.reset()
            else:
                wire.close()

    def test_300_clients_vanish(self):
        folder = self.folder()
        server = self.serve(folder)
        self.warm_up(server, folder)
        start = server.held()
        with open(os.path.join(folder, 'large'), 'wb') as file:
            file.write(pattern(20 * MIB))
        names = sorted(os.listdir(folder))
        sizes = []
        for round in range(11):
            self.vanish(server, 300)
            self.quiet(server, start)
            if round in (4, 5, 9, 10):
                time.sleep(1.2)     # until idle stacks have lost their memory
                sizes.append(server.rss())
        self.assertEqual(sorted(os.listdir(folder)), names)
        # The pools fill at first, and more of them where more clients are served at once; 1500 clients later nothing of 5 KiB is left
        # of each.
        if not is_sanitized():
            self.assertLess(min(sizes[2:]) - min(sizes[:2]), 1500 * 5 * KIB)
        self.assertEqual(len(server.get('/files/file').body), 3 * MIB)

    def test_descriptors_come_back(self):
        folder = self.folder()
        server = self.serve(folder, '--workers', 2)
        self.warm_up(server, folder)
        start = server.held()
        chance = random.Random(11)

        kinds = (
            request('GET', '/files/file'), request('GET', '/files/file', 'Range: bytes=0-5,10-20'), request('GET', '/files/nowhere'),
            request('GET', '/files/file', 'If-None-Match: *'), request('HEAD', '/files/file'), request('GET', '/files/file', 'Range: bytes=9999999-'),
            request('PUT', '/files/x', body=pattern(200000)), request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked('x' * 1000)),
            request('PUT', '/files/x', 'Transfer-Encoding: chunked', body='zz\r\n'), request('PUT', '/files/.x', body='x'),
            request('POST', '/files', 'Content-Type: multipart/form-data; boundary=x', body='--x\r\nContent-Disposition: form-data; '
                    'name="f"; filename="y"\r\n\r\nabc'), b'nonsense\r\n\r\n', request('GET', '/api/files'))

        def work(_):
            for _ in range(25):
                data = chance.choice(kinds)
                how = chance.randrange(4)
                wire = server.connect()
                if how == 0:
                    wire.send(data[:chance.randrange(len(data))])
                    wire.reset()
                    continue
                wire.try_send(data)
                if how == 1:
                    wire.close()
                    continue
                wire.read(head=data[:4] == b'HEAD')
                wire.close()
        in_threads(8, work)
        self.quiet(server, start, workers=2)
        self.assertFalse([name for name in os.listdir(folder) if name.startswith('.')])

    @unittest.skipIf(is_sanitized(), 'the sanitizer keeps what is freed')
    def test_memory_does_not_grow(self):
        folder = self.folder()
        server = self.serve(folder)
        self.warm_up(server, folder)

        def load(count):
            with server.connect() as wire:
                for i in range(count):
                    kind = i % 5
                    if kind == 0:
                        self.assertEqual(wire.ask(request('GET', '/files/file', f'Range: bytes={i}-{i + 100000}')).status, 206)
                    elif kind == 1:
                        self.assertEqual(wire.ask(request('PUT', '/files/x', body=b'x' * (i % 100 * 1000))).status in (200, 201), True)
                    elif kind == 2:
                        self.assertEqual(wire.ask(request('GET', '/api/files')).status, 200)
                    elif kind == 3:
                        self.assertEqual(wire.ask(request('GET', f'/files/nowhere{i}', *['X: ' + 'y' * 500] * 20)).status, 404)
                    else:
                        self.assertEqual(server.get('/').status, 200)
        load(500)
        before = server.rss()
        load(2000)
        self.assertLess(server.rss() - before, 512 * KIB)

    @only_http1('idle connections of 3 KiB')
    def test_idle_connections(self):
        """Small version of big_idle: an idle connection has no stack and no buffer."""
        server = self.serve(self.folder())
        wires = [server.connect() for _ in range(20)]
        for wire in wires:
            self.assertServes(wire)
        before = server.rss()
        more = [server.connect() for _ in range(500)]
        for wire in more:
            self.assertServes(wire)
        per = (server.rss() - before) / len(more)
        for wire in wires + more:
            wire.close()
        if not is_sanitized():
            self.assertLess(per, 3 * KIB)

    @unittest.skipUnless(speaks_http2(), 'needs an eddy with -Dhttp2=enabled')
    @only_http1('connections that are counted apart')
    def test_idle_connections_of_http_2(self):
        h2idle.check(self, 300)

    def test_out_of_descriptors(self):
        """Accepting pauses while all are taken by clients who are being answered, and goes on when some have been."""
        server = self.serve('--connections_max', 100, program='limits')
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (40, 40))
        asking = [server.connect(timeout=20) for _ in range(50)]
        for wire in asking:
            wire.send(request('GET', '/slow/1500', 'Connection: close'))
        server.wait_for('accepting pauses: Too many open files; raise the limit of open files')
        self.assertEqual(server.descriptors(), 40)
        with server.connect(timeout=20) as late:
            late.send(request('GET', '/'))
            self.assertFalse(select.select([late.socket], [], [], 0.3)[0])
            self.assertEqual(late.read().status, 200)
        for wire in asking:
            self.assertEqual(wire.read().status, 200)
            wire.close()

    def test_out_of_descriptors_for_long(self):
        """Idle clients make room, again and again; that there is none to spare is said once."""
        server = self.serve('--connections_max', 100, program='limits')
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (40, 40))
        wires = [server.connect(timeout=20) for _ in range(45)]
        for wire in wires:
            wire.send(request('GET', '/'))
        for wire in wires:
            self.assertEqual(wire.read().status, 200)
        for wire in wires:
            wire.close()
        server.wait_for('accepting pauses')
        with server.connect() as wire:
            self.assertServes(wire)
        self.assertEqual(server.log.count('accepting pauses'), 1)


if __name__ == '__main__':
    unittest.main()
