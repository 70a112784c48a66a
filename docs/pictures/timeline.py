#!/usr/bin/env python3
"""Draws a timeline (EDDY_TRACE) as an SVG that reads on light and dark pages, and on paper.

    timeline.py --run BUILD > timeline.svg     three requests to BUILD/examples/tour at once: one sleeps, one is a
                                               file, one is compressed by the offload pool
    timeline.py out.json [BEGIN END] > …       what a file has, from BEGIN to END in ms behind its first span;
                                               recording.svg is one of a replay

What is drawn: spans, tasks (dark where they run, light where they wait), what the ring is about, its ops, the threads of
the offload pool, and arrows from what woke to what was woken.
"""
import collections
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from xml.sax.saxutils import escape

WIDTH, LABELS, RIGHT, TOP = 960, 112, 14, 34
LANE, GAP, SECTION = 20, 4, 16
CHAR = 6.1   # of the smaller text, on average

STYLE = '''
svg { font: 11px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
  --ground: #ffffff; --ink: #1d2733; --quiet: #5b6775; --line: #d5dbe2;
  --span: #e4d9f7; --span-edge: #7a55b8; --run: #14508c; --wait: #dce9f7; --wait-edge: #6d9bcb;
  --kernel: #eceff2; --kernel-edge: #a3adb8; --done: #b4530a; --op: #fbe5cf; --op-edge: #d08a45;
  --job: #d3ecd9; --job-edge: #4a9461; --arrow: #b4530a; }
@media screen and (prefers-color-scheme: dark) { svg {
  --ground: #11161d; --ink: #e6ebf1; --quiet: #9aa7b5; --line: #2b3540;
  --span: #3a2c57; --span-edge: #a888e0; --run: #6cb2ff; --wait: #1b2f47; --wait-edge: #41709f;
  --kernel: #212831; --kernel-edge: #4c5967; --done: #ffa552; --op: #45301a; --op-edge: #b37a3d;
  --job: #1c3d28; --job-edge: #57a871; --arrow: #ffa552; } }
.ground { fill: var(--ground); } text { fill: var(--ink); } .quiet { fill: var(--quiet); }
.head { fill: var(--quiet); font-weight: 600; } .grid { stroke: var(--line); }
.span { fill: var(--span); stroke: var(--span-edge); } .run { fill: var(--run); }
.wait { fill: var(--wait); stroke: var(--wait-edge); } .kernel { fill: var(--kernel); stroke: var(--kernel-edge); }
.done { fill: var(--done); } .op { fill: var(--op); stroke: var(--op-edge); } .job { fill: var(--job); stroke: var(--job-edge); }
.arrow { stroke: var(--arrow); fill: none; stroke-width: 1.2; } .tip { fill: var(--arrow); }
rect { stroke-width: 0.8; }
'''


class Trace:
    def __init__(self, text):
        events = json.loads(text)['traceEvents']
        self.names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['ph'] == 'M' and e['name'] == 'thread_name'}
        self.slices = [e for e in events if e['ph'] == 'X']
        self.pairs = {'span': [], 'op': []}
        ends = {(e['cat'], e['id']): e for e in events if e['ph'] == 'e'}
        for event in events:
            if event['ph'] == 'b':
                self.pairs[event['cat']].append(dict(event, end=ends[event['cat'], event['id']]['ts']))
        begins = {(e['name'], e['id']): e for e in events if e['ph'] == 's'}
        self.arrows = [(begins[e['name'], e['id']], e) for e in events if e['ph'] == 'f']


class Picture:
    def __init__(self, begin, end):
        self.begin, self.end = begin, end
        self.y, self.parts, self.over, self.rows = TOP, [], [], {}

    def x(self, ts):
        share = (min(max(ts, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return LABELS + share * (WIDTH - LABELS - RIGHT)

    def section(self, name):
        self.y += SECTION
        self.parts.append(f'<text class="head" x="8" y="{self.y - 4}">{escape(name)}</text>')

    def lane(self, label, bars, track=None):
        """bars: begin, end, class, text, title."""
        top = self.y
        self.parts.append(f'<text class="quiet" x="16" y="{top + 14}">{escape(label)}</text>')
        bars = sorted(bar for bar in bars if bar[1] >= self.begin and bar[0] <= self.end)
        after = [self.x(bar[0]) for bar in bars[1:]] + [WIDTH - RIGHT]
        free = LABELS
        for (begin, end, kind, text, title), limit in zip(bars, after):
            left, width = self.x(begin), max(self.x(end) - self.x(begin), 1.6)
            shape = (f'<rect class="{kind}" x="{left:.1f}" y="{top + 1.5}" width="{width:.1f}" height="{LANE - 3}" '
                     f'rx="{min(2.5, width / 2):.1f}"><title>{escape(title)}</title></rect>')
            self.parts.append(shape)
            before, free = free, left + width
            if not text:
                continue
            needed = len(text) * CHAR + 8
            if needed <= width:
                self.over.append(f'<text x="{left + 5:.1f}" y="{top + 14}">{escape(text)}</text>')
            elif needed <= limit - left - width:
                self.over.append(f'<text x="{left + width + 3:.1f}" y="{top + 14}">{escape(text)}</text>')
                free += needed
            elif needed <= left - before:
                self.over.append(f'<text x="{left - 4:.1f}" y="{top + 14}" text-anchor="end">{escape(text)}</text>')
        if track is not None:
            self.rows[track] = top + LANE / 2
        self.y += LANE + GAP

    def arrow(self, begin, end):
        """From the lower or upper edge of one lane to that of the other."""
        a, b = self.rows.get((begin['pid'], begin['tid'])), self.rows.get((end['pid'], end['tid']))
        if a is None or b is None or not self.begin <= end['ts'] <= self.end or begin['ts'] < self.begin:
            return
        way = 1 if b > a else -1
        x1, x2, y1, y2 = self.x(begin['ts']), self.x(end['ts']), a + way * (LANE / 2 - 1), b - way * (LANE / 2 - 1)
        bend = way * min(26, abs(y2 - y1) / 2)
        self.over.append(f'<path class="arrow" d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2 - way * 4:.1f}"/>'
                         f'<path class="tip" d="M{x2:.1f} {y2:.1f}l-3 {-way * 6}h6z"/>')

    def svg(self, described):
        height = self.y + 30
        step = next(s for s in (100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000) if (self.end - self.begin) / s <= 11)
        grid, at = [], 0
        while self.begin + at <= self.end:
            x = self.x(self.begin + at)
            grid.append(f'<path class="grid" d="M{x:.1f} {TOP - 6}V{self.y}"/>'
                        f'<text class="quiet" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{at / 1000:g}</text>')
            at += step
        grid.append(f'<text class="quiet" x="16" y="{TOP - 12}">time in ms</text>')
        x, legend = LABELS, []
        for kind, text in (('run', 'a task runs'), ('wait', 'it waits, for what'), ('kernel', 'in the kernel'), ('done', 'a completion'),
                           ('op', 'an op'), ('job', 'a job'), (None, 'wakes, or hands on')):
            if kind:
                legend.append(f'<rect class="{kind}" x="{x}" y="{height - 21}" width="{4 if kind == "done" else 13}" height="12" rx="2"/>')
            else:
                legend.append(f'<path class="arrow" d="M{x} {height - 15}h8"/><path class="tip" d="M{x + 14} {height - 15}l-6 -3v6z"/>')
            x += 9 if kind == 'done' else 18
            legend.append(f'<text class="quiet" x="{x}" y="{height - 11}">{text}</text>')
            x += len(text) * CHAR + 14
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
                f'<title>A timeline of eddy</title><desc>{escape(described)}</desc><style>{STYLE}</style>\n'
                f'<rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>\n' + '\n'.join(grid + self.parts + self.over + legend) + '\n</svg>\n')


def packed(bars, room=0):
    """In as few lanes as go without overlaps, and with so much time between them."""
    lanes = []
    for bar in sorted(bars):
        lane = next((lane for lane in lanes if lane[-1][1] + room <= bar[0]), None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(bar)
    return lanes


def us(value):
    return f'{value / 1000:.2f} ms' if value >= 1000 else f'{value:.0f} µs'


def bar_of(event, end, kind, text):
    details = ', '.join(f'{key} {value}' for key, value in event.get('args', {}).items())
    return event['ts'], end, kind, text, f'{event["name"]}: {us(end - event["ts"])}{", " + details if details else ""}'


def op_text(op):
    name, args = op['name'], op['args']
    return f'{name} {args["bytes"]:,} B' if args.get('bytes') else f'{name} {args["fd"]}'


def draw(trace, begin=None, end=None):
    spans = trace.pairs['span']
    first = min((e['ts'] for e in spans), default=min(e['ts'] for e in trace.slices))
    last = max((e['end'] for e in spans), default=max(e['ts'] for e in trace.slices))
    margin = (last - first) / 40
    picture = Picture(first - margin if begin is None else first + begin * 1000, last + margin if end is None else first + end * 1000)

    if spans:
        picture.section('requests')
        for number, lane in enumerate(packed([bar_of(e, e['end'], 'span', f'{e["name"]}  {e["args"].get("status", "")}') for e in spans]), 1):
            picture.lane(f'span {number}', lane)
    tracks, rings, jobs = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    for e in trace.slices:
        track, until = (e['pid'], e['tid']), e['ts'] + e['dur']
        if e['cat'] == 'run':
            tracks[track].append(bar_of(e, until, 'run', ''))
        elif e['cat'] == 'wait':
            tracks[track].append(bar_of(e, until, 'wait', e['name']))
        elif e['cat'] == 'offload':
            jobs[track].append(bar_of(e, until, 'job', e['name']))
        elif e['name'] == 'io_uring_enter':
            rings[track].append(bar_of(e, until, 'kernel', ''))
        else:
            rings[track].append(bar_of(e, until, 'done', ''))
    if any(bar[1] >= picture.begin for bars in jobs.values() for bar in bars):
        picture.section('offload pool')
        for track, bars in jobs.items():
            picture.lane('thread', bars, track)
    picture.section('tasks')
    for track, bars in tracks.items():
        # Who only waits all the time is no part of the story.
        if any(bar[2] == 'run' and picture.begin <= bar[0] <= picture.end for bar in bars):
            picture.lane(trace.names[track], bars, track)
    picture.section('loop')
    for track, bars in rings.items():
        picture.lane(trace.names[track], bars, track)
    # Those that go on for longer are no part of the story either, nor those by which loops are woken.
    ops = [bar_of(e, e['end'], 'op', op_text(e)) for e in trace.pairs['op']
           if picture.begin <= e['end'] <= picture.end and not e['args'].get('own')]
    for number, lane in enumerate(packed(ops, (picture.end - picture.begin) / 9), 1):
        picture.lane(f'ops {number}', lane)
    for arrow in trace.arrows:
        picture.arrow(*arrow)
    names = ', '.join(e['name'] for e in spans)
    return picture.svg(f'What tasks, the ring and the offload pool did during {us(last - first)} of these requests: {names}.')


def run(build):
    """The timeline of three requests that come at once."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'river.jpg'), 'wb') as out:
            out.write(os.urandom(3 << 20))
            # Not in the page cache, where the file system lets it go.
            os.fsync(out.fileno())
            os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        path = os.path.join(folder, '.out.json')
        server = subprocess.Popen([os.path.join(build, 'examples', 'tour'), '--dir', folder, '--compression', '--bind', '127.0.0.1:0'],
                                  env=dict(os.environ, EDDY_TRACE=path), stderr=subprocess.PIPE, text=True)
        port = next(int(match[1]) for line in server.stderr if (match := re.search(r'Listening on .*:(\d+)', line)))
        wires = [socket.create_connection(('127.0.0.1', port)) for _ in range(3)]
        time.sleep(0.2)
        for wire, target in zip(wires, ('/slow/4', '/files/river.jpg', '/text/600000')):
            wire.sendall(f'GET {target} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: zstd\r\n\r\n'.encode())
        readers = [threading.Thread(target=lambda wire=wire: [None for _ in iter(lambda: wire.recv(1 << 20), b'')]) for wire in wires]
        for reader in readers:
            reader.start()
        time.sleep(0.2)
        for wire in wires:
            wire.shutdown(socket.SHUT_WR)
        for reader in readers:
            reader.join()
        server.send_signal(signal.SIGTERM)
        server.wait()
        with open(path) as file:
            return file.read()


def main(words):
    if not words or words[0] in ('-h', '--help'):
        sys.exit(__doc__)
    if words[0] == '--run':
        print(draw(Trace(run(words[1]))), end='')
    else:
        with open(words[0]) as file:
            print(draw(Trace(file.read()), *map(float, words[1:3])), end='')


if __name__ == '__main__':
    main(sys.argv[1:])
