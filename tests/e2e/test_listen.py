"""Where a server listens: several addresses, unix sockets, sockets of a service manager."""
import os
import re
import socket
import stat
import subprocess

import network
from wire import PROGRAMS, Case, Server, request


def ask(address, path='/'):
    """The answer's body, of a server at ('host', port) or at the path of a unix socket."""
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    if isinstance(address, tuple) and ':' in address[0]:
        family = socket.AF_INET6
    with socket.socket(family) as wire:
        wire.settimeout(10)
        wire.connect(address)
        wire.sendall(request('GET', path, 'Connection: close'))
        data = b''
        while more := wire.recv(4096):
            data += more
    head, _, body = data.partition(b'\r\n\r\n')
    if b' 200 ' not in head:
        raise AssertionError(head)
    return body.decode()


def run(*args, **options):
    return subprocess.run([PROGRAMS['doors'], *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
                          check=False, **options)


def listening(address=('127.0.0.1', 0)):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(address)
    server.listen(128)
    return server


class Several(Case):
    def doors(self, *args, **options):
        return self.serve(*args, program='doors', **options)

    def test_two_ports(self):
        for workers in (1, 3):
            server = self.doors('--bind', '127.0.0.1:0', '--bind', 'localhost:0', '--workers', workers)
            second = int(server.wait_for(r'Listening on localhost:(\d+)')[1])
            for _ in range(8):
                self.assertEqual(ask(('127.0.0.1', server.port)), f'{server.pid} 127.0.0.1:0')
                self.assertEqual(ask(('127.0.0.1', second)), f'{server.pid} localhost:0')
            self.assertEqual(len(re.findall('Listening on', server.log)), 2, server.log)
            server.stop()
            for port in (server.port, second):
                self.assertRaises(ConnectionRefusedError, socket.create_connection, ('127.0.0.1', port))

    def test_one_that_is_in_use_fails_all(self):
        with listening() as other:
            port = other.getsockname()[1]
            done = run('--bind', '127.0.0.1:0', '--bind', f'127.0.0.1:{port}')
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'can\'t listen on "127.0.0.1:{port}": the address is in use', done.stderr)
        self.assertNotIn('Listening', done.stderr)

    def test_name_of_which_one_address_is_in_use(self):
        """Being in use is no reason to leave one out."""
        try:
            other = socket.socket(socket.AF_INET6)
            other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            other.bind(('::1', 0))
        except OSError:
            self.skipTest('needs IPv6')
        with other:
            other.listen(1)
            done = run('--bind', f'localhost:{other.getsockname()[1]}')
        self.assertEqual(done.returncode, 1)
        self.assertIn('the address is in use', done.stderr)

    def test_address_that_the_machine_lacks(self):
        """Without IPv6 localhost is 127.0.0.1 alone, and a DEBUG record says so."""
        network.needed()
        script = 'ip -6 address del ::1 dev lo 2>/dev/null; exec "$0" "$@"'
        server = self.doors('--bind', 'localhost:0', log='info,eddy::net=debug', wrap=[*network.ALONE, 'sh', '-c', script])
        self.assertIn(f'not listening on [::1]:{server.port}', server.log)
        self.assertIn(f'Listening on localhost:{server.port}', server.log)

    def test_too_many(self):
        done = run(*['--bind', '127.0.0.1:0'] * 65)
        self.assertEqual(done.returncode, 1)
        self.assertIn('at most 64 addresses', done.stderr)


class Unix(Case):
    def setUp(self):
        self.path = os.path.join(self.folder(), 'socket')

    def doors(self, *args, **options):
        server = self.serve('--bind', f'unix:{self.path}', *args, program='doors', start=False, **options)
        server.wait_for('Listening on unix:' + re.escape(self.path))
        return server

    def is_live(self):
        with socket.socket(socket.AF_UNIX) as wire:
            return wire.connect_ex(self.path) == 0

    def test_file_comes_and_goes(self):
        for workers in (1, 2):
            server = self.doors('--workers', workers)
            for _ in range(4):
                self.assertEqual(ask(self.path), f'{server.pid} unix:{self.path}')
            server.stop()
            self.assertFalse(os.path.exists(self.path))

    def test_mode(self):
        for mode in (0o600, 0o666):
            server = self.doors('--unix_mode', f'{mode:o}')
            self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), mode)
            server.stop()

    def test_stale_file_is_replaced(self):
        first = self.doors()
        first.kill()
        self.assertTrue(os.path.exists(self.path))
        # The kernel takes a moment to end what a ring was waiting for.
        self.eventually(lambda: not self.is_live())
        second = self.doors()
        self.assertEqual(ask(self.path), f'{second.pid} unix:{self.path}')

    def test_live_one_is_left_alone(self):
        server = self.doors()
        done = run('--bind', f'unix:{self.path}')
        self.assertEqual(done.returncode, 1)
        self.assertIn('the address is in use', done.stderr)
        self.assertEqual(ask(self.path), f'{server.pid} unix:{self.path}')

    def test_other_file_is_left_alone(self):
        with open(self.path, 'w') as file:
            file.write('precious')
        done = run('--bind', f'unix:{self.path}')
        self.assertEqual(done.returncode, 1)
        self.assertIn('not a socket', done.stderr)
        self.assertEqual(open(self.path).read(), 'precious')

    def test_abstract(self):
        name = f'eddy-e2e-{os.getpid()}'
        server = self.serve('--bind', f'unix:@{name}', program='doors', start=False)
        server.wait_for(f'Listening on unix:@{name}')
        self.assertEqual(ask('\0' + name), f'{server.pid} unix:@{name}')

    def test_start_that_fails_leaves_no_file(self):
        done = run('--bind', f'unix:{self.path}', '--bind', 'nonsense')
        self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.exists(self.path))


class Systemd(Case):
    def doors(self, *addresses, sockets, names=None, count=None, workers=1, **options):
        env = {'LISTEN_FDS': str(len(sockets) if count is None else count)}
        if names is not None:
            env['LISTEN_FDNAMES'] = names
        args = [arg for address in addresses for arg in ('--bind', address)] + ['--workers', workers]
        return Server(*args, program='doors', start=False, env={**env, **options.pop('env', {})},
                      fds=[s.fileno() for s in sockets], **options)

    def serves(self, *addresses, **options):
        server = self.doors(*addresses, **options)
        self.addCleanup(lambda: server.process.stderr.closed or server.stop())
        server.wait_for('Listening on')
        return server

    def fails(self, *addresses, why, **options):
        server = self.doors(*addresses, **options)
        self.assertEqual(server.wait(), 1, server.log)
        server.process.stderr.close()
        self.assertRegex(server.log, why)
        self.assertNotIn('Sanitizer', server.log)

    def test_all(self):
        with listening() as one, listening() as two:
            for workers in (1, 3):
                server = self.serves('systemd', sockets=(one, two), workers=workers)
                server.wait_for(f'Listening on systemd, 127.0.0.1:{one.getsockname()[1]}')
                for door in (one, two):
                    self.assertEqual(ask(door.getsockname()), f'{server.pid} systemd')
                server.stop()

    def test_by_name(self):
        path = os.path.join(self.folder(), 'socket')
        with listening() as one, listening() as two, socket.socket(socket.AF_UNIX) as three:
            three.bind(path)
            three.listen()
            server = self.serves('systemd:web', 'systemd:local', '127.0.0.1:0', sockets=(one, two, three), names='web:web:local')
            for door in (one, two):
                self.assertEqual(ask(door.getsockname()), f'{server.pid} systemd:web')
            self.assertEqual(ask(path), f'{server.pid} systemd:local')
            server.wait_for(f'Listening on systemd:local, unix:{path}')
            server.stop()
            self.assertTrue(os.path.exists(path), 'it is the service manager\'s')

    def test_workers_share(self):
        with listening() as one:
            server = self.serves('systemd', workers=4, sockets=(one,))
            for _ in range(20):
                self.assertEqual(ask(one.getsockname()), f'{server.pid} systemd')

    def test_children_inherit_nothing(self):
        with listening() as one:
            server = self.serves('systemd', sockets=(one,), names='web')
            with open(f'/proc/{server.pid}/fdinfo/3') as file:
                self.assertRegex(file.read(), r'(?m)^flags:\s+02\d{6}$')    # O_CLOEXEC
            for name in ('LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'):
                self.assertEqual(ask(one.getsockname(), f'/env/{name}'), '-')
            self.assertEqual(ask(one.getsockname(), '/env/LC_ALL'), 'C')

    def test_socket_that_blocks(self):
        """A service manager's sockets may."""
        with listening() as one:
            one.setblocking(True)
            server = self.serves('systemd', sockets=(one,))
            self.assertEqual(ask(one.getsockname()), f'{server.pid} systemd')

    def test_refused(self):
        with listening() as one, socket.socket() as deaf, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, \
                open(os.devnull) as file:
            for options, why in (
                (dict(sockets=(one,), count='x'), 'LISTEN_FDS is not a number'),
                (dict(sockets=(one,), count='-1'), 'LISTEN_FDS is not a number'),
                (dict(sockets=(one,), count='0'), 'LISTEN_FDS is not a number'),
                (dict(sockets=(one,), count=''), 'LISTEN_FDS is not a number'),
                (dict(sockets=(one,), count='99999999999999999999'), 'LISTEN_FDS is not a number'),
                (dict(sockets=(one,), count='4000000000'), 'LISTEN_FDS is 4000000000, but the descriptor \\d+ is not open'),
                (dict(sockets=(one,), names='a:b'), 'LISTEN_FDNAMES has 2 names for 1 descriptors'),
                (dict(sockets=(one, deaf), names='a:b'), r'the descriptor 4 \("b"\) is not a listening stream socket'),
                (dict(sockets=(datagrams,)), r'the descriptor 3 \("unknown"\) is not a listening stream socket'),
                (dict(sockets=(file,)), r'the descriptor 3 \("unknown"\) is not a listening stream socket'),
                (dict(sockets=(one,), env={'LISTEN_PID': '1'}), r'LISTEN_PID is not \d+'),
                (dict(sockets=(one,), env={'LISTEN_PID': 'x'}), r'LISTEN_PID is not \d+'),
                (dict(sockets=(one,), env={'EDDY_RESTART': '1', 'LISTEN_PID': ''}), r'LISTEN_PID is not \d+'),
            ):
                with self.subTest(why, **options):
                    self.fails('systemd', why=f'can\'t listen on "systemd": .*{why}', **options)
            self.fails('systemd:c', sockets=(one, one), names='a:b', why='no socket named "c" was passed; the passed ones are "a", "b"')
            self.fails('systemd', 'systemd', sockets=(one,), why='all passed sockets are used by other addresses')
        done = run('--bind', 'systemd')
        self.assertEqual(done.returncode, 1)
        self.assertIn('LISTEN_FDS is not set', done.stderr)

    def test_others_are_left_alone(self):
        """Who asks for no socket of a service manager does not mind what it says."""
        server = Server('--bind', '127.0.0.1:0', program='doors', env={'LISTEN_FDS': 'x', 'LISTEN_PID': 'y'})
        self.addCleanup(server.stop)
        self.assertEqual(ask(('127.0.0.1', server.port)), f'{server.pid} 127.0.0.1:0')
