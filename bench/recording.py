"""What recording costs a server: ./dev bench recording.

Two servers of one program take turns round by round, and one of them is recorded. Processor time is that of all threads but the one
that writes the recording, which stands apart. Goals are 1.15 of the time a small request takes, and 1.05 of that of a file.
"""
import argparse
import contextlib
import os
import shlex
import statistics
import time

import cells
import client
import files
import machine
import peers
import turns

CELLS = ('hello-64', 'hello-pipelined', 'get-4k-16', 'get-1m-16', 'get-64m-1', 'put-1m-16', 'put-64m-1')
WRITER = 'eddy-record'
FILE_MAX = 8 << 30


def start(bench, cell, path):
    """A server of this cell, recorded in the file `path` if there is one."""
    name, env = ('recorded', {'EDDY_RECORD': path, 'EDDY_RECORD_MAX': str(FILE_MAX)}) if path else ('off', {})
    if cell.work == 'hello':
        return peers.eddy_hello(bench, name, env=env)
    return peers.eddy_files(bench, bench.uploads(name) if cell.work == 'put' else bench.files, name, env=env)


def writer_seconds(server):
    """The processor time of the thread that writes the recording."""
    folder = f'/proc/{server.pid}/task'
    for thread in os.listdir(folder):
        with open(f'{folder}/{thread}/comm', encoding='ascii') as file:
            if file.read().strip() != WRITER:
                continue
        with open(f'{folder}/{thread}/schedstat', encoding='ascii') as file:
            return int(file.read().split()[0]) / 1e9
    raise RuntimeError(f'no thread is called {WRITER}')


def words_of(bench, cell):
    if cell.work != 'put':
        return 'hello' if cell.work == 'hello' else cell.file, []
    return 'file-{n}-{i}', ['--body-file', bench.source(cell.file), '--between', f'find {shlex.quote(bench.memory)} -path "*/file-*" -delete']


def measure(bench, cell, args):
    """Return: samples of both, the recorded server's whole processor time and its writer's, and the size of the recording."""
    path = os.path.join(bench.memory, 'recording')
    settings = argparse.Namespace(rounds=args.rounds, seconds=args.seconds, warmup=0.05)
    with contextlib.ExitStack() as stack:
        stack.callback(os.unlink, path)
        servers = [start(bench, cell, ''), start(bench, cell, path)]
        for server in servers:
            stack.callback(server.stop)
        turns.say(f'{cell.name}: {args.rounds} rounds of {args.seconds} s')
        target, words = words_of(bench, cell)
        result = client.measure(bench, 'put' if cell.work == 'put' else 'get', servers, target, settings, cell.connections, cell.depth, words)
        samples = [of_one['samples'] for of_one in result['cells'][0]['targets']]
        # What it has not yet written.
        time.sleep(0.2)
        return samples, servers[1].cpu_seconds(), writer_seconds(servers[1]), os.path.getsize(path)


def line(bench, cell, args):
    (off, recorded), total, writer, size = measure(bench, cell, args)
    loop = 1 - writer / total
    beside = turns.median_and_spread([turns.cost(b) * loop / turns.cost(a) for a, b in zip(off, recorded)])
    rate = turns.median_and_spread([turns.rate(b) / turns.rate(a) for a, b in zip(off, recorded)])
    cost = statistics.median(map(turns.cost, off))
    # Warm-ups and first connections are counted in the processor time alone.
    requests = total / statistics.median(map(turns.cost, recorded)) * 1e6
    return (f'| {cell.title} | {rate} | {cost:,.1f} µs | {beside} | {statistics.median(map(turns.cost, recorded)) * (1 - loop) / cost:.2f} | '
            f'{size / requests:,.1f} |')


def lines(bench, wanted, args):
    yield '| | throughput beside off | processor time off | recorded, beside it | its writer, beside it | bytes a request |'
    yield '|---' + '|--:' * 5 + '|'
    for cell in wanted:
        yield line(bench, cell, args)


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench:
        wanted = cells.chosen(['hello-64', 'put-1m-16'])
        files.make(bench, wanted)
        for cell in wanted:
            samples, total, writer, size = measure(bench, cell, argparse.Namespace(rounds=1, seconds=0.1))
            yield f'recording, {cell.name}', '' if len(samples) == 2 and 0 < writer < total and size > 1000 else f'{total} s, {writer} s, {size} bytes'


def main(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench recording', description='what recording costs a server')
    parser.add_argument('names', metavar='NAME', nargs='*', default=CELLS, help='cells: ' + ' '.join(CELLS))
    parser.add_argument('--rounds', type=int, default=9, help='samples of each server, which take turns (9)')
    parser.add_argument('--seconds', type=float, default=0.5, help='length of a sample (0.5)')
    parser.add_argument('--build', default=os.path.join(turns.HERE, '..', 'build'), help='the folder of the programs')
    args = parser.parse_args(arguments)
    with turns.workplace(os.path.abspath(args.build)) as bench:
        wanted = [cell for cell in cells.chosen(args.names) if cell.name in CELLS]
        files.make(bench, wanted)
        print(f'Printed by `./dev bench recording` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds of {args.seconds:g} s; '
              f'the machine\'s load was {machine.facts()["load_before"]} before.\n')
        for text in lines(bench, wanted, args):
            print(text, flush=True)
    return 0
