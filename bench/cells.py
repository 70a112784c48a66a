"""What is measured: the cells, who takes part in each, and how it is run."""
import contextlib
import dataclasses
import os
import shlex
import time

import client
import files
import goals
import peers
from goals import BARE, COPYING, HTTP1

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = {'4k': 4 * KIB, '64k': 64 * KIB, '1m': MIB, '64m': 64 * MIB, '1g': GIB}
IDLE = 10000
IDLE_ROUNDS = 3
STALLED = 200
STALLED_NAME = f'{STALLED} downloads, {STALLED} uploads stalled'
ROUTES = (10, 10000)
KEYS = {'ecdsa': 'ECDSA P-256', 'rsa': 'RSA 2048'}
TECHNIQUES = ('auto', 'splice', 'ring-splice', 'sendfile', 'read-send', 'mmap', 'send-zc', 'dontcache')


@dataclasses.dataclass
class Cell:
    name: str
    kind: str   # as in KINDS, below
    group: str
    title: str
    file: str = ''
    connections: int = 1
    depth: int = 1
    key: str = ''       # of https://: ecdsa or rsa
    resumes: bool = False
    streams: int = 0    # of each connection of HTTP/2; 0: HTTP/1.1

    @property
    def size(self):
        return SIZES.get(self.file)

    @property
    def work(self):
        return {'put': 'put', 'both': 'put', 'replace': 'put', 'over': 'put', 'hello': 'hello', 'idle': 'hello', 'routes': 'hello', 'handshake': 'hello'}.get(self.kind, 'get')


def title(kind, file, connections):
    unit = {'k': 'KiB', 'm': 'MiB', 'g': 'GiB'}[file[-1]]
    return f'{kind.upper()} {file[:-1]} {unit} × {connections}'


def _get(file, connections):
    return Cell(f'get-{file}-{connections}', 'get', 'Downloads', title('get', file, connections), file, connections)


def _put(file, connections):
    return Cell(f'put-{file}-{connections}', 'put', 'Uploads', title('put', file, connections) + ', new files', file, connections)


def _replace(file, connections):
    return Cell(f'replace-{file}-{connections}', 'replace', 'Uploads', title('put', file, connections) + ', replaced files', file, connections)


def _tls(kind, file, connections):
    name = title(kind, file, connections) + ', TLS 1.3' + (', new files' if kind == 'put' else '')
    return Cell(f'tls-{kind}-{file}-{connections}', kind, 'TLS', name, file, connections, key='ecdsa')


def _handshake(key, resumes=False):
    what = f'resumed, {KEYS[key]}' if resumes else f'full, {KEYS[key]}'
    return Cell(f'tls-{"resumed" if resumes else "full"}-{key}', 'handshake', 'TLS', f'Handshakes × 16, {what}', '', 16, key=key, resumes=resumes)


def _http2(kind, file, connections, streams, key=''):
    what = 'GET /hello' + f' × {connections}' if kind == 'hello' else title('put' if kind == 'both' else kind, file, connections)
    name = f'h2-{"tls-" * bool(key)}{"put" if kind == "both" else kind}{f"-{file}" * bool(file)}-{connections}'
    return Cell(name, kind, 'HTTP/2', f'{what}, HTTP/2, {streams} stream{"s" * (streams > 1)}{", TLS 1.3" * bool(key)}', file, connections, key=key, streams=streams)


def _technique(file, connections):
    return Cell(f'technique-{file}', 'technique', 'Techniques', title('get', file, connections) + ', by technique', file, connections)


CELLS = [
    _get('4k', 16), _get('64k', 16), _get('1m', 16), _get('64m', 1), _get('64m', 16), _get('1g', 1),
    _put('4k', 16), _put('1m', 16), _put('64m', 1),
    _replace('4k', 16), _replace('1m', 16), _replace('64m', 1),
    Cell('put-64m-over', 'over', 'Uploads', 'PUT 64 MiB × 1, over a file that is there', '64m'),
    Cell('hello-64', 'hello', 'Small requests', 'GET /hello × 64', '', 64),
    Cell('hello-pipelined', 'hello', 'Small requests', 'GET /hello × 64, 16 at once', '', 64, 16),
    Cell('routes', 'routes', 'Small requests', 'GET /group0/part5/42 × 64', '', 64),
    _tls('get', '4k', 16), _tls('get', '1m', 16), _tls('get', '64m', 1), _tls('put', '64m', 1),
    _handshake('ecdsa'), _handshake('rsa'), _handshake('ecdsa', True), _handshake('rsa', True),
    *(_http2(*cell, key) for key in ('', 'ecdsa')
      for cell in (('get', '1m', 4, 4), ('get', '4k', 32, 10), ('hello', '', 32, 10), ('both', '64m', 4, 1))),
    Cell('idle', 'idle', 'Connections', f'{IDLE:,} idle connections', '', IDLE),
    Cell('tls-idle', 'idle', 'TLS', f'{IDLE:,} idle connections, TLS 1.3', '', IDLE, key='ecdsa'),
    Cell('stalled', 'stalled', 'Connections', 'GET 4 KiB × 16 beside stalled clients', '4k', 16),
    Cell('cold', 'cold', 'Connections', 'GET 4 KiB × 64 beside one who reads a large file', '4k', 64),
    Cell('workers', 'workers', 'Loops', 'GET 64 KiB of text × 16, by gzip, on all processors', files.TEXT, 16),
    _technique('4k', 16), _technique('64k', 16), _technique('1m', 16), _technique('64m', 1),
]


def fits(cell, names):
    return not names or any(cell.name == name or cell.name.startswith(name + '-') for name in names)


def chosen(names):
    """The cells whose name is one of these or begins with one."""
    for name in names:
        if not any(fits(cell, [name]) for cell in CELLS):
            raise SystemExit(f'bench: there is no cell {name}; these are: {" ".join(c.name for c in CELLS)}')
    return [cell for cell in CELLS if fits(cell, names)]


# ---- who takes part: calls that start a server, with a name if one can do without it

def _sides(bench, cell, settings):
    """eddy, and the one of --before; then all peers that do such work."""
    http2 = cell.streams > 0
    for build in bench.builds:
        if cell.work == 'hello' and (http2 or not cell.key):
            yield '', lambda build=build: peers.eddy_hello(bench, build, build, cell.key, http2=http2)
        else:
            folder = bench.uploads(build) if cell.work == 'put' else bench.files
            yield '', lambda build=build, folder=folder: peers.eddy_files(bench, folder, build, build, key=cell.key, http2=http2)
    for peer in settings.peers:
        if peer.does(cell):
            yield peer.name, lambda peer=peer: peers.start(bench, peer, cell.work, cell.key, http2)
    for text in settings.own if cell.work != 'put' and not cell.key and not http2 else ():
        yield text.partition('=')[0], lambda text=text: peers.start_own(bench, text, cell.work)


def _bare(bench, cell):
    techniques = {'get': ('splice', 'read-send'), 'put': ('splice-in', 'recv-write'),
                  'replace': ('splice-replace', 'recv-replace'), 'over': ('splice-over', 'recv-over')}
    if cell.kind == 'hello':
        yield '', lambda: peers.bare_hello(bench, BARE)
    for name, technique in zip((BARE, COPYING), techniques.get(cell.kind, ())):
        target = os.path.join(bench.files, cell.file) if cell.work == 'get' else bench.uploads(name)
        yield '', lambda name=name, technique=technique, target=target: peers.bare(bench, name, technique, target)


def _with_peers(bench, cell, settings):
    yield from _sides(bench, cell, settings)
    if not cell.key and not cell.streams:
        yield from _bare(bench, cell)


def _both(bench, cell, settings):
    """eddy, and the one of --before, by HTTP/2, and eddy by HTTP/1.1."""
    del settings
    yield '', lambda: peers.eddy_files(bench, bench.uploads(HTTP1), HTTP1, key=cell.key)
    for build in bench.builds:
        yield '', lambda build=build: peers.eddy_files(bench, bench.uploads(build), build, build, key=cell.key, http2=True)


def _over(bench, cell, settings):
    del settings
    folder = bench.uploads('eddy')
    yield '', lambda: peers.eddy_small(bench, 'over', words=[folder], path='/up/', uploads=folder)
    yield from _bare(bench, cell)


def _routes(bench, cell, settings):
    del cell, settings
    for count in ROUTES:
        yield '', lambda count=count: peers.eddy_small(bench, 'hello', f'{count:,} routes', words=[str(count)])


def _two(*names):
    def pair(bench, cell, settings):
        del cell, settings
        for name in names:
            yield '', lambda name=name: peers.eddy_files(bench, bench.files, name)
    return pair


def _workers(bench, cell, settings):
    del cell, settings
    for count in (1, 2):
        words = [bench.files, 'no_cache=1', f'workers={count}']
        yield '', lambda count=count, words=words: peers.eddy_small(bench, 'coded', f'{count} worker{"s" * (count > 1)}', words=words,
                                                                       path='/file/', cpu=None)


def _techniques(bench, cell, settings):
    del cell, settings
    for technique in TECHNIQUES:
        yield '', lambda technique=technique: peers.eddy_files(bench, bench.files, technique, words=['--technique', technique])


@contextlib.contextmanager
def _started(bench, cell, settings, left_out=()):
    """All of them, alive at once, each seen to give and take the right bodies."""
    with contextlib.ExitStack() as stack:
        servers = []
        for name, start in KINDS[cell.kind][0](bench, cell, settings):
            if name in left_out:
                continue
            try:
                server = start()
                stack.callback(server.stop)
                files.verify(bench, server, cell.work, _path(cell), cell.file)
            except Exception as error:  # pylint: disable=broad-except
                if not name:
                    raise
                settings.say(f'{name} is left out: {error}')
                continue
            servers.append(server)
        yield servers


# ---- how it is run

def _path(cell):
    if cell.kind == 'routes':
        return 'group0/part5/42'
    if cell.kind in ('put', 'both'):
        return 'file-{n}-{i}'
    return {'get': cell.file, 'put': 'file-{n}', 'hello': 'hello'}[cell.work]


def _sampled(bench, cell, settings, servers, **changes):
    """By eddy-bench, and nothing else."""
    words = ['--against', next((server.name for server in servers if server.name == 'nginx'), servers[0].name)]
    if cell.work == 'put':
        words += ['--body-file', bench.source(cell.file)]
    if cell.kind in ('put', 'both'):
        words += ['--between', f'find {shlex.quote(bench.memory)} -path "*/file-*" -delete -o -path "*/new-*" -delete']
    if cell.work == 'get':
        files.warm(os.path.join(bench.files, cell.file))
    if cell.kind == 'workers':
        words += ['--header', 'Accept-Encoding: gzip']
    words += client.secured(servers[0])
    if servers[0].http2:
        words += ['--http2', '--streams', cell.streams]
    if cell.kind == 'handshake':
        words += ['--header', 'Connection: close'] + ['--resume'] * cell.resumes
    work = 'put' if cell.work == 'put' else 'get'
    return client.measure(bench, work, servers, _path(cell), dataclasses.replace(settings, **changes), cell.connections, cell.depth, words)


def _plain(bench, cell, settings):
    """One who fails meanwhile, and can be done without, is left out, and all begins anew."""
    left_out = []
    while True:
        with _started(bench, cell, settings, left_out) as servers:
            try:
                return _sampled(bench, cell, settings, servers)
            except client.Failed as error:
                if not any(error.target and error.target == name for name, _ in KINDS[cell.kind][0](bench, cell, settings)):
                    raise
                settings.say(f'{error.target} is left out: {error}')
                left_out.append(error.target)


def _by_version(bench, cell, settings):
    """Servers that are asked by another version of HTTP each: eddy-bench speaks one at a time."""
    result = None
    with _started(bench, cell, settings) as servers:
        for number in range(settings.rounds):
            for server in servers if number % 2 else servers[::-1]:
                result = client.joined(result, _sampled(bench, cell, settings, [server], rounds=1))
        order = [server.name for server in servers]
    result['cells'][0]['targets'].sort(key=lambda target: order.index(target['name']))
    return result


def _idle(bench, cell, settings):
    """Resident bytes of servers that have only just begun: what is there already would be used again."""
    one, result, left_out = dataclasses.replace(cell, connections=1), None, []
    for _ in range(min(settings.rounds, IDLE_ROUNDS)):
        with _started(bench, cell, settings, left_out) as servers:
            # A sample of each, which only is to have room for these two figures.
            more = _sampled(bench, one, settings, servers, rounds=1, seconds=0.05)
            of_it = more['cells'][0]
            for server, target in list(zip(servers, of_it['targets'])):
                try:
                    _crowd(bench, cell, server, target)
                except RuntimeError as error:
                    if server.name in bench.builds:
                        raise
                    settings.say(f'{server.name} is left out: {error}')
                    left_out.append(server.name)
                    of_it['targets'].remove(target)
        result = client.joined(result, more)
    return result


def _crowd(bench, cell, server, target):
    before = server.resident_bytes()
    with client.Held(bench, server.url(_path(cell)), cell.connections, words=client.secured(server)):
        time.sleep(0.5)
        # Nothing else in it is of these connections.
        target['samples'] = [{'resident_bytes': server.resident_bytes(), 'resident_bytes_before': before, 'threads': server.threads()}]
    target['histogram'] = {}
    target['connections'] = cell.connections


def _stalled(bench, cell, settings):
    """Of two servers one has hundreds of clients that ask, or begin to send, and then do nothing."""
    with _started(bench, cell, settings) as servers:
        alone, crowded = servers
        for server in servers:
            # The kernel leaves one thread to whoever has ever made a file by its ring.
            files.verify(bench, server, 'put', 'stalled-{n}', '')
        with client.Held(bench, crowded.url('64m'), STALLED, 'get'), client.Held(bench, crowded.url('stalled-{n}'), STALLED, 'put'):
            time.sleep(settings.calm / 8)
            until = time.monotonic() + settings.calm
            while crowded.threads() > alone.threads() and time.monotonic() < until:
                time.sleep(0.1)
            return _sampled(bench, cell, settings, servers)


def _cold(bench, cell, settings):
    """Quick clients ask for small files that are in the page cache; a slow one reads files that are, or are not."""
    result = None
    with _started(bench, cell, settings) as servers:
        for number in range(settings.rounds):
            for server in servers if number % 2 else servers[::-1]:
                with files.Reader(bench, server, cold=server.name == 'cold'):
                    more = _sampled(bench, cell, settings, [server], rounds=1)
                result = client.joined(result, more)
    targets = result['cells'][0]['targets']
    targets.sort(key=lambda target: target['name'] == 'cold')
    result['cells'][0]['remarks'].append(f'the files are on {files.file_system(bench.files)}')
    return result


KINDS = {
    'get': (_with_peers, _plain),
    'put': (_with_peers, _plain),
    'replace': (_with_peers, _plain),
    'over': (_over, _plain),
    'both': (_both, _by_version),
    'hello': (_with_peers, _plain),
    'handshake': (_with_peers, _plain),
    'routes': (_routes, _plain),
    'idle': (_sides, _idle),
    'stalled': (_two('alone', STALLED_NAME), _stalled),
    'cold': (_two('warm', 'cold'), _cold),
    'workers': (_workers, _plain),
    'technique': (_techniques, _plain),
}


def weight(bench, cell, settings):
    """How many servers are measured: how long it takes, by and large."""
    return sum(1 for _ in KINDS[cell.kind][0](bench, cell, settings))


def measure(bench, cell, settings):
    """Return: a result that has this cell alone, with its goals."""
    result = KINDS[cell.kind][1](bench, cell, settings)
    of_it = result['cells'][0]
    of_it.update(name=cell.name, title=cell.title, group=cell.group, size=cell.size, connections=cell.connections)
    names = [target['name'] for target in of_it['targets']]
    if cell.kind == 'handshake':
        of_it['remarks'] = [remark for remark in of_it['remarks'] if 'were closed by the server and opened again' not in remark]  # that is what is measured
    of_it['against'] = 'nginx' if 'nginx' in names else names[0]
    of_it['goals'] = goals.of(cell.name, names)
    return result
