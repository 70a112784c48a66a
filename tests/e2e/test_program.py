"""The program files as a program: its command line, its records, its end."""
# needs: curl
import contextlib
import glob
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time
import unittest

import network
from wire import EXAMPLES, PROGRAMS, Case, Server, Wire, request, try_connect


def run(*args):
    return subprocess.run([PROGRAMS['files'], *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=30, check=False)


def states_of(pid):
    """Those of its threads: S sleeps."""
    states = set()
    for path in glob.glob(f'/proc/{pid}/task/*/stat'):
        with open(path) as file:
            states.add(file.read().rpartition(')')[2].split()[0])
    return states


@unittest.skipUnless(os.path.exists(PROGRAMS['files']), 'needs the program files')
class Program(Case):
    def test_records(self):
        server = self.serve(self.folder(), log='trace')
        with server.connect() as wire:
            self.assertServes(wire)
        server.stop()
        said = [line.split(maxsplit=1)[1] for line in server.log.splitlines() if 'eddy::app' in line]
        self.assertEqual(said, [f'INFO eddy::app: Listening on 127.0.0.1:{server.port}',
                                f'INFO eddy::app: listening on http://127.0.0.1:{server.port}/',
                                'TRACE eddy::app: Shutdown signal received, not accepting new requests',
                                'INFO eddy::app: shutting down: 0 requests in progress',
                                'INFO eddy::app: Shutting down the server'])

    def test_records_of_several_addresses(self):
        path = os.path.join(self.folder(), 'socket')
        server = self.serve('--bind', '127.0.0.1:0', '--bind', f'unix:{path}', program='limits')
        server.wait_for(f'INFO eddy::app: listening on unix:{re.escape(path)}$')
        self.assertEqual(re.findall(r'listening on (.*)', server.log), [f'http://127.0.0.1:{server.port}/', f'unix:{path}'])

    def test_records_of_requests_in_progress(self):
        """Of all loops; connections that ask nothing are none."""
        server = self.serve('--workers', 2, program='limits')
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(server.connect()) for _ in range(6)]
            self.assertServes(wires[5])
            for wire in wires[:3]:
                wire.send(request('POST', '/echo', 'Content-Length: 5', 'Expect: 100-continue'))
                self.assertEqual(wire.read().status, 100)
            # A client can have the response to its request before the request has ended.
            self.eventually(lambda: states_of(server.process.pid) == {'S'})
            server.process.terminate()
            server.wait_for('INFO eddy::app: shutting down: 3 requests in progress$')
            for wire in wires[:3]:
                wire.send('hello')
                self.assertEqual(wire.read().body, b'hello')
        self.assertEqual(server.wait(), 0)

    def test_records_by_default(self):
        server = self.serve(self.folder())
        server.stop()
        said = [line.split(maxsplit=1)[1] for line in server.log.splitlines()]
        self.assertEqual(said, [f'INFO eddy::app: Listening on 127.0.0.1:{server.port}',
                                f'INFO eddy::app: listening on http://127.0.0.1:{server.port}/',
                                'INFO eddy::app: shutting down: 0 requests in progress',
                                'INFO eddy::app: Shutting down the server'])

    def test_closed_descriptors(self):
        """No connection becomes number 2, to which records are written."""
        path = os.path.join(self.folder(), 'socket')
        closed = ('sh', '-c', 'exec "$0" "$@" <&- >&- 2>&-')
        server = self.serve(self.folder(), log='trace', bind=f'unix:{path}', start=False, wrap=closed)
        with self.eventually(lambda: try_connect(path)) as wire:
            self.assertServes(wire)
            # Its folder is the first that it opens.
            self.assertEqual([os.readlink(f'/proc/{server.pid}/fd/{fd}') for fd in (1, 2)], 2 * ['/dev/null'])
        server.stop()

    def test_no_records(self):
        path = os.path.join(self.folder(), 'socket')
        server = self.serve(self.folder(), log='off', bind=f'unix:{path}', start=False)
        with self.eventually(lambda: try_connect(path)) as wire:
            self.assertServes(wire)
        server.stop()
        self.assertEqual(server.log, '')

    def test_interrupt(self):
        server = self.serve(self.folder())
        server.stop(signal.SIGINT)

    def test_port_in_use(self):
        with socket.create_server(('127.0.0.1', 0)) as other:
            port = other.getsockname()[1]
            for workers in (1, 2):
                done = run(self.folder(), '--bind', f'127.0.0.1:{port}', '--workers', workers)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f'127.0.0.1:{port}', done.stderr)
                self.assertRegex(done.stderr, r'(?i)in use')
                self.assertNotIn('Listening', done.stderr)

    def test_port_of_another_server(self):
        """Also one that itself shares its port among workers is not joined by a stranger."""
        server = self.serve(self.folder(), '--workers', 2)
        done = run(self.folder(), '--bind', f'127.0.0.1:{server.port}', '--workers', 2)
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_restart_on_the_same_port(self):
        server = self.serve(self.folder())
        port = server.port
        with server.connect() as wire:
            self.assertServes(wire)
            server.stop()
        again = self.serve(self.folder(), bind=f'127.0.0.1:{port}')
        self.assertEqual(again.port, port)

    def test_bad_addresses(self):
        for address in ('nonsense', 'localhost', 'localhost:', ':80:', '127.0.0.1:99999', '127.0.0.1:x', '127.0.0.1:-1', '[::1',
                        '256.0.0.1:80', '', '192.0.2.1:0', 'no-such-host.invalid:0'):
            with self.subTest(address):
                done = run(self.folder(), '--bind', address)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f'"{address}"', done.stderr)
                self.assertNotIn('Sanitizer', done.stderr)

    def test_bad_command_lines(self):
        for args in (['--nonsense'], ['--workers', '0'], ['--workers', 'x'], ['--workers'], ['--max-size', '-1'], ['--max-size', '1k'],
                     ['a', 'b']):
            with self.subTest(args):
                done = run(*args)
                self.assertEqual((done.returncode, done.stdout), (2, ''))
                self.assertTrue(done.stderr)

    def test_too_few_descriptors(self):
        """Whatever keeps it from starting is said."""
        for limit in (4, 6):
            done = subprocess.run(['sh', '-c', f'ulimit -n {limit}; exec "$0" "$@"', PROGRAMS['files'], self.folder(), '--bind',
                                   '127.0.0.1:0'], capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r'(?i)too many open files')

    def test_all_descriptors_that_there_may_be(self):
        """The soft limit is raised to the hard one."""
        server = self.serve(self.folder(), wrap=('sh', '-c', 'ulimit -Sn 64; ulimit -Hn 512; exec "$@"', 'sh'))
        self.assertEqual(resource.prlimit(server.pid, resource.RLIMIT_NOFILE), (512, 512))
        wires = [server.connect() for _ in range(100)]
        for wire in wires:
            self.assertServes(wire)
            wire.close()

    def test_help(self):
        done = run('--help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('--max-size', done.stdout)

    def test_folder_that_is_none(self):
        folder = self.folder()
        file = os.path.join(folder, 'file')
        open(file, 'w').close()
        for path in (file, os.path.join(folder, 'nowhere')):
            done = run(path, '--bind', '127.0.0.1:0')
            self.assertEqual(done.returncode, 1)
            self.assertIn(path, done.stderr)

    def test_workers(self):
        folder = self.folder()
        server = self.serve(folder, '--workers', 2)
        self.assertGreaterEqual(server.threads(), 2)
        threads = [t for t in os.listdir(f'/proc/{server.pid}/task')]

        def used():
            times = {}
            for thread in threads:
                with open(f'/proc/{server.pid}/task/{thread}/schedstat') as file:
                    times[thread] = int(file.read().split()[2])
            return times
        before = used()
        wires = [server.connect() for _ in range(64)]
        for _ in range(5):
            for wire in wires:
                wire.send(request('GET', '/api/files'))
            for wire in wires:
                self.assertEqual(wire.read().status, 200)
        for wire in wires:
            wire.close()
        after = used()
        busy = [thread for thread in threads if after[thread] - before[thread] > 5]
        self.assertGreaterEqual(len(busy), 2, (before, after))

    def test_localhost_is_both(self):
        server = self.serve(self.folder(), bind='localhost:0')
        for address in (('127.0.0.1', server.port), ('::1', server.port)):
            try:
                with socket.create_connection(address) as wire:
                    wire.sendall(request('GET', '/'))
                    self.assertIn(b'200 OK', wire.recv(100))
            except OSError as error:
                if ':' not in address[0] or os.path.exists('/proc/net/if_inet6'):
                    raise AssertionError(address) from error
        self.assertRegex(server.log, rf'Listening on localhost:{server.port}')

    def test_unix_socket(self):
        path = os.path.join(self.folder(), 'socket')
        server = self.serve(self.folder(), bind=f'unix:{path}', start=False)
        server.wait_for('Listening on unix:' + re.escape(path))
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(path)
            wire.sendall(request('GET', '/api/files'))
            self.assertIn(b'{"path":"","files":[]}', wire.recv(1000))

    def test_reader_of_the_records_leaves(self):
        """Nobody reads stderr any more: that is no reason to end."""
        read, write = os.pipe()
        path = os.path.join(self.folder(), 'socket')
        process = subprocess.Popen([PROGRAMS['files'], self.folder(), '--bind', f'unix:{path}'], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=write)
        os.close(write)
        os.read(read, 1)
        os.close(read)
        with Wire(path) as wire:
            self.assertServes(wire)
        process.terminate()
        self.assertEqual(process.wait(20), 0)

    def test_many_starts(self):
        """A signal at any time of the start ends it well."""
        def start(i):
            server = Server(self.folder(), start=False)
            time.sleep(i * 0.004)
            if server.process.poll() is None:
                server.process.terminate()
            status = server.wait()
            server.process.stderr.close()
            # Before the signals are looked after it is an ordinary death.
            if status not in (0, -signal.SIGTERM) or 'Sanitizer' in server.log:
                failed.append((i, status, server.log))
        failed = []
        for i in range(0, 30, 3):
            threads = [threading.Thread(target=start, args=(i + j,)) for j in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(failed, [])


HELLO = os.path.join(EXAMPLES, 'hello')


@unittest.skipUnless(os.path.exists(HELLO), 'needs the program hello')
class Hello(Case):
    def test_answers(self):
        # The example listens where everybody's first server does.
        network.needed()
        done = subprocess.run([*network.ALONE, 'sh', '-c', '"$0" & curl -sS --retry 50 --retry-delay 1 '
                               '--retry-connrefused localhost:7878/hello/world; kill $!; wait $!', HELLO],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, 'Hello, world!'), done.stderr)
        self.assertIn('Listening on localhost:7878', done.stderr)


class Beside(Case):
    def test_server_and_task(self):
        server = self.serve('127.0.0.1:0', program='beside')
        ticks = []

        def ticked():
            ticks.append(int(server.get('/ticks').body))
            return ticks[-1] > 2
        self.eventually(ticked)
        self.assertEqual(ticks, sorted(ticks))
        response = server.get('/stop', method='POST')
        self.assertRegex(response.body, rb'^stopped after \d+ ticks\n$')
        self.assertEqual(server.wait(), 0)


if __name__ == '__main__':
    unittest.main()
