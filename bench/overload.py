"""Measures how long honest clients wait while others overload a server.

    python3 bench/overload.py                                   # all cases, with the programs of build/
    python3 bench/overload.py --before ../other/build trickle   # one case, beside another build

Each case is a function: it starts a server of a build, puts load on it, and returns how long an honest client waited, as seconds by
name. The table shows the worst of the rounds; with --before also how many times that is of what it was.
"""
# needs: openssl
import argparse
import contextlib
import os
import re
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = 3
GIVE_UP = 20.0      # an honest client that waits for so long is not waited for any longer
HOST = b'Host: localhost\r\n'
FILES = 20000
BIG = 64 << 20
LISTINGS = 150
HANDSHAKES = 40
JSON = b'[' + b'{},' * 349524 + b'{}]'   # a MiB
JSON_SECONDS = 4
PACE = 0.01


class Served:
    """A program of a build that serves; 'Listening on HOST:PORT' says where."""

    def __init__(self, build, program, *args, descriptors=0):
        wrap = ('prlimit', f'--nofile={descriptors}') if descriptors else ()
        self.process = subprocess.Popen([*wrap, os.path.join(build, program), *map(str, args)], stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True)
        self.port = 0
        while not self.port:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(f'{program} does not listen')
            if found := re.search(r'istening on \S*?:(\d+)', line):
                self.port = int(found[1])
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        with contextlib.suppress(ValueError):
            self.process.stderr.read()

    def connect(self, source='127.0.0.1', timeout=GIVE_UP, room=0):
        """`room`: for so many bytes that have not been read."""
        wire = socket.socket()
        if room:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        wire.settimeout(timeout)
        wire.bind((source, 0))
        wire.connect(('127.0.0.1', self.port))
        return wire

    def wait(self, path='/'):
        """Seconds until an honest client, with a connection of its own, has the beginning of an answer; GIVE_UP at most."""
        began = time.monotonic()
        try:
            with self.connect() as wire:
                wire.sendall(b'GET %b HTTP/1.1\r\n%bConnection: close\r\n\r\n' % (path.encode(), HOST))
                if wire.recv(4096):
                    return time.monotonic() - began
        except OSError:
            pass
        return GIVE_UP

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@contextlib.contextmanager
def served(*args, **options):
    server = Served(*args, **options)
    try:
        yield server
    finally:
        server.stop()


# ---- cases ----

def crowd_of(server, count, data):
    """Connections from 127.0.0.2 that have sent a part of a request."""
    crowd = []
    for _ in range(count):
        wire = server.connect('127.0.0.2', room=4096)
        wire.sendall(data)
        wire.setblocking(False)
        crowd.append(wire)
    return crowd


def trickle(build):
    """256 descriptors, and 400 connections from 127.0.0.2 that send a byte now and then, or take nothing; those that are closed come
    back."""
    kinds = {
        'of a head': b'GET / HTTP/1.1\r\nX: ',
        'of a body': b'PUT /files/x HTTP/1.1\r\n' + HOST + b'Content-Length: 1000000\r\n\r\nx',
        'and take no answer': b'GET /files/big HTTP/1.1\r\n' + HOST + b'\r\n',
    }
    for kind, data in kinds.items():
        with tempfile.TemporaryDirectory() as folder, \
                served(build, 'examples/files', folder, '--bind', '127.0.0.1:0', descriptors=256) as server:
            with open(os.path.join(folder, 'big'), 'wb') as file:
                file.truncate(BIG)
            crowd = crowd_of(server, 400, data)
            waited = server.wait()
            for at, wire in enumerate(crowd):
                try:
                    wire.send(b'x')
                except BlockingIOError:
                    pass
                except OSError:
                    wire.close()
                    crowd[at] = crowd_of(server, 1, data)[0]
            waited = max(waited, server.wait())
            for wire in crowd:
                wire.close()
        yield kind, waited


def request(method, path, body=b''):
    head = f'{method} {path} HTTP/1.1\r\nhost: localhost\r\n'
    if body:
        head += f'content-type: application/json\r\ncontent-length: {len(body)}\r\n'
    return (head + '\r\n').encode() + body


def receive_response(wire):
    data = b''
    while b'\r\n\r\n' not in data:
        data += wire.recv(65536) or b'\r\n\r\n'
    head, _, body = data.partition(b'\r\n\r\n')
    left = int(re.search(rb'(?i)content-length: (\d+)', head)[1]) - len(body)
    while left > 0:
        left -= len(wire.recv(65536)) or left


def shake(server):
    """A connection over TLS, which is not verified."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(server.connect())


def longest_handshake(server, enough):
    """Of 40 at least, and until there are enough. One that the server gave up counts as long as it took."""
    times = []
    while len(times) < HANDSHAKES or not enough():
        began = time.monotonic()
        with contextlib.suppress(OSError):
            shake(server).close()
        times.append(time.monotonic() - began)
        time.sleep(0.005)
    return max(times)


def make_key(folder):
    """Options that name a certificate and its key."""
    cert, key = os.path.join(folder, 'cert'), os.path.join(folder, 'key')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost',
                    '-out', cert, '-keyout', key], check=True, capture_output=True)
    return '--cert', cert, '--key', key


def handshakes(build):
    """TLS handshakes, alone and while 150 requests for the list of 20,000 files are not answered."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as keys:
        for i in range(FILES):
            open(os.path.join(folder, f'file-{i:05}'), 'w').close()
        with served(build, 'examples/files', folder, '--bind', '127.0.0.1:0', *make_key(keys)) as server:
            yield 'alone', longest_handshake(server, lambda: True)
            clients = [shake(server) for _ in range(LISTINGS)]
            for client in clients:
                client.sendall(request('GET', '/api/files'))
            # The first bytes of the last list end it.
            answered = threading.Event()
            threading.Thread(target=lambda: [client.recv(1) for client in clients] and answered.set(), daemon=True).start()
            yield 'beside 150 lists', longest_handshake(server, answered.is_set)
            for client in clients:
                client.close()


def median_of_small(server):
    times = []
    with server.connect() as wire:
        end = time.monotonic() + JSON_SECONDS
        while time.monotonic() < end:
            # At any moment, not only when the last answer has come: between two posts the server is idle.
            time.sleep(PACE)
            began = time.monotonic()
            wire.sendall(request('GET', '/hello'))
            receive_response(wire)
            times.append(time.monotonic() - began)
    return statistics.median(times)


def post_json(server):
    """Until it is killed. A request that is refused early is posted again."""
    while True:
        with contextlib.suppress(OSError, TypeError), server.connect() as wire:
            wire.sendall(request('POST', '/json', JSON))
            receive_response(wire)


def json(build):
    """The median of small requests, alone and while one client posts a MiB of JSON again and again."""
    with served(build, 'examples/tour', '--bind', '127.0.0.1:0') as server:
        yield 'median alone', median_of_small(server)
        poster = os.fork()
        if poster == 0:
            post_json(server)
        try:
            yield 'median beside a MiB', median_of_small(server)
        finally:
            os.kill(poster, signal.SIGKILL)
            os.waitpid(poster, 0)


CASES = {
    'trickle': trickle,
    'handshakes': handshakes,
    'json': json,
}


# ---- the table ----

def figures(build, case):
    """The worst of the rounds, by name."""
    worst = {}
    for _ in range(ROUNDS):
        for name, seconds in CASES[case](build):
            worst[name] = max(worst.get(name, 0), seconds)
    return worst


def shown(seconds):
    return f'over {GIVE_UP:.0f} s' if seconds >= GIVE_UP else f'{seconds * 1000:.2f} ms'


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('cases', nargs='*', help=', '.join(CASES))
    parser.add_argument('--build', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build'))
    parser.add_argument('--before', help='the build folder of another version')
    arguments = parser.parse_args()
    unknown = [case for case in arguments.cases if case not in CASES]
    if unknown:
        parser.error(f'no such case: {", ".join(unknown)}')
    print('| Case | ' + ('Before | Now | Ratio |' if arguments.before else 'Now |'))
    print('|---|' + ('--:|--:|--:|' if arguments.before else '--:|'))
    for case in arguments.cases or CASES:
        before = figures(arguments.before, case) if arguments.before else {}
        for name, seconds in figures(arguments.build, case).items():
            row = [f'{case}, {name}', shown(seconds)]
            if before:
                row[1:1] = [shown(before[name])]
                row.append(f'{seconds / before[name]:.4f}')
            print('| ' + ' | '.join(row) + ' |', flush=True)


if __name__ == '__main__':
    sys.exit(main())
