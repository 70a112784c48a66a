"""Who may do what to a folder: pages of other sites may not."""
import os
import shutil
import socket
import unittest

from wire import Case, Shared, request


class Guards(Shared):
    """Bound to loopback."""

    def setUp(self):
        self.write('file', 'data')

    def tearDown(self):
        for name in self.names():
            os.unlink(self.path(name))

    def changes(self, *headers, host='localhost'):
        """The statuses of all that changes something."""
        form = b'--x\r\nContent-Disposition: form-data; name="f"; filename="form"\r\n\r\ndata\r\n--x--\r\n'
        with self.server.connect() as wire:
            return [wire.ask(request('PUT', '/files/new', *headers, body='x', host=host)).status,
                    wire.ask(request('POST', '/files', 'Content-Type: multipart/form-data; boundary=x', *headers, body=form, host=host)).status,
                    wire.ask(request('DELETE', '/files/file', *headers, host=host)).status]

    def assertAllowed(self, *headers, **options):
        self.assertEqual(self.changes(*headers, **options), [201, 201, 204])
        self.assertEqual(self.names(), ['form', 'new'])

    def assertForbidden(self, *headers, **options):
        self.assertEqual(self.changes(*headers, **options), [403] * 3)
        self.assertEqual(self.names(), ['file'])

    def test_without_a_browser(self):
        self.assertAllowed()

    def test_own_page(self):
        for host in ('localhost', 'localhost:7878', '127.0.0.1:7878', '[::1]:7878'):
            with self.subTest(host):
                self.setUp()
                self.assertAllowed(f'Origin: http://{host}', 'Sec-Fetch-Site: same-origin', host=host)
                self.tearDown()

    def test_other_origins(self):
        for origin in ('http://evil.example', 'null', 'http://localhost:1', 'https://localhost.evil.example', 'http://127.0.0.1:7878', '',
                       'localhost:7878', 'http://', 'http://localhost:7878/', 'file://', 'http://localhost:7878.evil.example',
                       'http://evil.example, http://localhost:7878'):
            with self.subTest(origin):
                self.assertForbidden(f'Origin: {origin}', host='localhost:7878')

    def test_cross_site(self):
        self.assertForbidden('Sec-Fetch-Site: cross-site')
        self.assertForbidden('Sec-Fetch-Site: cross-site', 'Origin: http://localhost')

    def test_refused_before_the_body(self):
        with self.server.connect() as wire:
            response = wire.ask(request('PUT', '/files/new', 'Origin: http://evil.example', 'Content-Length: 100000000', 'Expect: 100-continue'))
            self.assertProblem(response, 403)
            self.assertTrue(response.closes)

    def test_reading_is_open_to_links(self):
        response = self.server.get('/files/file', 'Origin: http://evil.example', 'Sec-Fetch-Site: cross-site')
        self.assertEqual(response.status, 200)
        self.assertIsNone(response.header('access-control-allow-origin'))

    def test_names_of_this_machine(self):
        for host in ('localhost', 'LocalHost', 'localhost:7878', 'localhost.', '127.0.0.1', '127.1.2.3:80', '[::1]', '10.0.0.1', '[fe80::1]:80'):
            with self.subTest(host), self.server.connect() as wire:
                self.assertEqual(wire.ask(request('GET', '/', host=host)).status, 200)

    def test_rebinding(self):
        for host in ('evil.example', 'evil.example:7878', 'localhost.evil.example', '127.0.0.1.evil.example', 'xlocalhost'):
            with self.subTest(host):
                for path in ('/', '/api/files', '/files/file', '/nowhere'):
                    self.assertProblem(self.server.ask(request('GET', path, host=host)), 403)
                self.assertForbidden(host=host)
        self.assertProblem(self.server.ask(request('GET', 'http://evil.example/', host='localhost')), 403)
        self.assertEqual(self.server.ask(request('GET', 'http://localhost/', host='evil.example')).status, 200)

    def test_every_answer_is_hardened(self):
        for data in (request('GET', '/'), request('GET', '/nowhere'), request('GET', '/', host='evil.example'), request('PUT', '/'),
                     request('OPTIONS', '/'), 'nonsense\r\n\r\n', request('GET', '/files/%'), request('DELETE', '/files/nowhere')):
            with self.subTest(data):
                self.assertEqual(self.server.ask(data).header('x-content-type-options'), 'nosniff')

    def test_page(self):
        response = self.server.get('/')
        self.assertEqual(response.header('content-type'), 'text/html; charset=utf-8')
        policy = response.header('content-security-policy')
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn('http', policy)
        self.assertNotIn('unsafe', policy)
        self.assertNotRegex(response.body.decode(), r'(?:src|href)="https?://')

    def test_preflight(self):
        """A preflight gives nothing away."""
        response = self.server.get('/files/x', 'Origin: http://evil.example', 'Access-Control-Request-Method: PUT', method='OPTIONS')
        self.assertFalse([h for h in response.headers if h[0].startswith('access-control')])


class Elsewhere(Case):
    def test_host_whatever_it_is_bound_to(self):
        name = socket.gethostname()
        label = name.partition('.')[0]
        good = 'localhost', '127.0.0.1:80', '192.0.2.1', '[2001:db8::1]:80', name, f'{name}:7878', label.upper(), f'{label}.local', f'{label}.LOCAL.:80'
        bad = 'nas.example', f'{label}.local.example', f'{label}.example', f'x{label}', f'{label}x.local', f'x.{label}.local', 'local', '.local'
        for bind in ('0.0.0.0:0', '127.0.0.1:0', 'unix:' + os.path.join(self.folder(), 'socket')):
            server = self.serve(self.folder(), bind=bind)
            for hosts, status in ((good, 200), (bad, 403)):
                for host in hosts:
                    with self.subTest((bind, host)):
                        self.assertEqual(server.ask(request('GET', '/', host=host)).status, 400 if host == '.local' else status)
            self.assertEqual(server.ask(request('PUT', '/files/x', 'Origin: http://evil.example', body='x', host=name)).status, 403)
            self.assertEqual(server.ask(request('PUT', '/files/x', f'Origin: http://{name}', body='x', host=name)).status, 201)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which('unshare'), 'needs root, for a name of its own')
    def test_host_of_a_machine_with_a_longer_name(self):
        """Of a whole name, and its first label."""
        server = self.serve(self.folder(), wrap=('unshare', '--uts', 'sh', '-c', 'hostname nas.home.example && exec "$0" "$@"'))
        for host, status in (('nas', 200), ('nas.local', 200), ('NAS.home.example', 200), ('nas.home', 403), ('home.example', 403),
                             ('nas.home.example.local', 403), ('nas.example', 403)):
            self.assertEqual(server.ask(request('GET', '/', host=host)).status, status, host)

    def test_loopback_however_it_is_written(self):
        for address in ('localhost:0', 'LOCALHOST:0', '127.0.0.1:0', '127.1.2.3:0'):
            with self.subTest(address):
                server = self.serve(self.folder(), bind=address)
                from wire import Wire
                with Wire(server.port, address='127.1.2.3' if '127.1' in address else '127.0.0.1') as wire:
                    self.assertEqual(wire.ask(request('GET', '/', host='evil.example')).status, 403)

    def test_no_upload(self):
        folder = self.folder()
        with open(os.path.join(folder, 'file'), 'w') as file:
            file.write('data')
        server = self.serve(folder, '--no-upload')
        with server.connect() as wire:
            for method, path in (('PUT', '/files/x'), ('POST', '/files'), ('DELETE', '/files/file'), ('PUT', '/files/file')):
                self.assertProblem(wire.ask(request(method, path, body='x')), 403)
            self.assertEqual(wire.ask(request('GET', '/files/file')).body, b'data')
            self.assertEqual(wire.ask(request('GET', '/')).status, 200)
        self.assertEqual(os.listdir(folder), ['file'])


if __name__ == '__main__':
    unittest.main()
