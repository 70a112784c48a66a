"""A release is whole, says what it consists of, and is the same when it is made again."""
# needs: git xz-utils
import json
import os
import subprocess
import unittest

import released

AGAIN = os.environ.get('EDDY_RELEASE_AGAIN', '')


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        spdx, = (name for name in released.files() if name.endswith('.spdx.json'))
        cls.version = spdx.removeprefix('eddy-').removesuffix('.spdx.json')
        cls.series = '.'.join(cls.version.split('.')[:2])
        with open(released.path(spdx)) as file:
            cls.document = json.load(file)
        cls.packages = {package['SPDXID']: package for package in cls.document['packages']}
        cls.by_name = {package['name']: package for package in cls.packages.values()}

    def libraries(self, name):
        """What a file is linked with: a dict of licences by name."""
        of = [relation['relatedSpdxElement'] for relation in self.document['relationships']
              if relation['spdxElementId'] == self.by_name[name]['SPDXID'] and relation['relationshipType'].endswith('_LINK')]
        return {self.packages[spdx]['name']: self.packages[spdx]['licenseConcluded'] for spdx in of}

    def test_what_there_is(self):
        names = set(released.files())
        for name in (f'eddy-{self.version}.tar.xz', *(f'eddy-{self.version}-{kind}-{machine}{ending}' for kind, ending in (('linux', ''), ('image', '.tar'))
                                                      for machine in ('x86_64', 'aarch64'))):
            self.assertIn(name, names)
        for number in ('12', '13'):
            for package in ('eddy', 'libeddy-http-dev', f'libeddy-auth{self.series}', f'debug/libeddy-http{self.series}-dbgsym'):
                self.assertIn(f'debian-{number}/{package}_{self.version}+deb{number}_amd64.deb', names)

    def test_checksums(self):
        done = subprocess.run(['sha256sum', '--strict', '-c', 'SHA256SUMS'], cwd=released.path(), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), len(released.files()) - 1)

    def test_the_source_is_the_commit(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        name = f'eddy-{self.version}'
        source = subprocess.run(['xz', '-dc', released.path(f'{name}.tar.xz')], capture_output=True, check=True).stdout
        commit = subprocess.run(['git', '-C', root, '-c', 'tar.umask=0022', 'archive', f'--prefix={name}/', 'HEAD'], capture_output=True, check=True).stdout
        self.assertTrue(source == commit)

    def test_every_file_is_described(self):
        described = {package['packageFileName']: package['checksums'][0]['checksumValue']
                     for package in self.packages.values() if 'packageFileName' in package}
        own = {f'eddy-{self.version}.spdx.json', 'SHA256SUMS'}
        self.assertEqual(described, {name: released.checksum(name) for name in released.files() if name not in own})

    def test_licences(self):
        for machine in ('x86_64', 'aarch64'):
            name = f'eddy-{self.version}-linux-{machine}'
            libraries = self.libraries(name)
            self.assertEqual(libraries['wolfssl'], 'GPL-2.0-or-later')
            self.assertEqual(libraries['openssl'], 'Apache-2.0')
            self.assertLess({'glibc', 'jansson', 'liburing'}, set(libraries))
            self.assertEqual(self.by_name[name]['licenseConcluded'], 'GPL-3.0-or-later')
            self.assertEqual(self.libraries(f'eddy-{self.version}-image-{machine}.tar'), libraries)
        for package, licence in ((f'libeddy-runtime{self.series}', 'MIT'), (f'libeddy-trace{self.series}', 'MIT'), ('libeddy-codec-dev', 'MIT'), ('eddy', 'GPL-3.0-or-later'),
                                 (f'libeddy-http{self.series}', 'GPL-3.0-or-later'), (f'libeddy-tracing{self.series}', 'GPL-3.0-or-later'), ('libeddy-auth-dev', 'GPL-3.0-or-later')):
            name = f'debian-13/{package}_{self.version}+deb13_amd64.deb'
            self.assertEqual(self.by_name[name]['licenseConcluded'], licence, name)

    def test_the_document(self):
        document = self.document
        self.assertEqual((document['spdxVersion'], document['dataLicense'], document['SPDXID']), ('SPDX-2.3', 'CC0-1.0', 'SPDXRef-DOCUMENT'))
        self.assertRegex(document['creationInfo']['created'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
        self.assertEqual(len(self.packages), len(document['packages']))
        known = {'SPDXRef-DOCUMENT', *self.packages}
        for relation in document['relationships']:
            self.assertLessEqual({relation['spdxElementId'], relation['relatedSpdxElement']}, known)
        for package in self.packages.values():
            self.assertLessEqual({'name', 'SPDXID', 'downloadLocation', 'versionInfo', 'licenseConcluded', 'filesAnalyzed'}, set(package))

    def test_the_programs_need_no_library(self):
        for machine, name in (('x86_64', 'X86-64'), ('aarch64', 'AArch64')):
            said = subprocess.run(['readelf', '-hldW', released.path(f'eddy-{self.version}-linux-{machine}')], capture_output=True, text=True, check=True).stdout
            self.assertIn(name, said)
            self.assertNotRegex(said, 'INTERP|NEEDED')
            # Where it lies in memory is not known beforehand, and no page is writable and executable.
            self.assertRegex(said, r'Type: +DYN')
            self.assertRegex(said, r'GNU_RELRO')
            self.assertNotRegex(said, r'(?m)^  (LOAD|GNU_STACK) .* RWE ')

    @unittest.skipUnless(AGAIN, 'needs a second release')
    def test_the_same_again(self):
        def contents(top):
            found = {}
            for folder, _, names in os.walk(top):
                for name in names:
                    with open(os.path.join(folder, name), 'rb') as file:
                        found[os.path.relpath(file.name, top)] = file.read()
            return found
        one, other = contents(released.path()), contents(AGAIN)
        self.assertEqual(set(one), set(other))
        self.assertEqual([name for name in sorted(one) if one[name] != other[name]], [])
