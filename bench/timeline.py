"""What the timeline costs a server of small requests: ./dev bench timeline.

Servers of one program, which take turns round by round: without a timeline, with one slice of 10 ms in a hundred recorded,
with one in ten, and with everything. Loop and writing thread share one processor, which is the worst that can happen
to them. --before adds the same program of another build, without a timeline: what the hooks cost.
"""
import argparse
import contextlib
import json
import os
import re
import statistics
import sys
import tempfile
import time

import cells
import report
from servers import Bench, Server, free_port

HERE = os.path.dirname(os.path.abspath(__file__))
FILE_MAX = 8 << 30
MODES = {'off': None, '1 slice in 100': 100, '1 slice in 10': 10, 'all': 1}


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


def trace_of(bench, name):
    return os.path.join(bench.uploads, re.sub(r'\W', '-', name) + '.json')


def start(bench, name, build, sample):
    port = free_port()
    env = {}
    if sample:
        env = {'EDDY_TRACE': trace_of(bench, name), 'EDDY_TRACE_SAMPLE': str(sample), 'EDDY_TRACE_MAX': str(FILE_MAX)}
    return Server(name, [os.path.join(build, 'bench', 'hello'), f'127.0.0.1:{port}'], port, '/',
                  os.path.join(bench.folder, f'{port}.log'), bench.server_cpu, env=env)


def counts(path):
    """What stands at the end of a timeline: records written and dropped."""
    with open(path, 'rb') as file:
        file.seek(-256, os.SEEK_END)
        return json.loads('{' + file.read().decode().partition('],')[2])['otherData']


def median_and_spread(values):
    values = sorted(values)
    text = f'**{statistics.median(values):.3f}**'
    if len(values) >= 4:
        low, _, high = statistics.quantiles(values, n=4)
        text += f' ({low:.3f}–{high:.3f})'
    return text


def measure(bench, cell, args):
    """Samples of each server, in the order of the rounds."""
    samples = {}
    with contextlib.ExitStack() as stack:
        servers = [start(bench, name, bench.builds['eddy'], sample) for name, sample in MODES.items()]
        if 'before' in bench.builds:
            servers.append(start(bench, 'before', bench.builds['before'], None))
        for server in servers:
            stack.callback(server.stop)
        for number in range(args.rounds):
            say(f'{cell.name}: round {number + 1} of {args.rounds}')
            at = number % len(servers)
            for server in servers[at:] + servers[:at]:
                samples.setdefault(server.name, []).append(cells.sample(bench, cell, server, args.seconds))
    return samples


def table(bench, samples):
    yield '| | requests/s | beside off | processor time a request | beside off | records | dropped | file |'
    yield '|---|--:|--:|--:|--:|--:|--:|--:|'
    rate = lambda sample: sample['requests'] / sample['seconds']
    cost = lambda sample: sample['cpu'] / sample['requests'] * 1e6
    for name in [*MODES, *(name for name in samples if name not in MODES)]:
        taken, off = samples[name], samples['off']
        beside = [median_and_spread([figure(a) / figure(b) for a, b in zip(taken, off)]) for figure in (rate, cost)]
        left = '| – | – | –'
        if MODES.get(name):
            said = counts(trace_of(bench, name))
            left = f'| {said["records"]:,} | {said["dropped"]:,} | {os.path.getsize(trace_of(bench, name)) / (1 << 20):,.1f} MiB'
        yield (f'| {name} | {statistics.median(map(rate, taken)):,.0f} | {beside[0]} | '
               f'{statistics.median(map(cost, taken)):.2f} µs | {beside[1]} {left} |')


@contextlib.contextmanager
def workplace(args):
    with tempfile.TemporaryDirectory(prefix='bench-', dir=args.build) as folder, \
            tempfile.TemporaryDirectory(prefix='eddy-bench-', dir='/dev/shm') as memory:
        yield Bench(args.build, args.before, folder, memory)


def chosen():
    return [cell for cell in cells.CELLS if cell.kind == 'hello']


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    args = argparse.Namespace(build=build, before=None, rounds=1, seconds=0.1)
    with workplace(args) as bench:
        lines = list(table(bench, measure(bench, chosen()[0], args)))
        wrong = '' if counts(trace_of(bench, 'all'))['records'] > 100 else '\n'.join(lines)
        yield 'timeline', wrong


def main(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench timeline', description='what the timeline costs a server of small requests')
    parser.add_argument('--rounds', type=int, default=15, help='samples of each server, which take turns (15)')
    parser.add_argument('--seconds', type=float, default=0.5, help='length of a sample (0.5)')
    parser.add_argument('--build', default=os.path.join(HERE, '..', 'build'), help='the folder of the programs')
    parser.add_argument('--before', help='the build folder of an eddy to compare with')
    args = parser.parse_args(arguments)
    args.build = os.path.abspath(args.build)
    known = report.facts()
    print(f'Printed by `./dev bench timeline` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds of {args.seconds:g} s; '
          f'the machine\'s load was {known["load_before"]} before.\n')
    for cell in chosen():
        with workplace(args) as bench:
            print(f'{cell.title}\n')
            for line in table(bench, measure(bench, cell, args)):
                print(line, flush=True)
            print()
    return 0
