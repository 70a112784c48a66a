"""An issuer that does at random whatever issuers can do (it goes away, comes back with other keys, hangs, sends garbage), and
clients with tokens good and bad who send halves and go. Whatever is answered meanwhile is right, and at the end the server is
as it was."""
import collections
import contextlib
import os
import random
import shutil
import tempfile
import threading
import time

from issuers import KEYS, METADATA, FakeIssuer, Mint
from tokens import encode, signed
from wire import Lost, Server, request

AUDIENCE = 'https://api.example'
CONFIG = """[server]
workers = 2
drain_timeout_ms = 3000
[bearer]
cache_max = 256
audiences = "https://api.example"
[oauth.client]
timeout_secs = 1
refresh_cooldown_secs = 1
max_key_age_secs = 1
"""
LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

# Names of keys that the server has for sure, and of those that it has no more; whether it had any yet. No name comes back.
Known = collections.namedtuple('Known', 'granted revoked loaded')


class Wrong(Exception):
    """What the server should not have done."""


class World:
    """What is true of an issuer's keys, and tokens by them."""

    def __init__(self, mint, issuer):
        self.mint, self.issuer, self.lock = mint, issuer, threading.Lock()
        self.known = Known(frozenset(), frozenset(), False)
        self.kids, self.made, self.answers = {}, 0, collections.Counter()
        self.kept = collections.defaultdict(list)   # good tokens by name
        for name in ('stranger', 'never'):
            mint.ed(name)

    def make(self, chance):
        """A key that nobody knows yet; its kid may be that of one that is gone."""
        with self.lock:
            self.made += 1
            name = f'key{self.made}'
            public = self.mint.ed(name)
        gone = [kid for old, kid in self.kids.items() if old in self.known.revoked]
        used = {self.kids[old] for old in self.known.granted}
        free = [kid for kid in gone if kid not in used]
        self.kids[name] = chance.choice(free) if free and chance.random() < 0.3 else name
        return name, {**public, 'kid': self.kids[name]}

    def token(self, by, kid=None, header=None, **more):
        with self.lock:
            self.made += 1
            claims = {'iss': self.issuer.url, 'aud': AUDIENCE, 'exp': int(time.time()) + 600, 'jti': f'{self.made}', 'scope': 'read', **more}
            return self.mint.sign(by, claims, {'alg': 'EdDSA', 'kid': kid or self.kids.get(by, by), **(header or {})}), claims

    def good(self, chance, by):
        """A token by that key, which the server may have seen before."""
        kept = self.kept[by]
        if kept and chance.random() < 0.9 - 0.4 / len(kept):
            return chance.choice(kept)
        made = self.token(by)
        if len(kept) < 20:
            kept.append(made)
        return made

    # ---- what is asked, and which answers are right: a function of what was known before and after

    def ask(self, chance):
        """A request. Return: its text, whether it is HEAD, and who judges: he says which statuses are right."""
        by, kind = self.choose(chance)
        return getattr(self, f'ask_{kind}')(chance, by)

    def choose(self, chance):
        known = self.known
        if known.revoked and chance.random() < 0.15:
            return chance.choice(sorted(known.revoked)), 'as_it_is'
        names = sorted(set(self.kids) - known.revoked) or ['never']
        return chance.choice(names), chance.choice(('as_it_is',) * 8 + ('head', 'beyond', 'odd', 'odd', 'spoilt', 'nothing', 'hello'))

    @staticmethod
    def with_token(path, token, *fields, method='GET'):
        return request(method, path, f'authorization: Bearer {token}', *fields)

    def judge(self, by, status):
        """The token is good where its key is."""
        def right(before, after):
            if by in before.granted & after.granted:
                return {status}
            if by in before.revoked:
                return {401}
            return {status, 401} if before.loaded else {status, 401, 503}
        return right

    @staticmethod
    def never_good(before, _):
        return {401} if before.loaded else {401, 503}

    def ask_as_it_is(self, chance, by):
        token, claims = self.good(chance, by)
        path = chance.choice(('/me', '/me', '/read'))
        return self.with_token(path, token), False, self.judge(by, 200), claims if path == '/me' else None

    def ask_head(self, chance, by):
        return self.with_token('/me', self.good(chance, by)[0], method='HEAD'), True, self.judge(by, 200), None

    def ask_beyond(self, chance, by):
        return self.with_token('/admin', self.good(chance, by)[0]), False, self.judge(by, 403), None

    def ask_odd(self, chance, by):
        now, kid = int(time.time()), self.kids.get(by, by)
        token = chance.choice((
            lambda: self.token(by, exp=now - 61), lambda: self.token(by, nbf=now + 90), lambda: self.token(by, iss='https://issuer.example'),
            lambda: self.token(by, aud='x'), lambda: self.token(by, header={'crit': ['exp'], 'exp': 1}), lambda: self.token(by, exp='soon'),
            lambda: self.token('stranger', kid=kid), lambda: self.token('never'), lambda: self.token(by, x='y' * 9000),
            lambda: (signed(header={'kid': kid}), None), lambda: (signed(header={'alg': 'none', 'kid': kid}), None)))()[0]
        return self.with_token(chance.choice(('/me', '/read', '/admin')), token), False, self.never_good, None

    def ask_spoilt(self, chance, by):
        token = self.good(chance, by)[0]
        at = chance.randrange(len(token))
        other = chance.choice([letter for letter in LETTERS + '.' if letter != token[at]])
        token = chance.choice((token[:at] or 'x', token[:at] + other + token[at + 1:], token + other, encode(chance.randbytes(chance.randrange(1, 99)))))
        return self.with_token('/me', token), False, self.never_good, None

    def ask_nothing(self, chance, by):
        token = self.good(chance, by)[0]
        fields, status = chance.choice((((), 401), (('authorization: Basic YTpi',), 401), (('authorization: Bearer',), 400),
                                        ((f'authorization: Bearer {token}', f'authorization: Bearer {token}'), 400)))
        return request('GET', '/me', *fields), False, lambda *_: {status}, None

    def ask_hello(self, chance, by):
        return self.with_token('/hello', self.good(chance, by)[0]), False, lambda *_: {200}, None


class Clients:
    """So many, each with a connection at a time. `excuse`: statuses that are right as well; `may_lose`: and so are lost connections."""

    def __init__(self, world, server, seed, count, excuse, may_lose):
        self.world, self.server, self.excuse, self.may_lose = world, server, excuse, may_lose
        self.wrong, self.is_over = [], False
        self.threads = [threading.Thread(target=self.run, args=(random.Random(f'{seed} client {i}'),)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()

    def run(self, chance):
        while not self.is_over and not self.wrong:
            try:
                with self.server.connect(timeout=30) as wire:
                    while not self.is_over and chance.random() < 0.9 and self.talk(wire, chance):
                        pass
            except (Lost, OSError) as error:
                if not self.may_lose:
                    self.wrong.append(f'a connection is lost: {error!r}')
            except Exception as error:   # noqa: B902
                self.wrong.append(f'{error!r}')

    def talk(self, wire, chance):
        """Return: whether the connection goes on."""
        before = self.world.known
        asked = [self.world.ask(chance) for _ in range(chance.choice((1, 1, 1, 2, 8)))]
        text = b''.join(each[0] for each in asked)
        act = chance.random()
        if act < 0.1:
            # Half of it, or all and no ears; half an upload, guarded or not.
            upload = request(chance.choice(('GET', 'PUT')), chance.choice(('/me', '/files/x', '/echo')), *text.decode().split('\r\n')[2:3],
                             'content-length: 100000')
            half = chance.choice((text[:chance.randrange(len(text))], text, upload + bytes(chance.randrange(90000))))
            wire.try_send(half)
            wire.is_open(chance.choice((0, 0, 0.05)))
            if chance.random() < 0.5:
                wire.reset()
            return False
        if act < 0.3:
            at = chance.randrange(len(text))
            wire.send(text[:at])
            wire.send(text[at:])
        else:
            wire.send(text)
        return all([self.hear(wire, before, each) for each in asked])

    def hear(self, wire, before, asked):
        text, is_head, judge, claims = asked
        response = wire.read(is_head)
        right = judge(before, self.world.known)
        self.world.answers[response.status] += 1
        if response.status in self.excuse:
            return not response.closes
        if response.status not in right:
            raise Wrong(f'{response.status} instead of {right}:\n{text.decode()}\n{response}')
        says = response.header('www-authenticate') or ''
        good = {200: not says, 403: 'insufficient_scope' in says, 400: 'invalid_request' in says, 401: says.startswith('Bearer'),
                503: not says and response.header('retry-after') == '1'}[response.status]
        if not good or (claims and response.status == 200 and response.json() != claims):
            raise Wrong(f'{response}\nto\n{text.decode()}')
        if b' /hello ' not in text and response.header('cache-control') != 'no-store':
            raise Wrong(f'it may be cached: {response}')
        return not response.closes


class Babbler:
    """Who listens where the issuer was: he sends something that is no answer, and hangs up."""

    def __init__(self, issuer, chance):
        self.listener, self.chance = issuer.place.listen(), chance
        self.listener.settimeout(0.02)
        self.is_over = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over:
            with contextlib.suppress(OSError):
                with self.listener.accept()[0] as connection:
                    connection.sendall(self.chance.choice((b'', b'HTTP/1.1 200 OK\r\n', b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{', b'\0' * 70000,
                                                           b'HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n')))

    def close(self):
        self.is_over = True
        self.thread.join()
        self.listener.close()


class Fate:
    """What becomes of the issuer, bit by bit."""

    def __init__(self, world, server, seed, crowd):
        self.world, self.issuer, self.server, self.crowd = world, world.issuer, server, crowd
        self.chance = random.Random(f'{seed} fate')
        self.published = {}

    def bad(self):
        """One of the ways to be bad. Return: a function that ends it."""
        issuer, good = self.issuer, dict(self.issuer.answers)

        def away(then=None):
            issuer.end()
            return (lambda: (then.close(), issuer.begin())) if then else issuer.begin

        def babble():
            issuer.end()
            return away(Babbler(issuer, self.chance))

        def silent():
            issuer.end()
            return away(issuer.place.listen())

        def hang():
            issuer.hold()
            return issuer.let_go

        def garbage():
            page, secret = good[METADATA], {'kty': 'oct', 'kid': 'a', 'k': 'A' * 43}
            issuer.answers = self.chance.choice((
                {}, {**good, METADATA: b'<html>'}, {**good, METADATA: {**page, 'issuer': issuer.url + '/'}}, {METADATA: page},
                {**good, METADATA: {**page, 'jwks_uri': 'file:///etc/passwd'}}, {**good, KEYS: b''}, {**good, KEYS: {'keys': []}},
                {**good, KEYS: {'keys': [secret]}}, {**good, KEYS: b'{"keys":[' * 9999}, {**good, KEYS: b' ' * (1 << 20) + b'{}'},
                {**good, KEYS: b'{"keys":[' + b'{},' * 99999 + b'{}]}'}))

            def repent():
                issuer.answers = {**good, KEYS: {'keys': list(self.published.values())}}
            return repent
        return self.chance.choice((away, babble, silent, hang, garbage))()

    def publish(self):
        """Another set of keys: a new one, and some of the old ones."""
        world = self.world
        name, public = world.make(self.chance)
        keep = {old: key for old, key in self.published.items() if self.chance.random() < 0.6 and key['kid'] != public['kid']}
        world.known = world.known._replace(granted=world.known.granted & set(keep))
        self.published = {**dict(list(keep.items())[-6:]), name: public}
        world.known = world.known._replace(granted=world.known.granted & set(self.published))
        return name

    def confirm(self, name):
        """Once the new key is known, those that were left out are not."""
        token = self.world.token(name)[0]
        until = time.monotonic() + 30
        while not self.takes(token) and not self.crowd.wrong:
            if time.monotonic() > until:
                raise Wrong(f'the keys are not fetched again:\n{self.server.log[-2000:]}')
            time.sleep(0.02)
        gone = set(self.world.kids) - set(self.published)
        self.world.known = Known(frozenset(self.published), frozenset(gone), True)

    def takes(self, token):
        try:
            return self.server.get('/me', f'authorization: Bearer {token}').status == 200
        except (Lost, OSError):
            return False

    def begin(self):
        """Clients come, and there are no keys yet: they are put off."""
        while not self.world.answers[503] and not self.crowd.wrong:
            time.sleep(0.01)
        self.issuer.begin()
        self.act()

    def act(self):
        """Bad for a while, perhaps; then other keys, and all is well."""
        end = self.bad() if self.chance.random() < 0.7 else None
        if end:
            time.sleep(self.chance.uniform(0.1, 1.5))
        name = self.publish()
        if end:
            end()
        self.issuer.publish(*self.published.values())
        self.confirm(name)


def descriptors(server, start):
    """How many are left. A loop keeps /dev/null beside its pipes, once it has thrown away what it had in one."""
    until = time.monotonic() + 15
    while (left := server.held() - start - 2) > 0 and time.monotonic() < until:
        time.sleep(0.05)
    return left


def run(seconds, seed, clients=8, excuse=(), env=None, look=None):
    """Return: what is wrong; empty for nothing. `excuse`: statuses that are right as well, where calls fail in the server;
    `look(server, world)` is called once a while."""
    with contextlib.ExitStack() as stack:
        folder = tempfile.mkdtemp(prefix='eddy-e2e-')
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, 'app.toml')
        with open(path, 'w') as file:
            file.write(CONFIG)
        mint = stack.enter_context(contextlib.closing(Mint()))
        issuer = stack.enter_context(contextlib.closing(FakeIssuer()))
        server = Server('--issuer', issuer.url, '--http-issuer', '--dir', folder, '--config', path, program='tour', env=env, start=False)
        stack.callback(server.kill)
        try:
            server.port = int(server.wait_for(r'Listening on .*:(\d+)')[1])
            return live(server, World(mint, issuer), seconds, seed, clients, excuse, look)
        except AssertionError:
            # Where calls fail those of the start may.
            if excuse and not server.port and server.process.wait(10) == 1:
                return ''
            raise
        except Wrong as wrong:
            return str(wrong)


def live(server, world, seconds, seed, clients, excuse, look):
    start, until = server.held(), time.monotonic() + seconds
    crowd = Clients(world, server, seed, clients, excuse, may_lose=bool(excuse))
    fate = Fate(world, server, seed, crowd)
    try:
        fate.begin()
        while time.monotonic() < until and not crowd.wrong:
            fate.act()
            if look:
                look(server, world)
    finally:
        crowd.stop()
    if crowd.wrong:
        return f'{crowd.wrong[0]}\n{server.log[-3000:]}'
    if (left := descriptors(server, start)) > 0:
        return f'{left} descriptors are left:\n{server.log[-3000:]}'
    # One that ends while it is busy, and its issuer hangs.
    world.issuer.hold()
    crowd = Clients(world, server, f'{seed} end', clients, excuse, may_lose=True)
    time.sleep(0.3)
    try:
        server.stop()
    finally:
        crowd.stop()
    return crowd.wrong[0] if crowd.wrong else ''
