"""A new process takes over the listening sockets, and nobody notices."""
import contextlib
import ctypes
import os
import resource
import signal
import socket
import threading

import tls
from proxied import header, is_closed_at_once, peer_of, ports
from wire import KIB, Case, Server, links_of, only_http1, request

PR_SET_CHILD_SUBREAPER = 36


class Restart(Case):
    def setUp(self):
        # Processes whose parent has ended become this one's children.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.heirs, self.known = set(), set()
        self.addCleanup(self.end_heirs)

    def kill_all(self, server):
        """The heirs first: they keep its stderr open."""
        self.end_heirs()
        if server.process.poll() is None:
            server.kill()

    def end_heirs(self):
        for pid in self.heirs:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        self.heirs.clear()

    def doors(self, *args, **options):
        server = Server('--restart', *args, program='doors', **options)
        self.addCleanup(self.kill_all, server)
        return server

    def serving(self, server):
        """The process that serves."""
        pid = int(server.get('/').body.split()[0])
        if pid != server.pid:
            self.heirs.add(pid)
        return pid

    def restart(self, server, pid):
        """Return: the new process."""
        os.kill(pid, signal.SIGUSR2)
        taken = server.wait_for(r'Process (\d+) has taken over', which=lambda m: int(m[1]) not in self.known)
        heir = int(taken[1])
        self.heirs.add(heir)
        self.known.add(heir)
        return heir

    def assertEnds(self, pid):
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.heirs.discard(pid)

    def end(self, server, pid):
        """Let the last process end, and look at what all have said."""
        os.kill(pid, signal.SIGTERM)
        self.assertEnds(pid)
        server.reader.join(10)
        server.process.stderr.close()
        self.assertEqual(server.complaint(), '')

    def load(self, server, stop, errors, counts, fresh):
        """Ask until `stop`; with a connection for each request if `fresh`."""
        wire = None
        try:
            while not stop.is_set():
                wire = wire or server.connect()
                response = wire.ask(request('GET', '/slow/1'))
                counts[int(response.body)] = counts.get(int(response.body), 0) + 1
                if fresh or response.closes:
                    wire.close()
                    wire = None
        except Exception as error:  # noqa: B902
            errors.append(error)
        if wire:
            wire.close()

    @only_http1('responses that close the connection')
    def test_nobody_is_refused(self):
        """Three restarts under load, also with another number of workers' sockets."""
        for workers in (1, 3):
            server = self.doors('--workers', workers)
            stop, errors, counts = threading.Event(), [], {}
            threads = [threading.Thread(target=self.load, args=(server, stop, errors, counts, i % 2)) for i in range(6)]
            for thread in threads:
                thread.start()
            pids = [server.pid]
            for _ in range(3):
                pids.append(self.restart(server, pids[-1]))
                self.eventually(lambda: counts.get(pids[-1], 0) > 20)
            stop.set()
            for thread in threads:
                thread.join()
            self.assertEqual(errors, [])
            self.assertEqual(set(counts), set(pids))
            self.assertEqual(server.process.wait(20), 0)
            for pid in pids[1:-1]:
                self.assertEnds(pid)
            self.end(server, pids[-1])

    def test_sessions_are_resumed_by_the_next(self):
        """The keys of tickets are handed over, twice."""
        tls.setUpModule()
        self.addCleanup(tls.tearDownModule)
        server = Server('--restart', '--cert', tls.at('server.pem'), '--key', tls.at('server.key'), program='secure')
        self.addCleanup(self.kill_all, server)
        sessions = []
        for version in (tls.V12, tls.V13):
            using = tls.context(version=version)
            with contextlib.closing(tls.TlsWire(server.port, using)) as wire:
                wire.ask(request('GET', '/'))
                sessions.append((using, wire.tls.session))
        pids = [server.pid]
        for _ in range(2):
            pids.append(self.restart(server, pids[-1]))
            for using, session in sessions:
                with contextlib.closing(tls.TlsWire(server.port, using, session=session)) as wire:
                    self.assertTrue(wire.tls.session_reused)
                    self.assertEqual(wire.ask(request('GET', '/')).header('x-resumed'), 'yes')
        self.assertEqual(server.process.wait(20), 0)
        self.assertEnds(pids[1])
        # The file of the keys is closed.
        self.assertEqual([link for link in links_of(pids[-1]) if 'tickets' in link], [])
        self.end(server, pids[-1])

    def test_too_few_descriptors(self):
        """Enough for the copy of a socket, but not for what the other process would answer by."""
        server = self.doors()
        before = self.descriptors(server)
        free = [fd for fd in range(max(before) + 4) if fd not in before]
        limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (free[1] + 1, limits[1]))
        server.process.send_signal(signal.SIGUSR2)
        server.wait_for("can't restart, the old process continues: Too many open files")
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
        self.assertEqual(self.descriptors(server), before)
        heir = self.restart(server, server.pid)
        self.assertEqual(server.process.wait(20), 0)
        self.end(server, heir)

    def descriptors(self, server):
        return {int(fd) for fd in os.listdir(f'/proc/{server.pid}/fd')}

    def test_what_is_in_flight_is_finished(self):
        server = self.doors('--drain_timeout', 500)
        with server.connect() as busy, server.connect() as fresh, server.connect() as idle:
            self.assertServes(idle)
            busy.send(request('GET', '/slow/1200'))
            self.serving(server)    # the others have been accepted
            heir = self.restart(server, server.pid)
            # What the old process has accepted may still ask once.
            for wire in (fresh, idle):
                response = wire.ask(request('GET', '/'))
                self.assertTrue(response.closes)
                self.assertEqual(int(response.body.split()[0]), server.pid)
                self.assertClosed(wire)
            response = busy.read()
            self.assertEqual((int(response.body), response.closes), (server.pid, True), 'it took longer than the drain time')
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(self.serving(server), heir)
        self.end(server, heir)

    def receiving(self, server, count):
        """Connections whose receive is armed for more than one request: the last one had no body."""
        wires = [server.connect() for _ in range(count)]
        for wire in wires:
            self.addCleanup(wire.close)
            for _ in range(2):
                self.assertEqual(int(wire.ask(request('GET', '/slow/0')).body), server.pid)
        return wires

    def test_requests_that_come_with_the_end(self):
        """What has been sent before it looks at the signal is answered: all of a head, one of which the rest comes later,
        one that is more than is received at once, and one that is being answered."""
        server = self.doors()
        whole, part, long, busy = self.receiving(server, 4)
        busy.send(request('GET', '/slow/200'))
        server.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WNOWAIT)
        whole.send(request('GET', '/slow/1'))
        part.send(request('GET', '/slow/1')[:-2])
        long.send(request('GET', '/slow/1', f'X: {"x" * 12 * KIB}'))
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGCONT)
        for wire in (whole, long, busy, part):
            if wire is part:
                wire.send('\r\n')
            response = wire.read()
            self.assertEqual((int(response.body), response.closes), (server.pid, True))
            self.assertClosed(wire)
        self.assertEqual(server.process.wait(20), 0)

    def test_requests_that_come_with_the_restart(self):
        """Once the new process serves, each connection of the old one may ask once more, be it in two parts or at length."""
        server = self.doors()
        whole, part, long, busy = wires = self.receiving(server, 4)
        part.send(request('GET', '/slow/1')[:-2])
        busy.send(request('GET', '/slow/1') * 100)
        heir = self.restart(server, server.pid)
        whole.send(request('GET', '/slow/1'))
        part.send('\r\n')
        long.send(request('GET', '/slow/1', f'X: {"x" * 12 * KIB}'))
        for wire in wires:
            response, answered = wire.read(), 1
            while not response.closes:
                self.assertIs(wire, busy)
                if answered == 100:     # all of them before the restart
                    busy.send(request('GET', '/slow/1'))
                response, answered = wire.read(), answered + 1
            self.assertEqual(int(response.body), server.pid)
            self.assertClosed(wire)
        self.assertEqual(server.process.wait(20), 0)
        self.end(server, heir)

    def test_silent_connections_end_with_the_drain_time(self):
        server = self.doors('--drain_timeout', 100)
        with server.connect() as fresh, server.connect() as idle:
            self.assertServes(idle)
            heir = self.restart(server, server.pid)
            self.assertClosed(fresh)
            self.assertClosed(idle)
        self.assertEqual(server.process.wait(20), 0)
        self.end(server, heir)

    def test_signal_ends_the_old_one_at_once(self):
        server = self.doors()
        with server.connect() as busy:
            busy.send(request('GET', '/slow/60000'))
            self.serving(server)    # the other one has been accepted
            heir = self.restart(server, server.pid)
            self.assertIsNone(server.process.poll())
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(self.serving(server), heir)
        self.end(server, heir)

    def test_new_process_that_fails(self):
        gate = os.path.join(self.folder(), 'gate')
        open(gate, 'w').close()
        server = self.doors(env={'DOORS_GATE': gate})
        start = server.descriptors()
        os.unlink(gate)
        for _ in range(2):
            lines = len(server.lines)
            server.process.send_signal(signal.SIGUSR2)
            self.eventually(lambda: any('can\'t restart, the old process continues: the new process has exited; see its log records' in line
                                        for line in server.lines[lines:] if line))
            self.assertEqual(self.serving(server), server.pid)
        self.eventually(lambda: server.descriptors() <= start + 1)
        open(gate, 'w').close()
        heir = self.restart(server, server.pid)
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(self.serving(server), heir)
        self.end(server, heir)

    def test_end_while_a_new_process_starts(self):
        """It does not survive."""
        gate = os.path.join(self.folder(), 'gate')
        os.mkfifo(gate)
        server = self.doors(env={'DOORS_HANG': gate})
        server.process.send_signal(signal.SIGUSR2)
        with open(gate, 'rb', buffering=0) as said:
            child = int(said.readline())
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            server.process.stderr.close()
        self.assertFalse(os.path.exists(f'/proc/{child}'))

    def test_unix_socket(self):
        path = os.path.join(self.folder(), 'socket')
        server = self.doors('--bind', '127.0.0.1:0', '--bind', f'unix:{path}')
        inode = os.stat(path).st_ino
        heir = self.restart(server, server.pid)
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(os.stat(path).st_ino, inode)
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(path)
            wire.sendall(request('GET', '/'))
            self.assertIn(f'{heir} unix:{path}'.encode(), wire.recv(4096))
        self.end(server, heir)
        self.assertFalse(os.path.exists(path))

    def test_sockets_of_a_service_manager(self):
        with socket.create_server(('127.0.0.1', 0)) as door:
            server = self.doors('--bind', 'systemd:web', fds=[door.fileno()], env={'LISTEN_FDS': '1', 'LISTEN_FDNAMES': 'web'})
            pid = server.pid
            for _ in range(2):
                heir = self.restart(server, pid)
                os.waitpid(pid, 0) if pid != server.pid else server.process.wait(20)
                self.heirs.discard(pid)
                self.assertEqual(server.get('/').body.decode(), f'{heir} systemd:web')
                self.assertEqual(server.get('/env/EDDY_RESTART').body, b'-')
                self.assertEqual(server.get('/env/LISTEN_FDS').body, b'-')
                pid = heir
            self.end(server, pid)

    def test_service_manager_is_told(self):
        address = os.path.join(self.folder(), 'notify')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            manager.settimeout(20)
            server = self.doors(env={'NOTIFY_SOCKET': address})
            self.assertIn(b'READY=1', manager.recv(4096))
            with server.connect() as wire:
                # As long as this is answered the old process is there.
                wire.send(request('GET', '/slow/500'))
                server.get('/')
                heir = self.restart(server, server.pid)
                self.assertRegex(manager.recv(4096), rb'^RELOADING=1\nMONOTONIC_USEC=\d+\n')
                self.assertRegex(manager.recv(4096), rb'^MAINPID=%d\nREADY=1\n' % heir)
                # systemd waits only for main processes that are its children.
                with open(f'/proc/{heir}/status') as file:
                    self.assertIn(f'\nPPid:\t{os.getpid()}\n', file.read())
                self.assertIsNone(server.process.poll())
                self.assertEqual(wire.read().body, str(server.pid).encode())
            self.assertEqual(server.process.wait(20), 0)
            self.end(server, heir)
            # Of the old one nothing came, of the new one that it stops.
            self.assertIn(b'STOPPING=1', manager.recv(4096))

    def test_by_the_configuration(self):
        path = os.path.join(self.folder(), 'app.toml')

        def write(*lines):
            with open(path, 'w') as file:
                file.write('\n'.join(('[server]', *lines)) + '\n')
        write('bind = "127.0.0.1:0"')
        server = Server('--restart', '--config', path, program='doors')
        self.addCleanup(self.kill_all, server)
        # The new process reads it again; the address that stays is handed over.
        write('bind = ["127.0.0.1:0", "localhost:0"]')
        heir = self.restart(server, server.pid)
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(self.serving(server), heir)
        self.end(server, heir)
        self.assertEqual(server.log.count('Listening on localhost:'), 1)

    def test_by_call(self):
        server = self.doors()
        self.assertEqual(server.ask(request('POST', '/restart', 'Content-Length: 0')).status, 204)
        heir = int(server.wait_for(r'Process (\d+) has taken over')[1])
        self.heirs.add(heir)
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(self.serving(server), heir)
        self.end(server, heir)

    def test_descriptors_do_not_grow(self):
        server = self.doors('--bind', 'localhost:0', '--workers', 3)
        pid, counts = server.pid, []
        for _ in range(4):
            counts.append(self.sockets(pid))
            heir = self.restart(server, pid)
            if pid == server.pid:
                self.assertEqual(server.process.wait(20), 0)
            else:
                self.assertEnds(pid)
            pid = heir
        self.assertEqual(len(set(counts)), 1, counts)
        self.end(server, pid)

    def sockets(self, pid):
        return sum(link.startswith('socket:') for link in links_of(pid))

    def test_a_door_for_proxies(self):
        """Addresses that are written alike keep what is spoken there, and nobody is to be told of an end."""
        client = header(('192.0.2.7', 1))
        server = self.doors('--bind', '127.0.0.1:0', '--proxied', '127.0.0.1:0', '--trust', '127.0.0.1', '--lame_duck', 60000)
        plain, proxied = ports(server, 2)
        server.port = plain
        with server.connect() as old:
            self.assertServes(old)
            heir = self.restart(server, server.pid)
            self.assertEqual(old.ask(request('GET', '/health')).status, 200)
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(int(peer_of(plain, b'', path='/').split()[0]), heir)
        self.assertEqual(int(peer_of(proxied, client, path='/').split()[0]), heir)
        self.assertTrue(is_closed_at_once(proxied, request('GET', '/')))
        os.kill(heir, signal.SIGTERM)
        self.eventually(lambda: server.get('/health').status == 503)
        self.end(server, heir)

    def test_without_the_option_nothing_happens(self):
        server = Server(program='doors')
        self.addCleanup(server.kill)
        server.process.send_signal(signal.SIGUSR2)
        server.wait_for('SIGUSR2 is ignored: the program does not set .restart')
        self.assertEqual(self.serving(server), server.pid)
        server.stop()
