"""The service to copy (examples/service): the contract that it shares with those of bench/services, and its own tests."""
# needs: libpq-dev npm postgresql
import json
import os
import subprocess
import sys
import threading
import time
import unittest

from postgres import BIN, Cluster
from tokens import SECRET, signed
from wire import PROGRAMS, Case, in_threads, node, request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = os.path.dirname(os.path.abspath(PROGRAMS['dropbox']))
TESTS = os.path.join(ROOT, 'examples', 'service', 'tests')
SETTINGS = '''[server]
bind = "127.0.0.1:0"
[dropbox]
database = "postgresql://test@/postgres?host={host}&port={port}"
data_dir = "{folder}/data"
rate = 1_000_000
burst = 1_000_000
[bearer]
secret_file = "{folder}/secret"
'''


def needed(case):
    case = unittest.skipUnless(os.path.exists(PROGRAMS['dropbox']), 'needs the service, which is built with libpq-dev')(case)
    return unittest.skipUnless(BIN, 'needs the package postgresql')(case)


@needed
class Service(unittest.TestCase):
    def run_python(self, *args):
        done = subprocess.run([sys.executable, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors='replace', check=False, timeout=110)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_contract(self):
        said = self.run_python(os.path.join(ROOT, 'bench', 'services', 'services.py'), 'check', f'service={BUILT}/dropbox')
        self.assertIn('service, without nothing', said)
        self.assertNotIn('skipped', said)

    def test_handlers(self):
        said = self.run_python(os.path.join(TESTS, 'local.py'), 'test', os.path.join(BUILT, 'test_handlers'))
        self.assertNotIn('not ok', said)

    def test_service(self):
        self.run_python(os.path.join(TESTS, 'test_service.py'), os.path.join(BUILT, 'dropbox'))


@needed
class Running(Case):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster()
        self.addCleanup(self.cluster.end)
        folder = self.folder()
        with open(os.path.join(folder, 'secret'), 'wb') as file:
            file.write(SECRET)
        settings = os.path.join(folder, 'dropbox.toml')
        with open(settings, 'w') as file:
            file.write(SETTINGS.format(host=self.cluster.folder, port=self.cluster.port, folder=folder))
        self.server = self.serve(settings, program='dropbox')

    def test_document_is_valid(self):
        done = subprocess.run(node('openapi.mjs', f'http://127.0.0.1:{self.server.port}', self.folder(), 'valid'), capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {'version': '3.1'})

    def ask(self, method, path, *headers, **options):
        began = time.monotonic()
        response = self.server.ask(request(method, path, f'Authorization: Bearer {signed(sub="ada", role="admin")}', *headers, **options))
        self.assertLess(time.monotonic() - began, 9)   # 5 s, on a slow machine
        return response

    def add(self, name):
        return self.ask('POST', '/users', 'Content-Type: application/json', body=json.dumps({'name': name, 'email': 'x@example.org'})).status

    def test_killed_under_load(self):
        """Each answer is right, or 503 in time. Users that were added are there afterwards, and the service goes on."""
        self.assertEqual(self.add('ada'), 201)
        added, refused, over = [], [], threading.Event()

        def load(client):
            for number in range(1 << 30):
                if over.is_set():
                    break
                name = f'{client}-{number}'
                status, shown = self.add(name), self.ask('GET', '/users/ada')
                self.assertIn(status, (201, 503))
                (added if status == 201 else refused).append(name)
                self.assertIn(shown.status, (200, 503))
                if shown.status == 200:
                    self.assertEqual(shown.json()['name'], 'ada')

        def kill():
            try:
                for down in (0.2, 4):   # a request waits for 2 s
                    time.sleep(0.5)
                    self.cluster.kill()
                    time.sleep(down)
                    self.cluster.start()
                self.eventually(lambda: self.ask('GET', '/users/ada').status == 200)
            finally:
                over.set()
        in_threads(17, lambda i: load(i) if i < 16 else kill())
        self.assertTrue(refused)
        self.assertEqual(self.add('eve'), 201)
        self.assertEqual(set(added) - set(self.cluster.sql('select name from users').split()), set())


if __name__ == '__main__':
    unittest.main()
