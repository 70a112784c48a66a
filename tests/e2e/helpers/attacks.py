"""Clients that overload a server, all at once, beside honest ones.

`files` is attacked over TLS, `tour` without. Each attack is a process of its own, from an address of its own, at a lower priority than the
honest clients and the servers: attackers have machines of their own.
"""
import contextlib
import os
import random
import signal
import ssl
import time

from tls import TlsWire, at, context
from wire import KIB, MIB, Lost, Server, Wire, request

FILES = 20000           # names in the folder that is listed
DESCRIPTORS = 1024      # of each server
WITHOUT, WITH_TLS = 64 * KIB, 192 * KIB     # what docs/http.md allows for each connection
BODY_MEMORY = 64 * MIB
LISTS = 8 * 4 * MIB     # versions of a list that `files` keeps, each with what it takes to make it
NICE = 10
PACE = 0.02
HEAD = b'GET / HTTP/1.1\r\nHost: localhost\r\nX: '
BODY = request('PUT', '/files/slow', 'Content-Length: 1000000')
CONFIG = f'[server]\nbody_memory_max = {BODY_MEMORY}\n'
ITEMS = b'[' + b'{},' * 349524 + b'{}]'     # a MiB of JSON, most of which is values
UNREADY = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Target:
    """A server, and how to reach it."""

    def __init__(self, server, context=None):
        self.server, self.context = server, context

    def dial(self, source, **options):
        return Wire(self.server.port, source=source, **options)

    def connect(self, source, **options):
        if not self.context:
            return self.dial(source, **options)
        return TlsWire(self.server.port, self.context, source=source, **options)

    def memory_max(self):
        if self.context:
            return DESCRIPTORS * WITH_TLS + LISTS
        return DESCRIPTORS * WITHOUT + BODY_MEMORY


# ---- attacks: each goes on until it is killed ----

def send_some(wire, data):
    """As much as is taken now. Return: whether the connection is there."""
    try:
        wire.socket.setblocking(False)
        wire.socket.send(data)
    except UNREADY:
        pass
    except OSError:
        return False
    return True


def crowd(target, source, count, first, piece=b'', **options):
    """So many connections that have sent `first`, and send `piece` twice a second. One that is closed comes back."""
    wires = [None] * count
    while True:
        for at in range(count):
            if wires[at] and send_some(wires[at], piece):
                continue
            if wires[at]:
                wires[at].close()
            wires[at] = None
            with contextlib.suppress(OSError):
                wires[at] = target.connect(source, **options)
                send_some(wires[at], first)
        time.sleep(0.5)


def trickle_heads(target, source):
    crowd(target, source, 300, HEAD, b'x')


def trickle_bodies(target, source):
    crowd(target, source, 300, BODY, b'x')


def take_no_answer(target, source):
    crowd(target, source, 150, request('GET', '/files/big'), rcvbuf=4096)


def stop_within_hello(target, source):
    """The first bytes of a handshake, or of whatever it is."""
    crowd(Target(target.server), source, 200, b'\x16\x03\x01\x02\x00\x01')


def ask_for_lists(target, source):
    """150 at a time, of which nobody reads more than the beginning."""
    while True:
        wires = []
        with contextlib.suppress(OSError):
            for _ in range(150):
                wires.append(target.connect(source))
                send_some(wires[-1], request('GET', '/api/files'))
            for wire in wires:
                wire.socket.settimeout(5)
                wire.socket.recv(1)
        for wire in wires:
            wire.close()


def post_json(target, source):
    while True:
        with contextlib.suppress(OSError, Lost), target.connect(source) as wire:
            wire.ask(request('POST', '/json', 'Content-Type: application/json', body=ITEMS))


def hold_bodies(target, source):
    """Bodies of a MiB in memory, all but the last byte: more of them than memory is for."""
    most = request('POST', '/json', 'Content-Type: application/json', f'Content-Length: {MIB}') + b' ' * (MIB - 1)
    wires = []
    while True:
        with contextlib.suppress(OSError):
            wires.append(target.connect(source))
            wires[-1].try_send(most)
        if len(wires) == 2 * BODY_MEMORY // MIB:
            wires.pop(0).close()
        time.sleep(PACE)


def shake_hands(target, source):
    while True:
        with contextlib.suppress(OSError):
            target.connect(source).close()


def come_and_go(target, source):
    while True:
        with contextlib.suppress(OSError):
            wire = target.dial(source)
            wire.try_send(random.choice((b'', HEAD, request('GET', '/'), random.randbytes(300))))
            wire.reset()
        time.sleep(PACE)


ANY = (trickle_heads, trickle_bodies, take_no_answer, come_and_go)
OVER_TLS = (*ANY, stop_within_hello, ask_for_lists, shake_hands)
PLAIN = (*ANY, post_json, hold_bodies)


@contextlib.contextmanager
def attacked(target, attacks):
    pids = []
    for at, attack in enumerate(attacks):
        pid = os.fork()
        if not pid:
            with contextlib.suppress(BaseException):
                os.nice(NICE)
                attack(target, f'127.0.0.{at + 2}')
            os._exit(1)
        pids.append(pid)
    try:
        yield pids
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


# ---- the servers, and honest clients ----

def make_folder(path):
    for at in range(FILES):
        with open(os.path.join(path, f'file-{at:05}'), 'w'):
            pass
    with open(os.path.join(path, 'big'), 'wb') as file:
        file.truncate(64 * MIB)
    with open(os.path.join(path, 'small'), 'wb') as file:
        file.write(b'small')
    with open(os.path.join(path, '.config'), 'w') as file:
        file.write(CONFIG)


def start(path):
    """Servers whose descriptors are few."""
    few = ('prlimit', f'--nofile={DESCRIPTORS}')
    return (Target(Server(path, '--cert', at('server.pem'), '--key', at('server.key'), wrap=few, log=os.environ.get('ATTACK_LOG')), context()),
            Target(Server('--dir', path, '--config', os.path.join(path, '.config'), program='tour', wrap=few, log=os.environ.get('ATTACK_LOG'))))


def wait(target):
    """Seconds until an honest client with a connection of its own has a small file."""
    began = time.monotonic()
    with target.connect('127.0.0.1', timeout=20) as wire:
        body = wire.ask(request('GET', '/files/small', 'Connection: close')).body
    if body != b'small':
        raise AssertionError(f'not the file, but {body!r}\n{target.server.log[-2000:]}')
    return time.monotonic() - began


def run(path, seconds):
    """Return: of each server how long honest clients waited, what it had in memory at most, and what it may."""
    targets = start(path)
    waits = ([], [])
    try:
        with attacked(targets[0], OVER_TLS) as over_tls, attacked(targets[1], PLAIN) as plain:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                for target, own in zip(targets, waits):
                    own.append(wait(target))
                time.sleep(PACE)
            for pid in (*over_tls, *plain):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    raise AssertionError('an attack has ended')
        return [(own, target.server.peak(), target.memory_max()) for target, own in zip(targets, waits)]
    finally:
        for target in targets:
            target.server.stop()
