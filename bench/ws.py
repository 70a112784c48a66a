"""What WebSockets cost: ./dev bench ws.

Messages that are echoed, beside bare liburing (ws_bare.c); messages to a room of a thousand sockets, and to a thousand streams of server-sent
events; memory of idle sockets and streams. With --ws FOLDER, in whose node_modules is ws of npm, that server takes part (peers/ws.mjs), with
--uws PROGRAM one of uWebSockets (peers/ws_uws.cpp).
The client is ws_load.c, which checks what comes back. Figures are of the servers' processor time, that of the kernel's workers included.

Goals: a message takes at most 1.10 of the processor time of bare; a delivery to a room at most half of that of npm's ws; an idle socket
takes at most 1 KiB beyond an idle connection of HTTP on a route with .parks, at most 6 KiB on others.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import resource
import statistics
import subprocess
import time

import machine
import peers
import turns
from servers import free_port, which

SOCKETS = 64
# Bytes of a message, and of which type it is.
ECHOES = [(32, 'text'), (64 << 10, 'text'), (64 << 10, 'binary')]
RECEIVERS, FAN_SIZE, FLIGHT = 1000, 128, 4
IDLE = 10000
# Descriptors of a process that are not connections.
OTHERS = 200


@dataclasses.dataclass
class Kind:
    """A server, started anew for each part, and a path of it. A room is at /room, a small response at /hello, streams of events at /events."""
    name: str
    command: tuple
    path: str = '/echo'
    has_room: bool = True
    has_events: bool = False

    def start(self, bench):
        port = free_port()
        return bench.start(self.name, [word.replace('{port}', str(port)) for word in self.command], port, self.path)


def kinds(bench, args):
    eddy = (bench.program('ws_eddy'), '127.0.0.1:{port}')
    yield Kind('bare', (bench.program('ws_bare'), '{port}'), has_room=False)
    yield Kind('eddy', eddy, has_events=True)
    yield Kind('eddy, parked', eddy, '/parked', has_room=False)
    if 'before' in bench.builds:
        yield Kind('eddy (before)', (bench.program('ws_eddy', 'before'), '127.0.0.1:{port}'), has_events=True)
    if args.ws:
        yield Kind("npm's ws", (which('node'), os.path.join(peers.CONFIGS, 'ws.mjs'), '{port}', args.ws), has_events=True)
    if args.uws:
        yield Kind('uWebSockets', (os.path.abspath(args.uws), '{port}'))


@contextlib.contextmanager
def started(bench, chosen):
    """Pairs of a kind and its server."""
    with contextlib.ExitStack() as stack:
        pairs = []
        for kind in chosen:
            pairs.append((kind, kind.start(bench)))
            stack.callback(pairs[-1][1].stop)
        yield pairs


def load(bench, *words):
    """Run the client. Return: what it prints."""
    done = subprocess.run([bench.program('ws_load'), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          preexec_fn=bench.pin_client())
    if done.returncode:
        raise RuntimeError(f'ws_load {" ".join(map(str, words))}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def take(pairs, args, sample):
    """Samples of each server, by its name, in the order of the rounds."""
    samples = {kind.name: [] for kind, _ in pairs}
    for _ in range(args.rounds):
        for kind, server in pairs:
            samples[kind.name].append(sample(kind, server))
    return samples


def rate(sample):
    return sample['messages'] / sample['seconds']


def cost(sample):
    return sample['cpu_seconds'] / sample['messages'] * 1e6


def table(samples, thing, things, others):
    """A line for each server, beside those of `others` that took part."""
    others = [name for name in others if name in samples]
    yield '| ' + ' | '.join(['', f'{things}/s', f'processor time a {thing}', *(f'beside {name}' for name in others)]) + ' |'
    yield '|---' + '|--:' * (2 + len(others)) + '|'
    for name, taken in samples.items():
        beside = [turns.median_and_spread([cost(a) / cost(b) for a, b in zip(taken, samples[other])]) for other in others]
        yield '| ' + ' | '.join([name, f'{statistics.median(map(rate, taken)):,.0f}', f'{statistics.median(map(cost, taken)):.2f} µs', *beside]) + ' |'


def echo_lines(bench, args):
    with started(bench, kinds(bench, args)) as pairs:
        for size, kind_of in ECHOES:
            turns.say(f'echo of {size} bytes of {kind_of}')
            samples = take(pairs, args, lambda kind, server, size=size, kind_of=kind_of:
                           load(bench, 'echo', server.port, kind.path, server.pid, SOCKETS, size, args.seconds, kind_of))
            yield f'Echo of {size:,} bytes of {kind_of}, {SOCKETS} sockets:\n'
            yield from table(samples, 'message', 'messages', ['bare', 'uWebSockets'])
            yield ''


def fan_lines(bench, args):
    turns.say(f'a room of {args.receivers} sockets')
    with started(bench, [kind for kind in kinds(bench, args) if kind.has_room]) as pairs:
        samples = take(pairs, args, lambda _, server:
                       load(bench, 'fan', server.port, '/room', server.pid, args.receivers, FAN_SIZE, args.seconds, FLIGHT))
    yield f'Messages of {FAN_SIZE} bytes to a room of {args.receivers:,} sockets, {FLIGHT} at a time:\n'
    yield from table(samples, 'delivery', 'deliveries', ["npm's ws", 'uWebSockets'])
    yield ''


def events_lines(bench, args):
    turns.say(f'{args.receivers} streams of events')
    with started(bench, [kind for kind in kinds(bench, args) if kind.has_events]) as pairs:
        samples = take(pairs, args, lambda _, server:
                       load(bench, 'events', server.port, '/events', server.pid, args.receivers, FAN_SIZE, args.seconds, FLIGHT))
    yield f'Events of {FAN_SIZE} bytes to {args.receivers:,} streams, {FLIGHT} at a time:\n'
    yield from table(samples, 'delivery', 'deliveries', ["npm's ws"])
    yield ''


# ---- memory ----

def anonymous_bytes(server):
    """Of a server's memory, what no other process and no file has."""
    with open(f'/proc/{server.pid}/smaps_rollup', encoding='ascii') as file:
        for line in file:
            if line.startswith('Pss_Anon:'):
                return int(line.split()[1]) * 1024
    raise RuntimeError(f'{server.name} has no Pss_Anon')


@contextlib.contextmanager
def held(bench, calm, *words):
    """Connections that do nothing, meanwhile."""
    with subprocess.Popen([bench.program('ws_load'), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          preexec_fn=bench.pin_client()) as client:
        if client.stdout.readline() != 'ready\n':
            raise RuntimeError(f'ws_load {" ".join(map(str, words))} failed')
        time.sleep(calm)
        yield
        client.stdin.close()


def bytes_each(bench, args, kind, mode, path, count):
    server = kind.start(bench)
    try:
        # What the first connection needs, all others have.
        with held(bench, args.calm, mode, server.port, path, 1):
            before = anonymous_bytes(server)
        with held(bench, args.calm, mode, server.port, path, count):
            return (anonymous_bytes(server) - before) / count
    finally:
        server.stop()


def idle_lines(bench, args):
    count = min(args.idle, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - OTHERS)
    yield f'Memory of each of {count:,} idle connections, whose sockets have echoed a message:\n'
    yield '| | of HTTP | socket or stream | beyond |'
    yield '|---|--:|--:|--:|'
    for kind in kinds(bench, args):
        if kind.name == 'bare':
            continue
        modes = [(kind.name, 'idle', kind.path)] + [(f'{kind.name}, streams of events', 'held', '/events')] * kind.has_events
        for name, mode, path in modes:
            turns.say(f'{count} idle connections of {name}')
            taken = [(bytes_each(bench, args, kind, 'held', '/hello', count), bytes_each(bench, args, kind, mode, path, count))
                     for _ in range(min(args.rounds, 3))]
            http, own, beyond = (statistics.median(values) / 1024 for values in zip(*((a, b, b - a) for a, b in taken)))
            yield f'| {name} | {http:.2f} KiB | {own:.2f} KiB | {beyond:.2f} KiB |'
    yield ''


PARTS = {'echo': echo_lines, 'room': fan_lines, 'events': events_lines, 'idle': idle_lines}


def lines(bench, args):
    for name in args.only or PARTS:
        yield from PARTS[name](bench, args)


def raise_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench:
        if not os.path.exists(bench.program('ws_bare')):
            return
        args = argparse.Namespace(rounds=1, seconds=0.05, receivers=20, idle=20, calm=0.02, ws=None, uws=None, only=None)
        text = list(lines(bench, args))
        yield 'ws', '' if len(text) == 3 * 7 + 5 + 5 + 7 else '\n'.join(text)


def main(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench ws', description='what WebSockets cost')
    parser.add_argument('--only', action='append', choices=PARTS, help='of the parts only these')
    parser.add_argument('--rounds', type=int, default=9, help='samples of each server, which take turns (9; 3 of memory)')
    parser.add_argument('--seconds', type=float, default=0.5, help='length of a sample (0.5)')
    parser.add_argument('--receivers', type=int, default=RECEIVERS, help=f'sockets in a room, and streams of events ({RECEIVERS})')
    parser.add_argument('--idle', type=int, default=IDLE, help=f'idle connections ({IDLE}), as far as the limit of descriptors allows')
    parser.add_argument('--build', required=True, help=argparse.SUPPRESS)
    parser.add_argument('--before', help='the build folder of an eddy to compare with')
    parser.add_argument('--ws', metavar='FOLDER', help="beside npm's ws, whose node_modules are there")
    parser.add_argument('--uws', metavar='PROGRAM', help='beside uWebSockets: peers/ws_uws.cpp says how it is built')
    args = parser.parse_args(arguments)
    args.calm = 0.5     # after the last connection, until memory is measured
    raise_limit()
    print(f'Printed by `./dev bench ws` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds of {args.seconds:g} s; the machine\'s load was '
          f'{machine.facts()["load_before"]} before.\n')
    with turns.workplace(os.path.abspath(args.build), args.before) as bench:
        for line in lines(bench, args):
            print(line, flush=True)
    return 0
