"""Responses that leave compressed: ./dev bench compress-loop, compress-memory, compress-nginx.

compress-loop     processor time at a stretch that a body being compressed holds its loop for, and how long others wait
compress-memory   resident memory of a compressed stream that is open
compress-nginx    a text of 64 KiB beside nginx's gzip
"""
import argparse
import os
import resource
import socket
import statistics
import sys
import tempfile
import threading
import time

import client
import files
import machine
from servers import Bench, free_port, which

HERE = os.path.dirname(os.path.abspath(__file__))
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
CODINGS = ('zstd', 'br', 'gzip', 'deflate')
STREAMS = 1000
# More than the windows are.
HELD = 320 * KIB

NGINX = '''
{user}
worker_processes 1;
daemon off;
pid "{folder}/nginx.pid";
error_log "{folder}/nginx.log";
events {{ worker_connections 1000; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=1000 inactive=1h;
    keepalive_requests 1000000000;
    gzip on; gzip_comp_level {level}; gzip_types *; gzip_min_length 0; gzip_http_version 1.0;
    client_body_temp_path "{folder}/body"; proxy_temp_path "{folder}/proxy"; fastcgi_temp_path "{folder}/fastcgi";
    scgi_temp_path "{folder}/scgi"; uwsgi_temp_path "{folder}/uwsgi";
    types {{ text/plain txt; }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location /file/ {{ alias "{folder}/"; }}
    }}
}}
'''


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


class Place:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.bench = Bench(args.build, None, folder, folder)

    def eddy(self, *words):
        port = free_port()
        return self.bench.start('eddy', [self.bench.program('coded'), f'127.0.0.1:{port}', self.folder, *words], port)

    def nginx(self, level):
        port = free_port()
        config = os.path.join(self.folder, 'nginx.conf')
        with open(config, 'w', encoding='ascii') as out:
            out.write(NGINX.format(folder=self.folder, port=port, level=level, user='' if os.geteuid() else 'user root;'))
        command = [which('nginx'), '-p', self.folder, '-c', config, '-e', os.path.join(self.folder, 'nginx.log')]
        return self.bench.start(f'nginx, gzip {level}', command, port, has_workers=True)


def ask(server, path, coding=None):
    """A connection on which that was asked."""
    conn = socket.create_connection(('127.0.0.1', server.port), timeout=60)
    accept = f'Accept-Encoding: {coding}\r\n' if coding else ''
    conn.sendall(f'GET /{path} HTTP/1.1\r\nHost: x\r\n{accept}\r\n'.encode())
    return conn


class Drain:
    """Takes a large body as fast as it comes, until it is told to stop."""

    def __init__(self, server, path, coding):
        self.conn, self.ended = ask(server, path, coding), False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while self.conn.recv(MIB):
                pass
        except OSError:
            pass
        self.ended = True

    def stop(self):
        self.conn.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.conn.close()


def spans(server, ms):
    conn = ask(server, f'watch/{ms}')
    data = b''
    while not data.endswith(b'0\r\n\r\n'):
        more = conn.recv(MIB)
        if not more:
            raise RuntimeError('the watcher was cut off')
        data += more
    conn.close()
    body = data.partition(b'\r\n\r\n')[2]
    text = b''
    while body:
        size, _, body = body.partition(b'\r\n')
        text += body[:int(size, 16)]
        body = body[int(size, 16) + 2:]
    return sorted(int(line) / 1e3 for line in text.split())


def waits(server, seconds):
    """What another one waits for GET /hello, sorted, in microseconds."""
    times = []
    conn = socket.create_connection(('127.0.0.1', server.port), timeout=60)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        conn.sendall(b'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n')
        conn.recv(4096)
        times.append((time.perf_counter() - began) * 1e6)
    conn.close()
    return sorted(times)


def at(values, share):
    return values[min(len(values) - 1, int(len(values) * share))] if values else float('nan')


def loop(place):
    """Each coding, from a file and from a handler that writes a mebibyte at a time."""
    yield '| | stretches | median of the worst 1 % (goal ≤ 1,000 µs) | longest | others\' p50, p99 idle | meanwhile | p99 ratio (goal < 3) |'
    yield '|---|--:|--:|--:|--:|--:|--:|'
    say('making a file of 1 GiB …')
    files.make_text(os.path.join(place.folder, 'large.txt'), GIB)
    server = place.eddy('no_cache=1')
    try:
        held = sorted(span for _ in range(place.args.rounds) for span in spans(server, int(1000 * place.args.seconds)))
        yield (f'| nothing: what the machine does | {len(held):,} | {statistics.median(held[len(held) * 99 // 100:] or [0]):,.0f} µs | '
               f'{max(held, default=0):,.0f} µs | | | |')
        for coding in CODINGS:
            for what, path in (('file', 'file/large.txt'), ('stream', f'stream/{GIB}')):
                say(f'{coding}, {what}')
                idle, busy, held = [], [], []
                for _ in range(place.args.rounds):
                    idle += waits(server, place.args.seconds)
                    drain = Drain(server, path, coding)
                    busy += waits(server, place.args.seconds)
                    held += spans(server, int(1000 * place.args.seconds))
                    if drain.ended:
                        raise RuntimeError(f'{coding}: 1 GiB was done before it was measured: fewer --seconds')
                    drain.stop()
                idle, busy, held = sorted(idle), sorted(busy), sorted(held)
                worst = held[len(held) * 99 // 100:]
                yield (f'| {coding}, 1 GiB {what} | {len(held):,} | **{statistics.median(worst):,.0f} µs** | {held[-1]:,.0f} µs | '
                       f'{at(idle, .5):,.0f}, {at(idle, .99):,.0f} µs | {at(busy, .5):,.0f}, {at(busy, .99):,.0f} µs | '
                       f'{at(busy, .99) / at(idle, .99):.2f} |')
    finally:
        server.stop()


def memory(place):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * STREAMS)), hard))
    yield f'| | {STREAMS:,} streams, each | the server before |'
    yield '|---|--:|--:|'
    for coding in ('identity', *CODINGS):
        say(f'{STREAMS} streams of {coding}')
        server = place.eddy()
        conns = []
        try:
            before = server.resident_bytes()
            for _ in range(STREAMS):
                conns.append(ask(server, f'held/{HELD}', coding))
            for conn in conns:
                conn.recv(1, socket.MSG_PEEK)
            await_rest(server)
            yield f'| {coding} | **{(server.resident_bytes() - before) / STREAMS / KIB:,.0f} KiB** | {before / MIB:.1f} MiB |'
        finally:
            for conn in conns:
                conn.close()
            server.stop()


def await_rest(server):
    """Until it has done all that it was asked for; what it sent waits in sockets, which are no memory of its own."""
    before = -1
    while server.cpu_seconds() - before > 0.001:
        before = server.cpu_seconds()
        time.sleep(0.2)


def sampled(place, server, coding, connections=16):
    """Requests a second, and processor seconds of each. What the sample before left behind is done with first."""
    await_rest(server)
    settings = argparse.Namespace(rounds=1, seconds=place.args.seconds, warmup=0)
    words = ['--header', f'Accept-Encoding: {coding}']
    result = client.measure(place.bench, 'get', [server], 'file/text.txt', settings, connections, words=words)
    sample = result['cells'][0]['targets'][0]['samples'][0]
    return sample['requests'] / sample['seconds'], sample['cpu_seconds'] / sample['requests']


def length(server, coding):
    conn = ask(server, 'file/text.txt', coding)
    conn.settimeout(0.3)
    data = b''
    try:
        while more := conn.recv(MIB):
            data += more
    except TimeoutError:
        pass
    conn.close()
    return len(data)


def nginx(place):
    if not which('nginx'):
        raise SystemExit('bench: compress-nginx needs nginx')
    files.make_text(os.path.join(place.folder, 'text.txt'), 64 * KIB)
    servers = [(place.nginx(6), 'gzip'), (place.nginx(1), 'gzip')]
    once, kept = place.eddy('no_cache=1'), place.eddy()
    ours = [(once, coding) for coding in ('gzip', 'zstd', 'br', 'deflate')] + [(kept, 'gzip'), (kept, 'zstd')]
    samples = {}
    try:
        for number in range(place.args.rounds):
            say(f'round {number + 1} of {place.args.rounds}')
            for server, coding in servers + ours:
                samples.setdefault((server, coding), []).append(sampled(place, server, coding))
        yield '| 64 KiB of text × 16 | requests/s | processor time a MiB | beside nginx, gzip 6 | beside nginx, gzip 1 | sent |'
        yield '|---|--:|--:|--:|--:|--:|'
        six, one = (statistics.median(s[1] for s in samples[key]) for key in servers)
        for (server, coding), taken in samples.items():
            name = server.name if server not in (once, kept) else f'eddy, {coding}{", kept" if server is kept else ""}'
            cpu = statistics.median(s[1] for s in taken)
            yield (f'| {name} | {statistics.median(s[0] for s in taken):,.0f} | {cpu * 16 * 1e3:.2f} ms | **{cpu / six:.2f}** | '
                   f'{cpu / one:.2f} | {length(server, coding):,} B |')
    finally:
        for server in {server for server, _ in servers + ours}:
            server.stop()


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with tempfile.TemporaryDirectory(prefix='bench-', dir=build) as folder:
        place = Place(argparse.Namespace(build=build, rounds=1, seconds=0.1), folder)
        files.make_text(os.path.join(folder, 'text.txt'), 64 * KIB)
        server = place.eddy()
        try:
            for coding in CODINGS:
                drain = Drain(server, f'stream/{GIB}', coding)
                held, waited = spans(server, 50), waits(server, 0.02)
                drain.stop()
                size = length(server, coding)
                wrong = '' if held and waited and size < 40 * KIB else f'{len(held)} stretches, {len(waited)} waits, {size} bytes'
                yield f'compress-loop, {coding}', wrong
        finally:
            server.stop()


PARTS = {'compress-loop': loop, 'compress-memory': memory, 'compress-nginx': nginx}


def main(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench', description='responses that leave compressed')
    parser.add_argument('names', metavar='NAME', nargs='+', choices=list(PARTS), help=' '.join(PARTS))
    parser.add_argument('--rounds', type=int, default=5, help='samples of each (5)')
    parser.add_argument('--seconds', type=float, default=1, help='length of a sample (1)')
    parser.add_argument('--build', default=os.path.join(HERE, '..', 'build'), help='the folder of the programs')
    args = parser.parse_args(arguments)
    args.build = os.path.abspath(args.build)
    known = machine.facts()
    print(f'Printed by `./dev bench {" ".join(args.names)}` on {time.strftime("%Y-%m-%d")}: {args.rounds} rounds of {args.seconds:g} s; '
          f'the machine\'s load was {known["load_before"]} before.\n')
    for name in args.names:
        with tempfile.TemporaryDirectory(prefix='bench-', dir=args.build) as folder:
            for line in PARTS[name](Place(args, folder)):
                print(line, flush=True)
        print()
    return 0
