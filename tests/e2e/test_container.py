"""docs/deploy/container.md: the command that allows io_uring, as it stands there, on the profile that Podman comes with."""
# needs: jq systemd
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from wire import PROGRAMS, Case, is_sanitized, request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFILE = '/usr/share/containers/seccomp.json'


def page():
    with open(os.path.join(ROOT, 'docs', 'deploy', 'container.md')) as file:
        return file.read()


def wrap(profile):
    return sys.executable, os.path.join(ROOT, 'tests', 'e2e', 'helpers', 'filtered.py'), profile


@unittest.skipUnless(shutil.which('jq'), 'needs jq')
@unittest.skipUnless(os.path.exists(PROFILE), f'needs {PROFILE}, which Podman brings along')
class Profile(Case):
    def setUp(self):
        command = re.search(r'^\$ (jq (?:.*\\\n)*.*)$', page(), re.M)[1]
        self.made = os.path.join(self.folder(), 'eddy-seccomp.json')
        subprocess.run(['sh', '-ec', command], cwd=os.path.dirname(self.made), check=True)

    def test_what_it_adds(self):
        with open(PROFILE) as before, open(self.made) as after:
            before, after = json.load(before), json.load(after)
        rule = after['syscalls'].pop()
        self.assertEqual(after, before)
        self.assertEqual(rule, {'names': ['io_uring_setup', 'io_uring_enter', 'io_uring_register'], 'action': 'SCMP_ACT_ALLOW'})

    @unittest.skipIf(is_sanitized(), 'sanitizers make other system calls')
    def test_a_server_behind_it(self):
        server = self.serve(self.folder(), wrap=wrap(self.made))
        self.assertEqual(server.ask(request('PUT', '/files/x', body='x')).status, 201)
        self.assertEqual(server.get('/files/x').body, b'x')

    @unittest.skipIf(is_sanitized(), 'sanitizers make other system calls')
    def test_a_server_without_it(self):
        done = subprocess.run([*wrap(PROFILE), PROGRAMS['files'], self.folder(), '--bind', '127.0.0.1:0'], capture_output=True, text=True,
                              timeout=20, check=False)
        with open(PROFILE) as file:
            if any('io_uring_setup' in rule['names'] for rule in json.load(file)['syscalls']):
                self.skipTest('this Podman allows io_uring by itself')
        self.assertEqual(done.returncode, 1)
        # It goes on with the name of what it runs in.
        said = re.search(r"^eddy::app: (can't start: .*?: )`podman", page(), re.M)[1]
        self.assertIn(f'ERROR eddy::app: {said}', done.stderr)


if __name__ == '__main__':
    unittest.main()
