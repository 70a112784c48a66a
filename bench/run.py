"""Runs the benchmarks: eddy beside other servers and beside bare techniques, and prints goals, values and verdicts.

    run.py [NAME…] [--rounds N] [--seconds S] [--peer NAME=COMMAND]… [--before FOLDER] [--keep] [--publish]
    run.py quick [NAME…]        what has a goal, in two minutes
    run.py micro [NAME…] …      the micro-benchmarks, see micro/
    run.py compress …           the one of them that is of encoding
    run.py compress-NAME …      responses that leave compressed, see served.py
    run.py timeline             what recording a timeline costs, see timeline.py
    run.py recording [CELL…]    what it costs to be recorded, see recording.py
    run.py pieces               what it costs to receive a file in pieces, see pieces.py
    run.py uncached             what a file larger than the memory does to the page cache, see uncached.py
    run.py tracing              what numbers of requests, an access log and metrics cost, see traced.py
    run.py auth                 what bearer tokens cost, see guarded.py
    run.py ws                   what WebSockets cost, see ws.py
    run.py pg                   what queries of PostgreSQL cost, see pg.py
    run.py --smoke

A NAME is a cell or the first part of its name: get, put-4k, hello, idle. Without one all are run. The report is left in
report/ beside this file; --publish writes RESULTS.md, its pictures and the figures of README.md as well. --keep leaves the cells that the last report has and this run has not.
--before measures the eddy of another build folder in the same run, --peer one more server: {port} and {folder} in its command
are filled in. What was measured until Ctrl-C is in the report; the exit status is then 130, and 1 where a cell failed. --smoke only sees that everything still runs, and prints TAP.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from unittest import mock

import cells
import client
import files
import goals
import guarded
import network
import pieces
import peers
import pg
import readme
import recording
import served
import timeline
import traced
import uncached
import ws
from micro import main as micro
from servers import Bench

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = os.path.join(HERE, 'report')
# What a cell takes beside its samples: servers that begin, bodies that are compared.
BESIDE = 0.4
# Bytes of uploads a second, at most.
UPLOADED_MAX = 6e9
INTERRUPTED = 130  # the exit status
KEPT = 'measured in a run of its own'


@dataclasses.dataclass
class Settings:
    rounds: int = 7
    seconds: float = 0.5
    warmup: float = 0.1
    peers: tuple = ()
    own: tuple = ()  # texts of --peer
    say: object = None
    calm: float = 8  # seconds after which the kernel has ended threads that made files, and have no more to do


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog='./dev bench', description='eddy beside other servers and beside bare techniques')
    parser.add_argument('names', metavar='NAME', nargs='*', help='quick, or cells: ' + ' '.join(c.name for c in cells.CELLS))
    parser.add_argument('--rounds', type=int, help='samples of each server, which take turns (7; quick 3)')
    parser.add_argument('--seconds', type=float, help='length of a sample (0.5; quick 0.25)')
    parser.add_argument('--build', default=os.path.join(HERE, '..', 'build'), help='the folder of the programs')
    parser.add_argument('--before', help='the build folder of an eddy to compare with')
    parser.add_argument('--peer', metavar='NAME=COMMAND', action='append', default=[], help='one more server; {port} and {folder} are filled in')
    parser.add_argument('--only', metavar='NAME', action='append', help='of the peers only these (nginx)')
    parser.add_argument('--keep', action='store_true', help='leave what the last report has of other cells')
    parser.add_argument('--publish', action='store_true', help='write bench/RESULTS.md and the figures of README.md as well')
    parser.add_argument('--smoke', action='store_true', help='only see that everything runs')
    args = parser.parse_args(arguments)
    args.command = shlex.join(['./dev', 'bench', *arguments])
    args.build = os.path.abspath(args.build)
    args.quick = args.names[:1] == ['quick']
    if args.quick:
        del args.names[0]
        args.only = args.only or ['nginx', 'nginx-16k']
    for value in (args.rounds, args.seconds):
        if value is not None and not value > 0:
            parser.error('--rounds and --seconds are more than 0')
    for name in args.only or ():
        if name not in {peer.name for peer in peers.PEERS}:
            parser.error(f'--only {name}: no peer is called so; these are: {" ".join(peer.name for peer in peers.PEERS)}')
    if args.before and not os.path.isdir(os.path.join(args.before, 'bench')):
        parser.error(f'--before {args.before}: this is no build folder')
    for text in args.peer:
        name, separator, command = text.partition('=')
        if not separator or not name or '{port}' not in command:
            parser.error(f'--peer {text}: expected NAME=COMMAND, with {{port}} in it')
    return args


@contextlib.contextmanager
def workplace(build, before=None):
    """Temporary folders, gone at the end: one on the disk, one in memory."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='bench-', dir=build))
        memory = stack.enter_context(tempfile.TemporaryDirectory(prefix='eddy-bench-', dir='/dev/shm'))
        yield Bench(build, before, folder, memory)


def wanted_cells(args):
    wanted = cells.chosen(args.names)
    return [cell for cell in wanted if not args.quick or args.names or cell.name in goals.GOALS]


def fitting(wanted, settings, build):
    """The cells that this build can do, and that this machine has room for."""
    free = shutil.disk_usage('/dev/shm').free
    http2 = client.speaks_http2(build)
    for cell in wanted:
        if cell.streams and not http2:
            say(f'{cell.name} is left out: this eddy is built without HTTP/2')
            continue
        needed = 0
        if cell.kind in ('put', 'both'):
            # All that one sample sends.
            needed = cell.size + int(UPLOADED_MAX * (settings.warmup + settings.seconds))
        elif cell.work == 'put':
            # Of each of eight servers a file for each connection, and the one that it replaces.
            needed = cell.size * (1 + 16 * cell.connections)
        if needed > free:
            say(f'{cell.name} is left out: /dev/shm has {free >> 20} MiB free, {needed >> 20} are needed')
        else:
            yield cell


class Progress:
    """Says what comes, and how long all that is left takes, by what was taken for what is done."""

    def __init__(self, bench, wanted, settings):
        self.say = settings.say
        self.weights = [cells.weight(bench, cell, settings) * (settings.seconds + settings.warmup + BESIDE / settings.rounds) * settings.rounds
                        for cell in wanted]
        self.began, self.count = time.monotonic(), 0

    def next(self, cell):
        done, left = sum(self.weights[:self.count]), sum(self.weights[self.count:])
        pace = (time.monotonic() - self.began) / done if done else 1
        self.count += 1
        self.say(f'{self.count}/{len(self.weights)} {cell.title} ({cell.name}), about {left * pace:.0f} s left')


def measure_all(bench, wanted, settings):
    """Return: a result of all cells that could be measured (None without any), the names of those that failed, and whether it was
    interrupted: what was measured until then is not lost."""
    whole, failed = None, []
    progress = Progress(bench, wanted, settings)
    for cell in wanted:
        progress.next(cell)
        try:
            result = cells.measure(bench, cell, settings)
        except KeyboardInterrupt:
            return whole, failed, True
        except (RuntimeError, OSError) as error:
            settings.say(f'{cell.name} was not measured: {error}')
            failed.append(cell.name)
            continue
        if whole:
            whole['cells'] += result['cells']
        else:
            whole = result
    return whole, failed, False


def keep(result, before):
    """Add those cells of another result that were not measured again, in the order of all."""
    now = {cell['name'] for cell in result['cells']}
    order = [cell.name for cell in cells.CELLS]
    for cell in before['cells']:
        if cell['name'] not in now and cell['name'] in order:
            if not any(remark.startswith(KEPT) for remark in cell['remarks']):
                cell['remarks'].append(f'{KEPT}, {before["when"]}, in rounds of {before["settings"]["seconds"]} s')
            result['cells'].append(cell)
    result['cells'].sort(key=lambda cell: order.index(cell['name']))


def last_report():
    try:
        with open(os.path.join(REPORT, 'result.json'), encoding='utf-8') as file:
            return json.load(file)
    except FileNotFoundError:
        return {'cells': []}


def unwritable(folder):
    """Why no report can be left there, None where one can: what can't be kept is not measured."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        return str(error)
    for path in (folder, os.path.join(folder, 'result.json'), os.path.join(folder, 'index.html')):
        if os.path.exists(path) and not os.access(path, os.W_OK):
            return f'you may not write to {path}'
    return None


def write_report(bench, args, result):
    path = os.path.join(REPORT, 'result.json')
    if args.keep:
        keep(result, last_report())
    with open(path, 'w', encoding='utf-8') as out:
        json.dump(result, out)
    # Read and written again: what it derives stands in the file as well.
    words = ['--json', path, '--html', os.path.join(REPORT, 'index.html')]
    if args.publish:
        words += ['--markdown', os.path.join(HERE, 'RESULTS.md')]
    client.report(bench, path, words)
    if args.publish:
        with open(path, encoding='utf-8') as file:
            if not readme.publish(os.path.join(HERE, '..', 'README.md'), json.load(file)):
                say('README.md keeps its figures: they are of cells that this report has not')
        # It says why where there is nothing to draw.
        subprocess.run([sys.executable, os.path.join(HERE, '..', 'docs', 'pictures', 'bench.py'), '--write'], check=False)
    print(client.report(bench, path), end='')
    say(f'the report is {os.path.join(REPORT, "index.html")}')


def run(args, tcp):
    why = unwritable(REPORT)
    if why:
        say('the report could not be written: ' + why)
        return 1
    settings = Settings(args.rounds or (3 if args.quick else 7), args.seconds or (0.25 if args.quick else 0.5),
                        0.05 if args.quick else 0.1, own=tuple(args.peer), say=say)
    settings.peers = tuple(peer for peer in peers.installed(say) if not args.only or peer.name in args.only)
    wanted = list(fitting(wanted_cells(args), settings, args.build))
    say(tcp)
    if os.getloadavg()[0] > 0.5:
        say(f'the load of this machine is {os.getloadavg()[0]:.1f}: something else runs, throughput will suffer')
    with workplace(args.build, args.before) as bench:
        say('making files …')
        files.make(bench, wanted)
        result, failed, interrupted = measure_all(bench, wanted, settings)
        if not result:
            say('nothing was measured, and the last report stays')
            return INTERRUPTED if interrupted else 1
        result['title'] = 'eddy beside other servers'
        result['remarks'] = [tcp]
        if interrupted:
            say('interrupted: the report has the cells until then, and nothing is published')
            result['remarks'].append('interrupted: the other cells are missing')
            args.publish = False
        result['command'] = args.command
        result['settings'].update(server_cpu=bench.server_cpu, client_cpu=bench.client_cpu)
        write_report(bench, args, result)
    return INTERRUPTED if interrupted else 1 if failed else 0


def smoke_logic(build):
    """What decides which goals there are, and what a report is made of."""
    del build

    def against(cell, *names):
        return [goal['against'] for goal in goals.of(cell, names)]

    def result(name, *counts):
        target = {'name': 'a', 'samples': list(counts), 'histogram': {'total': [[1, 2], [4, 1]]}}
        return {'settings': {'seconds': 1}, 'when': 'then', 'cells': [{'name': name, 'targets': [target], 'remarks': ['r']}]}

    yield 'goals', '' if (against('hello-64', 'eddy', 'nginx', 'lwan') == 3 * ['nginx'] + ['lwan'] and
                          against('hello-64', 'eddy') == 3 * ['nginx'] and
                          against('get-1m-16', 'eddy', 'nginx', 'bare')[-1] == 'bare' and
                          not against('technique-4k', 'eddy', 'nginx', 'bare')) else 'other goals than were meant'
    joined = client.joined(client.joined(None, result('idle', 1, 2)), result('idle', 3))['cells'][0]
    yield 'rounds that are joined', '' if (joined['targets'][0]['samples'] == [1, 2, 3] and joined['remarks'] == ['r'] and
                                           joined['targets'][0]['histogram']['total'] == [[1, 4], [4, 2]]) else str(joined)
    now = result('get-1g-1', 1)
    before = result('idle', 1)
    for name in ('get-4k-16', 'get-1g-1', 'gone'):
        before['cells'] += result(name, 2)['cells']
    keep(now, before)
    seen = [(cell['name'], cell['targets'][0]['samples'], len(cell['remarks'])) for cell in now['cells']]
    yield 'cells that are kept', '' if seen == [('get-4k-16', [2], 2), ('get-1g-1', [1], 1), ('idle', [1], 2)] else str(seen)
    figure = {'unit': 'µs', 'median': 2, 'against': {'ratio': 0.5, 'low': 0.4, 'high': 0.6}}
    pair = [{'name': name, 'figures': {'throughput': figure, 'cpu': figure}} for name in ('eddy', 'nginx')]
    few = {'machine': {'cpu': 'C', 'kernel': '1.2-x'}, 'when': '2000-01-01T', 'cells': []}
    filled = dict(few, cells=[{'name': name, 'title': name, 'targets': pair} for name in readme.CELLS])
    text = readme.filled(f'a\n{readme.BEGIN}\nold\n{readme.END}\nb\n', readme.table(filled))
    yield 'figures of the README', '' if (readme.table(few) is None and text.startswith('a\n') and text.endswith('\nb\n') and 'old' not in text and
                                          text.count('**0.50** (0.40–0.60)') == 2 * len(readme.CELLS)) else text
    with mock.patch.object(cells, 'weight', lambda *_: 1), \
            mock.patch.object(cells, 'measure', mock.Mock(side_effect=[result('idle', 1), KeyboardInterrupt])):
        whole, failed, interrupted = measure_all(None, cells.CELLS[:3], Settings(say=lambda text: None))
    yield 'what was measured when it is interrupted', '' if whole and not failed and interrupted else str(whole)
    with tempfile.TemporaryDirectory() as folder:
        inside = os.path.join(folder, 'report')
        seen = unwritable(inside) is None and os.path.isdir(inside)
        open(os.path.join(inside, 'file'), 'w').close()
        yield 'a report that could not be written', '' if seen and unwritable(os.path.join(inside, 'file')) else inside
    titles = [cell.title for cell in cells.CELLS]
    yield 'titles of their own', '' if len(set(titles)) == len(titles) else str(titles)
    unknown = [name for name in goals.GOALS if name not in {cell.name for cell in cells.CELLS}]
    yield 'goals of cells that there are', ' '.join(unknown)


def smoke_cells(build):
    """Each kind of cell once, quickly, beside what is installed; pairs of a name and what is wrong."""
    said = []
    settings = Settings(1, 0.05, 0, say=said.append, calm=0.1)
    settings.peers = tuple(peer for peer in peers.installed(lambda text: None) if peer.name in ('nginx', 'nginx-16k', 'nghttpd', 'lighttpd'))
    wanted = cells.chosen(['get-4k', 'get-1m', 'put-1m', 'replace-4k', 'put-64m-over', 'hello', 'tls-get-4k', 'tls-full-ecdsa', 'tls-resumed-rsa', 'routes', 'stalled', 'cold',
                           'workers'])
    if client.speaks_http2(build):
        wanted += cells.chosen(['h2-get-1m', 'h2-tls-hello', 'h2-put'])
    idle = cells.chosen(['idle'])[0]
    wanted.append(dataclasses.replace(idle, connections=100))
    with workplace(build) as bench:
        files.make(bench, wanted)
        whole, failed, _ = measure_all(bench, wanted, settings)
        for cell in wanted:
            yield cell.name, '\n'.join(said) if cell.name in failed else ''
        yield 'peers', '\n'.join(line for line in said if 'left out' in line)
        said_of_suites = [remark for cell in whole['cells'] for remark in cell['remarks'] if 'TLSv1.3' in remark]
        yield 'suites', '' if len(said_of_suites) == sum(bool(cell.key) for cell in wanted) else str(said_of_suites)
        path = os.path.join(bench.folder, 'result.json')
        with open(path, 'w', encoding='utf-8') as out:
            json.dump(whole, out)
        client.report(bench, path, ['--html', os.path.join(bench.folder, 'index.html')])
        text = client.report(bench, path)
        lost = [cell.title for cell in wanted if cell.title not in text]
        yield 'report', f'without {lost}' if lost or 'no figure' in text else ''
        # It has no /hello.
        settings.own, settings.peers = (f'other={sys.executable} -m http.server --bind 127.0.0.1 {{port}}',), ()
        names = [target['name'] for target in cells.measure(bench, cells.chosen(['hello-64'])[0], settings)['cells'][0]['targets']]
        yield 'a peer that answers something else', '' if 'other' not in names and 'other is left out: /hello: status 404' in said[-1] else str(said[-1:])


def smoke(args):
    """What works of the bench, as TAP."""
    failed = number = 0
    for part in (smoke_logic, smoke_cells, micro.smoke, served.smoke, timeline.smoke, recording.smoke, pieces.smoke, uncached.smoke, traced.smoke, guarded.smoke,
                 ws.smoke, pg.smoke):
        for name, wrong in part(args.build):
            number += 1
            failed += bool(wrong)
            print(f'{"not " if wrong else ""}ok {number} - {name}')
            print('\n'.join('# ' + line for line in wrong.splitlines()), flush=True)
    print(f'1..{number}')
    return 1 if failed else 0


PARTS = {'micro': micro.main, 'timeline': timeline.main, 'recording': recording.main,
         'pieces': pieces.main, 'uncached': uncached.main, 'ws': ws.main, 'pg': pg.main, 'tracing': traced.main, 'auth': guarded.main,
         'compress': lambda words: micro.main(['codec', *words])}


def main():
    words = sys.argv[1:]
    tcp = network.enter()
    if words and words[0] in PARTS:
        return PARTS[words[0]](words[1:])
    if words and words[0] in served.PARTS:
        return served.main(words)
    args = parse(words)
    # Nothing that was measured is lost, and no server is left.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    if args.smoke:
        return smoke(args)
    return run(args, tcp)


if __name__ == '__main__':
    sys.exit(main())
