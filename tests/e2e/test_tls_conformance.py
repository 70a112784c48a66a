"""What TLS asks for and wolfSSL does not do by itself; tls-conformance.md has the rest."""
import os
import socket
import struct
import subprocess
import tempfile

import tls13
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from tls import TlsCase, at, openssl, setUpModule, tearDownModule  # noqa: F401
from tls13 import P256, Share, extension, vector
from wire import Case, request

HANDSHAKE_FAILURE = 40
KEY_EXCHANGE, SERVER_DONE, CLIENT_KEY_EXCHANGE = 12, 14, 16
FINISHED = 53       # bytes of a record that holds one by SHA-256
SUITE = 0xc02b      # ECDHE-ECDSA-AES128-GCM-SHA256


def numbers(values):
    return vector(struct.pack(f'!{len(values)}H', *values), 2)


def hello_12(suites=(SUITE,), groups=(P256,), session_id=b''):
    extensions = extension(10, numbers(groups)) + extension(11, b'\x01\0') + extension(13, numbers((0x0403,)))
    return (b'\x03\x03' + os.urandom(32) + vector(session_id, 1) + numbers(suites) + b'\x01\0' + vector(extensions, 2))


class Raw(TlsCase):
    def client(self, server, group=P256):
        sock = socket.create_connection(('127.0.0.1', server.port), timeout=20)
        self.addCleanup(sock.close)
        return tls13.Client(sock, group)

    def ask(self, client):
        client.finish()
        client.send(tls13.DATA, b'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
        self.assertRegex(client.recv_data(b'\r\n\r\n'), b'^HTTP/1.1 200 ')


class Changes(Raw):
    """A ChangeCipherSpec follows the server's first message if the client has sent a session id (RFC 8446 section D.4)."""

    def kinds(self, client, count):
        """The types of the next records."""
        kinds = []
        for _ in range(count):
            head = client.take(5)
            kinds.append(head[0])
            client.take(int.from_bytes(head[3:], 'big'))
        return kinds

    def test_behind_the_hello(self):
        server = self.secure()
        for size, changes in ((0, 0), (32, 1)):
            with self.subTest(size=size):
                client = self.client(server)
                client.send_message(tls13.CLIENT_HELLO, client.hello(session_id=bytes(size)))
                self.assertEqual(self.kinds(client, 2 + changes), [tls13.HANDSHAKE] + [tls13.CCS] * changes + [tls13.DATA])
                client = self.client(server)
                client.begin(client.hello(session_id=bytes(size)))
                self.ask(client)

    def test_behind_a_retry(self):
        """None follows the hello after that."""
        server = self.secure()
        client = self.client(server)
        client.send_message(tls13.CLIENT_HELLO, client.hello(shares=False, session_id=bytes(32)))
        kind, body = client.recv_message()
        self.assertEqual((kind, body[2:34]), (tls13.SERVER_HELLO, tls13.RETRY_RANDOM))
        self.assertEqual(self.kinds(client, 1), [tls13.CCS])
        client.retry(body)
        self.assertEqual(self.kinds(client, 2), [tls13.HANDSHAKE, tls13.DATA])
        client = self.client(server)
        client.begin(client.hello(shares=False, session_id=bytes(32)))
        self.ask(client)

    def test_none_in_tls_1_2(self):
        client = self.client(self.secure())
        client.send_message(tls13.CLIENT_HELLO, hello_12(session_id=bytes(32)))
        self.assertEqual(self.kinds(client, 2), [tls13.HANDSHAKE] * 2)


class Spread(Raw):
    def test_a_bad_second_hello(self):
        """One that is refused in its last record is not completed by what replaces that."""
        server = self.secure()
        bad = extension(16, vector(b'\x08http/1.1\0', 2)) + extension(21, bytes(40))   # a name is longer than the list
        for cut in (0, 20):
            with self.subTest(cut=cut):
                client = self.client(server)
                client.send_message(tls13.CLIENT_HELLO, client.hello(shares=False))
                client.recv_message()
                hello = tls13.message(tls13.CLIENT_HELLO, client.hello(more=bad))
                for piece in (hello[:len(hello) - cut], hello[len(hello) - cut:]):
                    if piece:
                        client.send(tls13.HANDSHAKE, piece)
                with self.assertRaises(tls13.Alerted) as caught:
                    client.recv_message()
                self.assertEqual(caught.exception.code, tls13.ILLEGAL_PARAMETER)


class Versions(Raw):
    """That of a record means nothing in TLS 1.3 (RFC 8446 section 5.1)."""

    def test_a_change_of_any_version(self):
        server = self.secure()
        for version in (0x0300, 0x0301, 0x0303, 0x0304, 0xffff):
            with self.subTest(version=version):
                client = self.client(server)
                client.send_message(tls13.CLIENT_HELLO, client.hello(session_id=bytes(32)))
                client.socket.sendall(struct.pack('!BHHB', tls13.CCS, version, 1, 1))
                client.answer()
                self.ask(client)


class Nothing(Raw):
    """A client that offers no suite, no group or no kind of signature that the server has hears handshake_failure."""

    def refused(self, server, hello):
        client = self.client(server)
        client.send_message(tls13.CLIENT_HELLO, hello(client) if callable(hello) else hello)
        with self.assertRaises(tls13.Alerted) as caught:
            client.recv_message()
        self.assertEqual((caught.exception.level, caught.exception.code), (2, HANDSHAKE_FAILURE))

    def test_no_suite(self):
        server = self.secure()
        for suites in ((0x00ff,), (0x002f,), (0x1304, 0xc02b), (0x1304,)):
            with self.subTest(suites=suites):
                self.refused(server, lambda client, suites=suites: client.hello(suites=suites))
        for suites in ((0x00ff,), (0x1301,), (0xc02f,), ()):
            with self.subTest(suites=suites):
                self.refused(server, hello_12(suites=suites))

    def test_no_group(self):
        """Those of finite fields and of Brainpool, X448 and what nobody knows."""
        server = self.secure()
        for group in (19, 22, 26, 30, 31, 256, 257, 999, 0x0a0a):
            with self.subTest(group=group):
                self.refused(server, lambda client, group=group: client.hello(groups=(group,), shares=False))
                self.refused(server, lambda client, group=group: client.hello(groups=(group,)))
                self.refused(server, hello_12(groups=(group,)))

    def test_a_group_that_is_known_is_taken(self):
        """Wherever it stands."""
        client = self.client(self.secure())
        client.send_message(tls13.CLIENT_HELLO, hello_12(groups=(26, 30, 256, 24)))
        kind = None
        while kind != KEY_EXCHANGE:
            kind, body = client.recv_message()
        self.assertEqual(body[:3], b'\x03\0\x18')

    def test_no_extensions(self):
        """The client would be shown a ServerHello with the suite 0."""
        server = self.secure()
        self.refused(server, hello_12()[:37 + 2 + 2])
        self.refused(server, hello_12(suites=(SUITE, 0x00ff))[:37 + 4 + 2])


class EarlyData(Raw):
    """Data for a session that the server does not know is skipped (RFC 8446 section 4.2.10)."""

    def setUp(self):
        super().setUp()
        self.server = self.secure()

    def begin(self, data, **options):
        client = self.client(self.server)
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.send_message(tls13.CLIENT_HELLO, client.hello(more=tls13.extension(42, b''), **options))
        for record in data:
            client.send_raw(tls13.DATA, record)
        return client

    def test_it_is_skipped(self):
        whole = os.urandom(16384 + 256)
        short = [os.urandom(n) for n in range(100) if n != FINISHED]
        for data in ((), (b'\0' * 17,), (whole,), (whole,) * 6, short, (bytes(500),) * 100):
            for shares in (True, False):
                with self.subTest(records=len(data), shares=shares):
                    client = self.begin(data, shares=shares)
                    client.answer()
                    self.ask(client)

    def test_it_comes_slowly(self):
        """Behind the answer, with a ChangeCipherSpec between."""
        for shares in (True, False):
            client = self.begin((b'x' * 100,), session_id=bytes(32), shares=shares)
            kind, body = client.recv_message()
            for _ in range(60):
                client.send_raw(tls13.DATA, os.urandom(1000))
            client.send_raw(tls13.CCS, b'\x01')
            client.send_raw(tls13.DATA, os.urandom(1000))
            if not shares:
                client.retry(body)
                kind, body = client.recv_message()
            client.use(body)
            self.ask(client)

    def test_it_ends_with_the_second_hello(self):
        client = self.begin((b'x' * 100,), shares=False)
        _, body = client.recv_message()
        client.retry(body)
        client.send_raw(tls13.DATA, os.urandom(100))
        with self.assertRaises(tls13.Alerted):
            client.answer()
            client.recv_data(None)

    def test_it_ends_with_the_finished(self):
        client = self.begin((b'x' * 100,))
        client.answer()
        client.finish()
        client.send_raw(tls13.DATA, os.urandom(100))
        with self.assertRaises(tls13.Alerted):
            client.recv_data(None)

    def test_clients_who_must_show_a_certificate(self):
        """What follows is not their Finished, so nothing is skipped."""
        self.server = self.secure('--client-ca', at('ca.pem'))
        client = self.begin((b'x' * 100,))
        client.answer()
        with self.assertRaises(tls13.Alerted):
            client.recv_data(None)

    def test_none_is_expected_in_tls_1_2(self):
        hello = hello_12()
        extensions = hello[-int.from_bytes(hello[41:43], 'big'):] + extension(42, b'')
        client = self.client(self.server)
        client.send_message(tls13.CLIENT_HELLO, hello[:41] + vector(extensions, 2))
        client.send_raw(tls13.DATA, bytes(100))
        with self.assertRaises(tls13.Alerted):
            while True:
                client.recv_message()

    def test_it_has_a_limit(self):
        client = self.begin((bytes(16384),) * 12)
        with self.assertRaises((EOFError, ConnectionResetError)):
            while True:
                client.take(1)

    def test_openssl(self):
        """A client with a ticket of another server, which allowed such data."""
        with tempfile.TemporaryDirectory() as folder:
            session, data = os.path.join(folder, 'session'), os.path.join(folder, 'data')
            with open(data, 'wb') as file:
                file.write(b'x' * 10000)
            pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
            other = subprocess.Popen(['openssl', 's_server', '-accept', '127.0.0.1:0', '-early_data',
                                      '-cert', at('server.pem'), '-key', at('server.key')], **pipes)
            self.addCleanup(other.communicate)
            self.addCleanup(other.kill)
            port = next(int(line.rsplit(b':', 1)[1]) for line in other.stdout if line.startswith(b'ACCEPT'))
            client = subprocess.Popen(['openssl', 's_client', '-connect', f'127.0.0.1:{port}', '-sess_out', session], **pipes)
            self.addCleanup(client.kill)
            self.eventually(lambda: os.path.exists(session) and os.path.getsize(session))
            client.communicate(b'Q\n', timeout=20)
            said = openssl('s_client', '-connect', f'127.0.0.1:{self.server.port}', '-servername', 'localhost',
                           '-CAfile', at('ca.pem'), '-sess_in', session, '-early_data', data, '-ign_eof',
                           stdin=request('GET', '/', 'connection: close'))
        self.assertIn('Early data was rejected', said)
        self.assertIn('HTTP/1.1 200', said)


class Signatures(Case):
    """A client takes no ServerKeyExchange of TLS 1.2 that is signed with a digest weaker than SHA-256."""

    def play(self, server, scheme, digest):
        _, hello = server.recv_message()
        random = os.urandom(32)
        server.send_message(tls13.SERVER_HELLO, b'\x03\x03' + random + struct.pack('!BHB', 0, SUITE, 0) +
                            vector(extension(11, b'\x01\0'), 2))
        server.send_message(tls13.CERTIFICATE, vector(vector(server.cert, 3), 3))
        params = b'\x03' + struct.pack('!H', P256) + vector(Share().public(), 1)
        signature = server.key.sign(hello[2:34] + random + params, ec.ECDSA(digest))
        server.send_message(KEY_EXCHANGE, params + struct.pack('!H', scheme) + vector(signature, 2))
        server.send_message(SERVER_DONE, b'')
        return server.recv_message()[0]

    def test_weak_ones(self):
        def play(server):
            with self.assertRaises(tls13.Alerted):
                self.play(server, scheme, digest)
        for scheme, digest in ((0x0203, hashes.SHA1()), (0x0303, hashes.SHA224())):
            with self.subTest(scheme=scheme):
                self.assertRegex(tls13.fetch(play), b'^-74 ')

    def test_strong_ones(self):
        def play(server):
            self.assertEqual(self.play(server, scheme, digest), CLIENT_KEY_EXCHANGE)
        for scheme, digest in ((0x0403, hashes.SHA256()), (0x0503, hashes.SHA384()), (0x0603, hashes.SHA512())):
            with self.subTest(scheme=scheme):
                self.assertRegex(tls13.fetch(play), b'^-')
