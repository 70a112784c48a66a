"""Checks in the ELF files of an optimized build that it is hardened as ./dev build says.

    hardened.py FILE…
"""
import os
import re
import subprocess
import sys

from tap import Tap

IS_X86 = os.uname().machine == 'x86_64'


def readelf(path, *what):
    return subprocess.run(['readelf', '--wide', *what, path], capture_output=True, text=True, check=True, env={**os.environ, 'LC_ALL': 'C'}).stdout


def imports(path):
    return set(re.findall(r' UND (\w+)', readelf(path, '--dyn-syms')))


def faults(path):
    """Yields a property and whether the file lacks it."""
    head, dynamic, segments = readelf(path, '--file-header'), readelf(path, '--dynamic'), readelf(path, '--segments')
    is_library = '.so' in os.path.basename(path)
    yield 'position independent', not re.search(r'Type:\s+DYN', head) or not is_library and not re.search(r'FLAGS_1.*\bPIE\b', dynamic)
    yield 'full RELRO', 'GNU_RELRO' not in segments or not re.search(r'\bBIND_NOW\b|FLAGS_1.*\bNOW\b', dynamic)
    yield 'no executable stack', not re.search(r'GNU_STACK\s.*\sRW\s', segments)
    names = imports(path)
    yield 'stack protector', '__stack_chk_fail' not in names
    yield '_FORTIFY_SOURCE', not any(re.fullmatch(r'__\w+_chk', name) for name in names)
    yield from marks(path)


def marks(path):
    """Of an archive each object is marked for indirect branch tracking. What is linked has the mark if the objects of the compiler and
    of libc have it, too, which Debian 12's have not. Nothing is marked as fit for a shadow stack."""
    if not IS_X86:
        return
    notes = readelf(path, '--notes')
    features = re.findall(r'x86 feature: (.*)', notes)
    if path.endswith('.a'):
        yield 'indirect branch tracking', sum('IBT' in feature for feature in features) < max(1, notes.count('File: '))
    yield 'no mark for shadow stacks', any('SHSTK' in feature for feature in features)


def main(paths):
    tap = Tap()
    for path in paths:
        lacking = [what for what, is_lacking in (marks if path.endswith('.a') else faults)(path) if is_lacking]
        tap.check(os.path.basename(path), 'lacks: ' + ', '.join(lacking) if lacking else '')
    return tap.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
