"""Programs that people fetch files with: each gets what lies in the folder, byte by byte.

`./dev test real_clients` installs all of them. Elsewhere those run that are there: apt, git and wget on most machines.
"""
# needs: git
import hashlib
import os
import re
import shutil
import subprocess
import unittest

from wire import MIB, Case, Shared, pattern, speaks_http2

needs = lambda *programs: unittest.skipUnless(all(map(shutil.which, programs)), f'needs {", ".join(programs)}')


def run(*command, cwd=None):
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith('_proxy')}
    env |= {'LC_ALL': 'C', 'HOME': cwd or '/', 'GIT_CONFIG_NOSYSTEM': '1', 'GIT_TERMINAL_PROMPT': '0'}
    done = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, timeout=100)
    if done.returncode:
        raise AssertionError(f'{command}: {done.returncode}\n{done.stdout[-3000:]}')
    return done.stdout


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(data)


def read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()


class Files(Shared):
    """Of the program files."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = pattern(9 * MIB + 12345)
        cls.base = f'http://127.0.0.1:{cls.server.port}/files/'
        write(os.path.join(cls.dir, 'large file.bin'), cls.data)
        cls.url = cls.base + 'large%20file.bin'

    def setUp(self):
        super().setUp()
        self.here = self.folder()

    def assertFetched(self, name):
        self.assertTrue(read(self.here, name) == self.data, name)

    @needs('wget')
    def test_wget(self):
        run('wget', '-O', 'whole', self.url, cwd=self.here)
        self.assertFetched('whole')
        write(os.path.join(self.here, 'part'), self.data[:MIB + 1])
        self.assertIn('206 Partial Content', run('wget', '-c', '-O', 'part', self.url, cwd=self.here))
        self.assertFetched('part')
        # By the name of content-disposition, and not again while it is the same.
        run('wget', '--content-disposition', self.url, cwd=self.here)
        self.assertFetched('large file.bin')
        self.assertIn('304 Not Modified', run('wget', '-N', self.url, cwd=self.here))

    @needs('aria2c')
    def test_aria2c(self):
        """By four connections, each of which asks for a piece."""
        run('aria2c', '--no-conf', '--split=4', '--max-connection-per-server=4', '--min-split-size=1M', '--out=got', self.url, cwd=self.here)
        self.assertFetched('got')

    @needs('rclone')
    def test_rclone_copyurl(self):
        run('rclone', '--config', '', 'copyurl', self.url, 'got', cwd=self.here)
        self.assertFetched('got')

    @needs('nghttp')
    @unittest.skipUnless(speaks_http2(), 'needs an eddy with -Dhttp2=enabled')
    def test_nghttp(self):
        """Of HTTP/2 by prior knowledge; `-m` asks so many times on one connection."""
        with open(os.path.join(self.here, 'got'), 'wb') as got:
            subprocess.run(['nghttp', self.url], check=True, stdin=subprocess.DEVNULL, stdout=got, timeout=100)
        self.assertFetched('got')
        self.assertEqual(len(re.findall(r' 200 +9M ', run('nghttp', '-nsm20', self.url))), 20)
        run('nghttp', '-H:method: PUT', '-d', os.path.join(self.here, 'got'), self.base + 'put')
        self.assertTrue(read(self.path('put')) == self.data)

    def tree(self):
        """Folders with files: the path of each, and its data."""
        files = {'tree/a': pattern(1000), 'tree/b c/ü?.bin': pattern(300000, 1), 'tree/b c/empty': b'', 'tree/b c/d/e#f': pattern(70000, 2)}
        for name, data in files.items():
            write(self.path(name), data)
        write(self.path('tree/.hidden'), b'secret')
        write(self.path('tree/b c/.hidden'), b'secret')
        return files

    def assertTree(self, files, *path):
        for name, data in files.items():
            self.assertTrue(read(self.here, *path, name) == data, name)
        here = os.path.join(self.here, *path)
        found = {os.path.relpath(os.path.join(folder, name), here) for folder, _, names in os.walk(here) for name in names}
        self.assertEqual({name for name in found if os.path.basename(name) != 'index.html'}, set(files))

    @needs('wget')
    def test_wget_of_a_tree(self):
        files = self.tree()
        for path in ('tree/', 'tree/b c/'):
            self.here = self.folder()
            run('wget', '-r', '-nH', '--cut-dirs=1', '-np', '-e', 'robots=off', '--restrict-file-names=nocontrol', self.base + path.replace(' ', '%20'),
                cwd=self.here)
            self.assertTree({name: data for name, data in files.items() if name.startswith(path)})

    @needs('rclone')
    def test_rclone(self):
        files = self.tree()
        run('rclone', '--config', '', 'copy', f':http,url="{self.base}":tree', 'copy/tree', cwd=self.here)
        self.assertTree(files, 'copy')
        # Nothing is to be copied again.
        self.assertNotRegex(run('rclone', '--config', '', '-v', 'copy', f':http,url="{self.base}":tree', 'copy/tree', cwd=self.here), 'Copied')

    @needs('zsync', 'zsyncmake')
    def test_zsync(self):
        """An older file at hand differs in many places: they are asked for many at a time."""
        old = bytearray(self.data)
        for at in range(0, len(old), len(old) // 60):
            old[at:at + 3] = b'old'
        write(os.path.join(self.here, 'old'), old)
        run('zsyncmake', '-b', '2048', '-u', self.url, '-o', os.path.join(self.dir, 'large.zsync'), os.path.join(self.dir, 'large file.bin'))
        said = run('zsync', '-i', 'old', '-o', 'new', self.base + 'large.zsync', cwd=self.here)
        self.assertFetched('new')
        self.assertLess(int(re.search(r'used \d+ local, fetched (\d+)', said)[1]), MIB, said)

    @needs('ffmpeg', 'ffprobe')
    def test_ffprobe(self):
        """The index of this video is at its end, which takes a range; so does a picture from its middle."""
        run('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=duration=30:rate=10:size=320x240', '-c:v', 'mpeg4', self.path('video.mp4'))
        probe = run('ffprobe', '-v', 'debug', '-show_entries', 'stream=codec_name,width,nb_frames:format=duration', self.base + 'video.mp4')
        self.assertIn('codec_name=mpeg4\nwidth=320\nnb_frames=300', probe)
        self.assertIn('duration=30.0', probe)
        self.assertRegex(probe, r'Range: bytes=[1-9]\d*-')
        run('ffmpeg', '-v', 'error', '-ss', '20', '-i', self.base + 'video.mp4', '-frames:v', '1', 'at20.bmp', cwd=self.here)
        run('ffmpeg', '-v', 'error', '-ss', '20', '-i', self.path('video.mp4'), '-frames:v', '1', 'local.bmp', cwd=self.here)
        self.assertEqual(read(self.here, 'at20.bmp'), read(self.here, 'local.bmp'))

    @needs('apt-get', 'dpkg-deb')
    def test_apt(self):
        """A flat repository in a folder of its own; its paths begin with "./"."""
        control = 'Package: eddy-test\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: test\n'
        build = os.path.join(self.here, 'build')
        write(os.path.join(build, 'DEBIAN', 'control'), control.encode())
        write(os.path.join(build, 'usr', 'share', 'eddy-test', 'data'), self.data[:MIB])
        package = self.path('apt/eddy-test_1_all.deb')
        os.makedirs(self.path('apt'))
        run('dpkg-deb', '--root-owner-group', '--build', build, package)
        built = read(package)
        self.write('apt/Packages', f'{control}Filename: ./eddy-test_1_all.deb\nSize: {len(built)}\nSHA256: {hashlib.sha256(built).hexdigest()}\n'.encode())
        for folder in ('state/lists/partial', 'cache/archives/partial', 'etc/apt.conf.d', 'etc/preferences.d', 'etc/trusted.gpg.d'):
            os.makedirs(os.path.join(self.here, folder))
        write(os.path.join(self.here, 'state/status'), b'')
        write(os.path.join(self.here, 'etc/sources.list'), f'deb [trusted=yes] {self.base}apt/ ./\n'.encode())
        options = [word for option in (
            f'Dir::State={self.here}/state', f'Dir::State::status={self.here}/state/status', f'Dir::Cache={self.here}/cache', f'Dir::Etc={self.here}/etc',
            'APT::Sandbox::User=root', 'Acquire::http::Proxy=false', 'Acquire::Languages=none') for word in ('-o', option)]
        run('apt-get', *options, 'update', cwd=self.here)
        run('apt-get', *options, 'download', 'eddy-test', cwd=self.here)
        self.assertEqual(read(self.here, 'eddy-test_1_all.deb'), built)


class Folders(Case):
    """Of a tree, as eddy_app_map_files() serves it."""

    def setUp(self):
        super().setUp()
        self.tree, self.here = self.folder(), self.folder()

    def start(self):
        server = self.serve('--tree', self.tree, program='limits')
        return f'http://127.0.0.1:{server.port}/tree/'

    @needs('wget')
    def test_wget_of_all_that_an_index_leads_to(self):
        pages = {'index.html': b'<a href="a/">a</a> <a href="./b%20c.bin">b</a>', 'a/index.html': b'<a href="../b%20c.bin">b</a> <a href="d.bin">d</a>',
                 'b c.bin': pattern(300000), 'a/d.bin': pattern(70000, 1)}
        for name, data in pages.items():
            write(os.path.join(self.tree, name), data)
        run('wget', '-r', '-nH', '--cut-dirs=1', '-np', '-e', 'robots=off', self.start(), cwd=self.here)
        for name, data in pages.items():
            self.assertEqual(read(self.here, name), data, name)

    @needs('git')
    def test_git(self):
        """A clone over HTTP without a server of git's: of loose objects, and of packs."""
        work = os.path.join(self.here, 'work')
        git = lambda *args: run('git', '-c', 'user.name=n', '-c', 'user.email=n@example.org', *args, cwd=self.here)
        git('init', '-q', '-b', 'main', work)
        for i in range(3):
            write(os.path.join(work, f'folder {i}', 'file'), pattern(100000, i))
            git('-C', work, 'add', '-A')
            git('-C', work, 'commit', '-q', '-m', f'{i}')
        url = self.start() + 'repo.git'
        for kind in ('loose', 'packed'):
            shutil.rmtree(os.path.join(self.tree, 'repo.git'), ignore_errors=True)
            git('clone', '-q', '--bare', '--no-local', work, os.path.join(self.tree, 'repo.git'))
            if kind == 'loose':
                packs = os.path.join(self.tree, 'repo.git', 'objects', 'pack')
                pack = next(name for name in os.listdir(packs) if name.endswith('.pack'))
                shutil.move(os.path.join(packs, pack), os.path.join(self.here, 'pack'))
                shutil.rmtree(packs)
                os.mkdir(packs)
                run('sh', '-c', f'git -C "{self.tree}/repo.git" unpack-objects -q <pack', cwd=self.here)
            git('-C', os.path.join(self.tree, 'repo.git'), 'update-server-info')
            git('clone', '-q', url, kind)
            git('-C', kind, 'fsck', '--strict')
            self.assertEqual(git('-C', kind, 'rev-parse', 'HEAD'), git('-C', work, 'rev-parse', 'HEAD'))
            for i in range(3):
                self.assertEqual(read(self.here, kind, f'folder {i}', 'file'), pattern(100000, i))

    @needs('ostree')
    def test_ostree(self):
        for i in range(3):
            write(os.path.join(self.here, 'root', 'usr', f'file {i}'), pattern(100000, i))
        repo, mine = f'--repo={self.tree}/repo', '--repo=mine'
        run('ostree', repo, 'init', '--mode=archive')
        run('ostree', repo, 'commit', '-b', 'test/main', '--owner-uid=0', '--owner-gid=0', os.path.join(self.here, 'root'))
        run('ostree', repo, 'summary', '-u')
        run('ostree', mine, 'init', '--mode=bare-user-only', cwd=self.here)
        run('ostree', mine, 'remote', 'add', '--no-gpg-verify', 'eddy', self.start() + 'repo', cwd=self.here)
        run('ostree', mine, 'pull', 'eddy', 'test/main', cwd=self.here)
        run('ostree', mine, 'checkout', '--user-mode', 'eddy:test/main', 'out', cwd=self.here)
        for i in range(3):
            self.assertEqual(read(self.here, 'out', 'usr', f'file {i}'), pattern(100000, i))


if __name__ == '__main__':
    unittest.main()
