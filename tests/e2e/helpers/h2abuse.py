"""Clients of HTTP/2 that make work for nothing, each beside an honest one.

What an honest client sees is compared with what it sees while the same attack is on another server, which makes the machine as busy. As root,
the servers and that client go before other programs.
"""
import contextlib
import itertools
import json
import os
import re
import select
import signal
import struct
import time
from collections import Counter

import h2wire
from h2wire import CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE, Plain, frame, get
from wire import KIB, MIB, Case, Lost

CALM, PROTOCOL_ERROR, STREAM_CLOSED = h2wire.ENHANCE_YOUR_CALM, h2wire.PROTOCOL_ERROR, h2wire.STREAM_CLOSED
WRITE_TIMEOUT = 1
CONFIG = f'[server]\nwrite_timeout_ms = {WRITE_TIMEOUT * 1000}\n'
HONEST, DOWNLOAD = get(b'/hello/you'), get(b'/files/big')
REFUSED, UPLOAD = (b'\x83' + fields[1:] for fields in (HONEST, get(b'/echo')))      # POST
FIELD = b'\x40\x01x\x7f' + bytes((0x80 | (4000 - 127) & 0x7f, (4000 - 127) >> 7)) + b'v' * 4000     # it becomes entry 62 of the table
AT_ONCE = 8
ROUNDS = 10     # a short one may meet other programs


def u32(number):
    return struct.pack('>I', number)


def headers(stream, fields, flags=END_HEADERS | END_STREAM):
    return frame(HEADERS, flags, stream, fields)


def streams(of):
    """Pieces, each for 50 streams."""
    for first in itertools.count(1, 100):
        yield b''.join(of(stream) for stream in range(first, first + 100, 2))


def again(piece, first=b''):
    def pieces():
        yield first
        yield from itertools.repeat(piece * (8 * KIB // len(piece) + 1))
    return pieces


def reset_by(cause):
    return lambda: streams(lambda stream: headers(stream, DOWNLOAD) + cause(stream))


def windows_byte_by_byte():
    yield frame(SETTINGS, 0, 0, struct.pack('>HI', 4, 0)) + headers(1, DOWNLOAD)
    yield from itertools.repeat(frame(WINDOW_UPDATE, 0, 1, u32(1)) * 10)


def fields_of_fields():
    """One large field, which each byte repeats."""
    yield headers(1, HONEST + FIELD)
    for stream in itertools.count(3, 2):
        yield headers(stream, HONEST + b'\xbe' * 16000)


def slow_readers():
    yield b''.join(headers(stream, DOWNLOAD) for stream in range(1, 200, 2))
    end = time.monotonic() + 3 * WRITE_TIMEOUT
    while time.monotonic() < end:
        time.sleep(0.05)
        yield frame(WINDOW_UPDATE, 0, 0, u32(1))


# What they send, and the error codes of GOAWAY with which a connection may end; None: it may go on, 'none': it may end without one.
ATTACKS = {
    'rapid reset': (reset_by(lambda stream: frame(RST_STREAM, 0, stream, u32(h2wire.CANCEL))), {CALM}),
    'windows of 0': (reset_by(lambda stream: frame(WINDOW_UPDATE, 0, stream, u32(0))), {PROTOCOL_ERROR}),
    # Streams that are to be reset still count for the limit of streams.
    'windows too large': (reset_by(lambda stream: frame(WINDOW_UPDATE, 0, stream, u32(2**31 - 1))), {CALM, PROTOCOL_ERROR}),
    'data behind the end': (reset_by(lambda stream: frame(DATA, 0, stream, b'x')), {STREAM_CLOSED}),
    'continuations': (again(frame(CONTINUATION, 0, 1), headers(1, HONEST, 0)), {PROTOCOL_ERROR}),
    'large continuations': (again(frame(CONTINUATION, 0, 1, b'\0\1x\x7d' + b'v' * 125), headers(1, HONEST, 0)), {PROTOCOL_ERROR}),
    'settings': (again(frame(SETTINGS)), {CALM}),
    'pings': (again(frame(PING, payload=bytes(8))), {CALM}),
    'goodbyes': (again(frame(GOAWAY, payload=bytes(8)), headers(1, DOWNLOAD)), {CALM}),
    'unknown frames': (again(frame(99)), {CALM}),
    'empty data': (again(frame(DATA, 0, 1), headers(1, UPLOAD, END_HEADERS)), {CALM}),
    'empty data of ended streams': (again(frame(DATA, 0, 1), headers(1, REFUSED, END_HEADERS)), {CALM}),
    'windows of ended streams': (again(frame(WINDOW_UPDATE, 0, 1, u32(1)), headers(1, HONEST)), {CALM}),
    'headers of ended streams': (again(headers(1, HONEST), headers(1, REFUSED, END_HEADERS)), {CALM, STREAM_CLOSED}),
    'windows byte by byte': (windows_byte_by_byte, {CALM}),
    'repeated fields': (fields_of_fields, {CALM}),
    'slow readers': (slow_readers, {None, 'none'}),
}
PROCESSES = {'slow readers': 8}


def codes_of(data):
    """Error codes of GOAWAY frames."""
    while len(data) >= 17:
        if data[3] == GOAWAY:
            yield int.from_bytes(data[13:17], 'big')
        data = data[9 + int.from_bytes(data[:3], 'big'):]


def attack(port, pieces, end):
    """Send until the connection ends, or the time. Return: error codes of GOAWAY frames; None if it has not ended."""
    data, is_over = bytearray(), False
    with Plain(port, source='127.0.0.2') as wire:
        wire.more()     # the server's settings
        try:
            for piece in pieces:
                if time.monotonic() > end:
                    return None
                wire.socket.sendall(piece)
                while not is_over and select.select([wire.socket], [], [], 0)[0]:
                    data += (got := wire.socket.recv(64 * KIB))
                    is_over = not got
                if is_over:
                    break
        except (BrokenPipeError, ConnectionResetError):
            is_over = True
        with contextlib.suppress(ConnectionResetError):
            while is_over and (got := wire.socket.recv(64 * KIB)):
                data += got
    return set(codes_of(wire.data + data))


def attack_until(port, name, end, told):
    pieces, codes = ATTACKS[name]
    counts, late = Counter(), end if None in codes else end + 20
    while time.monotonic() < (end if counts else late):
        with contextlib.suppress(Lost, ConnectionResetError):
            found = attack(port, pieces(), end if counts else late)
            if found is not None:
                counts.update(map(str, found) if found else ['none'])
    os.write(told, json.dumps(counts).encode())


def prefer(pid, nice):
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, nice)


class Attackers:
    """Processes that attack for so many seconds, at least once."""

    def __init__(self, port, name, seconds):
        self.name, self.children = name, []
        for _ in range(PROCESSES.get(name, 1)):
            hear, tell = os.pipe()
            pid = os.fork()
            if not pid:
                status = 1
                with contextlib.suppress(BaseException):
                    prefer(0, 0)
                    attack_until(port, name, time.monotonic() + seconds, tell)
                    status = 0
                os._exit(status)
            os.close(tell)
            self.children.append((pid, hear))

    def kill(self, number):
        for pid, _ in self.children:
            os.kill(pid, number)

    def end(self):
        """Return: how many connections have ended by which error code."""
        counts = Counter()
        for pid, hear in self.children:
            with os.fdopen(hear) as file:
                counts.update(json.loads(file.read() or '{}'))
            if os.waitpid(pid, 0)[1]:
                raise AssertionError(f'an attacker has failed: {self.name}')
        return counts


class Seen:
    """What an honest client sees."""

    def __init__(self):
        self.took, self.seconds = [], 0

    def work(self, wire, seconds):
        began = before = time.monotonic()
        while before < began + seconds:
            if wire.ask(HONEST, AT_ONCE).count(b'you') != AT_ONCE:
                raise AssertionError('not the responses')
            self.took.append(-before + (before := time.monotonic()))
        self.seconds += before - began

    @property
    def rate(self):
        return AT_ONCE * len(self.took) / self.seconds

    @property
    def p99(self):
        return sorted(self.took)[len(self.took) * 99 // 100]


class Abused(Case):
    seconds, slice, measures = 30, 0.2, True

    def calmed(self, *servers):
        """How many connections they have ended with ENHANCE_YOUR_CALM."""
        return sum(int(re.search(r'^eddy_http2_connections_calmed_total (\d+)', server.get('/metrics').body.decode(), re.M)[1])
                   for server in servers)

    def suffer(self, server, other, name, seen):
        """Return: how the attackers' connections have ended. `seen` has what an honest client saw meanwhile, and while the other server was
        attacked."""
        end = seen[0].seconds + self.seconds / 2
        with Plain(server.port) as wire:
            wire.socket.sendall(frame(WINDOW_UPDATE, 0, 0, u32(1 << 30)))
            attackers = [Attackers(each.port, name, self.seconds / 2) for each in (server, other)]
            while seen[0].seconds < end:
                for these, those, what in (*attackers, seen[0]), (*reversed(attackers), seen[1]):
                    those.kill(signal.SIGSTOP)
                    these.kill(signal.SIGCONT)
                    time.sleep(self.slice / 5)
                    what.work(wire, self.slice)
            attackers[0].kill(signal.SIGCONT)
            return attackers[0].end() + attackers[1].end()

    def start(self):
        folder = self.folder()
        with open(os.path.join(folder, 'big'), 'wb') as file:
            file.truncate(4 * MIB)
        with open(os.path.join(folder, '.config'), 'w') as file:
            file.write(CONFIG)
        return self.serve('--dir', folder, '--config', os.path.join(folder, '.config'), program='tour')

    def check(self, name):
        server, other, codes = self.start(), self.start(), ATTACKS[name][1]
        self.addCleanup(prefer, 0, os.getpriority(os.PRIO_PROCESS, 0))
        for pid in (server.pid, other.pid, 0):
            prefer(pid, -10)
        Attackers(server.port, name, max(0.1, self.seconds / 10)).end()      # fills pools
        before, calmed, counts = server.rss(), self.calmed(server, other), Counter()
        during, idle = seen = Seen(), Seen()
        for _ in range(ROUNDS):
            counts += self.suffer(server, other, name, seen)
            text = (f'{name}: ended by {dict(counts)}, {during.rate:.0f} requests/s and p99 {during.p99 * 1000:.1f} ms, beside it '
                    f'{idle.rate:.0f} and {idle.p99 * 1000:.1f} ms')
            slow = self.measures and (during.p99 > 0.05 + idle.p99 or during.rate < idle.rate / 2)
            if not slow:
                break
        print(text)
        self.assertFalse(slow, text)
        self.assertTrue(counts or None in codes, text)
        self.assertLessEqual(set(counts), set(map(str, codes)), text)
        self.assertGreaterEqual(self.calmed(server, other) - calmed, counts[str(CALM)])
        if self.measures:
            self.eventually(lambda: server.rss() < before + 8 * MIB, what=lambda: f'{server.rss() / MIB:.1f} MiB, {before / MIB:.1f} before')


def made(name):
    return lambda self: self.check(name)


for name in ATTACKS:
    setattr(Abused, 'test_' + name.replace(' ', '_'), made(name))
