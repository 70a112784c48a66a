"""A network of one's own: a loopback and nothing else, where all ports are free and nobody is disturbed."""
# needs: iproute2
import contextlib
import ctypes
import os
import subprocess
import unittest

CLONE_NEWNET = 0x40000000
UP = ['ip', 'link', 'set', 'lo', 'up']
# The words before a command that runs it in one.
ALONE = ['unshare', '--net', 'sh', '-c', f'{" ".join(UP)} && exec "$0" "$@"']
if os.geteuid():
    ALONE[1:1] = ['--user', '--map-root-user']

libc = ctypes.CDLL(None, use_errno=True)


def call(function, *args):
    if function(*args) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def needed():
    """Skip the test where there can be none."""
    if subprocess.run([*ALONE, 'true'], capture_output=True, check=False).returncode:
        raise unittest.SkipTest('needs a network namespace')


@contextlib.contextmanager
def of(theirs):
    """This thread, and what it starts meanwhile, is in the network of that file."""
    with open('/proc/thread-self/ns/net') as ours:
        call(libc.setns, theirs.fileno(), CLONE_NEWNET)
        try:
            yield
        finally:
            call(libc.setns, ours.fileno(), CLONE_NEWNET)


@contextlib.contextmanager
def own():
    """This thread, and what it starts meanwhile, is in a new one, which takes root."""
    needed()
    if os.geteuid():
        raise unittest.SkipTest('needs root')
    with open('/proc/thread-self/ns/net') as ours:
        call(libc.unshare, CLONE_NEWNET)
        try:
            subprocess.run(UP, check=True)
            yield
        finally:
            call(libc.setns, ours.fileno(), CLONE_NEWNET)
