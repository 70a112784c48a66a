"""Decoders that are not ours, of the four codings."""
# needs: brotli zstd
import shutil
import subprocess
import unittest
import zlib

import wire

CODINGS = ('zstd', 'br', 'gzip', 'deflate')
COMMANDS = {'zstd': 'zstd', 'br': 'brotli', 'gzip': 'gzip'}


def run(command, data):
    done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=600)
    if done.returncode == 77:
        raise unittest.SkipTest(f'{command[0]} does not know it')
    if done.returncode:
        raise AssertionError(f'{" ".join(command)}: {done.stderr.decode()}')
    return done.stdout


def tool(name):
    if not shutil.which(name):
        raise unittest.SkipTest(f'needs {name}')
    return name


def decode(coding, data):
    """By zlib, and the commands for zstd and brotli. What is cut off or followed by other bytes is an error."""
    if coding in ('gzip', 'deflate'):
        decoder = zlib.decompressobj(31 if coding == 'gzip' else 15)
        text = decoder.decompress(data) + decoder.flush()
        if not decoder.eof or decoder.unused_data:
            raise AssertionError(f'{coding}: cut off, or {len(decoder.unused_data)} bytes too much')
        return text
    return run([tool(COMMANDS[coding]), '-d', '-c'], data)


def decode_by_command(coding, data):
    if coding not in COMMANDS:
        raise unittest.SkipTest(f'there is no command for {coding}')
    return run([tool(COMMANDS[coding]), '-d', '-c'], data)


def encode(coding, data, **options):
    if coding in ('gzip', 'deflate'):
        encoder = zlib.compressobj(options.get('level', 6), zlib.DEFLATED, 31 if coding == 'gzip' else 15)
        return encoder.compress(data) + encoder.flush()
    return run([tool(COMMANDS[coding]), *(['-q', '5'] if coding == 'br' else []), '-c', '-'], data)


def node(*args):
    return wire.node('compressed.mjs', *args)


class Flowing:
    """A decoder that gives what can be read so far."""

    def __init__(self, coding):
        self.process = None
        if coding in ('gzip', 'deflate'):
            self.inner = zlib.decompressobj(31 if coding == 'gzip' else 15)
        else:
            self.process = subprocess.Popen(node('stdin', coding), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def feed(self, data, size):
        """Return: the text of `size` bytes that has to come of this."""
        if not self.process:
            return self.inner.decompress(data)
        self.process.stdin.write(data)
        text = b''
        while len(text) < size:
            more = self.process.stdout.read(size - len(text))
            if not more:
                raise AssertionError(f'the decoder ended after {text!r}')
            text += more
        return text

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
