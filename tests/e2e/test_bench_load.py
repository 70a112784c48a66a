"""eddy-bench beside servers that do as they are told: what it counts, and that nothing hangs or breaks it."""
import contextlib
import hashlib
import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import wire

PROGRAM = os.path.join(os.path.dirname(wire.EXAMPLES), 'bench', 'eddy-bench', 'eddy-bench')
OK = b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'


# Answers in a process for each connection, and takes 2 ms of processor time for each request.
FORKING = r"""
import os, signal, socket, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
while True:
    sock = listener.accept()[0]
    if os.fork():
        sock.close()
        continue
    while sock.recv(65536):
        until = time.process_time() + 0.002
        while time.process_time() < until:
            pass
        sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello')
    os._exit(0)
"""


class Request:
    """What was asked: its line, and its body's length and digest; and the body, if it is small."""

    def __init__(self, line, body):
        self.body = body if len(body) <= 100000 else None
        self.line, self.size, self.digest = line, len(body), hashlib.sha256(body).hexdigest()


def read_request(sock, buffered):
    """Returns a request, and what came behind it; None at the end."""
    while b'\r\n\r\n' not in buffered:
        more = sock.recv(65536)
        if not more:
            return None, b''
        buffered += more
    head, _, buffered = buffered.partition(b'\r\n\r\n')
    length = re.search(rb'(?i)content-length: (\d+)', head)
    length = int(length[1]) if length else 0
    parts, size = [buffered], len(buffered)
    while size < length:
        more = sock.recv(1 << 20)
        if not more:
            return None, b''
        parts.append(more)
        size += len(more)
    buffered = b''.join(parts)
    return Request(head.split(b'\r\n')[0].decode(), buffered[:length]), buffered[length:]


class Odd:
    """A server that answers every request by `answer(number, request)`: bytes, or a list of bytes that are sent one by one; None or an
    empty piece ends the connection."""

    def __init__(self, answer, path=None):
        self.answer, self.requests, self.connections = answer, [], 0
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX if path else socket.AF_INET, socket.SOCK_STREAM)
        self.listener.bind(path or ('127.0.0.1', 0))
        self.listener.listen(1000)
        self.url = f'unix:{path}:/' if path else 'http://127.0.0.1:%d/' % self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                sock = self.listener.accept()[0]
                self.connections += 1
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        buffered = b''
        with sock, contextlib.suppress(OSError):
            while True:
                request, buffered = read_request(sock, buffered)
                if not request:
                    return
                with self.lock:
                    self.requests.append(request)
                    number = len(self.requests)
                answer = self.answer(number, request)
                for piece in answer if isinstance(answer, list) else [answer]:
                    if not piece:
                        return
                    sock.sendall(piece)


class Slow(list):
    """Pieces, and then nothing for as long as the event is not set."""

    def __init__(self, pieces, held):
        super().__init__(pieces)
        self.held = held

    def __iter__(self):
        yield from super().__iter__()
        self.held.wait(30)
        yield None


class Endless(list):
    """A beginning, and then the same again and again."""

    def __init__(self, first, again):
        super().__init__([first])
        self.again = again

    def __iter__(self):
        yield from super().__iter__()
        while True:
            yield self.again


class Case(wire.Case):
    def setUp(self):
        if not os.path.exists(PROGRAM):
            self.skipTest('needs eddy-bench')
        self.place = self.folder()
        self.json = os.path.join(self.place, 'result.json')

    def bench(self, *args, status=0):
        """Run it for a moment. Returns what it said, and the cells that it has left."""
        done = subprocess.run([PROGRAM, *args, '--json', self.json], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        if status == 0:
            self.assertEqual(done.stderr, '')
        cells = []
        if os.path.exists(self.json):
            with open(self.json, encoding='utf-8') as file:
                cells = json.load(file)['cells']
        return done.stderr, cells

    # What answers.
    odd = Odd

    def one(self, answer, *args, word='get', path='', quick=None, **options):
        """Measure an odd server. Returns the sample, the cell and the server."""
        # On a busy machine a moment is not enough.
        for seconds in ('0.1', '1', '10'):
            with self.odd(answer, **options) as server:
                words = quick or ('-t', seconds, '-r', '1', '--warmup', '0', '--no-system-calls')
                cells = self.bench(word, server.url + path, *words, *args)[1]
            sample = cells[0]['targets'][0]['samples'][0]
            if quick or sample['requests'] + sample['errors'] > 4:
                break
        return sample, cells[0], server

    def refused(self, answer, why, *args, word='get'):
        """A server whose very first answer is wrong ends it, with a reason."""
        with Odd(answer) as server:
            said = self.bench(word, server.url, '-t', '0.1', '-r', '1', *args, status=1)[0]
        self.assertIn(why, said)


class Bodies:
    """What comes whole, whatever carries it: for a Case."""

    def check(self, answer, size, *args, word='get'):
        sample, _, server = self.one(answer, *args, word=word)
        self.assertGreater(sample['requests'], 2)
        # The first one is not measured.
        self.assertEqual(sample['requests'], len(server.requests) - 1)
        self.assertEqual(sample['errors'], 0)
        self.assertEqual(sample['bytes'], size * sample['requests'])

    def test_length(self):
        self.check(lambda *_: OK, 5)

    def test_length_in_pieces(self):
        self.check(lambda *_: [OK[:20], OK[20:40], OK[40:]], 5)

    def test_large(self):
        body = b'x' * 3000000
        self.check(lambda *_: b'HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n' + body, len(body))

    def test_chunked(self):
        self.check(lambda *_: [b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r', b'\nabc\r\n', b'186a0\r\n' + b'x' * 50000,
                               b'x' * 50000 + b'\r\n0\r\nTrailer: x\r\n', b'\r\n'], 100003)


class Answers(Bodies, Case):
    def test_until_the_end(self):
        sample, cell, server = self.one(lambda *_: [b'HTTP/1.0 200 OK\r\n\r\n' + b'x' * 100000, None])
        self.assertEqual(sample['bytes'], 100000 * sample['requests'])
        self.assertEqual(sample['errors'], 0)
        self.assertEqual(server.connections, len(server.requests) + 1)
        self.assertTrue(any('closed by the server and opened again' in remark for remark in cell['remarks']))

    def test_no_body(self):
        self.check(lambda *_: b'HTTP/1.1 204 No Content\r\n\r\n', 0)
        self.check(lambda *_: b'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', 0)
        self.check(lambda *_: OK[:-5], 0, '-X', 'HEAD', word='req')

    def test_interim(self):
        self.check(lambda *_: b'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n' + OK, 5)

    def test_verified(self):
        self.check(lambda *_: [OK[:-2], OK[-2:]], 5, '--verify')
        self.check(lambda *_: OK, 5, '--digest', hashlib.sha256(b'hello').hexdigest())
        self.refused(lambda *_: OK, 'the wrong content', '--digest', hashlib.sha256(b'hullo').hexdigest())
        sample, cell, _ = self.one(lambda n, _: OK if n % 3 else OK.replace(b'hello', b'hullo'), '--verify', '-c', '2')
        self.assertGreater(sample['errors'], 0)
        self.assertAlmostEqual(sample['requests'] / sample['errors'], 2, delta=1)
        self.assertTrue(cell['verified'])

    def test_unix(self):
        path = os.path.join(self.place, 'socket')
        with Odd(lambda *_: b'HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n' + b'x' * 300000, path) as server:
            cell = self.bench('get', server.url, '-t', '0.1', '-r', '1')[1][0]
        sample = cell['targets'][0]['samples'][0]
        self.assertEqual(sample['bytes'], 300000 * sample['requests'])
        self.assertGreater(sample['requests'], 0)
        self.assertEqual(cell['targets'][0]['server']['pid'], os.getpid())


class Failures(Case):
    def test_first_answers(self):
        self.refused(lambda *_: OK.replace(b'200', b'404'), 'status 404')
        self.refused(lambda *_: [OK[:-1], None], 'within a body')
        self.refused(lambda *_: [OK[:20], None], 'within the head')
        self.refused(lambda *_: None, 'without a response')
        self.refused(lambda *_: b'SSH-2.0-x\r\n\r\n', 'is not HTTP/1.1')
        self.refused(lambda *_: b'HTTP/1.1 200 OK\r\nX: ' + b'x' * 100000, 'too large')
        self.refused(lambda *_: b'HTTP/1.1 100 Continue\r\n\r\n' * 100, 'interim')
        self.refused(lambda *_: b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', 'the chunked body is malformed')
        self.refused(lambda *_: OK, 'instead of 4096', '--sizes', '4K')

    def test_nothing_moves(self):
        for pieces in [], [OK[:20]], [OK[:-1]]:
            held = threading.Event()
            with self.subTest(pieces):
                self.refused(lambda *_, slow=Slow(pieces, held): slow, 'no data was transferred', '--timeout', '0.2')
                held.set()

    def test_body_without_an_end(self):
        def endless(*_):
            return Endless(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', b'3e8\r\n' + b'x' * 1000 + b'\r\n')

        # A busy machine may well leave it without bytes for a while.
        for timeout in '0.05', '0.1', '0.2', '0.4', '1':
            with Odd(endless) as server:
                said = self.bench('get', server.url, '--timeout', timeout, status=1)[0]
            if 'longer than 30 times' in said:
                return
        self.fail(said)

    def test_nobody_listens(self):
        with socket.socket() as sock:
            sock.bind(('127.0.0.1', 0))
            said = self.bench('get', 'http://127.0.0.1:%d/' % sock.getsockname()[1], status=1)[0]
        self.assertIn('refused', said)

    def test_mistakes(self):
        self.assertIn('not a URL', self.bench('get', 'localhost', status=2)[0])
        self.assertIn('no such process', self.bench('get', 'http://localhost/', '--pid', str(1 << 29), status=2)[0])

    def test_what_cannot_be_kept_is_not_measured(self):
        there = os.path.join(self.place, 'there')
        with open(there, 'w', encoding='utf-8') as file:
            file.write('as it was')
        with Odd(lambda *_: OK) as server:
            for path, why in (os.path.join(self.place, 'none', 'x'), 'No such file'), (self.place, 'Is a directory'):
                self.assertIn(why, self.bench('get', server.url, '--markdown', there, '--html', path, status=2)[0])
            self.assertIn('two reports', self.bench('get', server.url, '--html', there, '--markdown', there, status=2)[0])
            self.assertIn('No such file', self.bench('get', server.url, '--files', there + '-not', status=1)[0])
            self.assertEqual(server.requests, [])
        self.assertEqual(sorted(os.listdir(self.place)), ['there'])
        with open(there, encoding='utf-8') as file:
            self.assertEqual(file.read(), 'as it was')

    def test_a_link_stays_one(self):
        real = os.path.join(self.place, 'real')
        with open(real, 'w', encoding='utf-8') as file:
            file.write('as it was')
        os.symlink(real, self.json)
        self.assertEqual(self.one(lambda *_: OK)[1]['work'], 'get')
        self.assertEqual(os.readlink(self.json), real)
        self.assertEqual(sorted(os.listdir(self.place)), ['real', 'result.json'])

    def test_some_fail(self):
        sample, cell, _ = self.one(lambda n, _: OK if n % 4 else OK.replace(b'200', b'500'), '-c', '2')
        self.assertGreater(sample['errors'], 0)
        self.assertAlmostEqual(sample['requests'] / sample['errors'], 3, delta=1.5)
        self.assertTrue(any('status 500' in remark for remark in cell['remarks']))

    def test_some_break(self):
        sample = self.one(lambda n, _: OK if n % 4 else [OK[:-1], None])[0]
        self.assertGreater(sample['errors'], 0)
        self.assertGreater(sample['requests'], sample['errors'])
        # Where nothing has come but the head, it is not the end of a connection that was kept.
        self.assertGreater(self.one(lambda n, _: OK if n % 4 else [OK[:-5], None])[0]['errors'], 0)

    def test_kept_connection_is_closed(self):
        """A server may close what it keeps at any time: nobody's error, and asked again."""
        sample, cell, server = self.one(lambda n, _: None if n % 4 == 0 else OK)
        self.assertEqual(sample['errors'], 0)
        self.assertGreater(sample['requests'], 3)
        self.assertGreater(server.connections, 1)
        self.assertTrue(any('closed by the server and opened again' in remark for remark in cell['remarks']))

    def test_expected(self):
        sample = self.one(lambda *_: OK.replace(b'200', b'418'), '--expect', '418')[0]
        self.assertEqual(sample['errors'], 0)
        self.refused(lambda *_: OK, 'status 200', '--expect', '418')

    def test_redirects_are_not_what_was_asked_for(self):
        moved = OK.replace(b'200', b'301')
        self.refused(lambda *_: moved, 'status 301: redirects are not followed')
        self.assertEqual(self.one(lambda *_: moved, '--expect', '301')[0]['errors'], 0)


class Requests(Case):
    def test_names(self):
        server = self.one(lambda *_: OK, '-c', '2', path='a{n}/{i}?q')[2]
        lines = {request.line for request in server.requests}
        self.assertEqual(len(lines), len(server.requests), 'two requests are alike')
        self.assertEqual({line.split('/')[1] for line in lines}, {'a0', 'a1'})
        server = self.one(lambda *_: b'HTTP/1.1 200 OK\r\nContent-Length: 2048\r\n\r\n' + b'x' * 2048, '--sizes', '2K', path='{size}.bin')[2]
        self.assertEqual({request.line for request in server.requests}, {'GET /2k.bin HTTP/1.1'})

    def test_pipelined(self):
        # The server ends the connection after three of every five.
        sample, _, server = self.one(lambda n, _: OK.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n') if n % 5 == 3 else OK, '-d', '5')
        self.assertEqual(sample['errors'], 0)
        self.assertGreaterEqual(sample['requests'], 5)
        self.assertEqual(sample['requests'] % 5, 0)
        self.assertGreater(server.connections, 1)

    def upload(self, size, *args):
        sample, _, server = self.one(lambda *_: b'HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n', '--sizes', size, '-c', '2', *args, word='put')
        self.assertEqual(sample['errors'], 0)
        self.assertGreater(sample['requests'], 1)
        self.assertEqual(len({request.digest for request in server.requests}), 1)
        sizes = {request.size for request in server.requests}
        self.assertEqual(len(sizes), 1)
        self.assertEqual(sample['bytes'], sizes.pop() * sample['requests'])
        return server.requests[0].size

    def test_uploads(self):
        self.assertEqual(self.upload('0'), 0)
        self.assertEqual(self.upload('10'), 10)
        self.assertEqual(self.upload('32K'), 32768)
        self.assertEqual(self.upload('5M'), 5 << 20)

    def test_uploads_are_read_back(self):
        stored = {}

        def keeps(_, request):
            word, path, _ = request.line.split()
            if word == 'PUT':
                stored[path] = request.body
                return b'HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n' % len(path) + path.encode()
            return b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % len(stored[path]) + stored[path]

        for size in '0', '1000', '60000':
            with self.subTest(size):
                sample, _, server = self.one(keeps, '--sizes', size, '-c', '3', '--verify', '--expect', '201', path='x{n}', word='put')
                self.assertEqual(sample['errors'], 0)
                self.assertEqual(sample['bytes'], int(size) * sample['requests'])
                self.assertEqual(sorted(request.line for request in server.requests if not request.line.startswith('PUT')),
                                 [f'GET /x{n} HTTP/1.1' for n in range(3)])

        def loses(number, request):
            answer = keeps(number, request)
            return answer if request.line.startswith('PUT') else answer[:-1] + bytes([answer[-1] ^ 1])

        self.refused(loses, 'the wrong content', '--sizes', '60000', '--verify', word='put')
        self.assertIn('{n}', self.bench('put', 'http://localhost/{i}', '--sizes', '1K', '--verify', status=2)[0])

    def test_upload_of_a_file(self):
        path = os.path.join(self.place, 'body')
        body = os.urandom(100000)
        with open(path, 'wb') as file:
            file.write(body)
        server = self.one(lambda *_: OK, '--body-file', path, '-X', 'POST', word='req')[2]
        self.assertEqual({request.digest for request in server.requests}, {hashlib.sha256(body).hexdigest()})
        self.assertEqual({request.line for request in server.requests}, {'POST / HTTP/1.1'})

    def test_upload_is_refused(self):
        """The server says no when it has seen the head, and reads nothing."""
        with socket.create_server(('127.0.0.1', 0)) as listener:
            def serve():
                sock = listener.accept()[0]
                with sock:
                    sock.recv(100)
                    sock.sendall(b'HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n')
                    held.wait(30)

            held = threading.Event()
            # The first connection only looks for the address.
            thread = threading.Thread(target=lambda: (listener.accept()[0].close(), serve()), daemon=True)
            thread.start()
            url = 'http://127.0.0.1:%d/' % listener.getsockname()[1]
            began = time.monotonic()
            said = self.bench('put', url, '--sizes', '64M', '--timeout', '20', status=1)[0]
            self.assertLess(time.monotonic() - began, 15, 'it was told by the timeout only')
            held.set()
            thread.join()
        self.assertIn('status 413', said)


class Loops(Case):
    def slow_once(self, *args):
        """A server that stands still once, for 400 ms of the second in which it is measured."""
        asked = itertools.count()

        def answer(*_):
            if next(asked) == 20:
                time.sleep(0.4)
            return OK

        return self.one(answer, *args, quick=('-t', '1', '-r', '1', '--warmup', '0', '--no-system-calls'))[0]

    def test_open_loop_shows_what_a_closed_one_hides(self):
        closed = self.slow_once()
        opened = self.slow_once('--rate', '200')
        self.assertGreater(closed['total_us']['max'], 350000)
        self.assertLess(closed['total_us']['p90'], 100000)
        # 80 of 200 requests were due while it stood still.
        self.assertGreater(opened['total_us']['p90'], 150000)
        self.assertAlmostEqual(opened['requests'], 200, delta=2)

    def test_rate_that_is_too_high(self):
        def answer(*_):
            time.sleep(0.02)
            return OK

        sample, cell, _ = self.one(answer, '--rate', '1000', quick=('-t', '0.2', '-r', '1', '--warmup', '0'))
        self.assertLess(sample['requests'], 50)
        self.assertGreater(sample['total_us']['p50'], 100000)
        self.assertTrue(any('never sent' in remark for remark in cell['remarks']))

    def test_targets_take_turns(self):
        log = os.path.join(self.place, 'log')
        with Odd(lambda *_: OK) as a, Odd(lambda *_: OK) as b:
            cell = self.bench('get', 'a=' + a.url, 'b=' + b.url, '-t', '0.02', '-r', '3', '--warmup', '0', '--against', 'b',
                              '--between', f'echo $TARGET >> {log}')[1][0]
        with open(log, encoding='utf-8') as file:
            self.assertEqual(file.read().split(), ['a', 'b', 'b', 'a', 'a', 'b'])
        self.assertEqual(cell['against'], 'b')
        self.assertEqual([len(target['samples']) for target in cell['targets']], [3, 3])
        with Odd(lambda *_: OK) as server:
            self.assertIn('ended with 3', self.bench('get', server.url, '--between', 'exit 3', status=1)[0])

    def test_interrupted(self):
        with Odd(lambda *_: OK) as server:
            # More cells than their list has room for.
            connections = '1,4,' + ','.join(map(str, range(100, 130)))
            with subprocess.Popen([PROGRAM, 'get', 'a=' + server.url, 'b=' + server.url + 'x', '-t', '0.4', '-r', '100', '--progress',
                                   '--no-system-calls', '-c', connections, '--json', self.json],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                for line in process.stderr:
                    # Of the third round a has been measured by then.
                    if 'b, round 3' in line:
                        break
                process.send_signal(signal.SIGINT)
                said, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertIn('GET × 1', said)
        self.assertIn('it ended early; the results until then: interrupted', said)
        # No title is cut.
        self.assertRegex(said, r'not measured: GET × 4, (GET × 1\d\d, )+GET × 1\d\d and \d+ more\n')
        with open(self.json, encoding='utf-8') as file:
            counts = [len(target['samples']) for target in json.load(file)['cells'][0]['targets']]
        self.assertEqual(counts[0], counts[1])
        self.assertGreaterEqual(counts[0], 2)

    def test_interrupted_before_anything_is_measured(self):
        with Odd(lambda *_: Slow([], held)) as server:
            held = threading.Event()
            with subprocess.Popen([PROGRAM, 'get', server.url, '--json', self.json], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                self.eventually(lambda: server.requests)
                process.send_signal(signal.SIGINT)
                said = process.communicate(timeout=30)
            held.set()
        self.assertEqual((process.returncode, said), (130, ('', 'eddy-bench: interrupted before anything was measured\n')))
        self.assertFalse(os.path.exists(self.json))

    def test_target_is_found(self):
        cell = self.one(lambda *_: OK)[1]
        target, sample = cell['targets'][0], cell['targets'][0]['samples'][0]
        self.assertEqual(target['server']['pid'], os.getpid())
        self.assertGreater(sample['cpu_seconds'], 0)
        self.assertGreater(sample['voluntary_switches'], 0)
        self.assertGreater(sample['resident_bytes'], 1 << 20)
        self.assertGreaterEqual(sample['threads'], 2)

    def test_to_look_for_it_is_no_load(self):
        """Processes are looked through around each sample, which takes long where there are many descriptors."""
        most = min(50000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 10)
        many = f'import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, 2 * (resource.getrlimit(resource.RLIMIT_NOFILE)[1],)); ' \
               f'[os.dup(0) for _ in range({most})]; print(flush=True); sys.stdin.read()'
        with subprocess.Popen([sys.executable, '-c', many], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            sample = self.one(lambda *_: OK, '--rate', '20', quick=('-t', '0.2', '-r', '1', '--warmup', '0', '--no-system-calls'))[0]
            other.stdin.close()
        self.assertLess(sample['client_cpu_seconds'], 0.01)

    def test_workers_that_come_are_found(self):
        """A process for each connection, as some servers have it: what it uses is the server's."""
        with subprocess.Popen([sys.executable, '-c', FORKING], stdout=subprocess.PIPE, text=True) as server:
            self.addCleanup(server.kill)
            cell = self.bench('get', f'http://127.0.0.1:{server.stdout.readline().strip()}/', '-c', '2', '-t', '0.3', '-r', '2', '--no-system-calls')[1][0]
            server.kill()
        for sample in cell['targets'][0]['samples']:
            self.assertGreater(sample['cpu_seconds'], 0.0019 * sample['requests'])
            self.assertLess(sample['cpu_seconds'], 2 * sample['seconds'] + 0.2)

    def test_latencies_are_all_there(self):
        cell = self.one(lambda *_: OK, quick=('-t', '0.05', '-r', '3', '--warmup', '0'))[1]
        target = cell['targets'][0]
        requests = sum(sample['requests'] for sample in target['samples'])
        for kind in ('first_byte', 'total'):
            self.assertEqual(sum(count for _, count in target['histogram'][kind]), requests)

    def test_system_calls_are_counted(self):
        sample, cell, _ = self.one(lambda *_: OK, quick=('-t', '0.1', '-r', '1'))
        if sample['system_calls'] is None:
            self.assertTrue(any('could not be counted' in remark for remark in cell['remarks']))
            self.skipTest('system calls can\'t be counted here')
        # At least a recv and a send each; what else this process does is counted, too.
        self.assertGreaterEqual(sample['system_calls'], 1.9 * sample['requests'])
        self.assertIsNone(self.one(lambda *_: OK)[0]['system_calls'])

    def test_cold_files_come_from_the_disk(self):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(PROGRAM)) as folder:
            path = os.path.join(folder, 'file')
            with open(path, 'wb') as file:
                file.write(os.urandom(1 << 20))
                os.fsync(file.fileno())

            def answer(*_):
                with open(path, 'rb') as file:
                    return b'HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n' + file.read()

            def read_bytes():
                with open('/proc/self/io', encoding='ascii') as file:
                    return int(re.search(r'^read_bytes: (\d+)', file.read(), re.M)[1])

            os.posix_fadvise(os.open(path, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)
            before = read_bytes()
            answer()
            if read_bytes() - before < 1 << 20:
                self.skipTest('needs a folder on a disk')
            before = read_bytes()
            sample, cell, server = self.one(answer, '--cold', '--files', folder, '-c', '2')
            self.assertTrue(cell['cold'])
            self.assertGreaterEqual(sample['requests'], 2)
            # Two ask at once, and then the file is dropped. The first two are not measured.
            self.assertGreaterEqual(read_bytes() - before, (len(server.requests) - 2) // 2 << 20)

    def test_cold_needs_a_disk(self):
        with tempfile.TemporaryDirectory(dir='/dev/shm') as memory:
            with open(os.path.join(memory, 'x'), 'wb') as file:
                file.write(b'x')
            with Odd(lambda *_: OK) as server:
                said = self.bench('get', server.url, '--cold', '--files', memory, status=1)[0]
        self.assertIn('tmpfs', said)


class Holds(Case):
    def hold(self, answer, *args):
        """Hold connections until the server has seen them all. Returns what was said."""
        with Odd(answer) as server:
            with subprocess.Popen([PROGRAM, 'hold', server.url, '-c', '20', *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                said = [json.loads(process.stdout.readline())]
                # One more looks for the address.
                self.eventually(lambda: server.connections == 21)
                process.stdin.close()
                said.append(json.loads(process.stdout.read()))
            self.assertEqual(process.returncode, 0)
            return said

    def test_idle(self):
        self.assertEqual(self.hold(lambda *_: OK), [{'connections': 20}, {'open': 20}])

    def test_idle_that_are_ended(self):
        self.assertEqual(self.hold(lambda *_: [OK.replace(b'OK', b'OK\r\nConnection: close'), None])[1], {'open': 0})

    def test_stalled_downloads(self):
        body = b'HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n' + b'x' * 50000000
        self.assertEqual(self.hold(lambda *_: body, '--stall', 'get'), [{'connections': 20}, {'open': 20}])
        with Odd(lambda *_: OK) as server:
            done = subprocess.run([PROGRAM, 'hold', server.url, '--stall', 'get'], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn('larger', done.stderr)

    def test_stalled_uploads(self):
        self.assertEqual(self.hold(lambda *_: OK, '--stall', 'put'), [{'connections': 20}, {'open': 20}])


if __name__ == '__main__':
    unittest.main()
