"""One app at several addresses, some with TLS and some without."""
import contextlib
import ctypes
import os
import signal
import socket

from tls import TlsCase, TlsWire, at, context, setUpModule, tearDownModule  # noqa: F401
from wire import OVER_HTTP2, Server, Wire, request

PR_SET_CHILD_SUBREAPER = 36
HTTP = request('GET', '/')


class PlainCase(TlsCase):
    def ports(self, server):
        """That with TLS, and the one without."""
        other = server.wait_for(r'Listening on .*:(\d+)', which=lambda match: int(match[1]) != server.port)
        return server.port, int(other[1])

    def assertPlain(self, port, secure='no'):
        with contextlib.closing(Wire(port)) as wire:
            answer = wire.ask(HTTP)
            self.assertEqual((answer.status, answer.header('x-secure'), answer.header('x-version')), (200, secure, '-'))
            # The connection is kept, and still plain.
            self.assertEqual(wire.ask(HTTP).status, 200)

    def assertSecure(self, port):
        with contextlib.closing(TlsWire(port, context())) as wire:
            answer = wire.ask(HTTP)
            self.assertEqual((answer.status, answer.header('x-secure'), answer.header('x-version')), (200, 'yes', 'TLSv1.3'))
        if not OVER_HTTP2:
            with contextlib.closing(Wire(port)) as wire:
                self.assertEqual(wire.ask(HTTP).status, 400)


class Own(PlainCase):
    """Sockets that the server opens."""

    def test_two_ports(self):
        for workers in (1, 3):
            server = self.secure('--plain', '127.0.0.1:0', '--workers', workers)
            with_tls, without = self.ports(server)
            for _ in range(4):
                self.assertSecure(with_tls)
                self.assertPlain(without)
            server.wait_for(f'INFO eddy::app: listening on https://127.0.0.1:{with_tls}/$')
            server.wait_for(f'INFO eddy::app: listening on http://127.0.0.1:{without}/$')

    def test_a_hello_at_the_plain_one(self):
        """It is no request."""
        server = self.secure('--plain', '127.0.0.1:0')
        with contextlib.closing(Wire(self.ports(server)[1])) as wire:
            wire.send(b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n')
            self.assertEqual(wire.read().status, 400)

    def test_sent_on_to_https(self):
        server = self.secure('--plain', '127.0.0.1:0', '--to_https')
        with_tls, without = self.ports(server)
        with contextlib.closing(Wire(without)) as wire:
            answer = wire.ask(request('GET', '/files/a', host=f'localhost:{without}'))
            self.assertEqual((answer.status, answer.header('location')), (308, f'https://localhost:{with_tls}/files/a'))
        self.assertSecure(with_tls)

    def test_by_the_configuration(self):
        config = os.path.join(self.folder(), 'app.toml')
        with open(config, 'w') as file:
            file.write('[server]\nbind = "127.0.0.1:0"\nbind_plain = ["127.0.0.1:0"]\n')
        server = self.secure('--config', config, '--plain', 'nowhere:0')
        with_tls, without = self.ports(server)
        self.assertSecure(with_tls)
        self.assertPlain(without)

    def test_unix_socket(self):
        path = os.path.join(self.folder(), 'socket')
        server = self.secure('--plain', f'unix:{path}')
        server.wait_for('Listening on unix:')
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(path)
            wire.sendall(HTTP)
            self.assertIn(b'x-secure: no', wire.recv(4096))
        self.assertSecure(server.port)


class Passed(PlainCase):
    """Sockets that others have opened."""

    def listening(self, count):
        listeners = [socket.create_server(('127.0.0.1', 0)) for _ in range(count)]
        for listener in listeners:
            self.addCleanup(listener.close)
        return [listener.fileno() for listener in listeners], [listener.getsockname()[1] for listener in listeners]

    def test_names_of_a_service_manager(self):
        fds, ports = self.listening(3)
        env = {'LISTEN_FDS': '3', 'LISTEN_FDNAMES': 'http:https:http'}
        # "systemd" takes what no name has taken.
        for bind in ('systemd:https', 'systemd'):
            server = self.secure('--bind', bind, '--plain', 'systemd:http', fds=fds, env=env)
            self.assertPlain(ports[0])
            self.assertSecure(ports[1])
            self.assertPlain(ports[2])
            server.stop()

    def restart(self, pid, server):
        os.kill(pid, signal.SIGUSR2)
        heir = int(server.wait_for(r'Process (\d+) has taken over', which=lambda m: int(m[1]) not in self.heirs)[1])
        self.heirs.append(heir)
        return heir

    def test_restart(self):
        """Each address stays what it is, also where two are written alike."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.heirs, path = [], os.path.join(self.folder(), 'socket')
        for workers in (1, 2):
            server = Server('--cert', at('server.both'), '--plain', '127.0.0.1:0', '--plain', f'unix:{path}', '--restart',
                            '--workers', workers, program='secure')
            with_tls, without = self.ports(server)
            server.wait_for('Listening on unix:')
            pid = server.pid
            for _ in range(2):
                heir = self.restart(pid, server)
                if pid == server.pid:
                    self.assertEqual(server.process.wait(20), 0)
                else:
                    self.assertEqual(os.waitpid(pid, 0)[1], 0)
                pid = heir
                self.assertSecure(with_tls)
                self.assertPlain(without)
                with socket.socket(socket.AF_UNIX) as wire:
                    wire.connect(path)
                    wire.sendall(HTTP)
                    self.assertIn(b'x-secure: no', wire.recv(4096))
            os.kill(pid, signal.SIGTERM)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            server.reader.join(10)
            server.process.stderr.close()
            self.assertEqual(server.complaint(), '')
            self.assertFalse(os.path.exists(path))
