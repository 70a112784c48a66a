"""systemd as the first process of a system of its own: the tree of this machine, of which nothing is changed, in
namespaces, with a network of its own. It takes root and the package systemd, and a fraction of a second.

    system = System({'/usr/local/bin/web': PROGRAM, '/etc/systemd/system/web.service': b'…'})
    system.start('web.service')
    with system.network():                        what this thread opens meanwhile belongs to the system's loopback
        …
    system.close()
"""
# needs: systemd
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
import unittest

import network

SYSTEMD = '/lib/systemd/systemd'
# Becomes the first process. $1: a folder with `up`, which covers the tree. Each pair of further arguments is a folder here and its
# path there. What systemd wants to know of its machine it is told as in containers: by $container, and file systems that are mounted
# already.
ENTER = r"""
set -e
top=$1 root=$1/root
shift
mount --make-rprivate /
mount -t tmpfs tmpfs "$top/layer"
mkdir -p "$root" "$top/layer/up" "$top/layer/work"
cp -a "$top/up/." "$top/layer/up/"
mount -t overlay -o "lowerdir=/,upperdir=$top/layer/up,workdir=$top/layer/work" overlay "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for place in dev run tmp; do mount -t tmpfs -o mode=755 tmpfs "$root/$place"; done
chmod 1777 "$root/tmp"
for name in null zero full random urandom tty; do
	touch "$root/dev/$name"
	mount --bind "/dev/$name" "$root/dev/$name"
done
touch "$root/dev/console"
mount --bind "$top/console" "$root/dev/console"
ln -s /proc/self/fd "$root/dev/fd"
ln -s pts/ptmx "$root/dev/ptmx"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ip link set lo up
while [ $# -gt 0 ]; do
	mkdir -p -m 700 "$(dirname "$root$2")" "$root$2"
	mount --bind "$1" "$root$2"
	shift 2
done
cd "$root"
pivot_root . mnt
umount -l /mnt
exec env -i container=eddy PATH="$PATH" /lib/systemd/systemd --system --unit=booted.target \
	--log-target=journal-or-kmsg --log-level=info --show-status=no </dev/null
"""
TARGET = b"""[Unit]
DefaultDependencies=no
Wants=systemd-journald.service
After=systemd-journald.service
"""


def cgroups():
    """Where the folders of the second version are; None where there are none."""
    with open('/proc/self/mounts') as file:
        return next((fields[1] for fields in map(str.split, file) if fields[2] == 'cgroup2'), None)


def lacking():
    """Why no system can be booted here; None if it can."""
    if os.geteuid() != 0:
        return 'needs root'
    if not os.path.exists(SYSTEMD):
        return f'needs {SYSTEMD}'
    folder = cgroups()
    if not folder or not os.access(folder, os.W_OK):
        return 'needs /sys/fs/cgroup of version 2 that may be written to'
    if subprocess.run(['unshare', '--pid', '--mount', '--net', '--uts', '--ipc', '--cgroup', '--fork', 'true'],
                      capture_output=True, check=False).returncode:
        return 'needs leave to make namespaces'
    return None


class System:
    def __init__(self, files, folders=None):
        """`files`: bytes, or the path of a file here, by where they stand there; `folders`: paths of folders here, likewise."""
        if why := lacking():
            raise unittest.SkipTest(why)
        self.temporary = tempfile.TemporaryDirectory(prefix='eddy-booted-')
        self.folder = self.temporary.name
        self.console = os.path.join(self.folder, 'console')
        self.cgroup = os.path.join(cgroups(), os.path.basename(self.folder))
        for name in ('up', 'layer'):
            os.mkdir(os.path.join(self.folder, name))
        os.chmod(self.folder, 0o755)
        open(self.console, 'w').close()
        for path, content in {'/etc/systemd/system/booted.target': TARGET, **files}.items():
            self._put(path, content)
        self._boot(folders or {})

    def _put(self, path, content):
        place = os.path.join(self.folder, 'up', path.lstrip('/'))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if isinstance(content, bytes):
            with open(place, 'wb') as file:
                file.write(content)
        else:
            shutil.copy(content, place)

    def _boot(self, folders):
        os.mkdir(self.cgroup)
        enter = ['unshare', '--pid', '--mount', '--net', '--uts', '--ipc', '--cgroup', '--fork', '--kill-child', '--',
                 'sh', '-c', ENTER, 'sh', self.folder, *(path for there, here in folders.items() for path in (here, there))]
        # It belongs to its group before it makes a namespace of that.
        self.process = subprocess.Popen(['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', self.cgroup, *enter],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        end = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < end:
            if self._find_first() and self.run('systemctl', 'is-active', 'booted.target').returncode == 0:
                return
            time.sleep(0.02)
        said = self.said()
        self.close()
        raise AssertionError(f'systemd does not come up:\n{said}')

    def _find_first(self):
        with contextlib.suppress(FileNotFoundError, IndexError), \
                open(f'/proc/{self.process.pid}/task/{self.process.pid}/children') as file:
            self.first = int(file.read().split()[0])
            return os.readlink(f'/proc/{self.first}/exe').endswith('/systemd')
        return False

    def said(self):
        with open(self.console, errors='replace') as file:
            return file.read()

    def run(self, *command, **options):
        return subprocess.run(['nsenter', '-t', str(self.first), '--all', '--', *command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, **options)

    def check(self, *command):
        """What a command prints that has to succeed."""
        done = self.run(*command)
        if done.returncode:
            raise AssertionError(f'{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}\n{self.said()}')
        return done.stdout

    def start(self, unit):
        done = self.run('systemctl', 'start', unit)
        if done.returncode:
            raise AssertionError(f'{unit} does not start: {done.stderr}\n{self.journal(unit)}\n{self.said()}')

    def show(self, unit, name):
        return self.check('systemctl', 'show', '--value', '-p', name, unit).strip()

    def journal(self, unit, since=0):
        return self.run('journalctl', '--no-pager', '-o', 'short-precise', f'--since=@{since:.6f}', '-u', unit).stdout

    @contextlib.contextmanager
    def network(self):
        """The network of the system, for this thread."""
        with open(f'/proc/{self.first}/ns/net') as theirs, network.of(theirs):
            yield

    def close(self):
        # The end of the first process is that of all.
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        for folder, _, _ in os.walk(self.cgroup, topdown=False):
            for _ in range(200):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
                    break
                time.sleep(0.02)
        self.temporary.cleanup()
