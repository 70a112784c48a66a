"""Prints the Debian packages that the named tests need besides those that build them, a line each.

    needs.py NAME…    names as `./dev test` takes them

A Python file says so itself, in a line `# needs: curl openssl`, as does each helper that it imports. FILES and PACKAGES have what
is no file of that name.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Parts: the files that they run, or packages.
FILES = {
    'docs': 'docs.py errors.py pictures.py suspends.py', 'pages': '', 'package': 'package.py shown.py', 'packaging': 'abi.py debian.py release.py',
    'debian-files': 'debian.py', 'abi-notices': 'abi.py', 'releasing': 'release.py', 'installed': 'installed.py shown.py', 'site': 'pages.py', 'gdb': 'gdb.py', 'page': 'e2e/test_page.py',
    'e2e': 'e2e/test_*.py', 'h2': 'e2e/test_*.py', 'chaos': 'e2e/chaos_*.py', 'big': 'e2e/big_*.py', 'abuse': 'e2e/abuse_*.py', 'soak': 'e2e/soak_*.py', 'qemu': 'e2e/qemu_*.py', 'interop': 'e2e/interop_*.py',
    'replays': 'e2e/replays_*.py', 'rufh': 'e2e/rufh_*.py', 'release': 'e2e/release_*.py ../release/release.py',
    'tsan': 'e2e/test_pg.py e2e/test_service.py', 'tsan-gcc': 'e2e/test_pg.py e2e/test_service.py',
    'poll': 'e2e/test_*.py', 'wolfssl': 'e2e/test_*.py',
}
SANITIZERS = 'clang libclang-rt-dev'
PACKAGES = {
    'clang': 'clang', 'fuzz': SANITIZERS, 'asan-clang': SANITIZERS, 'tsan': SANITIZERS, 'valgrind': 'valgrind', 'valgrind-clang': 'clang valgrind',
    'real_clients': 'apt aria2 ffmpeg nghttp2-client ostree rclone wget zsync',
    'debian': 'debhelper dpkg-dev lintian', 'wolfssl': 'autoconf automake dpkg-dev libtool make',
}


def files(name):
    patterns = FILES.get(name, 'gdb.py' if name.startswith('gdb-') else f'{name}.py e2e/test_{name}.py')
    return [path for pattern in patterns.split() for path in glob.glob(os.path.join(HERE, pattern))]


def of_file(path, seen):
    """What a file needs, and what the helpers need that it imports."""
    if path in seen or not os.path.exists(path):
        return set()
    seen.add(path)
    with open(path, encoding='utf-8') as file:
        text = file.read()
    needs = set(' '.join(re.findall(r'^# needs: (.*)$', text, re.M)).split())
    for helper in re.findall(r'^(?:import|from) (\w+)', text, re.M):
        needs |= of_file(os.path.join(HERE, 'e2e', 'helpers', helper + '.py'), seen)
    return needs


def needs(names):
    seen, found = set(), set()
    for name in names:
        found.update(PACKAGES.get(name, '').split())
        for path in files(name):
            found |= of_file(path, seen)
    return found


if __name__ == '__main__':
    print('\n'.join(sorted(needs(sys.argv[1:]))))
