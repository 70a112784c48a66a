"""The programs of examples/ladder/, each driven as its user would, and what they print.

What the comment at the head of a program shows is run as it stands there where that is possible: its lines that
begin with "$ " by a shell, in a folder of its own, and what follows them is what must come.
"""
import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import unittest

import network
import recorded
from wire import EXAMPLES, KIB, MIB, PROGRAMS, Case, Lost, Wire, links_of

LADDER = os.path.join(EXAMPLES, 'ladder')
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples', 'ladder')
STEPS = sorted(name[:-2] for name in os.listdir(SOURCES) if name.endswith('.c'))
PROGRAMS.update({step: os.path.join(LADDER, step) for step in STEPS})


def path_of(number):
    return PROGRAMS[next(step for step in STEPS if step.startswith(number))]


def transcript(number):
    """Pairs of a command and what it prints."""
    with open(os.path.join(SOURCES, os.path.basename(path_of(number)) + '.c')) as file:
        head = file.read().split('*/')[0]
    commands = []
    for line in re.findall(r'^ \*     (\S.*)$', re.sub(r'^ \*      +', ' *     \N{MIDDLE DOT}', head, flags=re.M), re.M):
        if line.startswith('$ '):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def numbers(lines):
    return [int(number) for line in lines for number in re.findall(r'\d+', line)]


@unittest.skipUnless(os.path.isdir(LADDER), 'needs the programs of examples/ladder')
class Ladder(Case):
    def run_step(self, number, *args, cwd=None, status=0, seconds=60):
        """Return: the lines on stdout, and stderr."""
        done = subprocess.run([path_of(number), *map(str, args)], capture_output=True, text=True, timeout=seconds, cwd=cwd,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn('Sanitizer', done.stderr)
        return done.stdout.splitlines(), done.stderr

    def start(self, number, *args, **options):
        process = subprocess.Popen([path_of(number), *map(str, args)], text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def end(self, process, sig):
        """It ends well. Return: what else it has printed."""
        process.send_signal(sig)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, err), (0, ''))
        return out

    def shown(self, number, files=()):
        """Run what the program's comment shows, and compare."""
        folder = self.folder()
        for name, text in files:
            with open(os.path.join(folder, name), 'w') as file:
                file.write(text)
        env = dict(os.environ, PATH=LADDER + ':' + os.environ['PATH'], LC_ALL='C')
        commands = transcript(number)
        self.assertTrue(commands)
        for command, wanted in commands:
            done = subprocess.run(['sh', '-c', command], capture_output=True, text=True, timeout=60, cwd=folder, env=env,
                                  stdin=subprocess.DEVNULL, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ''), command)
            yield wanted, done.stdout.splitlines()

    def assertShown(self, number, files=()):
        for wanted, printed in self.shown(number, files):
            # Blanks in front are not told apart in a comment.
            self.assertEqual([line.replace('\N{MIDDLE DOT}', '') for line in wanted], [line.lstrip() for line in printed])


class Programs(Ladder):
    """Those that run to their end."""

    def test_every_step_is_tested(self):
        with open(os.path.abspath(__file__)) as file:
            text = file.read()
        for step in STEPS:
            self.assertIn(f"'{step[:2]}'", text, f'{step} has no test')
            self.assertTrue(os.path.exists(PROGRAMS[step]), f'{step} is not built')

    def test_tasks(self):
        self.assertShown('01')

    def test_deadline(self):
        self.assertShown('02')

    def test_fan_out(self):
        self.assertShown('03', [('one.txt', '1\n'), ('two.txt', '1\n2\n')])

    def test_fan_out_fails_as_a_whole(self):
        folder = self.folder()
        with open(os.path.join(folder, 'one.txt'), 'w') as file:
            file.write('1\n')
        out, err = self.run_step('03', 'one.txt', 'none.txt', cwd=folder, status=1)
        self.assertEqual((out, err), ([], 'none.txt: No such file or directory\n'))
        out, err = self.run_step('03', 'one.txt', '.', cwd=folder, status=1)
        self.assertEqual((out, err), ([], '.: Is a directory\n'))

    def test_cleanup(self):
        self.assertShown('05')

    def test_cleanup_when_interrupted(self):
        folder = self.folder()
        process = self.start('05', cwd=folder)
        self.eventually(lambda: 'novel.part' in os.listdir(folder) or process.poll() is not None)
        out = self.end(process, signal.SIGINT)
        self.assertIn('novel.txt: Operation canceled\n', out)
        self.assertLessEqual(set(os.listdir(folder)), {'haiku.txt'})

    def test_pipeline(self):
        self.assertShown('06')

    def test_cp(self):
        self.assertShown('07', [('one.txt', 'one line\n')])

    def test_cp_of_a_large_file(self):
        folder, data = self.folder(), os.urandom(5 * MIB + 123)
        with open(os.path.join(folder, 'from'), 'wb') as file:
            file.write(data)
        self.run_step('07', 'from', 'to', cwd=folder)
        with open(os.path.join(folder, 'to'), 'rb') as file:
            self.assertTrue(file.read() == data)
        self.assertEqual(self.run_step('07', 'none', 'to', cwd=folder, status=1)[1], 'none: No such file or directory\n')
        self.assertIn('usage', self.run_step('07', 'none', status=2)[1])

    def test_rate_limit(self):
        [(wanted, printed)] = self.shown('08')
        self.assertEqual([re.sub(r'\d+ ms', 'N ms', line) for line in printed],
                         [re.sub(r'\d+ ms', 'N ms', line) for line in wanted])
        # Sooner would be wrong; a busy machine may be later.
        for least, at in zip(numbers(wanted)[1::2], numbers(printed)[1::2]):
            self.assertGreaterEqual(at, least)

    def test_scan(self):
        # Others listen too, and count who comes.
        with contextlib.ExitStack() as stack:
            stack.enter_context(network.own())
            bound = stack.enter_context(socket.socket())
            bound.bind(('127.0.0.1', 0))
            silent = bound.getsockname()[1]
            listening = stack.enter_context(socket.create_server(('127.0.0.1', 0))).getsockname()[1]
            for port in (listening, silent):
                out, err = self.run_step('09', max(1, port - 300), min(65535, port + 300))
                self.assertEqual((f'{port} is open' in out, err), (port == listening, ''))
                self.assertEqual([line for line in out if not re.fullmatch(r'\d+ is open', line)], [])

    def test_scan_of_everything(self):
        with network.own(), socket.create_server(('127.0.0.1', 0)) as server:
            self.assertIn(f'{server.getsockname()[1]} is open', self.run_step('09', seconds=110)[0])

    def test_pubsub(self):
        self.assertShown('10')

    def test_supervisor(self):
        [(wanted, printed)] = self.shown('11')
        for child in ('flaky', 'stuck', 'broken'):
            self.assertEqual([line for line in printed if line.startswith(child)],
                             [line for line in wanted if line.startswith(child)])
        self.assertEqual(len(printed), len(wanted))

    def test_workers(self):
        self.assertShown('12')

    def test_seats(self):
        """A seat too many is sold in some run, and in each replay of it."""
        program = path_of('17')
        for _ in range(200):
            recording = recorded.Recording()
            env = {**os.environ, **(recording.env if recorded.is_built() else {})}
            run = subprocess.run([program], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
            self.assertIn(run.returncode, (0, 1), run.stderr)
            if run.returncode:
                break
        lines = run.stdout.splitlines()
        self.assertEqual(lines[4:], ['4 of 3 seats are sold'], 'no run of 200 fails')
        for i, line in enumerate(lines[:4], 1):
            self.assertRegex(line, rf'^\d+ ms: (ada|bob|cy|dee) gets seat {i}$')
        if recorded.is_built():
            self.assertEqual(recording.wrong(program, run.returncode, run.stdout, run.stderr), '')


class Dialling(Ladder):
    def listen(self, backlog=16):
        server = socket.socket()
        self.addCleanup(server.close)
        server.bind(('127.0.0.1', 0))
        server.listen(backlog)
        return server.getsockname()[1]

    def listen_full(self):
        """A port where who connects waits."""
        port = self.listen(0)
        for _ in range(4):
            client = socket.socket()
            self.addCleanup(client.close)
            client.setblocking(False)
            client.connect_ex(('127.0.0.1', port))
        return port

    def test_the_first_address_refuses(self):
        port = self.listen()
        with socket.socket() as bound:
            bound.bind(('127.0.0.1', 0))
            out, _ = self.run_step('13', f'127.0.0.1:{bound.getsockname()[1]}', f'127.0.0.1:{port}')
        self.assertEqual(out, [f'Connected to 127.0.0.1:{port}'])

    def test_the_first_address_does_not_answer(self):
        silent, port = self.listen_full(), self.listen()
        out, _ = self.run_step('13', f'127.0.0.1:{silent}', f'127.0.0.1:{port}', 'no-address')
        self.assertEqual(out, [f'Connected to 127.0.0.1:{port}'])

    def test_nobody_there(self):
        with socket.socket() as bound:
            bound.bind(('127.0.0.1', 0))
            out, err = self.run_step('13', f'127.0.0.1:{bound.getsockname()[1]}', status=1)
        self.assertEqual((out, err), ([], '13_happy_eyeballs: Connection refused\n'))

    def test_interrupted_while_nobody_answers(self):
        port = self.listen_full()
        process = self.start('13', f'127.0.0.1:{port}')
        self.eventually(lambda: f':{port:04X} 02 ' in self.sockets(process.pid))
        self.assertEqual(self.end(process, signal.SIGINT), '')

    def sockets(self, pid):
        """The lines of /proc/net/tcp of this process's sockets."""
        inodes = set()
        with contextlib.suppress(OSError):
            inodes.update(re.findall(r'socket:\[(\d+)\]', ' '.join(links_of(pid))))
        with open('/proc/net/tcp') as file:
            return ''.join(line for line in file if set(line.split()) & inodes)


class Tail(Ladder):
    def test_follows(self):
        path = os.path.join(self.folder(), 'app.log')
        with open(path, 'w') as file:
            file.write('one line\n')
        process = self.start('15', path)
        self.assertEqual(process.stdout.readline(), 'one line\n')
        for text in ('another\n', 'and one more\n', 'x' * 100000 + '\n'):
            with open(path, 'a') as file:
                file.write(text)
            self.assertEqual(process.stdout.readline(), text)
        # Begun anew, and shorter.
        with open(path, 'w') as file:
            file.write('again\n')
        self.assertEqual(process.stdout.readline(), 'again\n')
        self.assertEqual(self.end(process, signal.SIGINT), '')

    def test_no_file(self):
        self.assertEqual(self.run_step('15', '/no/such/file', status=1)[1], '15_tail: No such file or directory\n')


class Servers(Ladder):
    def step(self, number, *args):
        return self.serve(*args, program=os.path.basename(path_of(number)), bind=None)

    def assertEchoes(self, server):
        data = os.urandom(3 * MIB + 17)
        with server.connect() as quick, server.connect() as other:
            quick.send('quick')
            self.assertEqual(quick.take(5), b'quick')
            sent = 0
            other.socket.setblocking(False)
            # The peer echoes no more than it is relieved of: both ways at once.
            while len(other.buffer) < len(data):
                readable, writable, _ = select.select([other.socket], [other.socket] if sent < len(data) else [], [], 10)
                self.assertTrue(readable or writable)
                if writable:
                    sent += other.socket.send(data[sent:sent + 256 * KIB])
                    if sent == len(data):
                        other.end()
                if readable:
                    other.more()
            self.assertTrue(other.buffer == data)
            other.socket.setblocking(True)
            self.assertEqual(other.socket.recv(1), b'')
            quick.send('still here')
            self.assertEqual(quick.take(10), b'still here')

    def assertEnds(self, server, sig):
        """With a connection open: it is closed."""
        with server.connect() as wire:
            wire.send('x')
            self.assertEqual(wire.take(1), b'x')
            server.stop(sig)
            with contextlib.suppress(Lost):
                self.assertEqual(wire.read_end(), b'')

    def test_echo(self):
        server = self.step('04', 'localhost:0')
        self.assertEchoes(server)
        with server.connect() as wire:
            # Whose turn it is, is said on SIGQUIT; it goes on.
            wire.send('x')
            wire.take(1)
            os.kill(server.pid, signal.SIGQUIT)
            server.wait_for(r'"echo" .*04_echo\.c:\d+.*: recv on \d+')
        self.assertEchoes(server)
        self.assertEnds(server, signal.SIGINT)

    def test_echo_on_a_port_in_use(self):
        with socket.create_server(('127.0.0.1', 0)) as other:
            address = f'127.0.0.1:{other.getsockname()[1]}'
            _, err = self.run_step('04', address, status=1)
        self.assertRegex(err, rf'^{re.escape(address)}: .*in use')

    def test_proxy(self):
        upstream = self.step('04', '127.0.0.1:0')
        server = self.step('14', '127.0.0.1:0', f'127.0.0.1:{upstream.port}')
        before = server.sockets()
        self.assertEchoes(server)
        # A client that breaks off, with bytes on the way, concerns nobody else.
        wire = server.connect()
        wire.socket.setblocking(False)
        wire.try_send(b'x' * MIB)
        wire.reset()
        self.assertEchoes(server)
        # Pipes are pooled, and one is closed or not, as the reset came: sockets are what counts.
        self.eventually(lambda: server.sockets() == before)
        self.assertEnds(server, signal.SIGTERM)
        server.process.stderr.close()
        upstream.stop()

    def test_proxy_without_an_upstream(self):
        with socket.socket() as bound:
            bound.bind(('127.0.0.1', 0))
            server = self.step('14', '127.0.0.1:0', f'127.0.0.1:{bound.getsockname()[1]}')
            with server.connect() as wire:
                self.assertEqual(wire.read_end(), b'')

    def test_chat(self):
        server = self.step('16', '127.0.0.1:0')

        def join(name):
            wire = server.connect()
            self.addCleanup(wire.close)
            wire.send(name + '\n')
            return wire

        def hears(wire, text):
            self.assertEqual(wire.take(len(text) + 1).decode(), text + '\n')
        alice = join('alice')
        # She is there when she hears of others.
        self.eventually(lambda: self.says_hello(server, alice))
        bob = join('bob')
        hears(alice, '* bob is here')
        bob.send('hello, ')
        bob.send('alice\nhow are you?\n')
        hears(alice, 'bob: hello, alice')
        hears(alice, 'bob: how are you?')
        alice.send('fine\n')
        hears(bob, 'alice: fine')
        bob.close()
        hears(alice, '* bob has left')
        # No line is endless.
        carol = join('carol')
        hears(alice, '* carol is here')
        carol.send('x' * 1000)
        hears(alice, '* carol has left')
        server.stop(signal.SIGINT)
        with contextlib.suppress(Lost):
            self.assertEqual(alice.read_end(), b'')

    def says_hello(self, server, wire):
        with Wire(server.port) as other:
            other.send('probe\n')
            other.end()
            heard = bool(select.select([wire.socket], [], [], 0.1)[0])
            if heard:
                wire.take(len('* probe is here\n* probe has left\n'))
            return heard


if __name__ == '__main__':
    unittest.main()
