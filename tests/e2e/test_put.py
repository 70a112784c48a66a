"""The command eddy put: uploads that continue."""
import fcntl
import hashlib
import http.server
import os
import signal
import subprocess
import threading
import time
import urllib.request

import tls
from cutting import Cutter
from wire import KIB, MIB, PROGRAMS, Case, pattern

PUT = (PROGRAMS['eddy'], 'put')


class Put(Case):
    def setUp(self):
        self.dir, self.state = self.folder(), self.folder()

    def begin(self, *args, stdin=subprocess.DEVNULL):
        return subprocess.Popen([*PUT, *map(str, args)], cwd=self.dir, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, 'XDG_STATE_HOME': self.state})

    def end(self, process, status=0, data=None):
        self.out, said = process.communicate(data, timeout=100)
        said = said.decode()
        self.assertEqual(process.returncode, status, said)
        self.assertNotRegex(said, 'Sanitizer|runtime error')
        return said

    def put(self, *args, status=0):
        return self.end(self.begin(*args), status)

    def write(self, name, data):
        with open(os.path.join(self.dir, name), 'wb') as file:
            file.write(data)
        return data

    def url(self, port, path='/files/'):
        return f'http://127.0.0.1:{port}{path}'

    def assertStored(self, folder, name, data):
        with open(os.path.join(folder, name), 'rb') as file:
            self.assertEqual(hashlib.sha256(file.read()).digest(), hashlib.sha256(data).digest())
        self.assertEqual([other for other in os.listdir(folder) if not other.startswith('.')], [name])


class Continuing(Put):
    """Against `files`."""

    def setUp(self):
        super().setUp()
        self.target = self.folder()

    def test_whole(self):
        server, data = self.serve(self.target), self.write('a b', pattern(40 * MIB))
        self.assertRegex(self.put('a b', self.url(server.port)), r'^a b: 40\.0 MiB in [\d.]+ s, [\d.]+ \w+/s\n$')
        self.assertStored(self.target, 'a b', data)

    def test_empty(self):
        server, data = self.serve(self.target), self.write('x', b'')
        self.put('x', self.url(server.port))
        self.assertStored(self.target, 'x', data)

    def cut(self, by_reset, *args):
        server, data = self.serve(self.target), self.write('x', pattern(5 * MIB))
        with Cutter(server.port, 15, upward=True, by_reset=by_reset) as cutter:
            said = self.put('x', self.url(cutter.port), *args)
        self.assertStored(self.target, 'x', data)
        self.assertEqual(cutter.left, 0)
        return cutter, said, data

    def test_cut_15_times(self):
        """Each request continues where the server ended: little is sent twice."""
        cutter, said, data = self.cut(False)
        self.assertRegex(said, r', \d\d retries')
        self.assertLess(cutter.passed, 1.5 * len(data))
        self.assertTrue(cutter.requests[0].startswith('PUT /files/x '))
        methods = {request.partition(' ')[0] for request in cutter.requests[1:]}
        self.assertLessEqual(methods, {'HEAD', 'PATCH', 'PUT'})
        self.assertIn('HEAD', methods)

    def test_reset_15_times(self):
        self.cut(True)

    def test_responses_are_cut(self):
        """The server has what was sent, and the client learns of it."""
        server, data = self.serve(self.target), self.write('x', pattern(MIB))
        with Cutter(server.port, 10, least=0, most=60) as cutter:
            self.put('x', self.url(cutter.port))
        self.assertStored(self.target, 'x', data)

    def test_server_is_restarted(self):
        data = self.write('x', pattern(30 * MIB))
        server = self.serve(self.target)
        port = server.port
        with Cutter(port, 1000, upward=True, least=MIB, most=MIB) as cutter:
            process = self.begin('x', self.url(cutter.port))
            self.eventually(lambda: cutter.connections > 4)
            server.kill()
            time.sleep(0.5)
            self.serve(self.target, bind=f'127.0.0.1:{port}')
            self.eventually(lambda: cutter.connections > 10 or process.poll() is not None)
            cutter.left = 0
            self.end(process)
        self.assertStored(self.target, 'x', data)

    def test_digest(self):
        server, data = self.serve(self.target), self.write('x', pattern(MIB))
        with Cutter(server.port, 2, upward=True) as cutter:
            self.assertIn(', sha-256 sent', self.put('x', self.url(cutter.port), '--digest'))
        self.assertIn('repr-digest: sha-256=:', cutter.requests[0])
        self.assertStored(self.target, 'x', data)

    def test_over_tls(self):
        tls.setUpModule()
        self.addCleanup(tls.tearDownModule)
        server = self.serve(self.target, '--cert', tls.at('server.pem'), '--key', tls.at('server.key'))
        data = self.write('x', pattern(5 * MIB))
        with Cutter(server.port, 3, upward=True, raw=True, least=MIB, most=2 * MIB) as cutter:
            self.put('x', f'https://localhost:{cutter.port}/files/', '--ca', tls.at('ca.pem'))
        self.assertStored(self.target, 'x', data)

    def test_limits(self):
        """Of the size of a request, beyond which the server answers 413, and of a file."""
        server = self.serve('--dir', self.target, '--append-max', 300000, '--max', 2 * MIB, program='uploads')
        data = self.write('x', pattern(2 * MIB))
        with Cutter(server.port, 5, upward=True) as cutter:
            self.put('x', self.url(cutter.port))
        self.assertStored(self.target, 'x', data)
        self.write('y', pattern(2 * MIB + 1))
        self.assertRegex(self.put('y', self.url(server.port), status=1), '413|no file of this size')
        self.assertStored(self.target, 'x', data)

    def test_standard_input(self):
        server, data = self.serve(self.target), pattern(3 * MIB)
        self.end(self.begin('-', self.url(server.port, '/files/x'), stdin=subprocess.PIPE), data=data)
        self.assertStored(self.target, 'x', data)

    def test_interrupted(self):
        server = self.serve(self.target)
        self.write('x', pattern(MIB))
        server.process.send_signal(signal.SIGSTOP)
        process = self.begin('x', self.url(server.port))
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertIn('stopped; the next run begins again', self.end(process, 130))
        server.process.send_signal(signal.SIGCONT)
        self.assertEqual([name for name in os.listdir(self.target) if not name.startswith('.')], [])


class Holder(Cutter):
    """Holds a connection before it cuts it."""

    def __init__(self, *args, **options):
        self.held, self.gate = threading.Event(), threading.Event()
        super().__init__(*args, **options)

    def cut(self, *sockets):
        self.held.set()
        self.gate.wait(60)
        super().cut(*sockets)


class LaterRuns(Put):
    """Against `files`: bytes that an earlier run has sent are not sent again."""

    def setUp(self):
        super().setUp()
        self.target = self.folder()
        self.server, self.data = self.serve(self.target), self.write('x', pattern(8 * MIB))
        self.proxy = Holder(self.server.port, 0, upward=True, least=4 * MIB, most=4 * MIB)
        self.addCleanup(self.proxy.__exit__)

    def states(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.state) for name in names]

    def kept(self):
        """Files of uploads at the server, also of complete ones, which it remembers for a while."""
        return sorted(name for folder, _, names in os.walk(self.target) for name in names if '/.' in folder or name.startswith('.'))

    def break_off(self, signo=None, kept=True, path='/files/'):
        """Half of it is sent."""
        self.proxy.left = 1
        self.proxy.held.clear()
        self.proxy.gate.clear()
        process = self.begin('x', self.url(self.proxy.port, path), '--retries', 0)
        self.eventually(lambda: self.proxy.held.is_set() and (not kept or any(map(os.path.getsize, self.states()))))
        if signo:
            process.send_signal(signo)
        else:
            self.proxy.gate.set()
        said = self.end(process, {None: 3 if kept else 1, signal.SIGINT: 130, signal.SIGKILL: -signal.SIGKILL}[signo])
        self.proxy.gate.set()
        if signo != signal.SIGKILL:
            self.assertEqual('to continue, run the same command again' in said, kept, said)
        return said

    def again(self, *args, resumed=False):
        begun = self.proxy.passed
        said = self.put('x', self.url(self.proxy.port), *args)
        self.assertEqual('from an earlier run' in said, resumed, said)
        # Later requests of a connection count with their heads.
        self.assertAlmostEqual(self.proxy.passed - begun, len(self.data) - resumed * 4 * MIB, delta=KIB)
        self.assertStored(self.target, 'x', self.data)
        self.assertEqual(self.states(), [])

    def test_continue(self):
        for signo in (None, signal.SIGINT, signal.SIGKILL):
            with self.subTest(signo):
                self.break_off(signo)
                self.assertEqual([os.stat(state).st_mode & 0o777 for state in self.states()], [0o600])
                self.again(resumed=True)

    def test_begin_again(self):
        with self.subTest('on demand'):
            self.break_off()
            self.again('--restart')
        with self.subTest('another file of this size'):
            self.break_off()
            self.data = self.write('x', pattern(8 * MIB, 2))
            self.again()
        with self.subTest('lost by the server'):
            self.break_off()
            with open(self.states()[0], encoding='utf-8') as file:
                url = file.read().splitlines()[-1]
            with urllib.request.urlopen(urllib.request.Request(url, method='DELETE', headers={'upload-draft-interop-version': '8'})):
                pass
            self.again()
        with self.subTest('damaged state'):
            self.break_off()
            os.truncate(self.states()[0], 50)
            self.again()

    def test_other_uploads(self):
        """Of another target, or at the same time."""
        self.break_off()
        self.assertNotIn('earlier run', self.put('x', self.url(self.proxy.port, '/files/y')))
        os.unlink(os.path.join(self.target, 'y'))
        with open(self.states()[0], encoding='utf-8') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.assertNotIn('earlier run', self.put('x', self.url(self.proxy.port)))
        self.again(resumed=True)

    def test_no_place(self):
        """The upload is cancelled. If that is not possible, its URL is said."""
        self.state = '/proc/nothing'
        for signo in (None, signal.SIGINT):
            with self.subTest(signo):
                before = self.kept()
                said = self.break_off(signo, kept=False)
                self.assertEqual('stopped; the next run begins again' in said, signo is not None, said)
                self.assertNotIn('http://', said)
                self.eventually(lambda: self.kept() == before)
                self.again()

    def test_no_place_and_no_server(self):
        self.state = '/proc/nothing'
        self.proxy.left = 1
        process = self.begin('x', self.url(self.proxy.port), '--retries', 0)
        self.eventually(self.proxy.held.is_set)
        self.server.kill()
        self.proxy.gate.set()
        self.assertRegex(self.end(process, 1), r'the next run begins again; the server may keep what it has at http://127\.0\.0\.1:\d+/\S+\n$')

    def test_complete(self):
        """An earlier run has sent all of it, and did not learn so."""
        self.break_off()
        state = self.states()[0]
        with open(state, 'rb') as file:
            text = file.read()
        self.again(resumed=True)
        with open(state, 'wb') as file:
            file.write(text)
        self.assertIn('8.0 MiB of it from an earlier run', self.put('x', self.url(self.proxy.port)))
        self.assertEqual(self.states(), [])

    def test_refused(self):
        """The folder is missing for a while: the same command continues."""
        folder = os.path.join(self.target, 'sub')
        os.mkdir(folder)
        self.break_off(path='/files/sub/')
        os.rmdir(folder)
        self.assertIn('404 Not Found', self.put('x', self.url(self.proxy.port, '/files/sub/'), status=3))
        self.assertEqual(len(self.states()), 1)
        os.mkdir(folder)
        self.put('x', self.url(self.proxy.port, '/files/sub/'))
        self.assertStored(folder, 'x', self.data)
        self.assertEqual(self.states(), [])


class Plain:
    """A server without resumption. `statuses` are its first answers; each is given when all of the body has arrived, after `meanwhile()`."""

    def __init__(self, *statuses, meanwhile=lambda: None):
        self.bodies, statuses, outer = [], list(statuses), self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *_):
                pass

            def do_PUT(self):
                outer.bodies.append((dict(self.headers), self.rfile.read(int(self.headers['content-length']))))
                meanwhile()
                self.send_response(statuses.pop(0) if statuses else 201)
                self.send_header('content-length', '0')
                self.end_headers()

            do_POST = do_PUT
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Servers(Put):
    def test_without_resumption(self):
        """It gets the file again; a POST is not repeated if it may have been processed."""
        data = self.write('x', pattern(300 * KIB))
        with Plain(500, 503) as server:
            self.assertIn(', 2 retries', self.put('x', self.url(server.port)))
        self.assertEqual([body for _, body in server.bodies], [data] * 3)
        with Plain(503, 500) as server:
            self.assertIn('500 Internal Server Error', self.put('x', self.url(server.port), '--method', 'POST', status=1))
        self.assertEqual(len(server.bodies), 2)

    def test_plain(self):
        self.write('x', b'hello')
        with Plain() as server:
            self.put('x', self.url(server.port), '--plain', '-H', 'Content-Type: text/plain')
        headers = {name.lower(): value for name, value in server.bodies[0][0].items()}
        self.assertEqual(headers['content-type'], 'text/plain')
        self.assertEqual([name for name in headers if name.startswith('upload-')], [])

    def test_file_that_changes(self):
        """During the only request, whose response is a success."""
        self.write('x', b'hello')
        with Plain(meanwhile=lambda: self.write('x', b'other')) as server:
            self.assertIn('the file changed during the upload', self.put('x', self.url(server.port), status=1))
        self.assertEqual(len(server.bodies), 1)

    def test_failures(self):
        self.write('x', b'hello')
        with Plain(403, 413, 409) as server:
            for text in ('403 Forbidden', '413 Content Too Large', '409 Conflict'):
                self.assertIn(text, self.put('x', self.url(server.port), status=1))
            process = self.begin('-', self.url(server.port, '/x'), stdin=subprocess.PIPE)
        self.end(process, 1, data=b'')
        self.assertIn("can't open nothing: No such file", self.put('nothing', self.url(1), status=1))
        self.assertIn("can't open .: Is a directory", self.put('.', self.url(1), status=1))
        self.assertIn("can't open a?b: ", self.put('a\x1bb', self.url(1), status=1))
        self.assertIn('only regular files', self.put('/dev/null', self.url(1), status=1))

    def test_login(self):
        login = os.path.join(self.folder(), 'login')
        with open(login, 'w') as file:
            file.write('ann:secret\n')
        self.assertIn('try: chmod 600', self.put('x', self.url(1), '--login', login, status=2))
        os.chmod(login, 0o600)
        target, data = self.folder(), self.write('x', pattern(3 * MIB))
        server = self.serve(target, '--login', login)
        self.assertIn('401 Unauthorized', self.put('x', self.url(server.port), status=1))
        with Cutter(server.port, 3, upward=True) as cutter:
            self.put('x', self.url(cutter.port), '--login', login)
        self.assertStored(target, 'x', data)
        said = self.put('x', f'http://ann:secret@127.0.0.1:{server.port}/files/', status=2)
        self.assertIn('use --login FILE', said)
        self.assertNotIn('secret', said)

    def test_usage(self):
        self.assertIn('a file and a URL are required', self.put('x', status=2))
        self.assertIn('--method takes PUT or POST', self.put('x', 'y', '--method', 'GET', status=2))
        self.assertIn('there is no option --nonsense', self.put('x', 'y', '--nonsense', status=2))
        self.assertIn('too many arguments', self.put('x', 'y', 'z', status=2))
        self.put('--help')
        self.assertIn(b'usage: eddy-put FILE URL', self.out)


if __name__ == '__main__':
    import unittest
    unittest.main()
