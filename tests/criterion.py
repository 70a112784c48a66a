"""Runs one Criterion executable and prints clean TAP.

Criterion's own TAP goes to a file, because what a test prints would mix with it. A program that dies before it
has written the file, one that writes fewer results than it announced, and a sanitizer or valgrind report in a test
that "passed" (the leak check comes after Criterion has heard of the success) are failures of their own.

    criterion.py EXECUTABLE

EDDY_TEST_ONLY   suites (nouns) to run, separated by commas; default: all. The executable reads it (chosen.c)
EDDY_TEST_EXCEPT tests (suite/test, with * and ?) not to run, separated by commas. So it is with this
EDDY_TEST_WRAP   a command to put before the executable, such as valgrind and its options
EDDY_TEST_TIME   seconds that one test may take; default 60
"""
import fnmatch
import os
import re
import shlex
import subprocess
import sys
import tempfile

from tap import Tap

RESULT = re.compile(r'(ok|not ok) - (\S+?)::(\S+)\s*(.*)')
# Criterion ends when one of its processes could not be started, which happens now and then on a busy machine.
NOT_STARTED = 'Could not spawn test instance'
TRIES = 3
REPORT = re.compile(r'ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error: |^==\d+== ', re.M)


def command(exe, report):
    cmd = shlex.split(os.environ.get('EDDY_TEST_WRAP', ''))
    cmd += [exe, f'--tap={report}', f'-j{os.cpu_count() or 1}', '--color=never']
    return cmd + ['--timeout', os.environ.get('EDDY_TEST_TIME', '60')]


def names(variable):
    return sorted(set(filter(None, os.environ.get(variable, '').split(','))))


def results(lines):
    """Yields (passed, suite, test, skip reason or None, what it says)."""
    case = None
    for line in lines:
        match = RESULT.match(line)
        if match:
            if case:
                yield case
            word, suite, test, rest = match.groups()
            why = rest.partition('# SKIP')[2].strip() if '# SKIP' in rest else None
            says = '' if word == 'ok' else re.sub(r'\(\d+\.\d+s\)', '', rest).strip()
            case = (word == 'ok', suite, test, why, says)
        elif case and line.startswith('  '):
            case = case[:4] + ((case[4] + '\n' + line.rstrip()).lstrip('\n'),)
    if case:
        yield case


def run_once(exe):
    """Returns (exit status, what it said, lines of TAP)."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'tap')
        run = subprocess.run(command(exe, report), stdin=subprocess.DEVNULL, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = open(report, errors='replace').read().splitlines() if os.path.exists(report) else []
    return run.returncode, run.stdout.decode(errors='replace'), lines


def main():
    exe = sys.argv[1]
    only, but = names('EDDY_TEST_ONLY'), names('EDDY_TEST_EXCEPT')
    tap = Tap()
    for _ in range(TRIES):
        status, log, lines = run_once(exe)
        if NOT_STARTED not in log:
            break
        print(f'{os.path.basename(exe)}: {NOT_STARTED}; once more', file=sys.stderr)

    plan = next((int(m.group(1)) for m in map(re.compile(r'1\.\.(\d+)').match, lines) if m), None)
    seen = 0
    for passed, suite, test, why, says in results(lines):
        seen += 1
        if only and suite not in only or any(fnmatch.fnmatch(f'{suite}/{test}', name) for name in but):
            continue
        name = f'{suite}/{test}'
        if why is not None:
            tap.skip(name, why)
        elif passed:
            tap.ok(name)
        else:
            tap.fail(name, says)

    name = os.path.basename(exe)
    if plan is None or plan != seen:
        tap.fail(f'{name} ended early', f'exit status {status}, {seen} results of {plan}')
    elif not tap.failed and REPORT.search(log):
        tap.fail(f'{name} left a sanitizer report')
    elif not tap.failed and status:
        tap.fail(f'{name} failed', f'exit status {status}')
    if tap.failed:
        tap.say(log)
    return tap.end()


sys.exit(main())
