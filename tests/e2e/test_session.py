"""Sessions and encrypted cookies, with a client that keeps cookies as browsers do."""
# needs: curl openssl
import os
import secrets
import signal
import unittest

from tls import TlsCase, at, setUpModule, tearDownModule  # noqa: F401
from wire import PROGRAMS, curl, in_threads, request


@unittest.skipUnless(os.path.exists(PROGRAMS['kept']), 'needs TLS')
class Kept(TlsCase):
    def setUp(self):
        self.dir = self.folder()
        self.keys = os.path.join(self.dir, 'keys')
        self.jar = os.path.join(self.folder(), 'jar')
        self.write_keys(secrets.token_hex(32))

    def write_keys(self, *keys):
        """As a file of the name that takes the place of the other."""
        with open(self.keys + '.new', 'w') as file:
            file.writelines(f'{key}\n' for key in keys)
        os.rename(self.keys + '.new', self.keys)

    def start(self, *args, **options):
        return self.serve('--keys', self.keys, *args, program='kept', **options)

    def over_tls(self, *args):
        return self.start('--cert', at('server.pem'), '--key', at('server.key'), *args)

    def ask(self, server, path, *args, scheme='http'):
        if 'PUT' in args:
            args += ('-c', self.jar)
        return curl('--cacert', at('ca.pem'), '-b', self.jar, *args, f'{scheme}://localhost:{server.port}{path}').stdout.decode()

    def names(self):
        """Those in the jar, and whether each is sent by TLS alone."""
        with open(self.jar) as file:
            lines = [line.replace('#HttpOnly_', '').split('\t') for line in file if line.startswith('#HttpOnly_')]
        return {line[5]: line[3] == 'TRUE' for line in lines}

    def test_over_tls(self):
        server = self.over_tls('--workers', '2')
        for kind in ('session', 'cookie'):
            self.assertEqual(self.ask(server, f'/{kind}/pears', '-X', 'PUT', scheme='https'), 'pears')
        self.assertEqual(self.names(), {'__Host-session': True, 'kept': True})
        # By connections of both workers.
        values = []
        in_threads(8, lambda i: values.append([self.ask(server, f'/{kind}/x', scheme='https') for kind in ('session', 'cookie')]))
        self.assertEqual(values, [['pears', 'pears']] * 8)

    def test_behind_a_proxy(self):
        server = self.start('--trust', '127.0.0.0/8')
        response = server.get('/session/x', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 192.0.2.1', method='PUT')
        self.assertRegex(response.header('set-cookie'), '^__Host-session=[^;]*; Path=/; Secure; HttpOnly; SameSite=Lax$')
        cookie = 'Cookie: ' + response.header('set-cookie').partition(';')[0]
        self.assertEqual(server.get('/session/x', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 192.0.2.1', cookie).body, b'x')
        # Without TLS, another name is looked for.
        self.assertEqual(server.get('/session/x', cookie).body, b'')
        self.assertRegex(server.get('/session/x', method='PUT').header('set-cookie'), '^session=[^;]*; Path=/; HttpOnly; SameSite=Lax$')

    def rotate(self, server):
        with open(self.keys) as file:
            old = file.read().strip()
        self.assertEqual(self.ask(server, '/cookie/pears', '-X', 'PUT'), 'pears')
        new = secrets.token_hex(32)
        self.write_keys(new, old)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('INFO eddy::app: Cookie keys were reloaded')
        self.assertEqual(self.ask(server, '/cookie/x'), 'pears')
        self.write_keys('short')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for(rf'ERROR eddy::app: can\'t use the cookie keys from "{self.keys}": a key must have at least 32 bytes')
        self.assertEqual(self.ask(server, '/cookie/x'), 'pears')
        self.write_keys(new)
        server.process.send_signal(signal.SIGHUP)
        self.eventually(lambda: self.ask(server, '/cookie/x') != 'pears')

    def test_keys_are_reloaded(self):
        self.rotate(self.start())

    def test_keys_are_reloaded_in_the_sandbox(self):
        self.rotate(self.start('--sandbox'))

    def test_pipelined(self):
        """Each response has the session of its request."""
        server = self.start()
        with server.connect() as wire:
            wire.send(request('PUT', '/session/a') + request('PUT', '/session/b'))
            ids = {wire.read().header('set-cookie') for _ in range(2)}
        self.assertEqual(len(ids), 2)
