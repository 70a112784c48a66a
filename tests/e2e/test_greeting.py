"""What the program files says to whoever starts it: where to go, who else can, and what to do where it can't begin."""
# needs: iproute2
import os
import re
import shutil
import socket
import subprocess
import unittest

from wire import PROGRAMS, Case, Server


@unittest.skipUnless(os.path.exists(PROGRAMS['files']), 'needs the program files')
class Greeting(Case):
    def greeting(self, *args, wrap=()):
        process = subprocess.Popen([*wrap, PROGRAMS['files'], *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        try:
            lines = []
            while not lines or lines[-1] not in ('Press Ctrl-C to stop.\n', ''):
                lines.append(process.stdout.readline())
            process.terminate()
            self.assertEqual(process.stdout.read(), '')
            self.assertEqual(process.wait(20), 0)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        return ''.join(lines)

    def test_this_machine(self):
        folder = self.folder()
        text = self.greeting(folder, '--bind', 'localhost:0')
        port = re.search(r'http://localhost:(\d+)/', text)[1]
        self.assertEqual(text, f'Serving {folder}\n  http://localhost:{port}/\n'
                         'All users of this machine can read, replace and delete files there (--no-upload: only read).\n'
                         f'To accept other machines too: --bind 0.0.0.0:{port}\nPress Ctrl-C to stop.\n')

    def test_links_are_followed(self):
        folder = self.folder()
        os.symlink(folder, folder + '-link')
        self.addCleanup(os.unlink, folder + '-link')
        self.assertIn(f'Serving {folder}\n', self.greeting(folder + '-link', '--bind', '127.0.0.1:0'))

    def test_all_who_reach_it(self):
        text = self.greeting(self.folder(), '--bind', '0.0.0.0:0', '--no-upload')
        self.assertRegex(text, r'\n  http://localhost:\d+/\n')
        self.assertIn('Everyone who can reach this machine can read files there.\n', text)
        self.assertNotIn('--bind', text)
        ip = shutil.which('ip')
        said = subprocess.run([ip, '-4', '-o', 'address', 'show', 'up', 'scope', 'global'], capture_output=True, text=True, check=False).stdout if ip else ''
        for address in re.findall(r'inet ([\d.]+)', said):
            self.assertRegex(text, rf'\n  http://{re.escape(address)}:\d+/\n')

    def test_login(self):
        path = os.path.join(self.folder(), 'logins')
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
            file.write('anna:secret\n')
        text = self.greeting(self.folder(), '--bind', 'localhost:0', '--login', path)
        self.assertIn('\nEveryone with a password can read, replace and delete files there (--no-upload: only read).\nPress', text)

    def test_version_6_and_https(self):
        try:
            socket.create_server(('::1', 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest('needs IPv6')
        self.assertRegex(self.greeting(self.folder(), '--bind', '[::1]:0'), r'\n  http://\[::1\]:\d+/\nAll users of this machine')
        self.assertRegex(self.greeting(self.folder(), '--bind', '[::]:0'), r'\n  http://localhost:\d+/\n(  .*\n)*Everyone who can reach this machine')

    def test_no_reader(self):
        """stdout is closed, or a pipe that nobody reads: that is no reason to end."""
        read, write = os.pipe()
        os.close(read)
        for stdout in (write, None):
            process = subprocess.Popen([PROGRAMS['files'], self.folder(), '--bind', '127.0.0.1:0'], stdin=subprocess.DEVNULL,
                                       stdout=stdout, stderr=subprocess.PIPE, text=True,
                                       preexec_fn=(lambda: os.close(1)) if stdout is None else None)
            self.assertIn('Listening on', process.stderr.readline())
            process.terminate()
            self.assertEqual(process.wait(20), 0, process.stderr.read())
            process.stderr.close()
        os.close(write)

    def refused(self, *args, wrap=()):
        done = subprocess.run([*wrap, PROGRAMS['files'], *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        return done.stderr

    def test_remedies(self):
        server = self.serve(self.folder())
        folder = self.folder()
        said = self.refused(folder, '--bind', f'127.0.0.1:{server.port}')
        self.assertIn('the address is in use', said)
        self.assertIn('--bind localhost:0', said)
        self.assertIn('make it with mkdir', self.refused(folder + '/none'))
        self.assertIn('name a folder, not a file', self.refused(__file__))

    def test_remedies_for_somebody_else(self):
        if os.geteuid():
            self.skipTest('needs root, to run the server as somebody else')
        nobody = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups')
        folder = self.folder()
        self.assertIn('this user must be able to read it', self.refused(folder, wrap=nobody))
        os.chmod(folder, 0o744)
        self.assertIn("chmod a+x '", self.refused(folder, wrap=nobody))
        os.chmod(folder, 0o755)
        self.assertIn('this program has no permission to write to the folder', self.greeting(folder, '--bind', 'localhost:0', wrap=nobody))

    def test_records_alone_on_stderr(self):
        server = Server(self.folder())
        server.stop()
        self.assertNotIn('Serving', server.log)


if __name__ == '__main__':
    unittest.main()
