"""What a file larger than the memory does to the others in the page cache: ./dev bench uncached.

A server of `files` in a control group of 256 MiB has 32 MiB of small files that are requested again and again, and one of 512 MiB that a
client downloads meanwhile. Printed: how long small requests take, how many of the small files stay in the page cache, and how fast the
large one goes, for the technique of `files` and for splice alone. Needs root, a file system that knows RWF_DONTCACHE (ext4, xfs, btrfs
from Linux 6.14 on), and control groups of memory.
"""
import argparse
import contextlib
import os
import socket
import statistics
import threading
import time

import client
import files
import machine
import peers
import turns

LIMIT = 256 << 20
LARGE = 512 << 20
HOT, HOT_SIZE = 8192, 4096
CONNECTIONS = (1, 16)
CUT = 64    # what a smoke test divides all of it by
GROUP = 'eddy-bench'


@contextlib.contextmanager
def group(limit):
    """A control group of so many bytes: the file that takes process ids. Raises OSError."""
    version2 = os.path.exists('/sys/fs/cgroup/cgroup.controllers')
    folder = os.path.join('/sys/fs/cgroup' if version2 else '/sys/fs/cgroup/memory', GROUP)
    os.makedirs(folder, exist_ok=True)
    try:
        with open(os.path.join(folder, 'memory.max' if version2 else 'memory.limit_in_bytes'), 'w', encoding='ascii') as file:
            file.write(str(limit))
        yield os.path.join(folder, 'cgroup.procs')
    finally:
        os.rmdir(folder)


def within(procs, command):
    return ['sh', '-c', 'echo $$ >"$0" && exec "$@"', procs, *command]


class Place:
    """The files, and a group for servers."""

    def __init__(self, bench, procs, cut):
        self.bench, self.procs, self.large, self.hot = bench, procs, LARGE // cut, HOT // cut
        block = os.urandom(1 << 20)
        for name, size in [('large', self.large), *((f'hot-{i}', HOT_SIZE) for i in range(self.hot))]:
            with open(self.path(name), 'wb') as file:
                for at in range(0, size, len(block)):
                    file.write(block[:size - at])
        os.sync()

    def path(self, name):
        return os.path.join(self.bench.files, name)

    def prepare(self):
        """The large file out of the page cache, the others into it, charged to the group, and used more than once."""
        for name in ['large', *(f'hot-{i}' for i in range(self.hot))]:
            with open(self.path(name), 'rb') as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for _ in range(2):
            command = within(self.procs, ['sh', '-c', f'cat {self.path("hot-")}* >/dev/null'])
            if os.spawnvp(os.P_WAIT, command[0], command):
                raise RuntimeError('the small files can\'t be read in the control group')

    def cached(self):
        """The part of the small files that is in the page cache."""
        count = 0
        for i in range(self.hot):
            with open(self.path(f'hot-{i}'), 'rb') as file:
                count += files.cached_pages(file.fileno(), HOT_SIZE)
        return count / self.hot

    @contextlib.contextmanager
    def serve(self, technique):
        server = peers.eddy_files(self.bench, self.bench.files, words=('--technique', technique), wrap=lambda command: within(self.procs, command))
        try:
            yield server
        finally:
            server.stop()


class Stream:
    """Downloads of the large file, one after the other: at least one, and until it is ended."""

    def __init__(self, place, server):
        self.place, self.server, self.rates = place, server, []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        if self.place.bench.client_cpu is not None:
            os.sched_setaffinity(0, {self.place.bench.client_cpu})
        buffer = bytearray(1 << 20)
        while not self.rates or not self.ended.is_set():
            began = time.monotonic()
            with socket.create_connection(('127.0.0.1', self.server.port)) as conn:
                conn.sendall(f'GET {self.server.path}large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'.encode())
                got = 0
                while more := conn.recv_into(buffer):
                    got += more
            if got < self.place.large:
                raise RuntimeError('the large file broke off')
            self.rates.append(self.place.large / (1 << 20) / (time.monotonic() - began))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def sample(place, technique, connections, seconds):
    """Without a technique the small requests are alone, without connections the large file."""
    place.prepare()
    with place.serve(technique or 'auto') as server, contextlib.ExitStack() as stack:
        settings = argparse.Namespace(rounds=1, seconds=seconds, warmup=0.1)
        took, taken, stream = server.cpu_seconds(), {}, None
        if technique:
            stream = stack.enter_context(Stream(place, server))
        if connections:
            result = client.measure(place.bench, 'get', [server], 'hot-{i}', settings, connections, words=['--cycle', place.hot, '--no-system-calls'])
            taken = result['cells'][0]['targets'][0]['samples'][0]
        stack.close()
        return {
            'rate': taken['requests'] / taken['seconds'] if connections else None,
            'p99': taken['total_us']['p99'] / 1000 if connections else None,
            'hot': place.cached(),
            'stream': statistics.mean(stream.rates) if technique else None,
            'cpu': None if connections else (server.cpu_seconds() - took) / len(stream.rates) / place.large * (1 << 30),
        }


def lines(place, args):
    ways = [(technique, count) for count in (0, *CONNECTIONS) for technique in (None, 'splice', 'auto') if technique or count]
    samples = [[] for _ in ways]
    for number in range(args.rounds):
        for (technique, count), taken in zip(ways, samples):
            turns.say(f'round {number + 1}: {count} connections, {technique or "alone"}')
            taken.append(sample(place, technique, count, args.seconds))
    yield '| connections | the large file by | requests/s | p99, ms | beside alone | small files that stay | large file, MiB/s | beside splice | s of processor time a GiB |'
    yield '|--:|---|--:|--:|--:|--:|--:|--:|--:|'
    by_way = dict(zip(ways, samples))
    for (technique, count), taken in by_way.items():
        def median(name, form):
            return format(statistics.median(each[name] for each in taken), form) if taken[0][name] is not None else '–'

        def beside(name, other):
            known = by_way.get((other, count)) if taken[0][name] is not None else None
            return turns.median_and_spread([a[name] / b[name] for a, b in zip(taken, known)]) if known and other != technique else '–'
        yield (f'| {count or "–"} | {technique or "–"} | {median("rate", ",.0f")} | {median("p99", ".2f")} | {beside("p99", None)} | {median("hot", ".0%")} | '
               f'{median("stream", ",.0f")} | {beside("stream", "splice") if technique else "–"} | {median("cpu", ".3f")} |')


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench, contextlib.ExitStack() as stack:
        try:
            procs = stack.enter_context(group(LIMIT))
        except OSError:
            procs = '/dev/null'
        text = list(lines(Place(bench, procs, CUT), argparse.Namespace(rounds=1, seconds=0.05)))
        yield 'uncached', '' if len(text) == 10 else '\n'.join(text)


def main(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench uncached', description='what a file larger than the memory does to the others in the page cache')
    parser.add_argument('--rounds', type=int, default=5, help='samples of each way, which take turns (5)')
    parser.add_argument('--seconds', type=float, default=1, help='length of a sample (1)')
    parser.add_argument('--build', required=True, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    with turns.workplace(os.path.abspath(args.build)) as bench, group(LIMIT) as procs:
        print(f'Printed by `./dev bench uncached` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds of {args.seconds:g} s; Linux '
              f'{os.uname().release}, {files.file_system(bench.files)}; the machine\'s load was {machine.facts()["load_before"]} before.\n')
        for line in lines(Place(bench, procs, 1), args):
            print(line, flush=True)
    return 0
