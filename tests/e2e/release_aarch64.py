"""The static eddy of a release for aarch64, under Debian's kernel in an emulated machine that has nothing but it and busybox."""
# needs: openssl qemu-system-arm
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import released
import tls
import vm

QEMU = 'qemu-system-aarch64'
KERNEL = os.environ.get('EDDY_KERNEL_ARM64', '')
INIT = r'''#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
busybox mount -t tmpfs tmp /srv
busybox ip link set lo up
run() { echo "=== $1"; shift; "$@"; echo "=== status $?"; }
run version /eddy version
run doctor /eddy doctor
/eddy serve /srv --bind 127.0.0.1:7878 &
/eddy serve /srv --bind 127.0.0.1:7443 --cert /tls/server.pem --key /tls/server.key &
up() { busybox nc 127.0.0.1 $1 </dev/null >/dev/null 2>&1; }
until up 7878 && up 7443; do busybox sleep 0.2; done
run put /eddy bench put http://127.0.0.1:7878/files/x --sizes 1m -t 1 -r 1 --verify --no-system-calls
run get /eddy bench get http://127.0.0.1:7878/files/x -t 1 -r 1 --verify --no-system-calls
run tls /eddy bench get https://localhost:7443/files/x -t 1 -r 1 --verify --no-system-calls --ca /tls/ca.pem
busybox killall -TERM eddy
wait
echo "=== end"
busybox poweroff -f
'''


def setUpModule():
    tls.setUpModule()


def tearDownModule():
    tls.tearDownModule()


@unittest.skipUnless(shutil.which(QEMU) and KERNEL, f'needs {QEMU} and a kernel, which ./dev test release fetches')
class Emulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program, = (name for name in released.files() if name.endswith('-linux-aarch64'))
        kernel, = glob.glob(os.path.join(KERNEL, 'boot', 'vmlinuz-*'))
        with tempfile.TemporaryDirectory(prefix='eddy-vm-') as folder:
            image = os.path.join(folder, 'initrd')
            with open(image, 'wb') as file:
                archive = vm.Archive(file)
                for name in ('dev', 'proc', 'sys', 'srv'):
                    archive.folder(name)
                archive.data('init', INIT.encode(), 0o755)
                for name, path in (('eddy', released.path(program)), ('bin/busybox', os.path.join(KERNEL, 'bin', 'busybox')),
                                   *((f'tls/{name}', tls.at(name)) for name in ('server.pem', 'server.key', 'ca.pem'))):
                    with open(path, 'rb') as part:
                        archive.data(name, part.read(), 0o755)
                archive.end()
            # Whatever becomes of the test, it does not stay behind.
            command = ['setpriv', '--pdeathsig', 'KILL', QEMU, '-M', 'virt', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2', '-m', '1G',
                       '-nodefaults', '-display', 'none', '-no-reboot', '-kernel', kernel, '-initrd', image, '-serial', 'stdio',
                       '-append', 'console=ttyAMA0 rdinit=/init quiet loglevel=4 panic=-1']
            try:
                cls.console = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                                             check=False).stdout.decode(errors='replace').replace('\r', '')
            except subprocess.TimeoutExpired as late:
                cls.console = (late.stdout or b'').decode(errors='replace') + '\nwas not done in 600 s'

    def said(self, name):
        """What a command printed; its status is 0."""
        self.assertIn('=== end', self.console, self.console)
        said, _, rest = self.console.partition(f'=== {name}\n')[2].partition('=== status ')
        self.assertEqual(rest[:2], '0\n', self.console)
        return said

    def test_version(self):
        self.assertRegex(self.said('version'), r'^eddy \d+\.\d+\.\d+\n$')

    def test_doctor(self):
        said = self.said('doctor')
        self.assertRegex(said, 'ok   kernel: 6')
        self.assertRegex(said, 'ok   AES-GCM, RSA and ECDSA of TLS: OpenSSL 3')

    def test_serves_a_folder(self):
        self.assertRegex(self.said('put'), r'PUT 1 MiB × 1 .*/s')
        self.assertRegex(self.said('get'), r'GET × 1 .*/s')
        self.assertRegex(self.said('tls'), r'GET × 1 .*/s')
        self.assertEqual(self.console.count('Shutting down the server'), 2, self.console)
