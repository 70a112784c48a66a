"""What makes releases (release/), as far as it can be tried without making one. Prints TAP.

    release.py ROOT
"""
# needs: dpkg-dev git
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'release'))

import release
import sbom
from tap import Tap

GPL2, GPL3 = 'GPL-2.0-or-later', 'GPL-3.0-or-later'


def check_licences(tap):
    for libraries, wanted in (((), 'MIT'), (('glibc', 'liburing', 'jansson', 'libzstd', 'zlib', 'brotli'), 'MIT'), (('openssl', 'glibc'), 'MIT'),
                              (('gcc-14', 'tomlplusplus'), 'MIT'), (('wolfssl', 'glibc'), GPL2), (('wolfssl', 'openssl'), GPL3)):
        found = sbom.combined((library, '1') for library in libraries)
        tap.check(f'linked with {", ".join(libraries) or "nothing"}: {wanted}', '' if found == wanted else found)
    try:
        sbom.combined([('unheard-of', '1')])
        tap.fail('a library of unknown licence', 'nothing was said')
    except sbom.Unknown as unknown:
        tap.check('a library of unknown licence', '' if 'unheard-of' in str(unknown) else str(unknown))


def check_document(tap, folder):
    def write(name):
        document = sbom.Document('1.2.3', '2026-01-02T03:04:05Z')
        for file in ('one', 'other'):
            with open(os.path.join(folder, file), 'w') as out:
                out.write(file)
            document.add(file, os.path.join(folder, file), [('zlib', '1.3'), ('wolfssl', '5')])
        document.write(os.path.join(folder, name))
        return release.read(os.path.join(folder, name))

    first, again = write('first.json'), write('again.json')
    tap.check('a document is the same for the same files', '' if first == again else first + again)
    document = json.loads(first)
    names = sorted(package['name'] for package in document['packages'])
    tap.check('a library is listed once', '' if names == ['one', 'other', 'wolfssl', 'zlib'] else str(names))
    relations = sorted(relation['relationshipType'] for relation in document['relationships'])
    tap.check('each file is related to its libraries', '' if relations == ['DESCRIBES'] * 2 + ['STATIC_LINK'] * 4 else str(relations))


def check_refusals(tap, root, folder):
    tree = os.path.join(folder, 'tree')
    os.mkdir(tree)

    def git(*args):
        release.run('git', '-c', 'user.name=test', '-c', 'user.email=test@example.org', *args, cwd=tree)

    def refuses(what, wanted, make=release.Release.check_tree):
        try:
            make(release.Release(tree, os.path.join(folder, 'out')))
            tap.fail(what, 'nothing was said')
        except release.Failed as failed:
            tap.check(what, '' if wanted in str(failed) else str(failed))

    for name in ('meson.build', 'CHANGELOG.md'):
        with open(os.path.join(tree, name), 'w') as file:
            file.write(release.read(os.path.join(root, name)))
    version = release.Release(tree, '').version
    git('init', '-q')
    refuses('a tree with changes', 'not:')
    git('add', '.')
    git('commit', '-q', '-m', 'all')
    with open(os.path.join(tree, 'CHANGELOG.md'), 'w') as file:
        file.write(f'## {version} (not released yet)\n')
    git('commit', '-q', '-a', '-m', 'not yet')
    refuses('a version without a date', f'"## {version} (YYYY-MM-DD)"')
    with open(os.path.join(tree, 'CHANGELOG.md'), 'w') as file:
        file.write(f'## {version} (2026-01-02)\n')
    git('commit', '-q', '-a', '-m', 'released')
    refuses('a version without a baseline', 'tests/abi/ has nothing')
    os.mkdir(os.path.join(tree, 'debian'))
    with open(os.path.join(tree, 'debian', 'changelog'), 'w') as file:
        file.write(f'eddy ({version}) unstable; urgency=medium\n\n  * x\n\n -- a <a@example.org>  Thu, 01 Jan 2099 00:00:00 +0000\n')
    git('add', '.')
    git('commit', '-q', '-m', 'tomorrow')
    refuses('a date in the future', 'in the future', release.Release.make_source)


def main():
    root, tap = os.path.abspath(sys.argv[1]), Tap()
    with tempfile.TemporaryDirectory(prefix='eddy-release-') as folder:
        check_licences(tap)
        check_document(tap, folder)
        try:
            check_refusals(tap, root, folder)
        except (OSError, subprocess.SubprocessError) as error:
            tap.fail('refusals', str(error))
    done = subprocess.run([sys.executable, os.path.join(root, 'release', 'release.py'), root, root], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    tap.check('a folder that exists is left alone', '' if done.returncode == 1 and f'{root} exists already' in said else said)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
