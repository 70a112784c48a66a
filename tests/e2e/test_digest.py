"""Digests of RFC 9530: uploads that announce them are checked, downloads that are asked for them have them."""
import base64
import contextlib
import gzip
import hashlib
import os
import shutil
import tempfile
import time
import unittest

from wire import KIB, MIB, Case, Lost, Shared, chunked, form, part, pattern, request

ALGORITHMS = {'sha-256': hashlib.sha256, 'sha-512': hashlib.sha512}
WANTED = 'Want-Repr-Digest: sha-256=10'
FIELDS = ('Content-Digest', 'Repr-Digest')
HASHED_MAX = 16 * MIB


def digest(data, *algorithms):
    return ', '.join(f'{name}=:{base64.b64encode(ALGORITHMS[name](data).digest()).decode()}:' for name in algorithms or ('sha-256',))


class Uploads(Shared):
    def tearDown(self):
        for name in self.names():
            os.unlink(self.path(name))

    def put(self, name, data, *headers):
        return self.server.ask(request('PUT', f'/files/{name}', *headers, body=data))

    def assertNothing(self, response, detail):
        self.assertProblem(response, 400, detail)
        self.assertEqual(self.names(), [])

    def test_that_fit(self):
        for size in (0, 1, 8 * KIB, 64 * KIB, 5 * MIB + 1):
            data = pattern(size)
            for headers in (*([f'{field}: {digest(data, name)}'] for field in FIELDS for name in ALGORITHMS),
                            [f'{field}: {digest(data, *ALGORITHMS)}' for field in FIELDS],
                            [f'Repr-Digest: {digest(data, name)}' for name in ALGORITHMS],
                            [f'repr-digest: md5=:AAAA:;old, {digest(data, "sha-256")}, crc32c=(1 2)']):
                with self.subTest(size=size, headers=headers):
                    self.assertIn(self.put('x', data, *headers).status, (200, 201))
                    response = self.put('x', chunked(*[data] * (size > 0)), 'Transfer-Encoding: chunked', *headers)
                    self.assertEqual(response.status, 200)
                    with open(self.path('x'), 'rb') as file:
                        self.assertEqual(file.read(), data)

    def test_that_do_not(self):
        for size in (0, 1, 64 * KIB, 9 * MIB):
            data, other = pattern(size), pattern(size + 1)
            for field in FIELDS:
                for name in ALGORITHMS:
                    with self.subTest(size=size, field=field, name=name):
                        detail = f'^the field {field.lower()} does not match the bytes that arrived: their {name} differs$'
                        self.assertNothing(self.put('x', data, f'{field}: {digest(other, name)}'), detail)
                        # One that fits excuses none that does not.
                        known = next(key for key in ALGORITHMS if key != name)
                        self.assertNothing(self.put('x', data, f'{field}: {digest(data, known)}, {digest(other, name)}'), detail)
            self.assertNothing(self.put('x', data, f'Content-Digest: {digest(data)}', f'Repr-Digest: {digest(other)}'), 'repr-digest')
            self.assertNothing(self.put('x', data, f'Content-Digest: {digest(other)}', f'Repr-Digest: {digest(data)}'), 'content-digest')

    def test_nothing_is_replaced(self):
        self.write('x', 'as it was')
        self.assertProblem(self.put('x', b'other', f'Content-Digest: {digest(b"another")}'), 400)
        with open(self.path('x'), 'rb') as file:
            self.assertEqual(file.read(), b'as it was')

    def test_malformed(self):
        good = digest(b'data')
        for field in FIELDS:
            for value in (good + ',', good[:-1], 'sha-256', 'sha-256=1', 'sha-256=:AAAA:', 'sha-256=::', good.replace(':', '"'), 'SHA-256=:AAAA:',
                          'sha-512=' + good.removeprefix('sha-256='), f'md5, {good} sha-512', f'a=(, {good}'):
                with self.subTest(field=field, value=value):
                    self.assertNothing(self.put('x', b'data', f'{field}: {value}'), f'^the field {field.lower()} is malformed$')
                    self.assertNothing(self.put('x', b'data', f'{field}: {value}', f'{field}: {good}'), 'malformed')

    def test_malformed_before_the_body(self):
        """The client need not send a body that can't be accepted."""
        with self.server.connect() as wire:
            wire.send(request('PUT', '/files/x', f'Content-Length: {5 * MIB}', 'Expect: 100-continue', 'Repr-Digest: sha-256=1'))
            self.assertNothing(wire.read(), 'malformed')

    def test_unknown_ones_are_ignored(self):
        for value in ('', 'md5=:AAAA:', 'sha=:AAAA:', 'sha-384=:AAAA:, unixsum=1', 'crc32c'):
            self.assertIn(self.put('x', b'data', f'Content-Digest: {value}').status, (200, 201), value)

    def test_of_a_form_are_ignored(self):
        """They are of the whole form, not of a file in it."""
        data = form(part('f', b'data', 'x')).replace(b'\r\n\r\n', f'\r\nContent-Digest: {digest(b"other")}\r\n\r\n'.encode(), 1)
        self.assertEqual(self.server.ask(data).status, 201)

    def test_the_connection_goes_on(self):
        with self.server.connect() as wire:
            for _ in range(3):
                self.assertEqual(wire.ask(request('PUT', '/files/x', f'Repr-Digest: {digest(b"x")}', body='y')).status, 400)
                self.assertIn(wire.ask(request('PUT', '/files/x', f'Repr-Digest: {digest(b"y")}', body='y')).status, (200, 201))


class Hashing(Case):
    def test_a_client_that_leaves(self):
        """Nothing of it stays, neither file nor descriptor."""
        folder = self.folder()
        server = self.serve(folder, '--workers', 1)
        # It opens what stays open for all.
        self.assertEqual(server.ask(request('PUT', '/files/first', body=bytes(MIB))).status, 201)
        self.eventually(lambda: server.sockets() == 1)
        before = server.held()
        data = pattern(48 * MIB)
        for _ in range(3):
            with contextlib.suppress(Lost, OSError), server.connect() as wire:
                wire.send(request('PUT', '/files/x', f'Repr-Digest: {digest(b"other", *ALGORITHMS)}', body=data))
                wire.reset()
        self.eventually(lambda: server.held() <= before)
        self.assertEqual(os.listdir(folder), ['first'])

    def test_others_are_served_meanwhile(self):
        """A large upload is hashed by a thread of the pool: the loop, which is the main thread, has little to do meanwhile."""
        folder = self.folder()
        server = self.serve(folder, '--workers', 1)
        data = pattern(96 * MIB)
        with server.connect(timeout=60) as wire, server.connect() as other:
            loop, threads = server.worked(server.pid), server.worked()
            wire.send(request('PUT', '/files/x', f'Repr-Digest: {digest(data, *ALGORITHMS)}', body=data))
            while wire.is_open(0.01):
                self.assertEqual(other.ask(request('GET', '/api/files')).status, 200)
            self.assertEqual(wire.read().status, 201)
            self.assertLess(server.worked(server.pid) - loop, (server.worked() - threads) / 2)


class Downloads(Shared):
    def get(self, name, *headers, **options):
        return self.server.get(f'/files/{name}', *headers, **options)

    def test_when_it_is_wanted(self):
        for size in (0, 1, 4 * KIB, 64 * KIB + 1, HASHED_MAX):
            data = self.write('x', pattern(size))
            for want, names in (('sha-256=10', ['sha-256']), ('sha-512=1', ['sha-512']), ('sha-256=3, sha-512=4', ['sha-512']),
                                ('sha-512=3, sha-256=3', ['sha-256']), ('md5=10, sha-512=1, sha-256=0', ['sha-512'])):
                with self.subTest(size=size, want=want):
                    for method in ('GET', 'HEAD'):
                        response = self.get('x', f'Want-Repr-Digest: {want}', method=method)
                        self.assertEqual((response.status, response.header('repr-digest')), (200, digest(data, *names)))
                    self.assertEqual(len(response.all('etag')), 1)

    def test_when_it_is_not(self):
        self.write('x', 'data')
        for headers in ([], ['Want-Repr-Digest: sha-256=0'], ['Want-Repr-Digest: md5=10'], ['Want-Repr-Digest: sha-256=11'],
                        ['Want-Repr-Digest: sha-256'], ['Want-Repr-Digest: sha-256=10,'], ['Want-Repr-Digest:'],
                        ['Want-Content-Digest: sha-256=10']):
            response = self.get('x', *headers)
            self.assertEqual((response.status, response.body, response.header('repr-digest')), (200, b'data', None), headers)

    def test_again_and_again(self):
        """The file stays open meanwhile, and what is known of it is used as long as it is the same."""
        for text in (b'one', b'two', b'three'):
            self.write('x', text)
            for _ in range(4):
                for name in ALGORITHMS:
                    self.assertEqual(self.get('x', f'Want-Repr-Digest: {name}=1').header('repr-digest'), digest(text, name))
                time.sleep(0.03)

    def test_of_a_part(self):
        """It is that of the whole."""
        data = self.write('x', pattern(100000))
        for ranges in ('0-9', '5-', '-1', '0-0,10-19'):
            response = self.get('x', WANTED, f'Range: bytes={ranges}')
            self.assertEqual((response.status, response.header('repr-digest')), (206, digest(data)))

    def test_answers_without_the_file(self):
        self.write('x', 'data')
        etag = self.get('x').header('etag')
        for headers, status in ((f'If-None-Match: {etag}', 304), ('If-Match: "other"', 412), ('Range: bytes=10-', 416)):
            response = self.get('x', WANTED, headers)
            self.assertEqual((response.status, response.header('repr-digest')), (status, None))
        self.assertIsNone(self.get('none', WANTED).header('repr-digest'))

    def test_a_large_file(self):
        """Nothing is read for it."""
        with open(self.path('large'), 'wb') as file:
            file.truncate(HASHED_MAX + 1)
        response = self.get('large', WANTED, method='HEAD')
        self.assertEqual((response.status, response.header('repr-digest')), (200, None))


class Kept(Case):
    """What an upload announced, and was checked, is kept with the file."""

    def setUp(self):
        self.dir = self.folder()
        self.path = os.path.join(self.dir, 'x')
        self.data = pattern(HASHED_MAX + 1)
        try:
            os.setxattr(self.dir, 'user.eddy.test', b'1')
        except OSError:
            self.skipTest('this file system has no extended attributes')
        self.server = self.serve(self.dir)

    def upload(self, *headers):
        """A busy machine may keep it too late; then it is not trusted."""
        for _ in range(10):
            self.assertIn(self.server.ask(request('PUT', '/files/x', *headers, body=self.data)).status, (200, 201))
            if self.wanted():
                return
        self.fail('it is not kept')

    def wanted(self, want='sha-256=10'):
        return self.server.get('/files/x', f'Want-Repr-Digest: {want}', method='HEAD').header('repr-digest')

    def test_over_a_restart(self):
        for field in FIELDS:
            self.upload(f'{field}: {digest(self.data)}')
            self.assertEqual(self.wanted(), digest(self.data))
            self.assertEqual(self.wanted('sha-512=10, sha-256=1'), digest(self.data), 'the one that is known')
            self.assertIsNone(self.wanted('sha-512=10'))
            self.server.stop()
            self.server = self.serve(self.dir, '--no-upload', sandbox=True)
            self.assertEqual(self.wanted(), digest(self.data))
            self.server.stop()
            self.server = self.serve(self.dir, sandbox=True)

    def test_a_changed_file(self):
        """Not even one whose size and time are as before."""
        def overwrite():
            with open(self.path, 'r+b') as file:
                file.write(b'other')

        def restore_time():
            before = os.stat(self.path)
            overwrite()
            os.utime(self.path, ns=(before.st_atime_ns, before.st_mtime_ns))
            self.assertEqual(os.stat(self.path).st_mtime_ns, before.st_mtime_ns)

        def replace():
            shutil.copy2(self.path, self.path + '.new')
            for name in os.listxattr(self.path):
                os.setxattr(self.path + '.new', name, os.getxattr(self.path, name))
            os.rename(self.path + '.new', self.path)

        for change in (overwrite, restore_time, replace, lambda: os.truncate(self.path, HASHED_MAX + 2)):
            self.upload(f'Repr-Digest: {digest(self.data)}')
            time.sleep(0.15)
            self.assertEqual(self.wanted(), digest(self.data))
            change()
            self.assertIsNone(self.wanted())

    def test_damaged(self):
        self.upload(f'Repr-Digest: {digest(self.data)}')
        good = os.getxattr(self.path, 'user.eddy.digest')
        for value in (b'', b' ', good[:20], good[:-1], good * 9, good.replace(b'sha-256', b'sha-512'), bytes(100)):
            os.setxattr(self.path, 'user.eddy.digest', value)
            self.assertIsNone(self.wanted(), value)

    def test_not_for_a_download(self):
        """A download writes nothing."""
        with open(self.path, 'wb') as file:
            file.write(b'data')
        self.assertEqual(self.wanted(), digest(b'data'))
        self.assertEqual(os.listxattr(self.path), [])


class Elsewhere(Case):
    def test_files_in_memory(self):
        folder = tempfile.mkdtemp(prefix='eddy-e2e-', dir='/dev/shm')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        server = self.serve(folder)
        data = pattern(MIB)
        self.assertEqual(server.ask(request('PUT', '/files/x', f'Repr-Digest: {digest(data)}', body=data)).status, 201)
        self.assertEqual(server.get('/files/x', WANTED).header('repr-digest'), digest(data))

    def test_a_decoded_upload(self):
        """The digests are of the coded bytes, which are not what is saved: they are ignored, as are malformed ones."""
        folder = self.folder()
        server = self.serve(folder, program='coded')
        for value in (digest(b'other'), 'sha-256=1'):
            fields = [f'{field}: {value}' for field in FIELDS]
            response = server.ask(request('POST', '/in/save', 'Content-Encoding: gzip', *fields, body=gzip.compress(b'data')))
            self.assertEqual((response.status, response.body), (200, b'4'))
        self.assertEqual(server.ask(request('POST', '/in/save', *fields, body=b'data')).status, 400)

    def test_a_tree(self):
        """A precompressed file has the digest of its own bytes."""
        folder = self.folder()
        for name, data in {'a.css': b'plain', 'a.css.gz': b'as gz'}.items():
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(data)
        server = self.serve('--tree', folder, program='limits')
        for accept, data in (('identity', b'plain'), ('gzip', b'as gz')):
            response = server.get('/tree/a.css', WANTED, f'Accept-Encoding: {accept}')
            self.assertEqual((response.body, response.header('repr-digest')), (data, digest(data)))

    def test_compression(self):
        """It is the digest of what is sent."""
        folder = self.folder()
        with open(os.path.join(folder, 'x.txt'), 'wb') as file:
            file.write(b'text ' * 1000)
        server = self.serve('--dir', folder, '--compression', program='tour')
        self.assertEqual(server.get('/files/x.txt', 'Accept-Encoding: gzip').header('content-encoding'), 'gzip')
        response = server.get('/files/x.txt', WANTED, 'Accept-Encoding: gzip')
        self.assertIsNone(response.header('content-encoding'))
        self.assertEqual(response.header('repr-digest'), digest(response.body))


if __name__ == '__main__':
    unittest.main()
