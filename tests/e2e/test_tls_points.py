"""Public keys of a key exchange that are on no curve, or that make a secret which everybody knows: both roles refuse them in both
versions, with the alert illegal_parameter (RFC 8446 sections 4.2.8.2 and 7.4.2, RFC 8422 section 5.11)."""
import os
import socket
import struct

import tls13
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from tls import TlsCase, setUpModule, tearDownModule  # noqa: F401
from tls13 import P256, P384, P521, X25519, Share, extension, vector
from wire import Case

KEY_EXCHANGE, SERVER_DONE, CLIENT_KEY_EXCHANGE = 12, 14, 16
BAD_RECORD_MAC = 20
HANDSHAKE_FAILURE = 40
SUITE = 0xc02b      # ECDHE-ECDSA-AES128-GCM-SHA256
SIZES = {P256: 32, P384: 48, P521: 66}
PRIMES = {P256: 2**256 - 2**224 + 2**192 + 2**96 - 1, P384: 2**384 - 2**128 - 2**96 + 2**32 - 1, P521: 2**521 - 1}
# RFC 7748 section 6.1: the secret of these is 0.
LOW_ORDER = {
    'zero': bytes(32),
    'one': b'\x01' + bytes(31),
    'order 8': bytes.fromhex('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'),
    'another of order 8': bytes.fromhex('5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157'),
    'p - 1': b'\xec' + b'\xff' * 30 + b'\x7f',
    'p': b'\xed' + b'\xff' * 30 + b'\x7f',
    'p + 1': b'\xee' + b'\xff' * 30 + b'\x7f',
}


def bad_points(group):
    """Names and bytes."""
    if group == X25519:
        yield from LOW_ORDER.items()
        yield 'too short', bytes([9]) * 31
        yield 'too long', bytes([9]) * 33
        return
    size, point = SIZES[group], Share(group).public()
    x, y = point[1:1 + size], point[1 + size:]
    number = int.from_bytes(y, 'big')
    yield 'off the curve', b'\x04' + x + (number ^ 1).to_bytes(size, 'big')
    yield 'zero', b'\x04' + bytes(2 * size)
    yield 'x of zero', b'\x04' + bytes(size) + y
    yield 'y of zero', b'\x04' + x + bytes(size)
    yield 'x beyond the field', b'\x04' + PRIMES[group].to_bytes(size, 'big') + y
    yield 'all ones', b'\x04' + b'\xff' * 2 * size
    yield 'at infinity', b'\0'
    yield 'too short', point[:-1]
    yield 'too long', point + b'\0'
    yield 'of another form', b'\x05' + point[1:]


def all_points():
    for group in (P256, P384, P521, X25519):
        for name, point in bad_points(group):
            yield group, name, point


class Refusing:
    def refused(self, end, *also):
        """With the alert illegal_parameter, or one of these."""
        with self.assertRaises(tls13.Alerted) as caught:
            end.recv_message()
        self.assertEqual(caught.exception.level, 2)
        self.assertIn(caught.exception.code, (tls13.ILLEGAL_PARAMETER, *also))
        with self.assertRaises((EOFError, ConnectionResetError)):
            end.recv()


class OnServer(Refusing, TlsCase):
    def dial_raw(self, server, group):
        sock = socket.create_connection(('127.0.0.1', server.port), timeout=20)
        self.addCleanup(sock.close)
        return tls13.Client(sock, group)

    def test_tls_1_3(self):
        server = self.secure()
        for group, name, point in all_points():
            with self.subTest(group=group, point=name):
                client = self.dial_raw(server, group)
                client.send_message(tls13.CLIENT_HELLO, client.hello(public=point))
                self.refused(client)

    def test_one_in_two_records(self):
        server = self.secure()
        for name, point in LOW_ORDER.items():
            with self.subTest(point=name):
                client = self.dial_raw(server, X25519)
                hello = tls13.message(tls13.CLIENT_HELLO, client.hello(public=point))
                at = hello.index(point) + 10
                client.send(tls13.HANDSHAKE, hello[:at])
                client.send(tls13.HANDSHAKE, hello[at:])
                self.refused(client)

    def test_good_ones_of_tls_1_3(self):
        server = self.secure()
        for group in (P256, P384, P521, X25519):
            client = self.dial_raw(server, group)
            client.begin()
            client.finish()
            client.send(tls13.DATA, b'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
            self.assertRegex(client.recv_data(b'\r\n\r\n'), b'^HTTP/1.1 200 ')

    def exchange(self, server, group, point):
        """A client of TLS 1.2 up to its public key."""
        client = self.dial_raw(server, group)
        extensions = (extension(10, vector(struct.pack('!H', group), 2)) + extension(11, b'\x01\0') +
                      extension(13, vector(b'\x04\x03', 2)))
        client.send_message(tls13.CLIENT_HELLO, b'\x03\x03' + os.urandom(32) + b'\0' +
                            vector(struct.pack('!H', SUITE), 2) + b'\x01\0' + vector(extensions, 2))
        kind = None
        while kind != SERVER_DONE:
            kind, _ = client.recv_message()
        client.send_message(CLIENT_KEY_EXCHANGE, vector(point, 1))
        return client

    def test_tls_1_2(self):
        server = self.secure()
        for group, name, point in all_points():
            with self.subTest(group=group, point=name):
                # wolfSSL 5.7 examines the point itself, and goes on with other keys.
                self.refused(self.exchange(server, group, point), HANDSHAKE_FAILURE, BAD_RECORD_MAC)

    def test_good_ones_of_tls_1_2(self):
        """Behind such a key it is the Finished that is wrong."""
        server = self.secure()
        for group in (P256, P384, P521, X25519):
            client = self.exchange(server, group, Share(group).public())
            client.send(tls13.CCS, b'\x01')
            client.send(tls13.HANDSHAKE, bytes(40))
            with self.assertRaises(tls13.Alerted) as caught:
                client.recv_message()
            self.assertNotEqual(caught.exception.code, tls13.ILLEGAL_PARAMETER)


class OnClient(Refusing, Case):
    def test_tls_1_3(self):
        def play(server):
            server.begin(public=point)
            server.ours = server.theirs = None
            self.refused(server)
        for group, name, point in all_points():
            with self.subTest(group=group, point=name):
                self.assertRegex(tls13.fetch(play, group), b'^-74 ')

    def test_good_ones_of_tls_1_3(self):
        def play(server):
            server.begin()
            server.finish()
            server.recv_data(b'\r\n\r\n')
            server.send(tls13.DATA, b'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
        for group in (P256, P384, P521, X25519):
            with self.subTest(group=group):
                self.assertEqual(tls13.fetch(play, group), b'200 hello\n')

    def exchange(self, server, group, point):
        """A server of TLS 1.2 up to the end of its first flight."""
        kind, hello = server.recv_message()
        assert kind == tls13.CLIENT_HELLO, kind
        random = os.urandom(32)
        server.send_message(tls13.SERVER_HELLO, b'\x03\x03' + random + struct.pack('!BHB', 0, SUITE, 0) +
                            vector(extension(11, b'\x01\0'), 2))
        server.send_message(tls13.CERTIFICATE, vector(vector(server.cert, 3), 3))
        params = b'\x03' + struct.pack('!H', group) + vector(point, 1)
        signed = hello[2:34] + random + params
        server.send_message(KEY_EXCHANGE, params + b'\x04\x03' +
                            vector(server.key.sign(signed, ec.ECDSA(hashes.SHA256())), 2))
        server.send_message(SERVER_DONE, b'')

    def test_tls_1_2(self):
        def play(server):
            self.exchange(server, group, point)
            self.refused(server)
        for group, name, point in all_points():
            with self.subTest(group=group, point=name):
                self.assertRegex(tls13.fetch(play), b'^-74 ')

    def test_good_ones_of_tls_1_2(self):
        def play(server):
            self.exchange(server, group, Share(group).public())
            self.assertEqual(server.recv_message()[0], CLIENT_KEY_EXCHANGE)
        for group in (P256, P384, P521, X25519):
            with self.subTest(group=group):
                self.assertRegex(tls13.fetch(play), b'^-')
