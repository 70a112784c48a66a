"""Builds the switch and its test alone for each machine that there is a compiler for, in each of its three forms, and
runs them; other machines' programs by qemu-user. What eddy-gdb.py makes of their stacks is looked at as well. Prints TAP.

    machines.py ROOT

Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user and gdb-multiarch are what is needed for aarch64.
"""
# needs: clang gcc-aarch64-linux-gnu gdb-multiarch libc6-dev-arm64-cross qemu-user
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tap import Tap

SWITCHES = ('asm', 'setjmp', 'ucontext')
SOURCES = ('runtime/src/core/switch.c', 'tests/runtime/switch.c')
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


def program_of(folder, compiler, switch):
    return os.path.join(folder, '-'.join([*compiler, switch]).replace('/', '_'))


def build_and_run(root, folder, compiler, runner, switch):
    """Returns what failed to be built, or (status, what the program printed)."""
    program = program_of(folder, compiler, switch)
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


def look_at(root, program, runner):
    """Returns what gdb says of stacks[1] of switch.c while it is switched away from: its frames."""
    socket = program + '.gdb'
    commands = ('set debuginfod enabled off', 'set width 0', 'set style enabled off', 'source runtime/gdb/eddy-gdb.py',
                f'target remote {socket}', 'break drop if ctx == &stacks[0] && path[0]', 'continue',
                'python stack.show(gdb.parse_and_eval("stacks[1]"))', 'echo \\n<frames>\\n', 'bt', 'kill')
    with subprocess.Popen([*runner, '-g', socket, program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as emulated:
        try:
            while not os.path.exists(socket) and emulated.poll() is None:
                time.sleep(0.01)
            _, says = output_of(['gdb-multiarch', '-nx', '-batch', *(f'-ex={command}' for command in commands), program],
                                root)
        finally:
            emulated.kill()
    return says


def check_frames(tap, name, switch, says):
    frames = says.partition('\n<frames>\n')[2]
    if switch == 'setjmp':
        wanted = r'Complaint: on aarch64 a task that was switched by setjmp can not be looked into'
        tap.check(f'{name}: eddy-gdb.py says what it can not do', '' if re.search(wanted, says) else says)
        return
    wanted = r' in ring_of_stacks \(.*\n#\d+ .* in main_of_stack \(.*\n'
    found = re.search(wanted, frames) and 'drop' not in frames
    tap.check(f'{name}: eddy-gdb.py shows a stack that was switched away from', '' if found else says)


def look_at_stacks(tap, root, folder):
    """gdb.py does this, and more, for programs that this machine runs itself."""
    for name, compiler, runner in BUILDS:
        if not runner:
            continue
        for switch in SWITCHES:
            program = program_of(folder, compiler, switch)
            if not os.path.exists(program):
                continue
            if shutil.which('gdb-multiarch'):
                check_frames(tap, f'{name} {switch}', switch, look_at(root, program, runner))
            else:
                tap.skip(f'{name} {switch}: eddy-gdb.py', 'needs gdb-multiarch; ./dev test machines installs it')


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
        look_at_stacks(tap, root, folder)
    return tap.end()


sys.exit(main())
