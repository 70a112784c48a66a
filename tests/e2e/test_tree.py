"""A folder as it lies there, by the program limits: /tree as it is by default, /plain with every option, /of/{whom} beneath a
parameter."""
import contextlib
import json
import os
import shutil
import tempfile
import unittest
import urllib.parse

from wire import Case, Server, Shared, has_dots, pattern, request

VECTORS = os.environ.get('EDDY_VECTORS')
SECRET = b'this stands outside of the folder'
FILES = {
    'index.html': b'<p>root', 'a.txt': b'text', 'empty': b'', 'big.js': pattern(100000), 'sub/index.html': b'<p>sub', 'sub/a.txt': b'sub text',
    'sub/deep/b.txt': b'deep', 'bare/a.txt': b'bare', '.hidden': b'hidden', '.well-known/x': b'known', 'sub/.hidden': b'hidden',
    '.eddy-0123456789abcdef': b'litter', 'a b&ü.txt': b'odd', 'back\\slash': b'odd', 'gone.js.br': b'no file beside it',
    'all.css': b'plain', 'all.css.br': b'as br', 'all.css.zst': b'as zst', 'all.css.gz': b'as gz', 'gz.css': b'plain', 'gz.css.gz': pattern(5000),
    'odd.css': b'plain', 'zipped/index.html': b'plain', 'zipped/index.html.gz': b'as gz', 'x:y/index.html': b'colon',
}


class Tree(Shared):
    program = 'limits'

    @classmethod
    def setUpClass(cls):
        cls.outside = tempfile.mkdtemp(prefix='eddy-e2e-')
        cls.addClassCleanup(shutil.rmtree, cls.outside, ignore_errors=True)
        cls.tree = os.path.join(cls.outside, 'tree')
        for name, data in {**{f'tree/{name}': data for name, data in FILES.items()}, 'secret': SECRET, 'outer/index.html': SECRET}.items():
            path = os.path.join(cls.outside, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(data)
        os.makedirs(os.path.join(cls.tree, 'odd.css.br'))
        os.symlink('../secret', os.path.join(cls.tree, 'odd.css.gz'))
        os.mkfifo(os.path.join(cls.tree, 'fifo'))
        for name, target in {'out': '../secret', 'outer': '../outer', 'absolute': os.path.join(cls.tree, 'a.txt'), 'loop': 'loop', 'up': '..',
                             'dangling': 'nowhere', 'proc': '/proc/self/root/etc/passwd', 'inner': 'sub/a.txt', 'folder': 'sub',
                             'around': 'sub/../a.txt'}.items():
            os.symlink(target, os.path.join(cls.tree, name))
        super().setUpClass()

    @classmethod
    def options(cls):
        return '--tree', cls.tree

    def get(self, path, *headers, **options):
        return self.server.get(path, *headers, **options)

    def coded(self, path, accept, *headers):
        return self.get(path, *([] if accept is None else [f'Accept-Encoding: {accept}']), *headers)

    def test_files(self):
        for path, data, kind in (('a.txt', b'text', 'text/plain; charset=utf-8'), ('empty', b'', 'application/octet-stream'),
                                 ('big.js', FILES['big.js'], 'text/javascript; charset=utf-8'), ('sub/deep/b.txt', b'deep', 'text/plain; charset=utf-8'),
                                 ('a%20b%26%C3%BC.txt', b'odd', 'text/plain; charset=utf-8'), ('all.css.br', b'as br', None),
                                 ('back%5Cslash', b'odd', 'application/octet-stream'), ('inner', b'sub text', None), ('folder/a.txt', b'sub text', None),
                                 ('around', b'text', None)):
            with self.subTest(path):
                response = self.get('/tree/' + path)
                self.assertEqual((response.status, response.body), (200, data))
                if kind:
                    self.assertEqual(response.header('content-type'), kind)
                self.assertIsNone(response.header('content-disposition'))
                self.assertIsNone(response.header('cache-control'))
                self.assertEqual(response.header('accept-ranges'), 'bytes')
                self.assertEqual(response.header('vary'), 'accept-encoding')
                self.assertTrue(response.header('etag') and response.header('last-modified'))

    def test_head(self):
        for path in ('/tree/a.txt', '/tree/all.css', '/tree/', '/tree/sub', '/tree/nowhere', '/plain/a.txt'):
            for headers in ((), ('Accept-Encoding: gzip',)):
                head, get = self.get(path, *headers, method='HEAD'), self.get(path, *headers)
                self.assertEqual(*([h for h in r.headers if h[0] != 'date'] for r in (head, get)))
                self.assertEqual(head.status, get.status)

    def test_other_methods(self):
        response = self.get('/tree/a.txt', method='PUT')
        self.assertProblem(response, 405)
        self.assertEqual(response.header('allow'), 'GET, HEAD, OPTIONS')

    def test_index(self):
        for path, data in (('/tree/', b'<p>root'), ('/tree/sub/', b'<p>sub'), ('/tree/folder/', b'<p>sub'), ('/of/me/', b'text'), ('/of/me/sub/', b'sub text')):
            response = self.get(path)
            self.assertEqual((response.status, response.body), (200, data), path)
        self.assertEqual(self.get('/tree/').header('content-type'), 'text/html; charset=utf-8')

    def test_redirect(self):
        for path, location in (('/tree', './tree/'), ('/tree/sub', './sub/'), ('/tree/sub?a=b&c', './sub/?a=b&c'), ('/tree/folder?', './folder/?'),
                               ('/of/me/sub', './sub/'), ('/tree/x:y', './x:y/'), ('/tree/%73ub', './%73ub/'),
                               ('http://other/tree/sub', './sub/')):
            with self.subTest(path):
                response = self.get(path)
                self.assertEqual((response.status, response.header('location'), response.body), (308, location, b''))
        # The client goes to where the index is.
        self.assertEqual(urllib.parse.urljoin('http://h/tree/sub', './sub/'), 'http://h/tree/sub/')
        self.assertEqual(urllib.parse.urljoin('http://h/tree/x:y', './x:y/'), 'http://h/tree/x:y/')

    def test_no_way_to_another_host(self):
        for path in ('//other.example', '//other.example/', '/tree//sub', '/tree//other.example/', '/tree/\\other.example', '/tree/%5c%5cother', '/tree/%2f%2fother'):
            response = self.get(path)
            self.assertIn(response.status, (400, 404), path)
            self.assertIsNone(response.header('location'))

    def test_never_a_listing(self):
        for path in ('/tree/bare', '/tree/bare/', '/plain', '/plain/', '/plain/sub', '/plain/sub/', '/of/me/bare/deep/'):
            self.assertProblem(self.get(path), 404)

    def test_nothing_there(self):
        for path in ('nowhere', 'nowhere/', 'a.txt/', 'a.txt/b', 'empty/', 'sub//a.txt', 'sub/a.txt//', '/', '/a.txt', 'fifo', 'fifo/', 'gone.js',
                     'sub%2Fa.txt', 'sub%2F..%2Fa.txt', '.%2Fa.txt', 'x' * 256, 'x/' * 2000, 'folder%2F../a.txt', '../a.txt'):
            with self.subTest(path[:40]):
                self.assertProblem(self.get('/tree/' + path), 404)
        self.assertProblem(self.coded('/tree/gone.js', 'br'), 404)

    def test_links_that_lead_out(self):
        for path in ('out', 'outer', 'outer/', 'outer/index.html', 'absolute', 'loop', 'up', 'up/', 'up/secret', 'up/tree/a.txt', 'dangling', 'proc'):
            for tree in ('tree', 'plain'):
                with self.subTest(path):
                    self.assertProblem(self.get(f'/{tree}/{path}'), 404)

    def test_hidden(self):
        for path in ('.hidden', '.well-known/x', 'sub/.hidden', '%2ehidden', '.eddy-0123456789abcdef', 'folder/.hidden', './.hidden'):
            self.assertProblem(self.get('/tree/' + path), 404)
        for path, data in (('.hidden', b'hidden'), ('.well-known/x', b'known'), ('sub/.hidden', b'hidden')):
            self.assertEqual(self.get('/plain/' + path).body, data)
        for path in ('../secret', '.eddy-0123456789abcdef', '%2e%2e/secret', '..%2fsecret', 'sub/../../secret'):
            self.assertProblem(self.get('/plain/' + path), 404)

    def test_dot_segments_in_a_path(self):
        for path, data in (('./a.txt', b'text'), ('sub/../a.txt', b'text'), ('folder/%2e%2E/a.txt', b'text'), ('sub/./a.txt', b'sub text'),
                           ('.', b'<p>root'), ('sub/..', b'<p>root'), ('%2e', b'<p>root')):
            with self.subTest(path):
                self.assertEqual(self.get('/tree/' + path).body, data)
        self.assertProblem(self.get('/tree/../..'), 400, 'the path leads above the root')

    def test_options(self):
        response = self.coded('/plain/all.css', 'br, gzip')
        self.assertEqual((response.body, response.header('content-encoding'), response.header('vary')), (b'plain', None, None))
        self.assertEqual(response.header('cache-control'), 'max-age=60')
        etag = response.header('etag')
        self.assertEqual(self.get('/plain/all.css', f'If-None-Match: {etag}').header('cache-control'), 'max-age=60')
        # Not of what says only that there is nothing to be had now.
        for headers, status in ((['If-Match: "x"'], 412), (['Range: bytes=100-'], 416)):
            response = self.get('/plain/all.css', *headers)
            self.assertProblem(response, status)
            self.assertIsNone(response.header('cache-control'))
        self.assertIsNone(self.get('/plain/nowhere').header('cache-control'))

    def test_siblings(self):
        for path, accept, data, coding in (
                ('all.css', None, b'plain', None), ('all.css', '', b'plain', None), ('all.css', 'gzip', b'as gz', 'gzip'), ('all.css', 'x-GZIP', b'as gz', 'gzip'),
                ('all.css', 'gzip, deflate, br, zstd', b'as br', 'br'), ('all.css', 'zstd, gzip', b'as zst', 'zstd'), ('all.css', '*', b'as br', 'br'),
                ('all.css', 'br;q=0.5, gzip;q=0.8', b'as gz', 'gzip'), ('all.css', 'br;q=0, *', b'as zst', 'zstd'), ('all.css', 'gzip;q=0', b'plain', None),
                ('all.css', 'gzip;q=0.5, identity', b'plain', None), ('all.css', 'deflate', b'plain', None), ('all.css', 'nonsense', b'plain', None),
                ('gz.css', 'br, zstd, gzip', FILES['gz.css.gz'], 'gzip'), ('gz.css', 'br, zstd', b'plain', None), ('gz.css', 'br, identity;q=0.5, gzip;q=0.1', b'plain', None),
                ('odd.css', 'br, gzip', b'plain', None), ('zipped/', 'gzip', b'as gz', 'gzip'), ('a.txt', 'gzip', b'text', None),
                ('gz.css', 'identity;q=0', b'plain', None), ('gz.css', '*;q=0', b'plain', None)):
            with self.subTest(path, accept=accept):
                response = self.coded('/tree/' + path, accept)
                self.assertEqual((response.status, response.body, response.header('content-encoding')), (200, data, coding))
                self.assertEqual(response.header('vary'), 'accept-encoding')
                if path.endswith('css'):
                    self.assertEqual(response.header('content-type'), 'text/css; charset=utf-8')
        response = self.get('/tree/all.css', 'Accept-Encoding: deflate', 'Accept-Encoding: gzip')
        self.assertEqual(response.body, b'as gz')

    def test_etags_of_siblings(self):
        codings = {coding: self.coded('/tree/all.css', coding).header('etag') for coding in ('identity', 'br', 'zstd', 'gzip')}
        self.assertEqual(len(set(codings.values())), 4)
        for coding, etag in codings.items():
            for other in codings:
                response = self.coded('/tree/all.css', other, f'If-None-Match: {etag}')
                self.assertEqual(response.status, 304 if coding == other else 200)
                self.assertEqual(response.header('vary'), 'accept-encoding')
                self.assertEqual(response.header('etag'), codings[other])
                self.assertEqual(self.coded('/tree/all.css', other, f'If-Match: {etag}').status, 200 if coding == other else 412)

    def test_ranges(self):
        data = FILES['gz.css.gz']
        response = self.coded('/tree/gz.css', 'gzip', 'Range: bytes=10-19')
        self.assertEqual((response.status, response.body, response.header('content-encoding')), (206, data[10:20], 'gzip'))
        self.assertEqual(response.header('content-range'), f'bytes 10-19/{len(data)}')
        self.assertEqual(response.header('vary'), 'accept-encoding')
        etag = response.header('etag')
        self.assertEqual(self.coded('/tree/gz.css', 'gzip', 'Range: bytes=10-', f'If-Range: {etag}').body, data[10:])
        # The file itself is something else.
        response = self.coded('/tree/gz.css', 'identity', 'Range: bytes=1-', f'If-Range: {etag}')
        self.assertEqual((response.status, response.body), (200, b'plain'))
        response = self.coded('/tree/gz.css', 'gzip', 'Range: bytes=0-1,5-6')
        self.assertEqual((response.status, response.header('content-encoding')), (206, 'gzip'))
        response = self.coded('/tree/gz.css', 'gzip', f'Range: bytes={len(data)}-')
        self.assertProblem(response, 416)
        self.assertEqual((response.header('content-range'), response.header('content-encoding')), (f'bytes */{len(data)}', None))

    def test_keeps_the_connection(self):
        with self.server.connect() as wire:
            wire.send(b''.join(request('GET', f'/tree/{path}', 'Accept-Encoding: br') for path in ('a.txt', 'sub', 'nowhere', 'all.css', 'big.js', 'up/secret')))
            self.assertEqual([wire.read().status for _ in range(6)], [200, 308, 404, 200, 200, 404])

    def test_descriptors(self):
        paths = ('a.txt', 'sub', 'sub/', 'all.css', 'odd.css', 'fifo', 'bare', 'nowhere', 'up', 'gz.css')

        def ask_all(wire):
            for path in paths:
                wire.ask(request('GET', f'/tree/{path}', 'Accept-Encoding: br, gzip;q=0.5'))
        with self.server.connect() as wire:
            ask_all(wire)
            before = self.server.descriptors()
            for _ in range(20):
                ask_all(wire)
            # What stays open does so for a second.
            self.eventually(lambda: self.server.descriptors() <= before)

    @unittest.skipUnless(VECTORS, 'needs EDDY_VECTORS')
    def test_vectors(self):
        """Every path that others have tried to get out with, as it is and escaped."""
        names, skipped = [], 0
        folder = os.path.join(VECTORS, 'paths')
        for file in sorted(os.listdir(folder)):
            with open(os.path.join(folder, file), errors='surrogateescape') as f:
                names += json.load(f) if file.endswith('.json') else f.read().splitlines()
        paths = set()
        for name in names:
            data = name.replace('{FILE}', 'secret').replace('{EXT}', 'txt').encode('utf-8', 'surrogateescape')
            paths.add(urllib.parse.quote(data, safe=''))
            paths.add(urllib.parse.quote(data, safe='/'))
            if data and all(0x20 < b < 0x7f for b in data) and b'#' not in data:
                paths.add(data.decode())
        count = 0
        wire = self.server.connect()
        for path in sorted(paths):
            if len(path) > 7000:
                skipped += 1
                continue
            for tree in ('/tree/', '/plain/'):
                with contextlib.suppress(UnicodeError):
                    response = wire.ask(request('GET', tree + path))
                    self.assertIn(response.status, (200, 308, 400, 404), (path, response))
                    self.assertNotIn(b'outside of the folder', response.body, path)
                    self.assertNotIn(b'root:', response.body, path)
                    if response.status == 200 and not has_dots(path):
                        self.assertIn(response.body, FILES.values(), path)
                    if response.closes:
                        wire.close()
                        wire = self.server.connect()
                    count += 1
        wire.close()
        print(f'# {count} requests, {skipped} paths skipped: too long for a request line')
        self.assertGreater(count, 1000)


class Mistakes(Case):
    def test_folder_that_is_not_there(self):
        for path in ('/nowhere/at/all', __file__):
            server = Server('--tree', path, program='limits', start=False)
            server.wait_for(f'can\'t serve the folder "{path}" at "/tree/')
            self.assertEqual(server.wait(), 1)
            server.process.stderr.close()

    def test_folder_that_goes(self):
        """It is held open: what takes its path later is not served."""
        outer = self.folder()
        tree = os.path.join(outer, 'tree')
        os.mkdir(tree)
        with open(os.path.join(tree, 'a'), 'w') as file:
            file.write('first')
        server = self.serve('--tree', tree, program='limits')
        os.rename(tree, tree + '.old')
        os.mkdir(tree)
        with open(os.path.join(tree, 'a'), 'w') as file:
            file.write('second')
        self.assertEqual(server.get('/tree/a').body, b'first')
        os.unlink(os.path.join(tree + '.old', 'a'))
        self.assertEqual(server.get('/tree/a').status, 404)

    def test_unreadable(self):
        if os.geteuid() == 0:
            self.skipTest('root reads everything')
        tree = self.folder()
        with open(os.path.join(tree, 'a'), 'w'):
            pass
        os.chmod(os.path.join(tree, 'a'), 0)
        self.assertProblem(self.serve('--tree', tree, program='limits').get('/tree/a'), 403)


if __name__ == '__main__':
    unittest.main()
