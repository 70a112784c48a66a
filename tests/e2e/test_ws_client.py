"""The client of WebSockets against npm ws, and against eddy. Its other tests are test_ws_cases.py and tests/http/client_ws.c."""
# needs: npm openssl
import subprocess
import unittest

import tls
from wire import KIB, PROGRAMS, Case, Server, node

WS_CLIENT = PROGRAMS['ws_client']
MESSAGES = ('hello', '', 'grüße', 'x' * 100 * KIB)


def setUpModule():
    tls.setUpModule()


def tearDownModule():
    tls.tearDownModule()


def talk(*args, messages=MESSAGES):
    """What it says, a line each."""
    done = subprocess.run([WS_CLIENT, *map(str, args), *messages], capture_output=True, check=False, timeout=60, text=True)
    if 'Sanitizer' in done.stderr or 'runtime error' in done.stderr:
        raise AssertionError(f'ws_client: {done.returncode}\n{done.stderr}')
    return done.stdout.splitlines()


class Ours(Case):
    def test_messages(self):
        server = Server('--deflate', '--takeover', program='sockets')
        self.addCleanup(server.stop)
        for path in ('echo', 'parked', 'pieces'):
            for args in ((), ('--deflate',), ('--deflate', '--takeover')):
                # A message of /pieces may come back in several.
                messages = MESSAGES[:3] if path == 'pieces' else MESSAGES
                self.assertEqual(talk(*args, f'ws://127.0.0.1:{server.port}/{path}', messages=messages), [*messages, '1000'])

    def test_refused(self):
        server = Server(program='sockets')
        self.addCleanup(server.stop)
        self.assertEqual(talk(f'ws://127.0.0.1:{server.port}/nowhere'), ['-121 the server refused the WebSocket with status 404'])


class Theirs(Case):
    """npm ws; others are in interop_ws.py."""

    def serve_theirs(self, *files):
        process = subprocess.Popen(node('sockets.mjs', 'serve', *files), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return int(process.stdout.readline())

    def test_messages(self):
        port = self.serve_theirs()
        for args in ((), ('--deflate',), ('--deflate', '--takeover')):
            self.assertEqual(talk(*args, '--protocol', 'echo', '--sizes', 3, f'ws://127.0.0.1:{port}/', messages=(*MESSAGES, 'ping', 'fragments')),
                             ['echo', '14', *MESSAGES, 'pong', 'fragments', '1000'])
            self.assertEqual(talk(*args, '--protocol', 'other', f'ws://127.0.0.1:{port}/'), [*MESSAGES, '1000'])

    def test_codes(self):
        url = f'ws://127.0.0.1:{self.serve_theirs()}/'
        self.assertEqual(talk(url, messages=('close 4001 bye',)), ['4001'])
        self.assertEqual(talk('--code', 3333, url, messages=()), ['3333'])

    def test_tls(self):
        url = f'wss://localhost:{self.serve_theirs(tls.at("server.pem"), tls.at("server.key"))}/'
        self.assertEqual(talk('--ca', tls.at('ca.pem'), '--deflate', url), [*MESSAGES, '1000'])
        self.assertRegex(talk(url)[0], '^-126 ')


if __name__ == '__main__':
    unittest.main()
