"""curl, Node and Chromium as clients of HTTP/2; others are in interop_h2.py and test_real_clients.py."""
# needs: chromium curl npm
import os
import struct
import unittest

from h2clients import COUNT, DATA, Clients
from tls import at, setUpModule, tearDownModule  # noqa: F401
from wire import curl, node

IMAGES = 100


def bitmap(width):
    """An image of one row."""
    row = bytes(3 * width + -3 * width % 4)
    return struct.pack('<2sIIIIiiHHIIiiII', b'BM', 54 + len(row), 0, 54, 40, width, 1, 1, 24, 0, len(row), 0, 0, 0, 0) + row


class Curl(Clients):
    def fetch(self, *words):
        """Return: of each transfer the version, the status, and how many connections it made."""
        said = curl('--http2', '--cacert', at('ca.pem'), '-w', '%{http_version} %{http_code} %{num_connects}\n', *words)
        return said.stdout.decode().splitlines()

    def test_over_tls(self):
        here = self.folder()
        got = self.fetch('-o', f'{here}/#1', f'{self.origin}/files/data?[1-{COUNT}]')
        put = self.fetch('-T', '{' + ','.join([os.path.join(self.dir, 'data')] * COUNT) + '}', '-o', os.devnull, f'{self.origin}/files/up0')
        self.assertEqual(got, ['2 200 1'] + ['2 200 0'] * (COUNT - 1))
        self.assertEqual(put, ['2 201 1'] + ['2 200 0'] * (COUNT - 1))
        for i in range(COUNT):
            with open(f'{here}/{i + 1}', 'rb') as file:
                self.assertTrue(file.read() == DATA)
        self.assertTrue(self.read('up0') == DATA)
        self.assertConnections(2)

    def test_by_prior_knowledge(self):
        """One request each: curl 7.88 can't use such a connection again."""
        server = self.serve('--dir', self.dir, program='tour')
        url, known = f'http://127.0.0.1:{server.port}/files/', '--http2-prior-knowledge'
        self.assertTrue(curl(known, url + 'data').stdout == DATA)
        self.assertEqual(self.fetch(known, '-T', os.path.join(self.dir, 'data'), '-o', os.devnull, url + 'new'), ['2 201 1'])
        self.assertTrue(self.read('new') == DATA)

    def test_at_once(self):
        self.assertEqual([line[:5] for line in self.fetch('-Z', '-o', os.devnull, f'{self.origin}/files/data?[1-40]')], ['2 200'] * 40)


class Scripts(Clients):
    def test_node(self):
        self.exchange(*node('h2.mjs', 'node'))

    def test_chromium(self):
        """The page of `files` and 100 images take one connection, as the browser tells; those of `tour`, as the server counts."""
        for i in range(IMAGES):
            self.write(f'{i}.bmp', bitmap(i + 1))
        files = self.serve(self.dir, '--cert', at('server.pem'), '--key', at('server.key'))
        facts = self.exchange(*node('h2.mjs', 'chromium'), origins=[f'https://localhost:{files.port}'])
        for said in facts:
            self.assertEqual((said['widths'], said['protocols'], said['connected']), (list(range(1, IMAGES + 1)), ['h2'], 0))
        self.assertEqual(len(facts), 2)


if __name__ == '__main__':
    unittest.main()
