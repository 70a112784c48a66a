"""The keys of an issuer, over the wire: how they come, go and serve on, with issuers of others and one that does as it is told.
What its tokens may look like is test_tokens.py."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import tls
from issuers import KEYS, METADATA, OPENID, FakeIssuer, Mint, Place, RealIssuer
from wire import Case, Server, node, request

MINT = None
AUDIENCE = 'https://api.example'
UNKNOWN = 'Bearer error="invalid_token", error_description="unknown key"'
BAD = 'Bearer error="invalid_token", error_description="bad signature"'


def setUpModule():
    global MINT
    MINT = Mint()
    unittest.addModuleCleanup(MINT.close)


class IssuerCase(Case):
    def issuer(self, *keys, begin=True, **options):
        issuer = FakeIssuer(*keys, **options)
        self.addCleanup(issuer.close)
        return issuer.begin() if begin else issuer

    def tour(self, issuer, *args, **options):
        return self.serve('--issuer', issuer.url, '--http-issuer', *args, program='tour', **options)

    def file(self, text):
        path = os.path.join(self.folder(), 'app.toml')
        with open(path, 'w') as file:
            file.write(text)
        return path

    def token(self, issuer, by, **more):
        """One that no loop has seen before."""
        claims = {'iss': issuer.url, 'exp': int(time.time()) + 600, 'jti': str(time.monotonic_ns()), **more}
        return MINT.sign(by, claims, {'alg': 'EdDSA', 'kid': by})

    def ask(self, server, token, path='/me'):
        return server.get(path, f'authorization: Bearer {token}')

    def comes_in(self, server, token):
        response = self.ask(server, token)
        self.assertEqual((response.status, response.header('www-authenticate')), (200, None), f'{response}\n{server.log}')

    def refused(self, server, token, challenge=UNKNOWN):
        response = self.ask(server, token)
        self.assertEqual((response.status, response.header('www-authenticate')), (401, challenge), server.log)

    def put_off(self, server, token):
        """The issuer is to blame."""
        response = self.ask(server, token)
        self.assertProblem(response, 503, "the issuer's keys could not be loaded")
        self.assertEqual(response.header('retry-after'), '1')
        self.assertEqual(response.header('cache-control'), 'no-store')
        self.assertIsNone(response.header('www-authenticate'))

    def takes(self, server, token):
        return self.ask(server, token).status == 200


class States(IssuerCase):
    def test_nobody_is_asked_without_need(self):
        issuer = self.issuer(MINT.ed('a'))
        server = self.tour(issuer)
        self.assertEqual(server.get('/hello').status, 200)
        self.assertEqual(server.get('/me').status, 401)
        self.assertEqual(self.ask(server, 'abc').status, 401)
        self.assertEqual(issuer.asked, {})
        self.comes_in(server, self.token(issuer, 'a'))
        self.comes_in(server, self.token(issuer, 'a'))
        self.assertEqual(issuer.asked, {METADATA: 1, KEYS: 1})

    def test_down_before_the_first_load(self):
        issuer = self.issuer(MINT.ed('a'), begin=False)
        server = self.tour(issuer)
        token = self.token(issuer, 'a')
        self.put_off(server, token)
        self.put_off(server, self.token(issuer, 'a', exp=1))
        self.assertEqual(self.ask(server, 'abc').status, 401)
        self.assertEqual(server.get('/hello').status, 200)
        # Said once, and what to do about it.
        server.wait_for(rf'WARN eddy::auth: The keys of {issuer.url} can\'t be fetched: .*Connection refused.* respond with 503 .*check that')
        self.assertEqual(server.log.count('WARN'), 1)
        issuer.begin()
        self.comes_in(server, token)
        server.wait_for(rf'INFO eddy::auth: The keys of {issuer.url} can be fetched again')

    def test_what_is_no_issuer(self):
        """Each is asked for anew by the next request, and what comes is as good as nothing."""
        issuer = self.issuer(MINT.ed('a'))
        server = self.tour(issuer)
        token = self.token(issuer, 'a')
        good = dict(issuer.answers)
        secret = {'kty': 'oct', 'kid': 'a', 'k': 'A' * 43}
        for answers in (
                {}, {METADATA: b'<html>'}, {METADATA: {**good[METADATA], 'issuer': issuer.url + '/'}}, {METADATA: {'issuer': issuer.url}},
                {METADATA: {**good[METADATA], 'jwks_uri': 'file:///etc/passwd'}}, {METADATA: good[METADATA]}, {KEYS: good[KEYS]},
                {**good, KEYS: {'keys': []}}, {**good, KEYS: b''}, {**good, KEYS: b'{"keys":[' * 9999}, {**good, KEYS: {'keys': [secret]}},
                {**good, KEYS: b' ' * (1 << 20) + b'{}'}):
            issuer.answers = answers
            with self.subTest(str(answers)[:100]):
                self.put_off(server, token)
        issuer.answers = good
        self.comes_in(server, token)

    def test_openid_alone(self):
        """Its path is where OpenID says, behind the issuer's."""
        issuer = self.issuer(MINT.ed('a'))
        issuer.answers['/t' + OPENID] = {**issuer.answers.pop(METADATA), 'issuer': issuer.url + '/t'}
        issuer.url += '/t'
        server = self.tour(issuer)
        self.comes_in(server, self.token(issuer, 'a'))
        self.assertEqual(issuer.asked, {METADATA + '/t': 1, '/t' + OPENID: 1, KEYS: 1})

    def test_down_afterwards(self):
        """The last set serves; one look at a time, and none before the cooldown is over; then it is well again."""
        issuer = self.issuer(MINT.ed('a'))
        server = self.tour(issuer, '--max-key-age', 1, '--refresh-cooldown', 1, '--workers', 2)
        self.comes_in(server, self.token(issuer, 'a'))
        issuer.end()

        def serves_on():
            self.comes_in(server, self.token(issuer, 'a'))
            return "can't be refreshed" in server.log
        self.eventually(serves_on)
        server.wait_for(r'WARN eddy::auth: .*The loaded keys stay in use')
        self.refused(server, self.token(issuer, 'b'))
        self.comes_in(server, self.token(issuer, 'a'))
        issuer.publish(MINT.ed('b'))
        issuer.begin()
        self.eventually(lambda: self.takes(server, self.token(issuer, 'b')))
        server.wait_for(r'INFO eddy::auth: .* can be fetched again')
        self.refused(server, self.token(issuer, 'a'))

    def test_left_alone_in_the_cooldown(self):
        issuer = self.issuer(MINT.ed('a'))
        server = self.tour(issuer)
        self.comes_in(server, self.token(issuer, 'a'))
        issuer.publish(MINT.ed('a'), MINT.ed('b'))
        for _ in range(10):
            self.refused(server, self.token(issuer, 'b'))
            self.comes_in(server, self.token(issuer, 'a'))
        self.assertEqual(issuer.asked, {METADATA: 1, KEYS: 1})

    def test_new_keys_are_fetched(self):
        """A token of theirs asks for them, as soon as the cooldown is over."""
        issuer = self.issuer(MINT.ed('a'))
        server = self.tour(issuer, '--refresh-cooldown', 1)
        old = self.token(issuer, 'a')
        self.comes_in(server, old)
        issuer.publish(MINT.ed('b'))
        new = self.token(issuer, 'b')
        self.eventually(lambda: self.takes(server, new))
        self.assertEqual(issuer.asked, {METADATA: 2, KEYS: 2})
        # Each load is two requests.
        self.assertGreaterEqual(issuer.times[2] - issuer.times[1], 1)
        self.refused(server, old)

    def test_garbage_replaces_nothing(self):
        issuer = self.issuer(MINT.ed('a'))
        server = self.tour(issuer, '--refresh-cooldown', 1)
        self.comes_in(server, self.token(issuer, 'a'))
        for count, answer in enumerate((b'<html>', {'keys': []}), 2):
            issuer.answers[KEYS] = answer
            unknown = self.token(issuer, 'b')

            def is_asked(count=count, unknown=unknown):
                self.refused(server, unknown)
                return issuer.asked[KEYS] == count
            self.eventually(is_asked)
            self.comes_in(server, self.token(issuer, 'a'))

    def test_revoked_keys_stop(self):
        """At the age that keys may have, whatever the cooldown, and also for tokens that are known."""
        issuer = self.issuer(MINT.ed('a'), MINT.ed('b'), MINT.ed('c'))
        server = self.tour(issuer, '--max-key-age', 1, '--workers', 2)
        revoked, other, kept = (self.token(issuer, by) for by in 'abc')
        for token in (revoked, other, kept):
            self.comes_in(server, token)
        issuer.publish({**MINT.ed('other'), 'kid': 'b'}, MINT.ed('c'))
        self.eventually(lambda: not self.takes(server, revoked))
        self.refused(server, revoked)
        self.refused(server, other, BAD)
        for _ in range(4):
            self.comes_in(server, kept)
        self.assertGreaterEqual(issuer.times[2] - issuer.times[1], 1)

    def in_flight(self, server):
        """Requests that are being answered, but for the one that asks."""
        metrics = server.get('/metrics').body.decode()
        return int(re.search(r'^eddy_http_requests_in_flight (\d+)', metrics, re.M)[1]) - 1

    def test_one_fetch_for_all(self):
        """A hundred at once on two loops, for the first keys and then for newer ones."""
        issuer = self.issuer(MINT.ed('a'))
        server = self.tour(issuer, '--workers', 2, '--refresh-cooldown', 1)

        def all_at_once(by, asked):
            issuer.hold()
            wires = [server.connect() for _ in range(100)]
            for wire in wires:
                wire.send(request('GET', '/me', f'authorization: Bearer {self.token(issuer, by)}'))
            self.eventually(lambda: self.in_flight(server) >= 100)
            issuer.let_go()
            self.assertEqual({wire.read().status for wire in wires}, {200})
            for wire in wires:
                wire.close()
            self.assertEqual(issuer.asked, {METADATA: asked, KEYS: asked})
        all_at_once('a', 1)
        issuer.publish(MINT.ed('b'))
        # Who asks before the cooldown is over would be the one who is fetched for, and begin another one.
        cooled = time.monotonic() + 1
        self.eventually(lambda: time.monotonic() > cooled)
        all_at_once('b', 2)

    def test_hung(self):
        """It accepts, and says nothing: who needs it waits for no longer than he is to, and nobody else waits."""
        issuer = self.issuer(MINT.ed('a'), begin=False)
        hung = issuer.place.listen()
        hung.settimeout(20)
        path = self.file('[oauth.client]\ntimeout_secs = 1\nmax_key_age_secs = 1\n')
        server = self.tour(issuer, '--config', path)
        start = time.monotonic()
        wires = [server.connect() for _ in range(5)]
        for wire in wires:
            wire.send(request('GET', '/me', f'authorization: Bearer {self.token(issuer, "a")}'))
        connections = [hung.accept()[0]]
        for _ in range(5):
            self.assertEqual(server.get('/hello').status, 200)
        if time.monotonic() - start < 0.5:
            self.assertTrue(all(wire.is_open(0) for wire in wires))
        for wire in wires:
            self.assertProblem(wire.read(), 503)
            wire.close()
        # The default is five.
        self.assertLess(time.monotonic() - start, 4)
        server.wait_for(r'it did not respond within 1000 ms')
        hung.close()
        issuer.begin()
        token = self.token(issuer, 'a')
        self.comes_in(server, token)

        # Once more when there are keys: it is looked at once, and the keys serve.
        issuer.end()
        hung = issuer.place.listen()
        hung.settimeout(0)

        def is_looked_at():
            start = time.monotonic()
            self.comes_in(server, token)
            self.assertLess(time.monotonic() - start, 4)
            return "can't be refreshed" in server.log
        self.eventually(is_looked_at, 10)
        for _ in range(5):
            self.comes_in(server, token)
        connections.append(hung.accept()[0])
        with self.assertRaises(BlockingIOError):
            hung.accept()
        for each in (hung, *connections):
            each.close()

    def test_who_waits_may_leave(self):
        """The fetch goes on for the others."""
        issuer = self.issuer(MINT.ed('a'))
        issuer.hold()
        server = self.tour(issuer)
        asked = request('GET', '/me', f'authorization: Bearer {self.token(issuer, "a")}')
        gone, stays = server.connect(), server.connect()
        gone.send(asked)
        issuer.await_asked(1)
        stays.send(asked)
        gone.reset()
        issuer.let_go()
        self.assertEqual(stays.read().status, 200)
        stays.close()
        self.assertEqual(issuer.asked, {METADATA: 1, KEYS: 1})

    def test_ends_while_it_fetches(self):
        """Who was there before the end was asked for is still let in."""
        issuer = self.issuer(MINT.ed('a'))
        issuer.hold()
        server = self.tour(issuer, log='info,eddy::app=trace')
        with server.connect() as wire:
            wire.send(request('GET', '/me', f'authorization: Bearer {self.token(issuer, "a")}'))
            issuer.await_asked(1)
            server.process.terminate()
            server.wait_for('Shutdown signal received')
            issuer.let_go()
            self.assertEqual(wire.read().status, 200)
        self.assertEqual(server.wait(), 0)


class Secure(IssuerCase):
    @classmethod
    def setUpClass(cls):
        tls.CERTS = tempfile.mkdtemp(prefix='eddy-certs-')
        cls.addClassCleanup(shutil.rmtree, tls.CERTS, ignore_errors=True)
        tls.make('ca', '/CN=Test CA')
        tls.make('foreign', '/CN=Foreign CA')
        tls.make('server', '/CN=localhost', 'DNS:localhost', ca='ca')
        tls.make('elsewhere', '/CN=elsewhere', 'DNS:elsewhere.example', ca='ca')

    def serve_for(self, issuer, *args):
        return self.serve('--issuer', issuer.url, *args, program='tour')

    def test_trusts_its_own(self):
        issuer = self.issuer(MINT.ed('a'), cert=(tls.at('server.pem'), tls.at('server.key')))
        token = self.token(issuer, 'a')
        self.comes_in(self.serve_for(issuer, '--ca', tls.at('ca.pem')), token)
        config = self.file(f'[oauth.client]\nca_file = "{tls.at("ca.pem")}"\n')
        self.comes_in(self.serve_for(issuer, '--config', config), token)

    def test_trusts_nobody_else(self):
        """And says what may be done about it."""
        stranger = r'\(ca_file can name the certificate'
        for cert, args, why in (('server', (), stranger), ('server', ('--ca', tls.at('foreign.pem')), stranger),
                                ('elsewhere', ('--ca', tls.at('ca.pem')), r'the certificate is not for localhost; .* check that the URL is')):
            with self.subTest(cert, args=args):
                issuer = self.issuer(MINT.ed('a'), cert=(tls.at(f'{cert}.pem'), tls.at(f'{cert}.key')))
                server = self.serve_for(issuer, *args)
                self.put_off(server, self.token(issuer, 'a'))
                server.wait_for(rf'WARN eddy::auth: The keys of {issuer.url} can\'t be fetched: .*{why}')
                self.assertEqual('ca_file' in server.log, why == stranger)
                self.assertEqual(issuer.asked, {})

    def test_keys_over_plain_http(self):
        plain = self.issuer(MINT.ed('a'))
        issuer = self.issuer(cert=(tls.at('server.pem'), tls.at('server.key')))
        issuer.answers[METADATA]['jwks_uri'] = plain.url + KEYS
        server = self.serve_for(issuer, '--ca', tls.at('ca.pem'))
        self.put_off(server, self.token(issuer, 'a'))
        server.wait_for(rf'WARN eddy::auth: .* has a jwks_uri that can\'t be used: {plain.url}{KEYS}: only https is allowed; '
                        '.*require_https = false')
        self.assertEqual(plain.asked, {})


class Start(IssuerCase):
    def ends(self, *args, said):
        server = Server(*args, program='tour', start=False)
        self.assertEqual(server.wait(), 1)
        server.process.stderr.close()
        self.assertRegex(server.log, said)
        self.assertEqual(server.complaint().count('Sanitizer'), 0)

    def test_plain_http_is_asked_for(self):
        self.ends('--issuer', 'http://127.0.0.1:9', said=r'OAuth issuer "http://127.0.0.1:9": only https is allowed.* require_https = false')

    def test_issuers_are_urls(self):
        for url in ('issuer.example', 'ftp://issuer.example', 'https://', 'https://user@issuer.example', 'https://issuer.example/?a', ''):
            with self.subTest(url):
                self.ends('--issuer', url, said=r'ERROR eddy::app: OAuth issuer: expected')
        self.ends('--issuer', 'https://issuer.example', '--ca', '/nowhere/at/all', said='the ca_file "/nowhere/at/all" is not a file')

    def test_the_file(self):
        issuer = self.issuer(MINT.ed('a'))
        path = self.file(f'[oauth.client]\nissuer = "{issuer.url}"\nrefresh_cooldown_secs = 1\nmax_key_age_secs = 600\n'
                         'require_https = false\ntimeout_secs = 5\nmax_redirects = 0\n')
        server = self.serve('--issuer', 'https://issuer.example', '--refresh-cooldown', 600, '--config', path, program='tour')
        self.comes_in(server, self.token(issuer, 'a'))
        issuer.publish(MINT.ed('b'))
        self.eventually(lambda: self.takes(server, self.token(issuer, 'b')))

    def test_the_file_alone_opens_nothing(self):
        """It describes an issuer; whether it is used is the program's to say."""
        server = self.serve('--config', self.file('[oauth.client]\nissuer = "https://issuer.example"\n'), program='tour')
        self.assertEqual(server.get('/me').status, 404)

    def test_the_file_has_mistakes(self):
        for line, why in (('issuers = "https://issuer.example"', 'unknown key "issuers"'), ('refresh_cooldown_secs = 0', 'refresh_cooldown_secs'),
                          ('max_key_age_secs = "900"', 'max_key_age_secs'), ('require_https = 1', 'require_https'),
                          ('issuer = "issuer.example"', 'issuer'), ('max_redirects = 21', 'max_redirects'), ('timeout_secs = -1', 'timeout_secs')):
            with self.subTest(line):
                path = self.file(f'[oauth.client]\n\n{line}\n')
                self.ends('--issuer', 'https://issuer.example', '--config', path, said=rf'{re.escape(path)}:3: .*{why}')


class Real(IssuerCase):
    """Issuers that others wrote."""

    def real(self, *args):
        issuer = RealIssuer(*args)
        self.addCleanup(issuer.close)
        return issuer

    def test_oidc_provider(self):
        algs = ('EdDSA', 'ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512')
        place = Place()
        self.addCleanup(place.close)
        issuer = self.real('oidc', place.port, 'k', *algs)
        server = self.tour(issuer, '--audience', AUDIENCE)
        with concurrent.futures.ThreadPoolExecutor(len(algs)) as pool:
            issued = pool.map(lambda alg: issuer.token(resource=f'{AUDIENCE}/{alg}', scope='read'), algs)
        for alg, token in zip(algs, issued):
            with self.subTest(alg):
                answer = self.ask(server, token)
                self.assertEqual(answer.status, 200, server.log)
                self.assertEqual((answer.json()['client_id'], answer.json()['iss']), ('shop', issuer.url))
                for path in ('/read', '/admin'):
                    self.assertEqual(self.ask(server, token, path).status, 200)
        self.assertEqual(self.ask(server, issuer.token(resource=AUDIENCE, scope='write'), '/read').status, 403)
        self.assertEqual(self.ask(server, issuer.token(resource='https://elsewhere.example'), '/me').status, 401)

    def test_oidc_provider_restarts(self):
        """Down at first, up, down for a while, up with other keys."""
        place = Place()
        self.addCleanup(place.close)
        server = self.serve('--issuer', f'http://127.0.0.1:{place.port}', '--http-issuer', '--audience', AUDIENCE,
                            '--refresh-cooldown', 1, program='tour')
        before = self.real('oidc', place.port, 'before', 'EdDSA')
        old, later = (before.token(resource=AUDIENCE) for _ in range(2))
        before.close()
        self.put_off(server, old)
        unused = self.real('oidc', place.port, 'between', 'EdDSA')
        between = unused.token(resource=AUDIENCE)
        self.comes_in(server, between)
        self.refused(server, old)
        unused.close()
        self.comes_in(server, between)
        after = self.real('oidc', place.port, 'after', 'EdDSA')
        new = after.token(resource=AUDIENCE)
        self.eventually(lambda: self.takes(server, new))
        self.refused(server, between)
        self.refused(server, later)

    def test_mock_server(self):
        """It speaks OpenID alone, and its kids are long."""
        issuer = self.real('mock')
        server = self.tour(issuer)
        token = issuer.token(scope='read')
        self.assertEqual(self.ask(server, token, '/read').status, 200, server.log)
        self.assertEqual(self.ask(server, token).json()['iss'], issuer.url)

    def test_a_client_finds_its_way(self):
        """From nothing but the resource's URL, by the challenge and the documents."""
        place = Place()
        self.addCleanup(place.close)
        issuer = self.real('oidc', place.port, 'k', 'ES256')
        resource = 'https://api.example/v1'
        server = self.tour(issuer, '--audience', resource, '--resource', resource)
        done = subprocess.run(node('mcp.mjs', f'http://127.0.0.1:{server.port}', resource, issuer.url, '/read'), capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        saw = json.loads(done.stdout)
        metadata = 'https://api.example/.well-known/oauth-protected-resource/v1'
        self.assertEqual(saw['challenge'], {'resourceMetadataUrl': metadata, 'scope': 'read'})
        self.assertEqual(saw['found']['resourceMetadata'], {
            'resource': resource, 'authorization_servers': [issuer.url], 'scopes_supported': ['read', 'write'],
            'bearer_methods_supported': ['header']})
        self.assertEqual(saw['found']['authorizationServerMetadata']['issuer'], issuer.url)
        self.assertEqual((saw['result'], saw['status'], saw['body']), ('AUTHORIZED', 200, 'read'))
        self.assertEqual(saw['refusal'], {'resourceMetadataUrl': metadata, 'scope': 'read', 'error': 'invalid_token'})


if __name__ == '__main__':
    unittest.main()
