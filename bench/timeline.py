"""What the timeline costs a server of small requests: ./dev bench timeline.

Servers of one program, which take turns round by round: without a timeline, with one slice of 10 ms in a hundred recorded,
with one in ten, and with everything. Loop and writing thread share one processor, which is the worst that can happen
to them. --before adds the same program of another build, without a timeline: what the hooks cost.
"""
import argparse
import json
import os
import re

import turns

FILE_MAX = 8 << 30
MODES = {'off': None, '1 slice in 100': 100, '1 slice in 10': 10, 'all': 1}


def trace_of(bench, name):
    return os.path.join(bench.memory, re.sub(r'\W', '-', name) + '.json')


def start(bench, name, sample):
    env = {}
    if sample:
        env = {'EDDY_TRACE': trace_of(bench, name), 'EDDY_TRACE_SAMPLE': str(sample), 'EDDY_TRACE_MAX': str(FILE_MAX)}
    return turns.start(bench, name, 'hello', env=env)


def counts(path):
    """What stands at the end of a timeline: records written and dropped."""
    with open(path, 'rb') as file:
        file.seek(-256, os.SEEK_END)
        return json.loads('{' + file.read().decode().partition('],')[2])['otherData']


def measure(bench, cell, args):
    servers = [start(bench, name, sample) for name, sample in MODES.items()]
    if 'before' in bench.builds:
        servers.append(turns.start(bench, 'before', os.path.join(bench.builds['before'], 'bench', 'hello')))
    return turns.take(bench, cell, servers, args)


def lines(bench, cell, args):
    def more(name):
        if not MODES.get(name):
            return '–', '–', '–'
        said = counts(trace_of(bench, name))
        return f'{said["records"]:,}', f'{said["dropped"]:,}', f'{os.path.getsize(trace_of(bench, name)) / (1 << 20):,.1f} MiB'
    return turns.table(measure(bench, cell, args), ('records', 'dropped', 'file'), more)


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench:
        text = '\n'.join(lines(bench, turns.chosen()[0], argparse.Namespace(rounds=1, seconds=0.1)))
        yield 'timeline', '' if counts(trace_of(bench, 'all'))['records'] > 100 else text


def main(arguments):
    return turns.main('timeline', lines, arguments)
