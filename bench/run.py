"""Runs the benchmarks: eddy beside nginx and beside bare techniques, and prints the figures.

    run.py [NAME…] [--rounds N] [--seconds S] [--build FOLDER] [--before FOLDER] [--publish]
    run.py micro [NAME…] …      the micro-benchmarks, see micro/
    run.py compress …           the one of them that is of encoding
    run.py compress-NAME …      responses that leave compressed, see served.py
    run.py timeline             what recording a timeline costs, see timeline.py
    run.py tracing              what numbers of requests, an access log and metrics cost, see traced.py
    run.py auth                 what bearer tokens cost, see guarded.py
    run.py --smoke

A NAME is a cell or the first part of its name: get, put-4k, hello, idle. Without one all are run. The report is left in
FOLDER/bench-report/; --publish writes it to RESULTS.md beside this file as well. --before measures the eddy of another
build folder in the same run. --smoke only sees that everything still runs, and prints TAP.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import shutil
import sys
import tempfile
import time

import cells
import guarded
import report
import served
import timeline
import traced
from micro import main as micro
from servers import Bench, which

HERE = os.path.dirname(os.path.abspath(__file__))


def parse():
    parser = argparse.ArgumentParser(prog='./dev bench', description='eddy beside nginx and beside bare techniques')
    parser.add_argument('names', metavar='NAME', nargs='*', help='cells: ' + ' '.join(c.name for c in cells.CELLS))
    parser.add_argument('--rounds', type=int, default=7, help='samples of each server, which take turns (7)')
    parser.add_argument('--seconds', type=float, default=0.5, help='length of a sample (0.5); wrk takes 1 at least')
    parser.add_argument('--build', default=os.path.join(HERE, '..', 'build'), help='the folder of the programs')
    parser.add_argument('--before', help='the build folder of an eddy to compare with')
    parser.add_argument('--publish', action='store_true', help='write bench/RESULTS.md as well')
    parser.add_argument('--smoke', action='store_true', help='only see that everything runs')
    return parser.parse_args()


@contextlib.contextmanager
def workplace(build, before=None):
    """Temporary folders, gone at the end: one on the disk, one in memory."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='bench-', dir=build))
        memory = stack.enter_context(tempfile.TemporaryDirectory(prefix='eddy-bench-', dir='/dev/shm'))
        yield Bench(build, before, folder, memory)


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


def measure(bench, cell, args, wrk):
    samples = {}
    idle = cell.kind == 'idle'
    servers = [] if idle else cells.start_servers(bench, cell)
    try:
        for number in range(args.rounds):
            if idle:
                # What is there already would be used again: each round has servers that are new.
                cells.stop_servers(servers)
                servers = cells.start_servers(bench, cell)
            at = number % len(servers)
            for server in servers[at:] + servers[:at]:
                taken = (cells.sample_idle(bench, cell, server) if idle else
                         cells.sample(bench, cell, server, args.seconds, wrk))
                samples.setdefault(server.name, []).append(taken)
        order = [server.name for server in servers]
    finally:
        cells.stop_servers(servers)
    figures = {name: cells.derive(cell, samples[name]) for name in order}
    return {'cell': cell, 'samples': samples, 'figures': figures}


def fitting(wanted):
    """The cells that this machine has room for."""
    free = shutil.disk_usage('/dev/shm').free
    for cell in wanted:
        needed = cell.size * (1 + 6 * cell.connections) if cell.kind == 'put' else 0
        if needed > free:
            say(f'{cell.name} is left out: /dev/shm has {free >> 20} MiB free, {needed >> 20} are needed')
        else:
            yield cell


def run(args):
    wanted = list(fitting(cells.chosen(args.names)))
    wrk, known = which('wrk'), report.facts()
    results = []
    if known['load_before'] > 0.5:
        say(f'the load of this machine is {known["load_before"]}: something else runs, throughput will suffer')
    began = time.monotonic()
    with workplace(args.build, args.before) as bench:
        say('making files …')
        cells.make_files(bench, wanted)
        for number, cell in enumerate(wanted, 1):
            left = ''
            if number > 1:
                left = f', about {(time.monotonic() - began) / (number - 1) * (len(wanted) - number + 1):.0f} s left'
            say(f'{number}/{len(wanted)} {cell.name}{left}')
            results.append(measure(bench, cell, args, wrk))
        settings = {'rounds': args.rounds, 'seconds': args.seconds, 'pinned': bench.client_cpu is not None}
    command = ' '.join(['./dev bench', *args.names])
    text = report.markdown(known, settings, results, command)
    keep(args, known, settings, results, text)
    print(text)


def keep(args, known, settings, results, text):
    folder = os.path.join(args.build, 'bench-report')
    os.makedirs(folder, exist_ok=True)
    plain = [dict(result, cell=dataclasses.asdict(result['cell'])) for result in results]
    with open(os.path.join(folder, 'report.json'), 'w') as out:
        json.dump({'machine': known, 'settings': settings, 'results': plain}, out, indent=1)
    with open(os.path.join(folder, 'report.md'), 'w') as out:
        out.write(text)
    if args.publish:
        with open(os.path.join(HERE, 'RESULTS.md'), 'w') as out:
            out.write('# What the bench has measured\n\n' + text)


def smoke(args):
    """Every kind of cell once, quickly. nginx takes part where it is installed."""
    args.rounds, args.seconds = 1, 0.1
    wanted = cells.chosen(['get-4k', 'get-1m', 'put-4k', 'put-1m', 'hello'])
    wanted.append(dataclasses.replace(cells.CELLS[-1], connections=100))
    failed = number = 0
    with workplace(args.build) as bench:
        cells.make_files(bench, wanted)
        for number, cell in enumerate(wanted, 1):
            try:
                report.markdown(report.facts(), {'rounds': 1, 'seconds': 0.1, 'pinned': True},
                                [measure(bench, cell, args, None)], './dev bench')
                print(f'ok {number} - {cell.name}', flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f'not ok {number} - {cell.name}')
                print('\n'.join('# ' + line for line in f'{type(error).__name__}: {error}'.splitlines()), flush=True)
    for number, (name, wrong) in enumerate([*micro.smoke(args.build), *served.smoke(args.build), *timeline.smoke(args.build),
                                            *traced.smoke(args.build), *guarded.smoke(args.build)], number + 1):
        failed += bool(wrong)
        print(f'{"not " if wrong else ""}ok {number} - {name}')
        print('\n'.join('# ' + line for line in wrong.splitlines()), flush=True)
    print(f'1..{number}')
    return 1 if failed else 0


def main():
    if sys.argv[1:2] == ['micro']:
        return micro.main(sys.argv[2:])
    if sys.argv[1:2] == ['compress']:
        return micro.main(['codec', *sys.argv[2:]])
    if sys.argv[1:] and sys.argv[1] in served.PARTS:
        return served.main(sys.argv[1:])
    if sys.argv[1:2] == ['timeline']:
        return timeline.main(sys.argv[2:])
    if sys.argv[1:2] == ['tracing']:
        return traced.main(sys.argv[2:])
    if sys.argv[1:2] == ['auth']:
        return guarded.main(sys.argv[2:])
    args = parse()
    args.build = os.path.abspath(args.build)
    if args.smoke:
        return smoke(args)
    run(args)
    return 0


sys.exit(main())
