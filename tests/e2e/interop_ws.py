"""WebSockets and event streams with the libraries of others in both roles: Chromium, Node's WebSocket (undici), npm ws and eventsource,
python3-websockets, libsoup and Go's x/net. Each is a client of `sockets`, plain, compressed and over TLS, and most are servers of
`ws_client`. Their tasks are in node/sockets.mjs.
"""
# needs: chromium gir1.2-soup-3.0 golang-golang-x-net-dev golang-go npm openssl python3-gi python3-websockets
import json
import os
import shutil
import subprocess
import unittest

from tls import TlsCase, at, setUpModule, tearDownModule  # noqa: F401
from wire import PROGRAMS, Case, node

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'interop')
# Debian's modules are for its own Python.
PYTHON = '/usr/bin/python3'
SECONDS = 120
MESSAGES = ('hello', '', 'grüße')


def run(command, **env):
    done = subprocess.run(command, env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS, text=True)
    if done.returncode:
        raise AssertionError(f'{command}: {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


class Peer:
    """`command`: of the peer, without its role. Things it cannot do: `tells_codes`, `joins` fragments, `sends_fragments`, `pings`, `deflates`."""
    kind = None     # where a program has several
    serves = tells_codes = joins = sends_fragments = pings = deflates = True

    def talk(self, url, secure):
        facts = json.loads(run([*self.command(), 'talk', *filter(None, [self.kind]), url, *([at('ca.pem')] if secure else [])],
                               NODE_EXTRA_CA_CERTS=at('ca.pem')))
        self.assertEqual((facts['echoed'], facts['protocol']), (14, 'echo'))
        self.assertEqual((facts['mine'], facts['theirs']), ([3000, '', True], [4001, 'as you wish', True]) if self.tells_codes else (True, True))
        self.assertTrue(facts['refused'])
        self.assertEqual(facts.get('ponged', 'are you there?'), 'are you there?')
        self.assertEqual(facts.get('joined', 'in three fragments'), 'in three fragments')
        return facts['extensions']

    def test_as_client(self):
        for args in ((), ('--deflate',), ('--deflate', '--takeover')):
            with self.subTest(args):
                server = self.serve(*args, program='sockets')
                self.assertEqual('permessage-deflate' in self.talk(f'ws://127.0.0.1:{server.port}', False), bool(args) and self.deflates)

    def test_as_client_over_tls(self):
        server = self.serve('--deflate', '--cert', at('server.pem'), '--key', at('server.key'), program='sockets')
        self.talk(f'wss://localhost:{server.port}', True)

    def start(self, *files):
        """A server of theirs. Return: its port."""
        if not self.serves:
            self.skipTest('is no server')
        process = subprocess.Popen([*self.command(), 'serve', *files], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return int(process.stdout.readline())

    def ours(self, *args):
        """What our client says. Pieces are messages to a peer that does not join them."""
        words = ['ping'] * self.pings + ['fragments'] * self.sends_fragments
        said = run([PROGRAMS['ws_client'], *args, *MESSAGES, *words, 'close 4001 bye']).splitlines()
        self.assertEqual(said, ['echo', '14', *MESSAGES, *[word.replace('ping', 'pong') for word in words], '4001'])

    def test_as_server(self):
        url = f'ws://127.0.0.1:{self.start()}/'
        for args in ((), ('--deflate',), ('--deflate', '--takeover')):
            for pieces in (1, 3) if self.joins else (1,):
                with self.subTest(args, pieces=pieces):
                    self.ours(*args, '--protocol', 'echo', '--sizes', str(pieces), url)
            self.assertEqual(run([PROGRAMS['ws_client'], *args, '--protocol', 'echo', '--code', '3333', url, 'x']).splitlines(),
                             ['echo', 'x', '3333' if self.tells_codes else '1000'])

    def test_as_server_over_tls(self):
        url = f'wss://localhost:{self.start(at("server.pem"), at("server.key"))}/'
        self.ours('--ca', at('ca.pem'), '--deflate', '--protocol', 'echo', '--sizes', '1', url)


class Scripted(Peer):
    """In node/sockets.mjs."""

    def command(self):
        return node('sockets.mjs')


class NpmWs(Scripted, TlsCase):
    kind = 'ws'


class Node(Scripted, TlsCase):
    kind, serves = 'node', False


class Chromium(Scripted, TlsCase):
    kind, serves = 'chromium', False


class Python(Peer, TlsCase):
    script, module = 'sockets_python.py', 'websockets'

    def command(self):
        if subprocess.run([PYTHON, '-c', self.module if ' ' in self.module else f'import {self.module}'], capture_output=True, check=False).returncode:
            self.skipTest(f'needs the module {self.module.split()[-1]}')
        return [PYTHON, os.path.join(HERE, self.script)]


class Soup(Python):
    script, module = 'sockets_soup.py', "import gi; gi.require_version('Soup', '3.0'); from gi.repository import Soup"
    pings = sends_fragments = False     # it pings by a clock


class Go(Peer, TlsCase):
    tells_codes = joins = sends_fragments = pings = deflates = False

    def command(self):
        if not shutil.which('go') or not os.path.exists('/usr/share/gocode/src/golang.org/x/net/websocket'):
            self.skipTest('needs go and golang-golang-x-net-dev')
        if not os.path.exists(at('sockets-go')):
            run(['go', 'build', '-o', at('sockets-go'), os.path.join(HERE, 'sockets.go')], GO111MODULE='off', GOPATH='/usr/share/gocode',
                GOCACHE=at('go-cache'))
        return [at('sockets-go')]


class Tour(Case):
    """The routes of the tour, which programs of others are tested against."""

    def setUp(self):
        self.server = self.serve(program='tour')
        self.at = f'://127.0.0.1:{self.server.port}'

    def test_chat(self):
        for kind in ('node', 'ws', 'chromium'):
            with self.subTest(kind):
                self.assertEqual(json.loads(run(node('sockets.mjs', 'chat', kind, f'ws{self.at}/ws/chat'))), [['hello', 'all'], ['hello', 'all']])

    def test_events(self):
        for kind in ('node', 'npm', 'chromium'):
            with self.subTest(kind):
                command = node('sockets.mjs', 'events', kind, f'http{self.at}/events/5', 'tick')
                command.insert(1, '--experimental-eventsource')
                self.assertEqual(json.loads(run(command)), [[f'{i}', f'{i}'] for i in range(1, 6)])


if __name__ == '__main__':
    unittest.main()
