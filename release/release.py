"""Makes a release of the last commit: everything that people download, built and tried in fresh roots of Debian.

    release.py ROOT OUT [trial]

OUT is a folder that does not exist yet. What it has in the end is the same for the same commit and the same packages of Debian. Roots and
logs are in ROOT/build/roots/. trial: the tree need not be ready to be released.
"""
# needs: abigail-tools autopkgtest debootstrap dpkg-dev git piuparts xz-utils
import contextlib
import datetime
import glob
import os
import re
import shutil
import subprocess
import sys
import time

import root as roots
import sbom

# What packages are made for, and what the static program is built on.
RELEASES = {'bookworm': '12', 'trixie': '13'}
NEWEST = 'trixie'
MACHINES = {'x86_64': 'amd64', 'aarch64': 'arm64'}
TREE = '/build/eddy/tree'


class Failed(Exception):
    pass


def must(wrong):
    if wrong:
        raise Failed(wrong)


def run(*command, **how):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          check=False, **how)
    if done.returncode:
        raise Failed(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout[-4000:]}')
    return done.stdout


@contextlib.contextmanager
def step(what):
    began = time.monotonic()
    print(f'release: {what} …', file=sys.stderr, flush=True)
    yield
    print(f'release: {what}: {time.monotonic() - began:.0f} s', file=sys.stderr, flush=True)


def read(path):
    with open(path) as file:
        return file.read()


class Release:
    def __init__(self, tree, out):
        self.tree, self.out = tree, out
        self.top = os.path.join(tree, 'build', 'roots')
        self.version = re.search(r"version: '([^']*)'", read(os.path.join(tree, 'meson.build')))[1]
        self.name = f'eddy-{self.version}'
        self.archive = os.path.join(out, f'{self.name}.tar.xz')
        self.linked = {}  # file of the release: pairs of a source package and its version

    def path(self, *parts):
        return os.path.join(self.out, *parts)

    def check_tree(self):
        if changed := run('git', '-C', self.tree, 'status', '--porcelain'):
            raise Failed(f'a release is made of what is committed, and this is not:\n{changed}')
        if not re.search(rf'^## {re.escape(self.version)} \(\d{{4}}-\d\d-\d\d\)$', read(os.path.join(self.tree, 'CHANGELOG.md')), re.M):
            raise Failed(f'CHANGELOG.md has no line "## {self.version} (YYYY-MM-DD)"')
        baseline = f'tests/abi/{self.version}-{os.uname().machine}.tar.xz'
        if not os.path.exists(os.path.join(self.tree, baseline)):
            raise Failed(f'there is no {baseline}, with which the next versions are to be compared; to make it: python3 tests/abi.py . write')
        run(sys.executable, os.path.join(self.tree, 'tests', 'debian.py'), self.tree)
        run(sys.executable, os.path.join(self.tree, 'tests', 'abi.py'), self.tree)

    def make_archive(self):
        os.makedirs(self.out)
        run('sh', '-ec', 'git -C "$0" archive --prefix="$1/" HEAD | xz -9 -T1 >"$2"', self.tree, self.name, self.archive)
        stamp = run('dpkg-parsechangelog', '-l', os.path.join(self.tree, 'debian', 'changelog'), '-S', 'Timestamp').strip()
        self.stamp = int(stamp)

    def root(self, release, name):
        """A fresh one, with what the archive has."""
        root = roots.Root(self.top, release, name)
        must(root.make())
        os.makedirs(root.at(TREE))
        run('tar', '-x', '-C', root.at(TREE), '--strip-components=1', '-f', self.archive)
        return root

    def run_in(self, root, *command):
        log = f'{root.path}.log'
        with open(log, 'a') as file:
            process = root.start(*command)
            for line in process.stdout:
                file.write(line)
        if process.wait():
            raise Failed(f'{root.shown}: {" ".join(command)}: exit status {process.returncode}; from {log}:\n' + roots.output('tail', '-n', '30', log))

    def make_packages(self, release):
        number = RELEASES[release]
        root, folder = self.root(release, 'packages'), self.path(f'debian-{number}')
        self.run_in(root, 'sh', f'{TREE}/release/packages.sh', TREE, f'{self.version}+deb{number}', release, '/out')
        shutil.copytree(root.at('out'), folder)
        self.look_at_packages(root, folder)
        root.remove()

    def look_at_packages(self, root, folder):
        """What the packages are linked with, each with what those of eddy need that it needs."""
        installed = dict(line.split(' ', 1) for line in roots.output(
            'dpkg-query', '--admindir', root.at('var/lib/dpkg'), '-W', '-f', '${Package} ${source:Package} ${source:Version}\n').splitlines())
        needs, files = {}, {}
        for path in sorted(glob.glob(os.path.join(folder, '**', '*.deb'), recursive=True)):
            package, depends = (run('dpkg-deb', '-f', path, field).strip() for field in ('Package', 'Depends'))
            files[package] = os.path.relpath(path, self.out)
            needs[package] = {re.match(r'[^ :(|]+', need.strip())[0] for need in depends.split(',') if need.strip()}

        def all_of(package, seen):
            for need in needs[package] - seen:
                seen.add(need)
                if need in needs:
                    all_of(need, seen)
            return seen

        for package, file in files.items():
            libraries = {tuple(installed[need].split()) for need in all_of(package, set()) if need not in needs and re.match('lib.*[0-9]', need)}
            self.linked[file] = (libraries, 'DYNAMIC_LINK')

    def try_packages(self, release):
        """What Debian's own tools say: a program is built with the packages where nothing else is; they are installed, installed over older ones,
        and removed, and then nothing of them is left."""
        number = RELEASES[release]
        packages = sorted(glob.glob(self.path(f'debian-{number}', '*.deb')))
        root = self.root(release, 'tried')
        log, older = f'{root.path}.log', f'{root.path}.older'
        self.run_alone(log, 'mount -t proc proc "$0/proc" && exec autopkgtest -B "$@" "$0$TREE/" -- chroot "$0"', root.path, *packages)
        must(root.make())
        shutil.rmtree(older, ignore_errors=True)
        run('sh', os.path.join(self.tree, 'release', 'older.sh'), older, f'{self.version}+deb{number}', *packages)
        self.run_alone(log, 'exec piuparts --no-eatmydata --warn-on-debsums-errors "$0" "$@"', '--existing-chroot', root.path,
                       '--distribution', release, '--mirror', f'{roots.mirror()} main',
                       '--bindmount', older, '--extra-repo', f'deb [trusted=yes] file:{older} ./', *packages)
        shutil.rmtree(older)
        root.remove()

    def run_alone(self, log, script, *args):
        with open(log, 'a') as file:
            status = subprocess.run([*roots.ALONE, 'sh', '-ec', script, *args], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                    check=False, env={**os.environ, 'TREE': TREE}).returncode
        if status:
            raise Failed(f'{script}: exit status {status}; from {log}:\n' + roots.output('tail', '-n', '30', log))

    def make_static(self):
        root = self.root(NEWEST, 'static')
        for machine in MACHINES:
            self.run_in(root, 'sh', f'{TREE}/release/static.sh', TREE, machine, f'/out/{machine}')
            file = f'{self.name}-linux-{machine}'
            shutil.copy(root.at(f'out/{machine}/eddy'), self.path(file))
            libraries = {tuple(line.split()[:2]) for line in read(root.at(f'out/{machine}/libraries')).splitlines()}
            self.linked[file] = (libraries, 'STATIC_LINK')
            self.run_in(root, 'sh', f'{TREE}/release/image.sh', TREE, f'/out/{machine}', MACHINES[machine], self.version,
                        sbom.combined(libraries), str(self.stamp))
            image = f'{self.name}-image-{machine}.tar'
            shutil.copy(root.at(f'out/{machine}/image.tar'), self.path(image))
            self.linked[image] = self.linked[file]
        root.remove()

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.out) for folder, _, names in os.walk(self.out) for name in names)

    def describe(self):
        stamp = datetime.datetime.fromtimestamp(self.stamp, datetime.timezone.utc)
        document = sbom.Document(self.version, stamp.strftime('%Y-%m-%dT%H:%M:%SZ'))
        for file in self.files():
            document.add(file, self.path(file), *self.linked.get(file, ()))
        document.write(self.path(f'{self.name}.spdx.json'))
        with open(self.path('SHA256SUMS'), 'w') as sums:
            sums.writelines(f'{sbom.checksum(self.path(file))}  {file}\n' for file in self.files() if file != 'SHA256SUMS')

    def make(self, trial):
        if not trial:
            with step('versions and the ABI are looked at'):
                self.check_tree()
        with step('the source archive'):
            self.make_archive()
        for release, number in RELEASES.items():
            with step(f'packages for Debian {number}'):
                self.make_packages(release)
        for release, number in RELEASES.items():
            with step(f'packages are installed, upgraded and removed on Debian {number}'):
                self.try_packages(release)
        with step('the static eddy and its image, for ' + ' and '.join(MACHINES)):
            self.make_static()
        with step('SPDX and checksums'):
            self.describe()


def main(tree, out, *how):
    if lacking := roots.lacks():
        print(f'release: can\'t make roots: {lacking}', file=sys.stderr)
        return 1
    if os.path.exists(out):
        print(f'release: {out} exists already; to make the release again: rm -r {out}', file=sys.stderr)
        return 1
    try:
        Release(tree, out).make(trial=how == ('trial',))
    except (Failed, sbom.Unknown) as failed:
        print(f'release: {failed}', file=sys.stderr)
        return 1
    sys.stdout.write(read(os.path.join(out, 'SHA256SUMS')))
    return 0


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), *sys.argv[3:]))
