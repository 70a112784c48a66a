"""Other programs as clients of HTTP/2 over TLS: uploads and downloads, all on one connection."""
import hashlib
import json
import os
import re
import subprocess

from tls import TlsCase, at
from wire import MIB, pattern, request, speaks_http2

COUNT = 8
DATA = pattern(MIB + 12345)


class Clients(TlsCase):
    def setUp(self):
        super().setUp()
        if not speaks_http2():
            self.skipTest('needs an eddy with -Dhttp2=enabled')
        self.dir = self.folder()
        self.write('data', DATA)
        self.server = self.serve('--cert', at('server.pem'), '--key', at('server.key'), '--dir', self.dir, program='tour')
        self.origin = f'https://localhost:{self.server.port}'

    def read(self, name):
        with open(os.path.join(self.dir, name), 'rb') as file:
            return file.read()

    def assertUploaded(self):
        for i in range(COUNT):
            self.assertTrue(self.read(f'up{i}') == DATA, i)

    def assertConnections(self, count):
        """So many have spoken HTTP/2 since the server began."""
        metrics = self.dial(self.server).ask(request('GET', '/metrics')).body.decode()
        self.assertEqual(int(re.search(r'^eddy_http2_connections_total (\d+)', metrics, re.M)[1]), count)

    def exchange(self, *command, origins=()):
        """Run a program that gets /files/data COUNT times and puts it to /files/up0 …, several at once. Return: what it printed, for each
        origin a line of JSON of the protocol and of digests."""
        done = subprocess.run([*command, ','.join((self.origin, *origins)), at('ca.pem'), str(COUNT)], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=100, text=True)
        if done.returncode:
            self.fail(f'{command}: {done.returncode}\n{done.stdout}{done.stderr}')
        facts = list(map(json.loads, done.stdout.splitlines()))
        for said in facts:
            self.assertIn(said['protocol'], ('h2', 'HTTP/2.0', 'HTTP_2'))
            self.assertEqual(said['digests'], [hashlib.sha256(DATA).hexdigest()] * COUNT)
        self.assertUploaded()
        self.assertConnections(1)
        return facts
