"""docs/deploy/container.md: the command that allows io_uring, as it stands there, on the profile that Podman comes with; and servers
without io_uring."""
# needs: jq systemd
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from wire import Case, is_sanitized, request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFILE = '/usr/share/containers/seccomp.json'


def page():
    with open(os.path.join(ROOT, 'docs', 'deploy', 'container.md')) as file:
        return file.read()


def wrap(profile):
    return sys.executable, os.path.join(ROOT, 'tests', 'e2e', 'helpers', 'filtered.py'), profile


class WithoutRings(Case):
    def expect_service(self, *wrap):
        """Both programs serve, and say why they are slower."""
        body = os.urandom(3 << 20)
        folder = self.folder()
        server = self.serve(folder, wrap=wrap, env={'EDDY_EXECUTOR': ''})
        self.assertEqual(server.ask(request('PUT', '/files/x', body=body)).status, 201)
        self.assertEqual(server.get('/files/x').body, body)
        self.assertEqual(server.ask(request('GET', '/files/x', 'Range: bytes=1000-70999')).body, body[1000:71000])
        self.assertEqual(server.ask(request('DELETE', '/files/x')).status, 204)
        self.assertEqual(os.listdir(folder), [])
        said = re.search(r'^WARN  eddy::loop: (io_uring is not available, .*?;)', page(), re.M)[1]
        server.wait_for('WARN +eddy::loop: ' + re.escape(said))
        self.assertEqual(server.log.count('io_uring is not available'), 1)
        self.assertEqual(self.serve(program='tour', wrap=wrap, env={'EDDY_EXECUTOR': ''}).get('/hello').status, 200)

    @unittest.skipIf(is_sanitized(), 'libseccomp is loaded into a Python that the sanitizer is not for')
    def test_calls_that_are_not_permitted(self):
        self.expect_service(sys.executable, os.path.join(ROOT, 'tests', 'e2e', 'helpers', 'filtered.py'), '-io_uring_setup,io_uring_enter')

    @unittest.skipUnless(os.path.exists(PROFILE), f'needs {PROFILE}, which Podman brings along')
    @unittest.skipIf(is_sanitized(), 'sanitizers make other system calls')
    def test_the_profile_of_podman(self):
        with open(PROFILE) as file:
            if any('io_uring_setup' in rule['names'] for rule in json.load(file)['syscalls']):
                self.skipTest('this Podman allows io_uring by itself')
        self.expect_service(*wrap(PROFILE))


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


if __name__ == '__main__':
    unittest.main()
