#!/usr/bin/env python3
"""The services of SPEC.md against a PostgreSQL of their own: services.py check|measure NAME=COMMAND… [--rounds N] [--seconds S].

A command is split as by a shell, and the settings file is its last argument. `check` runs contract.py with each; `measure` prints a table
of processor time of the service, throughput and memory: each round asks every service for each cell in turn, in changing order.
The service has one processor, PostgreSQL and the client (wrk of Debian) the other one."""
import argparse
import contextlib
import glob
import os
import pwd
import random
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import contract

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = b'a secret of the services, of more than 32 bytes'
# Tests of contract.py that must fail: README.md says why.
LEFT_OUT = {'go': 'allow,problems_of_conditions', 'node': 'strong_etag'}
CONFIG = '''[server]
bind = "localhost:{port}"
drain_timeout_ms = 5_000
[dropbox]
data_dir = "data"
database = "postgresql://test@/{database}?host={folder}"
quota = 50_000_000
rate = {rate}
burst = {burst}
scan_url = "{scan}"
[bearer]
secret_file = "secret"
'''
# wrk's threads call this; the names of users are new in each sample.
POST = '''local n = 0
request = function()
  n = n + 1
  return wrk.format("POST", nil, nil, string.format('{"name":"%s-%d","email":"somebody@example.org","quota":1000000}', PREFIX, n))
end
'''
REPORT = '''done = function(summary, latency)
  local e = summary.errors
  print(string.format("RESULT %d %d %d", summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout))
end
'''


class Cluster:
    """PostgreSQL with a folder and a unix socket there. It refuses to run as root."""

    def __init__(self, folder, processor):
        self.folder, self.bin = folder, max(glob.glob('/usr/lib/postgresql/*/bin/'))
        self.user = {}
        if os.getuid() == 0:
            user = pwd.getpwnam('nobody')
            self.user = {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = os.path.join(folder, 'postgres')
        self.call('initdb', '-D', data, '-A', 'trust', '-U', 'test', '--no-sync', '--no-locale', '-E', 'UTF8')
        with open(os.path.join(folder, 'postgres.log'), 'w') as log:
            self.process = subprocess.Popen(
                [self.bin + 'postgres', '-D', data, '-k', folder, '-h', '', '-c', 'fsync=off', '-c', 'autovacuum=off'], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, cwd=folder, preexec_fn=lambda: os.sched_setaffinity(0, {processor}), **self.user)
        while not os.path.exists(os.path.join(folder, '.s.PGSQL.5432')):
            time.sleep(0.05)
            assert self.process.poll() is None, 'PostgreSQL does not start'

    def call(self, program, *words):
        subprocess.run([self.bin + program, *words], check=True, stdout=subprocess.DEVNULL, cwd=self.folder, timeout=60, **self.user)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


class Service:
    def __init__(self, cluster, name, command, processor=None, scan=9, rate=50, burst=100):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix=f'{name}-', dir=cluster.folder)
        cluster.call('createdb', '-h', cluster.folder, '-U', 'test', name)
        with socket.create_server(('localhost', 0)) as free:
            self.port = free.getsockname()[1]
        self.url, self.secret = f'http://127.0.0.1:{self.port}', os.path.join(self.folder, 'secret')
        with open(self.secret, 'wb') as file:
            file.write(SECRET)
        config = os.path.join(self.folder, 'dropbox.toml')
        with open(config, 'w') as file:
            file.write(CONFIG.format(port=self.port, database=name, folder=cluster.folder, rate=rate, burst=burst, scan=f'http://127.0.0.1:{scan}/'))
        with open(os.path.join(self.folder, 'log'), 'w') as log:
            self.process = subprocess.Popen([*shlex.split(command), config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, 'NODE_ENV': 'production'},
                                            preexec_fn=processor is not None and (lambda: os.sched_setaffinity(0, {processor})) or None)
        for _ in range(200):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f'{self.url}/healthz', timeout=5).close()
                return
            assert self.process.poll() is None, f'{name} ends: see {log.name}'
            time.sleep(0.05)
        raise AssertionError(f'{name} does not start')

    def processes(self):
        """It and its descendants."""
        found = [self.process.pid]
        for pid in found:
            for path in glob.glob(f'/proc/{pid}/task/*/children'):
                with contextlib.suppress(OSError), open(path) as file:
                    found += map(int, file.read().split())
        return found

    def seconds(self):
        """Processor time: threads that have ended, those of the kernel's for rings, and children that were waited for count too."""
        ticks = 0
        for pid in self.processes():
            with contextlib.suppress(OSError), open(f'/proc/{pid}/stat') as file:
                ticks += sum(map(int, file.read().rpartition(')')[2].split()[11:15]))
        return ticks / os.sysconf('SC_CLK_TCK')

    def memory(self):
        """The most that was resident, in MiB."""
        with open(f'/proc/{self.process.pid}/status') as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith('VmHWM'))

    def end(self):
        self.process.terminate()
        return self.process.wait(60)


def check(cluster, services, _):
    failed = 0
    for name, command in services.items():
        with socket.create_server(('127.0.0.1', 0)) as free:
            scan = free.getsockname()[1]
        service = Service(cluster, name, command, scan=scan)
        words = [sys.executable, os.path.join(HERE, 'contract.py'), service.url, service.secret, '--scan', str(scan), '--pid', str(service.process.pid)]
        print(f'{name}, without {LEFT_OUT.get(name) or "nothing"}', flush=True)
        # The contract waits for the end of the process, so somebody has to collect it.
        asking = subprocess.Popen([*words, '--left-out', LEFT_OUT.get(name, '')])
        status = service.process.wait()
        failed += bool(asking.wait() or status)
        print(f'{name} ended with status {status}', flush=True)
    return failed


def load(service, cell, seconds, connections=16):
    """One sample. Return: µs of processor time for each request, requests a second."""
    path = {'get': '/users/admin', 'post': '/users', 'file': '/files/1m'}[cell]
    script = os.path.join(service.folder, 'load.lua')
    with open(script, 'w') as file:
        file.write((f'PREFIX = "{random.getrandbits(64):x}"\n' + POST if cell == 'post' else '') + REPORT)
    words = ['wrk', '-t1', f'-c{connections}', f'-d{seconds}s', '-s', script, '-H', 'authorization: Bearer ' + contract.token('admin', role='admin'),
             '-H', 'content-type: application/json', service.url + path]
    before = service.seconds()
    done = subprocess.run(words, check=True, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {CLIENT}))
    used = service.seconds() - before
    requests, duration, errors = map(int, done.stdout.partition('RESULT ')[2].split())
    assert errors == 0, f'{service.name}, {cell}: {errors} errors in {done.stdout}'
    return used / requests * 1e6, requests / duration * 1e6


def measure(cluster, commands, options):
    contract.OPTIONS = argparse.Namespace(host='127.0.0.1', secret=SECRET)
    services = [Service(cluster, name, command, SERVER, rate=1_000_000, burst=1_000_000) for name, command in commands.items()]
    samples = {}
    for service in services:
        contract.OPTIONS.port = service.port
        assert contract.make_user('admin').status == 201
        assert contract.ask('PUT', '/files/1m', 'admin', os.urandom(1 << 20)).status == 201
        for cell in CELLS:
            load(service, cell, 1)   # warm
    for n in range(options.rounds):
        for cell in CELLS:
            for service in services[n % len(services):] + services[:n % len(services)]:
                samples.setdefault((cell, service.name), []).append(load(service, cell, options.seconds))
    print('| Cell | Service | µs of processor time a request | requests a second |\n|---|---|--:|--:|')
    for cell, title in CELLS.items():
        for service in services:
            cpu, rate = zip(*samples[cell, service.name])
            print(f'| {title} | {service.name} | {statistics.median(cpu):.0f} ({min(cpu):.0f} to {max(cpu):.0f}) | {statistics.median(rate):.0f} |')
    print()
    for service in services:
        print(f'{service.name}: at most {service.memory():.0f} MiB resident; ended with status {service.end()}')
    return 0


CELLS = {'get': 'GET of a user', 'post': 'POST of a user', 'file': 'GET of 1 MiB'}
SERVER, CLIENT = (sorted(os.sched_getaffinity(0)) * 2)[:2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('what', choices=['check', 'measure'])
    parser.add_argument('service', nargs='+', metavar='NAME=COMMAND')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--seconds', type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='services-', ignore_cleanup_errors=True) as folder:
        cluster = Cluster(folder, CLIENT)
        try:
            services = dict(service.split('=', 1) for service in options.service)
            sys.exit({'check': check, 'measure': measure}[options.what](cluster, services, options))
        finally:
            cluster.end()


if __name__ == '__main__':
    main()
