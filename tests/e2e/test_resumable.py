"""Uploads that can be resumed, by the IETF's draft and by tus: what requests are answered, and what is on the disk."""
import base64
import contextlib
import hashlib
import json
import os
import random
import select
import threading
import time
import unittest

from mounted import mounted
from wire import KIB, MIB, Case, Lost, chunked, in_threads, only_http1, pattern, request

PROBLEMS = 'https://iana.org/assignments/http-problem-types#'
PARTIAL = 'Content-Type: application/partial-upload'
INTEROP = 'Upload-Draft-Interop-Version: 8'


class Resumable(Case):
    """Cases whose servers are the program `uploads`."""

    def setUp(self):
        self.dir = self.folder()

    def serve_uploads(self, *args, **options):
        return self.serve('--dir', self.dir, *args, program='uploads', **options)

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def hidden(self):
        """The names of the files that unfinished and completed uploads have."""
        folder = self.path('.eddy-uploads')
        return sorted(os.listdir(folder)) if os.path.exists(folder) else []

    def names(self):
        return sorted(name for name in os.listdir(self.dir) if name != '.eddy-uploads')

    def create(self, server, name='x', *headers, body=b'', method='POST', complete=False):
        """Begin an upload. Return: its URL."""
        response = server.ask(request(method, f'/files/{name}', f'Upload-Complete: ?{complete:d}', *headers, body=body))
        self.assertEqual(response.status, 201, response)
        self.assertRegex(response.header('location'), '^/uploads/[0-9a-f]{32}$')
        return response.header('location')

    def append(self, url, offset, body=b'', *headers, complete=False):
        return request('PATCH', url, f'Upload-Offset: {offset}', f'Upload-Complete: ?{complete:d}', PARTIAL, *headers, body=body)

    def state(self, server, url):
        """The offset and whether the upload is complete."""
        response = server.get(url, method='HEAD')
        self.assertEqual(response.status, 204, response)
        self.assertEqual(response.header('cache-control'), 'no-store')
        self.assertRegex(response.header('upload-limit'), r'max-age=\d+')
        return int(response.header('upload-offset')), response.header('upload-complete') == '?1'


class Draft(Resumable):
    def test_whole_in_one_request(self):
        server = self.serve_uploads()
        for method, status in (('POST', 201), ('PUT', 200)):
            response = server.ask(request(method, '/files/x', 'Upload-Complete: ?1', body='hello'))
            self.assertEqual((response.status, response.json()), (status, {'name': 'x', 'size': 5}))
            self.assertEqual(response.header('upload-complete'), '?1')
            self.assertEqual(self.read('x'), b'hello')
        self.assertEqual(self.state(server, response.header('location')), (5, True))
        # The upload that made the file which was replaced since is not known any more.
        self.assertEqual(self.names(), ['x'])

    def test_pieces(self):
        server = self.serve_uploads()
        data = pattern(300 * KIB + 7)
        url = self.create(server, 'x', f'Upload-Length: {len(data)}', body=data[:1000])
        self.assertEqual(self.names(), [])
        self.assertEqual(self.state(server, url), (1000, False))
        at = 1000
        while at < len(data):
            end = min(at + 64 * KIB, len(data))
            response = server.ask(self.append(url, at, data[at:end], complete=end == len(data)))
            self.assertEqual(response.header('upload-complete'), f'?{end == len(data):d}')
            at = end
        self.assertEqual((response.status, response.json()), (201, {'name': 'x', 'size': len(data)}))
        self.assertEqual(self.read('x'), data)
        self.assertEqual(self.state(server, url), (len(data), True))

    def test_unknown_length(self):
        server = self.serve_uploads()
        url = self.create(server)
        self.assertIsNone(server.get(url).header('upload-length'))
        with server.connect() as wire:
            response = wire.ask(self.append(url, 0, chunked('abc', 'def'), 'Transfer-Encoding: chunked'))
            self.assertEqual((response.status, response.header('upload-offset')), (204, '6'))
            response = wire.ask(self.append(url, 6, b'', complete=True))
            self.assertEqual((response.status, response.json()['size']), (201, 6))
        self.assertEqual(server.get(url).header('upload-length'), '6')

    def test_interim_responses(self):
        server = self.serve_uploads()
        with server.connect() as wire:
            wire.send(request('PUT', '/files/x', 'Upload-Complete: ?1', 'Content-Length: 6', INTEROP))
            interim = wire.read()
            self.assertEqual(interim.status, 104)
            url = interim.header('location')
            self.assertIn('max-age=', interim.header('upload-limit'))
            wire.send('abcdef')
            final = wire.read()
            self.assertEqual((final.status, final.header('location')), (201, url))
        # A client that waits for a 100 Continue gets it as well.
        with server.connect() as wire:
            wire.send(request('PUT', '/files/y', 'Upload-Complete: ?1', 'Content-Length: 1', 'Expect: 100-continue', INTEROP))
            self.assertEqual([wire.read().status for _ in range(2)], [104, 100])
            self.assertEqual(wire.ask('z').status, 201)
        # Clients that have not asked for them, or can't understand them, get none.
        self.assertEqual(server.ask(request('PUT', '/files/x', 'Upload-Complete: ?1', 'Upload-Draft-Interop-Version: 7', body='a')).status, 200)
        with server.connect() as wire:
            wire.send(request('PUT', '/files/x', 'Upload-Complete: ?1', INTEROP, body='a', version='1.0'))
            self.assertEqual(wire.read().status, 200)

    def test_after_an_interruption(self):
        server = self.serve_uploads()
        data = pattern(MIB)
        for keeps in (True, False):
            wire = server.connect()
            wire.send(request('PUT', '/files/x', 'Upload-Complete: ?1', f'Content-Length: {len(data)}', *[INTEROP] * keeps))
            url = wire.read().header('location') if keeps else None
            wire.send(data[:300000])
            time.sleep(0.05)
            wire.reset()
            if not keeps:
                # The client has not heard of its upload.
                self.eventually(lambda: self.hidden() == before, what=lambda: f'{self.hidden()} stay')
                continue
            self.assertEqual(self.names(), [])
            offset, complete = self.state(server, url)
            self.assertFalse(complete)
            self.assertGreater(offset, 0)
            self.assertLessEqual(offset, 300000)
            self.assertEqual(server.ask(self.append(url, offset, data[offset:], complete=True)).status, 201)
            self.assertEqual(self.read('x'), data)
            os.unlink(self.path('x'))
            before = self.hidden()

    def test_after_a_kill(self):
        server = self.serve_uploads()
        url = self.create(server, 'x', body=b'abc')
        server.kill()
        server = self.serve_uploads()
        self.assertEqual(self.state(server, url), (3, False))
        self.assertEqual(server.ask(self.append(url, 3, b'def', complete=True)).status, 201)
        server.kill()
        server = self.serve_uploads()
        self.assertEqual(self.state(server, url), (6, True))
        self.assertEqual(self.read('x'), b'abcdef')

    def test_wrong_offset(self):
        server = self.serve_uploads()
        url = self.create(server, body=b'abc')
        response = server.ask(self.append(url, 5, b'x'))
        self.assertEqual((response.status, response.header('upload-offset'), response.header('upload-complete')), (409, '3', '?0'))
        self.assertEqual(response.json(), {'type': PROBLEMS + 'mismatching-upload-offset', 'status': 409, 'expected-offset': 3,
                                           'title': 'offset from request does not match offset of resource', 'provided-offset': 5})
        self.assertEqual(self.state(server, url), (3, False))

    def test_lengths_that_contradict(self):
        server = self.serve_uploads()
        def expect(response):
            self.assertEqual((response.status, response.header('upload-complete')), (400, '?0'), response)
            self.assertEqual(response.json()['type'], PROBLEMS + 'inconsistent-upload-length')
        expect(server.ask(request('POST', '/files/x', 'Upload-Complete: ?1', 'Upload-Length: 9', body='abc')))
        self.assertEqual(self.hidden(), [])
        url = self.create(server, 'x', 'Upload-Length: 9')
        expect(server.ask(self.append(url, 0, b'abc', 'Upload-Length: 8')))
        expect(server.ask(self.append(url, 0, b'abc', complete=True)))
        self.assertEqual(self.state(server, url), (0, False))
        # With chunks, it shows only at the end.
        expect(server.ask(self.append(url, 0, chunked('abc'), 'Transfer-Encoding: chunked', complete=True)))
        self.assertEqual(self.state(server, url), (3, False))
        # An upload that has got too many bytes is of no use.
        for body, headers in ((b'x' * 7, ()), (chunked('x' * 7), ('Transfer-Encoding: chunked',))):
            url = self.create(server, 'x', 'Upload-Length: 6')
            expect(server.ask(self.append(url, 0, body, *headers)))
            self.assertProblem(server.get(url), 404)
        self.assertEqual(self.names(), [])

    def test_completed(self):
        server = self.serve_uploads()
        url = self.create(server, 'x', complete=True, body=b'abc')
        response = server.ask(self.append(url, 3, b'', complete=True))
        self.assertEqual((response.status, response.json()['type']), (400, PROBLEMS + 'completed-upload'))
        response = server.ask(self.append(url, 3, b'd', complete=True))
        self.assertEqual((response.status, response.json()['type']), (400, PROBLEMS + 'inconsistent-upload-length'))
        self.assertEqual(self.read('x'), b'abc')
        # That of a file which was replaced is gone.
        with open(self.path('y'), 'wb') as file:
            file.write(b'other')
        os.rename(self.path('y'), self.path('x'))
        self.assertProblem(server.get(url), 404)

    def test_fields(self):
        server = self.serve_uploads()
        url = self.create(server)
        self.assertProblem(server.ask(request('PATCH', url, 'Upload-Complete: ?0', PARTIAL, body='a')), 400, 'upload-offset')
        self.assertProblem(server.ask(request('PATCH', url, 'Upload-Offset: 0', PARTIAL, body='a')), 400, 'upload-complete')
        for value in ('-1', '1.0', 'abc', '"0"', '9' * 16, '0, 0'):
            self.assertProblem(server.ask(self.append(url, value, b'a')), 400)
        response = server.ask(request('PATCH', url, 'Upload-Offset: 0', 'Upload-Complete: ?0', 'Content-Type: text/plain', body='a'))
        self.assertProblem(response, 415)
        self.assertEqual(response.header('accept-patch'), 'application/partial-upload')
        self.assertProblem(server.get(url, 'Upload-Offset: 0'), 400)
        self.assertProblem(server.get(url, 'Upload-Complete: ?0'), 400)
        # Parameters of items are ignored (RFC 9651), and so are fields that are none.
        self.assertEqual(server.ask(self.append(url, '0;a=1', b'a')).status, 204)
        for value in ('true', '1', '?2', '"?1"', '?1, ?1'):
            response = server.ask(request('POST', '/files/plain', f'Upload-Complete: {value}', body='a'))
            self.assertIn(response.status, (200, 201))
            self.assertIsNone(response.header('location'))
        for path in ('/uploads/', '/uploads/x', '/uploads/' + '0' * 32, '/uploads/' + 'A' * 32, '/uploads/..%2fx'):
            self.assertEqual(server.get(path).status, 404)

    def test_limits(self):
        server = self.serve_uploads('--max', 1000, '--append-max', 100, '--append-min', 10)
        limit = 'max-size=1000, max-append-size=100, min-append-size=10, max-age=86400'
        response = server.get('/files/x', method='OPTIONS')
        self.assertEqual((response.status, response.header('upload-limit')), (204, limit))
        self.assertEqual(response.header('accept-patch'), 'application/partial-upload')
        url = self.create(server)
        for wrong, status in ((request('POST', '/files/x', 'Upload-Complete: ?0', 'Upload-Length: 1001'), 413),
                              (request('POST', '/files/x', 'Upload-Complete: ?0', body='x' * 101), 413),
                              (request('POST', '/files/x', 'Upload-Complete: ?0', body='x' * 9), 400),
                              (self.append(url, 0, b'x' * 101), 413), (self.append(url, 0, b'x' * 9), 400)):
            response = server.ask(wrong)
            self.assertProblem(response, status)
            self.assertEqual((response.header('upload-limit'), response.header('upload-complete')), (limit, '?0'))
        for i in range(10):
            self.assertEqual(server.ask(self.append(url, 100 * i, b'x' * 100)).status, 204)
        self.assertProblem(server.ask(self.append(url, 1000, b'x' * 10)), 413)
        self.assertEqual(server.ask(self.append(url, 1000, complete=True)).json()['size'], 1000)
        # Too many bytes end an upload, even if they are few.
        url = self.create(server, 'x', 'Upload-Length: 10', body=b'x' * 10)
        self.assertEqual(server.ask(self.append(url, 10, b'x')).status, 400)
        self.assertProblem(server.get(url), 404)
        # The size of a body in chunks is not known before. It does no harm to the upload.
        url = self.create(server, 'x', 'Upload-Length: 900')
        response = server.ask(self.append(url, 0, chunked('x' * 101), 'Transfer-Encoding: chunked'))
        self.assertProblem(response, 413, 'max-append-size')
        offset, _ = self.state(server, url)
        self.assertEqual(response.header('upload-offset'), str(offset))
        self.assertLessEqual(offset, 100)
        self.assertEqual(server.ask(self.append(url, offset, b'x' * 50)).status, 204)

    def test_length_below_the_offset(self):
        """It does not lift a limit either."""
        server = self.serve_uploads('--max', 1000, '--tus', '/tus')
        url = self.create(server, body=b'x' * 100)
        for length in (5, 99):
            with server.connect() as wire:
                wire.try_send(self.append(url, 100, chunked('y' * 2000), 'Transfer-Encoding: chunked', f'Upload-Length: {length}'))
                response = wire.read()
            self.assertEqual((response.status, response.json()['type']), (400, PROBLEMS + 'inconsistent-upload-length'))
            self.assertEqual(self.state(server, url), (100, False))
        response = server.ask(self.append(url, 100, b'', 'Upload-Length: 99', complete=True))
        self.assertEqual(response.status, 400)
        # A limit that is lower now than what has arrived.
        server.kill()
        server = self.serve_uploads('--max', 50)
        with server.connect() as wire:
            wire.try_send(self.append(url, 100, chunked('y' * 2000), 'Transfer-Encoding: chunked'))
            self.assertProblem(wire.read(), 413)
        self.assertEqual(self.names(), [])

    def test_refused_before_its_bytes(self):
        """That which would be refused at the end."""
        os.mkdir(self.path('sub'))
        server = self.serve_uploads('--no-replace', '--tus', '/tus')
        self.create(server, 'x', complete=True, body=b'abc')
        for name in ('sub', 'x'):
            self.assertProblem(server.ask(request('POST', f'/files/{name}', 'Upload-Complete: ?0')), 409)
        self.assertProblem(server.ask(request('POST', f'/files/{"n" * 300}/x', 'Upload-Complete: ?0')), 400)
        self.assertEqual([name for name in self.hidden() if not name.endswith('.json')], [])

    def test_cancel(self):
        server = self.serve_uploads()
        url = self.create(server, body=b'abc')
        self.assertEqual(server.get(url, method='DELETE').status, 204)
        self.assertProblem(server.get(url), 404)
        self.assertProblem(server.ask(self.append(url, 3, b'd')), 404)
        self.assertProblem(server.get(url, method='DELETE'), 404)
        self.assertEqual(self.hidden(), [])
        # The file of a completed one stays.
        url = self.create(server, 'x', complete=True, body=b'abc')
        self.assertEqual(server.get(url, method='DELETE').status, 204)
        self.assertProblem(server.get(url), 404)
        self.assertEqual(self.read('x'), b'abc')

    def test_second_request_ends_the_first(self):
        server = self.serve_uploads('--workers', 2)
        for second in ('HEAD', 'PATCH', 'DELETE'):
            for _ in range(5):
                url = self.create(server)
                with server.connect() as wire:
                    wire.send(self.append(url, 0, b'', 'Content-Length: 100000') + b'x' * 5000)
                    bytes_of = self.path('.eddy-uploads/' + url.rpartition('/')[2])
                    self.eventually(lambda: os.path.getsize(bytes_of) == 5000)
                    if second == 'PATCH':
                        response = server.ask(self.append(url, 0, b'y'))
                        self.assertEqual((response.status, response.header('upload-offset')), (409, '5000'))
                    elif second == 'HEAD':
                        self.assertEqual(self.state(server, url), (5000, False))
                    else:
                        self.assertEqual(server.get(url, method='DELETE').status, 204)
                    response = wire.read()
                    self.assertProblem(response, 409, 'another request')
                    self.assertTrue(response.closes)

    def test_race(self):
        """Of many appends at one offset, one succeeds."""
        server = self.serve_uploads('--workers', 2)
        for _ in range(10):
            url = self.create(server)
            statuses = []
            in_threads(8, lambda i: statuses.append(server.ask(self.append(url, 0, b'%d' % i * 50)).status))
            self.assertLessEqual(statuses.count(204), 1)
            self.assertEqual(set(statuses) - {204, 409}, set())
            offset, _ = self.state(server, url)
            self.assertEqual(offset, 50 * statuses.count(204))

    def test_count(self):
        server = self.serve_uploads('--count-max', 2)
        url = self.create(server, 'a')
        self.create(server, 'b')
        self.assertProblem(server.ask(request('POST', '/files/c', 'Upload-Complete: ?0')), 507, 'incomplete')
        # A plain upload needs no place, and completed ones have none.
        self.assertEqual(server.ask(request('PUT', '/files/c', body='abc')).status, 201)
        self.assertEqual(server.ask(self.append(url, 0, complete=True)).status, 201)
        self.create(server, 'c')
        # Those of an earlier process count.
        server.kill()
        server = self.serve_uploads('--count-max', 2)
        self.assertProblem(server.ask(request('POST', '/files/c', 'Upload-Complete: ?0')), 507)

    def test_expiry(self):
        server = self.serve_uploads('--expire', 400, '--hooks')
        url = self.create(server, 'x', body=b'abc')
        done = self.create(server, 'y', complete=True, body=b'abc')
        self.assertIn('max-age=0', server.get(url).header('upload-limit'))
        self.eventually(lambda: not self.hidden(), what=lambda: f'{self.hidden()} stay')
        self.assertProblem(server.get(url), 404)
        self.assertProblem(server.get(done), 404)
        self.assertEqual(self.names(), ['y'])

    def test_hooks(self):
        server = self.serve_uploads('--hooks')
        for headers in ((), ('Upload-Complete: ?1',)):
            response = server.ask(request('PUT', '/files/no', *headers, body='abc'))
            self.assertProblem(response, 403, 'not this one')
            for body in ('bad', 'ill'):
                response = server.ask(request('PUT', '/files/x', *headers, body=body))
                self.assertProblem(response, 422, 'these bytes are ill' if body == 'ill' else None)
                if headers:
                    self.assertEqual(response.header('upload-complete'), '?1')
                self.assertEqual((self.names(), self.hidden()), ([], []))
            response = server.ask(request('PUT', '/files/to-there', *headers, body='abc'))
            self.assertEqual((response.status, response.header('x-complete')), (201, 'yes'))
            self.assertEqual(response.json(), {'name': 'there', 'size': 3})
            self.assertEqual(self.names(), ['there'])
            if headers:
                self.assertEqual(self.state(server, response.header('location')), (3, True))
                server.get(response.header('location'), method='DELETE')
            os.unlink(self.path('there'))

    def test_folder_that_goes_away(self):
        os.mkdir(self.path('sub'))
        server = self.serve_uploads()
        url = self.create(server, 'sub/x', 'Repr-Digest: sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:')
        os.rmdir(self.path('sub'))
        response = server.ask(self.append(url, 0, b'abc', complete=True))
        self.assertProblem(response, 404, 'folder')
        self.assertEqual(response.header('upload-complete'), '?0')
        self.assertEqual(self.state(server, url), (3, False))
        os.mkdir(self.path('sub'))
        self.assertEqual(server.ask(self.append(url, 3, complete=True)).status, 201)
        self.assertEqual(self.read('sub/x'), b'abc')

    def test_malformed_digests_cost_nothing(self):
        server = self.serve_uploads()
        url = self.create(server, 'x', body=b'abc')
        for field in ('Repr-Digest: nonsense(', 'Content-Digest: nonsense('):
            self.assertProblem(server.ask(self.append(url, 3, b'def', field, complete=True)), 400, 'malformed')
            self.assertEqual(self.state(server, url), (3, False))
        self.assertEqual(server.ask(self.append(url, 3, b'def', complete=True)).status, 201)

    def test_links_to_folders_are_not_replaced(self):
        os.mkdir(self.path('sub'))
        os.symlink('sub', self.path('link'))
        server = self.serve_uploads()
        for headers in ((), ('Upload-Complete: ?1',), ('Upload-Complete: ?0',)):
            self.assertProblem(server.ask(request('PUT', '/files/link', *headers, body='abc')), 409, 'folder')
        self.assertEqual((os.readlink(self.path('link')), os.listdir(self.path('sub')), self.hidden()), ('sub', [], []))

    def test_conditions(self):
        server = self.serve_uploads()
        url = self.create(server, 'x', 'If-None-Match: *')
        self.assertEqual(server.ask(request('PUT', '/files/x', body='other')).status, 201)
        response = server.ask(self.append(url, 0, b'abc', complete=True))
        self.assertProblem(response, 412)
        self.assertEqual(response.header('upload-complete'), '?1')
        self.assertEqual(self.read('x'), b'other')
        self.assertProblem(server.ask(request('POST', '/files/x', 'Upload-Complete: ?0', 'If-None-Match: *')), 412)
        self.assertEqual(self.hidden(), [])
        server = self.serve_uploads('--no-replace')
        for headers in ((), ('Upload-Complete: ?1',)):
            self.assertProblem(server.ask(request('PUT', '/files/x', *headers, body='abc')), 409)
        self.assertEqual(self.read('x'), b'other')

    def test_paths(self):
        os.mkdir(self.path('sub'))
        os.symlink('/tmp', self.path('out'))
        os.symlink('sub', self.path('in'))
        server = self.serve_uploads()
        for headers in ((), ('Upload-Complete: ?1',)):
            for path in ('no/x', 'out/x', '../x', 'sub/../../x'):
                self.assertIn(server.ask(request('PUT', f'/files/{path}', *headers, body='abc')).status, (404, 405), path)
            for path in ('.x', 'sub/.x', '.eddy-uploads/x', 'a%2Fb', 'x/', '', 'sub//x', 'a%01'):
                self.assertIn(server.ask(request('PUT', f'/files/{path}', *headers, body='abc')).status, (400, 404), path)
            self.assertEqual(server.ask(request('PUT', '/files/sub/x', *headers, body='abc')).status, 201)
            self.assertEqual(server.ask(request('PUT', '/files/in/x', *headers, body='abc')).status, 200)
            self.assertProblem(server.ask(request('PUT', '/files/sub', *headers, body='abc')), 409)
            os.unlink(self.path('sub/x'))
        self.assertEqual(self.names(), ['in', 'out', 'sub'])
        url = self.create(server, 'sub/x', body=b'abc')
        os.rename(self.path('sub'), self.path('moved'))
        self.assertProblem(server.ask(self.append(url, 3, b'd', complete=True)), 404)
        os.rename(self.path('moved'), self.path('sub'))
        self.assertEqual(self.state(server, url), (4, False))
        self.assertEqual(server.ask(self.append(url, 4, complete=True)).status, 201)
        self.assertEqual(self.read('sub/x'), b'abcd')

    def test_sync(self):
        server = self.serve_uploads('--sync')
        url = self.create(server, body=b'abc')
        self.assertEqual(self.state(server, url), (3, False))
        self.assertEqual(server.ask(self.append(url, 3, b'def', complete=True)).status, 201)
        self.assertEqual(self.read('x'), b'abcdef')

    def test_damaged_files(self):
        """Whatever is in the hidden folder, the service lives."""
        server = self.serve_uploads()
        urls = [self.create(server, body=b'abc') for _ in range(5)]
        at = [self.path('.eddy-uploads/' + url.rpartition('/')[2]) for url in urls]
        os.unlink(at[0])
        with open(at[1] + '.json', 'w') as file:
            file.write('{"path":')
        with open(at[2] + '.json', 'w') as file:
            json.dump({'path': '../../../etc/x', 'inode': 1}, file)
        os.unlink(at[3])
        os.symlink('/etc/passwd', at[3])
        os.unlink(at[4] + '.json')
        for i, url in enumerate(urls):
            response = server.ask(self.append(url, 3, b'', complete=True))
            self.assertIn(response.status, (404, 400, 500), (i, response))
        self.assertEqual(server.ask(request('PUT', '/files/x', 'Upload-Complete: ?1', body='abc')).status, 201)


class Kills(Resumable):
    """Whatever breaks: no byte that was acknowledged is lost, none is invented, and no partial file has the final name."""
    CLIENTS, SERVERS, SIZE = 30, 8, 4 * MIB

    def setUp(self):
        super().setUp()
        self.random = random.Random(7)
        self.data = pattern(self.SIZE)
        self.acknowledged = 0

    def note(self, response):
        """Learn from a response what the server has acknowledged."""
        offset = response.header('upload-offset')
        if offset is not None:
            self.assertGreaterEqual(int(offset), self.acknowledged)
            self.acknowledged = int(offset)

    @only_http1('responses are seen by looking at the socket')
    def hear(self, wire):
        """Take the interim responses that have come."""
        while select.select([wire.socket], [], [], 0)[0] or wire.buffer:
            self.note(wire.read())

    def send_some(self, server, url, offset, end, hold):
        """Send bytes from `offset` to `end` of an append that would send all, and break off in one of several ways."""
        with server.connect() as wire:
            wire.send(self.append(url, offset, b'', f'Content-Length: {self.SIZE - offset}', INTEROP, complete=True))
            wire.try_send(self.data[offset:end])
            time.sleep(hold)
            try:
                self.hear(wire)
                if self.random.random() < 0.3:
                    wire.end()
                    wire.read_end()
                elif self.random.random() < 0.5:
                    wire.reset()
            except Lost:
                pass

    def check_file(self, url, offset):
        """The hidden file has the beginning of the data."""
        self.assertEqual(self.names(), [])
        with open(self.path('.eddy-uploads/' + url.rpartition('/')[2]), 'rb') as file:
            self.assertEqual(file.read(), self.data[:offset])

    def finish(self, server, url):
        offset, complete = self.state(server, url)
        if not complete:
            self.assertEqual(server.ask(self.append(url, offset, self.data[offset:], complete=True)).status, 201)
        self.assertEqual(self.read('x'), self.data)
        os.unlink(self.path('x'))
        self.acknowledged = 0

    def test_clients(self):
        server = self.serve_uploads('--expire', 1000)
        url = self.create(server)
        for _ in range(self.CLIENTS):
            offset, _ = self.state(server, url)
            if offset > self.SIZE * 3 // 4:
                self.finish(server, url)
                url, offset = self.create(server), 0
            end = offset + self.random.choice((1, 100, 5000, 70000, 700000)) + self.random.randrange(1000)
            self.send_some(server, url, offset, min(end, self.SIZE - 1), self.random.choice((0, 0.002)))
            response = server.get(url)
            self.note(response)
            self.assertLessEqual(self.acknowledged, end)
            self.check_file(url, self.acknowledged)
        self.finish(server, url)
        self.create(server, body=b'left')
        self.eventually(lambda: not self.hidden(), what=lambda: f'{self.hidden()} stay')
        self.assertEqual(self.names(), [])

    def kill_while_sending(self, server, url):
        offset, _ = self.state(server, url)
        delay = self.random.random() * 0.02
        killer = threading.Timer(delay, server.process.kill)
        killer.start()
        with contextlib.suppress(Lost, OSError, TimeoutError):
            with server.connect() as wire:
                wire.send(self.append(url, offset, b'', f'Content-Length: {self.SIZE - offset}', INTEROP, complete=True))
                for at in range(offset, self.SIZE, 64 * KIB):
                    wire.send(self.data[at:at + 64 * KIB])
                    self.hear(wire)
                    time.sleep(0.0005)
                response = wire.read()
                while response.status < 200:
                    self.note(response)
                    response = wire.read()
                self.assertEqual(response.status, 201)
                self.assertEqual(response.header('upload-complete'), '?1')
        killer.join()
        server.kill()

    @only_http1('responses that are looked for in the socket')
    def test_servers(self):
        server = self.serve_uploads()
        url = self.create(server)
        for _ in range(self.SERVERS):
            self.kill_while_sending(server, url)
            server = self.serve_uploads()
            response = server.get(url)
            self.assertEqual(response.status, 204, response)
            self.note(response)
            if response.header('upload-complete') == '?1':
                self.assertEqual(self.read('x'), self.data)
                os.unlink(self.path('x'))
                url, self.acknowledged = self.create(server), 0
                continue
            self.check_file(url, self.acknowledged)
            if self.acknowledged > self.SIZE * 3 // 4:
                self.finish(server, url)
                url = self.create(server)
        self.finish(server, url)

    @unittest.skipUnless(os.geteuid() == 0, 'needs root, to mount a small file system')
    def test_full_disk(self):
        for kind in ('tmpfs', 'ext4'):
            self.dir, _ = mounted(self, kind, 2 * self.SIZE)
            before = self.names()
            server = self.serve_uploads()
            self.assertProblem(server.ask(request('POST', '/files/x', 'Upload-Complete: ?0', 'Upload-Length: 99999999')), 507)
            with open(self.path('ballast'), 'wb') as file:
                file.write(bytes(self.SIZE * 5 // 4))
            url = self.create(server)
            with server.connect() as wire:
                wire.try_send(self.append(url, 0, self.data, complete=True))
                response = wire.read()
            self.assertProblem(response, 507)
            self.note(response)
            self.assertEqual((self.acknowledged, False), self.state(server, url))
            self.assertEqual(self.names(), sorted([*before, 'ballast']))
            os.unlink(self.path('ballast'))
            self.finish(server, url)
            self.assertEqual(self.names(), before)


class Digests(Resumable):
    """RFC 9530 with the draft."""

    def digest(self, name, data, algorithm='sha-256'):
        value = base64.b64encode(hashlib.new(algorithm.replace('-', ''), data).digest()).decode()
        return f'{name}: {algorithm}=:{value}:'

    def test_content(self):
        server = self.serve_uploads()
        response = server.ask(request('PUT', '/files/x', 'Upload-Complete: ?1', self.digest('Content-Digest', b'other'), body='abc'))
        self.assertProblem(response, 400, 'content-digest')
        self.assertEqual((self.names(), self.hidden()), ([], []))
        url = self.create(server, 'x', self.digest('Content-Digest', b'abc'), body=b'abc')
        # Bytes that are not as announced are not kept, and their offset is not told.
        with server.connect() as wire:
            wire.send(self.append(url, 3, b'def', self.digest('Content-Digest', b'other'), INTEROP))
            response = wire.read()
            self.assertProblem(response, 400, 'content-digest')
            self.assertEqual((response.header('upload-offset'), response.header('upload-complete')), ('3', '?0'))
        self.assertEqual(self.state(server, url), (3, False))
        for algorithm in ('sha-256', 'sha-512'):
            with self.subTest(algorithm):
                offset, _ = self.state(server, url)
                header = self.digest('Content-Digest', b'def', algorithm)
                self.assertEqual(server.ask(self.append(url, offset, b'def', header)).status, 204)
        self.assertProblem(server.ask(self.append(url, 9, b'ghi', 'Content-Digest: sha-256=abc')), 400)
        self.assertEqual(server.ask(self.append(url, 9, complete=True)).status, 201)
        self.assertEqual(self.read('x'), b'abcdefdef')

    def test_killed_before_they_were_checked(self):
        server = self.serve_uploads()
        url = self.create(server, body=b'abc')
        with server.connect() as wire:
            wire.send(self.append(url, 3, b'', 'Content-Length: 300000', self.digest('Content-Digest', b'other')) + bytes(200000))
            path = self.path('.eddy-uploads/' + url.split('/')[-1])
            self.eventually(lambda: os.path.getsize(path) > 3)
            server.kill()
        server = self.serve_uploads()
        self.assertEqual(self.state(server, url), (3, False))
        self.assertEqual(server.ask(self.append(url, 3, b'def')).status, 204)
        server.kill()
        server = self.serve_uploads()
        self.assertEqual(self.state(server, url), (6, False))

    def test_whole(self):
        server = self.serve_uploads()
        for data, status in ((b'abcdef', 201), (b'other', 400)):
            url = self.create(server, 'x', self.digest('Repr-Digest', data), body=b'abc')
            server.kill()
            server = self.serve_uploads()
            response = server.ask(self.append(url, 3, b'def', complete=True))
            self.assertEqual((response.status, response.header('upload-complete')), (status, '?1'), response)
        self.assertProblem(server.get(url), 404)
        self.assertEqual(self.read('x'), b'abcdef')
        # The digest is kept with the file.
        response = server.get('/files/x', 'Want-Repr-Digest: sha-256=1')
        self.assertEqual('Repr-Digest: ' + (response.header('repr-digest') or ''), self.digest('Repr-Digest', b'abcdef'))


class Tus(Resumable):
    """tus 1.0.0."""
    TUS = 'Tus-Resumable: 1.0.0'
    BYTES = 'Content-Type: application/offset+octet-stream'

    def serve_tus(self, *args):
        return self.serve_uploads('--tus', '/tus', *args)

    def metadata(self, name):
        return 'Upload-Metadata: filename ' + base64.b64encode(name.encode()).decode() + ',is_confidential'

    def begin(self, server, name='x', *headers, path='/tus/', body=b''):
        response = server.ask(request('POST', path, self.TUS, self.metadata(name), *headers, body=body))
        self.assertEqual(response.status, 201, response)
        self.assertEqual(response.header('tus-resumable'), '1.0.0')
        self.assertRegex(response.header('location'), '^/tus/[0-9a-f]{32}$')
        return response.header('location')

    def patch(self, url, offset, body, *headers):
        return request('PATCH', url, self.TUS, self.BYTES, f'Upload-Offset: {offset}', *headers, body=body)

    def head(self, server, url):
        response = server.get(url, self.TUS, method='HEAD')
        self.assertEqual(response.status, 200, response)
        self.assertEqual(response.header('cache-control'), 'no-store')
        return response

    def test_upload(self):
        server = self.serve_tus()
        url = self.begin(server, 'x', 'Upload-Length: 6')
        response = self.head(server, url)
        self.assertEqual((response.header('upload-offset'), response.header('upload-length')), ('0', '6'))
        self.assertEqual('Upload-Metadata: ' + response.header('upload-metadata'), self.metadata('x'))
        response = server.ask(self.patch(url, 0, b'abc'))
        self.assertEqual((response.status, response.header('upload-offset')), (204, '3'))
        self.assertRegex(response.header('upload-expires'), ' GMT$')
        self.assertEqual(self.names(), [])
        response = server.ask(self.patch(url, 3, b'def'))
        self.assertEqual((response.status, response.header('upload-offset'), response.body), (204, '6', b''))
        self.assertEqual(self.read('x'), b'abcdef')
        self.assertEqual(self.head(server, url).header('upload-offset'), '6')
        self.assertEqual(server.ask(self.patch(url, 6, b'')).status, 204)
        self.assertProblem(server.ask(self.patch(url, 6, b'g')), 409)

    def test_creation(self):
        os.mkdir(self.path('sub'))
        server = self.serve_tus()
        url = self.begin(server, 'x', 'Upload-Length: 6', self.BYTES, body=b'abc')
        self.assertEqual(self.head(server, url).header('upload-offset'), '3')
        self.begin(server, 'whole', 'Upload-Length: 3', self.BYTES, body=b'abc')
        self.begin(server, 'empty', 'Upload-Length: 0')
        self.begin(server, '../../sub/name', 'Upload-Length: 0')
        self.begin(server, 'x', 'Upload-Length: 0', path='/tus/sub')
        self.assertEqual((self.names(), os.listdir(self.path('sub'))), (['empty', 'name', 'sub', 'whole'], ['x']))
        url = self.begin(server, 'later', 'Upload-Defer-Length: 1')
        self.assertEqual(self.head(server, url).header('upload-defer-length'), '1')
        self.assertEqual(server.ask(self.patch(url, 0, b'abc')).status, 204)
        self.assertEqual(server.ask(self.patch(url, 3, b'def', 'Upload-Length: 6')).status, 204)
        self.assertEqual(self.read('later'), b'abcdef')
        # Over the draft's URL it is the same upload.
        url = self.begin(server, 'y', 'Upload-Length: 3').replace('/tus/', '/uploads/')
        self.assertEqual(self.state(server, url), (0, False))

    def test_errors(self):
        server = self.serve_tus('--max', 10)
        ask = server.ask
        response = ask(request('POST', '/tus/', self.metadata('x'), 'Upload-Length: 1'))
        self.assertProblem(response, 412)
        self.assertEqual(response.header('tus-version'), '1.0.0')
        for lines in ((), ('Upload-Length: -1',), ('Upload-Length: 1', 'Upload-Defer-Length: 1'), ('Upload-Defer-Length: 2',)):
            self.assertProblem(ask(request('POST', '/tus/', self.TUS, self.metadata('x'), *lines)), 400)
        for metadata in ('Upload-Metadata: filename', 'Upload-Metadata: filename ***', 'Upload-Metadata: other YQ==', 'X: y',
                         self.metadata('..'), self.metadata('a\nb')):
            self.assertProblem(ask(request('POST', '/tus/', self.TUS, metadata, 'Upload-Length: 1')), 400)
        self.assertProblem(ask(request('POST', '/tus/', self.TUS, self.metadata('x'), 'Upload-Length: 11')), 413)
        self.assertProblem(ask(request('POST', '/tus/', self.TUS, self.metadata('x'), 'Upload-Length: 1', body='a')), 415)
        self.assertProblem(ask(request('POST', '/tus/no/', self.TUS, self.metadata('x'), 'Upload-Length: 1')), 404)
        self.assertEqual(self.hidden(), [])
        url = self.begin(server, 'x', 'Upload-Length: 3')
        self.assertProblem(ask(self.patch(url, 1, b'a')), 409)
        later = self.begin(server, 'later', 'Upload-Defer-Length: 1')
        self.assertEqual(ask(self.patch(later, 0, b'abc')).status, 204)
        self.assertProblem(ask(self.patch(later, 3, b'', 'Upload-Length: 2')), 400, 'upload-length')
        self.assertProblem(ask(self.patch(later, 3, b'', 'Upload-Length: 11')), 413, 'tus-max-size')
        self.assertProblem(ask(request('PATCH', url, self.TUS, 'Upload-Offset: 0', body='a')), 415)
        self.assertProblem(ask(request('PATCH', url, self.TUS, self.BYTES, body='a')), 400)
        self.assertProblem(ask(self.patch(url, 0, b'abcd')), 413)
        self.assertEqual(self.head(server, url).header('upload-offset'), '0')
        self.assertProblem(ask(self.patch('/tus/' + '0' * 32, 0, b'a')), 404)
        self.assertEqual(server.get('/tus/' + '0' * 32, self.TUS, method='HEAD').status, 404)

    def test_checksum(self):
        server = self.serve_tus()
        url = self.begin(server, 'x', 'Upload-Length: 9')
        checksum = lambda name, data: f'Upload-Checksum: {name} {base64.b64encode(hashlib.new(name, data).digest()).decode()}'
        response = server.ask(self.patch(url, 0, b'abc', checksum('sha1', b'other')))
        self.assertEqual((response.status, response.header('upload-offset')), (460, '0'))
        for i, name in enumerate(('sha1', 'sha256', 'sha512')):
            self.assertEqual(server.ask(self.patch(url, 3 * i, b'abc', checksum(name, b'abc'))).status, 204)
        self.assertEqual(self.read('x'), b'abcabcabc')
        url = self.begin(server, 'y', 'Upload-Length: 9')
        for value in ('md5 AAAA', 'sha1', 'sha1 AAAA', 'sha1 ' + '*' * 28):
            self.assertProblem(server.ask(self.patch(url, 0, b'abc', f'Upload-Checksum: {value}')), 400)
        self.assertEqual(self.head(server, url).header('upload-offset'), '0')

    def test_completed_by_head(self):
        """An upload all of whose bytes had arrived when the server was killed, or when it could not get its name."""
        server = self.serve_tus()
        url = self.begin(server, 'x', 'Upload-Length: 3')
        with open(self.path('.eddy-uploads/' + url.split('/')[-1]), 'wb') as file:
            file.write(b'abc')
        response = self.head(server, url)
        self.assertEqual((response.header('upload-offset'), response.header('upload-expires')), ('3', None))
        self.assertEqual(self.read('x'), b'abc')
        os.mkdir(self.path('sub'))
        url = self.begin(server, 'y', 'Upload-Length: 3', path='/tus/sub')
        os.rmdir(self.path('sub'))
        self.assertProblem(server.ask(self.patch(url, 0, b'abc')), 404)
        self.assertEqual(server.get(url, self.TUS, method='HEAD').status, 404)
        os.mkdir(self.path('sub'))
        self.assertEqual(self.head(server, url).header('upload-offset'), '3')
        self.assertEqual(self.read('sub/y'), b'abc')

    def test_paths(self):
        server = self.serve_tus()
        for name in ('a\nb', '.hidden', 'a\x7fb'):
            os.mkdir(self.path(name))
        for path in ('/tus/a%0Ab', '/tus/.hidden', '/tus/a%7Fb', '/tus/%ff'):
            response = server.ask(request('POST', path, self.TUS, self.metadata('x'), 'Upload-Length: 0'))
            self.assertProblem(response, 404)
        response = server.ask(request('POST', '/tus/', self.TUS, self.metadata('x') + ',b \xff', 'Upload-Length: 0'))
        self.assertProblem(response, 400, 'upload-metadata')

    def test_termination(self):
        server = self.serve_tus()
        url = self.begin(server, 'x', 'Upload-Length: 9')
        self.assertEqual(server.get(url, self.TUS, method='DELETE').status, 204)
        self.assertEqual(server.get(url, self.TUS, method='HEAD').status, 404)
        self.assertEqual(self.hidden(), [])

    def test_offer(self):
        response = self.serve_tus('--max', 10).get('/tus/', method='OPTIONS')
        self.assertEqual((response.status, response.header('tus-version'), response.header('tus-max-size')), (204, '1.0.0', '10'))
        for extension in ('creation', 'creation-with-upload', 'termination', 'checksum', 'expiration'):
            self.assertIn(extension, response.header('tus-extension').split(','))
        self.assertIn('sha1', response.header('tus-checksum-algorithm').split(','))
