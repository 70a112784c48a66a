"""The public test suite of draft-ietf-httpbis-resumable-upload against the program files.

EDDY_RUFH is a folder with rufh_conformity_test.py, from scripts/ of https://github.com/tomdesair/tus-java-server.
"""
# needs: python3-pytest
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from wire import Case

SUITE = os.path.join(os.environ.get('EDDY_RUFH', ''), 'rufh_conformity_test.py')


@unittest.skipUnless(os.path.exists(SUITE), 'EDDY_RUFH names no folder with rufh_conformity_test.py')
class Rufh(Case):
    def test_suite(self):
        # Some of its tests want to meet limits.
        server = self.serve(self.folder(), '--max-size', '1000000', '--append-max', '65536')
        with tempfile.NamedTemporaryFile(suffix='.xml') as report:
            done = subprocess.run(['pytest-3', '-q', '-p', 'no:cacheprovider', f'--junit-xml={report.name}', SUITE],
                                  env={**os.environ, 'RUFH_URL': f'http://127.0.0.1:{server.port}/files/suite'}, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=600)
            cases = list(xml.etree.ElementTree.parse(report).iter('testcase'))
        self.assertGreater(len(cases), 50, done.stdout + done.stderr)
        for case in cases:
            with self.subTest(case.get('name')):
                self.assertEqual([f'{bad.tag}: {bad.get("message")}\n{bad.text}' for bad in case if bad.tag in ('failure', 'error', 'skipped')], [])


if __name__ == '__main__':
    unittest.main()
