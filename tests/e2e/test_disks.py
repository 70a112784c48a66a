"""Uploads to file systems of their own, which are small, full or looked at from beneath."""
import os
import subprocess
import time
import unittest

from mounted import mounted
from wire import KIB, MIB, Case, chunked, form, in_threads, part, pattern, request


@unittest.skipUnless(os.geteuid() == 0, 'needs root, to mount a small file system')
class Disks(Case):
    image = None

    def disk(self, kind, size):
        """A folder on a file system of its own."""
        folder, self.image = mounted(self, kind, size)
        return folder

    def free(self, folder):
        st = os.statvfs(folder)
        return st.f_bavail * st.f_bsize

    def full_disk(self, kind):
        folder = self.disk(kind, 8 * MIB)
        before = set(os.listdir(folder))
        server = self.serve(folder)
        free = self.free(folder)
        with self.subTest('announced'), server.connect() as wire:
            response = wire.ask(request('PUT', '/files/x', f'Content-Length: {free + MIB}', 'Expect: 100-continue'))
            self.assertProblem(response, 507)
        with self.subTest('chunked'), server.connect() as wire:
            wire.try_send(request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(*[pattern(MIB)] * 12)))
            self.assertProblem(wire.read(), 507)
        with self.subTest('one chunk'), server.connect() as wire:
            wire.try_send(request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(pattern(12 * MIB))))
            self.assertProblem(wire.read(), 507)
        with self.subTest('form'), server.connect() as wire:
            wire.try_send(form(part('f', pattern(5 * MIB), 'a'), part('f', pattern(5 * MIB), 'b'), framed=False))
            self.assertProblem(wire.read(), 507)
        with self.subTest('announced form'), server.connect() as wire:
            head = b'--xYz\r\n' + part('f', '', 'a')
            wire.send(request('POST', '/files', 'Content-Type: multipart/form-data; boundary=xYz', f'Content-Length: {free + MIB}') + head)
            self.assertProblem(wire.read(), 507)
        with self.subTest('taken by others meanwhile'), server.connect() as wire:
            size = free - MIB
            wire.send(request('PUT', '/files/x', f'Content-Length: {size}') + b'x' * 100000)
            time.sleep(0.05)
            with open(os.path.join(folder, 'other'), 'wb') as file:
                file.write(pattern(4 * MIB))
            wire.try_send(b'x' * (size - 100000))
            self.assertProblem(wire.read(), 507)
            os.unlink(os.path.join(folder, 'other'))
        self.assertEqual(set(os.listdir(folder)), before)
        self.eventually(lambda: self.free(folder) == free, what=lambda: f'{free - self.free(folder)} bytes are still taken')
        with self.subTest('replacing'):
            self.assertEqual(server.ask(request('PUT', '/files/x', body='old')).status, 201)
            with server.connect() as wire:
                wire.try_send(request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(pattern(12 * MIB))))
                self.assertProblem(wire.read(), 507)
            self.assertEqual(server.get('/files/x').body, b'old')
            self.assertEqual(server.get('/files/x', method='DELETE').status, 204)
        with self.subTest('several at once'):
            def work(i):
                with server.connect() as wire:
                    wire.try_send(request('PUT', f'/files/{i}', body=pattern(3 * MIB)))
                    self.assertIn(wire.read().status, (201, 507))
            in_threads(6, work)
            for name in set(os.listdir(folder)) - before:
                self.assertEqual(os.path.getsize(os.path.join(folder, name)), 3 * MIB)
                self.assertEqual(server.get(f'/files/{name}', method='DELETE').status, 204)
        with self.subTest('it has room again'):
            self.assertEqual(server.ask(request('PUT', '/files/x', body=pattern(3 * MIB))).status, 201)
        self.assertNotIn('ERROR', server.log)
        server.stop()

    def test_tmpfs(self):
        self.full_disk('tmpfs')

    def test_next_request(self):
        """What came and was not written is no part of what follows: no request behind it is taken for data."""
        folder = self.disk('tmpfs', MIB)
        server = self.serve(folder)
        with open(os.path.join(folder, 'other'), 'wb') as file:
            file.write(pattern(MIB - 200 * KIB))
        with self.subTest('chunked'), server.connect() as wire:
            wire.send(request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(pattern(240 * KIB))))
            response = wire.read()
            self.assertProblem(response, 507)
            self.assertTrue(response.closes)
            wire.try_send(request('GET', '/') * 2)
            wire.end()
            self.assertClosed(wire)
        with self.subTest('announced'), server.connect() as wire:
            wire.send(request('PUT', '/files/x', f'Content-Length: {180 * KIB}'))
            time.sleep(0.05)
            with open(os.path.join(folder, 'another'), 'wb') as file:
                file.write(pattern(150 * KIB))
            wire.send(pattern(180 * KIB))
            response = wire.read()
            self.assertProblem(response, 507)
            self.assertTrue(response.closes)
            wire.try_send(request('GET', '/') * 2)
            wire.end()
            self.assertClosed(wire)
        server.stop()

    def test_ext4(self):
        self.full_disk('ext4')

    def test_parts(self):
        """Each is published by itself: those that fitted stay, and the one that did not leaves nothing."""
        folder = self.disk('tmpfs', 8 * MIB)
        server = self.limits(dir=folder)
        with server.connect() as wire:
            data = pattern(5 * MIB)
            wire.try_send(form(part('t', 'text'), part('f', data, 'a'), part('f', data, 'b'), path='/parts/save'))
            self.assertProblem(wire.read(), 507)
        self.assertEqual(os.listdir(folder), ['a'])
        self.assertEqual(os.path.getsize(os.path.join(folder, 'a')), 5 * MIB)
        self.assertEqual(server.ask(form(part('f', data[:MIB], 'b'), path='/parts/save')).status, 200)
        server.stop()

    def test_announced_is_not_taken(self):
        """Space is reserved ahead of bytes that come, a step at a time."""
        folder = self.disk('ext4', 64 * MIB)
        server = self.serve(folder)
        free = self.free(folder)
        wires = []
        for i in range(4):
            wires.append(server.connect())
            wires[i].send(request('PUT', f'/files/{i}', f'Content-Length: {free - 4 * MIB}') + b'x' * 500000)
        time.sleep(0.1)
        self.assertGreater(self.free(folder), free - 4 * MIB)
        wires[0].send(b'x' * 600000)
        self.eventually(lambda: self.free(folder) < free - 16 * MIB, what='nothing has been reserved')
        time.sleep(0.05)
        self.assertGreater(self.free(folder), free - 24 * MIB)
        for wire in wires:
            wire.close()
        self.eventually(lambda: self.free(folder) == free, what=lambda: f'{free - self.free(folder)} bytes are still taken')
        server.stop()

    def test_sync(self):
        """What is answered is on the disk: its bytes and its name."""
        folder = self.disk('ext4', 16 * MIB)
        server = self.limits(dir=folder)
        for path, name in (('/once/put-by-put', b'put-by-put'), ('/parts/once', b'put-by-part'), ('/sync-all', b'put-by-form')):
            data = pattern(900, path)
            if 'parts' in path or 'all' in path:
                ask = form(part('f', data, name.decode()), path=path)
            else:
                ask = request('PUT', path, body=data)
            self.assertIn(server.ask(ask).status, (200, 201))
            with open(self.image, 'rb') as file:
                disk = file.read()
            self.assertTrue(data in disk, f'{path}: its bytes are not on the disk')
            self.assertTrue(name in disk, f'{path}: its name is not on the disk')
        server.stop()

    def test_no_inodes(self):
        folder = self.disk('tmpfs', 8 * MIB)
        subprocess.run(['mount', '-o', 'remount,nr_inodes=4', folder], check=True)
        server = self.serve(folder)
        statuses = [server.ask(request('PUT', f'/files/{i}', body='x')).status for i in range(6)]
        self.assertEqual(statuses[0], 201)
        self.assertEqual(statuses[-1], 507)
        server.stop()

    def test_read_only(self):
        folder = self.disk('tmpfs', 8 * MIB)
        server = self.serve(folder)
        subprocess.run(['mount', '-o', 'remount,ro', folder], check=True)
        response = server.ask(request('PUT', '/files/x', body='x'))
        self.assertGreaterEqual(response.status, 400)
        self.assertNotIn(folder, response.body.decode())
        server.stop()


if __name__ == '__main__':
    unittest.main()
