"""What is measured: each cell, its servers, and one sample of it."""
import ctypes
import dataclasses
import json
import os
import re
import statistics
import subprocess
import time

from servers import which

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = {'4k': 4 * KIB, '64k': 64 * KIB, '1m': MIB, '64m': 64 * MIB, '1g': GIB}
IDLE = 10000


@dataclasses.dataclass
class Cell:
    name: str
    kind: str  # get, put, hello, idle
    title: str
    file: str = ''
    connections: int = 1
    depth: int = 1

    @property
    def size(self):
        return SIZES.get(self.file, 0)


def _transfer(kind, file, connections):
    number = int(file[:-1])
    unit = {'k': 'KiB', 'm': 'MiB', 'g': 'GiB'}[file[-1]]
    return Cell(f'{kind}-{file}-{connections}', kind, f'{kind.upper()} {number} {unit} × {connections}', file, connections)


CELLS = [
    _transfer('get', '4k', 16),
    _transfer('get', '64k', 16),
    _transfer('get', '1m', 16),
    _transfer('get', '64m', 1),
    _transfer('get', '64m', 16),
    _transfer('get', '1g', 1),
    _transfer('put', '4k', 16),
    _transfer('put', '1m', 16),
    _transfer('put', '64m', 1),
    _transfer('put', '1g', 1),
    Cell('hello-64', 'hello', 'GET /hello × 64', '', 64),
    Cell('hello-pipelined', 'hello', 'GET /hello × 64, 16 at once', '', 64, 16),
    Cell('idle', 'idle', f'{IDLE:,} idle connections', '', IDLE),
]


def chosen(names):
    """The cells whose name is one of these or begins with one."""
    for name in names:
        if not any(c.name == name or c.name.startswith(name + '-') for c in CELLS):
            raise SystemExit(f'bench: there is no cell {name}; these are: {" ".join(c.name for c in CELLS)}')
    return [c for c in CELLS if not names or any(c.name == n or c.name.startswith(n + '-') for n in names)]


def make_files(bench, cells):
    """A file of each size that is sent, on the disk, and of each that is uploaded, in memory."""
    block = os.urandom(MIB)
    for kind, folder in (('get', os.path.join(bench.folder, 'files')), ('put', os.path.join(bench.uploads, 'source'))):
        os.makedirs(folder, exist_ok=True)
        for name in {c.file for c in cells if c.kind == kind}:
            left = SIZES[name]
            with open(os.path.join(folder, name), 'wb') as out:
                while left:
                    left -= out.write(block[:left])
                out.flush()
                os.fsync(out.fileno())


def empty(folder):
    for entry in os.scandir(folder):
        if entry.is_file():
            os.unlink(entry.path)


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


def start_servers(bench, cell):
    """All that take part in a cell, alive at once. nginx where it is installed."""
    servers = []

    def start(make, *args):
        servers.append(make(*args))

    def uploads(name):
        folder = os.path.join(bench.uploads, name)
        os.makedirs(folder, exist_ok=True)
        return folder

    files = os.path.join(bench.folder, 'files')
    try:
        for name in bench.builds:
            if cell.kind in ('get', 'put'):
                start(bench.eddy_files, name, files if cell.kind == 'get' else uploads(name))
            else:
                start(bench.eddy_hello, name)
        if which('nginx'):
            start(bench.nginx, {'get': '/files/', 'put': '/up/'}.get(cell.kind, '/'), uploads('nginx'))
        if cell.kind == 'get':
            start(bench.baseline, 'splice', os.path.join(files, cell.file))
            start(bench.baseline, 'read-send', os.path.join(files, cell.file))
        elif cell.kind == 'put':
            start(bench.baseline, 'splice-in', uploads('splice-in'))
            start(bench.baseline, 'recv-write', uploads('recv-write'))
    except Exception:
        stop_servers(servers)
        raise
    return servers


def stop_servers(servers):
    for server in servers:
        server.stop()


def _pinned(bench):
    if bench.client_cpu is None:
        return None
    return lambda: os.sched_setaffinity(0, {bench.client_cpu})


def _run(bench, command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_pinned(bench), timeout=120)
    if done.returncode:
        raise RuntimeError(f'{os.path.basename(command[0])}: {done.stderr.strip() or done.stdout.strip()}')
    return done.stdout


def _load(bench, cell, server, seconds):
    kind = 'put' if cell.kind == 'put' else 'get'
    command = [bench.program('load'), kind, '-c', str(cell.connections), '-t', str(seconds), '-d', str(cell.depth),
               '-p', str(server.pid), *(['-H', server.field] if server.field else [])]
    if kind == 'put':
        command += ['-f', os.path.join(bench.uploads, 'source', cell.file)]
        # Small ones get new names; large ones replace what the connection sent before, or memory would run out.
        if cell.size < MIB:
            command.append('-n')
    name = {'get': cell.file, 'put': 'file-', 'hello': 'hello'}[cell.kind]
    try:
        return json.loads(_run(bench, command + [server.url(name)]))
    finally:
        if kind == 'put':
            empty(os.path.join(bench.uploads, server.name))


_UNITS = {'us': 1, 'ms': 1e3, 's': 1e6}


def _wrk(bench, cell, server, wrk, seconds):
    cpu = server.cpu_seconds()
    text = _run(bench, [wrk, '-t1', f'-c{cell.connections}', f'-d{max(1, round(seconds))}s', '--latency',
                        *(['-H', server.field] if server.field else []), server.url('hello')])
    cpu = server.cpu_seconds() - cpu
    if 'Non-2xx' in text or 'Socket errors' in text:
        raise RuntimeError('wrk: ' + text)
    requests, time_taken, unit = re.search(r'(\d+) requests in ([\d.]+)(\w+),', text).groups()
    sample = {'requests': int(requests), 'bytes': 13 * int(requests), 'cpu': cpu, 'client_cpu': 0,
              'seconds': float(time_taken) * {'s': 1, 'm': 60, 'ms': 1e-3}[unit]}
    for part in (50, 99):
        value, unit = re.search(rf'^\s+{part}%\s+([\d.]+)(\w+)', text, re.M).groups()
        sample[f'p{part}_us'] = float(value) * _UNITS[unit]
    return sample


def sample(bench, cell, server, seconds, wrk=None):
    """One measurement of one server."""
    if cell.kind == 'get':
        warm(os.path.join(bench.folder, 'files', cell.file))
    if cell.kind == 'hello' and cell.depth == 1 and wrk:
        return _wrk(bench, cell, server, wrk, seconds)
    return _load(bench, cell, server, seconds)


def sample_idle(bench, cell, server):
    """Resident bytes of the server for each idle connection; one that has only just started."""
    _run(bench, [bench.program('load'), 'get', '-t', '0', server.url('hello')])
    before = server.resident_bytes()
    client = subprocess.Popen([bench.program('load'), 'hold', '-c', str(cell.connections), server.url('hello')],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=_pinned(bench))
    try:
        if not client.stdout.readline():
            raise RuntimeError(client.stderr.read())
        time.sleep(0.5)
        return {'bytes_each': (server.resident_bytes() - before) / cell.connections}
    finally:
        client.communicate('')


def derive(cell, samples):
    """The figures of a server from its samples: medians."""
    def median(figure):
        return statistics.median(figure(s) for s in samples)

    if cell.kind == 'idle':
        return {'bytes_each': median(lambda s: s['bytes_each'])}
    return {
        'gb_s': median(lambda s: s['bytes'] / s['seconds'] / 1e9),
        'requests_s': median(lambda s: s['requests'] / s['seconds']),
        'cpu_gib': median(lambda s: s['cpu'] / s['bytes'] * GIB),
        'cpu_us': median(lambda s: s['cpu'] / s['requests'] * 1e6),
        'p50_us': median(lambda s: s['p50_us']),
        'p99_us': median(lambda s: s['p99_us']),
        'client_busy': median(lambda s: s['client_cpu'] / s['seconds']),
    }
