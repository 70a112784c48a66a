"""Runs the end-to-end tests (unittest) and prints TAP.

    run.py [FAMILY]     FAMILY: the prefix of the files to run; default: test

Files run side by side, one process each; what a file printed is shown only if one of its tests failed. node/page.mjs,
which prints TAP itself, runs with the tests.

EDDY_EXAMPLES    the folder with the built example programs
EDDY_TEST_ONLY   nouns to run (upload for test_upload.py), separated by commas; default: all
EDDY_TEST_EXCEPT tests to leave out (test_upload.Case.test_name), separated by commas
EDDY_TEST_ONCE   set: a file runs with programs under sanitizers, and with others only if that is another test
EDDY_E2E_HTTP2   set: requests go over HTTP/2 (helpers/over_http2.py), with EDDY_TEST_ONCE those of a tenth of the tests
EDDY_TEST_WORKERS workers of the programs limits and tour; default: 1
EDDY_TEST_TIME   seconds for each test; default: 120, an hour for a family that runs by name
EDDY_NODE        node 22, for page.mjs; without it that is skipped
"""
import concurrent.futures
import faulthandler
import glob
import os
import signal
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, 'helpers'), os.path.dirname(HERE)]

import wire  # noqa: E402
from tap import Tap  # noqa: E402

TEST_SECONDS = {'test': 120}   # of one test; other families may take an hour


class Result(unittest.TestResult):
    def __init__(self, tap, seconds):
        super().__init__()
        self.tap, self.seconds, self.skipped = tap, seconds, None

    def name(self, test):
        return test.id().replace('__main__.', '')

    def startTest(self, test):
        super().startTest(test)
        print(f'=== {self.name(test)}', file=sys.stderr, flush=True)
        wire.spoke_http2 = False
        faulthandler.dump_traceback_later(self.seconds, exit=True)

    def stopTest(self, test):
        faulthandler.cancel_dump_traceback_later()
        super().stopTest(test)

    def addSuccess(self, test):
        if wire.OVER_HTTP2 and not wire.spoke_http2:
            self.tap.skip(self.name(test), 'sends no request through the gateway to HTTP/2')
        else:
            self.tap.ok(self.name(test))

    def addSkip(self, test, reason):
        # Once, of however many of its subtests.
        test = getattr(test, 'test_case', test)
        if test is not self.skipped:
            self.tap.skip(self.name(test), reason)
        self.skipped = test

    def addFailure(self, test, err):
        self.tap.fail(self.name(test), self._exc_info_to_string(err, test))

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err:
            self.tap.fail(self.name(subtest), self._exc_info_to_string(err, test))

    def addExpectedFailure(self, test, err):
        self.tap.ok(self.name(test))

    def addUnexpectedSuccess(self, test):
        self.tap.fail(self.name(test), 'was expected to fail')


def flat(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def without(tests, names):
    return unittest.TestSuite(test for test in flat(tests) if test.id() not in names)


def run_file(path):
    """In a process of its own: TAP to the standard output, all else to standard error."""
    tap = Tap(os.fdopen(os.dup(1), 'w'))
    os.dup2(2, 1)
    name = os.path.splitext(os.path.basename(path))[0]
    tests = without(unittest.defaultTestLoader.loadTestsFromName(name), os.environ.get('EDDY_TEST_EXCEPT', '').split(','))
    if wire.OVER_HTTP2 and os.environ.get('EDDY_TEST_ONCE'):
        tests = unittest.TestSuite(list(flat(tests))[::3])
    tests.run(Result(tap, int(os.environ.get('EDDY_TEST_TIME') or TEST_SECONDS.get(name.split('_')[0], 3600))))
    return tap.end()


# What page.mjs looks at in a run without names: each way through the page once. All of it takes longer than the other files together.
SMOKE = ('the list shows names', 'a strict CSP', 'files may be dropped', 'a link downloads', 'a download whose connection was cut',
         'what one window uploads', 'axe finds no barrier: empty', 'without JavaScript: upload by a form')


def only():
    return set(filter(None, os.environ.get('EDDY_TEST_ONLY', '').split(',')))


def start(path):
    if path.endswith('.mjs'):
        args = [os.environ['EDDY_NODE'], path, *(() if 'page' in only() else SMOKE)]
    else:
        args = [sys.executable, os.path.abspath(__file__), '--file', path]
    return subprocess.run(args, text=True, check=False, errors='replace', stdin=subprocess.DEVNULL,
                          capture_output=True)


# They take half of the time, and begin first.
LONG = ('systemd', 'bench_tls', 'bench_load', 'download', 'overload', 'get', 'put', 'times', 'tls', 'resources', 'technique', 'tls_records',
        'folders', 'leaving')


# They use files in each way that the sandbox has to permit, which programs under sanitizers are without.
SANDBOXED = {'config', 'disks', 'download', 'open_files', 'tree'}
# The load that they make is the same with a sanitizer, and takes longer.
MEASURED = {'bench_load', 'bench_tls'}


# They ask by clients of their own, or look at sockets, TLS and WebSockets.
ONLY_HTTP1 = {'bench_compare', 'bench_http2', 'bench_load', 'bench_report', 'bench_tls', 'chaos', 'client', 'codec', 'compress_tree',
              'cookbook', 'get', 'greeting', 'h2', 'h2_abuse', 'h2_clients', 'h2_conformance', 'h2_limits', 'ladder', 'listen', 'pg',
              'proxy_protocol', 'put', 'real_clients', 'restless', 'service', 'technique', 'tls_attack', 'tls_conformance', 'tls_keys',
              'tls_order', 'tls_points', 'tls_records', 'unkind', 'ws', 'ws_cases', 'ws_client', 'ws_unkind'}
# A run without names makes every third test of these over HTTP/2: a tenth of all.
OVER_HTTP2 = {'bodies', 'compression', 'decompression', 'digest', 'download', 'folders', 'parts', 'requests', 'resumable', 'tour_bodies',
              'tour_files', 'uploads'}


def runs_elsewhere(path, noun):
    """Whether the file's tests are left to the run with the other programs."""
    if wire.OVER_HTTP2:
        return noun in ONLY_HTTP1 or bool(os.environ.get('EDDY_TEST_ONCE') and noun not in OVER_HTTP2)
    if not os.environ.get('EDDY_TEST_ONCE') or path.endswith('.mjs'):
        return False
    if wire.is_sanitized():
        return noun in MEASURED
    with open(path, encoding='utf-8') as file:
        return noun not in SANDBOXED | MEASURED and 'is_sanitized' not in file.read()


def chosen(family):
    """The files to run, the longest first."""
    nouns = only()
    # Under a sanitizer the page runs by name only: what takes the time is the browser, and other files do to the server
    # what it does.
    page = family == 'test' and not wire.OVER_HTTP2 and ('page' in nouns or not wire.is_sanitized())
    files = [os.path.join(HERE, 'node', 'page.mjs')] if page else []
    long = [os.path.join(HERE, f'{family}_{noun}.py') for noun in LONG]
    found = sorted(glob.glob(os.path.join(HERE, f'{family}_*.py')))
    files += [path for path in long if path in found] + [path for path in found if path not in long]
    for path in files:
        noun = os.path.splitext(os.path.basename(path))[0].removeprefix(family + '_')
        if (not nouns or noun in nouns) and not runs_elsewhere(path, noun):
            yield path


def no_page():
    """Why the page can't be tested here; None if it can."""
    if not os.environ.get('EDDY_NODE'):
        return 'needs node and playwright-core, which ./dev test fetches'
    if not os.path.exists(os.path.join(os.environ['EDDY_EXAMPLES'], 'files')):
        return 'needs the example program files'
    return None


def report(tap, name, run):
    """Passes on what a file printed, under numbers of this run."""
    failed, planned = tap.failed, False
    for line in run.stdout.splitlines():
        word, _, rest = line.partition(' - ')
        case, _, why = rest.partition(' # SKIP ')
        if line.startswith('1..'):
            planned = True
            if '# SKIP' in line:
                tap.skip(name, line.partition('# SKIP')[2])
        elif line.startswith('#'):
            print(line, flush=True)
        elif why:
            tap.skip(case, why)
        elif word.startswith('ok'):
            tap.ok(case)
        elif word.startswith('not ok'):
            tap.fail(case)
    if not planned or (run.returncode and tap.failed == failed):
        tap.fail(f'{name} ended early', f'exit status {run.returncode}')
    if tap.failed > failed:
        tap.say(run.stderr)


def main():
    # What is started in the background of a script inherits that these are ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if sys.argv[1:2] == ['--file']:
        return run_file(sys.argv[2])
    family = sys.argv[1] if len(sys.argv) > 1 else 'test'
    tap = Tap()
    if wire.OVER_HTTP2 and not wire.speaks_http2():
        tap.skip('requests over HTTP/2', 'needs an eddy with -Dhttp2=enabled')
        return tap.end()
    files = list(chosen(family))
    if why := no_page():
        if any(f.endswith('.mjs') for f in files):
            tap.skip('page', why)
        files = [f for f in files if not f.endswith('.mjs')]
    with concurrent.futures.ThreadPoolExecutor(min(8, 2 * len(os.sched_getaffinity(0))) if family == 'test' else 1) as pool:
        for path, run in zip(files, pool.map(start, files)):
            report(tap, os.path.splitext(os.path.basename(path))[0], run)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
