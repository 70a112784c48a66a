"""What programs are linked with, against the first release of its series. Prints TAP.

    abi.py ROOT             the libraries of the tree are compared by abidiff with those of that release
    abi.py ROOT notices     two small libraries that are known to differ, or not to, are judged rightly
    abi.py ROOT write       makes tests/abi/SERIES-MACHINE.tar.xz, with which the versions of a series (0.1, 1.2) are compared

Until 1.0 libraries of one minor version have one interface: nothing is changed, added or taken away. From 1.0 on what is added needs
no new soname. See docs/decisions/0029-a-name-for-each-minor-version.md.
"""
# needs: abigail-tools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

from installed import LIBRARIES
from tap import Tap

# Bits of abidiff's exit status: it could not compare. The others say that something differs.
FAILED = 1 | 2


class Failed(Exception):
    pass


def run(*args, cwd=None):
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, cwd=cwd)
    if done.returncode:
        raise Failed(f'{shlex.join(args)}: exit status {done.returncode}\n{done.stdout[-4000:]}')
    return done.stdout


def numbers(version):
    return [int(part) for part in version.removeprefix('v').split('.')]


def compare(old, new, old_version, new_version):
    """What is wrong with `new` in the place of `old`: nothing where its version says that it is another."""
    before, now = numbers(old_version), numbers(new_version)
    if now < before:
        return f'{new_version} is older than {old_version}'
    series = 2 if before[0] == 0 else 1
    if now[:series] != before[:series]:
        return ''
    added = ['--no-added-syms'] if series == 1 else []
    with tempfile.NamedTemporaryFile('w', suffix='.abignore') as private:
        # Not --headers-dir1: that goes by a header's last name, and src/core/loop.h has that of eddy/loop.h.
        private.write('[suppress_type]\nsource_location_not_regexp = /include/eddy/\n')
        private.flush()
        done = subprocess.run(['abidiff', *added, '--no-show-locs', '--suppressions', private.name, old, new],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode & FAILED:
        raise Failed(done.stdout)
    if not done.returncode:
        return ''
    which = 'minor' if series == 2 else 'major'
    return f'{new_version} would be taken for {old_version}, and differs: raise the {which} version\n' + done.stdout


class Built:
    """A tree, and its libraries with debug information."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        run('meson', 'setup', '-Dtests=false', '-Dexamples=false', '-Dman=disabled', '--buildtype=debug', folder, root)
        self.version = json.loads(run('meson', 'introspect', '--projectinfo', folder))['version']
        self.libraries = {target['name'].removeprefix('eddy-'): target['filename'][0] for target in json.loads(run('meson', 'introspect', '--targets', folder))
                          if target['type'] == 'shared library'}
        run('ninja', '-C', folder, *(os.path.relpath(self.libraries[name], folder) for name in LIBRARIES))


def describe(library, path):
    """Writes what programs see of a library, as abidiff reads it."""
    run('abidw', '--no-show-locs', '--no-comp-dir-path', '--no-corpus-path', '--out-file', path, library)
    return path


def baseline(root, version):
    """What describes the libraries of a version's series."""
    return os.path.join(root, 'tests', 'abi', f'{".".join(version.split(".")[:2])}-{os.uname().machine}.tar.xz')


def write(root):
    with tempfile.TemporaryDirectory(prefix='eddy-abi-') as folder:
        built = Built(root, os.path.join(folder, 'new'))
        path = baseline(root, built.version)
        if os.path.exists(path):
            raise Failed(f'{path} exists, and what it describes may be released; if it is not: rm {path}')
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with tarfile.open(path, 'w:xz') as archive:
            for name in sorted(LIBRARIES):
                described = describe(built.libraries[name], os.path.join(folder, f'{name}.abi'))
                entry = tarfile.TarInfo(f'{name}.abi')
                entry.size = os.path.getsize(described)
                with open(described, 'rb') as file:
                    archive.addfile(entry, file)


def check_tree(tap, root):
    with tempfile.TemporaryDirectory(prefix='eddy-abi-') as folder:
        new = Built(root, os.path.join(folder, 'new'))
        path = baseline(root, new.version)
        if not os.path.exists(path):
            tap.skip('libraries are those of the last release', f'there is no {path}')
            return
        with tarfile.open(path) as archive:
            archive.extractall(folder)
            names = {name.removesuffix('.abi') for name in archive.getnames()}
        first = '.'.join(new.version.split('.')[:2]) + '.0'
        for name in sorted(names | set(LIBRARIES)):
            what, old = f'{name}: {first} and now', os.path.join(folder, f'{name}.abi')
            if name not in names or name not in LIBRARIES:
                tap.fail(what, f'it is only in {"the tree" if name in LIBRARIES else path}')
            else:
                tap.check(what, compare(old, new.libraries[name], first, new.version))


HEADER = 'struct hidden;\nstruct eddy_small { int a;%s };\nint eddy_use(struct eddy_small *small, struct hidden *hidden);\n'
HIDDEN = '#include <eddy/small.h>\nstruct hidden { int of%s; };\n'
SOURCE = '#include "small.h"\nint eddy_use(struct eddy_small *small, struct hidden *hidden)\n{\n\treturn small->a + hidden->of;\n}\n'


def small(folder, field='', hidden='', more=''):
    """A library, laid out as a layer is."""
    os.makedirs(os.path.join(folder, 'include', 'eddy'))
    for name, text in (('include/eddy/small.h', HEADER % field + more), ('small.h', HIDDEN % hidden),
                       ('small.c', SOURCE + more.replace(';', ' { return 0; }'))):
        with open(os.path.join(folder, name), 'w') as file:
            file.write(text)
    library = os.path.join(folder, 'libsmall.so')
    run('gcc', '-g', '-shared', '-fPIC', '-I', os.path.join(folder, 'include'), os.path.join(folder, 'small.c'), '-o', library)
    return library


def check_notices(tap):
    if not shutil.which('abidiff'):
        tap.skip('changes are noticed', 'needs abidiff; on Debian: apt-get install abigail-tools')
        return
    with tempfile.TemporaryDirectory(prefix='eddy-abi-') as folder:
        libraries = {name: small(os.path.join(folder, name), **how) for name, how in {
            'old': {}, 'hidden': {'hidden': ', on'}, 'field': {'field': ' int b;'}, 'added': {'more': 'int eddy_more(void);'}}.items()}
        described = {name: describe(library, os.path.join(folder, f'{name}.abi')) for name, library in libraries.items()}
        for old, new, versions, wrong in (
                ('old', 'old', ('0.1.0', '0.1.1'), False), ('old', 'hidden', ('0.1.0', '0.1.1'), False),
                ('old', 'field', ('0.1.0', '0.1.1'), True), ('old', 'field', ('0.1.0', '0.1.0'), True),
                ('old', 'field', ('0.1.9', '0.2.0'), False), ('old', 'field', ('1.0.0', '1.1.0'), True),
                ('old', 'added', ('0.1.0', '0.1.1'), True), ('old', 'added', ('1.0.0', '1.1.0'), False),
                ('added', 'old', ('1.0.0', '1.1.0'), True), ('old', 'field', ('1.9.0', '2.0.0'), False),
                ('old', 'old', ('0.10.0', '0.9.0'), True)):
            said = compare(described[old], libraries[new], *versions)
            tap.check(f'{old} and {new}, {" and ".join(versions)}',
                      '' if bool(said) == wrong else said or 'nothing was noticed')


def main():
    root, tap = os.path.abspath(sys.argv[1]), Tap()
    try:
        if sys.argv[2:] == ['write']:
            write(root)
            return 0
        check_notices(tap) if sys.argv[2:] == ['notices'] else check_tree(tap, root)
    except Failed as failed:
        tap.fail('libraries are built and compared', str(failed))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
