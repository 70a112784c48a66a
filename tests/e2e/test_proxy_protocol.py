"""Connections that begin with a PROXY header: who asks, what is refused, and what comes behind it."""
import os
import signal
import time

from proxied import LOCAL, SIGNATURE, UDP4, by_tls, extension, header, is_closed_at_once, peer_of, ports
from tls import Answers, ByHand, TlsCase, setUpModule, tearDownModule  # noqa: F401
from wire import Case, Server, Wire, request

CLIENT = ('192.0.2.7', 56324)


class Proxied(Case):
    def doors(self, *args, trust=('127.0.0.1',), **options):
        """A server with a port of the usual kind, and one where connections begin with a header. Return: both."""
        trusted = [arg for network in trust for arg in ('--trust', network)]
        self.server = self.serve('--bind', '127.0.0.1:0', '--proxied', '127.0.0.1:0', '--forwarded', 'x-forwarded-for', *trusted, *args, program='doors', **options)
        return ports(self.server, 2)

    def failures(self):
        return int(self.server.get('/failures').body.split()[0])

    def test_who_asks(self):
        _, port = self.doors('--trust', '10.0.0.0/8')
        for first, headers, means in (
            (header(CLIENT), (), '192.0.2.7 192.0.2.7:56324 remote forwarded http localhost'),
            (header(('2001:db8::7', 1)), (), '2001:db8::7 [2001:db8::7]:1 remote forwarded http localhost'),
            (header(('::ffff:192.0.2.7', 1)), (), '192.0.2.7 192.0.2.7:1 remote forwarded http localhost'),
            (header(('127.0.0.9', 1)), (), '127.0.0.9 127.0.0.9:1 local forwarded http localhost'),
            (header('/run/x'), (), 'unix unix: local forwarded http localhost'),
            (header(), (), 'unknown unknown remote forwarded http localhost'),
            (header(CLIENT, family=UDP4), (), 'unknown unknown remote forwarded http localhost'),
            (b'PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n', (), '192.0.2.7 192.0.2.7:56324 remote forwarded http localhost'),
            (b'PROXY TCP6 2001:db8::7 ::1 1 443\r\n', (), '2001:db8::7 [2001:db8::7]:1 remote forwarded http localhost'),
            (b'PROXY UNKNOWN\r\n', (), 'unknown unknown remote forwarded http localhost'),
            # By TLS, and not so.
            (header(CLIENT, by_tls()), (), '192.0.2.7 192.0.2.7:56324 remote forwarded https localhost'),
            (header(CLIENT, extension(1, b'h2'), by_tls()), (), '192.0.2.7 192.0.2.7:56324 remote forwarded https localhost'),
            (header(CLIENT, by_tls(False)), (), '192.0.2.7 192.0.2.7:56324 remote forwarded http localhost'),
            # Clients write fields as well; proxies behind the proxy are believed.
            (header(CLIENT), ('X-Forwarded-For: 1.1.1.1', 'X-Forwarded-Proto: https'), '192.0.2.7 192.0.2.7:56324 remote forwarded http localhost'),
            (header(), ('X-Forwarded-For: 1.1.1.1',), 'unknown unknown remote forwarded http localhost'),
            (header('/run/x'), ('X-Forwarded-For: 1.1.1.1',), 'unix unix: local forwarded http localhost'),
            (header(('10.0.0.9', 1)), ('X-Forwarded-For: 1.1.1.1',), '1.1.1.1 1.1.1.1:0 remote forwarded http localhost'),
            (header(('10.0.0.9', 1)), (), '10.0.0.9 10.0.0.9:1 remote forwarded http localhost'),
        ):
            with self.subTest(first, headers=headers):
                self.assertEqual(peer_of(port, first, *headers), means)
        self.assertEqual(self.failures(), 0)

    def test_the_proxy_itself(self):
        """As for health checks: it stays who it is."""
        _, port = self.doors()
        for first in (header(command=LOCAL), header(CLIENT, command=LOCAL), header(CLIENT, by_tls(), command=LOCAL)):
            self.assertRegex(peer_of(port, first), r'^127\.0\.0\.1 127\.0\.0\.1:\d+ local direct http localhost$')
        self.assertRegex(peer_of(port, header(command=LOCAL), 'X-Forwarded-For: 1.1.1.1'), r'^1\.1\.1\.1 ')

    def test_what_is_no_header(self):
        plain, port = self.doors(log='debug')
        long = header(CLIENT, extension(4, bytes(4080)))
        wrong = [request('GET', '/peer'), b'\x16\x03\x01\x02\x00\x01', b'PROXY TCP4 192.0.2.7 192.0.2.1 56324\r\n', b'PROXY ' + b'x' * 200,
                 b'\r\n' + header(CLIENT), SIGNATURE + b'\x31', header(CLIENT, b'\x04\x00'), header(CLIENT, b'\x03\0\x04abcd'),
                 long + request('GET', '/peer')]
        for data in wrong:
            with self.subTest(data):
                self.assertTrue(is_closed_at_once(port, data))
        self.assertEqual(self.failures(), len(wrong))
        self.server.wait_for(r'DEBUG eddy::http: a connection to 127\.0\.0\.1:0 from 127\.0\.0\.1 is closed: it does not begin with a valid PROXY header')
        self.server.wait_for(r'its PROXY header is too long')
        # Where none is due, none is taken.
        with Wire(plain) as wire:
            self.assertEqual(wire.ask(header(CLIENT) + request('GET', '/peer')).status, 400)
        self.assertEqual(peer_of(port, header(CLIENT))[:10], '192.0.2.7 ')

    def test_limit_of_the_header(self):
        _, port = self.doors('--proxy_header_max', 100)
        fits = header(CLIENT, extension(4, bytes(100 - 28 - 3)))
        self.assertEqual(len(fits), 100)
        self.assertEqual(peer_of(port, fits)[:10], '192.0.2.7 ')
        self.assertTrue(is_closed_at_once(port, header(CLIENT, extension(4, bytes(100 - 28 - 2)))))

    def test_the_longest_in_pieces(self):
        """With a request behind it, of which the last piece brings a part."""
        _, port = self.doors('--proxy_header_max', 8192)
        data = header(CLIENT, extension(4, bytes(8192 - 28 - 3))) + request('GET', '/peer', 'X: ' + 'x' * 6000)
        for size in (8191, 8192, 8193, 4000, 1000):
            with self.subTest(size), Wire(port) as wire:
                for at in range(0, len(data), size):
                    wire.send(data[at:at + size])
                    time.sleep(0.002)
                self.assertEqual(wire.read().body[:10], b'192.0.2.7 ')

    def test_every_cut(self):
        _, port = self.doors()
        for first in (header(('2001:db8::7', 1), by_tls()), b'PROXY TCP6 2001:db8::7 ::1 1 443\r\n'):
            data = first + request('GET', '/peer')
            wires = [Wire(port) for _ in range(len(first) + 2)]
            for at, wire in enumerate(wires):
                self.addCleanup(wire.close)
                wire.send(data[:at])
            time.sleep(0.05)
            for at, wire in enumerate(wires):
                wire.send(data[at:])
            for at, wire in enumerate(wires):
                self.assertEqual(wire.read().body[:12], b'2001:db8::7 ', at)
        with Wire(port) as wire:
            for byte in header(CLIENT) + request('GET', '/peer'):
                wire.send(bytes([byte]))
            self.assertEqual(wire.read().body[:10], b'192.0.2.7 ')

    def test_one_header_for_all_requests(self):
        _, port = self.doors()
        with Wire(port) as wire:
            wire.send(header(CLIENT) + request('GET', '/peer') * 3)
            for _ in range(3):
                self.assertEqual(wire.read().body[:10], b'192.0.2.7 ')
            for _ in range(3):
                self.assertEqual(wire.ask(request('GET', '/peer')).body[:10], b'192.0.2.7 ')
            # A second one is no request.
            self.assertEqual(wire.ask(header(CLIENT) + request('GET', '/peer')).status, 400)

    def test_who_does_not_send_it_in_time(self):
        _, port = self.doors('--head_timeout', 300)
        for part in (b'', header(CLIENT)[:5], header(CLIENT)[:20], header(CLIENT)):
            with self.subTest(part), Wire(port) as wire:
                start = time.monotonic()
                wire.send(part)
                self.assertEqual(wire.read_end(), b'')
                self.assertGreater(time.monotonic() - start, 0.25)
        # Its time is that of the head behind it as well.
        with Wire(port) as wire:
            wire.send(header(CLIENT) + request('GET', '/peer')[:-2])
            self.assertEqual(wire.read().status, 408)

    def test_an_end_within_it(self):
        _, port = self.doors()
        for part in (b'', header(CLIENT)[:5], header(CLIENT)):
            with Wire(port) as wire:
                wire.send(part)
                wire.end()
                self.assertEqual(wire.read_end(), b'')
        self.eventually(lambda: self.server.get('/failures').body.endswith(b' 1'))

    def test_who_is_no_proxy(self):
        _, port = self.doors(trust=('10.0.0.0/8', 'unix', '::1'), log='debug')
        self.assertTrue(is_closed_at_once(port, header(CLIENT) + request('GET', '/peer')))
        self.assertTrue(is_closed_at_once(port, b''))
        self.server.wait_for(r"a connection to 127\.0\.0\.1:0 from 127\.0\.0\.1 is closed: the peer is not a trusted proxy")
        self.assertEqual(self.failures(), 2)
        self.eventually(lambda: self.server.get('/failures').body == b'2 1')

    def test_nobody_is_trusted(self):
        server = Server('--proxied', '127.0.0.1:0', program='doors', start=False)
        self.assertEqual(server.wait(), 1)
        server.process.stderr.close()
        self.assertIn('"127.0.0.1:0" uses the PROXY protocol, which requires .trusted_proxies', server.log)

    def test_limits_by_address(self):
        _, port = self.doors()
        asked = [(header((ip, 1)), status) for ip, status in (
            ('192.0.2.7', 200), ('192.0.2.7', 429), ('192.0.2.8', 200), ('2001:db8::7', 200), ('2001:db8::8', 429), ('192.0.2.8', 429))]
        for first, status in asked:
            with Wire(port) as wire:
                self.assertEqual(wire.ask(first + request('GET', '/rare')).status, status)

    def test_unix_sockets(self):
        path = os.path.join(self.folder(), 'socket')
        server = self.serve('--proxied', f'unix:{path}', '--trust', 'unix', program='doors')
        server.wait_for('Listening on unix:')
        self.assertEqual(peer_of(path, header(CLIENT))[:10], '192.0.2.7 ')
        self.assertEqual(peer_of(path, header(command=LOCAL)), 'unix unix: local direct http localhost')
        # Who came to the proxy by a unix socket is no proxy of this machine's.
        self.assertEqual(peer_of(path, header('/x'), 'X-Forwarded-For: 1.1.1.1'), 'unix unix: local forwarded http localhost')

    def test_many_loops(self):
        """Connections are handed from loop to loop."""
        _, port = self.doors('--workers', 3)
        wires = [Wire(port) for _ in range(30)]
        for i, wire in enumerate(wires):
            self.addCleanup(wire.close)
            wire.send(header((f'192.0.2.{i}', 1)) + request('GET', '/peer'))
        for i, wire in enumerate(wires):
            self.assertTrue(wire.read().body.startswith(f'192.0.2.{i} '.encode()))

    def test_what_has_come_by_the_end(self):
        """A header and a request that nobody has looked at yet are answered as the server ends; half a header is not waited for."""
        _, port = self.doors()
        self.server.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.server.pid, os.WSTOPPED | os.WNOWAIT)
        with Wire(port) as whole, Wire(port) as half:
            whole.send(header(CLIENT) + request('GET', '/peer'))
            half.send(header(CLIENT)[:20])
            self.server.process.send_signal(signal.SIGTERM)
            self.server.process.send_signal(signal.SIGCONT)
            response = whole.read()
            self.assertEqual((response.body[:10], response.closes), (b'192.0.2.7 ', True))
            self.assertClosed(half)
        self.assertEqual(self.server.wait(), 0)


class Secure(TlsCase):
    def proxied(self, *args):
        self.server = self.secure('--proxied', '127.0.0.1:0', *args)
        return ports(self.server, 2)[1]

    def answer(self, wire):
        hand = ByHand(wire)
        hand.run(hand.tls.do_handshake)
        hand.run(hand.tls.write, request('GET', '/'))
        return Answers(hand).read()

    def test_tls_behind_it(self):
        port = self.proxied()
        for first, secure in ((header(CLIENT), 'yes'), (header(CLIENT, by_tls()), 'yes'), (header(CLIENT, by_tls(False)), 'no')):
            with Wire(port) as wire:
                wire.send(first)
                response = self.answer(wire)
                self.assertEqual((response.header('x-client'), response.header('x-secure')), ('192.0.2.7', secure))

    def test_one_segment_and_pieces(self):
        """The client's hello comes with the header, all of it or a part."""
        port = self.proxied()
        for at in (len(header(CLIENT)) + 100, len(header(CLIENT)), 20, 5):
            with Wire(port) as wire:
                wire.send = self.behind(wire.send, header(CLIENT), at)
                self.assertEqual(self.answer(wire).header('x-client'), '192.0.2.7', at)

    def behind(self, send, first, at):
        """The same as `send`, with something in front that goes out together with the first bytes, in two pieces."""
        rest = [first]

        def send_first(data):
            data = b''.join(rest) + data
            if rest:
                rest.clear()
                send(data[:at])
                time.sleep(0.02)
                data = data[at:]
            send(data)
        return send_first

    def test_who_sends_none(self):
        port = self.proxied('--handshake_timeout', 300)
        self.assertTrue(is_closed_at_once(port, request('GET', '/')))
        with Wire(port) as wire:
            self.assertClosed(wire)
        with Wire(port) as wire:
            wire.send(header(CLIENT))
            self.assertClosed(wire)


class Configured(Case):
    def configured(self, *lines):
        path = os.path.join(self.folder(), 'app.toml')
        with open(path, 'w') as file:
            file.write('\n'.join(('[server]', 'bind = ["127.0.0.1:0", "localhost:0"]', *lines)) + '\n')
        return path

    def test_by_a_file(self):
        path = self.configured('proxy_protocol = "localhost:0"', 'trusted_proxies = ["127.0.0.0/8", "::1"]', 'proxy_header_max = 28')
        server = self.serve('--config', path, program='doors')
        plain, port = ports(server, 2)
        self.assertEqual(peer_of(port, header(CLIENT))[:10], '192.0.2.7 ')
        self.assertEqual(peer_of(plain, b'')[:10], '127.0.0.1 ')
        self.assertTrue(is_closed_at_once(port, header(CLIENT, extension(4, b''))))

    def test_an_address_that_is_none(self):
        path = self.configured('proxy_protocol = "localhost:1"', 'trusted_proxies = ["unix"]')
        server = Server('--config', path, program='doors', start=False)
        self.assertEqual(server.wait(), 1)
        server.process.stderr.close()
        self.assertIn('[server] proxy_protocol: expected addresses at which the app listens', server.log)
