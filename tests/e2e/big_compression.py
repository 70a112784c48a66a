"""A gibibyte in each coding, from a handler and from a file, read by decoders of others as it arrives."""
# needs: chromium curl npm
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import zlib

from coding import CODINGS, COMMANDS, node, run, tool
from wire import MIB, Case, Server, request

SIZE = 1 << 30


class Digest:
    """What came, and how much of it."""

    def __init__(self):
        self.hash, self.length = hashlib.sha256(), 0

    def take(self, data):
        self.hash.update(data)
        self.length += len(data)

    def take_all(self, source):
        while data := source.read(MIB):
            self.take(data)
        return self.value()

    def value(self):
        return self.length, self.hash.hexdigest()


def by_zlib(source, coding):
    """One stream, and nothing behind it."""
    digest, decoder = Digest(), zlib.decompressobj(31 if coding == 'gzip' else 15)
    while data := source.read(MIB):
        digest.take(decoder.decompress(data))
    digest.take(decoder.flush())
    if not decoder.eof or decoder.unused_data:
        raise AssertionError(f'{coding}: cut off, or {len(decoder.unused_data)} bytes too much')
    return digest.value()


def by_command(source, command):
    with subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE) as decoder:
        value = Digest().take_all(decoder.stdout)
    if decoder.returncode:
        raise AssertionError(f'{command[0]}: exit status {decoder.returncode}')
    return value


def by_itself(source):
    return Digest().take_all(source)


class Chromium(Case):
    def test_each_coding(self):
        """Of a handler; it has all four, and takes the one that there is."""
        if not os.path.exists(os.environ.get('EDDY_CHROMIUM', '/usr/bin/chromium')):
            self.skipTest('needs Chromium')
        want = None
        for coding in CODINGS:
            config = os.path.join(self.folder(), 'tour.toml')
            with open(config, 'w', encoding='ascii') as file:
                file.write(f'[compression]\norder = ["{coding}"]\n')
            server = self.serve('--compression', '--config', config, program='tour')
            url = f'http://127.0.0.1:{server.port}/text/{SIZE}'
            if not want:
                with subprocess.Popen(['curl', '-sS', '--noproxy', '*', url], stdout=subprocess.PIPE) as source:
                    want = by_itself(source.stdout)
            with self.subTest(coding):
                self.assertEqual(json.loads(run(node('fetch', url), b'')), [coding, *want])
            server.stop()


class Gibibyte(Case):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='eddy-e2e-')
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.large = None
        cls.server = Server('--compression', '--dir', cls.dir, program='tour')
        cls.addClassCleanup(cls.server.stop)

    def make_file(self):
        """A text of a gibibyte. Return: what it is to be."""
        if self.large:
            return self.large
        if shutil.disk_usage(self.dir).free < 2 * SIZE:
            self.skipTest('needs 2 GiB of disk')
        digest = Digest()
        with open(os.path.join(self.dir, 'large.txt'), 'wb') as file:
            for i in range(SIZE // MIB):
                block = (b'%d and some text, %d\n' % (i, i * i) * (MIB // 10))[:MIB]
                file.write(block)
                digest.take(block)
        type(self).large = digest.value()
        return self.large

    def read_plain(self, path):
        digest = Digest()
        with self.server.connect(timeout=60) as wire:
            wire.send(request('GET', path))
            self.assertEqual(wire.read_head().header('transfer-encoding'), 'chunked')
            while size := int(wire.take_line(), 16):
                digest.take(wire.take(size))
                wire.take(2)
        return digest.value()

    def read_coded(self, path, coding, decode, *args):
        """The body as curl passes it on, with these arguments, to a decoder."""
        args = ['curl', '-sS', '--noproxy', '*', '-H', f'Accept-Encoding: {coding}', *args, f'http://127.0.0.1:{self.server.port}{path}']
        with subprocess.Popen(args, stdout=subprocess.PIPE) as source:
            value = decode(source.stdout)
        self.assertEqual(source.returncode, 0)
        return value

    def decoders(self, coding):
        """Names, and what each takes: a decoder, and arguments of curl."""
        yield 'curl', by_itself, '--compressed'
        command = node('stdin', coding)
        yield 'node', lambda source: by_command(source, command)
        if coding in COMMANDS:
            tool(COMMANDS[coding])
            yield COMMANDS[coding], lambda source: by_command(source, [COMMANDS[coding], '-d', '-c'])
        else:
            yield 'zlib', lambda source: by_zlib(source, coding)

    def check(self, path, coding, want):
        before = self.server.rss()
        self.assertEqual(want[0], SIZE)
        for name, *decoder in self.decoders(coding):
            with self.subTest(path=path, coding=coding, decoder=name):
                self.assertEqual(self.read_coded(path, coding, *decoder), want)
        self.assertLess(self.server.rss() - before, 100 * MIB)


def add_tests():
    """One for each coding and each source: some minutes each."""
    for coding in CODINGS:
        def stream(self, coding=coding):
            path = f'/text/{SIZE}'
            self.check(path, coding, self.read_plain(path))

        def file(self, coding=coding):
            self.check('/files/large.txt', coding, self.make_file())
        setattr(Gibibyte, f'test_stream_{coding}', stream)
        setattr(Gibibyte, f'test_file_{coding}', file)


add_tests()
