"""The client of WebSockets against python3-websockets, and against eddy. Its other tests are tests/http/client_ws.c."""
import asyncio
import ssl
import subprocess
import threading
import unittest

import tls
from wire import KIB, PROGRAMS, Case, Server

try:
    import websockets
except ImportError:
    websockets = None

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


@unittest.skipUnless(websockets, 'needs python3-websockets')
class Theirs(Case):
    def serve_theirs(self, **options):
        """A server that sends each message back, on a loop of its own. Return: its port."""
        loop, ready = asyncio.new_event_loop(), threading.Event()
        ports = []

        async def echo(socket, *_):
            async for message in socket:
                await socket.send(message)

        async def serve():
            stop = asyncio.Event()
            self.addCleanup(thread.join)
            self.addCleanup(loop.call_soon_threadsafe, stop.set)
            async with websockets.serve(echo, '127.0.0.1', 0, subprotocols=['echo'], **options) as server:
                ports.append(next(iter(server.sockets)).getsockname()[1])
                ready.set()
                await stop.wait()

        thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
        thread.start()
        self.assertTrue(ready.wait(20))
        return ports[0]

    def test_messages(self):
        port = self.serve_theirs()
        for args in ((), ('--deflate',), ('--deflate', '--takeover')):
            self.assertEqual(talk(*args, '--protocol', 'echo', f'ws://127.0.0.1:{port}/'), ['echo', *MESSAGES, '1000'])
            self.assertEqual(talk(*args, '--protocol', 'other', f'ws://127.0.0.1:{port}/'), [*MESSAGES, '1000'])

    def test_without_their_deflate(self):
        port = self.serve_theirs(compression=None)
        self.assertEqual(talk('--deflate', f'ws://127.0.0.1:{port}/'), [*MESSAGES, '1000'])

    def test_tls(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.at('server.pem'), tls.at('server.key'))
        url = f'wss://localhost:{self.serve_theirs(ssl=context)}/'
        self.assertEqual(talk('--ca', tls.at('ca.pem'), '--deflate', url), [*MESSAGES, '1000'])
        self.assertRegex(talk(url)[0], '^-126 ')
