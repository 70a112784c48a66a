"""Folders as zip archives, as the program files makes them."""
# needs: curl unzip
import contextlib
import io
import os
import shutil
import stat
import subprocess
import time
import unittest
import zipfile

from wire import KIB, MIB, Case, Lost, curl, in_threads, is_sanitized, pattern, request

FILES = {'a': b'a', 'b.txt': pattern(100), 'empty file': b'', 'sub/a-b': pattern(70 * KIB, 1), 'sub/a/x': b'x', 'sub/a.b': pattern(MIB, 2),
         'sub/ü€😀/é': pattern(3 * MIB + 12345, 3), 'back\\slash': b'b'}


class Zip(Case):
    def setUp(self):
        super().setUp()
        self.dir = self.folder()
        for name, data in FILES.items():
            self.write(name, data)
        for name in ('nothing/', 'sub/nothing/in here/', 'only hidden/', '.hidden/'):
            os.makedirs(self.path(name))
        for name in ('.secret', 'sub/.secret', 'only hidden/.secret', '.hidden/x'):
            self.write(name, b'secret')
        self.server = self.serve(self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(data)

    def zip(self, path='/files/?zip', *headers):
        response = self.server.get(path, *headers)
        self.assertEqual((response.status, response.header('content-type')), (200, 'application/zip'))
        self.assertEqual(int(response.header('content-length')), len(response.body))
        archive = zipfile.ZipFile(io.BytesIO(response.body))
        self.assertIsNone(archive.testzip())
        return response, archive

    def test_contents(self):
        response, archive = self.zip()
        want = {name.replace('\\', '%5C'): data for name, data in FILES.items()} | {'nothing/': b'', 'sub/nothing/in here/': b'', 'only hidden/': b''}
        self.assertEqual(archive.namelist(), sorted(want, key=lambda name: name.replace('%5C', '\\').encode()))
        for name, data in want.items():
            self.assertEqual(archive.read(name), data, name)
            info = archive.getinfo(name)
            self.assertEqual((info.compress_type, info.flag_bits & 0x800), (zipfile.ZIP_STORED, 0x800))
            self.assertEqual(stat.S_ISDIR(info.external_attr >> 16), name.endswith('/'))
        self.assertEqual(response.header('content-disposition'), "attachment; filename=\"files.zip\"; filename*=UTF-8''files.zip")
        self.assertEqual(response.header('accept-ranges'), 'none')

    def test_of_a_folder_in_it(self):
        response, archive = self.zip('/files/sub/%C3%BC%E2%82%AC%F0%9F%98%80/?zip')
        self.assertEqual((archive.namelist(), archive.read('é')), (['é'], FILES['sub/ü€😀/é']))
        self.assertEqual(response.header('content-disposition'),
                         "attachment; filename=\"_________.zip\"; filename*=UTF-8''%C3%BC%E2%82%AC%F0%9F%98%80.zip")
        self.assertEqual(self.zip('/files/nothing/?zip')[1].namelist(), [])
        self.assertEqual(self.zip('/files/sub/?zip')[1].namelist(), ['a-b', 'a.b', 'a/x', 'nothing/in here/', 'ü€😀/é'])
        for path in ('nowhere', 'a', 'sub/a-b', '.hidden', 'only%20hidden/.secret', '..', 'sub/%2e%2e/%2e%2e'):
            self.assertIn(self.server.get(f'/files/{path}/?zip').status, (400, 404) if '.' not in path[:1] and '%2e' not in path else (200, 400, 404), path)

    def test_times_and_modes(self):
        for name, at, mode in (('a', 0, 0o755), ('b.txt', 1234567891, 0o600), ('empty file', 5000000000, 0o644), ('nothing', 1600000000, 0o700)):
            os.chmod(self.path(name), mode)
            os.utime(self.path(name), (at, at))
        archive = self.zip()[1]
        for name, date, seconds, mode in (('a', (1980, 1, 1, 0, 0, 0), 0, 0o100755), ('b.txt', (2009, 2, 13, 23, 31, 30), 1234567891, 0o100600),
                                          ('empty file', (2128, 6, 11, 8, 53, 20), 0x7fffffff, 0o100644), ('nothing/', (2020, 9, 13, 12, 26, 40), 1600000000, 0o40700)):
            info = archive.getinfo(name)
            self.assertEqual(info.external_attr >> 16, mode)
            self.assertEqual(info.extra, b'UT\x05\x00\x01' + seconds.to_bytes(4, 'little'))
            self.assertEqual(info.date_time, date if date[0] < 2108 else (1980, 1, 1, 0, 0, 0))

    def test_other_programs(self):
        path = self.path('.zip')
        with open(path, 'wb') as file:
            file.write(self.server.get('/files/?zip').body)
        if not shutil.which('unzip'):
            self.skipTest('needs unzip')
        said = subprocess.run(['unzip', '-t', path], capture_output=True, text=True, check=False, env={**os.environ, 'LC_ALL': 'C.UTF-8'})
        self.assertEqual((said.returncode, said.stderr), (0, ''), said.stdout)
        self.assertIn('No errors detected', said.stdout)
        out = self.folder()
        subprocess.run(['unzip', '-q', path, '-d', out], check=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'})
        for name, data in FILES.items():
            with open(os.path.join(out, name.replace('\\', '%5C')), 'rb') as file:
                self.assertTrue(file.read() == data, name)
            self.assertEqual(int(os.stat(os.path.join(out, name.replace('\\', '%5C'))).st_mtime), int(os.stat(self.path(name)).st_mtime))
        self.assertTrue(os.path.isdir(os.path.join(out, 'only hidden')))

    def test_links(self):
        outside = self.folder()
        with open(os.path.join(outside, 'secret'), 'wb') as file:
            file.write(b'secret')
        for name, target in {'sub/in': '../b.txt', 'sub/up': '..', 'sub/self': '.', 'sub/folder': 'a', 'sub/out': os.path.join(outside, 'secret'),
                             'sub/far': outside, 'sub/proc': '/proc/self/cwd', 'sub/dangling': 'nowhere', 'sub/climb': '../../../../../etc/passwd'}.items():
            os.symlink(target, self.path(name))
        os.mkfifo(self.path('sub/fifo'))
        archive = self.zip('/files/sub/?zip')[1]
        self.assertEqual(archive.namelist(), ['a-b', 'a.b', 'a/x', 'in', 'nothing/in here/', 'ü€😀/é'])
        self.assertEqual(archive.read('in'), FILES['b.txt'])
        # By a link to a folder, too.
        self.assertEqual(self.zip('/files/sub/folder/?zip')[1].namelist(), ['x'])

    def test_file_that_can_not_be_read(self):
        """Better no archive than one without it; a selection without it is none of its business."""
        if os.geteuid():
            self.skipTest('needs root, to run the server as somebody else')
        os.chmod(self.dir, 0o755)
        os.chmod(self.path('b.txt'), 0)
        self.server = self.serve(self.dir, wrap=('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'))
        self.assertProblem(self.server.get('/files/?zip'), 403, "the server can't read all files of the folder")
        self.assertEqual(self.server.get('/files/?zip&name=a&name=b.txt').status, 403)
        self.assertEqual(self.zip('/files/?zip&name=a&name=sub')[1].read('a'), b'a')

    def test_too_deep(self):
        """A path of over 4,095 bytes can be made step by step, but not opened."""
        path = '/'.join([*20 * ['d' * 200], 'e' * 75])
        parts = path.split('/')
        for depth in range(len(parts)):
            self.assertEqual(self.server.ask(request('PUT', f'/files/{"/".join(parts[:depth + 1])}/')).status, 201)
        folder = os.open(os.path.join(self.dir, *parts[:-1]), os.O_RDONLY)
        self.addCleanup(os.close, folder)
        with open('z' * 255, 'wb', opener=lambda name, flags: os.open(f'{parts[-1]}/{name}', flags, dir_fd=folder)) as file:
            file.write(b'deep')
        self.assertProblem(self.server.get('/files/?zip'), 409, 'the folder has files that are too deep in it')
        self.assertEqual(self.zip('/files/?zip&name=a')[1].namelist(), ['a'])

    def test_no_ranges(self):
        whole = self.server.get('/files/?zip').body
        for value in ('bytes=0-9', 'bytes=-1', 'bytes=0-0,5-9'):
            response = self.zip('/files/?zip', f'Range: {value}')[0]
            self.assertEqual(response.body, whole)

    def test_head(self):
        response = self.server.get('/files/sub/?zip', method='HEAD')
        self.assertEqual((response.status, response.body), (200, b''))
        self.assertEqual(int(response.header('content-length')), len(self.server.get('/files/sub/?zip').body))
        with self.server.connect() as wire:
            wire.ask(request('HEAD', '/files/sub/?zip'), head=True)
            self.assertServes(wire)

    def test_one_that_shrinks(self):
        """The client has not got a whole archive, and does not think so."""
        for change in ('shorter', 'gone', 'a FIFO'):
            self.write('z', pattern(40 * MIB))
            with self.subTest(change), self.server.connect(rcvbuf=4 * KIB) as wire:
                wire.send(request('GET', '/files/?zip'))
                head = wire.read_head()
                if change == 'shorter':
                    os.truncate(self.path('z'), 5)
                else:
                    os.unlink(self.path('z'))
                if change == 'a FIFO':
                    os.mkfifo(self.path('z'))
                if change == 'gone':
                    # It may have been opened before.
                    with contextlib.suppress(Lost):
                        wire.take(int(head.header('content-length')))
                else:
                    with self.assertRaises(Lost):
                        wire.take(int(head.header('content-length')))
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path('z'))
        self.assertEqual(self.server.get('/files/a').body, b'a')

    def test_one_that_grows(self):
        self.write('z', pattern(20 * MIB))
        with self.server.connect(rcvbuf=4 * KIB) as wire:
            wire.send(request('GET', '/files/?zip'))
            head = wire.read_head()
            with open(self.path('z'), 'ab') as file:
                file.write(b'more')
            archive = zipfile.ZipFile(io.BytesIO(wire.take(int(head.header('content-length')))))
            self.assertServes(wire)
        self.assertTrue(archive.read('z') == pattern(20 * MIB))

    def test_clients_that_leave(self):
        self.write('z', pattern(40 * MIB))
        before = self.server.held()
        for reset in (False, True):
            wires = [self.server.connect(rcvbuf=4 * KIB) for _ in range(10)]
            for wire in wires:
                wire.send(request('GET', '/files/?zip'))
            for wire in wires:
                wire.read_head()
            for wire in wires:
                wire.reset() if reset else wire.close()
        self.eventually(lambda: self.server.held() <= before + 1, what=lambda: f'{before} {self.server.held()}')

    def test_is_spliced(self):
        """The bytes of files do not pass through the program's memory."""
        self.write('z', pattern(60 * MIB))
        self.server.get('/files/?zip')
        peak = self.server.peak()
        curl('-o', '/dev/null', f'http://127.0.0.1:{self.server.port}/files/?zip')
        self.assertLess(self.server.peak(), peak + 20 * MIB)

    def test_many_at_once(self):
        """Also by each technique of sending."""
        for technique in ('auto', 'sendfile', 'read-send', 'mmap'):
            server = self.serve(self.dir, '--workers', 2, '--technique', technique)

            def ask(_):
                archive = zipfile.ZipFile(io.BytesIO(server.get('/files/?zip').body))
                self.assertIsNone(archive.testzip())
            in_threads(6, ask)
            server.stop()

    def test_many_files(self):
        """More than the 65,535 that need no zip64; and folders in folders."""
        deep = 'd/' * 200
        self.write(f'{deep}x', b'deep')
        for i in range(66):
            os.mkdir(self.path(f'many{i}'))
            for j in range(1000):
                open(self.path(f'many{i}/{j}'), 'w').close()
        began = time.monotonic()
        archive = self.zip()[1]
        print(f'{len(archive.namelist())} files: {time.monotonic() - began:.1f} s')
        self.assertEqual(len(archive.namelist()), 66000 + 1 + len(FILES) + 3)
        self.assertEqual(archive.read(f'{deep}x'), b'deep')

    def test_too_many_files(self):
        """Memory is limited."""
        long = 'x' * 250
        for i in range(15):
            path = os.path.join(self.dir, f'{i}', *(3 * [long]))
            os.makedirs(path)
            for j in range(3000):
                os.link(self.path('a'), os.path.join(path, f'{j:0240}'))
        wires = [self.server.connect(rcvbuf=4 * KIB, timeout=60) for _ in range(4)]
        statuses = []
        for wire in wires:
            wire.send(request('GET', '/files/?zip'))
        for wire in wires:
            response = wire.read_head()
            statuses.append(response.status)
            wire.close()
        self.assertLessEqual(set(statuses), {200, 503})
        self.assertIn(503, statuses)
        self.assertLess(self.server.rss(), (600 if is_sanitized() else 200) * MIB)
        shutil.rmtree(self.path('0'))
        # What was held is free again.
        self.eventually(lambda: self.server.get('/files/sub/?zip').status == 200)
        self.assertEqual(self.server.get('/files/1/?zip', method='HEAD').status, 200)


if __name__ == '__main__':
    unittest.main()
