"""Folders of the program files: the index, making, moving and removing, and what stays out of reach."""
import html.parser
import json
import os
import re
import socket
import unittest
import urllib.parse

from wire import Case, form, has_dots, in_threads, part, pattern, request

SECRET = b'this stands outside of the folder'
HOSTILE = ('..', '../secret', '%2e%2e/secret', 'sub/../../secret', 'sub/%2e%2e%2f%2e%2e%2fsecret', '%2fetc/passwd', 'sub//inner', '/secret', 'sub%2Finner',
           'sub/.hidden', '.hidden/x', 'sub/.hid/inner', 'up/secret', 'out', 'out/x', 'root/etc/passwd', 'sub/proc', 'sub/proc/cwd', 'loop', 'loop/x',
           'sub/a%0ab', 'sub/a%7fb', 'sub/%ff', 'sub/a%c0%afb', 'sub/inner/x', 'x' * 256, 'sub/' + 'x' * 256, 'a/' * 2000 + 'x')


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ('href', 'src')]


class Folders(Case):
    """A folder stands in another one, with a secret beside it."""

    def setUp(self):
        super().setUp()
        self.outside = self.folder()
        self.dir = os.path.join(self.outside, 'folder')
        for folder in ('sub/deep', 'sub/empty', 'sub/.hid', '.hidden'):
            os.makedirs(self.path(folder))
        for name, data in {'top': b'top', 'sub/inner': b'inner', 'sub/deep/ü x?.txt': b'deep', 'sub/.hidden': SECRET, 'sub/.hid/inner': SECRET,
                           '../secret': SECRET}.items():
            self.write(name, data)
        for name, target in {'up': '..', 'out': '../secret', 'root': '/', 'loop': 'loop', 'sub/proc': '/proc/self', 'sub/dangling': 'nowhere',
                             'sub/in': '../top', 'sub/around': '../sub/deep'}.items():
            os.symlink(target, self.path(name))
        os.mkfifo(self.path('sub/fifo'))
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(self.path('sub/socket'))
        for name in (b'sub/bad\xff', b'sub/new\nline', b'sub/del\x7f'):
            with open(os.path.join(self.dir.encode(), name), 'wb'):
                pass
        self.server = self.serve(self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)

    def tearDown(self):
        self.assertEqual(sorted(os.listdir(self.outside)), ['folder', 'secret'])
        with open(os.path.join(self.outside, 'secret'), 'rb') as file:
            self.assertEqual(file.read(), SECRET)

    def tree(self):
        """All that is there and public."""
        return sorted(os.path.relpath(os.path.join(path, name), self.dir) for path, folders, files in os.walk(self.dir) for name in folders + files)

    def move(self, *args, **members):
        body = dict(zip(('from', 'to', 'replace'), args), **members)
        return self.server.ask(request('POST', '/api/move', 'Content-Type: application/json', body=json.dumps(body)))

    def listed(self, path):
        return {entry['name']: entry['type'] for entry in self.server.get(f'/api/files?path={path}').json()['files']}

    # ---- reading ----

    def test_json(self):
        response = self.server.get('/api/files')
        self.assertEqual(response.json()['path'], '')
        self.assertEqual(self.listed(''), {'sub': 'folder', 'top': 'file'})
        for query, headers in (('/api/files?path=sub', ()), ('/api/files?path=sub/', ()), ('/files/sub/', ('Accept: application/json',)),
                               ('/files/sub/', ('Accept: application/json, text/plain, */*',))):
            response = self.server.get(query, *headers)
            self.assertEqual((response.status, response.header('content-type')), (200, 'application/json'))
            body = response.json()
            self.assertEqual(body['path'], 'sub')
            self.assertEqual([(entry['name'], entry['type']) for entry in body['files']],
                             [('around', 'folder'), ('deep', 'folder'), ('empty', 'folder'), ('in', 'file'), ('inner', 'file')])
            for entry in body['files']:
                self.assertEqual(set(entry), {'name', 'size', 'mtime', 'type'})
                self.assertEqual(entry['size'] is None, entry['type'] == 'folder')
                self.assertRegex(entry['mtime'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
            self.assertEqual({e['name']: e['size'] for e in body['files']}['in'], 3)
        self.assertEqual(self.server.get('/api/files?path=sub%2Fdeep').json(), self.server.get('/api/files?path=sub/deep').json())
        self.assertEqual(self.listed('sub/around'), {'ü x?.txt': 'file'})

    def test_json_of_no_folder(self):
        for path in ('nowhere', 'top', 'sub/inner', 'sub/nowhere', 'sub//deep', '/', '/sub', 'sub//', '.hidden', 'sub/.hid', '..', 'sub/..', '.', 'up', 'root',
                     'out', 'sub/proc', '%ff', 'a%00b', 'sub%00', 'x' * 300):
            self.assertProblem(self.server.get(f'/api/files?path={path}'), 404)

    def test_index(self):
        for path, links in (('/files/', ['sub/', 'top']), ('/files/sub/', ['../', 'around/', 'deep/', 'empty/', 'in', 'inner']),
                            ('/files/sub/deep/', ['../', '%C3%BC%20x%3F.txt']), ('/files/sub/empty/', ['../'])):
            response = self.server.get(path, 'Accept: text/html,application/xhtml+xml,application/json;q=0.1')
            self.assertEqual((response.status, response.header('content-type')), (200, 'text/html; charset=utf-8'))
            self.assertIn('accept', response.header('vary'))
            self.assertEqual(Links(response.body.decode()).links, links)
            self.assertEqual(self.server.get(path).body, response.body)
            for link in links:
                self.assertEqual(self.server.get(urllib.parse.urljoin(path, link)).status, 200)

    def test_index_is_escaped(self):
        for name in ('<script>alert(1)<', 'a&amp;b', '"quoted"', "it's", 'javascript:alert(1)', '?zip', '#', '%2e%2e'):
            self.write('sub/deep/' + name, name.encode())
        body = self.server.get('/files/sub/deep/').body.decode()
        self.assertNotIn('<script', body)
        links = Links(body).links
        self.assertIn('javascript%3Aalert%281%29', links)
        for link in links[1:]:
            self.assertRegex(link, r'^[A-Za-z0-9%._~-]+$')
            name = urllib.parse.unquote(link)
            self.assertEqual(self.server.get('/files/sub/deep/' + link).body, b'deep' if name == 'ü x?.txt' else name.encode())

    def test_redirects(self):
        for path, want in (('/files', '/files/'), ('/files/sub', '/files/sub/'), ('/files/sub/deep', '/files/sub/deep/'), ('/files/sub?zip', '/files/sub/?zip'),
                           ('/files/sub/around', '/files/sub/around/'), ('/files/s%75b', '/files/s%75b/')):
            for method in ('GET', 'HEAD'):
                response = self.server.get(path, method=method)
                self.assertEqual((response.status, urllib.parse.urljoin(path, response.header('location'))), (301, want))
        self.assertProblem(self.server.get('/files/sub/empty/nowhere'), 404)
        self.assertProblem(self.server.get('/files/top/'), 404)

    def test_files(self):
        for path, body in (('/files/sub/inner', b'inner'), ('/files/sub/deep/%C3%BC%20x%3F.txt', b'deep'), ('/files/sub/in', b'top'),
                           ('/files/sub/around/%c3%bc%20x%3f.txt', b'deep')):
            response = self.server.get(path)
            self.assertEqual((response.status, response.body), (200, body))
            self.assertNotIn('/', response.header('content-disposition').replace("''", ''))
            self.assertEqual(self.server.ask(request('GET', path, 'Range: bytes=1-2')).body, body[1:3])
        self.assertEqual(self.server.get('/files/sub/inner').header('content-disposition'), "attachment; filename=\"inner\"; filename*=UTF-8''inner")

    def test_hostile_paths(self):
        with self.server.connect() as wire:
            for path in HOSTILE:
                before = self.tree()
                for slash in ('', '/'):
                    for data in (request('GET', f'/files/{path}{slash}'), request('HEAD', f'/files/{path}{slash}'), request('GET', f'/files/{path}{slash}?zip'),
                                 request('DELETE', f'/files/{path}{slash}'), request('GET', f'/files/{path}{slash}', 'Accept: application/json')):
                        response = self.server.ask(data, head=data.startswith(b'HEAD'))
                        self.assertIn(response.status, (200, 400, 404, 405) if has_dots(path) else (400, 404, 414), (data, response))
                        self.assertNotIn(SECRET, response.body)
                self.assertEqual(self.tree(), before, path)
            self.assertServes(wire)

    def test_hostile_paths_to_write(self):
        for path in HOSTILE:
            if path in ('up/secret', 'out', 'loop', 'sub/proc'):
                continue
            before = self.tree()
            for data in (request('PUT', f'/files/{path}', body='x'), request('PUT', f'/files/{path}/'),
                         form(part('f', b'x', 'new'), path=f'/files/{path}/')):
                response = self.server.ask(data)
                self.assertIn(response.status, (400, 404, 405, 409, 414), (data, response))
            self.assertEqual(self.tree(), before, path)
        self.assertProblem(self.server.ask(request('PUT', '/files/up/secret', body='x')), 404)
        # A link is replaced, not followed.
        self.assertEqual(self.server.ask(request('PUT', '/files/out', body='x')).status, 200)
        self.assertFalse(os.path.islink(self.path('out')))

    def test_links_to_folders_are_not_replaced(self):
        os.mkdir(self.path('sub2'))
        os.symlink('sub2', self.path('link'))
        before = self.tree()
        self.assertProblem(self.server.ask(request('PUT', '/files/link', body='x')), 409)
        self.assertProblem(self.move('top', 'link', True), 409)
        self.assertEqual(self.tree(), before)

    def test_download_and_view(self):
        for name, data in {'a.html': b'<script>alert(1)</script>', 'b.pdf': b'%PDF-1.4', 'c.svg': b'<svg/>', 'ü".txt': b'x'}.items():
            self.write(f'sub/{name}', data)
            path = f'/files/sub/{urllib.parse.quote(name)}'
            plain, asked, view = (self.server.get(path + query) for query in ('', '?download', '?view'))
            self.assertEqual((plain.body, asked.body, view.body), (data, data, data))
            self.assertEqual((plain.header('content-disposition'), asked.header('content-security-policy')), (asked.header('content-disposition'), None))
            self.assertTrue(plain.header('content-disposition').startswith('attachment; filename='))
            self.assertEqual(view.header('content-disposition'), plain.header('content-disposition').replace('attachment', 'inline', 1))
            self.assertEqual(view.header('content-security-policy'),
                             "default-src 'none'; frame-ancestors 'self'" if name == 'b.pdf' else 'sandbox')
            self.assertEqual((view.header('x-content-type-options'), view.header('etag')), ('nosniff', plain.header('etag')))
        part_of = self.server.ask(request('GET', '/files/sub/c.svg?view', 'Range: bytes=0-1'))
        self.assertEqual((part_of.status, part_of.body, part_of.header('content-security-policy')), (206, b'<s', 'sandbox'))
        self.assertProblem(self.server.ask(request('GET', '/files/sub/c.svg?view', 'Range: bytes=100-')), 416)
        self.assertProblem(self.server.get('/files/sub/nowhere?view'), 404)
        self.assertEqual(self.server.get('/files/sub/?view').header('content-type'), 'text/html; charset=utf-8')

    # ---- writing ----

    def test_put_and_delete(self):
        for path, status in (('sub/new', 201), ('sub/new', 200), ('sub/deep/a b', 201), ('sub/around/c', 201)):
            response = self.server.ask(request('PUT', '/files/' + urllib.parse.quote(path), body=pattern(1000)))
            self.assertEqual((response.status, response.json()), (status, {'name': path.rpartition('/')[2], 'size': 1000}))
            self.assertEqual(self.server.get('/files/' + urllib.parse.quote(path)).body, pattern(1000))
        for path, status in (('sub/new', 204), ('sub/new', 404), ('sub/deep/a%20b', 204), ('sub/deep/c', 204), ('sub/deep', 404), ('sub/dangling', 404),
                             ('sub/fifo', 404), ('sub/in', 204)):
            self.assertEqual(self.server.get(f'/files/{path}', method='DELETE').status, status, path)
        self.assertEqual(self.server.get('/files/top').body, b'top')
        for path, status in (('nowhere/x', 404), ('sub/nowhere/x', 404), ('top/x', 404), ('sub/deep', 409)):
            self.assertProblem(self.server.ask(request('PUT', f'/files/{path}', body='x')), status)

    def test_remove_a_folder_with_leftovers(self):
        """Hidden files of uploads that a killed server has left, but no others."""
        os.mkdir(self.path('left'))
        for name in ('.eddy-0123456789abcdef', '.other'):
            self.write(f'left/{name}', b'x')
        self.assertProblem(self.server.get('/files/left/', method='DELETE'), 409, 'the folder is not empty')
        self.assertEqual(os.listdir(self.path('left')), ['.other'])
        self.write('left/.eddy-0123456789abcdef', b'x')
        os.unlink(self.path('left/.other'))
        self.assertEqual(self.server.get('/files/left/', method='DELETE').status, 204)
        self.assertFalse(os.path.exists(self.path('left')))

    def test_forms(self):
        for path in ('/files/sub/deep/', '/files/', '/files'):
            response = self.server.ask(form(part('f', b'one', 'one'), part('f', b'two', 'dir/two'), path=path))
            self.assertEqual((response.status, [f['name'] for f in response.json()['files']]), (201, ['one', 'two']))
        self.assertEqual(self.server.get('/files/sub/deep/two').body, b'two')
        self.assertEqual(self.server.get('/files/two').body, b'two')
        for path in ('/files/nowhere/', '/files/top/'):
            self.assertProblem(self.server.ask(form(part('f', b'x', 'x'), path=path)), 404)

    def test_make_and_remove(self):
        for path, status, name in (('a/', 201, 'a'), ('a/', 200, 'a'), ('a/b%20c/', 201, 'b c'), ('sub/around/', 200, 'around')):
            response = self.server.get(f'/files/{path}', method='PUT')
            self.assertEqual((response.status, response.json()), (status, {'name': name}))
        self.assertEqual(self.listed('a'), {'b c': 'folder'})
        self.assertEqual(self.server.get('/files/', method='PUT').status, 200)
        for path, status in (('top/', 409), ('sub/in/', 409), ('sub/fifo/', 409), ('nowhere/a/', 404), ('x' * 256 + '/', 400)):
            self.assertProblem(self.server.get(f'/files/{path}', method='PUT'), status)
        for path, status in (('a/', 409), ('a/b%20c/', 204), ('a/', 204), ('a/', 404), ('sub/', 409), ('top/', 404), ('', 403), ('sub/dangling/', 404),
                             ('sub/around/', 204), ('sub/.hid/', 404)):
            self.assertEqual(self.server.get(f'/files/{path}', method='DELETE').status, status, path)
        self.assertTrue(os.path.isdir(self.path('sub/deep')))

    def test_move(self):
        for arguments, status in ((('top', 'sub/top2'), 200), (('sub/top2', 'sub/inner'), 409), (('sub/top2', 'sub/inner', False), 409),
                                  (('sub/top2', 'sub/inner', True), 200), (('sub/top2', 'x'), 404), (('sub/deep', 'deep2'), 200), (('deep2', 'sub/empty'), 409),
                                  (('deep2', 'sub/empty', True), 409), (('sub/inner', 'sub/empty', True), 409), (('sub/inner', 'sub/empty'), 409),
                                  (('sub/inner', 'nowhere/x'), 404), (('nowhere', 'x'), 404), (('sub/inner/x', 'x'), 404), (('sub/inner', 'deep2/x/y'), 404),
                                  (('sub', 'sub/empty/x'), 409), (('deep2', 'sub/inner', True), 409), (('sub/inner', 'sub/inner'), 409), (('sub/in', 'in'), 404)):
            response = self.move(*arguments)
            self.assertEqual(response.status, status, (arguments, response))
            if status == 200:
                self.assertEqual(response.json(), dict(zip(('from', 'to'), arguments)))
        self.assertEqual(self.server.get('/files/sub/inner').body, b'top')
        self.assertEqual(self.listed('deep2'), {'ü x?.txt': 'file'})
        self.assertEqual(self.move('deep2/ü x?.txt', 'ä').status, 200)
        self.assertEqual(self.server.get('/files/%C3%A4').body, b'deep')

    def test_move_across_the_edge(self):
        before = self.tree()
        for source, target in (('../secret', 'x'), ('out', 'x'), ('up/secret', 'x'), ('root/etc/passwd', 'x'), ('.hidden', 'x'), ('sub/.hidden', 'x'),
                               ('sub/proc', 'x'), ('sub/dangling', 'x'), ('sub/fifo', 'x'), ('', 'x'), ('/top', 'x'), ('top/', 'x'), ('.', 'x'), ('sub/..', 'x'),
                               ('sub//inner', 'x'), ('top\n', 'x'), ('to\u0000p', 'x')):
            self.assertIn(self.move(source, target).status, (400, 404), source)
        for target in ('../x', '/x', 'up/x', 'root/tmp/x', '.x', 'sub/.hid/x', 'sub/.x', '', '.', '..', 'sub/', 'sub//x', 'x\n', 'x\u007f', 'sub/proc/x', 'x' * 256):
            self.assertIn(self.move('top', target).status, (400, 404), target)
            self.assertIn(self.move('top', target, True).status, (400, 404), target)
        for body in ('', '[]', '{}', '{"from":"top"}', '{"from":1,"to":"x"}', '{"from":"top","to":"x","replace":"yes"}', '{"from":"top","to":"\\ud800"}'):
            self.assertIn(self.server.ask(request('POST', '/api/move', 'Content-Type: application/json', body=body)).status, (400, 415, 422), body)
        self.assertEqual(self.server.ask(request('POST', '/api/move', body='{"from":"top","to":"x"}')).status, 415)
        self.assertEqual(self.server.get('/api/move').status, 405)
        self.assertEqual(self.tree(), before)

    def test_moves_at_once(self):
        """Only one of many gets the name, and nothing is lost."""
        for i in range(20):
            self.write(f'sub/{i}', str(i).encode())
        won = []

        def move(i):
            if self.move(f'sub/{i}', 'won').status == 200:
                won.append(i)
        in_threads(20, move)
        self.assertEqual(len(won), 1)
        self.assertEqual(self.server.get('/files/won').body, str(won[0]).encode())
        self.assertEqual(len([name for name in os.listdir(self.path('sub')) if name.isdigit()]), 19)

    def test_origin(self):
        before = self.tree()
        for data in (request('POST', '/api/move', 'Content-Type: application/json', 'Origin: http://evil.example', body='{"from":"top","to":"x"}'),
                     request('POST', '/api/move', 'Content-Type: text/plain', 'Sec-Fetch-Site: cross-site', body='{"from":"top","to":"x"}'),
                     request('PUT', '/files/x/', 'Origin: http://evil.example'), request('DELETE', '/files/sub/empty/', 'Origin: null'),
                     request('PATCH', '/files/top', 'Origin: http://evil.example', body='x'), form(part('f', b'x', 'x'), path='/files/sub/').replace(
                         b'\r\n\r\n', b'\r\nOrigin: http://evil.example\r\n\r\n', 1)):
            self.assertProblem(self.server.ask(data), 403)
        self.assertEqual(self.tree(), before)

    def test_no_method_override(self):
        before = self.tree()
        for field in ('X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'):
            for method in ('DELETE', 'PUT', 'PATCH'):
                for verb in ('GET', 'POST'):
                    self.server.ask(request(verb, '/files/sub/empty/', f'{field}: {method}'))
                    self.server.ask(request(verb, '/files/top', f'{field}: {method}'))
        self.server.get('/files/top?_method=DELETE')
        self.assertEqual(self.tree(), before)


class Others(Case):
    def test_no_upload(self):
        folder = self.folder()
        os.makedirs(os.path.join(folder, 'sub', 'empty'))
        with open(os.path.join(folder, 'sub', 'file'), 'w') as file:
            file.write('data')
        server = self.serve(folder, '--no-upload')
        with server.connect() as wire:
            for data in (request('PUT', '/files/sub/x', body='x'), request('PUT', '/files/x/'), request('DELETE', '/files/sub/empty/'),
                         request('DELETE', '/files/sub/file'), form(part('f', b'x', 'x'), path='/files/sub/'), request('PATCH', '/files/sub/file', body='x'),
                         request('POST', '/api/move', 'Content-Type: application/json', body='{"from":"sub/file","to":"file"}'), request('PATCH', '/tus/x'),
                         request('POST', '/tus/'), request('DELETE', '/uploads/x'), request('POST', '/nowhere')):
                self.assertProblem(wire.ask(data), 403)
            self.assertEqual(wire.ask(request('GET', '/files/sub/file')).body, b'data')
            self.assertEqual(wire.ask(request('GET', '/files/sub/?zip')).status, 200)
            self.assertEqual(wire.ask(request('OPTIONS', '/files/sub/file')).status, 204)
        self.assertEqual(sorted(os.listdir(os.path.join(folder, 'sub'))), ['empty', 'file'])

    def test_sandbox(self):
        """Renames between folders, too."""
        folder = self.folder()
        server = self.serve(folder, sandbox=True)
        self.assertEqual(server.get('/files/a/', method='PUT').status, 201)
        self.assertEqual(server.get('/files/a/b/', method='PUT').status, 201)
        self.assertEqual(server.ask(request('PUT', '/files/a/b/c', body='data')).status, 201)
        move = lambda source, target: server.ask(request('POST', '/api/move', 'Content-Type: application/json',
                                                         body=json.dumps({'from': source, 'to': target}))).status
        self.assertEqual([move('a/b/c', 'c'), move('a/b', 'b'), move('c', 'b/c'), move('a', 'b/a')], 4 * [200])
        self.assertEqual(server.get('/files/b/c').body, b'data')
        self.assertEqual(server.get('/files/b/?zip').status, 200)
        self.assertEqual(server.get('/files/b/c', method='DELETE').status, 204)
        self.assertEqual(server.get('/files/b/a/', method='DELETE').status, 204)
        self.assertEqual(os.listdir(os.path.join(folder, 'b')), [])

    @unittest.skipIf(os.geteuid(), 'needs root, to run the server as somebody else')
    def test_without_permission(self):
        folder = self.folder()
        os.chmod(folder, 0o755)
        os.makedirs(os.path.join(folder, 'sub', 'secret'))
        os.chmod(os.path.join(folder, 'sub', 'secret'), 0o700)
        with open(os.path.join(folder, 'sub', 'file'), 'w'):
            pass
        server = self.serve(folder, wrap=('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'))
        for data in (request('PUT', '/files/sub/x', body='x'), request('PUT', '/files/sub/x/'), request('DELETE', '/files/sub/file'),
                     request('DELETE', '/files/sub/secret/'), form(part('f', b'x', 'x'), path='/files/sub/'),
                     request('POST', '/api/move', 'Content-Type: application/json', body='{"from":"sub/file","to":"sub/y"}')):
            self.assertProblem(server.ask(data), 403, 'the server has no permission to write to its folder')
        self.assertProblem(server.get('/files/sub/?zip'), 403, "the server can't read all files of the folder")
        self.assertEqual(server.get('/files/sub/').status, 200)
        self.assertEqual(server.get('/files/sub/secret/').status, 503)
        self.assertProblem(server.get('/files/sub/secret/x'), 403)

    def processor_time(self, server):
        with open(f'/proc/{server.pid}/stat') as file:
            fields = file.read().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def test_large(self):
        folder = self.folder()
        os.mkdir(os.path.join(folder, 'many'))
        for i in range(9000):
            open(os.path.join(folder, 'many', f'file {i:05}'), 'w').close()
        for i in range(1000):
            os.symlink('target', os.path.join(folder, 'many', f'link {i:05}'))
        open(os.path.join(folder, 'many', 'target'), 'w').close()
        server = self.serve(folder)
        for path, headers in (('/files/many/', ()), ('/api/files?path=many', ())):
            began = self.processor_time(server)
            body = server.get(path, *headers).body
            took = self.processor_time(server) - began
            self.assertEqual(len(re.findall(rb'<time|"mtime"', body)), 10001)
            self.assertLess(took, 3)
            print(f'{path}: {took * 1000:.0f} ms')

    def test_lists_of_many_folders_at_once(self):
        folder = self.folder()
        for i in range(30):
            os.mkdir(os.path.join(folder, f'{i}'))
            open(os.path.join(folder, f'{i}', f'in {i}'), 'w').close()
        server = self.serve(folder, '--workers', 2)

        def ask(i):
            with server.connect() as wire:
                for n in range(30):
                    at = (i + n) % 30
                    self.assertEqual([f['name'] for f in wire.ask(request('GET', f'/api/files?path={at}')).json()['files']], [f'in {at}'])
                    self.assertIn(f'in%20{at}"'.encode(), wire.ask(request('GET', f'/files/{at}/')).body)
                    self.assertEqual(wire.ask(request('GET', f'/api/files?path={at}/x')).status, 404)
        in_threads(20, ask)


if __name__ == '__main__':
    unittest.main()
