"""The service to copy (examples/service): the contract that it shares with those of bench/services, and its own tests."""
# needs: libpq-dev postgresql
import os
import subprocess
import sys
import unittest

from postgres import BIN
from wire import EXAMPLES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = os.path.join(os.path.dirname(os.path.abspath(EXAMPLES)), 'subprojects', 'service')
TESTS = os.path.join(ROOT, 'examples', 'service', 'tests')


@unittest.skipUnless(os.path.exists(os.path.join(BUILT, 'dropbox')), 'needs the service, which is built with libpq-dev')
@unittest.skipUnless(BIN, 'needs the package postgresql')
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


if __name__ == '__main__':
    unittest.main()
