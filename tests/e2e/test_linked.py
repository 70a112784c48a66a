"""The `eddy` that contains its programs, as releases have it."""
import ctypes
import os
import signal
import subprocess
import unittest

from wire import ALONE, PROGRAMS, Case, request

PR_SET_CHILD_SUBREAPER = 36


class Linked(Case):
    def run_eddy(self, *args, status=0, **env):
        done = subprocess.run([PROGRAMS['eddy'], *args], capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **env})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def serve_folder(self, *args):
        return self.serve('serve', self.folder(), '--bind', '127.0.0.1:0', *ALONE, *args, program='eddy')

    def test_commands(self):
        self.assertRegex(self.run_eddy('version'), r'^eddy \d+\.\d+\.\d+\n$')
        said = self.run_eddy('help')
        for name in ('serve', 'get', 'put', 'bench', 'doctor'):
            self.assertRegex(said, rf'(?m)^  {name} ')
        self.assertNotIn('not installed', said)
        self.assertIn('there is no command sreve', self.run_eddy('sreve', status=2))

    def test_programs_call_themselves_by_their_name(self):
        self.assertIn('usage: eddy-serve [DIR]', self.run_eddy('serve', '--help'))
        self.assertIn('usage: eddy-doctor', self.run_eddy('help', 'doctor'))
        self.assertIn('eddy-serve: ', self.run_eddy('serve', '/no/such/folder', status=1))

    def test_doctor(self):
        said = self.run_eddy('doctor')
        self.assertRegex(said, r'(?m)^ok   kernel: ')
        # That of the layer http.
        self.assertRegex(said, r'(?m)^(ok|warn) +wolfSSL: \d')

    @unittest.skipUnless(os.geteuid() == 0, 'needs root')
    def test_tls_without_random_numbers(self):
        without = ('unshare', '--mount', '--', 'sh', '-ec', 'mount -t tmpfs none /dev; exec "$@"', 'sh', PROGRAMS['eddy'])
        for args, said in ((['doctor'], r'FAIL wolfSSL: .* needs /dev/urandom'),
                           (['serve', self.folder(), '--cert', 'x'], r"ERROR .*wolfSSL needs /dev/urandom, which can't be read")):
            done = subprocess.run([*without, *args], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertRegex(done.stdout + done.stderr, said)

    def test_no_other_program_is_run(self):
        folder = self.folder()
        for name in ('eddy-serve', 'eddy-doctor-other'):
            with open(os.path.join(folder, name), 'w') as file:
                file.write('#!/bin/sh\necho another\n')
            os.chmod(file.name, 0o755)
        self.assertNotIn('another', self.run_eddy('serve', '--help', EDDY_EXEC_PATH=folder))
        # A program of another layer's, in a folder that is named.
        self.assertIn('another', self.run_eddy('doctor', EDDY_EXEC_PATH=folder))

    def test_put_and_get(self):
        server, folder = self.serve_folder(), self.folder()
        with open(os.path.join(folder, 'x'), 'w') as file:
            file.write('hello')
        url = f'http://127.0.0.1:{server.port}/files/'
        self.assertRegex(self.run_eddy('put', file.name, url), r'^x: 5 B in ')
        self.assertRegex(self.run_eddy('get', url + 'x', '-o', os.path.join(folder, 'y')), r'^y: 5 B in ')
        with open(os.path.join(folder, 'y')) as file:
            self.assertEqual(file.read(), 'hello')

    def test_serve_and_bench(self):
        server = self.serve_folder()
        self.assertEqual(server.ask(request('PUT', '/files/x', body='x' * 5000)).status, 201)
        said = self.run_eddy('bench', 'get', f'http://127.0.0.1:{server.port}/files/x', '-t', '0.1', '-r', '1', '--no-system-calls')
        self.assertRegex(said, r'GET × 1 .*/s')

    def test_restart(self):
        """The new process is the same command."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        server = self.serve_folder('--no-sandbox')
        server.process.send_signal(signal.SIGUSR2)
        heir = int(server.wait_for(r'Process (\d+) has taken over')[1])
        self.assertEqual(server.process.wait(30), 0)
        try:
            self.assertEqual(server.get('/').status, 200)
            with open(f'/proc/{heir}/cmdline') as file:
                self.assertEqual(file.read().split('\0')[:2], [PROGRAMS['eddy'], 'serve'])
        finally:
            os.kill(heir, signal.SIGTERM)
            self.assertEqual(os.waitpid(heir, 0)[1], 0)


if __name__ == '__main__':
    unittest.main()
