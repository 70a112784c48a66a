"""What the program files gives to browsers, on the wire; page.mjs looks at it in one."""
# needs: chromium npm
import os
import re
import unittest

from wire import Case, Shared, form, part, request

POLICY = r"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; frame-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "


class Page(Shared):
    def tearDown(self):
        for name in self.names():
            os.unlink(self.path(name))

    def plain(self):
        response = self.server.get('/plain')
        self.assertEqual(response.status, 200)
        return response.body.decode()

    def test_all_that_the_page_asks_for_is_there(self):
        page = self.server.get('/').body.decode()
        paths = re.findall(r'(?:src|href)="(page/[^"]+)"', page)
        scripts = set(filter(lambda path: path.endswith('.js'), paths))
        for path in paths:
            response = self.server.get('/' + path)
            self.assertEqual((response.status, response.header('x-content-type-options')), (200, 'nosniff'), path)
            # What a module imports is named in the page as well: it is not found out one by one.
            for name in re.findall(r"from '\./([^']+)'", response.body.decode()):
                self.assertIn(f'page/{name}', scripts, path)
        for name in ('index.html', 'plain.html', 'failed.html', 'page.h', ''):
            self.assertEqual(self.server.get(f'/page/{name}').status, 404, name)

    def test_fields(self):
        for path in ('/', '/plain', '/page/page.js'):
            response = self.server.get(path)
            self.assertIn(POLICY, response.header('content-security-policy'))
            self.assertEqual(response.header('referrer-policy'), 'same-origin')
            self.assertEqual(response.header('x-content-type-options'), 'nosniff')

    def test_names_are_text(self):
        self.write('<script>alert(1)<', 'x')
        self.write('a&b"c\'d', 'x')
        self.write('turned\u202e\u2066\x9f\ufeffround', 'x')
        self.write('bell\x07', 'x')
        self.write('100% #?+é/'.rstrip('/'), 'x')
        text = self.plain()
        for tag in ('<script', '\u202e', '\u2066', '\x07', '\x9f', '\ufeff'):
            self.assertNotIn(tag, text)
        self.assertIn('href="files/%3Cscript%3Ealert%281%29%3C"><bdi>&#60;script&#62;alert(1)&#60;</bdi>', text)
        self.assertIn('<bdi>a&#38;b&#34;c&#39;d</bdi>', text)
        self.assertNotIn('bell', text)
        self.assertIn('<bdi>turned' + 4 * '\ufffd' + 'round</bdi>', text)
        self.assertIn('href="files/100%25%20%23%3F%2B%C3%A9"', text)

    def test_sizes(self):
        for i, (size, text) in enumerate(((0, '0 bytes'), (1, '1 byte'), (999, '999 bytes'), (1000, '1 kB'), (1234, '1.23 kB'), (12345, '12.3 kB'),
                                          (999499, '999 kB'), (999500, '1 MB'), (5 << 30, '5.37 GB'))):
            with open(self.path(f'{i}'), 'wb') as file:
                file.truncate(size)
            self.assertIn(f'<bdi>{i}</bdi></a></td><td role="cell" class="size">{text}</td>', self.plain())

    def test_form(self):
        self.write('there', 'old')
        response = self.server.ask(form(part('files', 'new', 'there'), part('files', 'too', 'b.txt'), path='/plain'))
        self.assertEqual((response.status, response.header('location')), (303, 'plain'))
        self.assertEqual(self.names(), ['b.txt', 'there'])
        with open(self.path('there')) as file:
            self.assertEqual(file.read(), 'new')

    def test_slash_behind_the_path(self):
        """Relative links would lead below it; a proxy's prefix stays as it is."""
        for asked in (request('GET', '/plain/'), form(part('files', 'x', 'x'), path='/plain/')):
            response = self.server.ask(asked)
            self.assertEqual((response.status, response.header('location')), (308, '../plain'))
        self.assertEqual(self.names(), [])

    def test_form_of_another_site(self):
        upload = form(part('files', 'x', 'x'), path='/plain').replace(b'\r\n', b'\r\nOrigin: http://evil.example\r\n', 1)
        response = self.server.ask(upload)
        self.assertEqual((response.status, response.header('content-type')), (403, 'text/html; charset=utf-8'))
        self.assertIn(b'does not allow', response.body)
        self.assertEqual(self.names(), [])

    def test_errors_elsewhere_are_problems(self):
        self.assertProblem(self.server.get('/nowhere'), 404)


class Folder(Case):
    def test_folder_that_is_gone(self):
        folder = self.folder()
        server = self.serve(folder)
        os.rmdir(folder)
        for path in ('/api/files', '/plain'):
            self.assertIn(server.get(path).status, (200, 503))
        os.mkdir(folder)

    def test_read_only(self):
        server = self.serve(self.folder(), '--no-upload')
        self.assertNotIn(b'<form', server.get('/plain').body)
        self.assertIn(b'data-upload="no"', server.get('/').body)
        self.assertProblem(server.ask(form(part('files', 'x', 'x'), path='/plain')), 403)

    def test_folder_of_somebody_else(self):
        """It is read-only for the page from the start, and who writes all the same hears whose fault it is."""
        if os.geteuid():
            self.skipTest('needs root, to run the server as somebody else')
        folder = self.folder()
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, 'file'), 'w') as file:
            file.write('x')
        server = self.serve(folder, wrap=('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'))
        self.assertIn(b'data-upload="no"', server.get('/').body)
        self.assertNotIn(b'<form', server.get('/plain').body)
        for change in (request('PUT', '/files/new', body='x'), request('PUT', '/files/file', body='x'), form(part('f', 'x', 'x')),
                       request('DELETE', '/files/file')):
            self.assertProblem(server.ask(change), 403, 'the server has no permission to write to its folder')
        response = server.ask(form(part('files', 'x', 'x'), path='/plain'))
        self.assertEqual(response.status, 403)
        self.assertIn(b'the server has no permission to write', response.body)
        self.assertEqual(os.listdir(folder), ['file'])


if __name__ == '__main__':
    unittest.main()
