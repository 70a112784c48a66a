"""Checks how the tree reads, and prints TAP.

    style.py ROOT

- C files look as clang-format 14 leaves them (other versions lay out differently: skipped with those)
- every public header compiles alone without a warning: as gnu11 C, as C++17, and behind <stdio.h> as plain C11
- strict.c, which uses every public macro, compiles as plain C11 and C2x
- every C block of the README and the guide that has a main compiles
- every test file is named in a meson.build
- every source file of auth, compress and trace has a test, here or in e2e/, of its stem, or of its noun: the stem before its first
  or its last underscore (said of runtime and http, not failed)
- a layer includes headers of those below it alone, a folder of sources in runtime, http and auth those of the folders that its
  row in the layer's README names, all above it, and no two files include each other
- libraries make calls of the system through <eddy/internal/outside.h> alone, save in the places of DIRECT
- each program of refused/ does not compile, with gcc and clang, and says what its "expect:" has
- a test in Python that runs a command of ./dev's table says that it needs it; a Criterion test needs nothing of that table
- no source file passes 900 lines (said, not failed)
"""
# needs: clang clang-format
import ast
import concurrent.futures
import graphlib
import itertools
import os
import re
import shutil
import subprocess
import sys

import needs
from tap import Tap

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')
LINES_MAX = 900
OUTSIDE = 'runtime/include/eddy/internal/outside.h'
# Calls that OUTSIDE has under a name other than eddyi_CALL_now(), and None for those that no library needs so far.
INSTEAD = {
    **dict.fromkeys(('clock_gettime', 'gettimeofday'), 'eddyi_clock()'), 'time': 'eddyi_clock_seconds()',
    **dict.fromkeys(('getrandom', 'getentropy', 'rand', 'rand_r', 'random', 'arc4random', 'arc4random_buf'), 'eddyi_random()'),
    'syscall': 'a function for this call, such as eddyi_openat2_now(),',
    **dict.fromkeys(
        'secure_getenv getuid geteuid uname sysinfo getrusage sched_getcpu accept recvfrom recvmsg recvmmsg sendto sendmmsg shutdown '
        'gethostbyname getnameinfo dup dup2 dup3 pipe timerfd_create signalfd inotify_init1 epoll_wait epoll_pwait ppoll select readv '
        'writev preadv pwritev pwritev2 tee vmsplice copy_file_range creat fopen fdopen freopen statx statfs statvfs fstatvfs faccessat '
        'readlink readlinkat lseek rename renameat link symlink mkdir mkdirat rmdir mkstemp mkostemp scandir fchmod fchmodat chown fchown '
        'fsync fdatasync fallocate wait4 waitpid'.split()),
}
# Places that make the calls themselves (of some files, one call), and why a recorder does not need these.
DIRECT = {
    'runtime/src/accelerator/device.c': 'http draws the random numbers of a recording',
    'http/src/command/': 'programs, not a library',
    'runtime/src/base/feature.c': 'probes the kernel once',
    'runtime/src/base/out.c': 'writes reports',
    'runtime/src/base/panic.c': 'the process is ending',
    'runtime/src/base/thread.c:syscall': 'only lets other threads run',
    'runtime/src/command/': 'programs, not a library',
    'runtime/src/core/fault.c': 'a handler of faults',
    'runtime/src/executor/': 'performs operations of the ring, whose completions are recorded; advice if there is no ring',
    'runtime/src/core/stack.c:mmap': 'anonymous memory',
    'runtime/src/io/buffers.c:mmap': 'anonymous memory',
    'runtime/src/transfer/gather.c:mmap': 'anonymous memory',
    'runtime/src/record/': 'records and replays them',
    'runtime/src/process/process.c:syscall': 'a child until it executes its program',
    'runtime/src/report/': 'reports for people',
    'runtime/src/sandbox/': 'set up before anything is served',
    'runtime/src/timeline/': 'a thread without a loop',
}
# Where a file has no test of its own noun, because it is one of several of a kind: the noun whose tests go through all of them.
TESTED_AS = {'brotli': 'codec', 'zlib': 'codec', 'zstd': 'codec', 'json': 'object', 'static_key': 'bearer',
             'choice': 'executor', 'poll': 'executor', 'ring': 'executor', 'call_filter': 'sandbox', 'every_thread': 'sandbox',
             'tapes': 'timeline', 'run': 'loop', 'message': 'loop', 'wait': 'task', 'panic': 'panic_in_panic',
             'eddy': 'installed', 'programs': 'installed', 'calls': 'record', 'entries': 'record', 'recording': 'record',
             'recording_file': 'record', 'redirect': 'record', 'track': 'record', 'turns': 'record',
             'absent': 'package', 'replay': 'record', 'watch': 'record'}
# Where tests have the name of what a client or a user does, instead of the file's.
TESTED_AS |= {'transfer_command': 'get', 'draft': 'resumable', 'tus': 'resumable', 'doctor_tls': 'linked', 'file': 'download', 'form': 'uploads', 'part': 'parts', 'upload': 'uploads', 'presence': 'leaving',
              'stop': 'run', 'ktls': 'tls'}
STRICT = (('gcc', 'c', 'c11'), ('clang', 'c', 'c11'), ('clang++', 'c++', 'c++17'))
NEWER = (('gcc', 'c', 'c2x'), ('clang', 'c', 'c2x'))


def sources(root, *endings):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(('.', 'build')) and f != 'node_modules')
        for name in sorted(files):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(folder, name), root)


def run(args, root, text=''):
    done = subprocess.run(args, cwd=root, input=text, text=True, check=False, errors='replace',
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout if done.returncode else ''


def check_format(tap, root, files):
    tool = shutil.which('clang-format-14') or shutil.which('clang-format')
    if not tool:
        return tap.skip('format', 'needs clang-format 14')
    version = subprocess.run([tool, '--version'], capture_output=True, text=True, check=True).stdout
    if 'version 14.' not in version:
        return tap.skip('format', 'needs clang-format 14, this is ' + version)
    says = run([tool, '--dry-run', '-Werror', '--style=file', *files], root) if files else ''
    says = '\n'.join(sorted(set(re.findall(r'^\S+?:\d+(?=:\d+: error)', says, re.M)))) or says
    bad = sorted(set(re.findall(r'^(\S+?):\d+$', says, re.M)))
    if bad:
        says += '\nto repair: clang-format -i ' + ' '.join(bad)
    return tap.check('format', says)


def compile_alone(root, text, language, flags=()):
    tool = {'c': 'gcc', 'c++': 'g++'}[language]
    std = {'c': 'gnu11', 'c++': 'c++17'}[language]
    include = [f'-I{layer}/include' for layer in LAYERS]
    return run([tool, '-x', language, f'-std={std}', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
                *flags, *include, '-'], root, text)


def compile_strictly(root, *args, text='', ways=STRICT):
    """As those compile who allow no extension of GNU's, with each compiler that there is."""
    says = []
    for tool, language, std in ways:
        if shutil.which(tool):
            includes = [f'-I{layer}/include' for layer in LAYERS]
            said = run([tool, '-x', language, f'-std={std}', '-Wall', '-Wextra', '-pedantic', '-Werror', '-fsyntax-only', *includes, *args],
                       root, text)
            says += [f'{tool} -std={std}:\n{said}'] if said else []
    return '\n'.join(says)


def public_macros(root):
    """Those that take arguments and are for users, without those that fill in the place of a call."""
    for header in sources(root, '.h'):
        if re.fullmatch(r'\w+/include/eddy/\w+\.h', header):
            text = open(os.path.join(root, header)).read()
            yield from (name for _, name in re.findall(
                r'^#define (?!eddy_(\w+)\(\.\.\.\)[\s\\]+eddyi?_\1\()((?:EDDY_|eddy_)\w+)\(', text, re.M))


def check_strict(tap, root):
    says = compile_strictly(root, 'tests/strict.c', ways=STRICT[:2] + NEWER)
    used = open(os.path.join(root, 'tests', 'strict.c')).read()
    unused = [macro for macro in public_macros(root) if not re.search(rf'\b{macro}\(', used)]
    if unused:
        says += f'strict.c does not use {" ".join(unused)}'
    tap.check('strict.c as plain C', says)


def check_headers(tap, root, pool):
    jobs = []
    for header in sources(root, '.h'):
        match = re.fullmatch(r'\w+/include/(eddy/\S+)', header)
        if match:
            # Twice: its guard works too.
            text = f'#include <{match.group(1)}>\n' * 2
            for language in ('c', 'c++'):
                job = pool.submit(compile_alone, root, text, language, ['-pedantic'])
                jobs.append((f'{match.group(1)} alone as {language}', job))
            # <stdio.h> has decided by then what the system's headers show.
            job = pool.submit(compile_strictly, root, '-', text=f'#include <stdio.h>\n#include <{match.group(1)}>\n')
            jobs.append((f'{match.group(1)} alone, strictly', job))
    for name, job in jobs:
        tap.check(name, job.result())


def check_documents(tap, root):
    for path in sources(root, '.md'):
        text = open(os.path.join(root, path)).read()
        for number, block in enumerate(re.findall(r'^```c\n(.*?)^```', text, re.M | re.S), 1):
            if 'int main(' in block:
                tap.check(f'{path} program {number}', compile_alone(root, block, 'c'))


def check_refused(tap, root):
    include = [f'-I{layer}/include' for layer in LAYERS]
    for path in sources(os.path.join(root, 'tests', 'refused'), '.c'):
        path = os.path.join('tests', 'refused', path)
        expected = re.search(r'expect: (.*)', open(os.path.join(root, path)).read())[1]
        for tool in filter(shutil.which, ('gcc', 'clang')):
            says = run([tool, '-std=gnu11', '-D_GNU_SOURCE', '-fsyntax-only', *include, path], root)
            found = re.search(f'error: .*{expected}', says)
            tap.check(f'{path} is refused by {tool}', '' if found else f'it does not say {expected}, but:\n{says}')


def check_listed(tap, root):
    missing = []
    for path in sources(os.path.join(root, 'tests'), '.c'):
        folder, name = os.path.split(path)
        if folder == 'refused' or path == 'strict.c':
            continue
        builds = [os.path.join(root, 'tests', f, 'meson.build') for f in (folder, os.path.dirname(folder))]
        listed = ''.join(open(build).read() for build in builds if os.path.exists(build))
        if f"'{name[:-2]}'" not in listed and f"'{name}'" not in listed:
            missing.append(f'tests/{path} is named in no meson.build: it would never run')
    tap.check('every test is built', '\n'.join(missing))


def check_tested(tap, root):
    servers = {path[len('test_'):-len('.py')] for path in os.listdir(os.path.join(root, 'tests', 'e2e')) if path.startswith('test_')} | {'installed', 'package'}
    for layer in LAYERS:
        folders = (layer, 'accelerator') if layer == 'runtime' else (layer,)
        tests = servers | {os.path.splitext(os.path.basename(path))[0] for folder in folders
                           for path in sources(os.path.join(root, 'tests', folder), '.c')}
        wrong = []
        for path in sources(os.path.join(root, layer, 'src'), '.c', '.cc'):
            stem = os.path.splitext(os.path.basename(path))[0]
            if not tests & {stem, stem.partition('_')[0], stem.rpartition('_')[0] or stem, TESTED_AS.get(stem)}:
                wrong.append(f'{layer}/src/{path}')
        tap.check(f'every file of {layer} has a test of its noun', '\n'.join(wrong))


def includes(root, path):
    """The headers that a file names, as it writes them."""
    with open(os.path.join(root, path)) as file:
        return re.findall(r'^#\s*include ["<]([\w./]+\.h)[">]', file.read(), re.M)


def check_layers(tap, root):
    below = {'runtime': (), 'http': ('runtime',), **dict.fromkeys(('compress', 'trace', 'auth'), ('runtime', 'http'))}
    owner = {'eddy/' + os.path.basename(path): path.split('/')[0] for path in sources(root, '.h') if '/include/eddy/' in path}
    wrong = []
    for layer, allowed in below.items():
        for path in sources(os.path.join(root, layer), '.c', '.cc', '.h'):
            path = os.path.join(layer, path)
            wrong += [f'{path} includes <{header}> of {owner[header]}' for header in includes(root, path)
                      if owner.get(header, layer) not in (layer, *allowed)]
    tap.check('layers include what is below them', '\n'.join(wrong))


def check_folders(tap, root, layer):
    """The table in the layer's README has every folder of its sources, what each includes, and none includes what stands below it."""
    readme, src = f'{layer}/README.md', os.path.join(root, layer, 'src')
    with open(os.path.join(root, readme)) as file:
        rows = re.findall(r'^\| \[(\w+)\]\(src/\1\) \| [^|]* \| ([\w, ]*) \|$', file.read(), re.M)
    listed = {name: re.findall(r'\w+', names) for name, names in rows}
    above = [name for name, _ in rows]
    used = {folder: set() for folder in listed}
    wrong = []
    for path in sources(src, '.c', '.cc', '.h'):
        folder = os.path.dirname(path)
        if folder not in listed:
            wrong.append(f'{layer}/src/{path} is in no folder that {readme} has')
            continue
        others = {os.path.dirname(header) for header in includes(src, path) if os.path.exists(os.path.join(src, header))}
        used[folder] |= others
        wrong += [f'{layer}/src/{path} includes {other}/, which is not in the row of {folder} in {readme}'
                  for other in sorted(others - set(listed[folder]))]
    for at, (folder, names) in enumerate(listed.items()):
        wrong += [f'{folder} includes {name}, says {readme}, and {name} does not stand above it' for name in names if name not in above[:at]]
        wrong += [f'{folder} includes {name}, says {readme}, and no file does' for name in names if name not in used[folder]]
    tap.check(f'folders of {layer} include what is above them', '\n'.join(wrong))


def check_outside(tap, root):
    with open(os.path.join(root, OUTSIDE.replace('.h', '_calls.h'))) as file:
        own = re.findall(r'^(?:NOW|SYSCALL|BY_HAND)\([^,]+, (\w+),', file.read(), re.M)
    instead = {**{call: f'eddyi_{call}_now()' for call in own}, **INSTEAD}
    called = re.compile(rf'(?<![\w.>])({"|".join(instead)})\(')
    wrong = []
    for path in (f'{layer}/src/{path}' for layer in LAYERS for path in sources(os.path.join(root, layer, 'src'), '.c', '.cc', '.h')):
        with open(os.path.join(root, path)) as file:
            # Without comments and literals.
            text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                          lambda found: '\n' * found[0].count('\n'), file.read(), flags=re.S)
        # Functions and parameters that happen to have the name of a call.
        others = re.findall(r'^\w[\w *]*\b(\w+)\(|\(\*(\w+)\)\(', text, re.M)
        wrong += [f'{path}:{text.count(chr(10), 0, at.start()) + 1} calls {at[1]}(): instead, call '
                  f'{instead[at[1]] or "a function to be added"} of <{OUTSIDE.partition("include/")[2]}>'
                  for at in called.finditer(text) if at[1] not in itertools.chain(*others) and not f'{path}:{at[1]}'.startswith(tuple(DIRECT))]
    tap.check('libraries reach outside through one header', '\n'.join(wrong))


def check_circles(tap, root):
    """A file and its header are one."""
    for layer in LAYERS:
        src = os.path.join(root, layer, 'src')
        graph = {}
        for path in sources(src, '.c', '.cc', '.h'):
            room, folder = os.path.splitext(path)[0], os.path.dirname(path)
            for header in includes(src, path):
                found = [name for name in (os.path.join(folder, header), header) if os.path.exists(os.path.join(src, name))]
                if found and os.path.splitext(found[0])[0] != room:
                    graph.setdefault(room, set()).add(os.path.splitext(found[0])[0])
        try:
            graphlib.TopologicalSorter(graph).prepare()
            wrong = ''
        except graphlib.CycleError as error:
            wrong = ' -> '.join(reversed(error.args[1]))
        tap.check(f'files of {layer} include each other one way', wrong)


def commands_of(path):
    """The commands that a file runs, as far as that shows: the first words of lists, and calls of the helpers curl() and node(); and the
    modules that it imports."""
    with open(path, encoding='utf-8') as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.List) and node.elts and isinstance(node.elts[0], ast.Constant):
            yield node.elts[0].value
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition('.')[0]
        elif isinstance(node, ast.Import):
            yield from (name.name.partition('.')[0] for name in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            yield {'curl': 'curl', 'node': 'npm'}.get(node.func.id if isinstance(node.func, ast.Name) else node.func.attr)


def check_needs(tap, root):
    with open(os.path.join(root, 'dev')) as file:
        table = re.findall(r'^\t([\w|.+-]+) +(\w+) +(\S+)$', re.search(r"^tool_needs='(.*?)'$", file.read(), re.M | re.S)[1], re.M)
    package_of = {os.path.basename(what): package for package, kind, what in table
                  if kind == 'command' or kind == 'file' and '/dist-packages/' in what}
    wrong = []
    for path in sources(os.path.join(root, 'tests'), '.py'):
        own = needs.of_file(os.path.join(root, 'tests', path), set())
        # Functions that others call: who calls them, needs it.
        if path not in ('e2e/helpers/wire.py', 'e2e/helpers/coding.py'):
            wrong += [f'tests/{path} uses {command}, and has no {package_of[command]} in its line "# needs:"'
                      for command in sorted(set(filter(package_of.get, commands_of(os.path.join(root, 'tests', path)))))
                      if package_of[command] not in own]
    wrong += [f'{name} needs {package}' for name in ('scope', 'runtime', 'router', 'crash') for package in needs.needs([name])]
    tap.check('tests say what they need', '\n'.join(wrong))


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    files = list(sources(root, '.c', '.h'))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        check_format(tap, root, files)
        check_headers(tap, root, pool)
    check_strict(tap, root)
    check_documents(tap, root)
    check_refused(tap, root)
    check_listed(tap, root)
    check_tested(tap, root)
    check_layers(tap, root)
    for layer in ('runtime', 'http', 'auth'):
        check_folders(tap, root, layer)
    check_circles(tap, root)
    check_outside(tap, root)
    check_needs(tap, root)
    for path in files:
        lines = sum(1 for _ in open(os.path.join(root, path), errors='replace'))
        if lines > LINES_MAX:
            print(f'warning: {path} has {lines} lines', file=sys.stderr)
    return tap.end()


sys.exit(main())
