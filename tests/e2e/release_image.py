"""The image of a release, run as docs/deploy/container.md says, with the profile that it makes."""
# needs: golang-github-containers-common jq podman runc
import os
import re
import resource
import shlex
import subprocess
import time
import unittest

import released
from wire import Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Where this process may not raise its own.
LIMITS = [f'--ulimit={name}={value}:{value}' for name, limit in (('nofile', resource.RLIMIT_NOFILE), ('nproc', resource.RLIMIT_NPROC))
          for value in [min(4096, resource.getrlimit(limit)[1])]]


def commands(word):
    """The commands of the page that begin with these words."""
    with open(os.path.join(ROOT, 'docs', 'deploy', 'container.md')) as file:
        return re.findall(rf'^\$ ({word} (?:.*\\\n)*.*)$', file.read(), re.M)


class Image(Case):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest('needs root')
        self.image, = (name for name in released.files() if name.endswith(f'-image-{os.uname().machine}.tar'))
        self.here = self.folder()
        self.podman = ['podman', '--storage-driver', 'vfs', '--root', f'{self.here}/store', '--runroot', f'{self.here}/run', '--runtime', 'runc',
                       '--cgroup-manager', 'cgroupfs', '--tmpdir', f'{self.here}/tmp']
        self.addCleanup(lambda: subprocess.run([*self.podman, 'rm', '--all', '--force', '--time', '0'], capture_output=True, check=False))
        subprocess.run(['sh', '-ec', commands('jq')[0]], cwd=self.here, check=True)
        self.run_podman('load', '-i', released.path(self.image))

    def run_podman(self, *args, status=0):
        done = subprocess.run([*self.podman, *args], cwd=self.here, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, status, f'{args}: {done.stdout}{done.stderr}')
        return done.stdout + done.stderr

    def start(self):
        """The command of the page, but for the network, and for limits that this process may not exceed itself."""
        command, = commands('podman run')
        for replaced in ('-p 7878:7878', '--ulimit nofile=65536:65536', 'files:/srv/files:U'):
            self.assertEqual(command.count(replaced), 1, replaced)
        command = command.replace('-p 7878:7878', '--network none').replace('--ulimit nofile=65536:65536', ' '.join(LIMITS)).replace('\\\n', ' ')
        command = command.replace('files:/srv/files:U', f'{self.here}/files:/srv/files:U')
        os.mkdir(os.path.join(self.here, 'files'))
        self.run_podman(*shlex.split(command)[1:])
        self.eventually(lambda: 'Listening on' in self.run_podman('logs', 'files'))

    def test_the_image_has_one_file(self):
        self.run_podman('create', '--name', 'files', 'eddy:' + re.search('-(.*)-image', self.image)[1])
        self.run_podman('export', '-o', f'{self.here}/all.tar', 'files')
        names = subprocess.run(['tar', '-tf', f'{self.here}/all.tar'], capture_output=True, text=True, check=True).stdout.split()
        # What Podman mounts upon.
        places = {'dev', 'etc', 'etc/hostname', 'etc/hosts', 'etc/mtab', 'etc/resolv.conf', 'proc', 'run', 'run/.containerenv', 'sys', 'srv', 'srv/files', 'dev/console', 'dev/pts', 'dev/shm'}
        self.assertEqual({name.strip('/') for name in names} - places, {'eddy'})

    def test_serves_a_folder(self):
        self.start()
        said = self.run_podman('exec', 'files', '/eddy', 'bench', 'put', 'http://127.0.0.1:7878/files/x', '--sizes', '64k', '-t', '0.2', '-r', '1', '--verify',
                               '--no-system-calls')
        self.assertRegex(said, 'PUT 64 KiB')
        path = os.path.join(self.here, 'files', 'x')
        self.assertEqual((os.path.getsize(path), os.stat(path).st_uid), (65536, 10001))
        doctor = self.run_podman('exec', 'files', '/eddy', 'doctor')
        self.assertNotIn('FAIL', doctor)
        self.assertRegex(doctor, r'(warn|ok) +seccomp: ')
        began = time.monotonic()
        self.run_podman('stop', 'files')
        self.assertLess(time.monotonic() - began, 15)
        self.assertEqual(self.run_podman('inspect', '--format', '{{.State.ExitCode}}', 'files').strip(), '0')
        self.assertIn('Shutting down', self.run_podman('logs', 'files'))

    def test_without_the_profile(self):
        """Podman's own forbids io_uring: eddy says so, and serves."""
        said = self.run_podman('run', '--rm', '--network', 'none', *LIMITS, 'eddy:' + re.search('-(.*)-image', self.image)[1], 'doctor')
        self.assertRegex(said, 'warn seccomp: a filter, which forbids io_uring')


if __name__ == '__main__':
    unittest.main()
