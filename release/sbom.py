"""What a release consists of, as SPDX 2.3: https://spdx.github.io/spdx-spec/v2.3/

Each file of the release is a package of the document, and so is each library that is linked into it or that it is linked with.
"""
import hashlib
import json
import urllib.parse
import uuid

# Licences of the linked parts of Debian's source packages, from their debian/copyright.
LICENCES = {
    'brotli': 'MIT',
    'gcc-12': 'GPL-3.0-or-later WITH GCC-exception-3.1',
    'gcc-14': 'GPL-3.0-or-later WITH GCC-exception-3.1',
    'glibc': 'LGPL-2.1-or-later',
    'jansson': 'MIT',
    'liburing': 'MIT',
    'libzstd': 'BSD-3-Clause OR GPL-2.0-only',
    'nghttp2': 'MIT',
    'node-undici': 'MIT',  # llhttp
    'openssl': 'Apache-2.0',
    'tomlplusplus': 'MIT',
    'wolfssl': 'GPL-2.0-or-later',
    'zlib': 'Zlib',
}
OWN = 'MIT'


class Unknown(Exception):
    pass


def licence_of(library):
    if library not in LICENCES:
        raise Unknown(f'no licence is known of {library}: look into its debian/copyright, and add it to LICENCES of release/sbom.py')
    return LICENCES[library]


def combined(libraries):
    """The licence under which a program that is linked with these may be passed on."""
    licences = {licence_of(library) for library, _ in libraries}
    gpl = {licence for licence in licences if licence.startswith('GPL-') and ' WITH ' not in licence}
    if not gpl:
        return OWN
    # Version 2 does not allow linking what is under the Apache License: https://www.apache.org/licenses/GPL-compatibility.html
    return 'GPL-2.0-or-later' if gpl == {'GPL-2.0-or-later'} and 'Apache-2.0' not in licences else 'GPL-3.0-or-later'


def checksum(path):
    digest = hashlib.sha256()
    with open(path, 'rb') as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


class Document:
    def __init__(self, version, time):
        self.version, self.time = version, time
        self.packages, self.relations, self.known = [], [], {}

    def add_package(self, name, version, licence, **fields):
        spdx = f'SPDXRef-{len(self.packages) + 1}'
        self.packages.append({'SPDXID': spdx, 'name': name, 'versionInfo': version, 'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False,
                              'licenseConcluded': licence, 'copyrightText': 'NOASSERTION', **fields})
        return spdx

    def relate(self, one, how, other):
        self.relations.append({'spdxElementId': one, 'relationshipType': how, 'relatedSpdxElement': other})

    def library(self, name, version):
        """Debian's source package `name`."""
        if (name, version) not in self.known:
            self.known[name, version] = self.add_package(name, version, licence_of(name), licenseDeclared=licence_of(name), externalRefs=[
                {'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': f'pkg:deb/debian/{name}@{urllib.parse.quote(version, safe="")}?arch=source'}])
        return self.known[name, version]

    def add(self, name, path, libraries=(), how='STATIC_LINK'):
        """A file of the release, called `name` in it. libraries: pairs of a source package and its version."""
        spdx = self.add_package(name, self.version, combined(libraries), licenseDeclared=OWN, packageFileName=name,
                                checksums=[{'algorithm': 'SHA256', 'checksumValue': checksum(path)}])
        self.relate('SPDXRef-DOCUMENT', 'DESCRIBES', spdx)
        for library in sorted(set(libraries)):
            self.relate(spdx, how, self.library(*library))
        return spdx

    def write(self, path):
        contents = {'packages': self.packages, 'relationships': self.relations}
        # The same for the same contents.
        name = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(contents, sort_keys=True))
        with open(path, 'w') as file:
            json.dump({'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'eddy-{self.version}',
                       'documentNamespace': f'urn:uuid:{name}', 'creationInfo': {'created': self.time, 'creators': ['Tool: eddy-release']},
                       **contents}, file, indent=1)
            file.write('\n')
