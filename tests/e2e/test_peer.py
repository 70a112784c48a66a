"""Who asks: the connection's other end, or whom trusted proxies speak for."""
import os
import socket

from wire import Case, Server, request


class Peer(Case):
    def doors(self, *trusted, **options):
        args = [arg for network in trusted for arg in ('--trust', network)]
        for name, value in options.items():
            args += [f'--{name}'] if value is True else [f'--{name}', value]
        return self.serve(*args, program='doors')

    def peer(self, server, *headers):
        """text, where it is, how it is known, scheme, host."""
        text, _, *rest = server.get('/peer', *headers).body.decode().split(' ')
        return ' '.join([text, *rest])

    def test_nobody_is_trusted(self):
        server = self.doors()
        with server.connect() as wire:
            port = wire.socket.getsockname()[1]
            body = wire.ask(request('GET', '/peer', 'X-Forwarded-For: 192.0.2.7', 'Forwarded: for=192.0.2.7;proto=https;host=a',
                                    'X-Forwarded-Proto: https', 'X-Forwarded-Host: a')).body
            self.assertEqual(body.decode(), f'127.0.0.1 127.0.0.1:{port} local direct http localhost')

    def test_others_are_trusted(self):
        server = self.doors('10.0.0.0/8', 'unix', '::1', forwarded='x-forwarded-for')
        self.assertEqual(self.peer(server, 'X-Forwarded-For: 192.0.2.7', 'X-Forwarded-Proto: https'),
                         '127.0.0.1 local direct http localhost')

    def test_no_field_is_believed_unless_it_is_named(self):
        server = self.doors('127.0.0.0/8', 'unix')
        fields = 'X-Forwarded-For: 192.0.2.7', 'X-Forwarded-Proto: https', 'Forwarded: for=192.0.2.7;proto=https;host=a'
        for headers in (fields, fields[:2], fields[2:]):
            with self.subTest(headers):
                self.assertEqual(self.peer(server, *headers), '127.0.0.1 local direct http localhost')
        self.assertEqual(self.unix('--trust', 'unix'), 'unix unix: local direct http localhost')

    def test_only_the_field_that_is_named_is_believed(self):
        headers = ('Forwarded: for=1.1.1.1;proto=https', 'X-Forwarded-For: 192.0.2.7')
        x, rfc7239 = self.doors('127.0.0.1', forwarded='x-forwarded-for'), self.doors('127.0.0.1', forwarded='forwarded')
        self.assertEqual(self.peer(x, *headers), '192.0.2.7 remote forwarded http localhost')
        self.assertEqual(self.peer(rfc7239, *headers), '1.1.1.1 remote forwarded https localhost')
        self.assertEqual(self.peer(x, headers[0]), '127.0.0.1 local direct http localhost')
        self.assertEqual(self.peer(rfc7239, headers[1], 'X-Forwarded-Proto: https'), '127.0.0.1 local direct http localhost')

    def means(self, forwarded, examples):
        server = self.doors('127.0.0.0/8', '10.0.0.0/8', forwarded=forwarded)
        for headers, means in examples:
            with self.subTest(headers):
                self.assertEqual(self.peer(server, *headers), means)

    def test_trusted(self):
        self.means('x-forwarded-for', (
            ((), '127.0.0.1 local direct http localhost'),
            (('X-Forwarded-For: 192.0.2.7',), '192.0.2.7 remote forwarded http localhost'),
            (('X-Forwarded-For: 1.1.1.1, 192.0.2.7, 10.0.0.1', 'X-Forwarded-Proto: https'), '192.0.2.7 remote forwarded https localhost'),
            (('X-Forwarded-For: 1.1.1.1', 'X-Forwarded-For: 2001:DB8::7'), '2001:db8::7 remote forwarded http localhost'),
            # Nobody is a neighbour by what can't be read.
            (('X-Forwarded-For: nonsense',), 'unknown remote forwarded http localhost'),
            (('X-Forwarded-Proto: gopher',), '127.0.0.1 local direct http localhost'),
        ))
        self.means('forwarded', (
            ((), '127.0.0.1 local direct http localhost'),
            (('Forwarded: for="[2001:db8::7]:80";proto=https',), '2001:db8::7 remote forwarded https localhost'),
            (('Forwarded: for=1.1.1.1', 'Forwarded: for=192.0.2.7'), '192.0.2.7 remote forwarded http localhost'),
            (('Forwarded: for=192.0.2.7;host=a',), '192.0.2.7 remote forwarded http localhost'),
            (('Forwarded: for=127.0.0.9',), '127.0.0.9 local forwarded http localhost'),
            (('Forwarded: for=unknown',), 'unknown remote forwarded http localhost'),
            (('Forwarded: proto=https',), 'unknown remote forwarded https localhost'),
            (('Forwarded: for="1.1.1.1', 'Forwarded: for=192.0.2.7'), 'unknown remote forwarded http localhost'),
        ))

    def test_host(self):
        for field, header, host in (
            ('x-forwarded-for', 'X-Forwarded-Host: example.org:8443', 'example.org:8443'),
            ('forwarded', 'Forwarded: for=192.0.2.7;host="[::1]"', '[::1]'),
            ('x-forwarded-for', 'X-Forwarded-Host: evil.example, example.org', 'example.org'),
            ('x-forwarded-for', 'X-Forwarded-Host: a/b', 'localhost'),
            ('x-forwarded-for', 'X: y', 'localhost'),
        ):
            with self.subTest(header):
                server = self.doors('127.0.0.1', forwarded=field, forwarded_host=True)
                self.assertEqual(self.peer(server, header).split()[-1], host)
        # Of somebody who is not trusted.
        server = self.doors('10.0.0.1', forwarded='x-forwarded-for', forwarded_host=True)
        self.assertEqual(self.peer(server, 'X-Forwarded-Host: example.org').split()[-1], 'localhost')

    def unix(self, *args):
        path = os.path.join(self.folder(), 'socket')
        server = self.serve('--bind', f'unix:{path}', *args, program='doors', start=False)
        server.wait_for('Listening on')
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(path)
            wire.sendall(request('GET', '/peer', 'X-Forwarded-For: 192.0.2.7', 'Connection: close'))
            data = b''
            while more := wire.recv(4096):
                data += more
        return data.partition(b'\r\n\r\n')[2].decode()

    def test_unix_sockets(self):
        self.assertEqual(self.unix(), 'unix unix: local direct http localhost')
        self.assertEqual(self.unix('--trust', 'unix', '--forwarded', 'x-forwarded-for'), '192.0.2.7 192.0.2.7:0 remote forwarded http localhost')

    def test_ipv4_by_ipv6(self):
        """A service manager's socket may take both."""
        with socket.socket(socket.AF_INET6) as door:
            try:
                door.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                door.bind(('::', 0))
            except OSError:
                self.skipTest('needs IPv6')
            door.listen()
            server = self.serve('--bind', 'systemd', program='doors', fds=[door.fileno()], env={'LISTEN_FDS': '1'})
            self.assertRegex(server.get('/peer').body, rb'^127\.0\.0\.1 127\.0\.0\.1:\d+ local ')

    def test_networks_that_are_refused(self):
        for network in ('10.0.0.1/8', 'localhost', '', '10.0.0.0/33', 'unix:/x'):
            server = Server('--trust', network, program='doors', start=False)
            self.assertEqual(server.wait(), 1)
            server.process.stderr.close()
            self.assertIn(f'can\'t trust the proxies at "{network}"', server.log)
