"""Looks at a process and at its core files with gdb and eddy-gdb.py. Prints TAP.

    gdb.py EDDY_GDB EXECUTABLE BUILD

The executable is runtime/gdb/tasks.c, with debug information, which was compiled in the folder BUILD. Skipped where there is no gdb that has Python and may
trace.
"""
# needs: gdb
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

# At every instruction of the switch: who called it, and where the stack ends.
WALK = '''
python
def walk():
    for _ in range(40):
        frame = gdb.newest_frame()
        if frame.name() not in ("eddyi_swap", "eddyi_leave"):
            break
        names = []
        while frame:
            names.append(str(frame.name()))
            frame = frame.older()
        print("walk", *names)
        gdb.execute("stepi", to_string=True)
walk()
end
'''


class Gdb:
    """Runs gdb with commands, and has what it printed after each."""

    def __init__(self, script, folder, build):
        self.script, self.folder, self.build = script, folder, build

    def run(self, target, *commands, cwd=None):
        path = os.path.join(self.folder, 'commands')
        with open(path, 'w') as file:
            file.write(f'set debuginfod enabled off\nset width 0\nset style enabled off\nsource {self.script}\n')
            for number, command in enumerate(commands):
                file.write(f'echo \\n<{number}>\\n\n')
                # A command file ends at the first error; one in Python's hands does not.
                if command.startswith('\npython'):
                    file.write(command.lstrip('\n'))
                else:
                    file.write(f'python\ntry:\n    gdb.execute({command!r})\n'
                               'except gdb.error as error:\n    print(error)\nend\n')
        # Sources are named relative to the build folder, of which a compiler cache may have noted another.
        done = subprocess.run(['gdb', '-nx', '-batch', '-d', self.build, '-x', path, *target],
                              stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors='replace', check=False, timeout=120, cwd=cwd or self.folder)
        parts = re.split(r'\n<\d+>\n', done.stdout)
        return dict(zip(commands, parts[1:])), done.stdout


def why_not(exe, folder):
    if not shutil.which('gdb'):
        return 'needs gdb'
    says = subprocess.run(['gdb', '-nx', '-batch', '-ex', 'python print(6 * 7)', '-ex', 'break main', '-ex', 'run', exe],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, timeout=60, cwd=folder).stdout
    if '42' not in says:
        return 'needs a gdb that has Python'
    if 'Breakpoint 1, main' not in says:
        return 'may not trace here: ' + says.strip().splitlines()[-1]
    return ''


def lacks(text, *patterns):
    """What of the patterns, which stand in this order, is not in the text; '' when all are."""
    position = 0
    text = re.sub(r'\b(\w+)=\1@entry=', r'\1=', text)
    for pattern in patterns:
        match = re.compile(pattern, re.M).search(text, position)
        if not match:
            return f'/{pattern}/ is not in (or not in this order):\n{text}'
        position = match.end()
    return ''


TASKS = (r'^  Id +Loop +Name +State +For +Request or place$',
         r'^  1\.\d+ +second +second ',
         r'^  1\.2 +second +far +waiting for event 0x\w+ \(second_may_end\) +[\d.]+ m?s +.*tasks\.c:\d+$',
         r'^  2\.1 +main +main +waiting for scope join +[\d.]+ m?s ',
         r'^  2\.2 +main +sleeper +waiting for sleep +[\d.]+ m?s +.*tasks\.c:\d+$',
         r'^  2\.3 +main +reader +waiting for recv, fd \d+ +[\d.]+ m?s +GET /read/\{name\}$',
         r'^  2\.4 +main +waiter +waiting for event 0x\w+ \(never\) ',
         r'^  2\.5 +main +nester +waiting for scope join ',
         r'^  2\.6 +main +child +waiting for event 0x\w+ \(never\) ',
         r'^\* 2\.7 +main +runner +running +- +',
         r'^  2\.8 +main +late +ready, not started yet +- ')
SLEEPER = (r'\beddyi_wait \(', r'\beddy_sleep \(duration_ns=3600000000000\)',
           r' in inner \((?=.*depth=77)(?=.*weight=2\.5)', *(rf' in middle \(.*token={1000 + i}\b' for i in (2, 1, 0)),
           r' in task_main \(', r' in main_of_stack \(.*\n*\Z')
READER = (r'\beddyi_wait \(', r'\beddy_recv \(fd=', r' in reader \(', r' in main_of_stack \(')
RUNNER = (r'stop_here \(answer=42\)', r' in runner \(', r' in main_of_stack \(')
SCOPES = (r'^loop 1 "second"$', r'^  scope 0x\w+ begun by task 1\.1 "second"$',
          r'^loop 2 "main"$', r'^  scope 0x\w+ begun by task 2\.1 "main"$', r'^    task 2\.2 "sleeper", waiting for sleep',
          r'^    scope 0x\w+ begun by task 2\.5 "nester", fail-fast, (59|60) min left$',
          r'^      task 2\.6 "child", waiting for event')


def check_everywhere(tap, name, said):
    """What is the same on a live process and on a core file."""
    tap.check(f'{name}: info tasks', lacks(said['info tasks'], *TASKS))
    tap.check(f'{name}: info scopes', lacks(said['info scopes'], *SCOPES))
    tap.check(f'{name}: backtrace of a task that sleeps, with its arguments', lacks(said['task 2.2 bt'], *SLEEPER))
    tap.check(f'{name}: backtrace of a task that waits for an op', lacks(said['task 2.3 bt'], *READER))
    tap.check(f'{name}: backtrace of the task that runs', lacks(said['task 2.7 bt'], *RUNNER))
    tap.check(f'{name}: backtraces of all', lacks(
        said['task apply all bt'], r'^task 1\.2 "far"', r' in main_of_stack', r'^task 2\.2 "sleeper"', *SLEEPER[:-1],
        r' in main_of_stack', r'^task 2\.8 "late"', 'has no frames yet'))


LOOKS = ('info tasks', 'info scopes', 'task 2.2 bt', 'task 2.3 bt', 'task 2.7 bt', 'task apply all bt')


def check_live(tap, gdb, exe, core):
    said, everything = gdb.run(
        [exe], 'info tasks ', 'break stop_here', 'run mprotect', 'info all-registers', 'set may-write-registers off',
        'set may-write-memory off', *LOOKS, 'task', 'task 2.2', 'info tasks  ', 'bt', 'up', 'info args', 'bt 1',
        'task none', 'bt ', 'info all-registers ', 'set may-write-registers on', 'set may-write-memory on',
        f'generate-core-file {core}', 'task 2.2 ', 'continue')
    if 'task 2.2 ' not in said:
        return tap.fail('live', everything)
    tap.check('live: without a process', lacks(said['info tasks '], r'^eddy: there is no process'))
    check_everywhere(tap, 'live', said)
    tap.check('live: which task', lacks(said['task'], r'^Selected: task 2\.7 "runner" of loop "main", running$'))
    tap.check('live: a task is selected', lacks(
        said['task 2.2'], r'^\[task 2\.2 "sleeper" of loop "main", waiting for sleep, for [\d.]+ m?s, spawned at .*:\d+\]$',
        r'^#\d+ .* in inner \(', r'^\d+\s+int r = eddy_sleep\(HOUR\);$'))
    tap.check('live: the selected one is marked', lacks(said['info tasks  '], r'^\* 2\.2 ', r'^  2\.7 '))
    tap.check('live: bt of the selected one', lacks(said['bt'], *SLEEPER))
    tap.check('live: bt shows no frame of the thread', 'it does' if 'stop_here' in said['bt'] else '')
    tap.check('live: up', lacks(said['up'] + said['info args'], r' in middle \(', r'^token = 1002$'))
    tap.check('live: back to the thread', lacks(said['bt '], *RUNNER))
    before, after = said['info all-registers'], said['info all-registers ']
    tap.check('live: registers stay', '' if before == after and len(before) > 1000 else before + after)
    tap.check('live: goes on', lacks(said['continue'], 'went on with 42', '77 2.5 a label', 'ended with 0 and 0',
                                     'exited normally'))
    return None


def check_core(tap, gdb, exe, core, name):
    said, everything = gdb.run([exe, core], *LOOKS, 'task 99', 'task 2.99', 'task x', 'task 1', 'task 2.8', 'task apply all')
    if len(said) != len(LOOKS) + 6:
        return tap.fail(name, everything)
    check_everywhere(tap, name, said)
    for command, complaint in (('task 99', 'there is no task 99; info tasks lists them'),
                               ('task 2.99', 'there is no task 2.99; info tasks lists them'),
                               ('task x', '"x" is no task; info tasks lists them'),
                               ('task 1', 'there is a task 1 in more than one loop: say 1.1 or 2.1'),
                               ('task 2.8', 'task "late" has no frames yet: it was never switched to'),
                               ('task apply all', 'say which tasks and what: task apply all bt, task apply 1 4-6 bt')):
        tap.check(f'{name}: {command}', '' if said[command].strip() == f'eddy: {complaint}' else said[command])
    return None


def check_abort(tap, gdb, exe):
    """A core file of the kernel's, where it writes them into the current folder."""
    pattern = open('/proc/sys/kernel/core_pattern').read().strip()
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if '/' in pattern or '|' in pattern or hard == 0:
        return tap.skip('core of an abort', f'cores go elsewhere: {pattern}' if hard else 'no core files may be written')
    with tempfile.TemporaryDirectory(dir=gdb.folder) as folder:
        subprocess.run([exe, 'abort'], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False, timeout=60,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)))
        cores = glob.glob(f'{folder}/*core*')
        if not cores:
            return tap.skip('core of an abort', 'the kernel wrote none')
        return check_core(tap, gdb, exe, cores[0], 'core of an abort')


def check_walk(tap, gdb, exe):
    if 'No symbol' in gdb.run([exe], 'info address eddyi_leave')[1]:
        return tap.skip('walks through the switch', 'switches without assembly')
    _, everything = gdb.run([exe], 'break stop_here', 'run', 'set scheduler-locking on', 'break *eddyi_swap',
                            'break *eddyi_leave', 'continue', WALK, 'continue ', WALK + '\n', 'continue  ', WALK + '\n\n')
    walks = [line.split()[1:] for line in everything.splitlines() if line.startswith('walk ')]
    bad = [w for w in walks if len(w) < 3 or 'None' in w or w[-1] not in ('main_of_stack', 'main')]
    if len(walks) < 30 or bad:
        return tap.fail('walks through the switch', '\n'.join(' '.join(w) for w in bad) or everything)
    ends = {w[-1] == 'main_of_stack' for w in walks}
    return tap.check('walks through the switch', '' if len(ends) == 2 else 'never to the other stack\n' + everything)


def check_stripped(tap, gdb, exe):
    stripped = os.path.join(gdb.folder, 'stripped')
    subprocess.run(['strip', '-o', stripped, exe], check=True)
    said, _ = gdb.run([stripped], 'starti', 'info tasks', 'task 1 bt')
    for command in ('info tasks', 'task 1 bt'):
        tap.check(f'stripped: {command}', lacks(said[command], r'\A\s*eddy: no debug information .*\s*\Z'))


def main():
    script, exe, build = (os.path.abspath(path) for path in sys.argv[1:4])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        why = why_not(exe, folder)
        if why:
            tap.skip('gdb', why)
            return tap.end()
        gdb = Gdb(script, folder, build)
        core = os.path.join(folder, 'saved-core')
        check_live(tap, gdb, exe, core)
        if os.path.exists(core):
            check_core(tap, gdb, exe, core, 'core')
        else:
            tap.fail('core', 'gdb wrote none')
        check_abort(tap, gdb, exe)
        check_walk(tap, gdb, exe)
        check_stripped(tap, gdb, exe)
    return tap.end()


sys.exit(main())
