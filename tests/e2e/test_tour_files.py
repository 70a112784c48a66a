"""Files, by the program tour: down, and up in each of the four ways."""
import hashlib
import os
import unittest

from wire import KIB, MIB, Case, Shared, chunked, form, part, pattern, request

NAMED = 'Content-Disposition: attachment; filename="{}"'.format


class Files(Shared):
    program = 'tour'

    def tearDown(self):
        for name in self.names():
            os.unlink(self.path(name))

    def content(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def assertNothing(self):
        """Neither a file nor the beginning of one."""
        self.assertEqual(self.names(), [])


class Down(Files):
    def test_file(self):
        for size in (0, 1, 32 * KIB + 1, 5 * MIB):
            data = self.write('a b.txt', pattern(size))
            response = self.server.get('/files/a%20b.txt')
            self.assertEqual((response.status, response.header('content-length'), response.body), (200, str(size), data))
            self.assertEqual(response.header('content-type'), 'text/plain; charset=utf-8')
            self.assertRegex(response.header('content-disposition'), r'^attachment; filename="a b\.txt"')
            self.assertRegex(response.header('etag'), r'^"[!#-~]+"$')
            self.assertEqual(response.header('accept-ranges'), 'bytes')
            self.assertTrue(response.header('last-modified'))

    def test_types(self):
        for name, type_ in (('a.html', 'text/html; charset=utf-8'), ('a.CSS', 'text/css; charset=utf-8'), ('a.png', 'image/png'),
                            ('a.json', 'application/json'), ('a.pdf', 'application/pdf'), ('a.unheard-of', 'application/octet-stream'),
                            ('a', 'application/octet-stream')):
            with self.subTest(name):
                self.write(name, 'x')
                self.assertEqual(self.server.get(f'/files/{name}').header('content-type'), type_)

    def test_conditions_and_ranges(self):
        data = self.write('file', pattern(1000))
        with self.server.connect() as wire:
            whole = wire.ask(request('GET', '/files/file'))
            for headers, status in (((f'If-None-Match: {whole.header("etag")}',), 304), (('If-Match: "x"',), 412),
                                    (('Range: bytes=1000-',), 416), (('Range: nonsense',), 200)):
                self.assertEqual(wire.ask(request('GET', '/files/file', *headers)).status, status)
            response = wire.ask(request('GET', '/files/file', 'Range: bytes=10-19'))
            self.assertEqual((response.status, response.header('content-range'), response.body), (206, 'bytes 10-19/1000', data[10:20]))
            response = wire.ask(request('GET', '/files/file', 'Range: bytes=0-1,5-6'))
            self.assertEqual(response.status, 206)
            self.assertRegex(response.header('content-type'), r'^multipart/byteranges; boundary=')

    def test_what_is_no_file(self):
        os.mkdir(self.path('sub'))
        os.symlink('/etc/passwd', self.path('link'))
        os.mkfifo(self.path('pipe'))
        with self.server.connect() as wire:
            for name in ('none', 'sub', 'link', 'pipe', '..', '%2e%2e%2fetc%2fpasswd', '%2fetc%2fpasswd', 'x' * 300):
                with self.subTest(name):
                    self.assertProblem(wire.ask(request('GET', f'/files/{name}')), 404)
        os.rmdir(self.path('sub'))


class Up(Files):
    def test_save_by_its_name(self):
        with self.server.connect() as wire:
            for size in (0, 1, 100000):
                for framed in (True, False):
                    data = pattern(size)
                    framing = (f'Content-Length: {size}', data) if framed else ('Transfer-Encoding: chunked', chunked(*[data] if data else []))
                    response = wire.ask(request('POST', '/files', NAMED('a.bin'), framing[0], body=framing[1]))
                    self.assertEqual((response.status, response.body), (201, b'{"name":"a.bin","size":%d}' % size))
                    self.assertEqual(self.content('a.bin'), data)
        self.assertEqual(self.names(), ['a.bin'])

    def test_names(self):
        for header, name in ((NAMED('../../b'), 'b'), (NAMED('C:\\\\x\\\\c'), 'c'), (NAMED('...d'), 'd'),
                             ('Content-Disposition: attachment; filename=e', 'e'),
                             ("Content-Disposition: attachment; filename=x; filename*=UTF-8''%e2%82%ac", '€')):
            with self.subTest(header):
                response = self.server.ask(request('POST', '/files', header, body='x'))
                self.assertEqual((response.status, response.json()), (201, {'name': name, 'size': 1}))
        self.assertEqual(self.names(), sorted(('b', 'c', 'd', 'e', '€')))

    def test_names_that_are_none(self):
        for headers in ((), ('Content-Disposition: attachment',), (NAMED(''),), (NAMED('..'),), (NAMED('/'),), (NAMED('x' * 256),),
                        (NAMED('a\x7fb'),), ("Content-Disposition: attachment; filename*=UTF-8''%ff",)):
            with self.subTest(headers):
                self.assertProblem(self.server.ask(request('POST', '/files', *headers, body='x')), 400)
        self.assertNothing()

    def test_save_as(self):
        with self.server.connect() as wire:
            for status, data in ((201, b'first'), (200, b'second, longer'), (200, b'')):
                response = wire.ask(request('PUT', '/files/%C3%BC', f'Content-Length: {len(data)}', body=data))
                self.assertEqual((response.status, response.json()), (status, {'name': 'ü', 'size': len(data)}))
                self.assertEqual(self.content('ü'), data)
            for name in ('a%2Fb', '..%2F', '.hidden', 'x' * 256, '%ff', 'a%01'):
                self.assertProblem(wire.ask(request('PUT', f'/files/{name}', body='x')), 400)
        self.assertEqual(self.names(), ['ü'])

    def test_save_as_whatever_the_client_calls_it(self):
        self.assertEqual(self.server.ask(request('PUT', '/files/a', NAMED('b'), body='x')).json(), {'name': 'a', 'size': 1})
        self.assertEqual(self.names(), ['a'])

    def test_save_all(self):
        large = pattern(200000)
        parts = part('note', 'text'), part('a', large, 'one'), part('b', '', '../two'), part('c', '')
        for framed in (True, False):
            response = self.server.ask(form(*parts, path='/multipart', framed=framed))
            self.assertEqual((response.status, response.body),
                             (201, b'{"files":[{"name":"one","size":200000},{"name":"two","size":0}]}'))
            self.assertEqual((self.names(), self.content('one')), (['one', 'two'], large))

    def test_save_all_or_none(self):
        good = part('a', 'data', 'one')
        for parts in ((good, part('b', 'x', '..')), (good, good), (good, part('b', 'x', 'y\x01'))):
            self.assertProblem(self.server.ask(form(*parts, path='/multipart')), 400)
        self.assertProblem(self.server.ask(request('POST', '/multipart', 'Content-Type: text/plain', body='x')), 415)
        self.assertNothing()

    def test_fields(self):
        data = pattern(100000)
        response = self.server.ask(form(part('text', 'ü'.encode()), part('file', data, '../f', 'Content-Type: image/x'),
                                        part('', 'x', None, 'Content-Type: text/plain'), part('unset', '', ''), path='/fields'))
        self.assertEqual(response.status, 200)
        self.assertEqual(response.json(), [
            {'field': 'text', 'filename': None, 'type': None, 'size': 2},
            {'field': 'file', 'filename': '../f', 'type': 'image/x', 'size': 100000},
            {'field': '', 'filename': None, 'type': 'text/plain', 'size': 1},
            {'field': 'unset', 'filename': '', 'type': None, 'size': 0}])
        self.assertEqual((self.names(), self.content('f')), (['f'], data))
        self.assertEqual(self.server.ask(form(path='/fields')).json(), [])

    def test_fields_one_by_one(self):
        """A file has its name before the next part has been sent."""
        head, _, body = form(part('a', 'data', 'first'), part('b', 'data', 'second'), path='/fields').partition(b'\r\n\r\n')
        at = body.index(b'second')
        with self.server.connect() as wire:
            wire.send(head + b'\r\n\r\n' + body[:at])
            self.eventually(lambda: self.names() == ['first'])
            wire.send(body[at:])
            self.assertEqual(len(wire.read().json()), 2)

    def test_fields_that_are_malformed(self):
        good = form(part('a', 'x'), path='/fields').partition(b'\r\n\r\n')[2]
        for bad, detail in ((good[:-4], 'malformed'), (good.replace(b'form-data', b'attachment'), 'malformed'),
                            (good.replace(b'"a"', b'"\xff"'), 'UTF-8')):
            with self.subTest(bad), self.server.connect() as wire:
                ask = request('POST', '/fields', 'Content-Type: multipart/form-data; boundary=xYz', body=bad)
                self.assertProblem(wire.ask(ask), 400, detail)
                self.assertEqual(wire.ask(request('GET', '/hello')).status, 200)
        self.assertProblem(self.server.ask(form(part('a', 'x' * (64 * KIB + 1)), path='/fields')), 413)
        self.assertProblem(self.server.ask(form(*[part('a', 'x')] * 65, path='/fields')), 413)

    def test_broken_off(self):
        for path, head in (('/files/a', request('PUT', '/files/a', 'Content-Length: 1000')),
                           ('/files', request('POST', '/files', NAMED('a'), 'Content-Length: 1000')),
                           ('/multipart', form(part('f', 'x' * 2000, 'a'), path='/multipart')[:1000])):
            with self.subTest(path), self.server.connect() as wire:
                wire.send(head + b'x' * 100)
                wire.end()
                self.assertProblem(wire.read(), 400)
        self.assertNothing()

    def test_digest_of_what_came_back(self):
        data = pattern(10 * MIB)
        with self.server.connect(timeout=60) as wire:
            self.assertEqual(wire.ask(request('PUT', '/files/large', body=data)).status, 201)
            back = wire.ask(request('GET', '/files/large')).body
        self.assertEqual(hashlib.sha256(back).digest(), hashlib.sha256(data).digest())


class Limits(Case):
    def test_default_of_a_file(self):
        """1 GiB, which is refused by its length: nothing of it is waited for."""
        server = self.serve('--dir', self.folder(), program='tour')
        for ask in (request('PUT', '/files/a', f'Content-Length: {(1 << 30) + 1}', 'Expect: 100-continue'),
                    request('POST', '/files', NAMED('a'), f'Content-Length: {(1 << 30) + 1}', 'Expect: 100-continue'),
                    request('POST', '/multipart', 'Content-Type: multipart/form-data; boundary=x', f'Content-Length: {(1 << 30) + 1}',
                            'Expect: 100-continue')):
            self.assertProblem(server.ask(ask), 413)

    def test_max_size(self):
        folder = self.folder()
        server = self.serve('--dir', folder, '--max-size', 1000, program='tour')
        for framed in (True, False):
            for size, status in ((1000, 201), (1001, 413)):
                body = 'x' * size
                head = ('Content-Length: %d' % size,) if framed else ('Transfer-Encoding: chunked',)
                body = body if framed else chunked(body)
                self.assertEqual(server.ask(request('POST', '/files', NAMED(f'{size}'), *head, body=body)).status, status)
        self.assertEqual(os.listdir(folder), ['1000'])

    def test_what_a_killed_one_left(self):
        folder = self.folder()
        for name in ('.eddy-0123456789abcdef', '.other', 'file'):
            open(os.path.join(folder, name), 'w').close()
        self.serve('--dir', folder, program='tour').wait_for('tour: removed 1 ')
        self.assertEqual(sorted(os.listdir(folder)), ['.other', 'file'])


if __name__ == '__main__':
    unittest.main()
