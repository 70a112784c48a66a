"""Keys of connections: nowhere in the server's memory once the connection has ended; and which suite clients get."""
# needs: openssl
import re
import unittest

import tls13
from tls import TlsCase, openssl, setUpModule, tearDownModule  # noqa: F401
from wire import is_sanitized, request


def memory_of(pid):
    """All that the process may write to, and that a core of it would have."""
    with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb', 0) as mem:
        for line in maps:
            first, last, rights = re.match(r'(\w+)-(\w+) (\S+)', line).groups()
            if 'w' not in rights or '[v' in line:
                continue
            first, last = int(first, 16), int(last, 16)
            try:
                mem.seek(first)
                yield mem.read(last - first)
            except (OSError, ValueError):
                continue    # guards, and what a ring shares with the kernel


@unittest.skipIf(is_sanitized(), 'a sanitizer has terabytes of memory of its own, and keeps what is freed')
class Wiped(TlsCase):
    def found(self, server, keys):
        """The names of those that are there."""
        there = set()
        for piece in memory_of(server.process.pid):
            there |= {name for name, key in keys.items() if key in piece}
        return there

    def connection(self, server):
        client = tls13.Client(self.socket(server))
        client.begin()
        keys = {'client, handshake': client.ours.secret, 'server, data': client.theirs.secret, 'client, data': client.secret}
        client.finish()
        client.send(tls13.DATA, request('GET', '/'))
        self.assertIn(b' 200 ', client.recv_data(b'\r\n\r\n'))
        return client, {name: tls13.expand(secret, b'key', b'', 16) for name, secret in keys.items()}

    def socket(self, server):
        wire = server.connect()
        self.addCleanup(wire.close)
        return wire.socket

    def test_keys_of_connections_that_have_ended(self):
        server = self.secure()
        ended = {}
        for i in range(8):
            client, keys = self.connection(server)
            if not i:
                # What is looked for can be found.
                self.assertEqual(self.found(server, keys), {'server, data', 'client, data'})
            client.socket.close()
            ended.update({f'{name} of {i}': key for name, key in keys.items()})
        self.eventually(lambda: not self.found(server, ended), what=lambda: str(self.found(server, ended)))


class Suites(TlsCase):
    def suite(self, server, suites, version):
        option = '-ciphersuites' if version == '-tls1_3' else '-cipher'
        return re.search(r'Cipher is (\S+)', openssl('s_client', '-connect', f'127.0.0.1:{server.port}', version, option, suites))[1]

    def test_the_order_of_the_client(self):
        """Who offers ChaCha20 first has no instructions for AES. Else it is ours."""
        server = self.secure()
        accelerated = 'AES-GCM, RSA and ECDSA by' in server.log
        for version, gcm, chacha in (('-tls1_3', 'TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'),
                                     ('-tls1_2', 'ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305')):
            with self.subTest(version):
                self.assertEqual(self.suite(server, f'{chacha}:{gcm}', version), chacha)
                if accelerated:
                    self.assertEqual(self.suite(server, f'{gcm}:{chacha}', version), gcm)


if __name__ == '__main__':
    unittest.main()
