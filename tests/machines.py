"""Builds the switch and its test alone for each machine that there is a compiler for, in each of its three forms, and
runs them; other machines' programs by qemu-user. Prints TAP.

    machines.py ROOT

Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user are what is needed for aarch64.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

SWITCHES = ('asm', 'setjmp', 'ucontext')
SOURCES = ('runtime/src/switch.c', 'tests/runtime/switch.c')
FLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-O2', '-g', '-Wall', '-Wextra', '-Werror', '-DEDDY_TEST_ALONE',
         '-Iruntime/src', '-Iruntime/include']
HERE = os.uname().machine
# Name, compiler, what runs its programs.
BUILDS = (
    (f'{HERE} gcc', ['gcc', '-fstack-clash-protection'], []),
    (f'{HERE} clang', ['clang'], []),
    ('aarch64 gcc', ['aarch64-linux-gnu-gcc', '-static', '-fstack-clash-protection'], ['qemu-aarch64']),
    ('aarch64 clang', ['clang', '--target=aarch64-linux-gnu', '-static'], ['qemu-aarch64']),
)
CASE = re.compile(r'(ok|not ok) \d+ - ([^#\n]*[^#\n ])(?: # SKIP (.*))?$', re.M)


def output_of(args, root):
    done = subprocess.run(args, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors='replace', check=False, timeout=120)
    return done.returncode, done.stdout


def build_and_run(root, folder, compiler, runner, switch):
    """Returns what failed to be built, or (status, what the program printed)."""
    program = os.path.join(folder, '-'.join([*compiler, switch]).replace('/', '_'))
    status, says = output_of([*compiler, *FLAGS, f'-I{folder}', f'-DEDDYI_SWITCH_{switch.upper()}', *SOURCES,
                              '-o', program], root)
    if status:
        return 'does not build', says
    return output_of([*runner, program], root)


def lacks(compiler, runner):
    tools = [compiler[0], *runner]
    if '--target=aarch64-linux-gnu' in compiler:
        tools.append('aarch64-linux-gnu-gcc')  # the linker and the C library come with it
    return ' '.join(tool for tool in tools if not shutil.which(tool))


def report(tap, name, status, says):
    failed = tap.failed
    cases = CASE.findall(says)
    for word, test, why in cases:
        if why:
            tap.skip(f'{name}: {test}', why)
        elif word == 'ok':
            tap.ok(f'{name}: {test}')
        else:
            tap.fail(f'{name}: {test}')
    if tap.failed == failed and (status or f'1..{len(cases)}' not in says.split('\n')):
        tap.fail(f'{name} ended early', f'exit status {status}')
    if tap.failed > failed:
        tap.say(says)


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    jobs = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        with open(os.path.join(folder, 'config.h'), 'w') as file:
            file.write('#define EDDYI_HAVE_VALGRIND 0\n')
        for name, compiler, runner in BUILDS:
            missing = lacks(compiler, runner)
            if missing:
                tap.skip(name, f'needs {missing}; ./dev test machines installs it')
                continue
            for switch in SWITCHES:
                job = pool.submit(build_and_run, root, folder, compiler, runner, switch)
                jobs.append((f'{name} {switch}', job))
        for name, job in jobs:
            report(tap, name, *job.result())
    return tap.end()


sys.exit(main())
