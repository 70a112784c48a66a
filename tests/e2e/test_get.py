"""The command eddy get: downloads that continue."""
import contextlib
import errno
import fcntl
import hashlib
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
import unittest
import urllib.parse

import tls
from cutting import Cutter, Origin
from mounted import mounted
from wire import KIB, MIB, PROGRAMS, Case, pattern, sha256_of

GET = (PROGRAMS['eddy'], 'get')


class Get(Case):
    def setUp(self):
        self.dir = self.folder()

    def begin(self, *args, **options):
        return subprocess.Popen([*GET, *map(str, args)], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def end(self, process, status=0):
        out, said = process.communicate(timeout=100)
        said = said.decode()
        self.assertEqual(process.returncode, status, said)
        self.assertNotRegex(said, 'Sanitizer|runtime error')
        self.out = out
        return said

    def get(self, *args, status=0):
        return self.end(self.begin(*args), status)

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def names(self):
        return sorted(os.listdir(self.dir))

    def url(self, port, path='/files/file'):
        return f'http://127.0.0.1:{port}{path}'

    def serve_file(self, size):
        folder = self.folder()
        with open(os.path.join(folder, 'file'), 'wb') as file:
            file.write(pattern(size))
        return self.serve(folder), pattern(size)


class Continuing(Get):
    def test_whole(self):
        server, data = self.serve_file(40 * MIB)
        said = self.get(self.url(server.port))
        self.assertEqual(self.read('file'), data)
        self.assertEqual(self.names(), ['file'])
        self.assertRegex(said, r'^file: 40\.0 MiB in [\d.]+ s, [\d.]+ \w+/s\n$')

    def test_cut_20_times(self):
        """The connection ends at random places: each byte is sent once."""
        server, data = self.serve_file(5 * MIB)
        with Cutter(server.port, 20) as cutter:
            said = self.get(self.url(cutter.port))
        self.assertEqual(self.read('file'), data)
        self.assertEqual(cutter.passed, len(data))
        self.assertEqual(cutter.left, 0)
        self.assertIn(', 20 retries', said)
        # Each continues where the one before it ended, on the condition that the file is the same.
        for request in cutter.requests[1:]:
            self.assertRegex(request, r'(?m)^range: bytes=\d+-\d+\r\nif-range: "[^"]+"\r$')
        self.assertEqual(self.names(), ['file'])

    def test_reset_10_times(self):
        server, data = self.serve_file(5 * MIB)
        with Cutter(server.port, 10, by_reset=True) as cutter:
            self.get(self.url(cutter.port))
        self.assertEqual(self.read('file'), data)
        # A reset takes along what is in the receive buffer.
        self.assertLess(cutter.passed, 2 * len(data))

    def test_cut_by_several_connections(self):
        server, data = self.serve_file(20 * MIB)
        with Cutter(server.port, 40, most=900 * KIB) as cutter:
            said = self.get(self.url(cutter.port), '--connections', 5)
        self.assertEqual(self.read('file'), data, said)
        self.assertGreaterEqual(cutter.passed, len(data))
        self.assertLess(cutter.passed, len(data) + MIB)
        self.assertEqual(self.names(), ['file'])

    def test_killed_20_times(self):
        """What an earlier process has got is not asked for again, whether one connection got it or several."""
        for connections in (1, 4):
            with self.subTest(connections=connections):
                data = pattern(30 * MIB)

                def slowly(handler):
                    time.sleep(0.05)
                    origin.send(handler, 300 * KIB)
                    return True
                with Origin(data, answer=slowly) as origin:
                    url = self.url(origin.port)
                    for i in range(20):
                        process = self.begin(url, '--connections', connections, '--retries', 1000)
                        time.sleep(0.1 + i * 0.01)
                        process.kill()
                        process.communicate()
                        if os.path.exists(self.path('file')):
                            break
                        self.assertLessEqual(set(self.names()), {'.file.eddy-part', '.file.eddy-state'})
                    begun = not os.path.exists(self.path('file'))
                    origin.answer = lambda handler: False
                    said = self.get(url, '--connections', connections, '--force')
                self.assertEqual(self.read('file'), data)
                self.assertEqual(self.names(), ['file'])
                if begun:
                    self.assertIn('from an earlier run', said)
                os.unlink(self.path('file'))

    def test_several_connections_continue(self):
        """After a kill while the first piece is missing and the others are not, and after an interruption. What one connection left, several load."""
        data = pattern(40 * MIB)

        def slowly(handler):
            if handler.headers['range'].startswith('bytes=0-'):
                origin.send(handler, 300 * KIB)
                handler.wfile.flush()
                gate.wait(30)
                return True
            if len(origin.requests) > 9:
                gate.wait(30)
            return False
        for signo in (signal.SIGKILL, signal.SIGINT):
            for connections in (4, 1):
                with self.subTest(signo=signo, connections=connections):
                    gate = threading.Event()
                    with Origin(data, answer=slowly) as origin:
                        process = self.begin(self.url(origin.port), '--connections', 4)
                        self.eventually(lambda: len(origin.requests) > 9)
                        process.send_signal(signo)
                        process.communicate()
                        gate.set()
                        origin.answer = lambda handler: False
                        del origin.requests[:]
                        self.assertIn('from an earlier run', self.get(self.url(origin.port), '--connections', connections))
                        self.assertEqual(self.read('file'), data)
                        self.assertEqual({headers['if-range'] for _, headers in origin.requests}, {'"1"'})
                        os.unlink(self.path('file'))
        with Origin(data, answer=lambda handler: origin.send(handler, 8 * MIB) or True) as origin:
            self.get(self.url(origin.port), '--retries', 0, status=3)
            origin.answer = lambda handler: False
            self.assertIn('8.0 MiB of it from an earlier run', self.get(self.url(origin.port), '--connections', 4))
        self.assertEqual(self.read('file'), data)
        self.assertGreater(len(origin.requests), 5)
        self.assertEqual(min(int(headers['range'][6:].partition('-')[0]) for _, headers in origin.requests[1:]), 8 * MIB)

    def test_killed_before_anything_is_known(self):
        """Of the parts that several connections have left, the length of the file tells nothing, also to a second run that is killed."""
        data = pattern(8 * MIB)

        def begin(handler):
            handler.wfile.flush()
            origin.send(handler, 300 * KIB if 'range' in handler.headers else 0)
            handler.wfile.flush()
            gate.wait(30)
            return True
        gate = threading.Event()
        with Origin(data, answer=begin) as origin:
            for connections, requests in ((4, 4), (1, 5)):
                process = self.begin(self.url(origin.port), '--connections', connections)
                self.eventually(lambda: len(origin.requests) == requests and '.file.eddy-state' in self.names())
                if connections == 4:
                    self.eventually(lambda: os.path.getsize(self.path('.file.eddy-part')) > 3 * MIB)
                process.kill()
                process.communicate()
            gate.set()
            origin.answer = lambda handler: False
            self.get(self.url(origin.port))
        self.assertEqual(self.read('file'), data)

    def test_several_connections_without_a_strong_tag(self):
        """Parts could then be those of different files."""
        data = pattern(3 * MIB)
        for etag, fields in (('W/"1"', ()), (None, ()), (None, [('last-modified', 'Sun, 06 Nov 1994 08:49:37 GMT')])):
            with self.subTest(etag=etag, fields=fields), Origin(data, etag=etag, fields=fields) as origin:
                self.get(self.url(origin.port), '--connections', 4)
                self.assertEqual(self.read('file'), data)
                self.assertEqual(['range' in headers for _, headers in origin.requests], [True, False])
                os.unlink(self.path('file'))

    def test_state_is_written_once_a_second(self):
        """Also by a single connection: after a restart of the machine, only that is known."""
        data = pattern(MIB)

        def slowly(handler):
            handler.send_response(200)
            handler.send_header('etag', '"1"')
            handler.send_header('content-length', len(data))
            handler.end_headers()
            for at in range(0, len(data), 40 * KIB):
                handler.wfile.write(data[at:at + 40 * KIB])
                time.sleep(0.1)
            return True
        with Origin(data, answer=slowly) as origin:
            process = self.begin(self.url(origin.port))
            self.eventually(lambda: '.file.eddy-state' in self.names() and self.read('.file.eddy-state'))
            first = self.read('.file.eddy-state')
            self.eventually(lambda: self.read('.file.eddy-state') != first)
            self.assertIsNone(process.poll())
            process.kill()
            process.communicate()

    def test_interrupted(self):
        def slowly(handler):
            origin.send(handler, MIB)
            time.sleep(20)
            return True
        data = pattern(3 * MIB)
        with Origin(data, answer=slowly) as origin:
            process = self.begin(self.url(origin.port))
            self.eventually(lambda: os.path.exists(self.path('.file.eddy-part')) and os.path.getsize(self.path('.file.eddy-part')) == MIB)
            process.send_signal(signal.SIGINT)
            said = self.end(process, 130)
            self.assertIn('1.0 MiB were kept; to continue, run the same command again', said)
            origin.answer = lambda handler: False
            self.assertIn(', 1.0 MiB of it from an earlier run', self.get(self.url(origin.port)))
        self.assertEqual(self.read('file'), data)
        self.assertEqual(origin.requests[-1][1]['range'], f'bytes={MIB}-{3 * MIB - 1}')

    def test_file_that_changes(self):
        """In the middle of it, with one connection and with several: never bytes of both."""
        old, new = pattern(6 * MIB, 1), pattern(5 * MIB, 2)
        for connections in (1, 4):
            with self.subTest(connections=connections):
                def change(handler):
                    with origin.lock:
                        changes = len(origin.requests) == 3
                        if changes:
                            origin.data, origin.etag = new, '"2"'
                    origin.send(handler, None if changes else MIB)
                    return True
                with Origin(old, answer=change) as origin:
                    self.get(self.url(origin.port), '--connections', connections)
                self.assertEqual(self.read('file'), new)
                os.unlink(self.path('file'))

    def test_without_ranges(self):
        data = pattern(MIB)
        with Origin(data, ranges=False) as origin:
            self.get(self.url(origin.port), '--connections', 4)
        self.assertEqual(self.read('file'), data)

    def test_several_connections(self):
        data = pattern(16 * MIB)
        together, gate = [], threading.Barrier(4, timeout=30)

        def wait(handler):
            if len(together) < 4:
                together.append(handler)
                with contextlib.suppress(threading.BrokenBarrierError):
                    if len(origin.requests) > 1:
                        gate.wait()
            return False
        with Origin(data, answer=wait) as origin:
            gate = threading.Barrier(3, timeout=30)
            self.get(self.url(origin.port), '--connections', 4)
        self.assertEqual(self.read('file'), data)
        self.assertFalse(gate.broken, 'three more at once')
        ranges = sorted(tuple(map(int, re.findall(r'\d+', headers['range']))) for _, headers in origin.requests)
        self.assertEqual(ranges[0][0], 0)
        for (_, last), (first, _) in zip(ranges, ranges[1:]):
            self.assertEqual(first, last + 1)
        self.assertEqual(ranges[-1][1], len(data) - 1)

    def test_over_tls(self):
        tls.setUpModule()
        self.addCleanup(tls.tearDownModule)
        server, data = self.serve_file(0)[0], pattern(10 * MIB)
        folder = self.folder()
        with open(os.path.join(folder, 'file'), 'wb') as file:
            file.write(data)
        server = self.serve(folder, '--cert', tls.at('server.pem'), '--key', tls.at('server.key'))
        with Cutter(server.port, 5, least=MIB, most=2 * MIB, raw=True) as cutter:
            self.get(f'https://localhost:{cutter.port}/files/file', '--ca', tls.at('ca.pem'), '--connections', 2)
        self.assertEqual(self.read('file'), data)
        self.assertIn('not trusted', self.get(f'https://localhost:{server.port}/files/file', '--force', status=1))


class Servers(Get):
    """Servers that answer otherwise."""

    def test_passing_failures(self):
        said = []

        def fail(handler):
            if len(origin.requests) > 3:
                return False
            handler.send_response((500, 429, 503)[len(origin.requests) - 1])
            if len(origin.requests) == 3:
                handler.send_header('retry-after', '1')
            handler.send_header('content-length', '0')
            handler.end_headers()
            said.append(time.monotonic())
            return True
        with Origin(b'hello', answer=fail) as origin:
            text = self.get(self.url(origin.port))
            self.assertGreater(time.monotonic() - said[2], 1)
        self.assertEqual(self.read('file'), b'hello')
        self.assertIn(': the server answered 429 Too Many Requests', text)
        self.assertIn(', 3 retries', text)

    def test_failures(self):
        def answer(status, *fields):
            def send(handler):
                handler.send_response(status)
                for name, value in fields:
                    handler.send_header(name, value)
                handler.send_header('content-length', '0')
                handler.end_headers()
                return True
            return send
        for status, text, *fields in ((404, '404 Not Found'), (403, '403 Forbidden'), (503, '503 Service Unavailable', ('retry-after', '1000')),
                                      (302, 'redirect')):
            fields += [('location', 'ftp://a.example/')] if status == 302 else []
            with self.subTest(status), Origin(b'', answer=answer(status, *fields)) as origin:
                self.assertIn(text, self.get(self.url(origin.port), status=1))
                self.assertEqual(self.names(), [])
        with socket.create_server(('127.0.0.1', 0)) as listener:
            port = listener.getsockname()[1]
        self.assertIn("can't connect", self.get(self.url(port), status=1))
        # What has been received is kept for a file that can be continued.
        with Origin(pattern(MIB), answer=lambda handler: origin.send(handler, 1000) or True) as origin:
            origin.data = pattern(MIB)
            said = self.get(self.url(origin.port), '--retries', 0, status=3)
        self.assertIn('1.0 KiB were kept; to continue, run the same command again', said)
        self.assertEqual(self.names(), ['.file.eddy-part', '.file.eddy-state'])

    def test_redirect(self):
        def redirect(handler):
            if handler.path == '/there':
                return False
            handler.send_response(302)
            handler.send_header('location', '/there')
            handler.send_header('content-length', '0')
            handler.end_headers()
            return True
        with Origin(b'hello', answer=redirect) as origin:
            self.get(self.url(origin.port))
        self.assertEqual(self.read('file'), b'hello')

    def test_redirect_is_followed_once(self):
        """Another one could lead to another copy; one that has expired is asked for again. The other origin gets no credentials."""
        data = pattern(6 * MIB)

        def redirect(handler):
            handler.send_response(302)
            handler.send_header('location', self.url(target.port, f'/{len(origin.requests)}'))
            handler.send_header('content-length', '0')
            handler.end_headers()
            return True

        def expire(handler):
            with target.lock:
                expires = not expired and handler.path == '/1' and len(target.requests) > 2
                expired.extend([True] * expires)
            if not expires:
                target.send(handler, MIB)
                return True
            handler.send_response(403)
            handler.send_header('content-length', '0')
            handler.end_headers()
            return True
        for connections in (1, 4):
            for expired, most in (([True], 1), ([], 1 + connections)):
                with Origin(data, answer=expire) as target, Origin(b'', answer=redirect) as origin:
                    self.get(self.url(origin.port), '-H', 'Authorization: secret', '--connections', connections)
                self.assertEqual(self.read('file'), data)
                self.assertIn(len(origin.requests), range(min(most, 2), most + 1))
                self.assertGreater(len(target.requests), 5)
                self.assertEqual([headers for _, headers in target.requests if 'Authorization' in headers], [])
                os.unlink(self.path('file'))

    def test_names(self):
        """Of the server's or the URL's name, the last segment is left; nothing is replaced unless that is asked for."""
        for disposition, path, name in (('attachment; filename="../../etc/x"', '/a', 'x'), ('attachment; filename=".hidden"', '/a', 'hidden'),
                                        ('attachment; filename="a\\\\b"', '/a', 'b'), ('attachment', '/a%2Fb', 'b'), (None, '/a/..%2F..%2Fc', 'c'),
                                        (None, '/', 'index.html'), (None, '/a/?x=/y', 'index.html'), (None, '/%E2%82%AC?b', '€'),
                                        ("attachment; filename*=UTF-8''%E2%82%AC", '/a', '€'), (None, '/a%1b%5b2J', 'index.html')):
            with self.subTest(disposition=disposition, path=path):
                with Origin(b'hello', fields=[('content-disposition', disposition)] if disposition else ()) as origin:
                    self.get(self.url(origin.port, path))
                self.assertEqual(self.names(), [name])
                os.unlink(self.path(name))
        with open(self.path('file'), 'w') as file:
            file.write('old')
        with Origin(b'hello') as origin:
            self.assertIn('to replace it: --force', self.get(self.url(origin.port), status=1))
            self.assertEqual(self.read('file'), b'old')
            self.get(self.url(origin.port), '--force')
            self.assertEqual(self.read('file'), b'hello')
            os.mkdir(self.path('sub'))
            self.get(self.url(origin.port), '-o', 'sub')
            self.get(self.url(origin.port), 'sub/other')
            self.assertEqual(sorted(os.listdir(self.path('sub'))), ['file', 'other'])
            self.assertIn("can't open the folder", self.get(self.url(origin.port), 'none/other', status=1))

    def test_to_standard_output(self):
        server, data = self.serve_file(2 * MIB)
        with Cutter(server.port, 5) as cutter:
            self.get(self.url(cutter.port), '-')
        self.assertEqual(self.out, data)
        self.assertEqual(self.names(), [])

    def test_headers(self):
        with Origin(b'hello') as origin:
            self.get(self.url(origin.port), '--header', 'Authorization: secret', '-H', 'X-Empty:')
            self.assertEqual(origin.requests[0][1]['Authorization'], 'secret')
            self.assertIn('takes NAME:VALUE', self.get(self.url(origin.port), '-H', 'nonsense', status=2))
            self.assertIn('is set by the client itself', self.get(self.url(origin.port), '--force', '-H', 'Host: x', status=1))

    def test_nothing_is_kept(self):
        """Of a server that sends a head only."""
        with Origin(pattern(MIB), answer=lambda handler: origin.send(handler, 0) or True) as origin:
            said = self.get(self.url(origin.port), '--retries', 2, status=1)
        self.assertNotRegex(said, 'kept|changed')
        self.assertEqual(len(origin.requests), 3)
        self.assertEqual(self.names(), [])

    def write_login(self, text='ann:secret\n', mode=0o600):
        path = os.path.join(self.folder(), 'login')
        with open(path, 'w') as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def test_login(self):
        folder, login = self.folder(), self.write_login('ann:se:cr\xe9t')
        with open(os.path.join(folder, 'file'), 'wb') as file:
            file.write(b'hello')
        server = self.serve(folder, '--login', login)
        self.get(self.url(server.port), '--login', login)
        self.assertEqual(self.read('file'), b'hello')
        self.assertIn('401 Unauthorized', self.get(self.url(server.port), '--force', status=1))

    def test_login_is_for_one_origin(self):
        def redirect(handler):
            handler.send_response(302)
            handler.send_header('location', self.url(target.port))
            handler.send_header('content-length', '0')
            handler.end_headers()
            return True
        with Origin(b'hello') as target, Origin(b'', answer=redirect) as origin:
            self.get(self.url(origin.port), '--login', self.write_login())
        self.assertEqual(origin.requests[0][1]['authorization'], 'Basic YW5uOnNlY3JldA==')
        self.assertEqual([headers for _, headers in target.requests if 'authorization' in headers], [])

    def test_login_files(self):
        for text, why in (('', 'not one line NAME:PASSWORD'), ('ann\n', 'not one line'), (':x\n', 'not one line'), ('ann:\n', 'not one line'),
                          ('a:b\nc:d\n', 'more than one line'), ('a:b\r\n', 'a control character'), ('ann:' + 'x' * 600, 'not one line')):
            said = self.get('http://127.0.0.1:1/', '--login', self.write_login(text), status=2)
            self.assertIn(why, said)
        for mode in (0o640, 0o604, 0o620):
            self.assertIn('try: chmod 600', self.get('http://127.0.0.1:1/', '--login', self.write_login(mode=mode), status=2))
        self.assertIn('No such file', self.get('http://127.0.0.1:1/', '--login', '/nowhere', status=2))
        self.assertIn('no regular file', self.get('http://127.0.0.1:1/', '--login', '/dev/null', status=2))
        login = self.write_login()
        self.assertIn('more than one option --login', self.get('http://127.0.0.1:1/', '--login', login, '--login', login, status=2))

    def test_user_in_url(self):
        for url in ('http://ann:secret@127.0.0.1:1/x', 'https://ann@a.example', 'http://ann:secret@a.example?x'):
            said = self.get(url, status=2)
            self.assertIn('use --login FILE', said)
            self.assertNotIn('secret', said)
        with Origin(b'hello') as origin:
            self.get(self.url(origin.port, '/ann:x@b'), 'x')

    def test_digests(self):
        data = pattern(MIB)
        right = __import__('base64').b64encode(hashlib.sha256(data).digest()).decode()
        wrong = __import__('base64').b64encode(hashlib.sha256(b'').digest()).decode()
        with Origin(data, fields=[('repr-digest', f'sha-256=:{right}:')]) as origin:
            self.assertIn(', sha-256 checked', self.get(self.url(origin.port), '--digest'))
            self.assertIn('sha-256', origin.requests[0][1]['want-repr-digest'])
            self.assertIn(', sha-256 checked', self.get(self.url(origin.port), '--force'))
            self.assertNotIn('want-repr-digest', origin.requests[1][1])
        os.unlink(self.path('file'))
        with Origin(data, fields=[('repr-digest', f'sha-256=:{wrong}:')]) as origin:
            self.assertIn('differs from', self.get(self.url(origin.port), status=4))
            self.assertEqual(self.names(), [])
        with Origin(data) as origin:
            self.assertIn('no digest', self.get(self.url(origin.port), '--digest', status=3))
            self.assertIn('from an earlier run', self.get(self.url(origin.port)))
        self.assertEqual(self.read('file'), data)

    def test_control_characters(self):
        """A server can't write to the terminal."""
        hidden = '\x9b\u061c\u200b\u200e\u200f\u2028\u202e\u2060\u206f\ufeff'
        for name, printed in ((f'a{hidden}b', f"a{'?' * len(hidden)}b"), ('a\u200d\xe9\u20ac\U0001f600"\\b', None)):
            with self.subTest(name), Origin(b'hello', fields=[('content-disposition',
                                                               f"attachment; filename*=UTF-8''{urllib.parse.quote(name)}")]) as origin:
                self.assertEqual(self.get(self.url(origin.port)).partition(': ')[0], printed or name.rpartition('\\')[2])

    def test_usage(self):
        self.assertIn('a URL is missing', self.get(status=2))
        self.assertIn('there is no option --nonsense', self.get('x', '--nonsense', status=2))
        self.assertIn('--connections takes a number', self.get('x', '--connections', 17, status=2))
        self.assertIn('a value is missing', self.get('x', '-o', status=2))
        self.assertIn('too many arguments', self.get('x', 'y', 'z', status=2))
        self.assertIn('neither http nor https', self.get('ftp://a.example/x', status=1))
        self.get('--help')
        self.assertIn(b'usage: eddy-get URL', self.out)

    @unittest.skipUnless(shutil.which('nginx'), 'needs nginx')
    def test_nginx(self):
        folder = self.folder()
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, 'file'), 'wb') as file:
            file.write(pattern(20 * MIB))
        with socket.create_server(('127.0.0.1', 0)) as listener:
            port = listener.getsockname()[1]
        with open(os.path.join(folder, 'nginx.conf'), 'w') as file:
            file.write(f'daemon off; master_process off; pid {folder}/pid; error_log stderr; events {{}}\n'
                       f'http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;\n'
                       f'uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n'
                       f'server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n')
        nginx = subprocess.Popen(['nginx', '-c', file.name], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.eventually(lambda: socket.socket().connect_ex(('127.0.0.1', port)) == 0)
            for connections in (1, 4):
                with Cutter(port, 10, most=2 * MIB) as cutter:
                    self.get(self.url(cutter.port, '/file'), '--connections', connections, '--force')
                self.assertEqual(sha256_of(self.path('file')), sha256_of(os.path.join(folder, 'file')))
        finally:
            nginx.terminate()
            nginx.wait()


class Disks(Get):
    @unittest.skipUnless(os.geteuid() == 0, 'needs root, to mount a small file system')
    def test_full(self):
        self.dir = mounted(self, 'tmpfs', 4 * MIB)[0]
        server, data = self.serve_file(3 * MIB)
        with open(self.path('other'), 'wb') as file:
            file.write(pattern(2 * MIB))
        with self.subTest('announced'):
            self.assertIn('too little free space', self.get(self.url(server.port), status=1))
            self.assertEqual(self.names(), ['other'])
        os.unlink(self.path('other'))
        with self.subTest('reserved'), Origin(data) as origin:
            gate = threading.Event()
            origin.answer = lambda handler: origin.send(handler, MIB) or gate.wait(30)
            process = self.begin(self.url(origin.port))
            self.eventually(lambda: self.names() and os.stat(self.path('.file.eddy-part')).st_blocks * 512 == 3 * MIB)
            gate.set()
            origin.answer = lambda handler: False
            self.end(process)
            self.assertEqual(os.stat(self.path('file')).st_blocks * 512, 3 * MIB)
            os.unlink(self.path('file'))
        with self.subTest('of unknown size, taken by others meanwhile'):
            def slowly(handler):
                handler.send_response(200)
                handler.send_header('etag', '"1"')
                handler.send_header('transfer-encoding', 'chunked')
                handler.end_headers()
                handler.wfile.write(b'%x\r\n%b\r\n' % (MIB, data[:MIB]))
                with open(self.path('other'), 'wb') as file:
                    file.write(pattern(2 * MIB))
                handler.wfile.write(b'%x\r\n%b\r\n' % (2 * MIB, data[MIB:]))
                return True
            with Origin(data, answer=slowly) as origin:
                said = self.get(self.url(origin.port), status=3)
                self.assertIn("can't write the file: No space left on device", said)
                os.unlink(self.path('other'))
                origin.answer = lambda handler: False
                self.assertIn('from an earlier run', self.get(self.url(origin.port)))
            self.assertEqual(self.read('file'), data)
            self.assertEqual(self.names(), ['file'])

    def test_limit_of_files(self):
        server, data = self.serve_file(3 * MIB)
        done = subprocess.run(['bash', '-c', f'ulimit -f 1024; exec "$@"', 'bash', *GET, self.url(server.port)], cwd=self.dir,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(os.strerror(errno.EFBIG), done.stderr)
        self.get(self.url(server.port))
        self.assertEqual(self.read('file'), data)


class Terminal(Get):
    def on_terminal(self, *args, columns=80, env=None):
        """What it writes to a terminal of so many columns."""
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        process = subprocess.Popen([*GET, *map(str, args)], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=other,
                                   env={**os.environ, 'TERM': 'xterm', **(env or {})})
        os.close(other)
        said = b''
        with contextlib.suppress(OSError):
            while data := os.read(main, 4096):
                said += data
        os.close(main)
        self.assertEqual(process.wait(30), 0, said)
        return said.decode()

    def test_bar(self):
        def slowly(handler):
            origin.send(handler, 300 * KIB)
            return True
        for columns in (80, 40, 200):
            with self.subTest(columns), Origin(pattern(MIB), answer=slowly) as origin:
                said = self.on_terminal(self.url(origin.port), '--force', columns=columns)
            lines = [line for line in said.split('\r\x1b[K') if line]
            self.assertRegex(said, r'\d+%  [\d.]+ \w+ of 1\.0 MiB  [\d.]+ \w+/s  ')
            self.assertRegex(said, r'trying again in 0\.\d s: ')
            self.assertRegex(lines[-1], r'^file: 1\.0 MiB in .*, 3 retries\r\n$')
            self.assertLess(max(map(len, lines[:-1])), columns)
            self.assertEqual(any(re.match(r'file  \[=*>? *\]', line) for line in lines), columns > 40)

    def test_no_bar(self):
        with Origin(pattern(MIB)) as origin:
            self.assertNotIn('\r\x1b', self.on_terminal(self.url(origin.port), env={'TERM': 'dumb'}))
            self.assertEqual(self.on_terminal(self.url(origin.port), '--force', '--quiet'), '')


if __name__ == '__main__':
    unittest.main()
