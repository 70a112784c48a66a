"""The codings against the programs that others wrote for them: zstd, brotli, gzip and Python's zlib."""
# needs: brotli zstd
import gzip
import hashlib
import os
import random
import shutil
import subprocess
import unittest
import zlib

from wire import KIB, MIB, PROGRAMS, Case

PROGRAM = PROGRAMS['codec']
CODINGS = ('zstd', 'br', 'gzip', 'deflate')
TOOLS = {'zstd': ['zstd', '-q', '-c'], 'br': ['brotli', '-c'], 'gzip': ['gzip', '-c']}


def pipe(data, *args):
    done = subprocess.run(args, input=data, capture_output=True, check=False, timeout=100)
    if done.returncode:
        raise AssertionError(f'{args}: {done.returncode}, {done.stderr.decode(errors="replace")}')
    return done.stdout


def ours(what, coding, data, level=0, seed=1):
    return pipe(data, PROGRAM, what, coding, str(level), str(seed))


def theirs(what, coding, data):
    if coding == 'deflate':
        return zlib.compress(data) if what == 'encode' else zlib.decompress(data)
    if what == 'decode':
        return pipe(data, *TOOLS[coding], '-d')
    # Without a word brotli does its best, a megabyte a second.
    return pipe(data, *TOOLS[coding], *(['-q', '5'] if coding == 'br' and len(data) > MIB else []))


def body(size):
    """Text with stretches of noise."""
    dice = random.Random(size)
    out = bytearray()
    while len(out) < size:
        out += (b'%d bottles of water on the wall\n' % dice.randrange(1000)) * dice.randrange(1, 300)
        out += dice.randbytes(dice.randrange(3000))
    return bytes(out[:size])


@unittest.skipUnless(os.path.exists(PROGRAM), 'needs the program codec')
class Codec(Case):
    def setUp(self):
        for tool, *_ in TOOLS.values():
            if not shutil.which(tool):
                self.skipTest(f'needs {tool}')

    def test_others_read_ours(self):
        for coding in CODINGS:
            for size in (0, 1, 64 * KIB, 8 * MIB):
                data = body(size)
                for seed in (1, 2, 3) if size < MIB else (1,):
                    with self.subTest(coding=coding, size=size, seed=seed):
                        self.assertEqual(theirs('decode', coding, ours('encode', coding, data, seed=seed)), data)

    def test_we_read_theirs(self):
        for coding in CODINGS:
            for size in (0, 1, 64 * KIB, 8 * MIB):
                data = body(size)
                with self.subTest(coding=coding, size=size):
                    self.assertEqual(ours('decode', coding, theirs('encode', coding, data)), data)

    def test_every_level(self):
        data = body(300 * KIB)
        for coding, most in (('zstd', 19), ('br', 11), ('gzip', 9), ('deflate', 9)):
            for level in range(1, most + 1):
                with self.subTest(coding=coding, level=level):
                    self.assertEqual(theirs('decode', coding, ours('encode', coding, data, level)), data)

    def test_members_of_gzip_and_pzstd(self):
        data = body(100 * KIB)
        many = b''.join(gzip.compress(data[at:at + 1000], mtime=0) for at in range(0, len(data), 1000))
        self.assertEqual(ours('decode', 'gzip', many), data)
        frames = theirs('encode', 'zstd', data[:5000]) + theirs('encode', 'zstd', data[5000:])
        self.assertEqual(ours('decode', 'zstd', frames), data)

    def test_large_windows_are_refused(self):
        data = hashlib.sha256().digest() * (16 * MIB // 32)
        for args, coding in ((['zstd', '-q', '-c', '--long=27'], 'zstd'), (['brotli', '-c', '-q', '5', '--large_window=26'], 'br')):
            with self.subTest(coding):
                made = pipe(data + random.Random(1).randbytes(1000), *args)
                done = subprocess.run([PROGRAM, 'decode', coding], input=made, capture_output=True, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(done.stderr.strip(), (b'EMSGSIZE', b'EBADMSG'))


if __name__ == '__main__':
    unittest.main()
