"""Files that stay open for the next request: who asks must not see a difference. By `files`, and by the trees of `limits`."""
import os
import time
import unittest

from tls import TlsCase, at, setUpModule, tearDownModule  # noqa: F401
from wire import KIB, Case, Lost, Server, links_of, pattern, request

SIZES = (4 * KIB, 200 * KIB)


def age():
    """What has only just been changed is not kept yet."""
    time.sleep(0.03)


class Keeper(Case):
    def write(self, folder, name, data):
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(data)
        return data

    def is_open(self, server, path):
        """Whether the server has the file open that is at the path, and nothing is sent now."""
        return os.path.realpath(path) in links_of(server.pid)

    def settle(self, server, path, url):
        """Ask until the file is kept."""
        self.eventually(lambda: server.get(url).status == 200 and self.is_open(server, path), what=f'{url} is not kept')

    def start(self, *args):
        folder = self.folder()
        return folder, self.serve(folder, *args)


class Kept(Keeper):
    def test_it_stays_open_for_a_while(self):
        folder, server = self.start()
        path = os.path.join(folder, 'a')
        self.write(folder, 'a', b'text')
        self.settle(server, path, '/files/a')
        self.eventually(lambda: not self.is_open(server, path), what='it is open for ever')

    def test_not_where_it_is_switched_off(self):
        folder, path = self.folder(), os.path.join(self.folder(), 'app.toml')
        self.write(folder, 'a', b'text')
        for switched_off in (True, False):
            with open(path, 'w') as file:
                file.write(f'[server]\nopen_files_valid_ms = 600000\nno_open_files = {str(switched_off).lower()}\n')
            server = self.serve('--config', path, '--tree', folder, program='limits')
            age()
            with server.connect() as wire:
                self.assertEqual(wire.ask(request('GET', '/tree/a')).body, b'text')
            if switched_off:
                self.eventually(lambda server=server: not self.is_open(server, os.path.join(folder, 'a')))
            else:
                self.assertTrue(self.is_open(server, os.path.join(folder, 'a')))
        folder, server = self.start('--no-open-files')
        path = os.path.join(folder, 'a')
        self.write(folder, 'a', b'text')
        age()
        self.assertEqual(server.get('/files/a').body, b'text')
        self.eventually(lambda: not self.is_open(server, path))

    def test_changes_by_others(self):
        """Each shows with the very next request."""
        folder, server = self.start()
        a, b = os.path.join(folder, 'a'), os.path.join(folder, 'b')
        for size in SIZES:
            with self.subTest(size), server.connect() as wire:
                def get(name='a', *headers, wire=wire):
                    return wire.ask(request('GET', f'/files/{name}', *headers))
                data = self.write(folder, 'a', pattern(size, 1))
                self.settle(server, a, '/files/a')
                first = get()
                self.assertEqual(first.body, data)

                with open(a, 'r+b') as file:
                    file.write(b'in the place of')
                data = b'in the place of' + data[15:]
                second = get()
                self.assertEqual(second.body, data)
                self.assertNotEqual(second.header('etag'), first.header('etag'))

                self.settle(server, a, '/files/a')
                with open(a, 'ab') as file:
                    file.write(b'behind')
                data += b'behind'
                self.assertEqual(get().body, data)

                self.settle(server, a, '/files/a')
                os.truncate(a, 100)
                self.assertEqual(get().body, data[:100])

                self.settle(server, a, '/files/a')
                data = self.write(folder, 'b', pattern(size, 2))
                os.replace(b, a)
                self.assertEqual(get().body, data)

                self.settle(server, a, '/files/a')
                os.rename(a, b)
                self.assertProblem(get(), 404)
                self.assertEqual(get('b').body, data)

                self.settle(server, b, '/files/b')
                os.unlink(b)
                self.assertProblem(get('b'), 404)

    def test_what_clients_do(self):
        folder, server = self.start('--workers', '2')
        a = os.path.join(folder, 'a')
        # Some on each loop.
        wires = [server.connect() for _ in range(8)]
        for wire in wires:
            self.addCleanup(wire.close)
        for size in SIZES:
            for i in range(3):
                data = pattern(size, i)
                self.assertIn(wires[i].ask(request('PUT', '/files/a', body=data)).status, (200, 201))
                for wire in wires:
                    self.assertEqual(wire.ask(request('GET', '/files/a')).body, data)
                self.settle(server, a, '/files/a')
            self.assertEqual(wires[0].ask(request('DELETE', '/files/a')).status, 204)
            for wire in wires:
                self.assertProblem(wire.ask(request('GET', '/files/a')), 404)

    def test_links(self):
        folder, server = self.start()
        outside = self.folder()
        self.write(folder, 'one', b'one')
        self.write(folder, 'other', b'other')
        self.write(outside, 'secret', b'secret')
        link = os.path.join(folder, 'link')
        age()
        with server.connect() as wire:
            for target, body in (('one', b'one'), ('other', b'other'), ('one', b'one'), (os.path.join(outside, 'secret'), None), ('other', b'other')):
                os.symlink(target, link + '.new')
                os.replace(link + '.new', link)
                response = wire.ask(request('GET', '/files/link'))
                self.assertEqual(response.body if response.status == 200 else None, body)
            self.settle(server, os.path.join(folder, 'one'), '/files/one')
            # A link in the place of what was kept.
            os.symlink(os.path.join(outside, 'secret'), link + '.new')
            os.replace(link + '.new', os.path.join(folder, 'one'))
            self.assertProblem(wire.ask(request('GET', '/files/one')), 404)
            # And an upload in the place of a link.
            self.assertEqual(wire.ask(request('GET', '/files/link')).body, b'other')
            self.assertEqual(wire.ask(request('PUT', '/files/link', body=b'mine')).status, 200)
            self.assertEqual(wire.ask(request('GET', '/files/link')).body, b'mine')

    def test_it_is_described_alike(self):
        """What is said of a file the first time, and once it is kept."""
        folder, server = self.start()
        plain = self.serve(folder, '--no-open-files')
        name = 'odd "ü.html'
        quoted = '/files/odd%20%22%C3%BC.html'
        for size in (0, 1, *SIZES):
            data = self.write(folder, name, pattern(size))
            self.settle(server, os.path.join(folder, name), quoted)
            tag = plain.get(quoted).header('etag')
            modified = plain.get(quoted).header('last-modified')
            for method, *headers in (
                    ('GET',), ('HEAD',), ('GET', f'If-None-Match: {tag}'), ('HEAD', f'If-None-Match: {tag}'), ('GET', 'If-None-Match: "x"'),
                    ('GET', f'If-Match: {tag}'), ('GET', 'If-Match: "x"'), ('GET', f'If-Modified-Since: {modified}'), ('GET', 'Range: bytes=0-0'),
                    ('GET', 'Range: bytes=-3', f'If-Range: {tag}'), ('GET', 'Range: bytes=0-0', 'If-Range: "x"'), ('GET', 'Range: bytes=999999999-'),
                    ('GET', 'Range: bytes=0-0'), ('GET',)):
                with self.subTest(size=size, method=method, headers=headers):
                    answers = []
                    for one in (server, plain):
                        answer = one.get(quoted, *headers, method=method)
                        answers.append((answer.status, sorted(h for h in answer.headers if h[0] not in ('date', 'request-id')), answer.body))
                    self.assertEqual(*answers)
            # Two ranges, whose boundary is random.
            if size > 100:
                answer = server.get(quoted, 'Range: bytes=0-1,50-51')
                self.assertEqual(answer.status, 206)
                self.assertIn(b'content-type: text/html; charset=utf-8\r\n', answer.body)
                self.assertIn(data[50:52], answer.body)
            # Once more as ever.
            self.assertEqual(server.get(quoted).header('content-type'), 'text/html; charset=utf-8')

    def test_while_it_is_sent(self):
        """A download under way has the file that it began with."""
        folder, server = self.start()
        a = os.path.join(folder, 'a')
        data = self.write(folder, 'a', pattern(8 * KIB * KIB))
        self.settle(server, a, '/files/a')
        with server.connect(rcvbuf=4 * KIB) as slow:
            slow.send(request('GET', '/files/a'))
            head = slow.read_head()
            self.assertEqual(head.header('content-length'), str(len(data)))
            self.write(folder, 'b', b'short')
            os.replace(os.path.join(folder, 'b'), a)
            self.assertEqual(server.get('/files/a').body, b'short')
            self.settle(server, a, '/files/a')
            os.unlink(a)
            self.assertProblem(server.get('/files/a'), 404)
            self.assertEqual(slow.take(len(data)), data)

    def test_cut_short_while_it_is_sent(self):
        folder, server = self.start()
        a = os.path.join(folder, 'a')
        size = 8 * KIB * KIB
        self.write(folder, 'a', pattern(size))
        self.settle(server, a, '/files/a')
        with server.connect(rcvbuf=4 * KIB) as slow:
            slow.send(request('GET', '/files/a'))
            slow.read_head()
            os.truncate(a, 100)
            with self.assertRaises(Lost):
                slow.take(size)
        self.assertEqual(len(server.get('/files/a').body), 100)

    def test_many_names(self):
        folder = self.folder()
        for i in range(40):
            self.write(folder, f'{i}.txt', b'%d' % i * 100)
        server = self.limits(tree=folder, open_files_max=8, open_files_valid=600000)
        start = server.held()
        age()
        with server.connect() as wire:
            for _ in range(3):
                for i in range(40):
                    self.assertEqual(wire.ask(request('GET', f'/tree/{i}.txt')).body, b'%d' % i * 100)
            self.assertEqual(server.held() - start, 8 + 1)

    def test_a_tree(self):
        folder = self.folder()
        self.write(folder, 'x.css', b'plain')
        self.write(folder, 'x.css.gz', b'as gz')
        server = self.limits(tree=folder, open_files_valid=600000)
        age()
        self.settle(server, os.path.join(folder, 'x.css'), '/tree/x.css')
        with server.connect() as wire:
            def get(path, *headers):
                response = wire.ask(request('GET', path, *headers))
                return response.status, response.body, response.header('content-encoding'), response.header('content-type')
            for _ in range(3):
                self.assertEqual(get('/tree/x.css'), (200, b'plain', None, 'text/css; charset=utf-8'))
                self.assertEqual(get('/tree/x.css', 'Accept-Encoding: gzip'), (200, b'as gz', 'gzip', 'text/css; charset=utf-8'))
                status, body, coding, kind = get('/tree/x.css.gz')
                self.assertEqual((status, body, coding), (200, b'as gz', None))
                self.assertNotEqual(kind, 'text/css; charset=utf-8')
            self.assertTrue(self.is_open(server, os.path.join(folder, 'x.css.gz')))
            # The sibling goes, and comes again.
            os.unlink(os.path.join(folder, 'x.css.gz'))
            self.assertEqual(get('/tree/x.css', 'Accept-Encoding: gzip')[1:3], (b'plain', None))
            self.write(folder, 'x.css.gz', b'anew')
            self.assertEqual(get('/tree/x.css', 'Accept-Encoding: gzip')[1:3], (b'anew', 'gzip'))
            # A folder takes the place of a file.
            os.unlink(os.path.join(folder, 'x.css'))
            os.mkdir(os.path.join(folder, 'x.css'))
            self.assertEqual(get('/tree/x.css')[0], 404)
            self.write(folder, 'x.css/index.html', b'index')
            self.assertEqual(get('/tree/x.css')[0], 308)
            self.assertEqual(get('/tree/x.css/')[1], b'index')

    def test_rights(self):
        if os.geteuid() == 0:
            self.skipTest('root may read everything')
        folder, server = self.start()
        a = os.path.join(folder, 'a')
        self.write(folder, 'a', b'text')
        self.settle(server, a, '/files/a')
        os.chmod(a, 0)
        self.assertProblem(server.get('/files/a'), 403)

    def test_as_many_connections_as_descriptors(self):
        """Kept files make room for those who come."""
        folder = self.folder()
        for i in range(20):
            self.write(folder, str(i), b'text')
        server = Server(folder, wrap=('prlimit', '--nofile=200:200'))
        self.addCleanup(lambda: server.process.stderr.closed or server.stop())
        age()
        with server.connect() as wire:
            for i in range(20):
                self.assertEqual(wire.ask(request('GET', f'/files/{i}')).body, b'text')
            wires = [server.connect() for _ in range(130)]
            try:
                for i, one in enumerate(wires):
                    self.assertEqual(one.ask(request('GET', f'/files/{i % 20}')).body, b'text')
            finally:
                for one in wires:
                    one.close()


class KeptOverTls(TlsCase, Keeper):
    def test_tls(self):
        folder = self.folder()
        server = self.serve(folder, '--cert', at('server.both'))
        for size in SIZES:
            with self.dial(server) as wire:
                for seed in range(3):
                    data = Keeper.write(self, folder, 'a', pattern(size, seed))

                    def is_kept(data=data, wire=wire):
                        self.assertEqual(wire.ask(request('GET', '/files/a')).body, data)
                        return self.is_open(server, os.path.join(folder, 'a'))
                    self.eventually(is_kept)


if __name__ == '__main__':
    unittest.main()
