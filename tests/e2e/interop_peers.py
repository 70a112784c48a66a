"""Other TLS libraries in both roles: OpenSSL, GnuTLS and NSS by their C interfaces, Go, Java and Node by the tunnels in interop/.

Each peer is a client of `secure` and a server for `fetch`, in both versions, with each suite and each kind of key: an upload and a
download, then a session that is resumed. A relay between the two has the records as they pass: they show who said goodbye, and
KeyUpdates. EDDY_INTEROP_TABLE is a file that gets the table of results.
"""
# needs: default-jdk-headless golang-go npm openssl
import collections
import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import unittest

import libgnutls
import libnss
import libssl
import tls
from libssl import SUITES, V12, V13, Peer
from tls import TlsCase, at, openssl
from wire import MIB, PROGRAMS, Lost, pattern, request

PROGRAMS_OF_PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'interop')
VERSIONS = {'TLSv1.2': V12, 'TLSv1.3': V13}
CERTS = {'P-256': 'server', 'P-384': 'p384', 'RSA-2048': 'rsa'}
ALERT, DATA_RECORD = 21, 23
GOODBYE, UPDATE, PADDING = 2 + 17, 5 + 17, 16      # bytes of their records in TLS 1.3; Java adds padding
SECONDS = 30
DATA = pattern(2 * MIB + 1234).replace(b'\0', b'\1')
JAVA_BYTES = 1 << 18     # after which Java sends a KeyUpdate
RESULTS = collections.defaultdict(collections.Counter)


def suite_name(version, suite, key):
    return f'TLS_{suite}' if version == 'TLSv1.3' else f'TLS_ECDHE_{"RSA" if "RSA" in key else "ECDSA"}_WITH_{suite}'


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Relay:
    """Passes on connections to a port. `flows` has what each client and each server have sent."""

    def __init__(self, target):
        self.target, self.flows, self.threads, self.sockets = target, [], [], []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection(('127.0.0.1', self.target))
                flow = bytearray(), bytearray()
                self.flows.append(flow)
                self.sockets += near, far
                for i, (source, target) in enumerate(((near, far), (far, near))):
                    source.settimeout(SECONDS)
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    thread = threading.Thread(target=self.pump, args=(source, target, flow[i]))
                    thread.start()
                    self.threads.append(thread)

    @staticmethod
    def pump(source, target, seen):
        with contextlib.suppress(OSError):
            while data := source.recv(MIB):
                seen += data
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def end(self):
        """The types and lengths of the records of all connections: of the client and of the server."""
        self.listener.shutdown(socket.SHUT_RDWR)
        for thread in (self.thread, *self.threads):
            thread.join(SECONDS)
        for sock in (self.listener, *self.sockets):
            sock.close()
        return [tuple(map(records, flow)) for flow in self.flows]


def records(data):
    found, start = [], 0
    while start + 5 <= len(data):
        found.append((data[start], data[start + 3] << 8 | data[start + 4]))
        start += 5 + found[-1][1]
    return found


def is_goodbye(version, record):
    return record[0] == ALERT if version == 'TLSv1.2' else record in ((DATA_RECORD, GOODBYE), (DATA_RECORD, GOODBYE + PADDING))


class Library:
    """A peer in this process, in a role with one version, one suite and one certificate."""

    def __init__(self, module, role, version, suite, key, port=None):
        self.module, self.ticket, self.target = module, None, port
        self.context = module.Context(VERSIONS[version], suite, cert=CERTS[key] if role == 'server' else None)
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]

    def session(self, sock, ticket=None):
        sock.settimeout(SECONDS)
        return Peer(self.module.Session(self.context, sock, ticket))

    def dial(self):
        return self.session(socket.create_connection(('127.0.0.1', self.target)), self.ticket)

    def accept(self):
        return self.session(self.listener.accept()[0])

    def remember(self, peer):
        self.ticket = peer.socket.ticket

    def close(self):
        self.listener.close()


class Plain:
    """What a tunnel has of a session, and says of it."""

    def __init__(self, sock, facts):
        self.socket = sock
        self.version, self.suite, resumed, *alpn = facts.split(' ')
        self.is_resumed, self.alpn = resumed == 'true', ''.join(alpn) or None
        self.recv, self.sendall, self.close = sock.recv, sock.sendall, sock.close

    def end(self):
        self.socket.shutdown(socket.SHUT_WR)


class Tunnel(Library):
    """A peer that is a program, and remembers sessions itself."""
    ticket = None

    def __init__(self, command, role, version, suite, key, port=None):
        self.listener = socket.create_server(('127.0.0.1', 0))
        args = command(role, version, suite, key)
        args[-3:-3] = [role, str(port or self.listener.getsockname()[1]), version]
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def session(self, sock, _ticket=None):
        sock.settimeout(SECONDS)
        facts = self.process.stdout.readline().rstrip('\n')
        if not facts or facts.startswith('failed'):
            raise Lost(facts)
        return Peer(Plain(sock, facts))

    @property
    def target(self):
        return self.port

    def remember(self, _peer):
        pass

    def close(self):
        super().close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def go(role, version, suite, key):
    name = suite_name(version, suite, key)
    return [at('tunnel-go'), name, at(f'{CERTS[key]}.pem') if role == 'server' else at('ca.pem'), at(f'{CERTS[key]}.key')]


def node(role, version, suite, key):
    name = suite_name(version, suite, key) if version == 'TLSv1.3' else f'ECDHE-{"RSA" if "RSA" in key else "ECDSA"}-{SUITES[suite]}'
    return [NODE, os.path.join(PROGRAMS_OF_PEERS, 'tunnel.mjs'), name, *go(role, version, suite, key)[2:]]


def java(role, version, suite, key, limit=0):
    return ['java', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-cp', tls.CERTS, 'Tunnel', suite_name(version, suite, key),
            at(f'{CERTS[key]}.p12') if role == 'server' else at('ca.pem'), str(limit)]


def java_that_updates(*args):
    return java(*args, limit=JAVA_BYTES)


NODE = os.environ.get('EDDY_NODE') or shutil.which('node')


def needs(*commands):
    for command in commands:
        if not command or not shutil.which(command):
            raise unittest.SkipTest(f'needs {command or "node"}')


def run(*command, env=None):
    return subprocess.run(command, check=True, env={**os.environ, **(env or {})}, capture_output=True, text=True).stdout


class Shakes:
    """What each peer is asked to do. Its `kind` and `args` make it, `name` is for the table."""
    kind, picks_suites, why_no_updates, update_size = Library, True, None, UPDATE
    has_ids = True      # as a server of TLS 1.2 it resumes sessions by their ids: our client offers no tickets there

    @classmethod
    def setUpClass(cls):
        cls.name = cls.prepare()

    def begin(self, *args, using=None):
        peer = self.kind(using or self.using, *args)
        self.addCleanup(peer.close)
        return peer

    def relay(self, port):
        relay = Relay(port)
        self.addCleanup(lambda: relay.thread.is_alive() and relay.end())
        return relay

    def each(self, role, check, versions=VERSIONS, keys=CERTS, column=None):
        """Check each suite with each key; a line of the table counts what is done."""
        for version in versions:
            for suite in SUITES:
                for key in keys:
                    with self.subTest(self.name, role=role, version=version, suite=suite, key=key):
                        if version == 'TLSv1.3' and not self.picks_suites and suite != next(iter(SUITES)):
                            self.skipTest(f'{self.name} lets nobody choose the suites of TLS 1.3')
                        self.count(role, column or version, 'tried')
                        check(version, suite, key)
                        self.count(role, column or version)

    def count(self, role, *what):
        RESULTS[self.name, role][what] += 1

    def assertAgreed(self, peer, role, version, suite, resumed):
        session = peer.socket
        self.assertEqual(session.version, version)
        if version == 'TLSv1.2' or self.picks_suites:
            self.assertIn(suite, session.suite.replace('ECDHE_ECDSA_AES', 'ECDHE_ECDSA_WITH_AES'))
        self.assertEqual(session.is_resumed, resumed, 'is the session resumed?')
        if resumed:
            self.count(role, 'resumed')
        if session.alpn:
            self.assertEqual(session.alpn, 'http/1.1')
            self.count(role, 'ALPN')

    def assertGoodbyes(self, relay, role, version):
        flows = relay.end()
        for flow in flows:
            for side, found in zip(('client', 'server'), flow, strict=True):
                self.assertTrue(is_goodbye(version, found[-1]), f'the {side} says no goodbye, but {found[-3:]}')
            self.count(role, 'close_notify')
        return flows

    def finish(self, peer):
        """Who has heard a goodbye says one, as far as the other side still listens."""
        self.assertEqual(peer.read_end(), b'')
        with contextlib.suppress(OSError, Lost, libssl.Refused):
            peer.socket.end()
        peer.close()

    def exchange(self, peer, server, updates=()):
        """An upload and a download, with KeyUpdates before each and in the middle: those that ask for ours, and those that don't."""
        name = f'f{len(os.listdir(server.dir))}'
        for ask in updates:
            peer.socket.update_keys(ask)
        peer.send(request('PUT', f'/files/{name}', f'Content-Length: {len(DATA)}'))
        peer.send(DATA[:MIB])
        for ask in updates:
            peer.socket.update_keys(ask)
        peer.send(DATA[MIB:])
        self.assertIn(peer.read().status, (200, 201))
        with open(os.path.join(server.dir, name), 'rb') as file:
            self.assertEqual(sha256(file.read()), sha256(DATA))
        peer.send(request('GET', f'/files/{name}'))
        for ask in updates:
            peer.socket.update_keys(ask)
        self.assertEqual(sha256(peer.read().body), sha256(DATA))
        os.unlink(os.path.join(server.dir, name))

    def test_as_client(self):
        servers = {}
        for key, cert in CERTS.items():
            servers[key] = self.secure(cert=cert)
            servers[key].dir = self.dir

        def check(version, suite, key):
            relay = self.relay(servers[key].port)
            client = self.begin('client', version, suite, key, relay.port)
            for resumed in (False, True):
                peer = client.dial()
                self.addCleanup(peer.close)
                answer = peer.ask(request('GET', '/'))
                self.assertAgreed(peer, 'client', version, suite, resumed)
                self.assertEqual(answer.header('x-version'), version)
                self.assertEqual(answer.header('x-resumed'), 'yes' if resumed else 'no')
                if version == 'TLSv1.2' or self.picks_suites:
                    self.assertEqual(answer.header('x-cipher'), suite_name(version, suite, key))
                if not resumed:
                    self.exchange(peer, servers[key])
                    client.remember(peer)
                    peer.socket.end()
                else:
                    peer.ask(request('GET', '/', 'Connection: close'))
                self.finish(peer)
            self.assertGoodbyes(relay, 'client', version)
        self.each('client', check)

    def fetch(self, relay, *args, urls=1):
        said = open(os.path.join(self.folder(), 'said'), 'w+b')
        self.addCleanup(said.close)
        process = subprocess.Popen([PROGRAMS['fetch'], '--ca', at('ca.pem'), *args, *[f'https://localhost:{relay.port}/'] * urls],
                                   stdout=said)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, said

    def assertSaid(self, fetched, body):
        process, said = fetched
        self.assertEqual(process.wait(SECONDS), 0)
        said.seek(0)
        text = said.read()
        self.assertEqual(sha256(text), sha256(body), text[:200])

    def test_as_server(self):
        path = os.path.join(self.folder(), 'f')
        with open(path, 'wb') as file:
            file.write(DATA)

        def check(version, suite, key):
            server = self.begin('server', version, suite, key)
            relay = self.relay(server.port)
            fetched = self.fetch(relay, '--put', path, urls=2)
            for resumed in (False, True):
                peer = server.accept()
                self.addCleanup(peer.close)
                peer.read_request()
                self.assertAgreed(peer, 'server', version, suite, resumed and (self.has_ids or version == 'TLSv1.3'))
                self.assertEqual(sha256(peer.take(len(DATA))), sha256(DATA))
                peer.answer(0, 'Connection: close')
                self.finish(peer)
            self.assertSaid(fetched, b'200 \n200 \n')
            fetched = self.fetch(relay)
            peer = server.accept()
            self.addCleanup(peer.close)
            peer.read_request()
            peer.answer(len(DATA), 'Connection: close')
            peer.send(DATA)
            self.finish(peer)
            self.assertSaid(fetched, b'200 ' + DATA + b'\n')
            self.assertGoodbyes(relay, 'server', version)
        self.each('server', check)

    def assertUpdates(self, flows, role, theirs, ours):
        """How many KeyUpdates have passed; None: any number, but one."""
        sides = flows[0] if role == 'client' else reversed(flows[0])
        found = [side.count((DATA_RECORD, size)) for side, size in zip(sides, (self.update_size, UPDATE), strict=True)]
        for count, want in zip(found, (theirs, ours), strict=True):
            self.assertTrue(count == want if want is not None else count > 1, f'{found} KeyUpdates of theirs and ours')

    def updating(self):
        if self.why_no_updates:
            self.skipTest(self.why_no_updates)
        return ((), None, None) if self.kind is Tunnel else ((False, True), 6, 3)

    def test_key_updates_as_client(self):
        updates, theirs, ours = self.updating()
        server = self.secure('--no_ktls')
        server.dir = self.dir

        def check(version, suite, key):
            relay = self.relay(server.port)
            peer = self.begin('client', version, suite, key, relay.port, using=self.using_updates()).dial()
            self.addCleanup(peer.close)
            self.exchange(peer, server, updates)
            peer.socket.end()
            self.finish(peer)
            self.assertUpdates(self.assertGoodbyes(relay, 'client', version), 'client', theirs, ours)
        self.each('client', check, ['TLSv1.3'], ['P-256'], 'KeyUpdate')

    def test_key_updates_as_server(self):
        """They come before a response and in the middle of its body."""
        updates, theirs, ours = self.updating()
        path = os.path.join(self.folder(), 'f')
        with open(path, 'wb') as file:
            file.write(DATA)

        def check(version, suite, key):
            server = self.begin('server', version, suite, key, using=self.using_updates())
            relay = self.relay(server.port)
            fetched = self.fetch(relay, urls=3)
            peer = server.accept()
            self.addCleanup(peer.close)
            for left in (2, 1, 0):
                peer.read_request()
                for ask in updates[:1] if left == 0 else updates:
                    peer.socket.update_keys(ask)
                peer.answer(len(DATA), *(() if left else ('Connection: close',)))
                peer.send(DATA[:MIB])
                if left == 2:
                    for ask in updates:
                        peer.socket.update_keys(ask)
                peer.send(DATA[MIB:])
            self.finish(peer)
            self.assertSaid(fetched, (b'200 ' + DATA + b'\n') * 3)
            self.assertUpdates(self.assertGoodbyes(relay, 'server', version), 'server', theirs and theirs + 1, ours)
        self.each('server', check, ['TLSv1.3'], ['P-256'], 'KeyUpdate')

    def using_updates(self):
        return self.using


class OpenSsl(Shakes, TlsCase):
    using = libssl

    @classmethod
    def prepare(cls):
        return ' '.join(openssl('version').split()[:2])


class GnuTls(Shakes, TlsCase):
    using, has_ids = libgnutls, False

    @classmethod
    def prepare(cls):
        return f'GnuTLS {libgnutls.version()}'


class Nss(Shakes, TlsCase):
    using = libnss

    @classmethod
    def prepare(cls):
        needs('certutil')
        return f'NSS {libnss.version()}'


class Go(Shakes, TlsCase):
    kind, using, picks_suites, has_ids = Tunnel, staticmethod(go), False, False
    why_no_updates = 'Go answers KeyUpdates and sends none of its own, as eddy does'

    @classmethod
    def prepare(cls):
        needs('go')
        run('go', 'build', '-o', at('tunnel-go'), os.path.join(PROGRAMS_OF_PEERS, 'tunnel.go'),
            env={'GO111MODULE': 'off', 'GOCACHE': at('go-cache')})
        return 'Go ' + run('go', 'env', 'GOVERSION').strip().removeprefix('go')


class Java(Shakes, TlsCase):
    kind, using, update_size = Tunnel, staticmethod(java), UPDATE + PADDING

    @classmethod
    def prepare(cls):
        needs('javac', 'java')
        run('javac', '-d', tls.CERTS, os.path.join(PROGRAMS_OF_PEERS, 'Tunnel.java'))
        for cert in CERTS.values():
            openssl('pkcs12', '-export', '-in', at(f'{cert}.pem'), '-inkey', at(f'{cert}.key'), '-out', at(f'{cert}.p12'), '-passout',
                    'pass:secret')
        return 'Java ' + run('java', '--version').split()[1]

    def using_updates(self):
        return java_that_updates


class Node(Shakes, TlsCase):
    kind, using, has_ids = Tunnel, staticmethod(node), False
    why_no_updates = 'Node has no call that sends a KeyUpdate'

    @classmethod
    def prepare(cls):
        needs(NODE)
        return 'Node ' + run(NODE, '--version').strip().removeprefix('v')


def cell(counts, column):
    if (column, 'tried') in counts:
        return f'{counts[column,]} of {counts[column, "tried"]}'
    return str(counts[column,] or '')


def table():
    """Rows of what was done by whom, in the role that it had."""
    columns = 'TLSv1.2', 'TLSv1.3', 'resumed', 'ALPN', 'close_notify', 'KeyUpdate'
    rows = [('peer', 'role', *columns)]
    rows += [(name, role, *(cell(counts, column) for column in columns)) for (name, role), counts in sorted(RESULTS.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ''.join('  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() + '\n' for row in rows)


def setUpModule():
    tls.setUpModule()


def tearDownModule():
    if path := os.environ.get('EDDY_INTEROP_TABLE'):
        with open(path, 'w') as file:
            file.write(table())
    print(table(), file=sys.stderr)
    tls.tearDownModule()
