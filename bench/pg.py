"""What queries of PostgreSQL cost the client: ./dev bench pg.

Processor time of a call of examples/pg (pg_eddy.c), that of the kernel's workers included, beside a loop of libpq's pipeline mode and poll(2)
(pg_bare.c) and Go's pgx (peers/pg.go). With --pg FOLDER, in whose node_modules is pg of npm, that takes part (peers/pg.mjs). The programs
take turns on one processor; the server, of the machine's version and started for the run, has another. All prepare the same statements and
have the same number of connections, each with one call on its way.

Goal: a call takes at most 1.10 of the processor time of bare.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

import machine
import peers
import turns
from servers import which

# Behind the folder of the bench, which has modules of the same names.
sys.path.append(os.path.join(turns.HERE, '..', 'tests', 'e2e', 'helpers'))
import postgres     # pylint: disable=wrong-import-position

WORKS = {'row': 'a row by its key', 'pipeline': '20 rows in a pipeline', 'update': 'an update'}
# Tasks and connections.
LOADS = ((1, 1), (32, 4))
ITEMS = '''create table items (id bigint primary key, name text not null, price float8 not null, stock bigint not null) with (fillfactor = 50);
           insert into items select i, 'item number ' || i, i / 4.0, i from generate_series(1, 10000) as i'''



class Pg:
    """The server of a run, on the processor of clients; and the clients, on that of servers."""

    def __init__(self, bench, args):
        self.bench, self.args = bench, args
        self.cluster = postgres.Cluster()
        try:
            if bench.client_cpu is not None:
                os.sched_setaffinity(self.cluster.process.pid, {bench.client_cpu})
            self.cluster.sql(ITEMS)
        except BaseException:
            self.cluster.end()
            raise

    def close(self):
        self.cluster.end()

    def clients(self, tasks, connections):
        """Pairs of a name and words of a command, in which {work} is filled in."""
        port, seconds = self.cluster.port, self.args.seconds
        conninfo = f'host=127.0.0.1 port={port} user=test dbname=postgres sslmode=disable'
        yield 'bare', [self.bench.program('pg_bare'), conninfo, '{work}', connections, seconds]
        for build in self.bench.builds:
            name = 'eddy' if build == 'eddy' else 'eddy (before)'
            yield name, [self.bench.program('pg_eddy', build), conninfo, '{work}', tasks, connections, seconds]
        if self.args.pgx:
            yield 'pgx', [self.args.pgx, conninfo, '{work}', tasks, connections, seconds]
        if self.args.pg:
            yield 'node-postgres', [which('node'), os.path.join(peers.CONFIGS, 'pg.mjs'), '127.0.0.1', port, '{work}', tasks, connections, seconds,
                                    self.args.pg]

    def sample(self, command, work):
        if work == 'update':
            self.cluster.sql('vacuum items')
        words = [str(word).format(work=work) for word in command]
        pin = (lambda: os.sched_setaffinity(0, {self.bench.server_cpu})) if self.bench.server_cpu is not None else None
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, preexec_fn=pin,
                              env=dict(os.environ, GOMAXPROCS='1'))
        if done.returncode:
            raise RuntimeError(f'{" ".join(words)}: {done.stderr.strip()}')
        return json.loads(done.stdout)

    def take(self, work, tasks, connections):
        """Samples of each client, in the order of the rounds."""
        clients = list(self.clients(tasks, connections))
        samples = {name: [] for name, _ in clients}
        for number in range(self.args.rounds):
            at = number % len(clients)
            for name, command in clients[at:] + clients[:at]:
                samples[name].append(self.sample(command, work))
        return samples


def table(samples):
    yield '| | processor time a call | beside bare | calls/s |'
    yield '|---|--:|--:|--:|'
    for name, taken in samples.items():
        beside = turns.median_and_spread([a['cpu_ns'] / b['cpu_ns'] for a, b in zip(taken, samples['bare'])])
        cost, wall = (statistics.median(sample[key] for sample in taken) for key in ('cpu_ns', 'wall_ns'))
        yield f'| {name} | {cost / 1e3:.2f} µs | {beside} | {1e9 / wall:,.0f} |'


def lines(bench, args):
    with contextlib.closing(Pg(bench, args)) as pg:
        for work in args.only or WORKS:
            for tasks, connections in LOADS:
                load = 'one task and connection' if tasks == 1 else f'{tasks} tasks, {connections} connections'
                turns.say(f'{WORKS[work]}: {load}')
                yield f'{WORKS[work][0].upper()}{WORKS[work][1:]}, {load}:\n'
                yield from table(pg.take(work, tasks, connections))
                yield ''


def is_there(bench):
    return os.path.exists(bench.program('pg_bare')) and postgres.BIN


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench:
        if not is_there(bench):
            return
        text = list(lines(bench, argparse.Namespace(rounds=1, seconds=0.02, pgx=None, pg=None, only=None)))
        yield 'pg', '' if len(text) == len(WORKS) * len(LOADS) * 6 else '\n'.join(text)


def built_pgx(build):
    """peers/pg.go as a program; None where Go or pgx are not installed."""
    if which('go') and os.path.isdir('/usr/share/gocode/src/github.com/jackc/pgx/v4'):
        return peers.built_go(build, 'pg.go', 'peer-pgx')
    turns.say('pgx is left out: it needs golang-go and golang-github-jackc-pgx-v4-dev')
    return None


def main(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench pg', description='what queries of PostgreSQL cost the client')
    parser.add_argument('--only', action='append', choices=WORKS, help='of the cells only these')
    parser.add_argument('--rounds', type=int, default=9, help='samples of each client, which take turns (9)')
    parser.add_argument('--seconds', type=float, default=0.3, help='length of a sample (0.3): of processor time, or by the clock for pgx and npm')
    parser.add_argument('--build', default=os.path.join(turns.HERE, '..', 'build'), help=argparse.SUPPRESS)
    parser.add_argument('--before', help='the build folder of an eddy to compare with')
    parser.add_argument('--pg', metavar='FOLDER', help="beside npm's pg, whose node_modules are there: peers/pg.mjs says how it is installed")
    args = parser.parse_args(arguments)
    args.build = os.path.abspath(args.build)
    args.pgx = built_pgx(args.build)
    with turns.workplace(args.build, args.before) as bench:
        if not is_there(bench):
            turns.say('this needs a build with libpq-dev, and the package postgresql')
            return 1
        print(f'Printed by `./dev bench pg` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds of {args.seconds:g} s; the machine\'s load was '
              f'{machine.facts()["load_before"]} before.\n')
        for line in lines(bench, args):
            print(line, flush=True)
    return 0
