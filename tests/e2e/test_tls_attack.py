"""Attacks on TLS by peers that break its rules, against a server and a client.

CVE-2024-0901: in TLS 1.3 wolfSSL before 5.6.6 reads outside its buffer when a record has an empty plaintext, and may take what it
finds for data.
"""
import contextlib
import hmac
import os
import socket
import struct
import tempfile

import tls13
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from tls import V12, ByHand, TlsCase, context, setUpModule, tearDownModule  # noqa: F401
from wire import Case, request

TRIES = 20      # of each way; big_tls_attack.py has more
HEAD = b'HTTP/1.1 200 OK\r\ncontent-length: 64\r\n\r\n'
# wolfSSL takes a byte beyond its buffer for the content type. What follows the record makes that one of data likely.
BAIT = bytes([tls13.DATA]) * 28000


def short_records(direction):
    """The records of type 23 that hold no content type: of each length up to that of a tag."""
    for size in range(tls13.TAG):
        yield struct.pack('!BHH', tls13.DATA, 0x0303, size) + os.urandom(size)
    yield direction.seal(b'')


class Attack:
    tries = TRIES

    def refused(self, end, size):
        """A record of this size has been answered by an alert, if it is empty in some versions only, and then by the end of the
        connection."""
        ends = EOFError, ConnectionResetError
        with self.assertRaises((tls13.Alerted, *(ends if not size else ()))) as caught:
            end.recv_data(None)
        if size:
            self.assertEqual((caught.exception.level, caught.exception.code), (2, tls13.UNEXPECTED_MESSAGE))
        with self.assertRaises(ends):
            end.recv_data(None)


class OnServer(Attack, TlsCase):
    def client(self, server, group=tls13.P256):
        sock = socket.create_connection(('127.0.0.1', server.port), timeout=20)
        self.addCleanup(sock.close)
        client = tls13.Client(sock, group)
        client.begin()
        return client

    def put(self, server):
        client = self.client(server)
        client.finish()
        client.send(tls13.DATA, request('PUT', '/files/x', 'content-length: 64'))
        return client

    def test_a_request(self):
        """What the attacks need works."""
        server = self.secure()
        for group in (tls13.P256, tls13.X25519):
            client = self.client(server, group)
            client.finish()
            client.send(tls13.DATA, b'GET / HTTP/1.1\r\n', pad=300)
            client.send(tls13.DATA, b'')
            client.send(tls13.DATA, b'host: localhost\r\n\r\n')
            self.assertRegex(client.recv_data(b'\r\n\r\n'), b'^HTTP/1.1 200 ')

    def test_records_without_a_content_type(self):
        server = self.secure()
        for i in range(tls13.TAG + 1):
            for begin in (self.client, self.put):
                with self.subTest(size=i, after=begin.__name__):
                    client = begin(server)
                    client.socket.sendall(list(short_records(client.ours))[i])
                    self.refused(client, i)

    def test_nothing_leaks(self):
        """What the server reads beyond its buffer would become the body of an upload."""
        server = self.secure()
        for i in range(self.tries):
            client = self.client(server)
            client.finish()
            head = request('PUT', f'/files/{i}', 'content-length: 64')
            client.socket.sendall(client.ours.seal(head + bytes([tls13.DATA])) + client.ours.seal(b'') + BAIT)
            with contextlib.suppress(tls13.Alerted, EOFError, ConnectionResetError):
                client.recv_data(b'\r\n\r\n')
            client.socket.close()
        leaked = len(os.listdir(self.dir))
        self.assertEqual(leaked, 0, f'{leaked} of {self.tries} uploads hold memory of the server')

    def test_empty_records_of_tls_1_2(self):
        """They are valid, and as long as the ones above: TLS 1.2 has no content type inside."""
        server = self.secure()
        using = context(version=V12)
        using.set_ciphers('ECDHE-ECDSA-CHACHA20-POLY1305')
        with tempfile.NamedTemporaryFile() as log:
            using.keylog_filename = log.name
            hand = ByHand(server.connect(), using=using)
            hand.run(hand.tls.do_handshake)
            random, master = map(bytes.fromhex, log.read().decode().split('CLIENT_RANDOM ')[1].split())
        # The server's hello is the first that came.
        seed = b'key expansion' + hand.heard[11:43] + random
        block, a = b'', seed
        while len(block) < 88:
            a = hmac.digest(master, a, 'sha256')
            block += hmac.digest(master, a + seed, 'sha256')
        aead, iv = ChaCha20Poly1305(block[:32]), block[64:76]
        for number, data in enumerate((b'', b'GET / HTTP/1.1\r\n', b'', b'host: localhost\r\n\r\n'), 1):
            nonce = bytes(a ^ b for a, b in zip(iv, number.to_bytes(12, 'big'), strict=True))
            sealed = aead.encrypt(nonce, data, struct.pack('!QBHH', number, tls13.DATA, 0x0303, len(data)))
            hand.wire.send(struct.pack('!BHH', tls13.DATA, 0x0303, len(sealed)) + sealed)
        self.assertRegex(hand.recv(100), b'^HTTP/1.1 200 ')


class OnClient(Attack, Case):
    def test_a_response(self):
        def play(server):
            server.begin()
            server.finish()
            server.recv_data(b'\r\n\r\n')
            server.send(tls13.DATA, b'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n', pad=300)
            server.send(tls13.DATA, b'')
            server.send(tls13.DATA, b'\r\nhello')
        self.assertEqual(tls13.fetch(play), b'200 hello\n')

    def attack(self, record, head):
        """A server that sends `record` behind the head of a response or, without `head`, behind its hello."""
        def play(server):
            server.begin()
            if head:
                server.finish()
                server.recv_data(b'\r\n\r\n')
                server.send(tls13.DATA, HEAD)
            server.socket.sendall(record(server))
            return server
        return play

    def test_records_without_a_content_type(self):
        for i in range(tls13.TAG + 1):
            for head in (False, True):
                with self.subTest(size=i, head=head):
                    attack = self.attack(lambda server, i=i: list(short_records(server.ours))[i], head)
                    said = tls13.fetch(lambda server, attack=attack, i=i: self.refused(attack(server), i))
                    self.assertRegex(said, b'^-74 ')

    def test_nothing_leaks(self):
        leaked = 0
        for _ in range(self.tries):
            leaked += tls13.fetch(self.attack(lambda server: server.ours.seal(b'') + BAIT, True)).startswith(b'200 ')
        self.assertEqual(leaked, 0, f'{leaked} of {self.tries} responses hold memory of the client')
