"""The static eddy of a release, on a system that has nothing else: a root with /proc, /dev/urandom, the program and its folders."""
# needs: openssl
import os
import shutil
import subprocess

import released
import tls
from wire import Case, request

# $1: the root; $2: the program, which is there as /eddy; then its arguments.
ENTER = 'mount -t proc proc "$1/proc" && mount --bind /dev/urandom "$1/dev/urandom" && cd "$1" && shift 2 && exec chroot . /eddy "$@"'


def setUpModule():
    tls.setUpModule()


def tearDownModule():
    tls.tearDownModule()


class Static(Case):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest('needs root')
        self.root = self.folder()
        for name in ('dev', 'proc', 'srv', 'tls'):
            os.mkdir(os.path.join(self.root, name))
        open(os.path.join(self.root, 'dev', 'urandom'), 'w').close()
        name, = (name for name in released.files() if name.endswith(f'-linux-{os.uname().machine}'))
        self.program = released.path(name)
        shutil.copy(self.program, os.path.join(self.root, 'eddy'))
        os.chmod(os.path.join(self.root, 'eddy'), 0o755)
        for name in ('server.pem', 'server.key', 'ca.pem'):
            shutil.copy(tls.at(name), os.path.join(self.root, 'tls'))
        self.wrap = ('unshare', '--mount', '--', 'sh', '-ec', ENTER, 'sh', self.root)

    def run_eddy(self, *args):
        done = subprocess.run([*self.wrap, self.program, *args], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def serve_folder(self, *args):
        return self.serve('serve', '/srv', '--bind', 'localhost:0', *args, program='eddy', wrap=self.wrap)

    def test_there_is_nothing_else(self):
        self.assertEqual(sorted(os.listdir(self.root)), ['dev', 'eddy', 'proc', 'srv', 'tls'])

    def test_doctor(self):
        said = self.run_eddy('doctor')
        self.assertRegex(said, 'ok   AES-GCM, RSA and ECDSA of TLS: OpenSSL 3')
        self.assertNotIn('FAIL', said)

    def test_serves_a_folder(self):
        server = self.serve_folder()
        body = os.urandom(3 << 20)
        self.assertEqual(server.ask(request('PUT', '/files/x.html', body=body)).status, 201)
        got = server.get('/files/x.html')
        self.assertTrue(got.body == body)
        self.assertEqual(got.header('content-type'), 'text/html; charset=utf-8')
        self.assertEqual(os.listdir(os.path.join(self.root, 'srv')), ['x.html'])
        self.assertIn('/s', self.run_eddy('bench', 'get', f'http://localhost:{server.port}/files/x.html', '-t', '0.1', '-r', '1', '--verify'))

    def test_serves_a_folder_by_tls(self):
        server = self.serve_folder('--cert', '/tls/server.pem', '--key', '/tls/server.key')
        body = os.urandom(3 << 20)
        with tls.TlsWire(server.port, tls.context()) as wire:
            self.assertEqual(wire.ask(request('PUT', '/files/x', body=body)).status, 201)
            self.assertTrue(wire.ask(request('GET', '/files/x')).body == body)
        said = self.run_eddy('bench', 'get', f'https://localhost:{server.port}/files/x', '-t', '0.1', '-r', '1', '--ca', '/tls/ca.pem')
        self.assertRegex(said, 'TLS_AES|AES-?(128|256)|CHACHA')


