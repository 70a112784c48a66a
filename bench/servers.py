"""The servers that are held against each other, all on loopback, each a process of its own."""
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time

from certificates import Certificate


def which(name):
    return shutil.which(name, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')


def free_port():
    """One that no connection takes as its own meanwhile."""
    with open('/proc/sys/net/ipv4/ip_local_port_range', encoding='ascii') as file:
        first = int(file.read().split()[0])
    for _ in range(1000):
        port = random.randrange(1024, first) if first > 2048 else 0
        with socket.socket() as probe:
            try:
                probe.bind(('127.0.0.1', port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise RuntimeError('no port is free')


class Server:
    """A running server. `pid` is the process that does the work."""

    def __init__(self, name, command, port, path, log, cpu=None, has_workers=False, env=None, certificate=None, http2=False):
        self.name = name
        self.certificate = certificate  # of https://
        self.http2 = http2  # whether it is asked by HTTP/2
        self.port = port
        self.path = path
        self.log = log
        self.version = None
        self.uploads = None  # the folder that it fills
        pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
        with open(log, 'w') as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=pin,
                                            env=dict(os.environ, **(env or {})))
        try:
            self._await_port()
        except Exception:
            self.stop()
            raise
        self.pid = self._child() if has_workers else self.process.pid

    def _await_port(self):
        for _ in range(500):
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(('127.0.0.1', self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f'{self.name} does not start:\n{open(self.log).read()}')

    def _child(self):
        for _ in range(100):
            pid = self.process.pid
            children = open(f'/proc/{pid}/task/{pid}/children').read().split()
            if children:
                return int(children[0])
            time.sleep(0.02)
        raise RuntimeError(f'{self.name} has no worker')

    def url(self, name):
        return f'http{"s" if self.certificate else ""}://127.0.0.1:{self.port}{self.path}{name}'

    def cpu_seconds(self):
        """Of all its threads, the kernel's workers for it included."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def resident_bytes(self):
        for line in open(f'/proc/{self.pid}/smaps_rollup'):
            if line.startswith('Rss:'):
                return int(line.split()[1]) * 1024
        raise RuntimeError(f'{self.name} has no Rss')

    def threads(self):
        return len(os.listdir(f'/proc/{self.pid}/task'))

    def stop(self):
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Bench:
    """Where everything is: programs, folders, processors."""

    def __init__(self, build, before, folder, memory):
        self.builds = {'eddy': build}
        if before:
            self.builds['before'] = before
        self.versions = {name: commit(folder) for name, folder in self.builds.items()}
        self.folder = folder  # on a disk; its files are in the page cache
        self.memory = memory
        self.files = os.path.join(folder, 'files')
        self.server_cpu, self.client_cpu = processors()
        self.count = 0
        os.makedirs(self.files, exist_ok=True)

    def program(self, name, build='eddy'):
        return os.path.join(self.builds[build], 'bench', name)

    def uploads(self, name):
        """A folder in memory for what a server receives."""
        folder = os.path.join(self.memory, name)
        os.makedirs(os.path.join(folder, '.temp'), exist_ok=True)
        return folder

    def certificate(self, kind):
        """For https://, with a key of this kind; None for none."""
        return Certificate(self.folder, kind) if kind else None

    def source(self, name):
        """A file in memory that is sent to servers."""
        return os.path.join(self.memory, 'source', name)

    def start(self, name, command, port, path='/', **options):
        self.count += 1
        log = os.path.join(self.folder, f'{self.count}.log')
        return Server(name, command, port, path, log, options.pop('cpu', self.server_cpu), **options)

    def pin_client(self):
        return (lambda: os.sched_setaffinity(0, {self.client_cpu})) if self.client_cpu is not None else None


def commit(folder):
    """What the tree around a build folder is at; None where it is none of git's."""
    with contextlib.suppress(OSError):
        done = subprocess.run(['git', '-C', folder, 'describe', '--always', '--dirty'], capture_output=True, text=True, check=False)
        return done.stdout.strip() or None
    return None


def processors():
    """One for the server and one for the client, on different cores; None, None where there is only one."""
    mine = sorted(os.sched_getaffinity(0))
    try:
        text = open(f'/sys/devices/system/cpu/cpu{mine[0]}/topology/thread_siblings_list').read()
        siblings = {int(n) for part in text.split(',') for n in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)}
    except OSError:
        siblings = {mine[0]}
    others = [cpu for cpu in mine if cpu not in siblings] or mine[1:]
    return (mine[0], others[0]) if others else (None, None)
