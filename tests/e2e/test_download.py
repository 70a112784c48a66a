"""Downloads from `files`: whole, in parts, under conditions, many at once."""
# needs: curl
import contextlib
import email.utils
import hashlib
import json
import os
import random
import re
import signal
import threading
import time
import unittest

from wire import KIB, MIB, Case, Lost, Shared, curl, in_threads, pattern, request, sha256_of

VECTORS = os.environ.get('EDDY_VECTORS')
SIZES = (0, 1, 4 * KIB, 32 * KIB - 1, 32 * KIB, 32 * KIB + 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB + 3)


class Lists(Shared):
    """GET /api/files on a folder whose list takes long to make."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for i in range(3000):
            open(os.path.join(cls.dir, f'file-{i:05}'), 'w').close()

    def lists(self, count, path):
        """That many, which are asked for before the server sees the first request."""
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(self.server.connect(timeout=60)) for _ in range(count)]
            for wire in wires:
                self.assertServes(wire, '/files/file-00000')
            self.server.process.send_signal(signal.SIGSTOP)
            for wire in wires:
                wire.send(request('GET', path))
            self.server.process.send_signal(signal.SIGCONT)
            return [wire.read() for wire in wires]

    def test_requests_at_the_same_time_share_a_list(self):
        for path in ('/api/files', '/plain'):
            with self.subTest(path):
                self.lists(2, path)
                begun = self.server.worked()
                alone = [self.server.get(path) for _ in range(5)]
                one = (self.server.worked() - begun) / 5
                begun = self.server.worked()
                together = self.lists(60, path)
                ratio = (self.server.worked() - begun) / one
                self.assertEqual({answer.body for answer in alone + together}, {alone[0].body})
                self.assertEqual({answer.status for answer in together}, {200})
                self.assertLess(ratio, 25, 'as long as 60 lists take to send, and few to make')

    def test_a_list_has_what_was_uploaded_before(self):
        done = threading.Event()

        def ask():
            while not done.is_set():
                self.server.get('/api/files')
        others = [threading.Thread(target=ask) for _ in range(3)]
        for other in others:
            other.start()
        try:
            for i in range(10):
                name = f'new-{i}'
                self.server.ask(request('PUT', f'/files/{name}', body=b'x'))
                self.assertIn(name, [file['name'] for file in self.server.get('/api/files').json()['files']])
        finally:
            done.set()
            for other in others:
                other.join()

    def test_texts_that_are_not_read_are_limited(self):
        """To 32 MiB, of which a version of this list takes more than half a MiB."""
        for i in range(3000):
            open(os.path.join(self.dir, f'{i:0200}'), 'w').close()
        with contextlib.ExitStack() as stack:
            until = time.monotonic() + 15
            for i in range(100):
                if time.monotonic() > until:
                    self.skipTest('clients that do not read are cut before there are enough of them')
                self.server.ask(request('PUT', f'/files/version-{i}', body=b'x'))
                answer = self.server.get('/api/files')
                if answer.status != 200:
                    break
                self.newest = answer.body
                # One of its responses will wait for it to read.
                wire = stack.enter_context(self.server.connect(rcvbuf=4 * KIB))
                wire.send(request('GET', '/api/files') * 40)
            self.assertProblem(answer, 503, 'older lists')
            self.assertGreater(i * len(self.newest), 24 * MIB)
        self.eventually(lambda: self.server.get('/api/files').status == 200)


class Whole(Shared):
    def test_sizes(self):
        with self.server.connect() as wire:
            for size in SIZES:
                with self.subTest(size):
                    data = self.write('file', pattern(size, size))
                    self.assertEqual(wire.ask(request('GET', '/files/file')).body, data)

    def test_fields(self):
        self.write('a b.txt', 'hello')
        response = self.server.get('/files/a%20b.txt')
        self.assertEqual(response.status, 200)
        self.assertEqual(response.header('content-length'), '5')
        self.assertEqual(response.header('content-type'), 'text/plain; charset=utf-8')
        self.assertEqual(response.header('accept-ranges'), 'bytes')
        self.assertEqual(response.header('x-content-type-options'), 'nosniff')
        self.assertRegex(response.header('etag'), r'^"[!#-~]+"$')
        modified = email.utils.parsedate_to_datetime(response.header('last-modified')).timestamp()
        self.assertEqual(modified, int(os.stat(self.path('a b.txt')).st_mtime))
        self.assertRegex(response.header('content-disposition'), r'^attachment; filename="a b\.txt"')

    def test_names_in_content_disposition(self):
        names = {'plain.bin': 'plain.bin', 'quote".txt': None, 'ümlaut €.txt': None, "per%20cent'.txt": None}
        for name in names:
            with self.subTest(name):
                self.write(name, name.encode())
                quoted = ''.join(f'%{b:02X}' for b in name.encode())
                response = self.server.get('/files/' + quoted)
                self.assertEqual(response.body, name.encode())
                value = response.header('content-disposition')
                match = re.search(r"filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]*)", value)
                if match:
                    self.assertEqual(bytes.fromhex(''.join(
                        c[1:] if c[0] == '%' and len(c) == 3 else c.encode().hex()
                        for c in re.findall(r'%[0-9A-F]{2}|.', match[1]))), name.encode())
                else:
                    self.assertEqual(value, f'attachment; filename="{name}"')

    def test_head(self):
        for size in (0, 1, 100000):
            self.write('file', pattern(size))
            for headers in ((), ('Range: bytes=0-0',), ('If-Match: "x"',), ('If-None-Match: *',)):
                with self.subTest(size=size, headers=headers):
                    head = self.server.get('/files/file', *headers, method='HEAD')
                    get = self.server.get('/files/file', *[h for h in headers if 'Range' not in h])
                    drop = ('date',)
                    self.assertEqual([h for h in head.headers if h[0] not in drop],
                                     [h for h in get.headers if h[0] not in drop])

    def test_missing(self):
        for method in ('GET', 'HEAD'):
            self.assertEqual(self.server.get('/files/nowhere', method=method).status, 404)

    def test_pipelined(self):
        self.write('small', pattern(1000))
        self.write('large', pattern(3 * MIB))
        with self.server.connect() as wire:
            wire.send(b''.join(request('GET', f'/files/{name}') for name in ('small', 'large') * 8))
            for size in (1000, 3 * MIB) * 8:
                self.assertEqual(wire.read().body, pattern(size))

    def test_http_1_0(self):
        data = self.write('file', pattern(200000))
        response = self.server.ask('GET /files/file HTTP/1.0\r\n\r\n')
        self.assertEqual((response.body, response.header('content-length')), (data, '200000'))

    def test_40_mib(self):
        self.write('file', pattern(40 * MIB))
        self.addCleanup(os.unlink, self.path('file'))
        target = self.path('.target')
        curl('-o', target, f'http://127.0.0.1:{self.server.port}/files/file')
        self.assertEqual(sha256_of(target), sha256_of(self.path('file')))

    def test_resume(self):
        self.write('file', pattern(5 * MIB))
        target = self.path('.target')
        for have in (0, 1, 100000, 4 * MIB, 5 * MIB - 1):
            with open(target, 'wb') as file:
                file.write(pattern(5 * MIB)[:have])
            curl('-C', '-', '-o', target, f'http://127.0.0.1:{self.server.port}/files/file')
            self.assertEqual(sha256_of(target), sha256_of(self.path('file')))

    def test_resume_after_a_break(self):
        """Cut off at random places again and again, it is complete in the end."""
        data = self.write('file', pattern(3 * MIB))
        have = b''
        chance = random.Random(1)
        etag = self.server.get('/files/file', method='HEAD').header('etag')
        while len(have) < len(data):
            with self.server.connect() as wire:
                wire.send(request('GET', '/files/file', f'Range: bytes={len(have)}-', f'If-Range: {etag}'))
                response = wire.read_head()
                self.assertEqual(response.status, 206)
                have += wire.take(min(chance.randrange(1, 700000), int(response.header('content-length'))))
                wire.reset()
        self.assertEqual(have, data)

    def test_200_at_once(self):
        data = self.write('file', pattern(MIB + 3))
        expected = hashlib.sha256(data).digest()

        def work(_):
            response = self.server.get('/files/file')
            self.assertEqual(hashlib.sha256(response.body).digest(), expected)
        in_threads(200, work)

    def test_200_slow_readers_at_once(self):
        """All of them stalled, then all of them drained."""
        data = self.write('file', pattern(4 * MIB))
        wires = [self.server.connect(rcvbuf=8192, timeout=30) for _ in range(60)]
        for wire in wires:
            wire.send(request('GET', '/files/file'))
        time.sleep(0.2)

        def work(i):
            self.assertEqual(wires[i].read().body, data)
            wires[i].close()
        in_threads(len(wires), work)


class Ranges(Shared):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = pattern(100000)
        with open(os.path.join(cls.dir, 'file.txt'), 'wb') as file:
            file.write(cls.data)
        with open(os.path.join(cls.dir, 'empty'), 'wb'):
            pass

    def get(self, ranges, *headers, path='file.txt'):
        return self.server.get(f'/files/{path}', f'Range: {ranges}', *headers)

    def test_single(self):
        size = len(self.data)
        for text, first, last in (('0-0', 0, 0), ('0-', 0, size - 1), ('99999-', size - 1, size - 1), ('-1', size - 1, size - 1),
                                  ('-1000000', 0, size - 1), ('5-10', 5, 10), ('0-999999999999', 0, size - 1), ('10000-80000', 10000, 80000),
                                  ('0-32767', 0, 32767), ('1-32769', 1, 32769), (' 5-10 ', 5, 10), (',5-10,', 5, 10)):
            with self.subTest(text):
                response = self.get('bytes=' + text)
                self.assertEqual(response.status, 206)
                self.assertEqual(response.header('content-range'), f'bytes {first}-{last}/{size}')
                self.assertEqual(response.header('content-length'), str(last - first + 1))
                self.assertEqual(response.body, self.data[first:last + 1])
                self.assertEqual(response.header('content-type'), 'text/plain; charset=utf-8')
                self.assertTrue(response.header('etag'))

    def test_unit_in_any_case(self):
        self.assertEqual(self.get('Bytes=0-0').status, 206)

    def test_several(self):
        size = len(self.data)
        wanted = [(0, 9), (50, 59), (1000, 70000), (size - 5, size - 1)]
        with self.server.connect() as wire:
            response = wire.ask(request('GET', '/files/file.txt', 'Range: bytes=0-9,50-59, 1000-70000 ,-5'))
            self.assertServes(wire)
        self.assertEqual(response.status, 206)
        self.assertIsNone(response.header('content-range'))
        boundary = re.fullmatch(r'multipart/byteranges; boundary=([0-9a-zA-Z]+)', response.header('content-type'))[1].encode()
        expected = b''
        for first, last in wanted:
            expected += b'\r\n--' + boundary + b'\r\ncontent-type: text/plain; charset=utf-8\r\n' + \
                f'content-range: bytes {first}-{last}/{size}\r\n\r\n'.encode() + self.data[first:last + 1]
        expected += b'\r\n--' + boundary + b'--\r\n'
        self.assertEqual(response.body, expected)

    @unittest.skipUnless(VECTORS, 'needs EDDY_VECTORS')
    def test_vectors(self):
        """Go's table of ranges of an eleven-byte file. Its paths with dots are for a handler of one fixed file."""
        self.write('eleven', b'0123456789\n')
        with open(os.path.join(VECTORS, 'range', 'go_net_http_range.json')) as file:
            vectors = json.load(file)
        count = 0
        for case in vectors['serve_file']:
            with self.subTest(case['range']):
                response = self.get(case['range'], path='eleven') if case['range'] else self.server.get('/files/eleven')
                self.assertEqual(response.status, case['status'])
                ranges = [f'bytes {first}-{end - 1}/11' for first, end in case['ranges']]
                if response.status == 206:
                    self.assertEqual(re.findall(r'content-range: (.*?)\r\n', response.body.decode()) or [response.header('content-range')], ranges)
                count += 1
        print(f'# {count} ranges; skipped {len(vectors["dotdot"])} paths, and {len(vectors["parse"])} that tests/http/range.c reads')
        self.assertGreater(count, 20)

    def test_several_of_which_one_remains(self):
        response = self.get('bytes=0-0,200000-')
        self.assertEqual((response.status, response.header('content-range')), (206, 'bytes 0-0/100000'))

    def test_ranges_in_one_range(self):
        """200 of them, each of which arrives."""
        wanted = [(i * 10, i * 10 + 1) for i in range(200)]
        text = ','.join(f'{first}-{last}' for first, last in wanted)
        response = self.get('bytes=' + text)
        self.assertEqual(response.status, 206)
        parts = re.findall(rb'content-range: bytes (\d+)-(\d+)/100000\r\n\r\n(..)\r\n', response.body, re.S)
        self.assertEqual([(int(first), int(last), data) for first, last, data in parts],
                         [(first, last, self.data[first:last + 1]) for first, last in wanted])
        response = self.get('bytes=' + text + ',2000-2001')
        self.assertEqual((response.status, response.body), (200, self.data))

    def test_overlapping(self):
        """They become one, unless they ask for more than there is."""
        for text, first, last in (('0-10,5-15', 0, 15), ('5-15,0-10', 0, 15), ('0-9,10-19', 0, 19), ('-5,-6', 99994, 99999)):
            with self.subTest(text):
                response = self.get('bytes=' + text)
                self.assertEqual((response.status, response.header('content-range'), response.body),
                                 (206, f'bytes {first}-{last}/100000', self.data[first:last + 1]))
        for text in ('0-,0-0', '0-,0-', '0-60000,40000-', '-100000,5-5'):
            with self.subTest(text):
                response = self.get('bytes=' + text)
                self.assertEqual((response.status, response.body), (200, self.data))

    def test_unsatisfiable(self):
        for text in ('100000-', '100000-100001', '-0', '99999999999999999999-', '200000-,300000-'):
            with self.subTest(text):
                response = self.get('bytes=' + text)
                self.assertProblem(response, 416)
                self.assertEqual(response.header('content-range'), 'bytes */100000')

    def test_of_an_empty_file(self):
        """Its 200 holds all there is."""
        for text in ('0-', '-5', '0-0', '0-1,-1'):
            response = self.get('bytes=' + text, path='empty')
            self.assertEqual((response.status, response.header('content-length')), (200, '0'))

    def test_malformed(self):
        for text in ('bytes=', 'bytes=x', 'bytes=5', 'bytes=5-1', 'bytes=--5', 'bytes=1-2-3', 'bytes 0-1', 'items=0-1', 'bytes=0-1;2-3',
                     'bytes=0x1-2', 'bytes=+1-2', 'bytes=1 - 2', 'bytes', '=0-1', 'bytes=0-1,x', 'bytes = 0-1'):
            with self.subTest(text):
                response = self.get(text)
                self.assertEqual((response.status, response.body), (200, self.data))

    def test_if_range(self):
        whole = self.server.get('/files/file.txt', method='HEAD')
        etag, modified = whole.header('etag'), whole.header('last-modified')
        for value, status in ((etag, 206), ('"x"', 200), ('W/' + etag, 200), ('Sat, 01 Jan 2000 00:00:00 GMT', 200), ('nonsense', 200)):
            with self.subTest(value):
                self.assertEqual(self.get('bytes=0-0', f'If-Range: {value}').status, status)
        # A date is a strong validator only when it is old enough.
        old = time.time() - 1000
        os.utime(self.path('file.txt'), (old, old))
        modified = self.server.get('/files/file.txt', method='HEAD').header('last-modified')
        self.assertEqual(self.get('bytes=0-0', f'If-Range: {modified}').status, 206)

    def test_only_of_get(self):
        self.assertEqual(self.server.get('/files/file.txt', 'Range: bytes=0-0', method='HEAD').status, 200)
        response = self.server.get('/api/files', 'Range: bytes=0-0')
        self.assertEqual(response.status, 200)


class Conditions(Shared):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = os.path.join(cls.dir, 'file')
        with open(path, 'wb') as file:
            file.write(b'data')
        os.utime(path, (1000000000, 1000000000))    # Sun, 09 Sep 2001 01:46:40 GMT
        cls.etag = cls.server.get('/files/file').header('etag')

    before, same, after = 'Sun, 09 Sep 2001 01:46:39 GMT', 'Sun, 09 Sep 2001 01:46:40 GMT', 'Sun, 09 Sep 2001 01:46:41 GMT'

    def test_table(self):
        e = self.etag
        for headers, status in (
                ([f'If-None-Match: {e}'], 304), (['If-None-Match: *'], 304), (['If-None-Match: "x"'], 200), ([f'If-None-Match: W/{e}'], 304),
                ([f'If-None-Match: "x", {e}'], 304), (['If-None-Match: "x"', f'If-None-Match: {e}'], 304), (['If-None-Match: x'], 200),
                ([f'If-Modified-Since: {self.same}'], 304), ([f'If-Modified-Since: {self.after}'], 304),
                ([f'If-Modified-Since: {self.before}'], 200), (['If-Modified-Since: nonsense'], 200),
                ([f'If-Modified-Since: {self.same}', 'If-None-Match: "x"'], 200), ([f'If-Modified-Since: {self.before}', f'If-None-Match: {e}'], 304),
                ([f'If-Match: {e}'], 200), (['If-Match: *'], 200), (['If-Match: "x"'], 412), ([f'If-Match: W/{e}'], 412),
                ([f'If-Unmodified-Since: {self.same}'], 200), ([f'If-Unmodified-Since: {self.before}'], 412),
                ([f'If-Unmodified-Since: {self.before}', f'If-Match: {e}'], 200), ([f'If-Match: {e}', f'If-None-Match: {e}'], 304),
                (['If-Match: "x"', f'If-None-Match: {e}'], 412), (['If-Match: "x"', 'Range: bytes=0-0'], 412),
                ([f'If-None-Match: {e}', 'Range: bytes=0-0'], 304)):
            with self.subTest(headers), self.server.connect() as wire:
                response = wire.ask(request('GET', '/files/file', *headers))
                self.assertEqual(response.status, status)
                if status == 304:
                    self.assertEqual(response.header('etag'), e)
                    self.assertEqual(response.body, b'')
                self.assertServes(wire)

    def test_if_modified_since_if_unmodified_since_and_if_range_twice(self):
        """Ignored, also where both say the same; without If-Range's consent the whole file is sent."""
        get = lambda *headers: self.server.get('/files/file', *headers)
        for dates in ((self.after, self.after), (self.before, self.after), (self.after, self.before)):
            with self.subTest(dates):
                self.assertEqual(get(*(f'If-Modified-Since: {date}' for date in dates)).status, 200)
                self.assertEqual(get(*(f'If-Unmodified-Since: {self.before}' for _ in dates)).status, 200)
                self.assertEqual(get(f'If-Modified-Since: {", ".join(dates)}').status, 200)
        self.assertEqual(get('Range: bytes=0-0', f'If-Range: {self.etag}').status, 206)
        for fields in ([self.etag, self.etag], [self.etag, '"x"'], ['"x"', self.etag], [self.same, self.same], [f'{self.etag}, {self.etag}'],
                       [f'{self.etag}, "x"'], [f'{self.same}, {self.same}'], [f'{self.etag},']):
            with self.subTest(fields):
                response = get('Range: bytes=0-0', *(f'If-Range: {field}' for field in fields))
                self.assertEqual((response.status, response.body), (200, b'data'))

    def test_etag_changes_with_the_file(self):
        self.write('other', 'a')
        before = self.server.get('/files/other').header('etag')
        self.write('other', 'b')
        os.utime(self.path('other'), ns=(1, 10 ** 18 + 1))
        after = self.server.get('/files/other').header('etag')
        os.utime(self.path('other'), ns=(1, 10 ** 18 + 2))
        later = self.server.get('/files/other').header('etag')
        self.assertEqual(len({before, after, later}), 3)


class Changing(Case):
    def test_file_that_shrinks_is_cut(self):
        for size, keep in ((40 * MIB, 10 * MIB), (40 * MIB, 0)):
            folder = self.folder()
            server = self.serve(folder)
            path = os.path.join(folder, 'file')
            with open(path, 'wb') as file:
                file.write(pattern(size))
            with server.connect(rcvbuf=65536) as wire:
                wire.send(request('GET', '/files/file') + request('GET', '/'))
                response = wire.read_head()
                self.assertEqual(response.header('content-length'), str(size))
                wire.take(100000)
                os.truncate(path, keep)
                with self.assertRaises(Lost):
                    wire.take(size - 100000)
            with server.connect() as wire:
                self.assertServes(wire)

    def test_file_that_grows_sends_what_was_announced(self):
        folder = self.folder()
        server = self.serve(folder)
        path, size = os.path.join(folder, 'file'), 20 * MIB
        with open(path, 'wb') as file:
            file.write(pattern(size))
        with server.connect(rcvbuf=65536) as wire:
            wire.send(request('GET', '/files/file'))
            wire.read_head()
            with open(path, 'ab') as file:
                file.write(b'more')
            self.assertEqual(hashlib.sha256(wire.take(size)).digest(), hashlib.sha256(pattern(size)).digest())
            self.assertServes(wire)

    def test_file_that_is_deleted_meanwhile(self):
        folder = self.folder()
        server = self.serve(folder)
        path, size = os.path.join(folder, 'file'), 20 * MIB
        with open(path, 'wb') as file:
            file.write(pattern(size))
        with server.connect(rcvbuf=65536) as wire:
            wire.send(request('GET', '/files/file'))
            wire.read_head()
            self.assertEqual(server.get('/files/file', method='DELETE').status, 204)
            self.assertEqual(hashlib.sha256(wire.take(size)).digest(), hashlib.sha256(pattern(size)).digest())

    def test_folder_that_is_deleted(self):
        folder = self.folder()
        server = self.serve(folder)
        os.rmdir(folder)
        self.assertEqual(server.get('/files/file').status, 404)
        self.assertGreaterEqual(server.get('/api/files').status, 200)
        self.assertGreaterEqual(server.ask(request('PUT', '/files/x', body='x')).status, 400)
        os.mkdir(folder)


class Listing(Shared):
    def test_list(self):
        self.write('b.txt', 'bb')
        self.write('a "ü".txt', 'a')
        self.write('.hidden', 'x')
        os.mkdir(self.path('sub'))
        os.mkfifo(self.path('fifo'))
        os.symlink('b.txt', self.path('link'))
        with open(os.path.join(self.dir.encode(), b'bad\xff'), 'wb'):
            pass
        os.utime(self.path('b.txt'), (86400, 86400))
        response = self.server.get('/api/files')
        self.assertEqual(response.header('content-type'), 'application/json')
        files = response.json()['files']
        self.assertEqual([f['name'] for f in files], ['a "ü".txt', 'b.txt', 'link', 'sub'])
        self.assertEqual(files[1], {'name': 'b.txt', 'size': 2, 'mtime': '1970-01-02T00:00:00Z', 'type': 'file'})

    def test_many(self):
        for i in range(2000):
            self.write(f'many-{i:05}', '')
        self.assertGreaterEqual(len(self.server.get('/api/files').json()['files']), 2000)


if __name__ == '__main__':
    unittest.main()
