"""Runs `./dev serve`, the commands of examples/service/README.md and `./dev test` in fresh roots of Debian, and builds its image over one. Prints TAP; what the commands say goes to stderr as it comes.

    roots.py ROOT

Each is a copy of a minimal system (release/root.py) below ROOT/build/roots/, so that `./dev` has to install whatever it needs. Inside is a
clone of ROOT's last commit. A root that passed is removed, one that failed is kept.

ROOTS         what to run, separated by blanks: a release, or a release and what its /tmp is (disk, memory);
              default: bookworm:disk trixie:memory, as these releases have it
ROOTS_NAMES   names for `./dev test`; default: none, so everything
"""
# needs: debootstrap git golang-github-containers-common podman postgresql runc
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TREE, 'release'), os.path.join(TREE, 'examples', 'service', 'tests')]

import root as roots
from local import Database, token
from tap import Tap

TMP = {'bookworm': 'disk', 'trixie': 'memory'}
SECRET = 'a secret of the image, of more than 32 bytes'
# In the image, for bash, the one client that it has.
USE = r'''
ask() {
	exec 3<>/dev/tcp/127.0.0.1/7979
	printf '%s %s HTTP/1.0\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s' \
		"$1" "$2" "$TOKEN" "${#3}" "$3" >&3
	cat <&3
}
[[ $(ask POST /users '{"name":"ada","email":"ada@example.org"}') = *" 201 "* ]]
[[ $(ask PUT /files/x hello) = *" 201 "* ]]
[[ $(ask GET /files/x) = *hello ]]
'''


def children_of(pid):
    with contextlib.suppress(FileNotFoundError), open(f'/proc/{pid}/task/{pid}/children') as file:
        return [int(child) for child in file.read().split()]
    return []


def name_of(pid):
    with contextlib.suppress(FileNotFoundError), open(f'/proc/{pid}/comm') as file:
        return file.read().strip()
    return None


class Root(roots.Root):
    def __init__(self, top, tree, release, tmp):
        super().__init__(top, release, tmp, tmp)
        self.tree = tree
        self.shown = f'{release}, /tmp {"in memory" if tmp == "memory" else "on disk"}'

    def make(self):
        return super().make() or roots.run('git', 'clone', '-q', '--no-hardlinks', self.tree, self.at('srv/eddy'))

    def start_dev(self, *command):
        vectors = os.environ.get('EDDY_VECTORS', '')
        reads = [(os.path.abspath(vectors), '/srv/shared/vectors')] if vectors else []
        return self.start('./dev', *command, folder='/srv/eddy', reads=reads)

    def lines(self, process):
        """What it says, which is shown as well, and kept beside the root."""
        with open(self.path + '.log', 'a') as log:
            for line in process.stdout:
                log.write(line)
                self.say(line.rstrip())
                yield line

    def serve(self):
        """Return: what is wrong with a server that gets a file, and gives it back."""
        process = self.start_dev('serve', '/srv', '--bind', 'localhost:0')
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

    def end(self, process, name=None):
        """Send SIGTERM to the server, the innermost of the processes, or that of a name; all pass its exit status on."""
        pids = [process.pid]
        for pid in pids:
            pids += children_of(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(next((pid for pid in pids if name and name_of(pid) == name), pids[-1]), signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def copy_service(self):
        """Copy the service out of the tree, build, run and test it by the commands of its page. Return: what is wrong."""
        with open(self.at('srv/eddy/examples/service/README.md')) as file:
            install, use = re.findall(r'^```console\n(.*?)^```', file.read(), re.M | re.S)[:2]
        if self.release == 'bookworm':
            install = install.replace('libllhttp-dev', 'node-llhttp')
        begin, run, test = 'apt-get update\n' + install.replace('sudo apt-get', 'apt-get -y'), *use.splitlines()
        said = []
        process = self.start('sh', '-ec', re.sub(r'^\$ ', '', f'{begin}{run}', flags=re.M), folder='/srv')
        for line in self.lines(process):
            said.append(line)
            if 'Listening on' in line:
                self.end(process, 'dropbox')
        if process.wait() or 'Listening on' not in ''.join(said):
            return f'{run}: exit status {process.returncode}\n' + ''.join(said[-40:])
        return self.run_in_service(test.removeprefix('$ '))

    def run_in_service(self, command):
        process = self.start('sh', '-ec', command, folder='/srv/mine')
        said = list(self.lines(process))
        return f'{command}: exit status {process.returncode}\n' + ''.join(said[-40:]) if process.wait() else ''

    def build_image(self):
        """Build the service's image over this root, and run it with a database outside. Return: what is wrong."""
        with tempfile.TemporaryDirectory(dir=os.path.dirname(self.path)) as top, contextlib.closing(Database()) as database:
            podman = ['podman', '--storage-driver', 'vfs', '--root', f'{top}/store', '--runroot', f'{top}/run', '--runtime', 'runc',
                      '--cgroup-manager', 'cgroupfs', '--tmpdir', f'{top}/tmp']
            secret = os.path.join(top, 'secret')
            with open(secret, 'w') as file:
                file.write(SECRET)
            for path in (top, database.folder):
                os.chmod(path, 0o755)
            service, ask = f'{self.tree}/examples/service', 'exec 3<>/dev/tcp/127.0.0.1/7979; printf "GET /healthz HTTP/1.0\\r\\n\\r\\n" >&3; grep -q "200 OK" <&3'
            layers = ' '.join(f'{self.tree}/{name}' for name in ('runtime', 'http', 'compress', 'trace', 'auth', 'examples/pg'))
            env = [word for name, value in {**database.env, 'PGHOST': '/db'}.items() for word in ('-e', f'{name}={value}')]
            return (roots.run('sh', '-ec', f'cp -r {service} {top}/mine && mkdir {top}/mine/subprojects && cp -r {layers} {top}/mine/subprojects/')
                    or roots.run('sh', '-ec', 'tar -C "$1" -c . | { shift; "$@" import - localhost/debian; }', 'sh', self.path, *podman)
                    or roots.run(*podman, 'build', '--network', 'host', '--build-arg', 'BASE=localhost/debian', '-t', 'dropbox', f'{top}/mine')
                    or roots.run(*podman, 'run', '-d', '--name', 'dropbox', '--network', 'none', '--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024',
                                 '-v', f'{database.folder}:/db', '-v', f'{secret}:/etc/dropbox/secret:ro', *env, 'dropbox')
                    or roots.run('timeout', '60', 'sh', '-c', 'until "$@"; do sleep 0.2; done', 'sh', *podman, 'exec', 'dropbox', 'bash', '-c', ask)
                    or roots.run(*podman, 'exec', '-e', f'TOKEN={token(SECRET.encode(), "ada", role="admin")}', 'dropbox', 'bash', '-exc', USE)
                    or roots.run(*podman, 'stop', '--time', '40', 'dropbox')
                    or roots.run('sh', '-ec', '[ "$("$@")" = 0 ]', 'sh', *podman, 'inspect', '--format', '{{.State.ExitCode}}', 'dropbox')
                    or roots.run(*podman, 'rm', 'dropbox'))

    def test(self):
        """Return: the sums, and the failures."""
        process = self.start_dev('test', *os.environ.get('ROOTS_NAMES', '').split())
        said = list(self.lines(process))
        sums = said[-1].strip() if said else ''
        if process.wait() == 0:
            return sums, ''
        failures = [line for line in said if line.startswith(('FAILED:', '    '))]
        return sums, ''.join(failures or said[-40:]) or f'exit status {process.returncode}'


def run(tap, root):
    began = time.monotonic()
    wrong = root.make()
    tap.check(f'{root.shown}: a fresh root', wrong)
    if wrong:
        return
    before = tap.failed
    if root.release == 'bookworm':
        tap.check(f'{root.shown}: the image of examples/service', root.build_image())
    tap.check(f'{root.shown}: ./dev serve', root.serve())
    tap.check(f'{root.shown}: examples/service', root.copy_service())
    tap.check(f'{root.shown}: ci.sh of examples/service', root.run_in_service('sh ci.sh'))
    sums, wrong = root.test()
    tap.check(f'{root.shown}: ./dev test: {sums}', wrong)
    root.say(f'{(time.monotonic() - began) / 60:.0f} minutes')
    if tap.failed == before:
        root.remove()
    else:
        tap.say(f'the root is kept in {root.path}, what was said in {root.path}.log')


def main(tree):
    tap = Tap()
    if lacking := roots.lacks():
        tap.skip('roots', lacking)
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
