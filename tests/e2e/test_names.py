"""Names of files that are out for more than the folder."""
import json
import os
import socket
import stat
import time
import unittest
import urllib.parse

from wire import Shared, has_dots, request

VECTORS = os.environ.get('EDDY_VECTORS')
SECRET = b'this stands outside of the folder'


class Names(Shared):
    @classmethod
    def setUpClass(cls):
        """The folder stands in another one, with a secret beside it."""
        super().setUpClass()
        cls.server.stop()
        cls.outside, cls.dir = cls.dir, os.path.join(cls.dir, 'folder')
        os.mkdir(cls.dir)
        for path in ('secret', 'folder/.hidden', 'folder/good'):
            with open(os.path.join(cls.outside, path), 'wb') as file:
                file.write(SECRET if path != 'folder/good' else b'good')
        os.mkdir(os.path.join(cls.dir, 'sub'))
        with open(os.path.join(cls.dir, 'sub', 'inner'), 'wb') as file:
            file.write(b'inner')
        from wire import Server
        cls.server = Server(cls.dir)
        cls.addClassCleanup(cls.server.stop)

    def tearDown(self):
        self.assertOutsideUntouched()

    def assertOutsideUntouched(self):
        self.assertEqual(sorted(os.listdir(self.outside)), ['folder', 'secret'])
        with open(os.path.join(self.outside, 'secret'), 'rb') as file:
            self.assertEqual(file.read(), SECRET)
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, 'sub'))), ['inner'])
        with open(os.path.join(self.dir, '.hidden'), 'rb') as file:
            self.assertEqual(file.read(), SECRET)

    def attack(self, raw, wire):
        """GET, PUT and DELETE of a name as it stands in the request line. Return: whether the connection goes on."""
        for method, body in (('GET', b''), ('PUT', b'attack'), ('DELETE', b'')):
            response = wire.ask(request(method, '/files/' + raw, body=body))
            self.assertNotIn(SECRET, response.body, raw)
            self.assertLess(response.status, 500, (raw, response))
            if method == 'GET':
                self.assertIn(response.status, (200, 400, 404, 405, 414) if has_dots(raw) else (400, 404, 414), (raw, response))
            if response.closes:
                return False
        return True

    def attack_all(self, names):
        wire = self.server.connect()
        for name in names:
            if not self.attack(name, wire):
                wire.close()
                wire = self.server.connect()
        wire.close()
        self.assertOutsideUntouched()
        # Whatever was written under an odd name was deleted under the same one.
        self.assertEqual(sorted(os.listdir(self.dir)), ['.hidden', 'good', 'sub'])

    def test_climbing(self):
        self.attack_all(('..', '../secret', '%2e%2e/secret', '%2e%2e%2fsecret', '..%2fsecret', '..%2Fsecret', '.%2e/secret', './../secret',
                         '%2e%2e', '%2e', '.', 'sub/../../secret', 'sub%2f..%2f..%2fsecret', '..%5csecret', '..\\secret', '//secret',
                         '%2fetc%2fpasswd', '/etc/passwd', '..;/secret', '%252e%252e%252fsecret', '..%00/secret', '%2e%2e%00',
                         '..%c0%afsecret', '%c0%ae%c0%ae/secret', '..%u2215secret', '....//secret', '...%2fsecret',
                         f'{self.outside}/secret', urllib.parse.quote(f'{self.outside}/secret', safe='')))

    def test_hidden(self):
        with self.server.connect() as wire:
            for name in ('.hidden', '%2ehidden', '.eddy-0123456789abcdef', '..%2f', '%2e%2f'):
                self.assertProblem(wire.ask(request('GET', f'/files/{name}')), 404)
                self.assertProblem(wire.ask(request('PUT', f'/files/{name}', body='x')), 400)
                self.assertProblem(wire.ask(request('DELETE', f'/files/{name}')), 404)

    def test_dot_segments_in_a_path(self):
        with self.server.connect() as wire:
            for path in ('/files/./good', '/files/%2e/good', '/files/x/../good', '/x/%2E%2e/files/good', '/files/./x/.%2e/./good'):
                self.assertEqual(wire.ask(request('GET', path)).body, b'good', path)
            self.assertEqual(wire.ask(request('PUT', '/files/./new', body='new')).status, 201)
            self.assertEqual(wire.ask(request('DELETE', '/files/x/../new')).status, 204)
        for path in ('/..', '/files/../../secret', '/%2e%2e/secret', '/files/.%2e/%2e./secret'):
            self.assertProblem(self.server.get(path), 400, 'the path leads above the root')

    def test_slash_inside(self):
        with self.server.connect() as wire:
            for name in ('a%2Fb', 'sub%2Finner', '%2F', 'good%2F', '%2Fgood'):
                self.assertProblem(wire.ask(request('GET', f'/files/{name}')), 404)
                self.assertProblem(wire.ask(request('PUT', f'/files/{name}', body='x')), 400)
                self.assertProblem(wire.ask(request('DELETE', f'/files/{name}')), 404)

    def test_nul_and_bad_escapes(self):
        with self.server.connect() as wire:
            for name in ('good%00', '%00', 'good%00.txt', '%', '%2', '%gg', 'good%'):
                for method in ('GET', 'PUT', 'DELETE'):
                    self.assertProblem(wire.ask(request(method, f'/files/{name}', body='x' * (method == 'PUT'))), 400)

    def test_length(self):
        with self.server.connect() as wire:
            for name, status in (('x' * 255, 201), ('ü' * 127 + 'x', 201), ('x' * 256, 400), ('ü' * 128, 400), ('x' * 4000, 400)):
                path = '/files/' + urllib.parse.quote(name)
                response = wire.ask(request('PUT', path, body='data'))
                self.assertEqual(response.status, status)
                if status == 201:
                    self.assertEqual(wire.ask(request('GET', path)).body, b'data')
                    self.assertEqual(wire.ask(request('DELETE', path)).status, 204)
                else:
                    self.assertProblem(wire.ask(request('GET', path)), 404)
                    self.assertProblem(wire.ask(request('DELETE', path)), 404)

    def test_control_bytes_and_invalid_utf8(self):
        with self.server.connect() as wire:
            for raw in ('a%01', '%0a', 'a%0d%0ab', '%7f', 'a%1fb', '%ff', 'a%c3', '%c0%80', '%ed%a0%80', '%f4%90%80%80', '%e2%82'):
                with self.subTest(raw):
                    self.assertProblem(wire.ask(request('PUT', f'/files/{raw}', body='x')), 400)
                    self.assertProblem(wire.ask(request('GET', f'/files/{raw}')), 400 if '%0d%0a' in raw else 404)

    def test_odd_but_good_names(self):
        names = ('a b', 'ü€😀', "it's", '"quoted"', '%41', 'a?b', 'a#b', 'a;b', 'a,b=c', '-', '--', '~', '~root', 'a.', 'a..b', 'CON', 'nul.txt',
                 '$(x)', '`x`', '<script>', '&amp;', '* ?', '|', ' ', ' a ', 'x.tar.gz', '\u202etxt.exe', 'a+b')
        with self.server.connect() as wire:
            for name in names:
                with self.subTest(name):
                    path = '/files/' + urllib.parse.quote(name, safe='')
                    response = wire.ask(request('PUT', path, body=name.encode()))
                    self.assertEqual((response.status, response.json()['name']), (201, name))
                    self.assertIn(name, os.listdir(self.dir))
                    self.assertIn(name, [f['name'] for f in wire.ask(request('GET', '/api/files')).json()['files']])
                    self.assertEqual(wire.ask(request('GET', path)).body, name.encode())
                    self.assertEqual(wire.ask(request('DELETE', path)).status, 204)

    def test_links(self):
        links = {'out': '../secret', 'absolute': os.path.join(self.outside, 'secret'), 'loop': 'loop', 'dangling': 'nowhere', 'folder': 'sub',
                 'proc': '/proc/self/root/etc/passwd', 'up': '..', 'root': '/', 'null': '/dev/null', 'self': '/proc/self/fd/0'}
        for name, target in links.items():
            os.symlink(target, self.path(name))
        try:
            with self.server.connect() as wire:
                self.assertEqual(wire.ask(request('GET', '/files/folder')).status, 301)
                for name in set(links) - {'folder'}:
                    with self.subTest(name):
                        self.assertProblem(wire.ask(request('GET', f'/files/{name}')), 404)
                        self.assertProblem(wire.ask(request('DELETE', f'/files/{name}')), 404)
                # Writing replaces the link, not what it points to.
                self.assertIn(wire.ask(request('PUT', '/files/out', body='x')).status, (200, 201, 409))
                self.assertOutsideUntouched()
                self.assertNotIn(SECRET, wire.ask(request('GET', '/files/out')).body)
        finally:
            for name in links:
                os.unlink(self.path(name))

    def test_link_inside(self):
        os.symlink('good', self.path('link'))
        try:
            self.assertIn(self.server.get('/files/link').status, (200, 404))
        finally:
            os.unlink(self.path('link'))

    def test_what_is_no_file(self):
        os.mkfifo(self.path('fifo'))
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(self.path('socket'))
        names = ['fifo', 'socket']
        if os.geteuid() == 0:
            os.mknod(self.path('null'), stat.S_IFCHR | 0o666, os.makedev(1, 3))
            os.mknod(self.path('zero'), stat.S_IFCHR | 0o666, os.makedev(1, 5))
            names += ['null', 'zero']
        try:
            with self.server.connect() as wire:
                self.assertProblem(wire.ask(request('DELETE', '/files/sub')), 404)
                for name in names:
                    began = time.monotonic()
                    for method in ('GET', 'HEAD', 'DELETE'):
                        response = wire.ask(request(method, f'/files/{name}'), head=method == 'HEAD')
                        self.assertEqual(response.status, 404, (method, name))
                    self.assertLess(time.monotonic() - began, 5)
                self.assertEqual([f['name'] for f in wire.ask(request('GET', '/api/files')).json()['files']], ['good', 'sub'])
        finally:
            for name in names:
                os.unlink(self.path(name))

    def test_errors_say_nothing_of_the_server(self):
        for data in (request('GET', '/files/nowhere'), request('PUT', '/files/sub', body='x'), request('GET', '/files/sub')):
            body = self.server.ask(data).body.decode()
            self.assertNotIn(self.outside, body)
            self.assertNotIn('directory', body.lower().replace('not a directory', 'directory'))

    @unittest.skipUnless(VECTORS, 'needs EDDY_VECTORS')
    def test_vectors(self):
        folder = os.path.join(VECTORS, 'paths')
        names = []
        for file in sorted(os.listdir(folder)):
            with open(os.path.join(folder, file), errors='surrogateescape') as f:
                names += json.load(f) if file.endswith('.json') else f.read().splitlines()
        raw, seen = [], set()
        for name in names:
            name = name.replace('{FILE}', 'secret').replace('{EXT}', 'txt')
            data = name.encode('utf-8', 'surrogateescape')
            # As it is, where a request line can hold it; and with everything escaped.
            if data and all(0x20 < b < 0x7f for b in data) and b'#' not in data and b'?' not in data:
                raw.append(name.lstrip('/'))
            raw.append(urllib.parse.quote(data, safe=''))
        raw = [r for r in raw if r not in ('', 'good') and len(r) < 7000 and not (r in seen or seen.add(r))]
        self.assertGreater(len(raw), 500)
        self.attack_all(raw)


if __name__ == '__main__':
    unittest.main()
