"""What the end-to-end tests share: a server of their own, a raw connection, a parser of responses.

EDDY_EXAMPLES is the folder with the example programs, EDDY_SERVER_WRAP a command that runs each server. Those of servers/
are built beside it, for the tests alone.
"""
import contextlib
import functools
import glob
import hashlib
import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import recorded

EXAMPLES = os.environ.get('EDDY_EXAMPLES', '')
PROGRAMS = {
    **{name: os.path.join(EXAMPLES, name) for name in ('beside', 'files', 'issuer', 'probe', 'tour')},
    **{name: os.path.join(os.path.dirname(EXAMPLES), 'tests', 'e2e', 'servers', name)
       for name in ('coded', 'codec', 'doors', 'events', 'fetch', 'foreign', 'kept', 'limits', 'pg', 'pg_app', 'pg_jobs', 'pg_sessions', 'resume', 'routes', 'secure', 'sockets',
                    'taken', 'traced', 'uploads', 'ws_client')},
    'dropbox': os.path.join(os.path.dirname(EXAMPLES), 'subprojects', 'service', 'dropbox'),
    'login': os.path.join(EXAMPLES, 'cookbook', 'login'),
    # The static one of a release, or that of the build, which is linked with the machine's libraries.
    'eddy': os.environ.get('EDDY_LINKED') or os.path.join(os.path.dirname(EXAMPLES), 'release', 'eddy'),
}
SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'node')
KIB, MIB = 1 << 10, 1 << 20
# Whether the tests' requests go over HTTP/2 (over_http2.py).
OVER_HTTP2 = bool(os.environ.get('EDDY_E2E_HTTP2'))
spoke_http2 = False     # whether the test that runs has sent a request over it


@functools.cache
def is_sanitized():
    """Whether the programs are built with AddressSanitizer, which keeps what is freed for a while, or ThreadSanitizer."""
    if not os.path.exists(PROGRAMS['files']):
        return False
    with open(PROGRAMS['files'], 'rb') as file:
        return re.search(b'__[at]san_init', file.read()) is not None


@functools.cache
def speaks_http2():
    """Whether the programs are built with HTTP/2."""
    if not os.path.exists(PROGRAMS['files']):
        return False
    with open(PROGRAMS['files'], 'rb') as file:
        return b'libnghttp2' in file.read()


def only_http1(what):
    """Decorates tests of which a translation to HTTP/2 can't tell that they are of HTTP/1.1."""
    return unittest.skipIf(OVER_HTTP2, f'only HTTP/1.1 has {what}')


# In a sandbox nobody looks for leaks.
ALONE = ('--no-sandbox',) if is_sanitized() else ()
WORKERS = os.environ.get('EDDY_TEST_WORKERS')


class Lost(Exception):
    """The connection was reset or ended where more was due."""


# Puts descriptors in their place, and becomes the program.
PASS_ON = """
import fcntl, os, sys
fds = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 100) for fd in sys.argv[1].split(',')]
for i, fd in enumerate(fds):
    os.dup2(fd, 3 + i)
os.closerange(3 + len(fds), 200)
os.environ.setdefault('LISTEN_PID', str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


class Server:
    """A program that serves, on a free port of 127.0.0.1 or where it is told. `wrap` is a command that runs it, `env` adds to its environment,
    `fds` are its descriptors from 3 on, with LISTEN_PID set as a service manager does. Where the programs are sanitized `files` is in no
    sandbox but by `sandbox`."""

    def __init__(self, *args, program='files', bind='127.0.0.1:0', log=None, start=True, wrap=(), env=None, fds=(), sandbox=False):
        if not os.path.exists(PROGRAMS[program]):
            raise unittest.SkipTest(f'needs the program {program}')
        if bind and program in ('files', 'issuer', 'probe', 'tour'):
            args = (*args, '--bind', bind)
        if program == 'files' and not sandbox:
            args = (*args, *ALONE)
        # Not for files: descriptors that the ring opens or closes look like races to ThreadSanitizer.
        if WORKERS and program in ('limits', 'tour'):
            args = ('--workers', WORKERS, *args)
        env = dict(os.environ, LC_ALL='C', **(env or {}))
        env.pop('EDDY_LOG', None)
        wrap = (*wrap, *shlex.split(env.pop('EDDY_SERVER_WRAP', '')))
        if fds:
            wrap = (*wrap, sys.executable, '-c', PASS_ON, ','.join(map(str, fds)))
        if log:
            env['EDDY_LOG'] = log
        self.program = PROGRAMS[program]
        self.recording = recorded.Recording() if recorded.ALWAYS and not wrap and 'EDDY_RECORD' not in env else None
        env.update(self.recording.env if self.recording else {})
        self.lines, self.changed = [], threading.Condition()
        self.port = None
        self.process = subprocess.Popen([*wrap, PROGRAMS[program], *map(str, args)], env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=fds)
        self.pid = self.process.pid
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if start:
            _, path, port = self.wait_for(r'Listening on (?:unix:(\S+)|.*:(\d+))').group(0, 1, 2)
            self.port = path or int(port)

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line.decode(errors='replace').rstrip('\n'))
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    @property
    def log(self):
        return '\n'.join(filter(None, self.lines))

    def wait_for(self, pattern, timeout=20, which=lambda match: True):
        """The match of a line on stderr, that has come or is still to come, and satisfies `which`."""
        def find():
            for line in self.lines:
                if line is not None and (match := re.search(pattern, line)) and which(match):
                    return match
            return None
        with self.changed:
            self.changed.wait_for(lambda: find() or (self.lines and self.lines[-1] is None), timeout)
            match = find()
        if not match:
            self.process.kill()
            raise AssertionError(f'no record like {pattern!r}:\n{self.log}')
        return match

    def wait(self, timeout=30):
        """The exit status, once all that was said has been read."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.kill(self.pid, signal.SIGABRT)
            self.process.wait()
            raise AssertionError(f'the server did not end in {timeout} s:\n{self.log}') from None
        self.reader.join(10)
        return status

    def complaint(self):
        """What is wrong with how it ended; empty for nothing."""
        said = self.log
        for sign in ('AddressSanitizer', 'LeakSanitizer', 'runtime error:', 'ThreadSanitizer', 'assertion'):
            if sign in said:
                return said
        if self.process.returncode:
            return f'exit status {self.process.returncode}\n{said}'
        return ''

    def stop(self, sig=signal.SIGTERM):
        """End it, and see that it ended well."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        self.wait()
        self.process.stderr.close()
        if self.complaint():
            raise AssertionError('the server ended badly: ' + self.complaint())
        wrong = self.recording.wrong(self.program, self.process.returncode, None, self.log) if self.recording else ''
        if wrong:
            raise AssertionError('the replay differs: ' + wrong)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stderr.close()

    def connect(self, **options):
        return Wire(self.port, **options)

    def ask(self, text, **options):
        """One request on a connection of its own. Return: the final response."""
        with self.connect() as wire:
            return wire.ask(text, **options)

    def get(self, path, *headers, method='GET', **options):
        return self.ask(request(method, path, *headers), head=method == 'HEAD', **options)

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.pid}/fd'))

    def count(self, kind):
        """Its descriptors that are a "socket", a "pipe" …."""
        return sum(link.startswith(f'{kind}:') for link in links_of(self.pid))

    def sockets(self):
        return self.count('socket')

    def held(self):
        """Its descriptors but for pipes, of which a loop keeps some once it has had so many transfers at a time."""
        return sum(not link.startswith('pipe:') for link in links_of(self.pid))

    def worked(self, thread='*'):
        """Seconds of a processor that its threads have taken, or one of them."""
        return sum(ran for ran, _ in scheduled(f'/proc/{self.pid}/task/{thread}'))

    def queued(self):
        """Seconds in which its threads, and this one, have waited for a processor: a busy machine takes so much longer."""
        return sum(waited for task in (f'/proc/{self.pid}/task/*', '/proc/thread-self') for _, waited in scheduled(task))

    def threads(self):
        return len(os.listdir(f'/proc/{self.pid}/task'))

    def peak(self):
        """The most bytes of memory that were ever in use."""
        with open(f'/proc/{self.pid}/status') as file:
            return int(re.search(r'VmHWM:\s+(\d+) kB', file.read())[1]) * KIB

    def rss(self):
        """Bytes of memory in use."""
        with open(f'/proc/{self.pid}/statm') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def to_bytes(text):
    return text if isinstance(text, (bytes, bytearray, memoryview)) else text.encode('latin-1')


def scheduled(tasks):
    """Pairs of seconds that each of these threads has run, and has waited for a processor."""
    for path in glob.glob(f'{tasks}/schedstat'):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path) as file:
            ran, waited, _ = file.read().split()
            yield int(ran) / 1e9, int(waited) / 1e9


def links_of(pid):
    """Files that a process has open, but for those that it closes meanwhile."""
    found = []
    for fd in os.listdir(f'/proc/{pid}/fd'):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f'/proc/{pid}/fd/{fd}'))
    return found


def request(method, path, *headers, body=b'', host='localhost', version='1.1'):
    """A request; with a body it has its content-length unless it says how it is framed."""
    lines = [f'{method} {path} HTTP/{version}']
    if host is not None:
        lines.append(f'Host: {host}')
    lines += headers
    framed = any(h.lower().startswith(('content-length:', 'transfer-encoding:')) for h in headers)
    if body and not framed:
        lines.append(f'Content-Length: {len(body)}')
    return to_bytes('\r\n'.join(lines) + '\r\n\r\n') + to_bytes(body)


def has_dots(path):
    """Whether a segment of it is removed: the request is for another path."""
    return any(re.fullmatch(r'(\.|%2e){1,2}', segment, re.I) for segment in path.partition('?')[0].split('/'))


def chunked(*pieces, end=b'0\r\n\r\n'):
    return b''.join(b'%x\r\n%s\r\n' % (len(p), to_bytes(p)) for p in pieces) + end


def part(name, data, filename=None, *headers):
    disposition = f'form-data; name="{name}"' + (f'; filename="{filename}"' if filename is not None else '')
    lines = [f'Content-Disposition: {disposition}', *headers]
    return '\r\n'.join(lines).encode() + b'\r\n\r\n' + (data if isinstance(data, bytes) else data.encode())


def form(*parts, boundary='xYz', path='/files', framed=True):
    body = b''.join(b'--' + boundary.encode() + b'\r\n' + p + b'\r\n' for p in parts) + b'--' + boundary.encode() + b'--\r\n'
    content_type = f'Content-Type: multipart/form-data; boundary={boundary}'
    if framed:
        return request('POST', path, content_type, body=body)
    return request('POST', path, content_type, 'Transfer-Encoding: chunked', body=chunked(body))


class Response:
    def __init__(self, status, version, headers, raw):
        self.status, self.version, self.headers, self.raw = status, version, headers, raw
        self.body = b''

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name]

    def header(self, name):
        values = self.all(name)
        if len(values) > 1:
            raise AssertionError(f'{name} came {len(values)} times:\n{self.raw}')
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)

    @property
    def closes(self):
        return 'close' in (self.header('connection') or '').split(', ')

    def __repr__(self):
        return f'{self.raw!r} + {len(self.body)} bytes: {self.body[:200]!r}'


class Wire:
    """A raw connection, to a port or to the path of a unix socket. What it can't read raises Lost."""

    def __init__(self, port, timeout=10, rcvbuf=0, address='127.0.0.1', source=None):
        is_path = isinstance(port, str)
        self.socket = socket.socket(socket.AF_UNIX if is_path else socket.AF_INET)
        if rcvbuf:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.socket.settimeout(timeout)
        try:
            if source:
                self.socket.bind((source, 0))
            self.socket.connect(port if is_path else (address, port))
        except OSError:
            self.socket.close()
            raise
        if not is_path:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Close with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(to_bytes(data))
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Lost(str(error)) from error

    def try_send(self, data):
        """Send as much as the server takes. Return: whether that was all."""
        try:
            self.send(data)
            return True
        except (Lost, TimeoutError):
            return False

    def end(self):
        self.socket.shutdown(socket.SHUT_WR)

    def more(self):
        try:
            data = self.socket.recv(64 * KIB)    # who means to read slowly has not got it all with the head
        except ConnectionResetError as error:
            raise Lost('reset') from error
        if not data:
            raise Lost(f'ended behind {self.buffer[-200:]!r}')
        self.buffer += data

    def take(self, size):
        if len(self.buffer) >= size:
            data, self.buffer = self.buffer[:size], self.buffer[size:]
            return data
        pieces, have = [self.buffer], len(self.buffer)
        self.buffer = b''
        while have < size:
            try:
                data = self.socket.recv(min(MIB, size - have))
            except ConnectionResetError as error:
                raise Lost(f'reset after {have} of {size} bytes') from error
            if not data:
                raise Lost(f'ended after {have} of {size} bytes')
            pieces.append(data)
            have += len(data)
        return b''.join(pieces)

    def take_line(self):
        while b'\r\n' not in self.buffer:
            self.more()
        line, _, self.buffer = self.buffer.partition(b'\r\n')
        return line

    def read_head(self):
        while b'\r\n\r\n' not in self.buffer:
            self.more()
        raw, _, self.buffer = self.buffer.partition(b'\r\n\r\n')
        first, *lines = raw.decode('latin-1').split('\r\n')
        match = re.fullmatch(r'HTTP/(1\.1) (\d{3}) ([ -~]*)', first)
        if not match:
            raise AssertionError(f'not a response: {raw!r}')
        headers = []
        for line in lines:
            field = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)", line)
            if not field:
                raise AssertionError(f'not a field: {line!r}')
            headers.append((field[1].lower(), field[2].strip()))
        return Response(int(match[2]), match[1], headers, raw.decode('latin-1'))

    def read_chunked(self):
        pieces = []
        while True:
            size = int(self.take_line(), 16)
            if not size:
                break
            pieces.append(self.take(size))
            if self.take(2) != b'\r\n':
                raise AssertionError('a chunk does not end where it said')
        while self.take_line():
            pass
        return b''.join(pieces)

    def read(self, head=False):
        """One response, 100 included."""
        response = self.read_head()
        length = response.header('content-length')
        if response.status < 200 or response.status in (204, 304):
            if response.status != 304 and length is not None:
                raise AssertionError(f'{response.status} with a content-length')
        elif head:
            pass
        elif response.header('transfer-encoding') == 'chunked':
            if length is not None:
                raise AssertionError('content-length beside chunks')
            response.body = self.read_chunked()
        elif length is not None:
            response.body = self.take(int(length))
        else:
            if not response.closes:
                raise AssertionError(f'a body without an end:\n{response.raw}')
            response.body = self.read_end()
        return response

    def ask(self, text, head=False):
        self.send(text)
        return self.read(head)

    def read_end(self):
        """All bytes to the end of the connection, which is no reset."""
        pieces = [self.buffer]
        self.buffer = b''
        while True:
            try:
                data = self.socket.recv(MIB)
            except ConnectionResetError as error:
                raise Lost(f'reset after {b"".join(pieces)[-200:]!r}') from error
            if not data:
                return b''.join(pieces)
            pieces.append(data)

    def is_open(self, for_seconds=0.05):
        """Whether nothing comes, not even the end."""
        return not self.buffer and not select.select([self.socket], [], [], for_seconds)[0]


def try_connect(port):
    """A connection, or None as long as nobody listens there."""
    try:
        return Wire(port)
    except OSError:
        return None


class Case(unittest.TestCase):
    """A test with folders and servers of its own, which are looked at when it ends."""
    maxDiff = 2000

    def folder(self):
        path = tempfile.mkdtemp(prefix='eddy-e2e-')
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def serve(self, *args, **options):
        server = Server(*args, **options)
        self.addCleanup(lambda: server.process.stderr.closed or server.stop())
        return server

    def limits(self, **options):
        args = []
        for name, value in options.items():
            args += [f'--{name}'] if value is True else [f'--{name}', value]
        return self.serve(*args, program='limits')

    def assertProblem(self, response, status, detail=None):
        """An error as it should look."""
        self.assertEqual(response.status, status, response)
        self.assertEqual(response.header('content-type'), 'application/problem+json')
        self.assertEqual(response.header('server'), 'eddy')
        self.assertRegex(response.header('date'), r'^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$')
        problem = response.json()
        self.assertEqual(problem['type'], 'about:blank')
        self.assertEqual(problem['status'], status)
        self.assertTrue(problem['title'])
        for error in problem.pop('errors', ()):
            self.assertEqual(set(error), {'pointer', 'detail'})
        self.assertEqual(set(problem), {'type', 'title', 'status', 'detail'})
        self.assertRegex(problem['detail'], detail or '.')

    def assertRefused(self, server, data, status, detail=None):
        """The request is refused, and nothing behind it is taken for another one."""
        with server.connect() as wire:
            wire.send(to_bytes(data) + request('GET', '/') * 2)
            response = wire.read()
            self.assertProblem(response, status, detail)
            if not OVER_HTTP2:
                self.assertTrue(response.closes, response)
                self.assertEqual(wire.read_end(), b'')

    def assertServes(self, wire, path='/'):
        """The connection answers another request."""
        self.assertEqual(wire.ask(request('GET', path)).status, 200)

    def assertClosed(self, wire):
        self.assertEqual(wire.read_end(), b'')

    def begin_end(self, server):
        """Send SIGTERM to a server whose log has the records of eddy::app's level trace, and wait until it has heard."""
        server.process.send_signal(signal.SIGTERM)
        server.wait_for('Shutdown signal received')

    def eventually(self, check, seconds=20, what='it did not come to be'):
        """What the check returns once that is something."""
        end = time.monotonic() + seconds
        while not (found := check()):
            if time.monotonic() > end:
                self.fail(what() if callable(what) else what)
            time.sleep(0.01)
        return found


class Shared(Case):
    """A case whose tests share one server: its class says which, in options()."""
    program = 'files'

    @classmethod
    def options(cls):
        return ()

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='eddy-e2e-')
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        folder = {'files': (cls.dir,), 'tour': ('--dir', cls.dir)}
        cls.server = Server(*folder.get(cls.program, ()), *cls.options(), program=cls.program)
        cls.addClassCleanup(cls.server.stop)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(to_bytes(data))
        return data

    def names(self):
        return sorted(os.listdir(self.dir))


def pattern(size, seed=0):
    """Bytes that are nowhere alike, quickly made."""
    block = bytearray()
    for i in range(1 + min(size, MIB) // 32):
        block += hashlib.sha256(f'{seed} {i}'.encode()).digest()
    out = bytearray()
    for i in range(0, size, len(block) - 7):
        out += block[:len(block) - 7]
    return bytes(out[:size])


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, 'rb') as file:
        while data := file.read(MIB):
            digest.update(data)
    return digest.hexdigest()


def curl(*args, check=True, timeout=60):
    global spoke_http2
    spoke_http2 = OVER_HTTP2
    version = ['--http2-prior-knowledge'] if OVER_HTTP2 else []
    done = subprocess.run(['curl', '-sS', *version, '--max-time', str(timeout), '--noproxy', '*', *map(str, args)],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if check and done.returncode:
        raise AssertionError(f'curl: {done.stderr.decode()}')
    return done


def node(script, *args):
    """The command that runs one of the scripts in node/."""
    if not os.environ.get('EDDY_NODE'):
        raise unittest.SkipTest('needs node, which ./dev test fetches')
    return [os.environ['EDDY_NODE'], '--no-warnings', os.path.join(SCRIPTS, script), *map(str, args)]


def in_threads(count, work):
    """Run work(0), work(1), … at once. Raises what the first that failed raised."""
    errors = []

    def run(i):
        try:
            work(i)
        except BaseException as error:  # noqa: B902
            errors.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


if not EXAMPLES:
    sys.exit('EDDY_EXAMPLES has to be the folder with the built examples')
if OVER_HTTP2:
    from over_http2 import Http2Wire as Wire  # noqa: E402, F811
