"""Files out and in by every technique that there is."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from wire import KIB, MIB, PROGRAMS, Case, in_threads, pattern, request

OUT = ('auto', 'splice', 'ring-splice', 'sendfile', 'read-send', 'mmap', 'send-zc', 'dontcache')
IN = ('auto', 'splice', 'ring-splice', 'recv-write')
SIZE = 3 * MIB + 4567
RWF_DONTCACHE = 0x80


class Technique(Case):
    def test_downloads(self):
        folder = self.folder()
        for name, size in (('empty', 0), ('small', 1000), ('middle', 100 * KIB), ('large', SIZE)):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(pattern(size))
        for technique in OUT:
            with self.subTest(technique):
                server = self.serve(folder, '--technique', technique)
                with server.connect() as wire:
                    for name, size in (('large', SIZE), ('small', 1000), ('empty', 0), ('middle', 100 * KIB)):
                        self.assertTrue(wire.ask(request('GET', f'/files/{name}')).body == pattern(size))
                    self.assertEqual(wire.ask(request('HEAD', '/files/large'), head=True).header('content-length'), str(SIZE))
                    response = wire.ask(request('GET', '/files/large', f'Range: bytes={SIZE - 70001}-'))
                    self.assertEqual(response.status, 206)
                    self.assertTrue(response.body == pattern(SIZE)[-70001:])
                    response = wire.ask(request('GET', '/files/large', 'Range: bytes=1-100000,2000000-2000000'))
                    self.assertIn(pattern(SIZE)[1:100001], response.body)
                    wire.send(request('GET', '/files/middle') + request('GET', '/files/small') + request('GET', '/files/middle'))
                    for size in (100 * KIB, 1000, 100 * KIB):
                        self.assertTrue(wire.read().body == pattern(size))
                server.stop()

    def test_uploads(self):
        for technique in IN:
            with self.subTest(technique):
                folder = self.folder()
                server = self.serve(folder, '--upload-technique', technique)
                with server.connect() as wire:
                    for name, size in (('large', SIZE), ('small', 1000), ('empty', 0), ('middle', 100 * KIB)):
                        self.assertEqual(wire.ask(request('PUT', f'/files/{name}', body=pattern(size))).status, 201)
                        with open(os.path.join(folder, name), 'rb') as file:
                            self.assertTrue(file.read() == pattern(size))
                server.stop()

    def test_turns(self):
        """What is written at once is not more than a turn."""
        folder = self.folder()
        trace = os.path.join(folder, 'trace.json')
        server = self.serve(folder, '--turn', 8192, '--upload-technique', 'ring-splice', env={'EDDY_TRACE': trace})
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('PUT', '/files/large', body=pattern(SIZE))).status, 201)
            self.assertTrue(wire.ask(request('GET', '/files/large')).body == pattern(SIZE))
        server.stop()
        with open(trace) as file:
            moved = [event['args']['bytes'] for event in json.load(file)['traceEvents']
                     if event['name'] == 'splice' and 'bytes' in event.get('args', {})]
        self.assertEqual(max(moved), 8192)
        # Into the pipe, and out of it.
        self.assertGreaterEqual(sum(moved), 2 * SIZE)

    def test_file_that_shrinks_is_cut(self):
        for technique in OUT[1:]:
            with self.subTest(technique):
                folder = self.folder()
                path = os.path.join(folder, 'shrinks')
                with open(path, 'wb') as file:
                    file.write(pattern(32 * MIB))
                server = self.serve(folder, '--technique', technique)
                with server.connect(rcvbuf=8192) as wire:
                    wire.send(request('GET', '/files/shrinks'))
                    wire.take(100)
                    os.truncate(path, MIB)
                    # Less than was announced, and none of it wrong where it lies in pages that are gone.
                    self.assertLess(len(wire.read_end()), 32 * MIB)
                with server.connect() as wire:
                    self.assertServes(wire)
                server.stop()

    def test_who_stalls_is_cancelled_at_the_end(self):
        """The server ends although nobody reads: what a technique has under way is let go of."""
        folder = self.folder()
        with open(os.path.join(folder, 'large'), 'wb') as file:
            file.write(pattern(20 * MIB))
        for technique in OUT[1:]:
            with self.subTest(technique):
                server = self.serve(folder, '--technique', technique, log='eddy::app=trace')
                wires = [server.connect(rcvbuf=8192) for _ in range(8)]
                for wire in wires:
                    wire.send(request('GET', '/files/large'))
                for wire in wires:
                    wire.take(1000)
                self.begin_end(server)
                server.stop()
                for wire in wires:
                    wire.close()

    def test_200_stalled_of_each_direction(self):
        """They hold neither a thread nor a pipe."""
        # Files on a disk are made by the kernel's workers: of each of two kinds it keeps one, with nothing to do.
        self.stall_200(self.folder(), workers=2)

    def test_200_stalled_of_each_direction_in_memory(self):
        folder = tempfile.mkdtemp(prefix='eddy-e2e-', dir='/dev/shm')
        self.addCleanup(shutil.rmtree, folder)
        self.stall_200(folder, workers=0)

    def stall_200(self, folder, workers):
        # Else all downloads have one file.
        server = self.serve(folder, '--no-open-files')
        with open(os.path.join(folder, 'large'), 'wb') as file:
            file.write(pattern(8 * MIB))
        held = server.held()

        def both(i):
            self.assertEqual(len(server.get('/files/large').body), 8 * MIB)
            self.assertEqual(server.ask(request('PUT', f'/files/{i}', body=pattern(MIB))).status, 201)
        in_threads(4, both)
        threads = server.threads()
        wires = []
        for i in range(200):
            wires.append(server.connect(rcvbuf=8192))
            wires[-1].send(request('GET', '/files/large'))
            wires.append(server.connect())
            # One by one: where workers make the files, they stay for some seconds.
            wires[-1].send(request('PUT', f'/files/up{i}', f'Content-Length: {MIB}', 'Expect: 100-continue'))
            self.assertEqual(wires[-1].read_head().status, 100)
            wires[-1].send(b'x' * 100000)
        for wire in wires[::2]:
            wire.take(1000)
        # A socket and a file each.
        self.eventually(lambda: server.held() >= held + 800, what=lambda: f'{server.held() - held} descriptors more')
        self.eventually(lambda: server.threads() <= threads + workers, what=lambda: f'{server.threads() - threads} threads more')
        # A transfer that goes on may have one for a moment.
        self.eventually(lambda: server.count('pipe') <= 2 * 8)
        for wire in wires:
            wire.reset()
        # And where pipes are drained to.
        self.eventually(lambda: server.held() <= held + 1, what=lambda: f'{server.held() - held} descriptors are left')

    def test_switches(self):
        for value in ('4095', '1048577', '64k'):
            done = subprocess.run([PROGRAMS['files'], self.folder(), '--turn', value], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f'files: --turn takes a number from 4096 to 1048576, not "{value}"\n'))
        for switch, value in (('--technique', 'recv-write'), ('--technique', 'slice'), ('--upload-technique', 'mmap'),
                              ('--upload-technique', '')):
            done = subprocess.run([PROGRAMS['files'], self.folder(), switch, value], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (2, f'files: {switch}: there is no such technique: "{value}"\n'))


class Counted(Case):
    def test_no_worker_for_files_in_memory(self):
        """Names are given and bytes are written on the loop's thread where there is no disk."""
        folder = tempfile.mkdtemp(prefix='eddy-e2e-', dir='/dev/shm')
        self.addCleanup(shutil.rmtree, folder)
        server = self.serve('--dir', folder, program='tour')

        def figures():
            text = server.get('/metrics').body.decode()
            return [re.search(rf'^{name} (\d+)$', text, re.M)[1] for name in ('eddy_ops_to_workers_total', 'eddy_io_workers')]
        before = figures()
        with server.connect() as wire:
            for status, seed in ((201, 1), (200, 2), (200, 3)):
                for name, size in (('large', MIB), ('small', 1000), ('middle', 50 * KIB)):
                    body = pattern(size, seed)
                    self.assertEqual(wire.ask(request('PUT', f'/files/{name}', body=body)).status, status)
                    with open(os.path.join(folder, name), 'rb') as file:
                        self.assertTrue(file.read() == body)
            self.assertEqual(sorted(os.listdir(folder)), ['large', 'middle', 'small'])
            self.assertEqual(figures(), before)
            # What takes a while to free is not freed there.
            with open(os.path.join(folder, 'large'), 'wb') as file:
                file.truncate(5 * MIB)
            self.assertEqual(wire.ask(request('PUT', '/files/large', body='small')).status, 200)
            self.assertNotEqual(figures(), before)

    def moved(self, server, direction, technique):
        line = f'eddy_transfer_bytes_total{{direction="{direction}",technique="{technique}"}} '
        for found in server.get('/metrics').body.decode().splitlines():
            if found.startswith(line):
                return int(found[len(line):])
        return self.fail(f'no {line}')

    def test_a_file_too_large_for_the_cache(self):
        """By default it is sent past the page cache, where the file system can do that, and as long as it is not in there."""
        folder, config = self.folder(), os.path.join(self.folder(), 'app.toml')
        path = os.path.join(folder, 'large')
        with open(config, 'w') as file:
            file.write(f'[transfer]\nuncached_min = {8 * MIB}\n')
        with open(path, 'wb+') as file:
            file.write(pattern(8 * MIB))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            try:
                past = os.preadv(file.fileno(), [bytearray(1)], 0, RWF_DONTCACHE) > 0
            except OSError:
                past = False
        server = self.serve('--dir', folder, '--config', config, program='tour')
        self.assertTrue(server.get('/files/large').body == pattern(8 * MIB))
        moved = [self.moved(server, 'out', technique) for technique in ('dontcache', 'splice')]
        self.assertEqual(moved, [8 * MIB, 0] if past else [0, 8 * MIB])
        with open(path, 'rb') as file:
            file.read()
        self.assertTrue(server.get('/files/large').body == pattern(8 * MIB))
        self.assertEqual(self.moved(server, 'out', 'splice'), moved[1] + 8 * MIB)

    def test_bytes_by_technique(self):
        for out, into in zip(OUT[1:], ('splice', 'ring-splice', 'recv-write') * 2):
            with self.subTest(out=out, into=into):
                folder = self.folder()
                config = os.path.join(self.folder(), 'app.toml')
                with open(config, 'w') as file:
                    # However slow the disk: who writes is not what is counted here.
                    file.write(f'[transfer]\ntechnique = "{out}"\ntechnique_in = "{into}"\nslow_write_ms = 60000\n')
                server = self.serve('--dir', folder, '--config', config, program='tour')
                with server.connect() as wire:
                    self.assertEqual(wire.ask(request('PUT', '/files/file', body=pattern(MIB))).status, 201)
                    self.assertTrue(wire.ask(request('GET', '/files/file')).body == pattern(MIB))
                # What came with the head had been received before.
                self.assertGreater(self.moved(server, 'in', into), MIB - 64 * KIB)
                self.assertEqual(self.moved(server, 'in', into) + self.moved(server, 'in', 'copy'), MIB)
                self.assertEqual(self.moved(server, 'out', out), MIB)
                for other in OUT[1:]:
                    if other != out:
                        self.assertEqual(self.moved(server, 'out', other), 0)
                server.stop()
