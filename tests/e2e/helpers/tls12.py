"""A TLS 1.2 client by hand (RFC 5246), for tests that break its rules: ECDHE on P-256, AES-128-GCM, ECDSA or RSA.

A test builds each message, and may send what no library would, in any order.
"""
# needs: python3-cryptography
import hashlib
import hmac
import os
import struct

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tls_raw import ALERT, CCS, DATA, HANDSHAKE, TAG, VERSION, Alerted, End, extension, message, vector  # noqa: F401

(CLIENT_HELLO, SERVER_HELLO, CERTIFICATE, SERVER_KEY_EXCHANGE, CERTIFICATE_REQUEST, SERVER_HELLO_DONE, CERTIFICATE_VERIFY,
 CLIENT_KEY_EXCHANGE, FINISHED) = 1, 2, 11, 12, 13, 14, 15, 16, 20
SUITES = 0xc02b, 0xc02f
P256 = 23
SHA1, SHA256, ECDSA = 2, 4, 3
SALT = 4


def prf(secret, label, seed, size):
    """P_SHA256 (section 5)."""
    seed, out, a = label + seed, b'', label + seed
    while len(out) < size:
        a = hmac.new(secret, a, hashlib.sha256).digest()
        out += hmac.new(secret, a + seed, hashlib.sha256).digest()
    return out[:size]


class Client(End):
    def __init__(self, sock):
        super().__init__(sock)
        self.random = os.urandom(32)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.sealing = self.opening = None

    # ---- records

    def send(self, kind, data):
        if self.sealing:
            aead, salt, number = self.sealing
            explicit = number.to_bytes(8, 'big')
            head = explicit + struct.pack('!BHH', kind, VERSION, len(data))
            data = explicit + aead.encrypt(salt + explicit, data, head)
            self.sealing = aead, salt, number + 1
        self.socket.sendall(struct.pack('!BHH', kind, VERSION, len(data)) + data)

    def recv(self):
        """The content type and the content of the next record; raises Alerted, EOFError at the end."""
        kind, _, size = struct.unpack('!BHH', self.take(5))
        data = self.take(size)
        if self.opening:
            aead, salt, number = self.opening
            head = number.to_bytes(8, 'big') + struct.pack('!BHH', kind, VERSION, len(data) - 8 - TAG)
            data = aead.decrypt(salt + data[:8], data[8:], head)
            self.opening = aead, salt, number + 1
        if kind == ALERT:
            raise Alerted(*data)
        return kind, data

    def add(self, *whole):
        """Put messages into the transcript, and send them in one record."""
        self.transcript += b''.join(whole)
        self.send(HANDSHAKE, b''.join(whole))

    # ---- messages

    def hello(self, *extensions):
        extensions = (extension(10, vector(struct.pack('!H', P256), 2)) + extension(11, b'\x01\0') +
                      extension(13, vector(bytes([SHA256, ECDSA, SHA256, 1]), 2)) + extension(23, b'') +
                      b''.join(extensions))
        suites = b''.join(struct.pack('!H', suite) for suite in SUITES)
        return message(CLIENT_HELLO, struct.pack('!H', VERSION) + self.random + b'\0' + vector(suites, 2) + b'\x01\0' +
                       vector(extensions, 2))

    def begin(self, *extensions):
        """Up to the server's ServerHelloDone. Returns its messages."""
        got = {}
        self.add(self.hello(*extensions))
        while SERVER_HELLO_DONE not in got:
            kind, body = self.recv_message()
            got[kind] = body
        self.server_random = got[SERVER_HELLO][2:34]
        size = got[SERVER_KEY_EXCHANGE][3]
        self.server_point = got[SERVER_KEY_EXCHANGE][4:4 + size]
        return got

    def key_exchange(self):
        return message(CLIENT_KEY_EXCHANGE, vector(self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint), 1))

    def certificate(self, *chain):
        """Of certificates in DER."""
        return message(CERTIFICATE, vector(b''.join(vector(one, 3) for one in chain), 3))

    def verify(self, key, digest=hashes.SHA256, number=SHA256):
        """Of the messages so far."""
        return message(CERTIFICATE_VERIFY, bytes([number, ECDSA]) +
                       vector(key.sign(self.transcript, ec.ECDSA(digest())), 2))

    def finish(self):
        """What follows ClientKeyExchange, up to the server's Finished."""
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), self.server_point))
        # All that was sent before belongs to the master secret (RFC 7627); where no CertificateVerify comes before it.
        master = prf(shared, b'extended master secret', hashlib.sha256(self.of_master()).digest(), 48)
        block = prf(master, b'key expansion', self.server_random + self.random, 2 * (16 + SALT))
        self.socket.sendall(struct.pack('!BHHB', CCS, VERSION, 1, 1))
        self.sealing = AESGCM(block[:16]), block[32:36], 0
        self.add(message(FINISHED, prf(master, b'client finished', hashlib.sha256(self.transcript).digest(), 12)))
        kind, _ = self.recv()
        while kind == HANDSHAKE:        # a ticket
            kind, _ = self.recv()
        assert kind == CCS, kind
        self.opening = AESGCM(block[16:32]), block[36:], 0
        kind, _ = self.recv()
        assert kind == HANDSHAKE, kind

    def of_master(self):
        """The messages up to ClientKeyExchange."""
        return self.transcript[:self.up_to]

    def exchange(self, *before):
        """Send messages and a ClientKeyExchange behind them."""
        self.add(*before, self.key_exchange())
        self.up_to = len(self.transcript)

    def ask(self, request):
        self.send(DATA, request)
        data = b''
        while b'\r\n\r\n' not in data:
            data += self.recv()[1]
        return data


def forged(public):
    """A signature of ECDSA over a digest of zeros by who has only the public key: with s = r = x of its point, the
    point that is compared is the key itself."""
    x = public.public_numbers().x
    integer = x.to_bytes(32 + (x >> 255), 'big')
    der = b'\x02' + vector(integer, 1)
    return b'\x30' + vector(der + der, 1)
