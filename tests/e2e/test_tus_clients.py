"""tus-js-client and uppy in Chromium upload to `files` over a network that breaks."""
# needs: chromium curl npm
import json
import os
import shutil
import subprocess
import unittest

from cutting import Cutter
from wire import KIB, MIB, SCRIPTS, Case, curl, pattern, sha256_of

NODE, MODULES = os.environ.get('EDDY_NODE'), os.environ.get('EDDY_NODE_MODULES')


@unittest.skipUnless(NODE and shutil.which('chromium'), 'needs Node and Chromium')
class Browser(Case):
    CUTS, SIZE = 3, 4 * MIB

    def upload(self, client):
        folder = self.folder()
        server = self.serve(folder)
        with Cutter(server.port, self.CUTS, least=100 * KIB, most=700 * KIB, by_reset=True, upward=True, raw=True) as proxy:
            done = subprocess.run([NODE, os.path.join(SCRIPTS, 'uploads.mjs'), client, f'http://127.0.0.1:{proxy.port}', str(self.SIZE)],
                                  env={**os.environ, 'EDDY_NODE_MODULES': MODULES}, capture_output=True, text=True, check=False, timeout=180)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(proxy.left, 0)
        result = json.loads(done.stdout)
        # A browser repeats some requests itself.
        self.assertGreater(result['retries'], 0)
        path = os.path.join(folder, f'{client}.bin')
        self.assertEqual(os.path.getsize(path), self.SIZE)
        self.assertEqual(sha256_of(path), result['digest'])

    def test_tus_js_client(self):
        self.upload('tus-js-client')

    def test_uppy(self):
        self.upload('uppy')


class Downloads(Case):
    def test_curl(self):
        """curl goes on with a download that broke: `curl -C -`."""
        folder = self.folder()
        data = pattern(8 * MIB)
        with open(os.path.join(folder, 'x'), 'wb') as file:
            file.write(data)
        part = os.path.join(folder, '.part')
        with open(part, 'wb') as file:
            file.write(data[:3 * MIB + 7])
        curl('-C', '-', '-o', part, f'http://127.0.0.1:{self.serve(folder).port}/files/x')
        self.assertEqual(sha256_of(part), sha256_of(os.path.join(folder, 'x')))
