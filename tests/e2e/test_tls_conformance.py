"""What TLS asks for and wolfSSL does not do by itself; tls-conformance.md has the rest."""
import os
import socket
import struct

import tls13
from tls import TlsCase, setUpModule, tearDownModule  # noqa: F401
from tls13 import P256, extension, vector

HANDSHAKE_FAILURE = 40
KEY_EXCHANGE = 12
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
