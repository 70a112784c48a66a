"""TLS 1.3 by hand (RFC 8446), in both roles, for tests that break its rules: TLS_AES_128_GCM_SHA256, P-256, P-384, P-521 or X25519.

A test sees each record and each message before it is sent, and may send what no library would.
"""
# needs: python3-cryptography
import base64
import hashlib
import hmac
import os
import socket
import struct
import subprocess

import tls
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tls_raw import ALERT, CCS, DATA, HANDSHAKE, TAG, Alerted, End, extension, message, vector  # noqa: F401
from wire import PROGRAMS

CLIENT_HELLO, SERVER_HELLO, TICKET, ENCRYPTED_EXTENSIONS, CERTIFICATE, VERIFY, FINISHED = 1, 2, 4, 8, 11, 15, 20
SUITE, P256, P384, P521, X25519 = 0x1301, 23, 24, 25, 29
MESSAGE_HASH = 254
RETRY_RANDOM = hashlib.sha256(b'HelloRetryRequest').digest()
CURVES = {P256: ec.SECP256R1(), P384: ec.SECP384R1(), P521: ec.SECP521R1()}
UNEXPECTED_MESSAGE, BAD_RECORD_MAC, ILLEGAL_PARAMETER = 10, 20, 47


def extract(salt, secret):
    return hmac.new(salt, secret, hashlib.sha256).digest()


def expand(secret, label, context, size):
    info = struct.pack('!H', size) + vector(b'tls13 ' + label, 1) + vector(context, 1)
    return hmac.new(secret, info + b'\x01', hashlib.sha256).digest()[:size]


class Direction:
    """What protects the records of one direction."""

    def __init__(self, secret):
        self.secret, self.number = secret, 0
        self.aead, self.iv = AESGCM(expand(secret, b'key', b'', 16)), expand(secret, b'iv', b'', 12)

    def nonce(self):
        number = self.number.to_bytes(12, 'big')
        self.number += 1
        return bytes(a ^ b for a, b in zip(self.iv, number, strict=True))

    def seal(self, plaintext):
        """A record whose plaintext is just this: the caller adds the content type, or leaves it out."""
        head = struct.pack('!BHH', DATA, 0x0303, len(plaintext) + TAG)
        return head + self.aead.encrypt(self.nonce(), plaintext, head)

    def open(self, head, sealed):
        """The content type and the content."""
        plaintext = self.aead.decrypt(self.nonce(), sealed, head).rstrip(b'\0')
        return plaintext[-1], plaintext[:-1]


class Share:
    """A key exchange."""

    def __init__(self, group=P256):
        self.group = group
        self.key = ec.generate_private_key(CURVES[group]) if group in CURVES else x25519.X25519PrivateKey.generate()

    def public(self):
        key = self.key.public_key()
        if self.group == X25519:
            return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)

    def secret(self, peer):
        if self.group == X25519:
            return self.key.exchange(x25519.X25519PublicKey.from_public_bytes(peer))
        return self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVES[self.group], peer))


class Tls13(End):
    """`ours` and `theirs` protect nothing at first."""
    untold = (TICKET,)

    def __init__(self, sock):
        super().__init__(sock)
        self.ours = self.theirs = None

    # ---- records

    def send(self, kind, data, pad=0):
        """In one record; sealed with `pad` zeros behind it once there are keys."""
        if self.ours:
            self.socket.sendall(self.ours.seal(data + bytes([kind]) + bytes(pad)))
        else:
            self.socket.sendall(struct.pack('!BHH', kind, 0x0303, len(data)) + data)

    def send_raw(self, kind, data):
        self.socket.sendall(struct.pack('!BHH', kind, 0x0303, len(data)) + data)

    def recv(self):
        """The content type and the content of the next record; raises Alerted, EOFError at the end."""
        while True:
            head = self.take(5)
            kind, _, size = struct.unpack('!BHH', head)
            data = self.take(size)
            if kind == DATA and self.theirs:
                kind, data = self.theirs.open(head, data)
            if kind == ALERT:
                raise Alerted(*data)
            if kind != CCS:
                return kind, data

    def send_message(self, kind, body):
        whole = message(kind, body)
        self.transcript += whole
        self.send(HANDSHAKE, whole)

    def recv_data(self, until):
        """Application data, up to and with `until`; None: until something is raised."""
        data = b''
        while until is None or until not in data:
            kind, more = self.recv()
            data += more if kind == DATA else b''
        return data

    # ---- keys

    def digest(self):
        return hashlib.sha256(self.transcript).digest()

    def derive(self, secret, label):
        return expand(secret, label, self.digest(), 32)

    def begin_keys(self, shared):
        """Those of the handshake; both hellos are in the transcript."""
        early = extract(bytes(32), bytes(32))
        self.handshake = extract(expand(early, b'derived', hashlib.sha256().digest(), 32), shared)
        return self.derive(self.handshake, b'c hs traffic'), self.derive(self.handshake, b's hs traffic')

    def data_keys(self):
        """Those of the data; the server's Finished is the last in the transcript."""
        master = extract(expand(self.handshake, b'derived', hashlib.sha256().digest(), 32), bytes(32))
        return self.derive(master, b'c ap traffic'), self.derive(master, b's ap traffic')

    def finished(self, secret):
        return hmac.new(expand(secret, b'finished', b'', 32), self.digest(), hashlib.sha256).digest()


class Client(Tls13):
    def __init__(self, sock, group=P256):
        super().__init__(sock)
        self.share = Share(group)

    def hello(self, public=None, session_id=b'', more=b'', shares=True, suites=(SUITE,), groups=None):
        """A ClientHello, with `more` extensions; `public` stands in the place of our own key, `groups` in that of its groups."""
        groups = groups or (self.share.group,)
        group = struct.pack('!H', groups[0])
        schemes = struct.pack('!4H', 0x0403, 0x0804, 0x0503, 0x0805)
        public = self.share.public() if public is None else public
        extensions = (extension(43, vector(b'\x03\x04', 1)) + extension(10, vector(struct.pack(f'!{len(groups)}H', *groups), 2)) +
                      extension(13, vector(schemes, 2)) +
                      extension(51, vector(group + vector(public, 2) if shares else b'', 2)) + more)
        return (b'\x03\x03' + os.urandom(32) + vector(session_id, 1) +
                vector(struct.pack(f'!{len(suites)}H', *suites), 2) + b'\x01\x00' + vector(extensions, 2))

    def begin(self, hello=None):
        """Up to the server's Finished; ours is due."""
        self.send_message(CLIENT_HELLO, hello or self.hello())
        self.answer()

    def retry(self, body):
        """Say hello again, as asked: with the cookie, if there is one."""
        first, answer = self.transcript.split(message(SERVER_HELLO, body))[0], message(SERVER_HELLO, body)
        self.transcript = message(MESSAGE_HASH, hashlib.sha256(first).digest()) + answer
        session_id = body[35:35 + body[34]]
        extensions, cookie = body[40 + len(session_id):], b''
        while extensions:
            number, size = struct.unpack('!HH', extensions[:4])
            if number == 44:
                cookie = extensions[:4 + size]
            if number == 51:
                self.share = Share(*struct.unpack('!H', extensions[4:6]))
            extensions = extensions[4 + size:]
        self.send_message(CLIENT_HELLO, self.hello(session_id=session_id, more=cookie))

    def answer(self):
        """From the server's hello to its Finished."""
        kind, body = self.recv_message()
        assert kind == SERVER_HELLO, kind
        if body[2:34] == RETRY_RANDOM:
            self.retry(body)
            kind, body = self.recv_message()
            assert kind == SERVER_HELLO, kind
        self.use(body)

    def use(self, body):
        """The same when the hello has come."""
        at = body.index(struct.pack('!HHH', 51, len(self.share.public()) + 4, self.share.group))
        ours, theirs = self.begin_keys(self.share.secret(body[at + 8:at + 8 + len(self.share.public())]))
        self.ours, self.theirs = Direction(ours), Direction(theirs)
        kind = None
        while kind != FINISHED:
            kind, _ = self.recv_message()
        self.secret, theirs = self.data_keys()
        self.theirs = Direction(theirs)

    def finish(self):
        self.send_message(FINISHED, self.finished(self.ours.secret))
        self.ours = Direction(self.secret)


class Peer(Tls13):
    """A server, with a chain in PEM of one certificate on P-256 and its key."""

    def __init__(self, sock, cert, key, group=P256):
        super().__init__(sock)
        self.share, self.key = Share(group), serialization.load_pem_private_key(key, None)
        lines = cert.decode().split('-----BEGIN CERTIFICATE-----')[1].split('-----END')[0]
        self.cert = base64.b64decode(lines)

    def retry(self):
        """Ask for a hello with a key of our group."""
        hash_of_first = message(MESSAGE_HASH, self.digest())
        self.transcript = hash_of_first
        self.send_message(SERVER_HELLO, b'\x03\x03' + RETRY_RANDOM + self.session + struct.pack('!HB', SUITE, 0) +
                          vector(extension(43, b'\x03\x04') + extension(51, struct.pack('!H', self.share.group)), 2))
        kind, hello = self.recv_message()
        assert kind == CLIENT_HELLO, kind
        return hello

    def begin(self, public=None):
        """Up to keys of the handshake: the rest of our flight is due. `public` stands in the place of our own key."""
        kind, hello = self.recv_message()
        assert kind == CLIENT_HELLO, kind
        self.session = hello[34:35 + hello[34]]
        size = len(self.share.public())
        key = struct.pack('!HH', self.share.group, size)
        if key not in hello:
            hello = self.retry()
        at = hello.index(key)
        group = struct.pack('!H', self.share.group)
        public = self.share.public() if public is None else public
        extensions = extension(43, b'\x03\x04') + extension(51, group + vector(public, 2))
        self.send_message(SERVER_HELLO, b'\x03\x03' + os.urandom(32) + self.session + struct.pack('!HB', SUITE, 0) +
                          vector(extensions, 2))
        theirs, ours = self.begin_keys(self.share.secret(hello[at + 4:at + 4 + size]))
        self.ours, self.theirs = Direction(ours), Direction(theirs)

    def finish(self):
        self.send_message(ENCRYPTED_EXTENSIONS, vector(b'', 2))
        self.send_message(CERTIFICATE, b'\0' + vector(vector(self.cert, 3) + vector(b'', 2), 3))
        signed = b' ' * 64 + b'TLS 1.3, server CertificateVerify\0' + self.digest()
        self.send_message(VERIFY, b'\x04\x03' + vector(self.key.sign(signed, ec.ECDSA(hashes.SHA256())), 2))
        self.send_message(FINISHED, self.finished(self.ours.secret))
        theirs, ours = self.data_keys()
        kind, _ = self.recv_message()
        assert kind == FINISHED, kind
        self.ours, self.theirs = Direction(ours), Direction(theirs)


def fetch(play, group=P256, cert='server'):
    """What a client says of a server that plays as told, and reports nothing."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        listener.settimeout(20)
        url = f'https://localhost:{listener.getsockname()[1]}/'
        process = subprocess.Popen([PROGRAMS['fetch'], '--ca', tls.at('ca.pem'), url], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            sock, _ = listener.accept()
            with sock:
                sock.settimeout(20)
                play(Peer(sock, tls.text_of(f'{cert}.pem').encode(), tls.text_of(f'{cert}.key').encode(), group))
        finally:
            said, complaint = process.communicate(timeout=60)
    assert process.returncode == 0 and b'Sanitizer' not in complaint, complaint
    return said
