"""A machine of its own, with another kernel: what qemu_*.py run their tests in.

    machine = Machine()
    machine.add('/usr/bin/openssl')                  files stand there where they stand here
    machine.run('tls', [sys.executable, …], env={})  in this order, one after the other
    says = machine.boot()                            {'tls': Ran(status, output)}

EDDY_KERNEL is a folder with what is in a package linux-image: boot/vmlinuz-*, lib/modules/. The processor is emulated,
so that this works inside of other virtual machines too; all that is needed is in the initial file system, which is the
only one. vm_init.py is what runs there, and what a job prints comes through a serial port.
"""
import collections
import glob
import json
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
QEMU = 'qemu-system-x86_64'
# Cipher and module: the kernel has nobody there who would load what it misses.
MODULES = ('gf128mul', 'ghash-generic', 'ctr', 'gcm', 'cryptd', 'crypto_simd', 'aesni-intel', 'tls')
NO_PYTHON = ('site-packages', 'dist-packages', 'test', 'tests', 'idlelib', 'lib2to3', 'tkinter', 'ensurepip', 'turtledemo')
FILES = ('/etc/hosts', '/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/mime.types', '/usr/lib/ssl/openssl.cnf',
         '/etc/protocols', '/etc/services')

COMMANDS = ('sh', 'cat', 'echo', 'env', 'grep', 'head', 'ip', 'kill', 'ls', 'rm', 'sleep', 'true', 'unshare')

Ran = collections.namedtuple('Ran', 'status output')


class Archive:
    """A cpio archive (newc), as the kernel unpacks it."""

    def __init__(self, file):
        self.file, self.names = file, {''}

    def _entry(self, name, mode, size=0):
        fields = (len(self.names), mode, 0, 0, 1, 0, size, 0, 0, 0, 0, len(name) + 1, 0)
        head = b'070701' + b''.join(b'%08x' % field for field in fields) + os.fsencode(name) + b'\0'
        self.file.write(head + b'\0' * (-len(head) % 4))

    def _begin(self, path):
        """Folders above it first. Return: whether it is new."""
        name = path.strip('/')
        if name in self.names:
            return False
        self.folder(os.path.dirname(name))
        self.names.add(name)
        return True

    def folder(self, path):
        if self._begin(path):
            self._entry(path.strip('/'), stat.S_IFDIR | 0o755)

    def data(self, path, data, mode=0o644):
        if self._begin(path):
            self._entry(path.strip('/'), stat.S_IFREG | mode, len(data))
            self.file.write(data + b'\0' * (-len(data) % 4))

    def link(self, path, target):
        if self._begin(path):
            target = os.fsencode(target)
            self._entry(path.strip('/'), stat.S_IFLNK | 0o777, len(target))
            self.file.write(target + b'\0' * (-len(target) % 4))

    def end(self):
        self._entry('TRAILER!!!', 0)


def kernel_folder():
    folder = os.environ.get('EDDY_KERNEL')
    if not folder:
        raise unittest.SkipTest('needs a kernel, which ./dev test qemu fetches')
    if not shutil.which(QEMU):
        raise unittest.SkipTest(f'needs {QEMU}, which ./dev test qemu installs')
    return folder


def libraries_of(path):
    done = subprocess.run(['ldd', path], capture_output=True, text=True, check=False)
    return re.findall(r'(/\S+) \(0x', done.stdout)


def place_of(path):
    """Where a file stands that may be reached through folders that are links."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


class Machine:
    def __init__(self, memory='3G', counted=False):
        """`counted`: its clock counts instructions, one a nanosecond, and skips idle time, so that no limit of a test or a
        server passes because this machine is busy. It then has one processor: with two, some boots wait for the second
        for ever."""
        self.folder, self.memory, self.counted = kernel_folder(), memory, counted
        self.temporary = tempfile.TemporaryDirectory(prefix='eddy-vm-')
        self.image = os.path.join(self.temporary.name, 'initrd')
        self.file = open(self.image, 'wb')
        self.archive = Archive(self.file)
        self.jobs = []
        for name in ('dev', 'proc', 'sys', 'run', 'root', 'var/tmp'):
            self.archive.folder(name)
        # As on a Debian of today; the loader is found in either.
        for name in ('bin', 'sbin', 'lib', 'lib64'):
            if os.path.islink('/' + name):
                self.archive.link(name, os.readlink('/' + name))
        self._add_modules()
        self._add_python()
        for path in filter(os.path.exists, FILES):
            self.add(path)
        for path in filter(None, map(shutil.which, COMMANDS)):
            self.add(path)

    def add(self, path):
        """A file, with the libraries that it needs, or all that is in a folder. Links are followed."""
        if os.path.isdir(path):
            for name in sorted(os.listdir(path)):
                self.add(os.path.join(path, name))
            return
        with open(path, 'rb') as file:
            data = file.read()
        self.archive.data(place_of(path), data, 0o755 if os.access(path, os.X_OK) else 0o644)
        if data.startswith(b'\x7fELF'):
            for library in libraries_of(path):
                with open(library, 'rb') as file:
                    self.archive.data(place_of(library), file.read(), 0o755)

    def _add_python(self):
        self.add(sys.executable)
        self.python = place_of(sys.executable)
        library = sysconfig.get_path('stdlib')
        for folder, folders, names in os.walk(library):
            folders[:] = [name for name in folders if name not in NO_PYTHON and not name.startswith('config-')]
            for name in names:
                if name.endswith(('.py', '.so', '.pyc')) and '.opt-' not in name:
                    self.add(os.path.join(folder, name))
        with open(os.path.join(HERE, 'vm_init.py'), 'rb') as file:
            self.archive.data('init', b'#!%s -I\n' % os.fsencode(self.python) + file.read(), 0o755)

    def _add_modules(self):
        found = {}
        for folder, _, names in os.walk(os.path.join(self.folder, 'lib', 'modules')):
            for name in names:
                if '.ko' in name:
                    found[name.partition('.ko')[0].replace('_', '-')] = os.path.join(folder, name)
        for i, name in enumerate(MODULES):
            # Some are built in.
            if path := found.get(name.replace('_', '-')):
                with open(path, 'rb') as file:
                    data = file.read()
                self.archive.data(f'modules/{i:02}-{name}.ko', lzma.decompress(data) if path.endswith('.xz') else data)

    def close(self):
        self.file.close()
        self.temporary.cleanup()

    def run(self, name, args, env=None):
        self.jobs.append({'name': name, 'args': list(args), 'env': env or {}})

    def _command(self, says):
        kernel, = glob.glob(os.path.join(self.folder, 'boot', 'vmlinuz-*'))
        processor = ['-accel', 'tcg,thread=multi', '-smp', '2']
        if self.counted:
            processor = ['-accel', 'tcg', '-icount', 'shift=0,sleep=off', '-smp', '1']
        # Whatever becomes of the test, it does not stay behind.
        return ['setpriv', '--pdeathsig', 'KILL', QEMU, *processor, '-cpu', 'max',
                '-m', self.memory, '-nodefaults', '-display', 'none', '-no-reboot', '-kernel', kernel, '-initrd', self.image,
                '-serial', 'stdio', '-serial', f'file:{says}',
                '-append', 'console=ttyS0 rdinit=/init quiet loglevel=4 panic=-1']

    def boot(self, seconds=3600):
        """Return: what came of each job that ended, by its name."""
        self.archive.data('jobs', json.dumps(self.jobs).encode())
        self.archive.end()
        self.file.close()
        says = os.path.join(self.temporary.name, 'says')
        try:
            done = subprocess.run(self._command(says), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=seconds, check=False)
            self.console = done.stdout.decode(errors='replace')
        except subprocess.TimeoutExpired as error:
            self.console = (error.stdout or b'').decode(errors='replace') + f'\nwas not done in {seconds} s'
        text = ''
        if os.path.exists(says):
            with open(says, errors='replace', newline='') as file:
                text = file.read().replace('\r\n', '\n')
        jobs = re.findall(r'^=== begin (\S+)\n(.*?)^=== end (\S+) (-?\d+)$', text, re.M | re.S)
        return {name: Ran(int(status), output) for name, output, _, status in jobs}
