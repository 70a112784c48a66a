"""Fresh roots of Debian, to build and to test in: debootstrap makes a minimal system, once for each release of Debian, and each root is a
copy of it. The mirror and the settings of its transport are those of this machine's apt. All runs in namespaces of its own: no mount and no
process is left behind, however it ends.
"""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys

ALONE = ('unshare', '--mount', '--pid', '--fork', '--kill-child', '--')
PR_SET_PDEATHSIG = 1
# $1: the root; $2: what /tmp is; $3: where to run; pairs of a folder and where the root has it, to be read; --; a command.
# pivot_root(2), and not chroot(2), because tests call it again. The cache of packages is shared by the runs.
ENTER = r"""
set -e
root=$1 tmp=$2 folder=$3
shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount --bind "$root.packages" "$root/var/cache/apt/archives"
[ "$tmp" != memory ] || mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
while [ "$1" != -- ]; do
	mkdir -p "$root$2"
	mount --bind -o ro "$1" "$root$2"
	shift 2
done
shift
cd "$root"
pivot_root . mnt
umount -l /mnt
cd "$folder"
exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
	${CI:+CI="$CI"} sh -c '"$@"; exit $?' sh "$@"
"""


def die_with_us():
    """Before a program runs: it ends when this process does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def run(*command):
    """Return: what went wrong, nothing if nothing did."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          check=False, preexec_fn=die_with_us)
    return '' if done.returncode == 0 else f'{" ".join(command)}: exit status {done.returncode}\n' + done.stdout[-4000:]


def mirror():
    """Where apt finds this machine's own release."""
    found = re.search(r'^(\S+) main$', output('apt-get', 'indextargets', '--format', '$(REPO_URI) $(COMPONENT)', 'Created-By: Packages'), re.M)
    return found and found[1]


def sources(release):
    """The lines of sources.list for a release: the lists that this machine's apt reads, with updates and fixes of vulnerabilities."""
    lists = re.findall(r'^(\S+) (\S+) main$', output('apt-get', 'indextargets', '--format', '$(REPO_URI) $(RELEASE) $(COMPONENT)', 'Created-By: Packages'), re.M)
    return ''.join(f'deb {uri} {release}{(re.search("-.*", name) or [""])[0]} main\n' for uri, name in sorted(set(lists)))


def takes_old_lists():
    """Whether this machine's apt, and so each root, takes lists of packages that are out of date: fixes may be missing."""
    return 'Acquire::Check-Valid-Until "false"' in output('apt-config', 'dump')


def lacks():
    """What keeps this machine from making roots, nothing if nothing does."""
    if os.geteuid() != 0:
        return 'needs root'
    return '' if mirror() else 'needs apt, and a mirror that it knows'


class Root:
    """Below `top`; `tmp` is what its /tmp is: disk or memory."""

    def __init__(self, top, release, name, tmp='disk'):
        self.release, self.tmp = release, tmp
        self.base = os.path.join(top, f'{release}.base')
        self.path = os.path.join(top, f'{release}-{name}')
        self.packages = self.path + '.packages'
        self.shown = f'{release} {name}'

    def say(self, text):
        print(f'roots: {self.shown}: {text}', file=sys.stderr, flush=True)

    def make_base(self):
        if os.path.exists(self.base):
            return ''
        self.say('debootstrap …')
        half = self.base + '.half'
        shutil.rmtree(half, ignore_errors=True)
        wrong = run(*ALONE, 'debootstrap', '--variant=minbase', self.release, half, mirror())
        if wrong:
            return wrong + output('tail', '-n', '20', os.path.join(half, 'debootstrap', 'debootstrap.log'))
        os.rename(half, self.base)
        return ''

    def make(self):
        """A copy of the base, with what this machine needs to reach its mirror. Return: what went wrong, nothing if nothing did."""
        os.makedirs(os.path.dirname(self.base), exist_ok=True)
        # The user of a root who builds there has the number of somebody outside.
        os.chmod(os.path.dirname(self.base), 0o700)
        wrong = self.make_base()
        if wrong:
            return wrong
        self.remove()
        os.makedirs(os.path.join(self.packages, 'partial'), exist_ok=True)
        wrong = run('cp', '-a', '--reflink=auto', self.base, self.path)
        if wrong:
            return wrong
        with open(self.at('etc/apt/sources.list'), 'w') as file:
            file.write(sources(self.release))
        with open(self.at('etc/apt/apt.conf.d/99machine'), 'w') as file:
            file.writelines(re.findall(r'^Acquire::(?:http|https|Check|Retries).*\n', output('apt-config', 'dump'), re.M))
        authorities = '/usr/local/share/ca-certificates'
        if os.path.isdir(authorities):
            shutil.copytree(authorities, self.at(authorities), dirs_exist_ok=True)
        return ''

    def at(self, path):
        return os.path.join(self.path, path.lstrip('/'))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def start(self, *command, folder='/', reads=()):
        """Runs a command in a folder of the root; its stdout and stderr are one. reads: pairs of a folder and where the root has it."""
        return subprocess.Popen([*ALONE, 'sh', '-c', ENTER, 'sh', self.path, self.tmp, folder, *(path for pair in reads for path in pair), '--', *command],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                                preexec_fn=die_with_us)
