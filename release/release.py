"""Makes a release of the last commit: everything that people download, built and tried in fresh roots of Debian.

    release.py ROOT OUT [trial]

OUT is a folder that does not exist yet. The files are reproducible: the same commit and packages of Debian give the same bytes. Roots and logs
are in ROOT/build/roots/. trial: skip the checks of versions, uncommitted changes and ABI. Needs root, and a machine of x86-64.
"""
# needs: abigail-tools autopkgtest debootstrap dpkg-dev git piuparts
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
# Packages whose files are compiled into others, by the beginning of the others' names.
COMPILED_IN = {'libeddy-http': ('libtomlplusplus-dev', 'node-llhttp'), 'eddy': ('node-llhttp',)}
UPGRADED = 'PASS: Installation, upgrade and purging tests.'


class Failed(Exception):
    pass


def must(wrong):
    if wrong:
        raise Failed(wrong)


def run(*command, **how):
    """Return: what it printed on stdout."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
                          check=False, preexec_fn=roots.die_with_us, **how)
    if done.returncode:
        raise Failed(f'{" ".join(command)}: exit status {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}')
    return done.stdout


def run_logged(log, what, command, **how):
    """A long one, whose output goes to a log."""
    with open(log, 'a') as file:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False,
                                preexec_fn=roots.die_with_us, **how).returncode
    if status:
        raise Failed(f'{what}: exit status {status}; from {log}:\n' + roots.output('tail', '-n', '30', log))


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
        self.source = os.path.join(self.top, f'{self.name}.tar')
        self.linked = {}  # file of the release: pairs of a source package and its version, and how they are linked

    def path(self, *parts):
        return os.path.join(self.out, *parts)

    def check_tree(self):
        if changed := run('git', '-C', self.tree, 'status', '--porcelain'):
            raise Failed(f'a release is made of what is committed, and this is not:\n{changed}')
        if not re.search(rf'^## {re.escape(self.version)} \(\d{{4}}-\d\d-\d\d\)$', read(os.path.join(self.tree, 'CHANGELOG.md')), re.M):
            raise Failed(f'CHANGELOG.md has no line "## {self.version} (YYYY-MM-DD)"')
        if not glob.glob(os.path.join(self.tree, 'tests', 'abi', '.'.join(self.version.split('.')[:2]) + '-*')):
            raise Failed('tests/abi/ has nothing of this minor version, with which the next versions are to be compared; to make it: '
                         'python3 tests/abi.py . write')
        run(sys.executable, os.path.join(self.tree, 'tests', 'debian.py'), self.tree)
        run(sys.executable, os.path.join(self.tree, 'tests', 'abi.py'), self.tree)

    def make_source(self):
        os.makedirs(self.top, exist_ok=True)
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        run('git', '-C', self.tree, '-c', 'tar.umask=0022', 'archive', f'--prefix={self.name}/', '-o', self.source, 'HEAD')
        self.stamp = int(run('dpkg-parsechangelog', '-l', os.path.join(self.tree, 'debian', 'changelog'), '-S', 'Timestamp'))
        # Only later times of files are replaced by it.
        if self.stamp > time.time():
            raise Failed('the date in debian/changelog is in the future: packages would have the times of their builds, so write a past date')

    def root(self, release, name):
        """A fresh one, with the source."""
        root = roots.Root(self.top, release, name)
        must(root.make())
        os.makedirs(root.at(TREE))
        run('tar', '-x', '-C', root.at(TREE), '--strip-components=1', '-f', self.source)
        # Root's own, whoever owns the tree that is built.
        shutil.copytree(os.path.join(root.at(TREE), 'release'), root.at('/build/release'))
        with contextlib.suppress(FileNotFoundError):
            os.remove(f'{root.path}.log')
        return root

    def run_script(self, root, script, *args):
        command = ('sh', f'/build/release/{script}', TREE, *args)
        log = f'{root.path}.log'
        process = root.start(*command)
        with open(log, 'a') as file:
            for line in process.stdout:
                file.write(line)
        if process.wait():
            raise Failed(f'{root.shown}: {" ".join(command)}: exit status {process.returncode}; from {log}:\n' + roots.output('tail', '-n', '30', log))

    def make_packages(self, release):
        number = RELEASES[release]
        root, folder = self.root(release, 'packages'), self.path(f'debian-{number}')
        self.run_script(root, 'packages.sh', f'{self.version}+deb{number}', release, '/out')
        shutil.copytree(root.at('out'), folder)
        self.look_at_packages(root, folder)
        root.remove()

    def look_at_packages(self, root, folder):
        """What the packages are linked with, each with what those of eddy need that it needs."""
        installed = dict(line.split(' ', 1) for line in run(
            'dpkg-query', '--admindir', root.at('var/lib/dpkg'), '-W', '-f', '${Package} ${source:Package} ${source:Version}\n').splitlines())
        needs, files = {}, {}
        for path in sorted(glob.glob(os.path.join(folder, '**', '*.deb'), recursive=True)):
            package, depends = (run('dpkg-deb', '-f', path, field).strip() for field in ('Package', 'Depends'))
            files[package] = os.path.relpath(path, self.out)
            needs[package] = {re.match(r'[^ :(|]+', need.strip())[0] for need in depends.split(',') if need.strip()}
            for name, compiled in COMPILED_IN.items():
                if package.startswith(name) and package != 'eddy-doc':
                    needs[package].update(set(compiled) & set(installed))

        def all_of(package, seen):
            for need in needs[package] - seen:
                seen.add(need)
                if need in needs:
                    all_of(need, seen)
            return seen

        for package, file in files.items():
            libraries = {tuple(installed[need].split()) for need in all_of(package, set())
                         if need not in needs and re.match('(lib|zlib).*[0-9]|libtoml|node-llhttp', need)}
            self.linked[file] = (libraries, 'DYNAMIC_LINK')

    def try_packages(self, release):
        """What Debian's own tools say: a program is built with the packages where nothing else is; they are installed, installed over older ones,
        and removed, and then nothing of them is left."""
        number = RELEASES[release]
        packages = sorted(glob.glob(self.path(f'debian-{number}', '*.deb')))
        root = self.root(release, 'tried')
        log, older = f'{root.path}.log', f'{root.path}.older'
        run_logged(log, 'autopkgtest', [*roots.ALONE, 'sh', '-ec', 'mount -t proc proc "$0/proc" && exec autopkgtest -B "$@" -- chroot "$0"',
                                        root.path, *packages, root.at(TREE) + '/'])
        must(root.make())
        shutil.rmtree(older, ignore_errors=True)
        run('sh', os.path.join(self.tree, 'release', 'older.sh'), older, f'{self.version}+deb{number}', *packages)
        with open(root.at('etc/apt/sources.list')) as file:
            mirrors = [f'--mirror={line.split(" ", 2)[1]} main' for line in file if f' {release} ' in line]
        run_logged(log, 'piuparts', [*roots.ALONE, 'piuparts', '--no-eatmydata', '--existing-chroot', root.path, '--distribution', release, *mirrors,
                                     '--ignore', '/var/cache/debconf/tmp.ci/',  # apt's
                                     '--bindmount', older, '--extra-repo', f'deb [trusted=yes] file:{older} ./', *packages],
                   env={**os.environ, 'TMPDIR': self.top})
        if UPGRADED not in read(log):
            raise Failed(f'piuparts has tried no upgrade; its log: {log}')
        shutil.rmtree(older)
        root.remove()

    def make_static(self):
        root = self.root(NEWEST, 'static')
        shutil.copy(self.source, root.at('build'))
        for machine in MACHINES:
            self.run_script(root, 'static.sh', machine, f'/out/{machine}')
            file, image, licences = (f'{self.name}-{kind}' for kind in (f'linux-{machine}', f'image-{machine}.tar', 'licences.txt'))
            libraries = {tuple(line.split()[:2]) for line in read(root.at(f'out/{machine}/libraries')).splitlines()}
            if not {'glibc', 'wolfssl', 'openssl'} <= {library for library, _ in libraries}:
                raise Failed(f'the libraries of the static eddy are not known: {libraries}')
            self.run_script(root, 'image.sh', f'/out/{machine}', MACHINES[machine], self.version, sbom.combined(libraries), str(self.stamp))
            self.linked[file] = self.linked[image] = (libraries, 'STATIC_LINK')
            for made, name in (('eddy', file), ('image.tar', image), ('licences', licences)):
                shutil.copy(root.at(f'out/{machine}/{made}'), self.path(name))
        # By the xz of the same Debian, whichever this machine has.
        self.run_script(root, 'source.sh', f'/build/{os.path.basename(self.source)}', '/out/source.tar.xz')
        shutil.copy(root.at('out/source.tar.xz'), self.path(f'{self.name}.tar.xz'))
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
            with step('versions and the ABI are checked'):
                self.check_tree()
        if roots.takes_old_lists():
            print('release: apt takes outdated lists of packages (Acquire::Check-Valid-Until "false"): libraries may lack fixes', file=sys.stderr)
        self.make_source()
        for release, number in RELEASES.items():
            with step(f'packages for Debian {number}'):
                self.make_packages(release)
        for release, number in RELEASES.items():
            with step(f'packages are installed, upgraded and removed on Debian {number}'):
                self.try_packages(release)
        with step('the static eddy and its image, for ' + ' and '.join(MACHINES)):
            self.make_static()
        self.describe()


def main(tree, out, *how):
    if os.path.exists(out):
        print(f'release: {out} exists already; to make the release again: rm -r {out}', file=sys.stderr)
        return 1
    if lacking := roots.lacks():
        print(f'release: can\'t make roots: {lacking}', file=sys.stderr)
        return 1
    half = f'{out}.half'
    try:
        Release(tree, half).make(trial=how == ('trial',))
    except (Failed, sbom.Unknown) as failed:
        print(f'release: {failed}', file=sys.stderr)
        return 1
    os.rename(half, out)
    sys.stdout.write(read(os.path.join(out, 'SHA256SUMS')))
    return 0


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), *sys.argv[3:]))
