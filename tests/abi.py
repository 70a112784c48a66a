"""What programs are linked with, against the last tag. Prints TAP.

    abi.py ROOT             the libraries of the last tag v… and those of the tree are compared by abidiff
    abi.py ROOT notices     two small libraries that are known to differ, or not to, are judged rightly

Until 1.0 libraries of one minor version have one interface: nothing is changed, added or taken away. From 1.0 on what is added needs
no new soname. See docs/decisions/0029-a-name-for-each-minor-version.md.
"""
# needs: abigail-tools git
import os
import shlex
import shutil
import subprocess
import sys
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
        private.write('[suppress_type]\nsource_location_not_regexp = /include/eddy/\ndrop = yes\n')
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
        run('meson', 'setup', '-Dtests=false', '-Dman=disabled', '--buildtype=debug', folder, root)
        self.version = run('meson', 'introspect', '--projectinfo', folder).split('"version": "')[1].split('"')[0]
        run('ninja', '-C', folder, *(os.path.relpath(self.library(name), folder) for name in LIBRARIES))

    def library(self, name):
        return os.path.join(self.folder, 'subprojects', LIBRARIES[name][0], f'libeddy-{name}.so.{self.version}')


def check_tree(tap, root):
    try:
        tag = run('git', '-C', root, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*').strip()
    except Failed:
        tap.skip('libraries are those of the last tag', 'no version has a tag yet')
        return
    with tempfile.TemporaryDirectory(prefix='eddy-abi-') as folder:
        source = os.path.join(folder, 'source')
        os.mkdir(source)
        run('sh', '-c', 'git -C "$0" archive "$1" | tar -x -C "$2"', root, tag, source)
        old, new = Built(source, os.path.join(folder, 'old')), Built(root, os.path.join(folder, 'new'))
        for name in LIBRARIES:
            if not os.path.exists(old.library(name)):
                tap.skip(f'{name}: {tag} and now', f'{tag} has none')
                continue
            tap.check(f'{name}: {tag} and now', compare(old.library(name), new.library(name), old.version, new.version))


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
        for old, new, versions, wrong in (
                ('old', 'old', ('0.1.0', '0.1.1'), False), ('old', 'hidden', ('0.1.0', '0.1.1'), False),
                ('old', 'field', ('0.1.0', '0.1.1'), True), ('old', 'field', ('0.1.0', '0.1.0'), True),
                ('old', 'field', ('0.1.9', '0.2.0'), False), ('old', 'field', ('1.0.0', '1.1.0'), True),
                ('old', 'added', ('0.1.0', '0.1.1'), True), ('old', 'added', ('1.0.0', '1.1.0'), False),
                ('added', 'old', ('1.0.0', '1.1.0'), True), ('old', 'field', ('1.9.0', '2.0.0'), False),
                ('old', 'old', ('0.10.0', '0.9.0'), True)):
            said = compare(libraries[old], libraries[new], *versions)
            tap.check(f'{old} and {new}, {" and ".join(versions)}',
                      '' if bool(said) == wrong else said or 'nothing was noticed')


def main():
    root, tap = os.path.abspath(sys.argv[1]), Tap()
    try:
        check_notices(tap) if sys.argv[2:] == ['notices'] else check_tree(tap, root)
    except Failed as failed:
        tap.fail('libraries are built and compared', str(failed))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
