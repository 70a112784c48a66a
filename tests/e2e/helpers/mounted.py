"""File systems of their own for a test: a tmpfs, or one that a loop device makes of a file. They take root, and what the kernel lacks skips
the test."""
# needs: e2fsprogs
import os
import shutil
import subprocess
import tempfile
import unittest

from wire import MIB

# By kind: the command that makes one, quietly, and the least size that it takes.
MAKE = {
    'ext4': ('mkfs.ext4 -q -F -O ^has_journal -m 0', 0),
    'xfs': ('mkfs.xfs -q -f', 300 * MIB),
    'btrfs': ('mkfs.btrfs -q -f', 128 * MIB),
}
KINDS = ('tmpfs', *MAKE)
SBIN = os.environ.get('PATH', os.defpath) + ':/usr/sbin:/sbin'


def is_known(kind):
    with open('/proc/filesystems') as file:
        return any(line.split()[-1] == kind for line in file)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, 'PATH': SBIN})
    return done.returncode, done.stderr.strip()


def mounted(case, kind, size=300 * MIB):
    """Return: a folder on it, and the file that it is in, None for a tmpfs. It is unmounted when the test, or the class of tests, ends."""
    clean_up = case.addClassCleanup if isinstance(case, type) else case.addCleanup
    top = tempfile.mkdtemp(prefix='eddy-mounted-')
    clean_up(shutil.rmtree, top)
    folder, image = os.path.join(top, 'here'), None
    os.mkdir(folder)
    if os.geteuid() != 0:
        raise unittest.SkipTest('needs root, to mount a file system')
    if kind == 'tmpfs':
        mount = ('mount', '-t', kind, '-o', f'size={size}', 'none', folder)
    else:
        make, least = MAKE[kind]
        command = make.split()
        if not is_known(kind):
            raise unittest.SkipTest(f'needs a kernel with {kind}')
        if not shutil.which(command[0], path=SBIN):
            raise unittest.SkipTest(f'needs {command[0]}')
        image = os.path.join(top, 'image')
        with open(image, 'wb') as file:
            file.truncate(max(size, least))
        status, said = run(*command, image)
        if status:
            raise AssertionError(f'{command[0]}: {said}')
        mount = ('mount', '-o', 'loop', image, folder)
    status, said = run(*mount)
    if status:
        raise unittest.SkipTest(f'needs mount: {said}')
    # After the server, whose clean-up was added later.
    clean_up(subprocess.run, ['umount', folder], check=True)
    return folder, image
