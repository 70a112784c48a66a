"""What eddy-bench is told, and what it answers."""
import json
import os
import subprocess

TIMEOUT = 600
# Seconds in which something has to move: a disk that is behind with its writing stops those who write for many.
STILL = 60
SUITE = 'TLS_AES_128_GCM_SHA256'


class Failed(RuntimeError):
    """`target` is who did not do as it should, or None."""

    def __init__(self, said):
        super().__init__(said)
        parts = said.split(': ', 2)
        self.target = parts[1] if len(parts) == 3 and parts[0] == 'eddy-bench' else None


def run(bench, words, **options):
    """eddy-bench, on the processor of clients."""
    command = [bench.program('eddy-bench/eddy-bench'), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=bench.pin_client(), timeout=TIMEOUT, **options)
    if done.returncode:
        raise Failed((done.stderr or done.stdout).strip().rpartition('\n')[2] or f'eddy-bench: status {done.returncode}')
    return done.stdout


def speaks_http2(build):
    """Whether eddy and eddy-bench are built with libnghttp2."""
    with open(os.path.join(build, 'bench', 'eddy-bench', 'eddy-bench'), 'rb') as file:
        return b'nghttp2_session' in file.read()


def secured(server):
    return ['--ca', server.certificate.cert, '--ciphers', SUITE] if server.certificate else []


def measure(bench, work, servers, path, settings, connections=1, depth=1, words=()):
    """Measure these servers, which take turns. Return: a whole result, of one cell."""
    urls = [f'{server.name}={server.url(path)}' for server in servers]
    path = os.path.join(bench.folder, 'cell.json')
    run(bench, [work, '--connections', connections, '--depth', depth, '--rounds', settings.rounds, '--time', settings.seconds,
                '--warmup', settings.warmup, '--timeout', STILL, '--json', path, *words, *urls])
    with open(path, encoding='utf-8') as file:
        result = json.load(file)
    for target, server in zip(result['cells'][0]['targets'], servers):
        target['version'] = server.version
    # What it says of sessions is of this cell alone.
    result['cells'][0]['remarks'] += session_remarks(result['remarks'])
    return result


def session_remarks(remarks):
    """Each suite once, and those who resumed sessions, or did not."""
    spoken = {}
    for remark in remarks:
        name, speaks, suite = remark.partition(' speaks ')
        if speaks:
            spoken.setdefault(suite, []).append(name)
    for suite, names in spoken.items():
        yield f'{", ".join(names)}: {suite}'
    for remark in remarks:
        if ' resumed ' in remark:
            yield remark


def add_counts(buckets, more):
    """Of two histograms, by time."""
    counts = dict(map(tuple, buckets))
    for us, count in more:
        counts[us] = counts.get(us, 0) + count
    return sorted(map(list, counts.items()))


def joined(result, more):
    """Two results of one cell as one: further rounds of its targets, or targets that it has not yet."""
    if not result:
        return more
    cell = result['cells'][0]
    known = {target['name']: target for target in cell['targets']}
    for target in more['cells'][0]['targets']:
        mine = known.get(target['name'])
        if not mine:
            cell['targets'].append(target)
            continue
        mine['samples'] += target['samples']
        for what, buckets in target['histogram'].items():
            mine['histogram'][what] = add_counts(mine['histogram'].get(what, []), buckets)
    cell['remarks'] += [remark for remark in more['cells'][0]['remarks'] if remark not in cell['remarks']]
    result['settings']['rounds'] = max(len(target['samples']) for target in cell['targets'])
    return result


class Held:
    """Connections that are kept: idle, or with a transfer that they do not go on with."""

    def __init__(self, bench, url, connections, stall=None, words=()):
        words = [bench.program('eddy-bench/eddy-bench'), 'hold', '--connections', str(connections),
                 *(['--stall', stall] if stall else []), *words, url]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=bench.pin_client())
        if not self.process.stdout.readline():
            raise RuntimeError('eddy-bench hold: ' + self.process.stderr.read().strip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate('')


def report(bench, path, words=()):
    return run(bench, ['report', path, *words])
