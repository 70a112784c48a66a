"""docs/deploy/haproxy.cfg as it stands, but for ports, files and times: a real HAProxy in front of two servers of ours."""
# needs: haproxy
import contextlib
import csv
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from proxied import LOCAL, SIGNATURE, ports
from tls import TlsCase, TlsWire, at, context, setUpModule, tearDownModule  # noqa: F401
from wire import Server, Wire, curl, request

DEPLOY = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'deploy')
HAPROXY = shutil.which('haproxy', path=os.environ.get('PATH', '') + ':/usr/sbin')
LAME_DUCK_MS = 700


def text_of_page(name):
    with open(os.path.join(DEPLOY, name)) as file:
        return file.read()


def changed(text, *changes):
    """A text with some words in place of others, each of which is there."""
    for old, new in changes:
        if old not in text:
            raise AssertionError(f'{old!r} is not there any more')
        text = text.replace(old, new)
    return text


@unittest.skipUnless(HAPROXY, 'needs haproxy')
class HaproxyCase(TlsCase):
    """HAProxy, in the foreground, on sockets that it is given."""

    def listen(self, family=socket.AF_INET):
        door = socket.socket(family)
        self.addCleanup(door.close)
        try:
            door.bind(('::1' if family == socket.AF_INET6 else '127.0.0.1', 0))
        except OSError:
            self.skipTest('needs IPv6')
        door.listen(128)
        return door

    def haproxy(self, config, *doors):
        folder = self.folder()
        path = os.path.join(folder, 'haproxy.cfg')
        self.control = os.path.join(folder, 'control')
        with open(path, 'w') as file:
            file.write(f'global\n\tstats socket {self.control}\n' + config)
        with open(os.path.join(folder, 'said'), 'wb') as said:
            process = subprocess.Popen([HAPROXY, '-db', '-f', path], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                       pass_fds=[door.fileno() for door in doors])
        self.addCleanup(self.end, process)

        def is_there():
            if process.poll() is not None:
                with open(os.path.join(folder, 'said')) as said:
                    self.fail(said.read())
            with contextlib.suppress(OSError):
                return self.states()
        self.eventually(is_there)

    def end(self, process):
        process.terminate()
        process.wait(10)

    def states(self):
        """What it knows of each server: rows of "show stat"."""
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(self.control)
            wire.sendall(b'show stat\n')
            text = b''.join(iter(lambda: wire.recv(65536), b'')).decode()
        rows = csv.DictReader(text.removeprefix('# ').splitlines())
        return {row['svname']: row for row in rows if row['svname'] not in ('FRONTEND', 'BACKEND')}

    def await_states(self, **wanted):
        """Until each server has the status, by a check of its own, and not by courtesy."""
        self.eventually(lambda: all((row := self.states()[name])['status'] == status and row['check_status'].startswith(('L', 'SOCKERR'))
                                    for name, status in wanted.items()), what=lambda: f'{wanted}: {self.states()}')


class Recipe(HaproxyCase):
    def start(self, name, port=0):
        """A server by the page's own settings."""
        path = os.path.join(self.home, f'{name}.toml')
        settings = re.search(r'^```toml\n(.*?)^```$', text_of_page('haproxy.md'), re.M | re.S)[1]
        with open(path, 'w') as file:
            file.write(changed(settings, ('127.0.0.1:8081', f'127.0.0.1:{port}'), ('4_000', str(LAME_DUCK_MS))))
        server = Server('--config', path, program='doors')
        self.addCleanup(lambda: server.process.stderr.closed or server.stop())
        return server

    def set_up(self, *changes):
        """Two servers and HAProxy in front, once they are up. It leaves `self.web`, a context's port for HTTPS, and `self.plain`."""
        self.home = self.folder()
        self.servers = {name: self.start(name) for name in ('a', 'b')}
        plain, web = self.listen(), self.listen()
        self.plain, self.web = plain.getsockname()[1], web.getsockname()[1]
        self.haproxy(changed(
            text_of_page('haproxy.cfg'), ('[::]:80 v4v6', f'fd@{plain.fileno()}'), ('[::]:443 v4v6', f'fd@{web.fileno()}'),
            ('/etc/haproxy/site.pem', at('server.both')), ('127.0.0.1:8081', f'127.0.0.1:{self.servers["a"].port}'),
            ('127.0.0.1:8082', f'127.0.0.1:{self.servers["b"].port}'), ('inter 1s fastinter 500ms', 'inter 100ms fastinter 100ms'), *changes),
            plain, web)
        self.await_states(a='UP', b='UP')

    def ask(self, *headers, path='/peer', source='127.0.0.1'):
        """Who a server thinks has asked."""
        raw = socket.create_connection(('127.0.0.1', self.web), timeout=10, source_address=(source, 0))
        with context().wrap_socket(raw, server_hostname='localhost') as wire:
            wire.sendall(request('GET', path, 'Connection: close', *headers))
            answer = b''.join(iter(lambda: wire.recv(65536), b''))
        head, _, body = answer.partition(b'\r\n\r\n')
        self.assertIn(b' 200 ', head.split(b'\r\n')[0])
        return body.decode()

    def test_who_asks(self):
        self.set_up()
        for source in ('127.0.0.1', '127.0.0.7'):
            self.assertRegex(self.ask(source=source), rf'^{source} {source}:[1-9]\d* local forwarded https localhost$')
        # What a client says of himself is not believed.
        said = self.ask('X-Forwarded-For: 10.0.0.1', 'Forwarded: for=10.0.0.1;proto=http', 'X-Forwarded-Proto: http', source='127.0.0.7')
        self.assertRegex(said, r'^127\.0\.0\.7 .* https localhost$')
        with Wire(self.plain) as wire:
            response = wire.ask(request('GET', '/peer'))
            self.assertEqual((response.status, response.header('location')), (308, 'https://localhost/peer'))
        for server in self.servers.values():
            self.assertNotIn('is closed', server.log)

    def test_http2(self):
        self.set_up()
        bodies, said = self.curl_http2('/peer?[1-5]')
        self.assertEqual(said, ['2 200'] * 5)
        for body in bodies:
            self.assertRegex(body, r'^127\.0\.0\.1 .* https localhost:\d+$')

    def test_checks(self):
        """A server that ends is out before it stops, what it had to do is done, and it comes back."""
        self.set_up()
        server = self.servers['a']
        wires = [TlsWire(self.web, context()) for _ in range(4)]
        for wire in wires:
            self.addCleanup(wire.close)
            wire.send(request('GET', '/slow/1500'))
        # As many for each, and their connections are at the servers.
        self.eventually(lambda: {row['scur'] for row in self.states().values()} == {'2'})
        server.process.send_signal(signal.SIGTERM)
        self.await_states(a='DOWN', b='UP')
        # On a busy machine a check may have timed out before.
        self.eventually(lambda: [self.states()['a'][key] for key in ('check_status', 'check_code')] == ['L7STS', '503'])
        self.assertIsNone(server.process.poll())
        for _ in range(5):
            self.assertEqual(int(self.ask(path='/').split()[0]), self.servers['b'].pid)
        pids = [int(wire.read().body) for wire in wires]
        self.assertEqual(sorted(pids), sorted([server.pid, self.servers['b'].pid] * 2))
        self.assertEqual(server.wait(), 0)
        self.start('a', server.port)
        self.await_states(a='UP', b='UP')

    def keep_asking(self, stop, errors, pids, kind):
        try:
            connection = None
            while not stop.is_set():
                if not connection:
                    connection = http.client.HTTPSConnection('127.0.0.1', self.web, timeout=20, context=context())
                method, path = ('POST', '/') if kind == 'post' else ('GET', '/slow/20' if kind == 'slow' else '/')
                connection.request(method, path, body=b'x' * 1000 if kind == 'post' else None)
                response = connection.getresponse()
                body = response.read()
                if response.status != 200:
                    raise AssertionError(f'{method} {path}: {response.status}')
                pids.add(int(body.split()[0]))
                if kind == 'fresh':
                    connection.close()
                    connection = None
        except Exception as error:  # noqa: B902
            errors.append(error)
        finally:
            if connection:
                connection.close()

    def curl_http2(self, urls, *args):
        """The bodies, and version and status of each answer."""
        done = curl('--http2', '-4', '--no-progress-meter', '--cacert', at('ca.pem'), '-w', '\n%{http_version} %{http_code}\n', *args,
                    f'https://localhost:{self.web}{urls}', check=False)
        lines = done.stdout.decode().splitlines()
        return lines[::2], [*lines[1::2], *filter(None, done.stderr.decode().splitlines())]

    def keep_curling(self, stop, errors):
        """Several at a time."""
        while not stop.is_set() and not errors:
            _, said = self.curl_http2('/slow/5?[1-40]', '-Z', '-o', os.devnull)
            errors += [line for line in said if line != '2 200']

    def test_rolling_restart(self):
        """One server after the other under load: no request fails, though none is sent twice."""
        self.set_up(('\tretries 2\n\toption redispatch 1\n', '\tretries 0\n'))
        stop, errors, pids = threading.Event(), [], set()
        threads = [threading.Thread(target=self.keep_asking, args=(stop, errors, pids, kind)) for kind in ('keep', 'fresh', 'slow', 'post')]
        threads.append(threading.Thread(target=self.keep_curling, args=(stop, errors)))
        for thread in threads:
            thread.start()
        expected = {server.pid for server in self.servers.values()}
        try:
            self.eventually(lambda: pids >= expected or errors)
            for name in ('a', 'b'):
                old = self.servers[name]
                old.stop()
                self.servers[name] = self.start(name, old.port)
                self.await_states(a='UP', b='UP')
                expected.add(self.servers[name].pid)
                self.eventually(lambda: pids >= expected or errors)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(pids, expected)


PIECES = 'defaults\n\tmode {mode}\n\ttimeout connect 2s\n\ttimeout client 10s\n\ttimeout server 10s\nlisten web\n'


class Headers(HaproxyCase):
    """What else it sends in front of connections."""

    def in_front(self, port, options, mode='tcp', family=socket.AF_INET):
        door = self.listen(family)
        self.haproxy(PIECES.format(mode=mode) + f'\tbind fd@{door.fileno()}\n\tserver a 127.0.0.1:{port} {options}\n', door)
        return door.getsockname()[1]

    def doors(self):
        return self.serve('--bind', '127.0.0.1:0', '--proxied', '127.0.0.1:0', '--trust', '127.0.0.1', program='doors')

    def test_both_versions_and_families(self):
        server = self.doors()
        for options in ('send-proxy', 'send-proxy-v2', 'send-proxy-v2-ssl-cn', 'send-proxy-v2 proxy-v2-options crc32c,unique-id,authority'):
            for family, ip in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
                with self.subTest(options, ip=ip):
                    front = self.in_front(ports(server, 2)[1], options, family=family)
                    with Wire(front, address=ip) if family == socket.AF_INET else self.dial6(front) as wire:
                        name = wire.socket.getsockname()
                        shown = f'[{ip}]:{name[1]}' if ':' in ip else f'{ip}:{name[1]}'
                        self.assertEqual(wire.ask(request('GET', '/peer')).body.decode(), f'{ip} {shown} local forwarded http localhost')

    def dial6(self, port):
        wire = Wire.__new__(Wire)
        wire.socket, wire.buffer = socket.create_connection(('::1', port), timeout=10), b''
        return wire

    def test_checks_are_its_own(self):
        """By the command LOCAL; a server takes them, and believes nothing of the rest."""
        with socket.create_server(('127.0.0.1', 0)) as door:
            self.in_front(door.getsockname()[1], 'check inter 100ms send-proxy-v2')
            door.settimeout(10)
            wire, _ = door.accept()
            with wire:
                said = wire.recv(100)
        self.assertEqual((said[:12], said[12]), (SIGNATURE, LOCAL))
        server = self.doors()
        self.in_front(ports(server, 2)[1], 'check inter 100ms send-proxy-v2')
        self.await_states(a='UP')
        self.assertEqual(server.get('/failures').body.split()[0], b'0')

    def test_checks_without_it(self):
        """They are refused, and HAProxy takes the server out."""
        server = self.doors()
        door = self.listen()
        self.haproxy(PIECES.format(mode='http') + f'\tbind fd@{door.fileno()}\n\toption httpchk GET /health\n'
                     f'\tserver a 127.0.0.1:{ports(server, 2)[1]} check inter 100ms fall 1\n', door)
        self.await_states(a='DOWN')
        self.assertNotEqual(server.get('/failures').body.split()[0], b'0')

    def test_tls_that_it_passes_on(self):
        server = self.secure('--proxied', '127.0.0.1:0')
        front = self.in_front(ports(server, 2)[1], 'send-proxy-v2')
        raw = socket.create_connection(('127.0.0.1', front), timeout=10, source_address=('127.0.0.9', 0))
        with context().wrap_socket(raw, server_hostname='localhost') as wire:
            wire.sendall(request('GET', '/'))
            said = wire.recv(65536).decode()
        self.assertIn('x-client: 127.0.0.9\r\n', said)
        self.assertIn('x-secure: yes\r\n', said)
