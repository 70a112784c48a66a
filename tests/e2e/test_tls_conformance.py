"""What TLS asks for and wolfSSL does not do by itself; tls-conformance.md has the rest."""
import socket

import tls13
from tls import TlsCase, setUpModule, tearDownModule  # noqa: F401
from tls13 import P256, X25519


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
