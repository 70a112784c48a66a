"""Files that are sent and received, and whether a server gives and takes them as they are."""
import ctypes
import hashlib
import http.client
import os
import socket
import ssl
import threading
import time

import client
from peers import HELLO

MIB = 1 << 20
# What a slow client reads in turn, and how often.
LARGE = 64
PACE = 0.02
TEXT = 'text.txt'


def make_text(path, size):
    words = ['the', 'water', 'of', 'a', 'river', 'turns', 'and', 'stone', 'in', 'ring', 'where', 'leaves', 'to', 'bridge', 'mill', 'far.\n']
    state, block = 1, bytearray()
    while len(block) < min(size, MIB):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        word = words[state >> 60] if state >> 40 & 7 else chr(97 + (state >> 33) % 26) * (1 + (state >> 30) % 3)
        block += word.encode() + b' '
    block = bytes(block[:min(size, MIB)])
    with open(path, 'wb') as out:
        while out.tell() < size:
            out.write(block[:size - out.tell()])
    os.utime(path, (1e9, 1e9))


def make(bench, cells):
    """A file of each size that is sent, on the disk, and of each that is uploaded, in memory."""
    block = os.urandom(MIB)

    def write(path, size):
        with open(path, 'wb') as out:
            while size:
                size -= out.write(block[:size])
            out.flush()
            os.fsync(out.fileno())

    os.makedirs(bench.source(''), exist_ok=True)
    for cell in cells:
        if cell.file == TEXT:
            make_text(os.path.join(bench.files, TEXT), 64 << 10)
        elif cell.file:
            path = bench.source(cell.file) if cell.work == 'put' else os.path.join(bench.files, cell.file)
            if not os.path.exists(path):
                write(path, cell.size)
    if any(cell.work == 'hello' and cell.key for cell in cells):
        with open(os.path.join(bench.files, 'hello'), 'wb') as out:
            out.write(HELLO)
    if any(cell.kind == 'cold' for cell in cells):
        for path in large(bench):
            write(path, MIB)
    if any(cell.kind == 'stalled' for cell in cells) and not os.path.exists(os.path.join(bench.files, '64m')):
        write(os.path.join(bench.files, '64m'), 64 * MIB)


def large(bench):
    return [os.path.join(bench.files, f'large-{i}') for i in range(LARGE)]


class _Range(ctypes.Structure):
    _fields_ = [('offset', ctypes.c_uint64), ('len', ctypes.c_uint64)]


def cached_pages(fd, size):
    """None where the kernel can't say (before 6.5)."""
    answer = (ctypes.c_uint64 * 5)()
    span = _Range(0, size)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(451, fd, ctypes.byref(span), answer, 0) < 0:
        return None
    return answer[0]


def warm(path):
    """Into the page cache, and seen to be there: some kernels page out what rests for a minute."""
    size = os.path.getsize(path)
    pages = -(-size // os.sysconf('SC_PAGESIZE'))
    with open(path, 'rb', buffering=0) as file:
        for _ in range(3):
            cached = cached_pages(file.fileno(), size)
            if cached == pages:
                return
            file.seek(0)
            while file.read(MIB):
                pass
            if cached is None:
                return
    raise RuntimeError(f'a file of {size} bytes does not stay in the page cache')


def file_system(path):
    """The type of the one that a folder is on."""
    best = ('', 'an unknown file system')
    with open('/proc/self/mounts', encoding='utf-8') as file:
        for line in file:
            _, point, kind, *_ = line.split()
            inside = point == '/' or path == point or path.startswith(point + '/')
            if inside and len(point) >= len(best[0]):
                best = (point, kind)
    return best[1]


# ---- is it right

def _same(response, path):
    with open(path, 'rb') as file:
        while True:
            wanted = file.read(MIB)
            if response.read(MIB) != wanted:
                return False
            if not wanted:
                return True


def verify(bench, server, work, path, file):
    """Raise unless the server answers with just what it should, or keeps just what it was sent."""
    if server.http2:
        _verify_http2(bench, server, work, path, file)
        return
    if server.certificate:
        context = ssl.create_default_context(cafile=server.certificate.cert)
        conn = http.client.HTTPSConnection('127.0.0.1', server.port, timeout=30, context=context)
    else:
        conn = http.client.HTTPConnection('127.0.0.1', server.port, timeout=30)
    target = server.path + path.replace('{n}', 'verified')
    body = os.urandom(100000) if work == 'put' else None
    try:
        conn.request('PUT' if body else 'GET', target, body)
        response = conn.getresponse()
        if response.status // 100 != 2:
            raise RuntimeError(f'{target}: status {response.status}')
        if work == 'get' and not _same(response, os.path.join(bench.files, file)):
            raise RuntimeError(f'{target}: not the bytes of the file')
        if work == 'hello' and response.read() != HELLO:
            raise RuntimeError(f'{target}: not "{HELLO.decode()}"')
        response.read()
        if body:
            _verify_stored(server, body)
    finally:
        conn.close()


def _read(path):
    with open(path, 'rb') as file:
        return file.read()


def _verify_http2(bench, server, work, path, file):
    words = ['--http2', '--time', 0.01, '--rounds', 1, '--warmup', 0, '--no-system-calls', *client.secured(server)]
    if work == 'put':
        words += ['--sizes', 100000, '--verify']
    else:
        words += ['--digest', hashlib.sha256(HELLO if work == 'hello' else _read(os.path.join(bench.files, file))).hexdigest()]
    client.run(bench, ['put' if work == 'put' else 'get', *words, server.url(path.replace('{i}', 'verified'))])


def _verify_stored(server, body):
    """It is there, whatever it is called, and goes again."""
    paths = [entry.path for entry in os.scandir(server.uploads) if entry.is_file()]
    for path in paths:
        with open(path, 'rb') as file:
            right = file.read(len(body) + 1) == body
        if right:
            os.unlink(path)
            return
    raise RuntimeError('what was sent has not become a file')


# ---- a client that is slow

class Reader:
    """Asks for one large file after another, one every PACE seconds; with `cold` they are not in the page cache."""

    def __init__(self, bench, server, cold):
        self.bench, self.server, self.cold = bench, server, cold
        self.count, self.error = 0, None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        self.ended.set()
        self.thread.join()
        if not kind and (self.error or not self.count):
            raise RuntimeError(f'nothing was read from {self.server.name} meanwhile: {self.error}')

    def _run(self):
        try:
            if self.bench.client_cpu is not None:
                os.sched_setaffinity(0, {self.bench.client_cpu})
            self._read_all()
        except Exception as error:  # pylint: disable=broad-except
            self.error = error

    def _read_all(self):
        buffer = bytearray(MIB)
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=30) as conn:
            at = time.monotonic()
            while not self.ended.is_set():
                path = large(self.bench)[self.count % LARGE]
                self._prepare(path)
                conn.sendall(f'GET {self.server.path}{os.path.basename(path)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.encode())
                self._receive(conn, buffer)
                self.count += 1
                at += PACE
                self.ended.wait(max(0, at - time.monotonic()))

    def _prepare(self, path):
        if not self.cold:
            warm(path)
            return
        with open(path, 'rb') as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    @staticmethod
    def _receive(conn, buffer):
        head = b''
        while b'\r\n\r\n' not in head:
            more = conn.recv(4096)
            if not more:
                raise RuntimeError('the server has closed')
            head += more
        if b' 200 ' not in head.split(b'\r\n', 1)[0]:
            raise RuntimeError(f'the server answers {head[:40]}')
        left = MIB - len(head.partition(b'\r\n\r\n')[2])
        while left:
            got = conn.recv_into(buffer, left)
            if not got:
                raise RuntimeError('the server has closed')
            left -= got
