"""The event stream of the program files: it tells which folder's list has changed, whoever changed it."""
import json
import os
import shutil
import time
import unittest

from wire import Case, form, part, request

OLD = time.time() - 3600


class Changes(Case):
    def setUp(self):
        super().setUp()
        self.dir = self.folder()
        for name in ('sub/deep', '.hidden'):
            os.makedirs(self.path(name))
        self.settle()

    def path(self, name):
        return os.path.join(self.dir, name)

    def settle(self):
        """Let all folders be old: a list may have been loaded before a change of the last seconds."""
        for path, _, _ in os.walk(self.dir):
            os.utime(path, (OLD, OLD))

    def stream(self, server, query='', *fields):
        wire = server.connect()
        self.addCleanup(wire.close)
        wire.send(request('GET', f'/api/events{query}', *fields))
        response = wire.read_head()
        self.assertEqual((response.status, response.header('content-type'), response.header('cache-control')), (200, 'text/event-stream', 'no-store'))
        self.assertEqual(response.header('x-accel-buffering'), 'no')
        return wire

    def assertTells(self, wire, path):
        text = wire.take(int(wire.take_line(), 16) + 2).decode()
        event, data, *rest = text.split('\n')
        self.assertEqual((event, data[:6], rest), ('event: change', 'data: ', ['', '\r', '']))
        self.assertEqual(json.loads(data[6:]), {'path': path})

    def test_changes_through_the_server(self):
        for args in ((), ('--workers', 3)):
            server = self.serve(self.dir, *args)
            sub, top = self.stream(server, '?path=sub/'), self.stream(server)
            upload = ('Upload-Complete: ?1', 'Upload-Draft-Interop-Version: 8')
            for change in (request('PUT', '/files/sub/a', body='one'), request('PUT', '/files/sub/a', body='two'),
                           request('PUT', '/files/sub/b', *upload, body='three'), form(part('files', 'x', 'c'), path='/files/sub/'),
                           form(part('files', 'x', 'd'), path='/plain?path=sub'), request('PUT', '/files/sub/new/'),
                           request('POST', '/api/move', 'Content-Type: application/json', body='{"from":"sub/a","to":"sub/e"}'),
                           request('DELETE', '/files/sub/new/'), request('DELETE', '/files/sub/e')):
                self.assertLess(server.ask(change).status, 400, change)
                self.assertTells(sub, 'sub')
            top.close()
            self.assertEqual(server.ask(request('POST', '/api/move', 'Content-Type: application/json', body='{"from":"sub/b","to":"b"}')).status, 200)
            self.assertTells(sub, 'sub')
            os.unlink(self.path('b'))
            self.settle()

    def test_an_upload_that_is_resumed(self):
        server = self.serve(self.dir)
        wire = self.stream(server, '?path=sub')
        begun = server.ask(request('POST', '/tus/sub/', 'Tus-Resumable: 1.0.0', 'Upload-Length: 6', 'Upload-Metadata: filename YQ=='))
        self.assertEqual(begun.status, 201, begun)
        at = begun.header('location')
        at = at[at.index('/', 8):] if '://' in at else at
        self.assertFalse(os.path.exists(self.path('sub/a')))
        fields = ('Tus-Resumable: 1.0.0', 'Content-Type: application/offset+octet-stream')
        self.assertEqual(server.ask(request('PATCH', at, *fields, 'Upload-Offset: 0', body='abc')).status, 204)
        self.assertTrue(wire.is_open(2))
        self.assertEqual(server.ask(request('PATCH', at, *fields, 'Upload-Offset: 3', body='def')).status, 204)
        self.assertTells(wire, 'sub')

    def test_changes_by_others(self):
        """In the sandbox, of a folder that is read-only, and one behind a link."""
        os.symlink('sub', self.path('link'))
        self.settle()
        server = self.serve(self.dir, '--no-upload', sandbox=True)
        wires = {path: self.stream(server, f'?path={path}') for path in ('sub', 'link')}
        for change in (lambda: open(self.path('sub/a'), 'w').close(), lambda: os.rename(self.path('sub/a'), self.path('sub/b')),
                       lambda: os.unlink(self.path('sub/b')), lambda: shutil.rmtree(self.path('sub')), lambda: os.mkdir(self.path('sub'))):
            change()
            for path, wire in wires.items():
                self.assertTells(wire, path)

    def test_silence(self):
        server = self.serve(self.dir)
        wire = self.stream(server)
        self.assertEqual(server.ask(request('PUT', '/files/sub/a', body='x')).status, 201)
        self.assertProblem(server.ask(request('DELETE', '/files/nowhere')), 404)
        self.assertTrue(wire.is_open(2.5))

    def test_a_change_just_before(self):
        """A list that was loaded before the stream began may be without it."""
        server = self.serve(self.dir)
        self.assertEqual(server.ask(request('PUT', '/files/sub/a', body='x')).status, 201)
        wire = self.stream(server, '?path=sub')
        self.assertTells(wire, 'sub')
        self.assertTrue(wire.is_open(2.5))

    def test_what_is_no_public_folder(self):
        server = self.serve(self.dir)
        os.symlink('/', self.path('out'))
        for path in ('nowhere', '.hidden', '..', 'sub/..', '/sub', 'sub//deep', 'out', '%ff', 'a%00b'):
            self.assertProblem(server.get(f'/api/events?path={path}'), 404)
        self.assertEqual(server.get('/api/events', method='POST').status, 405)

    def test_head(self):
        with self.serve(self.dir).connect() as wire:
            for _ in range(2):
                response = wire.ask(request('HEAD', '/api/events'), head=True)
                self.assertEqual((response.status, response.header('content-type')), (200, 'text/event-stream'))

    def test_streams_end(self):
        """They delay no shutdown, and one whose client has left gives its place back."""
        server = self.serve(self.dir)
        left = [self.stream(server) for _ in range(20)]
        for wire in left:
            wire.close()
        stays = self.stream(server)
        begin = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(stays.take(5), b'0\r\n\r\n')


if __name__ == '__main__':
    unittest.main()
