"""Small requests to servers that take turns, round by round: what something costs that one of them does, and another not."""
import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time

import cells
import client
import machine
from servers import Bench, free_port

HERE = os.path.dirname(os.path.abspath(__file__))


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def workplace(build, before=None):
    with tempfile.TemporaryDirectory(prefix='bench-', dir=build) as folder, \
            tempfile.TemporaryDirectory(prefix='eddy-bench-', dir='/dev/shm') as memory:
        yield Bench(build, before, folder, memory)


def start(bench, name, program, *words, env=None):
    """A server of bench/ on the processor of servers; `program` may be that of another build."""
    port = free_port()
    path = program if os.sep in program else bench.program(program)
    return bench.start(name, [path, f'127.0.0.1:{port}', *words], port, env=env)


def chosen():
    return [cell for cell in cells.CELLS if cell.kind == 'hello']


def take(bench, cell, servers, args, header=None):
    """Samples of each server, in the order of the rounds; `header` is in the head of each request. All are stopped."""
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.callback(server.stop)
        say(f'{cell.name}: {len(servers)} servers, {args.rounds} rounds of {args.seconds} s')
        settings = argparse.Namespace(rounds=args.rounds, seconds=args.seconds, warmup=0.05)
        result = client.measure(bench, 'get', servers, 'hello', settings, cell.connections, cell.depth, ['--header', header] if header else [])
    return {target['name']: target['samples'] for target in result['cells'][0]['targets']}


def median_and_spread(values):
    values = sorted(values)
    text = f'**{statistics.median(values):.3f}**'
    if len(values) >= 4:
        low, _, high = statistics.quantiles(values, n=4)
        text += f' ({low:.3f}–{high:.3f})'
    return text


def rate(sample):
    return sample['requests'] / sample['seconds']


def cost(sample):
    return sample['cpu_seconds'] / sample['requests'] * 1e6


def table(samples, columns=(), more=lambda name: ()):
    """A line for each server, beside the first one; `more` has what stands in further columns."""
    yield ' | '.join(['| ', 'requests/s', 'beside off', 'processor time a request', 'beside off', *columns]) + ' |'
    yield '|---' + '|--:' * (4 + len(columns)) + '|'
    off = samples[next(iter(samples))]
    for name, taken in samples.items():
        beside = [median_and_spread([figure(a) / figure(b) for a, b in zip(taken, off)]) for figure in (rate, cost)]
        yield ' | '.join([f'| {name}', f'{statistics.median(map(rate, taken)):,.0f}', beside[0],
                          f'{statistics.median(map(cost, taken)):.2f} µs', beside[1], *more(name)]) + ' |'


def main(name, lines, arguments):
    """`lines(bench, cell, args)` are those of a cell's report."""
    parser = argparse.ArgumentParser(prog=f'./dev bench {name}', description='what it costs a server of small requests')
    parser.add_argument('--rounds', type=int, default=15, help='samples of each server, which take turns (15)')
    parser.add_argument('--seconds', type=float, default=0.5, help='length of a sample (0.5)')
    parser.add_argument('--build', default=os.path.join(HERE, '..', 'build'), help='the folder of the programs')
    parser.add_argument('--before', help='the build folder of an eddy to compare with')
    args = parser.parse_args(arguments)
    args.build = os.path.abspath(args.build)
    known = machine.facts()
    print(f'Printed by `./dev bench {name}` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds of {args.seconds:g} s; '
          f'the machine\'s load was {known["load_before"]} before.\n')
    for cell in chosen():
        with workplace(args.build, args.before) as bench:
            print(f'{cell.title}\n')
            for line in lines(bench, cell, args):
                print(line, flush=True)
            print()
    return 0
