"""Runs a program that is meant to die and checks how it died.

    crash.py EXECUTABLE SOURCE

The source says what to expect, in its first comment: any number of lines
    expect: exit N            the exit status; default 0
    expect: signal ABRT       the signal that ended it
    expect: stderr REGEX      found somewhere in what it printed
"""
import os
import re
import signal
import subprocess
import sys

from tap import Tap


def main():
    exe, source = sys.argv[1:3]
    tap = Tap()
    name = 'crash/' + os.path.splitext(os.path.basename(source))[0]
    status, patterns = 0, []
    for what, value in re.findall(r'expect: (\w+) (.*?)\s*(?:\*/)?$', open(source).read(), re.M):
        if what == 'exit':
            status = int(value)
        elif what == 'signal':
            status = -getattr(signal, 'SIG' + value)
        elif what == 'stderr':
            patterns.append(value)
        else:
            tap.fail(name, f'{source}: unknown expectation "{what}"')

    # What is started in the background of a script inherits that this one is ignored.
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    env = dict(os.environ)
    # The signal itself is what is looked at: no sanitizer may catch it first.
    for variable in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS'):
        env[variable] = env.get(variable, '') + ':handle_segv=0:handle_abort=0:handle_sigbus=0'
    try:
        run = subprocess.run([exe], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env, check=False,
                             stderr=subprocess.STDOUT, timeout=60)
    except subprocess.TimeoutExpired as late:
        tap.fail(name, 'did not end within 60 s\n' + (late.stdout or b'').decode(errors='replace'))
        return tap.end()

    log = run.stdout.decode(errors='replace')
    says = []
    if run.returncode == 77:
        tap.skip(name, log.strip() or 'can not run here')
        return tap.end()
    if run.returncode != status:
        says.append(f'ended with {run.returncode}, not {status} (below 0: a signal)')
    says += [f'did not print /{p}/' for p in patterns if not re.search(p, log)]
    tap.check(name, '\n'.join(says + ['it printed:', log]) if says else '')
    return tap.end()


sys.exit(main())
