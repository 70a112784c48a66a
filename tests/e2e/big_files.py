"""A file of 4 GiB out and in."""
# needs: curl
import hashlib
import os
import shutil
import time

from wire import MIB, Case, curl, pattern, sha256_of

SIZE = 4 << 30


class Files(Case):
    def setUp(self):
        self.dir = self.folder()
        if shutil.disk_usage(self.dir).free < 3 * SIZE:
            self.skipTest('needs 12 GiB of disk')
        self.server = self.serve(self.dir)
        self.url = f'http://127.0.0.1:{self.server.port}/files/'
        self.source = os.path.join(self.dir, 'source')
        # Mostly holes, but no two MiB of it alike at either side of 2 and 4 GiB.
        with open(self.source, 'wb') as file:
            for at in range(0, SIZE, 256 * MIB):
                file.seek(at)
                file.write(pattern(MIB, at))
            file.truncate(SIZE)
            file.seek(SIZE - 3)
            file.write(b'end')

    def timed(self, what, *args):
        began = time.monotonic()
        curl(*args, timeout=600)
        took = time.monotonic() - began
        print(f'{what}: {took:.1f} s, {SIZE / took / 1e9:.2f} GB/s')

    def test_4_gib(self):
        digest = sha256_of(self.source)
        self.timed('PUT', '-T', self.source, self.url + 'put')
        self.assertEqual(sha256_of(os.path.join(self.dir, 'put')), digest)
        os.unlink(os.path.join(self.dir, 'put'))
        self.timed('POST', '-F', f'file=@{self.source};filename=post', self.url.rstrip('/'))
        self.assertEqual(sha256_of(os.path.join(self.dir, 'post')), digest)
        back = os.path.join(self.dir, '.back')
        self.timed('GET', '-o', back, self.url + 'post')
        self.assertEqual(sha256_of(back), digest)
        os.truncate(back, SIZE // 2 + 12345)
        self.timed('GET, second half', '-C', '-', '-o', back, self.url + 'post')
        self.assertEqual(sha256_of(back), digest)
        with open(self.source, 'rb') as file:
            file.seek(SIZE - 100)
            tail = file.read()
        self.assertEqual(curl('-r', f'{SIZE - 100}-', self.url + 'post').stdout, tail)
        self.assertEqual(hashlib.sha256(curl('-r', '-1', self.url + 'post').stdout).digest(), hashlib.sha256(b'd').digest())
