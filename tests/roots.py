"""Runs `./dev serve` and `./dev test` in fresh roots of Debian. Prints TAP; what the commands say goes to stderr as it comes.

    roots.py ROOT

For each release debootstrap makes a minimal system below ROOT/build/roots/, once; each run copies it, so that `./dev` has to install
whatever it needs. Inside is a clone of ROOT's last commit. A root that passed is removed, one that failed is kept.

ROOTS         what to run, separated by blanks: a release, or a release and what its /tmp is (disk, memory);
              default: bookworm:disk trixie:memory, as these releases have it
ROOTS_NAMES   names for `./dev test`; default: none, so everything

The mirror and the settings of its transport are those of this machine's apt. All runs in namespaces of its own: no mount and no
process is left behind, however it ends.
"""
# needs: debootstrap git
import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request

from tap import Tap

TMP = {'bookworm': 'disk', 'trixie': 'memory'}
ALONE = ('unshare', '--mount', '--pid', '--fork', '--kill-child', '--')
PR_SET_PDEATHSIG = 1
# $1: the root; $2: what /tmp is; $3: recorded vectors, or nothing; then a command. pivot_root(2), and not chroot(2), because tests
# call it again. The cache of packages is shared by the runs.
ENTER = r"""
set -e
root=$1 tmp=$2 vectors=$3
shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount --bind "$root.packages" "$root/var/cache/apt/archives"
[ "$tmp" != memory ] || mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
if [ -n "$vectors" ]; then
	mkdir -p "$root/srv/shared/vectors"
	mount --bind -o ro "$vectors" "$root/srv/shared/vectors"
fi
cd "$root"
pivot_root . mnt
umount -l /mnt
cd /srv/eddy
exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 ${CI:+CI="$CI"} \
	sh -c '"$@"; exit $?' sh "$@"
"""


def die_with_us():
    """Before a program runs: it ends when this process does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def children_of(pid):
    with contextlib.suppress(FileNotFoundError), open(f'/proc/{pid}/task/{pid}/children') as file:
        return [int(child) for child in file.read().split()]
    return []


def mirror():
    """Where apt finds this machine's own release."""
    found = re.search(r'^(\S+) main$', output('apt-get', 'indextargets', '--format', '$(REPO_URI) $(COMPONENT)', 'Created-By: Packages'), re.M)
    return found and found[1]


class Root:
    def __init__(self, top, tree, release, tmp):
        self.tree, self.release, self.tmp = tree, release, tmp
        self.name = f'{release}, /tmp {"in memory" if tmp == "memory" else "on disk"}'
        self.base = os.path.join(top, f'{release}.base')
        self.path = os.path.join(top, f'{release}-{tmp}')
        self.packages = self.path + '.packages'

    def say(self, text):
        print(f'roots: {self.name}: {text}', file=sys.stderr, flush=True)

    def run(self, *command):
        """Return: what went wrong, nothing if nothing did."""
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                              check=False, preexec_fn=die_with_us)
        return '' if done.returncode == 0 else f'{" ".join(command)}: exit status {done.returncode}\n' + done.stdout[-4000:]

    def make_base(self):
        if os.path.exists(self.base):
            return ''
        self.say('debootstrap …')
        half = self.base + '.half'
        shutil.rmtree(half, ignore_errors=True)
        wrong = self.run(*ALONE, 'debootstrap', '--variant=minbase', self.release, half, mirror())
        if wrong:
            return wrong + output('tail', '-n', '20', os.path.join(half, 'debootstrap', 'debootstrap.log'))
        os.rename(half, self.base)
        return ''

    def make(self):
        """A copy of the base with a clone, and with what this machine needs to reach its mirror."""
        wrong = self.make_base()
        if wrong:
            return wrong
        self.remove()
        os.makedirs(os.path.join(self.packages, 'partial'), exist_ok=True)
        wrong = self.run('cp', '-a', '--reflink=auto', self.base, self.path) or \
            self.run('git', 'clone', '-q', '--no-hardlinks', self.tree, self.at('srv/eddy'))
        with open(self.at('etc/apt/apt.conf.d/99machine'), 'w') as file:
            file.writelines(re.findall(r'^Acquire::(?:http|https|Check|Retries).*\n', output('apt-config', 'dump'), re.M))
        authorities = '/usr/local/share/ca-certificates'
        if os.path.isdir(authorities):
            shutil.copytree(authorities, self.at(authorities), dirs_exist_ok=True)
        return wrong

    def at(self, path):
        return os.path.join(self.path, path.lstrip('/'))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def start(self, *command):
        """./dev in the root; its stdout and stderr are one."""
        vectors = os.environ.get('EDDY_VECTORS', '')
        return subprocess.Popen([*ALONE, 'sh', '-c', ENTER, 'sh', self.path, self.tmp, vectors and os.path.abspath(vectors), './dev', *command],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                                preexec_fn=die_with_us)

    def lines(self, process):
        """What it says, which is shown as well, and kept beside the root."""
        with open(self.path + '.log', 'a') as log:
            for line in process.stdout:
                log.write(line)
                self.say(line.rstrip())
                yield line

    def serve(self):
        """Return: what is wrong with a server that gets a file, and gives it back."""
        process = self.start('serve', '/srv', '--bind', 'localhost:0')
        said, url = [], None
        for line in self.lines(process):
            said.append(line)
            found = re.search(r'Listening on \S*?:(\d+)', line)
            if found:
                url = f'http://localhost:{found[1]}/files/here'
                break
        if not url:
            return f'it does not listen, exit status {process.wait()}:\n' + ''.join(said[-40:])
        rest = threading.Thread(target=lambda: said.extend(self.lines(process)))
        rest.start()
        try:
            ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
            data = os.urandom(1 << 20)
            status = ask(urllib.request.Request(url, data, method='PUT'), timeout=20).status
            same = ask(url, timeout=20).read() == data
            wrong = '' if (status, same) == (201, True) else f'PUT {status}, GET gives {"the same" if same else "something else"}\n'
        except OSError as error:
            wrong = f'{url}: {error}\n'
        self.end(process)
        rest.join()
        if process.returncode:
            wrong += f'exit status {process.returncode}\n'
        return wrong and wrong + ''.join(said[-40:])

    def end(self, process):
        """Send SIGTERM to the server, the innermost of the processes; all pass its exit status on."""
        pid = process.pid
        while children := children_of(pid):
            pid = children[0]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def test(self):
        """Return: the sums, and the failures."""
        process = self.start('test', *os.environ.get('ROOTS_NAMES', '').split())
        said = list(self.lines(process))
        sums = said[-1].strip() if said else ''
        if process.wait() == 0:
            return sums, ''
        failures = [line for line in said if line.startswith(('FAILED:', '    '))]
        return sums, ''.join(failures or said[-40:]) or f'exit status {process.returncode}'


def run(tap, root):
    began = time.monotonic()
    wrong = root.make()
    tap.check(f'{root.name}: a fresh root', wrong)
    if wrong:
        return
    before = tap.failed
    tap.check(f'{root.name}: ./dev serve', root.serve())
    sums, wrong = root.test()
    tap.check(f'{root.name}: ./dev test: {sums}', wrong)
    root.say(f'{(time.monotonic() - began) / 60:.0f} minutes')
    if tap.failed == before:
        root.remove()
    else:
        tap.say(f'the root is kept in {root.path}, what was said in {root.path}.log')


def main(tree):
    tap = Tap()
    if os.geteuid() != 0:
        tap.skip('roots', 'needs root')
    elif not mirror():
        tap.skip('roots', 'needs apt, and a mirror that it knows')
    else:
        top = os.path.join(tree, 'build', 'roots')
        os.makedirs(top, exist_ok=True)
        for wanted in os.environ.get('ROOTS', '').split() or TMP:
            release, _, tmp = wanted.partition(':')
            run(tap, Root(top, tree, release, tmp or TMP.get(release, 'disk')))
    return tap.end()


if __name__ == '__main__':
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(os.path.abspath(sys.argv[1])))
    sys.exit(130)
