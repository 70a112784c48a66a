"""Issuers for tests: real ones, which run in node, and one in threads of Python that does as it is told and counts."""
# needs: npm openssl
import collections
import contextlib
import http.server
import json
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse
import urllib.request

from wire import node

METADATA = '/.well-known/oauth-authorization-server'
OPENID = '/.well-known/openid-configuration'
KEYS = '/keys'


class Node:
    """A script that runs, takes lines and says some."""

    def __init__(self, script, *args):
        self.process = subprocess.Popen(node(script, *args), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def said(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError('the script has ended: it said why above')
        return line.rstrip('\n')

    def close(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()


class Mint(Node):
    """Keys, and tokens that jose signs with them."""

    def __init__(self):
        super().__init__('mint.mjs')
        self.known = {}

    def ask(self, **what):
        self.process.stdin.write(json.dumps(what) + '\n')
        self.process.stdin.flush()
        return json.loads(self.said())

    def key(self, name, kind, **options):
        """A public key, which has its name as kid; the pair is made when it is asked for first."""
        if name not in self.known:
            self.known[name] = {**self.ask(make=name, type=kind, **options), 'kid': name}
        return self.known[name]

    def ed(self, name):
        return self.key(name, 'ed25519')

    def sign(self, name, claims, header):
        return self.ask(sign=name, header=header, claims=claims)


class Place:
    """A port that is ours, whether somebody listens on it or not: nobody else can get it meanwhile."""

    def __init__(self):
        self.holder = socket.socket()
        self.holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.holder.bind(('127.0.0.1', 0))
        self.port = self.holder.getsockname()[1]

    def listen(self):
        """A listener that nobody looks after: it accepts, and says nothing."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(('127.0.0.1', self.port))
        listener.listen(64)
        return listener

    def close(self):
        self.holder.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def setup(self):
        super().setup()
        self.request.settimeout(20)

    def do_GET(self):
        issuer = self.server.issuer
        with issuer.changed:
            issuer.asked[self.path] += 1
            issuer.times.append(time.monotonic())
            issuer.changed.notify_all()
            issuer.changed.wait_for(lambda: not issuer.is_held, 20)
            answer = issuer.answers.get(self.path)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(404 if answer is None else 200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self):
        # Who asked has gone, or does not trust us.
        with contextlib.suppress(OSError):
            if self.server.issuer.context:
                self.request.do_handshake()
            super().handle()

    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    allow_reuse_port = True
    daemon_threads = True

    def get_request(self):
        connection, address = super().get_request()
        connection.settimeout(20)
        if self.issuer.context:
            connection = self.issuer.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address


class FakeIssuer:
    """An issuer with metadata and keys. It is up from begin() to end(), at the same port each time; `asked` counts the
    requests by path, `times` says when each came. It speaks TLS with a certificate and key."""

    def __init__(self, *keys, cert=None):
        self.context = None
        if cert:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*cert)
        self.place, self.listener = Place(), None
        self.url = f'https://localhost:{self.place.port}' if cert else f'http://127.0.0.1:{self.place.port}'
        self.asked, self.times, self.changed = collections.Counter(), [], threading.Condition()
        self.is_held = False
        self.answers = {METADATA: {'issuer': self.url, 'jwks_uri': self.url + KEYS}}
        self.publish(*keys)

    def publish(self, *keys):
        """Have these keys from now on."""
        self.answers[KEYS] = {'keys': keys}

    def begin(self):
        self.listener = Listener(('127.0.0.1', self.place.port), Handler, bind_and_activate=False)
        self.listener.issuer = self
        self.listener.server_bind()
        self.listener.server_activate()
        self.thread = threading.Thread(target=self.listener.serve_forever, args=(0.01,))
        self.thread.start()
        return self

    def end(self):
        if not self.listener:
            return
        self.listener.shutdown()
        self.listener.server_close()
        self.thread.join()
        self.listener = None

    def close(self):
        self.let_go()
        self.end()
        self.place.close()

    def hold(self):
        """Answer nothing until let_go()."""
        self.is_held = True

    def let_go(self):
        with self.changed:
            self.is_held = False
            self.changed.notify_all()

    def await_asked(self, count):
        with self.changed:
            if not self.changed.wait_for(lambda: self.asked.total() >= count, 20):
                raise AssertionError(f'asked only {self.asked}')


class RealIssuer(Node):
    """oidc-provider or oauth2-mock-server."""

    def __init__(self, kind, *args):
        super().__init__('issuer.mjs', kind, *args)
        self.url = self.said().removeprefix('at ')

    def token(self, **fields):
        """An access token for the client itself."""
        form = urllib.parse.urlencode({'grant_type': 'client_credentials', 'client_id': 'shop', 'client_secret': 'secret', **fields})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.url + '/token', form.encode(), timeout=20) as answer:
            return json.load(answer)['access_token']
