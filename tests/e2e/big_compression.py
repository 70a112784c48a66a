"""A gibibyte in each coding, from a handler and from a file, read by decoders of others as it arrives."""
import hashlib
import os
import shutil
import subprocess

from coding import CODINGS, COMMANDS, node, tool
from wire import MIB, Case, request

SIZE = 1 << 30


class Gibibyte(Case):
    def setUp(self):
        self.dir = self.folder()
        if shutil.disk_usage(self.dir).free < 2 * SIZE:
            self.skipTest('needs 2 GiB of disk')
        self.server = self.serve('--compression', '--dir', self.dir, program='tour')

    def digest(self, path, coding=None, command=None):
        """Of the body, decoded by a command."""
        digest, length = hashlib.sha256(), 0
        args = ['curl', '-sS', '--raw', '--noproxy', '*'] if command is None else ['curl', '-sS', '--noproxy', '*']
        if coding:
            args += ['-H', f'Accept-Encoding: {coding}']
        with subprocess.Popen([*args, f'http://127.0.0.1:{self.server.port}{path}'], stdout=subprocess.PIPE) as source:
            last = source.stdout
            if command:
                decoder = subprocess.Popen(command, stdin=source.stdout, stdout=subprocess.PIPE)
                source.stdout.close()
                last = decoder.stdout
            while data := last.read(MIB):
                digest.update(data)
                length += len(data)
            if command:
                last.close()
                self.assertEqual(decoder.wait(), 0)
        self.assertEqual(source.returncode, 0)
        self.assertEqual(length, SIZE)
        return digest.hexdigest()

    def commands(self, coding):
        yield node('stdin', coding)
        if coding in COMMANDS:
            yield [tool(COMMANDS[coding]), '-d', '-c']

    def check(self, path, want):
        before = self.server.rss()
        for coding in CODINGS:
            for command in self.commands(coding):
                with self.subTest(path=path, coding=coding, command=command[0]):
                    self.assertEqual(self.digest(path, coding, command), want)
        self.assertLess(self.server.rss() - before, 100 * MIB)

    def test_stream(self):
        path = f'/text/{SIZE}'
        digest, length = hashlib.sha256(), 0
        with self.server.connect(timeout=60) as wire:
            wire.send(request('GET', path))
            self.assertEqual(wire.read_head().header('transfer-encoding'), 'chunked')
            while size := int(wire.take_line(), 16):
                digest.update(wire.take(size))
                wire.take(2)
                length += size
        self.assertEqual(length, SIZE)
        self.check(path, digest.hexdigest())

    def test_file(self):
        digest = hashlib.sha256()
        with open(os.path.join(self.dir, 'large.txt'), 'wb') as file:
            for i in range(SIZE // MIB):
                block = (b'%d and some text, %d\n' % (i, i * i) * (MIB // 10))[:MIB]
                file.write(block)
                digest.update(block)
        self.check('/files/large.txt', digest.hexdigest())
