"""Runs the micro-benchmarks and prints their table: ./dev bench micro."""
import argparse
import json
import os
import subprocess
import sys

import machine
import peers
from servers import Server, free_port, processors, which

from . import cases, table

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, '..', '..', 'docs', 'micro.md')
MANY = 10000
CONNECTIONS = 64
MILLION_NEEDS = 7 << 30


def parse(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench micro', description='what eddy\'s parts cost beside what they are made of')
    parser.add_argument('names', metavar='NAME', nargs='*', help=' '.join(c.name for c in cases.CASES))
    parser.add_argument('--rounds', type=int, default=9, help='samples of each program, which take turns (9)')
    parser.add_argument('--seconds', type=float, default=0.2, help='length of a sample (0.2)')
    parser.add_argument('--build', default=os.path.join(HERE, '..', '..', 'build'), help='the folder of the programs')
    parser.add_argument('--publish', action='store_true', help='write docs/micro.md, or the parts of it, as well')
    args = parser.parse_args(arguments)
    args.build, args.many, args.connections = os.path.abspath(args.build), MANY, CONNECTIONS
    return args


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


def path_of(args, program):
    return os.path.join(args.build, 'bench', 'micro', 'micro-' + program.file)


def build_peers(args):
    """Of other libraries, those that are there."""
    yyjson, program = os.environ.get('EDDY_YYJSON'), os.path.join(args.build, 'bench', 'micro', 'micro-json-yyjson')
    if yyjson:
        subprocess.run(['cc', '-O2', '-std=gnu11', '-I', yyjson, '-o', program, os.path.join(HERE, 'json_yyjson.c'), os.path.join(yyjson, 'yyjson.c')],
                       check=True)
    elif not os.path.exists(program):
        say('yyjson is left out: EDDY_YYJSON is the folder of yyjson.c and yyjson.h')
    if which('go'):
        peers.built_go(args.build, '../micro/json.go', 'micro/micro-json-go')
    else:
        say('go is not installed, and left out')


def run(command, cpu):
    pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=pin)
    if done.returncode:
        raise RuntimeError(f'{" ".join(command)}: status {done.returncode}\n{done.stderr}')
    return json.loads(done.stdout)


def sample(args, program, cpu):
    words = [w.format(s=args.seconds, n=args.many) for w in program.arguments.split()]
    return run([path_of(args, program), *words], cpu if program.alone else None)


def measure(args, case, progress):
    programs = [p for p in case.programs if os.path.exists(path_of(args, p))]
    if not programs:
        raise FileNotFoundError(f'none of its programs is built: ninja -C {args.build}')
    cpu, client_cpu = processors()
    rounds = min(args.rounds, case.rounds_max)
    samples = {p.key: [] for p in programs}
    servers = {}
    try:
        if case.echo:
            for program in programs:
                port = free_port()
                command = [path_of(args, program), *program.arguments.format(port=port).split()]
                log = os.path.join(args.build, f'echo-{program.key}.log')
                servers[program.key] = Server(program.key, command, port, '/', log, cpu)
        for number in range(rounds):
            progress(f'round {number + 1} of {rounds}')
            at = number % len(programs)
            for program in programs[at:] + programs[:at]:
                if case.echo:
                    server = servers[program.key]
                    load = os.path.join(args.build, 'bench', 'micro', 'micro-echo-load')
                    taken = run([load, str(server.port), str(args.connections), str(2 * args.seconds), str(server.pid)],
                                client_cpu)
                else:
                    taken = sample(args, program, cpu)
                samples[program.key].append(taken)
    finally:
        for server in servers.values():
            server.stop()
            os.unlink(server.log)
    return samples


def fitting(wanted):
    available = next(int(line.split()[1]) << 10 for line in open('/proc/meminfo') if line.startswith('MemAvailable'))
    for case in wanted:
        if case.name == cases.MILLION and available < MILLION_NEEDS:
            say(f'{case.name} is left out: it wants {MILLION_NEEDS >> 30} GiB of free memory, {available >> 30} are there')
        else:
            yield case


def main(arguments):
    args = parse(arguments)
    wanted = list(fitting(cases.chosen(args.names)))
    known = machine.facts()
    if cases.JSON in wanted:
        build_peers(args)
    results = []
    for number, case in enumerate(wanted, 1):
        samples = measure(args, case, lambda text, n=number, c=case: say(f'{n}/{len(wanted)} {c.name}: {text}'))
        results.append((case, samples))
    settings = {'rounds': args.rounds, 'seconds': args.seconds, 'many': args.many}
    command = ' '.join(['./dev bench micro', *args.names])
    text = table.page(known, settings, results, command)
    folder = os.path.join(args.build, 'bench-report')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'micro.json'), 'w') as out:
        json.dump({'machine': known, 'settings': settings, 'samples': {c.name: s for c, s in results}}, out, indent=1)
    if args.publish:
        published = table.HEAD + text
        if args.names:
            with open(PAGE) as page:
                published = table.renewed(page.read(), known, settings, results, command, cases.CASES)
        with open(PAGE, 'w') as out:
            out.write(published)
    print(text)
    return 0


def wrong_with_renewing(results):
    """A page of all but one, and that put in, has the others as they were, and all in their order."""
    known, settings = machine.facts(), {'rounds': 2, 'seconds': 0, 'many': 50}
    order = [case for case, _ in results]
    whole = table.HEAD + table.page(known, settings, results, 'all')
    for at in range(len(results)):
        one, others = results[at:at + 1], results[:at] + results[at + 1:]
        for before in (whole, table.HEAD + table.page(known, settings, others, 'all')):
            page = table.renewed(before, known, settings, one, 'one', order)
            said = table.printed(known, settings, 'one') + '\n\n'
            if page.count(said) != 1 or page.replace(said, '') != whole:
                return f'{order[at].name} changes more than its own part:\n{page}'
    return ''


def smoke(build):
    """Yields the name of each and what is wrong with it: that each still runs, and every row can be made."""
    args = parse(['--build', build, '--rounds', '2', '--seconds', '0.01'])
    args.many, args.connections = 50, 4
    results = []
    for case in cases.SMALL:
        wrong = ''
        try:
            samples = measure(args, case, lambda text: None)
            table.page(machine.facts(), {'rounds': 2, 'seconds': 0, 'many': args.many}, [(case, samples)], 'smoke')
            for row in case.rows:
                value = table.value_of(row, samples)
                if value and not value[0] > 0 and row.figure not in ('mappings', 'table_bytes'):
                    wrong = f'{row.title}: {value}'
            results.append((case, samples))
        except Exception as error:  # pylint: disable=broad-except
            wrong = f'{type(error).__name__}: {error}'
        yield 'micro ' + case.name, wrong
    yield 'micro --publish of a part', wrong_with_renewing(results)
