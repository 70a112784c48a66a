"""Uploads to `files`: whole or not at all, whatever happens on the way."""
# needs: curl
import contextlib
import fcntl
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import threading
import time
import unittest

from wire import KIB, MIB, Case, Lost, Server, Shared, chunked, curl, form, in_threads, is_sanitized, part, pattern, request, sha256_of

SIZES = (0, 1, 4 * KIB, 32 * KIB - 1, 32 * KIB, 32 * KIB + 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB + 3, 40 * MIB)


def is_let_go(folder):
    """Whether nobody has a hidden file locked. The kernel ends the ring of a process that was killed some
    milliseconds behind it, and the files with it."""
    for name in os.listdir(folder):
        if name.startswith('.eddy-'):
            with open(os.path.join(folder, name), 'rb+') as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
    return True


class RoundTrip(Shared):
    def url(self, name=''):
        return f'http://127.0.0.1:{self.server.port}/files/{name}'

    def tearDown(self):
        for name in self.names():
            os.unlink(self.path(name))

    def test_put_by_curl(self):
        for size in SIZES:
            for how in ('length', 'chunked'):
                with self.subTest(size=size, how=how):
                    source = self.write('.source', pattern(size, size))
                    digest = hashlib.sha256(source).hexdigest()
                    if how == 'length':
                        done = curl('-T', self.path('.source'), self.url('new'))
                    else:
                        with open(self.path('.source'), 'rb') as file:
                            done = subprocess.run(['curl', '-sS', '--noproxy', '*', '-T', '-', self.url('new')], stdin=file,
                                                  capture_output=True, check=True)
                    self.assertEqual(json.loads(done.stdout), {'name': 'new', 'size': size})
                    self.assertEqual(sha256_of(self.path('new')), digest)
                    curl('-o', self.path('.back'), self.url('new'))
                    self.assertEqual(sha256_of(self.path('.back')), digest)
                    os.unlink(self.path('new'))

    def test_post_by_curl(self):
        digests, args = {}, ['-F', 'note=hello', '-F', 'empty=']
        source = self.folder()
        for size in SIZES:
            path = os.path.join(source, f'file-{size}')
            with open(path, 'wb') as file:
                file.write(pattern(size, size))
            digests[f'file-{size}'] = (size, sha256_of(path))
            args += ['-F', f'file=@{path}']
        done = json.loads(curl(*args, self.url().rstrip('/')).stdout)
        self.assertEqual(done['files'], [{'name': name, 'size': size} for name, (size, _) in digests.items()])
        for name, (_, digest) in digests.items():
            self.assertEqual(sha256_of(self.path(name)), digest)
        self.assertEqual(self.names(), sorted(digests))

    def test_chunked_form_by_curl(self):
        source = self.write('.source', pattern(3 * MIB + 1))
        curl('-H', 'Transfer-Encoding: chunked', '-F', f'a=@{self.path(".source")};filename=one', '-F', 'b=c', '-F',
             f'a=@{self.path(".source")};filename=two', self.url().rstrip('/'))
        for name in ('one', 'two'):
            self.assertEqual(sha256_of(self.path(name)), hashlib.sha256(source).hexdigest())

    def test_status(self):
        with self.server.connect() as wire:
            response = wire.ask(request('PUT', '/files/x', body='one'))
            self.assertEqual((response.status, response.json()), (201, {'name': 'x', 'size': 3}))
            response = wire.ask(request('PUT', '/files/x', body='three'))
            self.assertEqual((response.status, response.json()), (200, {'name': 'x', 'size': 5}))
            self.assertEqual(wire.ask(request('GET', '/files/x')).body, b'three')
            self.assertEqual(wire.ask(request('DELETE', '/files/x')).status, 204)
            self.assertProblem(wire.ask(request('DELETE', '/files/x')), 404)
            self.assertProblem(wire.ask(request('GET', '/files/x')), 404)
            response = wire.ask(request('PUT', '/files/empty'))
            self.assertEqual((response.status, response.json()), (201, {'name': 'empty', 'size': 0}))

    def test_conditions(self):
        with self.server.connect() as wire:
            self.assertEqual(wire.ask(request('PUT', '/files/x', 'If-None-Match: *', body='one')).status, 201)
            self.assertProblem(wire.ask(request('PUT', '/files/x', 'If-None-Match: *', body='two')), 412)
            self.assertProblem(wire.ask(request('PUT', '/files/x', 'If-Match: "x"', body='two')), 412)
            self.assertProblem(wire.ask(request('PUT', '/files/y', 'If-Match: *', body='two')), 412)
            self.assertEqual(self.names(), ['x'])
            etag = wire.ask(request('HEAD', '/files/x'), head=True).header('etag')
            self.assertEqual(wire.ask(request('PUT', '/files/x', f'If-Match: {etag}', body='two')).status, 200)
            self.assertProblem(wire.ask(request('PUT', '/files/x', f'If-Match: {etag}', body='three')), 412)
            self.assertEqual(wire.ask(request('GET', '/files/x')).body, b'two')

    def test_piece_of_a_file(self):
        """What curl -C sends must not replace the whole."""
        self.write('x', '01234')
        with self.server.connect() as wire:
            self.assertProblem(wire.ask(request('PUT', '/files/x', 'Content-Range: bytes 5-9/10', body='56789')), 400)
            self.assertEqual(wire.ask(request('GET', '/files/x')).body, b'01234')

    def test_keeps_the_connection(self):
        with self.server.connect() as wire:
            for size in (0, 10, 70000, 300000):
                wire.send(request('PUT', '/files/a', f'Content-Length: {size}', body=pattern(size)) +
                          request('PUT', '/files/b', 'Transfer-Encoding: chunked', body=chunked(*[pattern(size)] * (size > 0))) +
                          form(part('f', pattern(size), 'c')) + request('GET', '/files/a'))
                for _ in range(3):
                    self.assertIn(wire.read().status, (200, 201))
                self.assertEqual(wire.read().body, pattern(size))
                for name in 'abc':
                    self.assertEqual(os.path.getsize(self.path(name)), size)

    def test_coded_body(self):
        for codings in ('gzip',), ('identity', 'gzip'), ('', 'br'), ('identity, gzip',):
            with self.subTest(codings):
                response = self.server.ask(request('PUT', '/files/x', *(f'Content-Encoding: {c}' for c in codings), body='abc'))
                self.assertProblem(response, 415)
                self.assertEqual(response.header('accept-encoding'), 'identity')
        self.assertEqual(self.server.ask(request('PUT', '/files/x', 'Content-Encoding: identity', body='abc')).status, 201)

    def test_pieces_of_every_kind(self):
        chance = random.Random(3)
        for _ in range(20):
            pieces = [chance.randbytes(chance.choice((1, 7, 100, 5000, 65535, 65536, 200000))) for _ in range(chance.randrange(1, 8))]
            data = request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(*pieces))
            with self.server.connect() as wire:
                while data:
                    size = chance.choice((1, 50, 4000, 16384, 100000))
                    wire.send(data[:size])
                    data = data[size:]
                    if chance.random() < 0.2:
                        time.sleep(0.001)
                self.assertIn(wire.read().status, (200, 201))
                with open(self.path('x'), 'rb') as file:
                    self.assertEqual(file.read(), b''.join(pieces))

    def test_40_uploads_at_once(self):
        data = [pattern(2 * MIB + i, i) for i in range(40)]

        def work(i):
            response = self.server.ask(request('PUT', f'/files/f{i}', body=data[i]))
            self.assertEqual(response.status, 201)
        in_threads(40, work)
        for i in range(40):
            self.assertEqual(sha256_of(self.path(f'f{i}')), hashlib.sha256(data[i]).hexdigest())

    def test_mode(self):
        umask = os.umask(0o022)
        os.umask(umask)
        self.server.ask(request('PUT', '/files/x', body='one'))
        self.assertEqual(os.stat(self.path('x')).st_mode & 0o777, 0o666 & ~umask)


class Forms(Shared):
    def tearDown(self):
        for name in self.names():
            os.unlink(self.path(name))

    def test_fields_are_no_files(self):
        response = self.server.ask(form(part('a', 'text'), part('b', 'data', 'file.txt', 'Content-Type: text/plain'), part('c', '')))
        self.assertEqual((response.status, response.json()), (201, {'files': [{'name': 'file.txt', 'size': 4}]}))
        self.assertEqual(self.names(), ['file.txt'])

    def test_no_files(self):
        response = self.server.ask(form(part('a', 'text')))
        self.assertEqual((response.status, response.json()), (201, {'files': []}))

    def test_names(self):
        for sent, saved in (('C:\\\\dir\\\\a.txt', 'a.txt'), ('../../a.txt', 'a.txt'), ('/etc/passwd', 'passwd'), ('.hidden', 'hidden'),
                            ('...x', 'x'), ('a b', 'a b'), ('\xfc'.encode().decode('latin-1'), None)):
            with self.subTest(sent):
                response = self.server.ask(form(part('f', 'x', sent)))
                self.assertEqual(response.status, 201)
                if saved:
                    self.assertEqual([f['name'] for f in response.json()['files']], [saved])
                    self.assertIn(saved, self.names())

    def test_bad_names(self):
        for sent in ('.', '..', '...', '/', 'a/', 'x' * 256, 'a\x01', 'a\x7f'):
            with self.subTest(sent):
                response = self.server.ask(form(part('f', 'x', 'good'), part('f', 'x', sent)))
                self.assertProblem(response, 400)
                self.assertEqual(self.names(), [])
        response = self.server.ask(form(b'Content-Disposition: form-data; name="f"; filename="\xff"\r\n\r\nx'))
        self.assertProblem(response, 400)

    def test_two_of_one_name(self):
        self.assertProblem(self.server.ask(form(part('f', 'x', 'a'), part('f', 'y', 'a'))), 400)
        self.assertEqual(self.names(), [])

    def test_malformed(self):
        good = form(part('f', 'x' * 100, 'a'))
        head, _, body = good.partition(b'\r\n\r\n')
        for bad in (body[:-10], body[:20], b'', b'nonsense', body.replace(b'--xYz\r\n', b'--other\r\n'), body.replace(b': form', b' form'),
                    body.replace(b'\r\n\r\n', b'\r\n'), b'--xYz--', body.replace(b'form-data', b'attachment')):
            with self.subTest(bad):
                response = self.server.ask(request('POST', '/files', 'Content-Type: multipart/form-data; boundary=xYz',
                                                   f'Content-Length: {len(bad)}', body=bad))
                self.assertIn(response.status, (400, 201) if b'filename' not in bad or b'attachment' in bad else (400,), response)
                self.assertEqual(self.names(), [])

    def test_other_types(self):
        for value in ('text/plain', 'multipart/form-data', 'multipart/form-data; boundary=', 'multipart/mixed; boundary=x',
                      'multipart/form-data; boundary=' + 'x' * 71, ''):
            with self.subTest(value):
                self.assertIn(self.server.ask(request('POST', '/files', f'Content-Type: {value}', body='x')).status, (400, 415))
        self.assertIn(self.server.ask(request('POST', '/files', body='x')).status, (400, 415))

    def test_too_many_parts(self):
        self.assertEqual(self.server.ask(form(*[part('f', 'x', f'{i}') for i in range(64)])).status, 201)
        self.tearDown()
        self.assertProblem(self.server.ask(form(*[part('f', 'x', f'{i}') for i in range(65)])), 413)
        self.assertEqual(self.names(), [])

    def test_large_part_head(self):
        self.assertProblem(self.server.ask(form(part('f', 'x', 'a', 'X: ' + 'y' * 9000))), 400)
        self.assertEqual(self.names(), [])

    def test_boundary_in_the_data(self):
        data = b'\r\n--xY' * 1000 + b'\r\n-' + b'\r\n--xYy--\r\n' + b'\r' * 100 + b'\r\n'
        for framed in (True, False):
            response = self.server.ask(form(part('f', data, 'a'), framed=framed))
            self.assertEqual(response.status, 201)
            with open(self.path('a'), 'rb') as file:
                self.assertEqual(file.read(), data)

    def test_split_at_every_byte(self):
        data = form(part('f', 'x\r\n--xY', 'a'), part('g', ''), part('h', 'z', 'b'))
        start = data.index(b'\r\n\r\n') + 4
        with self.server.connect() as wire:
            for at in range(start, len(data)):
                wire.send(data[:at])
                time.sleep(0.0005)
                wire.send(data[at:])
                self.assertEqual(wire.read().status, 201, at)
        with open(self.path('a'), 'rb') as file:
            self.assertEqual(file.read(), b'x\r\n--xY')

    def test_folder_in_the_way(self):
        """Published together: when the last one can't be, the first ones are taken back."""
        os.mkdir(self.path('z'))
        try:
            self.assertProblem(self.server.ask(form(part('f', 'x', 'a'), part('f', 'y', 'z'))), 409)
            self.assertEqual(self.names(), ['z'])
            self.assertProblem(self.server.ask(request('PUT', '/files/z', body='x')), 409)
            self.assertEqual(self.names(), ['z'])
        finally:
            os.rmdir(self.path('z'))


class Broken(Case):
    """Uploads that end early leave nothing."""

    def test_client_dies_at_random_bytes(self):
        folder = self.folder()
        server = self.serve(folder)
        chance = random.Random(5)
        data = pattern(300000)
        kinds = [request('PUT', '/files/x', body=data), request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(
                     data[:100000], data[100000:])), form(part('f', data[:150000], 'x'), part('f', data[150000:], 'y'))]
        wires = []
        for i in range(150):
            whole = kinds[i % 3]
            at = chance.choice((chance.randrange(len(whole)), chance.randrange(400), len(whole) - 1 - chance.randrange(50)))
            wire = server.connect()
            wire.send(whole[:at])
            how = chance.randrange(3)
            if how == 0:
                wire.reset()
            elif how == 1:
                wire.close()
            else:
                wire.end()
                wires.append(wire)
        for wire in wires:
            with contextlib.suppress(Lost):
                self.assertGreaterEqual(wire.read().status, 400)
            wire.close()
        self.eventually(lambda: os.listdir(folder) == [], what=lambda: f'left: {os.listdir(folder)}')
        server.stop()
        self.assertEqual(os.listdir(folder), [])

    def test_server_is_killed(self):
        """No partial file under a final name, and no litter once it has started again."""
        folder, chance = self.folder(), random.Random(7)
        data = {name: pattern(200000 + i, i) for i, name in enumerate('abcdefgh')}
        old = {name: pattern(1000, name) for name in 'abcd'}
        for name, content in old.items():
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(content)
        litter = 0
        for _ in range(25):
            server = Server(folder)
            stop = threading.Event()

            def upload(i, server=server, stop=stop):
                name = 'abcdefgh'[i]
                while not stop.is_set():
                    with contextlib.suppress(Lost, OSError):
                        if i == 3:
                            server.ask(form(part('f', data['c'], 'c'), part('f', data['d'], 'd')))
                        else:
                            server.ask(request('PUT', f'/files/{name}', body=data[name]))
            threads = [threading.Thread(target=upload, args=(i,)) for i in range(8)]
            for thread in threads:
                thread.start()
            time.sleep(0.02 + chance.random() * 0.06)
            server.process.kill()
            stop.set()
            for thread in threads:
                thread.join()
            server.kill()
            for name in os.listdir(folder):
                if name.startswith('.eddy-'):
                    litter += 1
                    continue
                with open(os.path.join(folder, name), 'rb') as file:
                    self.assertIn(file.read(), (data[name], old.get(name)), name)
            # What was replaced before is there at any time.
            self.assertLessEqual(set(old), set(os.listdir(folder)))
            self.eventually(lambda: is_let_go(folder))
            again = Server(folder)
            again.stop()
            self.assertEqual([n for n in os.listdir(folder) if n.startswith('.')], [])
        print(f'{litter} hidden files were cleaned up in 25 restarts')

    def test_cleaning_leaves_others_alone(self):
        folder = self.folder()
        for name in ('.eddy-0123456789abcdef', '.eddy-x', '.eddyrc', 'x.eddy-0123456789abcdef'):
            with open(os.path.join(folder, name), 'w') as file:
                file.write('x')
        os.mkdir(os.path.join(folder, '.eddy-ffffffffffffffff'))
        os.mkfifo(os.path.join(folder, '.eddy-fffffffffffffffe'))
        server = self.serve(folder)
        self.assertIn('removed', server.wait_for('removed').string)
        self.assertLessEqual({'.eddy-x', '.eddyrc', 'x.eddy-0123456789abcdef', '.eddy-ffffffffffffffff'}, set(os.listdir(folder)))
        self.assertNotIn('.eddy-0123456789abcdef', os.listdir(folder))
        os.rmdir(os.path.join(folder, '.eddy-ffffffffffffffff'))

    def test_two_servers_in_one_folder(self):
        """The second one, starting, does not take the first one's work for litter."""
        folder = self.folder()
        first = self.serve(folder)
        stop, failed = threading.Event(), []

        def upload(i):
            while not stop.is_set():
                response = first.ask(request('PUT', f'/files/f{i % 2}', body=pattern(100000, i)))
                if response.status not in (200, 201):
                    failed.append(response)
        threads = [threading.Thread(target=upload, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(15):
            Server(folder).stop()
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_replace_is_atomic(self):
        folder = self.folder()
        server = self.serve(folder, '--workers', 2)
        versions = [pattern(1 * MIB + i, i) for i in range(4)]
        digests = {hashlib.sha256(v).digest() for v in versions}
        server.ask(request('PUT', '/files/x', body=versions[0]))
        stop = threading.Event()
        seen = set()

        def work(i):
            if i < 2:
                end = time.monotonic() + 1.5
                n = 0
                while time.monotonic() < end:
                    n += 1
                    response = server.ask(request('PUT', '/files/x', body=versions[(n + i) % 4]))
                    self.assertEqual(response.status, 200)
                stop.set()
            else:
                with server.connect() as wire:
                    while not stop.is_set():
                        response = wire.ask(request('GET', '/files/x'))
                        self.assertEqual(response.status, 200)
                        digest = hashlib.sha256(response.body).digest()
                        self.assertIn(digest, digests)
                        seen.add(digest)
        in_threads(6, work)
        self.assertGreater(len(seen), 1)
        self.assertEqual(os.listdir(folder), ['x'])

    def test_two_write_one_name(self):
        folder = self.folder()
        server = self.serve(folder, '--workers', 2)

        def work(i):
            for _ in range(20):
                response = server.ask(request('PUT', '/files/x', body=pattern(70000 + i, i)))
                self.assertIn(response.status, (200, 201))
        in_threads(6, work)
        self.assertEqual(os.listdir(folder), ['x'])
        with open(os.path.join(folder, 'x'), 'rb') as file:
            data = file.read()
        self.assertEqual(data, pattern(len(data), len(data) - 70000))

    def test_deleting_what_is_replaced(self):
        folder = self.folder()
        server = self.serve(folder, '--workers', 2)

        def work(i):
            for _ in range(40):
                if i % 2:
                    self.assertIn(server.get('/files/x', method='DELETE').status, (204, 404))
                else:
                    self.assertIn(server.ask(request('PUT', '/files/x', body='x' * 1000)).status, (200, 201))
        in_threads(4, work)
        self.assertLessEqual(set(os.listdir(folder)), {'x'})

    def test_end_of_the_server_inside_an_upload(self):
        folder = self.folder()
        server = self.serve(folder, log='trace')
        wires = [server.connect() for _ in range(5)]
        for i, wire in enumerate(wires):
            wire.send(request('PUT', f'/files/{i}', 'Content-Length: 300000') + b'x' * 150000)
        time.sleep(0.1)
        self.begin_end(server)
        for wire in wires[:2]:
            wire.send(b'x' * 150000)
            response = wire.read()
            self.assertEqual((response.status, response.closes), (201, True))
        server.process.terminate()
        self.assertEqual(server.wait(), 0)
        self.assertEqual(sorted(os.listdir(folder)), ['0', '1'])
        for wire in wires:
            wire.close()


class TooLarge(Shared):
    @classmethod
    def options(cls):
        return '--max-size', 200000

    def test_announced(self):
        with self.server.connect() as wire:
            response = wire.ask(request('PUT', '/files/x', 'Content-Length: 200001', 'Expect: 100-continue'))
            self.assertProblem(response, 413)
            self.assertTrue(response.closes)
            self.assertClosed(wire)
        with self.server.connect() as wire:
            self.assertProblem(wire.ask(request('PUT', '/files/x', 'Content-Length: 200001')), 413)

    def test_announced_beyond_all_bounds(self):
        for size in (2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1):
            with self.subTest(size):
                data = request('PUT', '/files/x', f'Content-Length: {size}', 'Expect: 100-continue')
                self.assertProblem(self.server.ask(data), 413)

    def test_at_the_limit(self):
        self.assertEqual(self.server.ask(request('PUT', '/files/x', body='x' * 200000)).status, 201)
        self.assertEqual(self.server.ask(form(part('f', 'x' * 199900, 'y'))).status, 201)
        os.unlink(self.path('x'))
        os.unlink(self.path('y'))

    def test_chunked(self):
        for pieces in ([b'x' * 200001], [b'x' * 150000] * 2, [b'x' * 10] * 20001, [b'x' * 100000] * 20):
            with self.server.connect() as wire:
                wire.try_send(request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(*pieces)))
                self.assertProblem(wire.read(), 413)
            self.assertEqual(self.names(), [])

    def test_form(self):
        for parts in ([part('f', 'x' * 200001, 'a')], [part('f', 'x' * 120000, 'a'), part('f', 'x' * 120000, 'b')]):
            for framed in (True, False):
                with self.server.connect() as wire:
                    wire.try_send(form(*parts, framed=framed))
                    self.assertProblem(wire.read(), 413)
                self.assertEqual(self.names(), [])


class Saving(Case):
    """What the library can beyond `files`, by the program limits."""

    def test_no_replace(self):
        folder = self.folder()
        server = self.limits(dir=folder)
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('PUT', '/once/x', body='one')).status, 201)
            self.assertProblem(wire.ask(request('PUT', '/once/x', body='two')), 409)
            self.assertServes(wire)
        self.assertEqual(os.listdir(folder), ['x'])

    def test_no_replace_of_many(self):
        folder = self.folder()
        server = self.limits(dir=folder, workers=2)
        statuses = []

        def work(i):
            statuses.append(server.ask(request('PUT', '/once/x', body=pattern(100000, i))).status)
        in_threads(20, work)
        self.assertEqual(sorted(statuses), [201] + [409] * 19)

    def test_name_of_the_disposition(self):
        folder = self.folder()
        server = self.limits(dir=folder)
        for value, name in (('attachment; filename=a', b'a'), ("attachment; filename=a; filename*=UTF-8''%c3%bc", 'ü'.encode()),
                            ('attachment; filename="../x/b.c"', b'b.c')):
            response = server.ask(request('POST', '/save', f'Content-Disposition: {value}', body='xyz'))
            self.assertEqual((response.status, response.body), (200, name + b' 3'))
        for line in ('X: y', 'Content-Disposition: attachment', 'Content-Disposition: attachment; filename=', 'Content-Disposition: attachment; filename=..'):
            self.assertProblem(server.ask(request('POST', '/save', line, body='xyz')), 400)

    def test_out_of_descriptors(self):
        """A form's files are open until its end: when they can't be had nothing is left, and the server goes on."""
        folder = self.folder()
        server = self.limits(dir=folder)
        self.assertEqual(server.ask(form(part('f', 'x', 'warm'), path='/save-all')).status, 200)
        before = server.descriptors()
        limit = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (before + 20, limit[1]))
        parts = [part('f', 'x', f'{i}') for i in range(64)]
        with server.connect() as wire:
            self.assertProblem(wire.ask(form(*parts, path='/save-all')), 500)
            self.assertEqual(os.listdir(folder), ['warm'])
        with server.connect() as wire:
            self.assertEqual(wire.ask(form(*parts, path='/parts/save')).status, 200)     # one at a time
        for i in range(64):
            os.unlink(os.path.join(folder, f'{i}'))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limit)
        with server.connect() as wire:
            self.assertEqual(wire.ask(form(*parts, path='/save-all')).status, 200)
        self.assertEqual(len(os.listdir(folder)), 65)
        self.eventually(lambda: server.descriptors() <= before)

    def test_answer_with_nothing_set(self):
        response = self.limits().ask(request('POST', '/nothing', body='x'))
        self.assertEqual((response.status, response.body, response.header('content-type')), (200, b'', None))

    def test_file_max(self):
        folder = self.folder()
        server = self.limits(dir=folder, file_max=1000)
        self.assertProblem(server.ask(request('PUT', '/once/x', body='x' * 1001)), 413)
        self.assertProblem(server.ask(form(part('f', 'x' * 600, 'a'), part('f', 'x' * 600, 'b'), path='/save-all')), 413)
        self.assertEqual(os.listdir(folder), [])
        self.assertEqual(server.ask(request('PUT', '/once/x', body='x' * 1000)).status, 201)


# Without /proc no unnamed file can be given a name.
WITHOUT_PROC = ('unshare', '--mount', 'sh', '-c', 'umount -l /proc && exec "$0" "$@"')


def can_hide_proc():
    if os.geteuid() != 0:
        return False
    with contextlib.suppress(OSError):
        return subprocess.run([*WITHOUT_PROC, 'true'], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    return False


@unittest.skipUnless(can_hide_proc(), 'needs root, to take /proc away')
class Hidden(Case):
    """Uploads where they can't be unnamed: under a hidden name from their first byte."""

    def setUp(self):
        self.dir = self.folder()

    def start(self, **options):
        server = self.serve(self.dir, '--no-sandbox', wrap=WITHOUT_PROC, **options)
        if is_sanitized():
            self.addCleanup(server.kill)    # LeakSanitizer, at the end, can't do without
        return server

    def test_round_trip(self):
        server = self.start()
        data = pattern(300000)
        with server.connect() as wire:
            for status in (201, 200):
                self.assertEqual(wire.ask(request('PUT', '/files/x', body=data)).status, status)
                self.assertEqual(wire.ask(request('GET', '/files/x')).body, data)
            self.assertEqual(wire.ask(form(part('f', data, 'a'), part('f', 'b', 'b'))).status, 201)
        self.assertEqual(sorted(os.listdir(self.dir)), ['a', 'b', 'x'])

    def test_broken_off(self):
        server = self.start()
        for whole in (request('PUT', '/files/x', body=pattern(300000)), form(part('f', pattern(150000), 'x'), part('f', pattern(150000), 'y'))):
            for at in (len(whole) - 1, len(whole) // 2, 1000):
                wire = server.connect()
                wire.send(whole[:at])
                time.sleep(0.01)
                wire.close()
        self.eventually(lambda: os.listdir(self.dir) == [], what=lambda: f'left: {os.listdir(self.dir)}')

    def test_killed(self):
        server = self.start()
        wires = [server.connect() for _ in range(5)]
        for i, wire in enumerate(wires):
            wire.send(request('PUT', f'/files/{i}', 'Content-Length: 300000') + b'x' * 150000)
        self.eventually(lambda: len(os.listdir(self.dir)) == 5)
        # Another server that starts meanwhile leaves them alone.
        other = Server(self.dir)
        self.assertEqual(len(os.listdir(self.dir)), 5)
        other.stop()
        server.kill()
        for wire in wires:
            wire.close()
        self.assertTrue(all(name.startswith('.eddy-') for name in os.listdir(self.dir)))
        self.eventually(lambda: is_let_go(self.dir))
        Server(self.dir).stop()
        self.assertEqual(os.listdir(self.dir), [])

    def test_ended(self):
        """Who ends the server twice does not wait for uploads."""
        server = self.start(log='trace')
        with server.connect() as put, server.connect() as post:
            put.send(request('PUT', '/files/x', 'Content-Length: 300000') + b'x' * 150000)
            data = form(part('f', 'x' * 1000, 'y'), part('f', 'x' * 1000, 'z'))
            post.send(data[:-500])
            self.eventually(lambda: len(os.listdir(self.dir)) == 3)
            self.begin_end(server)
            server.process.send_signal(signal.SIGTERM)
            server.wait()
        self.assertEqual(os.listdir(self.dir), [])


class Limited(Case):
    def test_chunks_of_all_sizes(self):
        """Small ones are written together, in their order, and count as all others do."""
        folder = self.folder()
        server = self.serve(folder, '--max-size', 300000)
        sizes = [1, 2, 3, 4093, 1, 4096, 1, 4095, 4097, 1, 70000, 1, 100, 16384, 1, 65536, 5] + [1] * 5000
        data = pattern(sum(sizes))
        pieces, at = [], 0
        for size in sizes:
            pieces.append(data[at:at + size])
            at += size
        self.assertEqual(server.ask(request('PUT', '/files/x', 'Transfer-Encoding: chunked', body=chunked(*pieces))).status, 201)
        self.assertEqual(server.get('/files/x').body, data)
        with server.connect() as wire:
            wire.try_send(request('PUT', '/files/y', 'Transfer-Encoding: chunked', body=chunked(*[b'x' * 3] * 100001)))
            self.assertProblem(wire.read(), 413)
        self.assertEqual(os.listdir(folder), ['x'])
        server.stop()

    def test_ulimit(self):
        """No client can end the server by a file that ulimit -f finds too large."""
        folder = self.folder()
        server = self.serve(folder, wrap=('sh', '-c', 'ulimit -f 64; exec "$@"', 'sh'))
        for size in (300000, 10 * MIB):
            with server.connect() as wire:
                wire.try_send(request('PUT', '/files/x', body=pattern(size)))
                self.assertProblem(wire.read(), 413)
        self.assertEqual(os.listdir(folder), [])
        self.assertEqual(server.ask(request('PUT', '/files/x', body='x')).status, 201)
        server.stop()


if __name__ == '__main__':
    unittest.main()
