"""1 GiB through each coding, to the programs that others wrote."""
import hashlib
import os
import subprocess
import unittest

from test_codec import CODINGS, PROGRAM, TOOLS, body
from wire import MIB, Case

SIZE = 1 << 30
PYTHON = "import sys,zlib\nd=zlib.decompressobj()\nfor b in iter(lambda:sys.stdin.buffer.read(65536),b''):sys.stdout.buffer.write(d.decompress(b))"


@unittest.skipUnless(os.path.exists(PROGRAM), 'needs the program codec')
class Codec(Case):
    def test_1_gib(self):
        piece = body(8 * MIB)
        wanted = hashlib.sha256()
        for _ in range(SIZE // len(piece)):
            wanted.update(piece)
        for coding in CODINGS:
            decoder = [*TOOLS[coding], '-d'] if coding in TOOLS else ['python3', '-c', PYTHON]
            with self.subTest(coding):
                for ours_first in (True, False):
                    self.one(piece, wanted.digest(), coding, decoder if ours_first else [PROGRAM, 'decode', coding])

    def one(self, piece, wanted, coding, decoder):
        encode = subprocess.Popen([PROGRAM, 'encode', coding], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        decode = subprocess.Popen(decoder, stdin=encode.stdout, stdout=subprocess.PIPE)
        encode.stdout.close()
        if os.fork() == 0:
            decode.stdout.close()
            for _ in range(SIZE // len(piece)):
                encode.stdin.write(piece)
            encode.stdin.close()
            os._exit(0)
        encode.stdin.close()
        got = hashlib.sha256()
        while data := decode.stdout.read(MIB):
            got.update(data)
        decode.stdout.close()
        self.assertEqual((encode.wait(), decode.wait()), (0, 0))
        self.assertEqual(got.digest(), wanted)
        os.wait()


if __name__ == '__main__':
    unittest.main()
