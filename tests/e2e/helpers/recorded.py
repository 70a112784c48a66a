"""Recordings of programs, and their replays. With EDDY_E2E_RECORD in the environment each server of the end-to-end tests is
recorded, and replayed when it has ended: its second run has the same hash, status and records. If it names a folder, recordings
whose replay differs are left there."""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import wire

ALWAYS = os.environ.get('EDDY_E2E_RECORD', '')
# A replay makes none of these calls.
FORBIDDEN = 'io_uring_setup,io_uring_enter,epoll_create1,epoll_wait,socket,connect,bind,listen,accept4,sendmsg,recvmsg,sendto,recvfrom,openat2'
REFUSED, DIVERGED = 85, 86
times = 1       # that each recording is replayed
LINE = re.compile(r'^eddy: (recorded|replayed) (\d+) events, hash ([0-9a-f]{16})$', re.M)


def unrepeatable(reason):
    """A test whose replay differs for this reason, or that a recording slows down too much."""
    return unittest.skipIf(ALWAYS, reason)


class Recording:
    """`env` has the program recorded."""

    def __init__(self, path=None):
        self.folder = None if path else tempfile.mkdtemp(prefix='eddy-recording-')
        self.path = path or os.path.join(self.folder, 'recording')
        self.env = {'EDDY_RECORD': self.path}

    def __del__(self):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def replay(self, program, *args, wrap=(), env=None, timeout=120):
        """Replay it. Return: the ended process, with its output as text."""
        env = {**{name: value for name, value in os.environ.items() if not name.startswith('EDDY_RE')}, 'EDDY_REPLAY': self.path, **(env or {})}
        return subprocess.run([*wrap, program, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=timeout, text=True,
                              errors='replace')

    def look(self, *options):
        """Run `eddy replay` on it. Return: the ended process, with its output as text."""
        return subprocess.run([wire.PROGRAMS['eddy'], 'replay', self.path, *options], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=120, text=True, errors='replace')

    def wrong(self, program, status, out, err, **options):
        """What is different in a replay; '' if nothing is. `out` may be None."""
        text = next(filter(None, (self._compare(program, status, out, err, **options) for _ in range(times))), '')
        if text and os.path.isdir(ALWAYS):
            kept = shutil.copy(self.path, os.path.join(ALWAYS, f'{os.path.basename(program)}-{os.getpid()}-{id(self)}'))
            text += f'\nthe recording is {kept}'
        return text

    def _compare(self, program, status, out, err, **options):
        recorded = LINE.search(err)
        if not recorded or recorded[1] != 'recorded':
            return f'there is no line on the recording:\n{err}'
        try:
            again = self.replay(program, **options)
        except subprocess.TimeoutExpired as error:
            return f'recorded as "{recorded[0]}", and its replay does not end: {error.stderr}'
        replayed = LINE.search(again.stderr)
        if not replayed or replayed.groups()[1:] != recorded.groups()[1:]:
            return f'recorded as "{recorded[0]}", and replayed with status {again.returncode}:\n{again.stderr[-2000:]}'
        if again.returncode != status:
            return f'it ended with status {status}, and the replay with {again.returncode}'
        if out is not None and again.stdout != out:
            return f'it printed {out!r}, and the replay {again.stdout!r}'
        before, after = ([line for line in LINE.sub('', text).splitlines() if line and ' eddy::timeline: ' not in line] for text in (err, again.stderr))
        if before != after:
            at = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
            return f'on stderr it said {before[at:at + 1]}, and the replay {after[at:at + 1]}'
        return ''


@functools.cache
def is_built():
    """Whether the programs can be recorded."""
    with open(wire.PROGRAMS['tour'], 'rb') as file:
        return b'EDDY_REPLAY' in file.read()


def await_flush():
    """What has been recorded is in the file after 100 ms."""
    time.sleep(0.3)


def without_system(*calls):
    """A command that runs a program without calls that a replay does not make."""
    here = os.path.dirname(os.path.abspath(__file__))
    return [sys.executable, os.path.join(here, 'filtered.py'), '-' + ','.join([FORBIDDEN, *calls])]
