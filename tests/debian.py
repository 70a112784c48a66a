"""Debian's packages. Prints TAP.

    debian.py ROOT          what debian/ says is what the tree has
    debian.py ROOT build    the packages are built; lintian finds no error, and each file that is installed is in one of them
"""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

from installed import LIBRARIES
from tap import Tap

# Whoever builds packages has these already, or they are what debhelper brings.
ESSENTIAL = {'gcc', 'libc6-dev', 'dpkg-dev', 'ninja-build', 'media-types'}

# What eddy-gdb.py looks for, in a library that is linked with LTO.
FOUND_BY_GDB = ('eddyi_registry', 'eddyi_switch')


class Tree:
    def __init__(self, root):
        self.root = root

    def read(self, *parts):
        with open(os.path.join(self.root, *parts)) as file:
            return file.read()

    def version(self):
        return re.search(r"version: '([^']*)'", self.read('meson.build'))[1]

    def paragraphs(self):
        """Those of debian/control: the source's, then a dict for each package."""
        text = re.sub(r'^#.*\n', '', self.read('debian', 'control'), flags=re.M)
        return [dict(re.findall(r'^([\w-]+):((?:.*\n)(?:[ \t].*\n)*)', paragraph + '\n', re.M)) for paragraph in text.split('\n\n')]

    def headers(self):
        found = glob.glob(os.path.join(self.root, '*', 'include', 'eddy', '**', '*.h'), recursive=True)
        return {'usr/include/' + path.rpartition('/include/')[2] for path in found}

    def lines(self, name):
        return self.read('debian', name).split('\n')[:-1]


def differ(what, ours, theirs):
    if ours == theirs:
        return ''
    return f'{what}: the tree alone has {sorted(ours - theirs)}, debian/ alone {sorted(theirs - ours)}'


def check_versions(tree):
    version = tree.version()
    wrong = [f'{layer} is {other}' for layer in sorted({layer for layer, *_ in LIBRARIES.values()})
             if (other := re.search(r"version: '([^']*)'", tree.read(layer, 'meson.build'))[1]) != version]
    for name, pattern in (('debian/changelog', r'^eddy \(([^)]*)\)'), ('CHANGELOG.md', r'^## (\d\S*)')):
        if (other := re.search(pattern, tree.read(name), re.M)[1]) != version:
            wrong.append(f'{name} is of {other}')
    return f'the tree is {version}; ' + ', '.join(wrong) if wrong else ''


def check_packages(tree):
    series = '.'.join(tree.version().split('.')[:2])
    names = {paragraph['Package'].strip() for paragraph in tree.paragraphs()[1:]}
    return differ('packages', {f'libeddy-{name}{end}' for name in LIBRARIES for end in (series, '-dev')} | {'eddy', 'eddy-doc'}, names)


def check_libraries(tree):
    series = '.'.join(tree.version().split('.')[:2])
    wrong = []
    for name in LIBRARIES:
        said = tree.lines(f'libeddy-{name}{series}.symbols')
        want = [f'libeddy-{name}.so.{series} libeddy-{name}{series} #MINVER#', f' (symver)EDDY_{series} {series}.0']
        if said != want:
            wrong.append(f'libeddy-{name}{series}.symbols is not\n' + '\n'.join(want))
    return '\n'.join(wrong)


def check_headers(tree):
    listed = [line for name in LIBRARIES for line in tree.lines(f'libeddy-{name}-dev.install') if line.startswith('usr/include')]
    twice = {line for line in listed if listed.count(line) > 1}
    return differ('headers', tree.headers(), set(listed)) or (f'twice: {sorted(twice)}' if twice else '')


def check_needs(tree):
    """What `./dev build` installs is what packages are built with."""
    block = re.search(r"^build_needs='\n(.*?)'", tree.read('dev'), re.M | re.S)[1]
    ours = {frozenset(line.split()[0].split('|')) for line in block.split('\n') if line.strip()}
    ours = {names for names in ours if not names & ESSENTIAL}
    said = re.sub(r'\([^)]*\)', '', tree.paragraphs()[0]['Build-Depends'])
    theirs = [frozenset(name.strip() for name in need.split('|')) for need in said.split(',')]
    missing = [sorted(names) for names in ours if names not in theirs]
    return f'debian/control builds without {missing}' if missing else ''


def run(*args, cwd=None):
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, cwd=cwd)
    if done.returncode:
        raise RuntimeError(f'{shlex.join(args)}: exit status {done.returncode}\n' + done.stdout[-4000:])
    return done.stdout


def build(tap, root):
    """In a copy of what is committed, or would be."""
    with tempfile.TemporaryDirectory(prefix='eddy-debian-') as folder:
        copy = os.path.join(folder, 'eddy')
        os.mkdir(copy)
        run('sh', '-c', 'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -P -t "$0"', copy, cwd=root)
        try:
            run('dpkg-buildpackage', '-us', '-uc', '-b', cwd=copy)
            tap.ok('packages are built')
            run('lintian', '--allow-root', '--fail-on', 'error,warning', *glob.glob(os.path.join(folder, '*.changes')))
            tap.ok('lintian has nothing to say')
            said = run('readelf', '-Ws', *glob.glob(os.path.join(copy, 'obj-*', 'subprojects', 'runtime', 'libeddy-runtime.so.*.*.*[0-9]')))
            missing = [name for name in FOUND_BY_GDB if not re.search(rf' {name}$', said, re.M)]
            tap.check('gdb finds the tasks', f'the linker has removed {missing}' if missing else '')
            site = os.listdir(os.path.join(copy, 'debian', 'site'))
            tap.check('the site has nothing of the build', ' '.join(name for name in site if name.startswith('obj-')))
            installed = {path.removeprefix('./') for path in
                         run('find', '.', '-not', '-type', 'd', cwd=os.path.join(copy, 'debian', 'tmp')).split()}
            packed = [path.removeprefix('./').removesuffix('.gz') for deb in glob.glob(os.path.join(folder, '*.deb'))
                      for path in re.findall(r'^[-l]\S+ .*? (\./\S+)', run('dpkg-deb', '--contents', deb), re.M)]
            wrong = sorted(path for path in installed if packed.count(path) != 1)
            tap.check('each file is in one package', ' '.join(wrong))
        except RuntimeError as failed:
            tap.fail('packages', str(failed))


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    if sys.argv[2:] == ['build']:
        build(tap, root)
    else:
        tree = Tree(root)
        for check in (check_versions, check_packages, check_libraries, check_headers, check_needs):
            tap.check(check.__name__.removeprefix('check_'), check(tree))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
