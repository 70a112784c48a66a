"""What it costs to receive a file in pieces: ./dev bench pieces.

A GiB goes to `files` by one PUT, and by resumable uploads in one piece and in a hundred, by the draft of the IETF and by tus. With --tus
FOLDER, in whose node_modules are @tus/server and @tus/file-store of npm, that server takes part as well (peers/tus.mjs). Servers write to
a file system in memory; what is measured is their processor time, that of the kernel's workers included.
"""
import argparse
import base64
import http.client
import os
import statistics
import time
import urllib.parse

import machine
import peers
import turns
from servers import free_port, which

SIZE = 1 << 30
BLOCK = os.urandom(1 << 20)


def ask(wire, want, method, path, length=0, **fields):
    """Send a body of so many bytes. Return: the path that Location has."""
    wire.putrequest(method, path)
    for name, value in {**fields, 'Content-Length': length}.items():
        wire.putheader(name.replace('_', '-'), value)
    wire.endheaders()
    for at in range(0, length, len(BLOCK)):
        wire.send(memoryview(BLOCK)[:length - at])
    response = wire.getresponse()
    response.read()
    if response.status != want:
        raise RuntimeError(f'{method} {path}: {response.status}')
    return urllib.parse.urlsplit(response.headers.get('location', '')).path


def whole(wire, size, _):
    ask(wire, 201, 'PUT', '/files/x', size)


def pieces_of(size, count):
    """Pairs of offset and length."""
    step = -(-size // count)
    return [(at, min(step, size - at)) for at in range(0, size, step)]


def draft(wire, size, count):
    path = ask(wire, 201, 'POST', '/files/x', Upload_Complete='?0', Upload_Length=size)
    for at, length in pieces_of(size, count):
        is_last = at + length == size
        ask(wire, 201 if is_last else 204, 'PATCH', path, length, Upload_Complete=f'?{int(is_last)}', Upload_Offset=at,
            Content_Type='application/partial-upload')


def tus(wire, size, count):
    name = base64.b64encode(b'x').decode()
    path = ask(wire, 201, 'POST', '/tus/', Tus_Resumable='1.0.0', Upload_Length=size, Upload_Metadata=f'filename {name}')
    for at, length in pieces_of(size, count):
        ask(wire, 204, 'PATCH', path, length, Tus_Resumable='1.0.0', Upload_Offset=at, Content_Type='application/offset+octet-stream')


# Name, whether the server is eddy, how, and pieces.
WAYS = [('PUT', True, whole, 1), ('draft', True, draft, 1), ('draft', True, draft, 100), ('tus', True, tus, 1), ('tus', True, tus, 100)]
PEER = [('@tus/server', False, tus, 1), ('@tus/server', False, tus, 100)]


def start(bench, is_eddy, modules):
    if is_eddy:
        return peers.eddy_files(bench, bench.uploads('eddy'), words=('--max-size', '1000000000000', '--append-max', '1000000000000'))
    port = free_port()
    command = [which('node'), os.path.join(peers.CONFIGS, 'tus.mjs'), str(port), bench.uploads('tus'), modules]
    return bench.start('@tus/server', command, port)


def empty(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            os.unlink(os.path.join(path, name))


def measure(bench, way, size, modules):
    """Return: seconds of processor time and of the clock."""
    _, is_eddy, how, count = way
    server = start(bench, is_eddy, modules)
    try:
        wire = http.client.HTTPConnection('127.0.0.1', server.port)
        cpu, began = server.cpu_seconds(), time.monotonic()
        how(wire, size, count)
        return server.cpu_seconds() - cpu, time.monotonic() - began
    finally:
        server.stop()
        empty(bench.memory)


def lines(bench, args, size):
    ways = WAYS + (PEER if args.tus else [])
    samples = [[] for _ in ways]
    for _ in range(args.rounds):
        for way, taken in zip(ways, samples):
            taken.append(measure(bench, way, size, args.tus))
    yield '| | pieces | s of processor time a GiB | beside PUT | beside eddy | MiB/s |'
    yield '|---|--:|--:|--:|--:|--:|'
    for (name, _, how, count), taken in zip(ways, samples):
        put, same = samples[0], next(other for way, other in zip(ways, samples) if way[1:] == (True, how, count))
        ratios = [turns.median_and_spread([a[0] / b[0] for a, b in zip(taken, others)]) for others in (put, same)]
        yield (f'| {name} | {count} | {statistics.median(cpu for cpu, _ in taken) * (1 << 30) / size:.3f} | {ratios[0]} | {ratios[1]} | '
               f'{size / (1 << 20) / statistics.median(wall for _, wall in taken):,.0f} |')


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench:
        text = list(lines(bench, argparse.Namespace(rounds=1, tus=None), 8 << 20))
        yield 'pieces', '' if len(text) == 2 + len(WAYS) else '\n'.join(text)


def main(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench pieces', description='what it costs to receive a file in pieces')
    parser.add_argument('--rounds', type=int, default=5, help='uploads by each way, which take turns (5)')
    parser.add_argument('--build', required=True, help=argparse.SUPPRESS)
    parser.add_argument('--tus', metavar='FOLDER', help="beside npm's @tus/server, whose node_modules are there")
    args = parser.parse_args(arguments)
    print(f'Printed by `./dev bench pieces` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds; the machine\'s load was '
          f'{machine.facts()["load_before"]} before.\n')
    with turns.workplace(os.path.abspath(args.build)) as bench:
        for line in lines(bench, args, SIZE):
            print(line, flush=True)
    return 0
