"""The program eddy-compress: siblings of the files of a tree."""
# needs: brotli zstd
import os
import random
import subprocess
import unittest

from test_codec import theirs
from wire import EXAMPLES, Case

PROGRAM = os.path.join(EXAMPLES, 'eddy-compress')
TEXT = b''.join(b'line %d of a page that is served again and again\n' % i for i in range(2000))
SUFFIXES = {'.br': 'br', '.zst': 'zstd', '.gz': 'gzip'}


@unittest.skipUnless(os.path.exists(PROGRAM), 'needs eddy-compress')
class CompressTree(Case):
    def setUp(self):
        self.dir = self.folder()

    def write(self, name, data, mode=0o644):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(data)
        os.chmod(path, mode)
        return path

    def run_it(self, *args, status=0):
        done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn('Sanitizer', done.stderr)
        return done

    def names(self):
        return sorted(os.path.relpath(os.path.join(at, name), self.dir) for at, _, names in os.walk(self.dir) for name in names)

    def check_siblings(self, path, data):
        for suffix, coding in SUFFIXES.items():
            with open(path + suffix, 'rb') as file:
                made = file.read()
            self.assertEqual(theirs('decode', coding, made), data)
            self.assertLess(len(made), len(data) / 4)
            self.assertEqual(os.stat(path + suffix).st_mtime_ns, os.stat(path).st_mtime_ns)
            self.assertEqual(os.stat(path + suffix).st_mode, os.stat(path).st_mode)

    def test_a_tree(self):
        page = self.write('page.html', TEXT)
        deep = self.write('a/b/c.css', TEXT * 30, 0o600)
        noise = random.Random(1).randbytes(5000)
        self.write('noise.png', noise)
        self.write('empty', b'')
        self.write('.hidden/x.txt', TEXT)
        self.write('.secret', TEXT)
        self.write('archive.tar.gz', TEXT)
        os.symlink('page.html', os.path.join(self.dir, 'link.html'))
        done = self.run_it(self.dir)
        self.assertIn('6 made, 0 current, 6 not worth it, 0 failed', done.stdout)
        self.assertEqual(done.stderr, '')
        self.check_siblings(page, TEXT)
        self.check_siblings(deep, TEXT * 30)
        self.assertEqual(self.names(), sorted([
            '.hidden/x.txt', '.secret', 'archive.tar.gz', 'empty', 'link.html', 'noise.png',
            *(name + suffix for name in ('page.html', 'a/b/c.css') for suffix in ('', '.br', '.gz', '.zst'))]))

    def test_what_is_current_stays(self):
        page = self.write('page.html', TEXT)
        self.run_it(self.dir)
        before = {suffix: os.stat(page + suffix).st_ino for suffix in SUFFIXES}
        self.assertIn('0 made, 3 current', self.run_it(self.dir).stdout)
        self.assertEqual({suffix: os.stat(page + suffix).st_ino for suffix in SUFFIXES}, before)
        self.assertIn('3 made, 0 current', self.run_it('--force', self.dir).stdout)
        # An older file in its place counts as well.
        self.write('page.html', TEXT * 2)
        os.utime(page, (1000, 1000))
        self.assertIn('3 made, 0 current', self.run_it(self.dir).stdout)
        self.check_siblings(page, TEXT * 2)

    def test_what_is_not_worth_it_any_more_goes(self):
        page = self.write('page.html', TEXT)
        self.run_it(self.dir)
        self.write('page.html', random.Random(2).randbytes(3000))
        os.utime(page, (2000, 2000))
        self.assertIn('0 made, 0 current, 3 not worth it', self.run_it(self.dir).stdout)
        self.assertEqual(self.names(), ['page.html'])

    def test_errors_are_of_one_file(self):
        page = self.write('page.html', TEXT)
        other = self.write('other.html', TEXT)
        os.makedirs(page + '.br')
        done = self.run_it(self.dir, status=1)
        self.assertIn('page.html.br: Is a directory', done.stderr)
        self.assertIn('5 made, 0 current, 0 not worth it, 1 failed', done.stdout)
        self.check_siblings(other, TEXT)
        self.assertEqual([name for name in self.names() if '~' in name], [])

    def test_usage(self):
        self.assertIn('usage', self.run_it(status=2).stderr)
        self.assertIn('usage', self.run_it('--what', status=2).stderr)
        done = self.run_it(os.path.join(self.dir, 'nothing'), status=1)
        self.assertIn('No such file', done.stderr)


if __name__ == '__main__':
    unittest.main()
