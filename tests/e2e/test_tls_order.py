"""The messages of a TLS 1.2 client, where the server asks for its certificate.

CVE-2026-2645: wolfSSL before 5.9.0 verifies a CertificateVerify that comes before the ClientKeyExchange against a digest of
zeros. Such a signature needs no private key when the key is an EC key.
"""
import contextlib
import socket
import ssl
import struct

import tls12
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509 import load_pem_x509_certificate
from tls import TlsCase, at, setUpModule, tearDownModule, text_of  # noqa: F401

GET = b'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'


class Order(TlsCase):
    def client(self, required=True):
        server = self.secure('--client-ca', at('ca.pem'), *(['--required'] if required else []))
        sock = socket.create_connection(('127.0.0.1', server.port), timeout=20)
        self.addCleanup(sock.close)
        client = tls12.Client(sock)
        self.assertIn(tls12.CERTIFICATE_REQUEST, client.begin())
        self.pem = text_of('client.pem')
        self.der = ssl.PEM_cert_to_DER_cert(self.pem)
        self.cert = client.certificate(self.der)
        self.key = serialization.load_pem_private_key(text_of('client.key').encode(), None)
        return client

    def refused(self, client):
        with self.assertRaises(tls12.Alerted) as caught:
            client.finish()
        self.assertEqual(caught.exception.level, 2)

    def test_in_order(self):
        client = self.client()
        client.exchange(self.cert)
        client.add(client.verify(self.key))
        client.finish()
        self.assertIn(b'CN=jo', client.ask(GET))

    def test_a_signature_over_zeros(self):
        """Whoever knows the certificate alone is not its owner."""
        for apart in (False, True):
            with self.subTest(apart=apart):
                client = self.client()
                forged = self.forged()
                if apart:
                    client.add(self.cert)
                    client.add(forged)
                    client.exchange()
                else:
                    client.exchange(self.cert, forged)
                self.refused(client)

    def forged(self):
        public = load_pem_x509_certificate(self.pem.encode()).public_key()
        return tls12.message(tls12.CERTIFICATE_VERIFY, bytes([tls12.SHA256, tls12.ECDSA]) +
                             tls12.vector(tls12.forged(public), 2))

    def test_records_inside_a_message(self):
        """What replaces a refused record must not complete a message for wolfSSL alone: what follows would be read as two things."""
        client = self.client()
        forged = self.forged()
        cert = client.certificate(self.der + bytes(len(forged)))
        client.transcript += cert
        client.send(tls12.HANDSHAKE, cert[:-len(forged)])
        for at_once in range(0, len(forged), 16):
            size = min(16, len(forged) - at_once)
            client.socket.sendall(struct.pack('!BHH', tls12.DATA, tls12.VERSION, size) + bytes(size))
        with contextlib.suppress(OSError):
            client.add(forged)
            client.exchange()
        with self.assertRaises((tls12.Alerted, EOFError, OSError)):
            client.finish()

    def test_a_certificate_behind_the_change(self):
        """There the messages are encrypted, and nothing has checked them."""
        client = self.client(required=False)
        client.exchange()
        verify = client.verify(self.key, hashes.SHA1, tls12.SHA1)
        add = client.add

        def add_all(*messages):
            client.add = add
            for one in (self.cert, verify, *messages):
                add(one)
        client.add = add_all
        with self.assertRaises((tls12.Alerted, EOFError, OSError)):
            client.finish()
            client.ask(GET)

    def test_a_weak_digest(self):
        """CVE-2025-12889: one that the server did not ask for."""
        client = self.client()
        client.exchange(self.cert)
        client.add(client.verify(self.key, hashes.SHA1, tls12.SHA1))
        self.refused(client)
