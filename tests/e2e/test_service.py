"""The service to copy (examples/service): the contract that it shares with those of bench/services, and its own tests."""
# needs: libpq-dev npm postgresql
import json
import os
import subprocess
import sys
import unittest

from postgres import BIN, Cluster
from tokens import SECRET
from wire import PROGRAMS, Case, node

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


if __name__ == '__main__':
    unittest.main()
