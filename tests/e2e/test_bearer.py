"""Protected routes, by bytes: who gets in by a static secret, and what the others are told."""
# needs: curl openssl
import os
import re
import socket
import subprocess
import time

from tokens import SECRET, signed
from wire import Case, Server, request

INVALID = 'Bearer error="invalid_token", error_description="{}"'


class Bearer(Case):
    def secret(self, data=SECRET):
        path = os.path.join(self.folder(), 'secret')
        with open(path, 'wb') as file:
            file.write(data)
        return path

    def tour(self, *args, **options):
        return self.serve('--secret-file', self.secret(), *args, program='tour', **options)

    def ask(self, server, path, token=None, method='GET', scheme='Bearer'):
        fields = () if token is None else (f'authorization: {scheme} {token}',)
        return server.ask(request(method, path, *fields), head=method == 'HEAD')

    def expect(self, server, path, token, status, challenge=None, **how):
        response = self.ask(server, path, token, **how)
        self.assertEqual((response.status, response.header('www-authenticate')), (status, challenge), path)
        return response

    def test_not_mapped_without_a_key(self):
        server = self.serve(program='tour')
        for path in ('/me', '/admin', '/editors', '/read'):
            self.assertEqual(self.ask(server, path, signed()).status, 404)

    def test_lets_in(self):
        server = self.tour()
        claims = {'exp': int(time.time()) + 60, 'sub': 'ann', 'roles': ['admin'], 'scope': 'write read', 'iss': 'anybody'}
        token = signed(claims)
        self.assertEqual(self.expect(server, '/me', token, 200).json(), claims)
        self.assertEqual(self.expect(server, '/admin', token, 200).body, b'admin')
        server.wait_for(r' INFO tour: "ann" came as an admin$')
        self.assertEqual(self.expect(server, '/editors', token, 200).body, b'editors')
        self.assertEqual(self.expect(server, '/read', token, 200).body, b'read')
        self.assertEqual(self.expect(server, '/editors', signed(role='editor'), 200).body, b'editors')
        self.expect(server, '/me', token, 200, scheme='bEARER')
        self.assertEqual(self.expect(server, '/me', token, 200, method='HEAD').body, b'')

    def test_asks_for_a_token(self):
        server = self.tour()
        self.expect(server, '/me', None, 401, 'Bearer')
        self.expect(server, '/read', None, 401, 'Bearer scope="read"')
        self.expect(server, '/me', 'YTpi', 401, 'Bearer', scheme='Basic')
        self.expect(server, '/me', None, 401, 'Bearer', method='HEAD')
        for wrong in ('', 'a b', 'a,b', '"a"', '='):
            response = self.ask(server, '/me', wrong)
            self.assertEqual(response.status, 400, wrong)
            self.assertRegex(response.header('www-authenticate'), '^Bearer error="invalid_request", error_description=".+"$')
        twice = server.ask(request('GET', '/me', f'authorization: Bearer {signed()}', 'authorization: Basic YTpi'))
        self.assertEqual(twice.status, 400)

    def test_says_what_is_wrong(self):
        server = self.tour()
        now = int(time.time())
        parts = signed().split('.')
        for token, why in ((signed({'exp': now - 61}), 'token expired'),
                           (signed({'exp': now + 99, 'nbf': now + 90}), 'token not yet valid'),
                           (signed(secret=SECRET[::-1]), 'bad signature'),
                           (parts[0] + '.' + parts[1] + '.', 'bad signature'),
                           (signed({}), 'claim missing'),
                           (signed(aud='x'), 'audience not accepted'),
                           (signed(header={'alg': 'none'}), 'algorithm not accepted'),
                           (signed(header={'alg': 'HS512'}), 'algorithm not accepted'),
                           (signed(header={'alg': 'RS256'}), 'algorithm not accepted'),
                           (signed(header={'crit': ['exp']}), 'critical header not understood'),
                           (signed(header={'typ': 'dpop+jwt'}), 'malformed token'),
                           ('abc', 'malformed token'),
                           (parts[0] + '=.' + parts[1] + '.' + parts[2], 'Bearer'),
                           (signed(x='y' * 9 * 1024), 'malformed token')):
            if why == 'Bearer':
                self.assertEqual(self.ask(server, '/me', token).status, 400)
            else:
                self.expect(server, '/me', token, 401, INVALID.format(why))
        self.assertEqual(self.ask(server, '/me', 'a' * 17 * 1024).status, 431)
        # It lives, and knows its own.
        self.expect(server, '/me', signed(), 200)

    def test_forbids(self):
        server = self.tour()
        self.expect(server, '/admin', signed(role='editor'), 403, 'Bearer error="insufficient_scope"')
        self.expect(server, '/read', signed(scope='write'), 403, 'Bearer error="insufficient_scope", scope="read"')
        self.expect(server, '/read', signed(scope='reader'), 403, 'Bearer error="insufficient_scope", scope="read"')
        self.expect(server, '/read', signed(scp=['read']), 200)

    def test_what_follows(self):
        """The body of who is refused is not asked for; where it has come, or is little, the connection goes on behind it."""
        server = self.tour()
        good = request('GET', '/me', f'authorization: Bearer {signed()}')
        for field, body in (('content-length: 5', b'hello'), ('transfer-encoding: chunked', b'5\r\nhello\r\n0\r\n\r\n'),
                            ('content-length: 200000', b'x' * 200000)):
            with self.subTest(field), server.connect() as wire:
                wire.send(request('GET', '/me', field) + body + good + request('GET', '/hello'))
                self.assertEqual([wire.read().status for _ in range(3)], [401, 200, 200])
        # A token behind the head is none.
        self.assertEqual(server.ask(request('GET', '/me', 'transfer-encoding: chunked') +
                                    f'0\r\nauthorization: Bearer {signed()}\r\n\r\n'.encode()).status, 401)
        for fields in (('expect: 100-continue', 'content-length: 5'), ('content-length: 10000000',)):
            with self.subTest(fields), server.connect() as wire:
                response = wire.ask(request('GET', '/me', *fields))
                self.assertEqual((response.status, response.header('connection')), (401, 'close'))
                self.assertClosed(wire)

    def test_comes_in_its_field_alone(self):
        server = self.tour()
        token = signed()
        form = f'access_token={token}'
        for asked in (request('GET', f'/me?access_token={token}'), request('GET', '/me', f'proxy-authorization: Bearer {token}'),
                      request('GET', '/me', f'cookie: access_token={token}'),
                      request('GET', '/me', 'content-type: application/x-www-form-urlencoded', body=form)):
            response = server.ask(asked)
            self.assertEqual((response.status, response.header('www-authenticate')), (401, 'Bearer'))

    def test_is_kept_by_nobody(self):
        server = self.tour()
        for token, status in ((signed(), 200), (None, 401), ('abc', 401)):
            response = self.ask(server, '/me', token)
            self.assertEqual((response.status, response.header('cache-control')), (status, 'no-store'))

    def test_audience(self):
        server = self.tour('--audience', 'https://api.example', '--resource', 'https://api.example/v1')
        metadata = ', resource_metadata="https://api.example/.well-known/oauth-protected-resource/v1"'
        self.expect(server, '/me', signed(aud=['x', 'https://api.example']), 200)
        self.expect(server, '/me', signed(aud='x'), 401, INVALID.format('audience not accepted') + metadata)
        self.expect(server, '/me', signed(), 401, INVALID.format('claim missing') + metadata)
        self.expect(server, '/me', None, 401, 'Bearer ' + metadata[2:])

    def test_from_afar(self):
        """A token that others could read on its way is not looked at, unless that is what is wanted."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                # Nothing is sent.
                probe.connect(('192.0.2.1', 9))
            except OSError:
                self.skipTest('needs an address that is not loopback')
            address = probe.getsockname()[0]
        path = os.path.join(self.folder(), 'app.toml')
        with open(path, 'w') as file:
            file.write('[bearer]\nallow_plain_http = true\n')
        for args, status, challenge in (((), 400, 'Bearer error="invalid_request", error_description="HTTPS required"'),
                                        (('--config', path), 200, None)):
            server = self.tour(*args, bind='0.0.0.0:0')
            with server.connect(address=address) as wire:
                response = wire.ask(request('GET', '/me', f'authorization: Bearer {signed()}'))
            self.assertEqual((response.status, response.header('www-authenticate')), (status, challenge))
            self.expect(server, '/me', signed(), 200)

    def test_once_more(self):
        """The second request with a token is let in for what is known of it, and no longer than the token lasts."""
        server = self.tour('--workers', 2)
        token = signed({'exp': time.time() - 60 + 0.5})
        for _ in range(20):
            self.expect(server, '/me', token, 200)
        self.eventually(lambda: self.ask(server, '/me', token).status == 401)
        self.expect(server, '/me', token, 401, INVALID.format('token expired'))

    def test_token_of_a_shell(self):
        """What docs/auth.md shows, as it stands there but for the port."""
        text = open(os.path.join(os.path.dirname(__file__), '../../docs/auth.md')).read()
        script = re.search(r'^```sh\n(head .*?\n)(.*?)^```$', text, re.M | re.S)
        folder = self.folder()

        def shell(commands):
            return subprocess.run(['bash', '-c', commands], cwd=folder, capture_output=True, text=True, timeout=20, check=True).stdout

        shell(script[1])
        server = self.serve('--secret-file', os.path.join(folder, 'secret'), program='tour')
        commands = script[2].replace('curl', 'curl -sg').replace('localhost:7878', f'127.0.0.1:{server.port}')
        self.assertEqual(shell(commands), 'admin')
        self.assertIn('insufficient_scope', shell(commands.replace('"role":"admin"', '"role":"cook"').replace('-sg', '-sgi')))

    def test_needs_a_secret(self):
        for path, why in ((self.secret(SECRET[:31]), 'at least 32 bytes'), ('/nowhere/at/all', 'No such file'),
                          (self.folder(), 'it is not a file'), (self.secret(b'x' * 100000), 'larger than 64 KiB')):
            server = Server('--secret-file', path, program='tour', start=False)
            self.assertEqual(server.wait(), 1)
            server.process.stderr.close()
            self.assertRegex(server.log, rf'ERROR eddy::app: .*{why}')

    def test_one_key_is_enough(self):
        server = Server('--secret-file', self.secret(), '--issuer', 'https://issuer.example', program='tour', start=False)
        self.assertEqual(server.wait(), 1)
        server.process.stderr.close()
        self.assertIn('a static key and an issuer are configured', server.log)

    def test_clocks_may_differ(self):
        """By a minute, unless the file says otherwise; 0 is no time."""
        path = os.path.join(self.folder(), 'app.toml')
        token = signed({'exp': int(time.time()) - 2})
        for text, status in (('', 200), ('leeway_secs = 0', 401), ('leeway_secs = 1', 401), ('leeway_secs = 50', 200)):
            with open(path, 'w') as file:
                file.write(f'[bearer]\n{text}\n')
            server = self.tour('--config', path)
            self.assertEqual(self.ask(server, '/me', token).status, status, text)
            server.stop()

    def test_static_secret_for_tokens(self):
        """HS256, HS384 and HS512, where the secret has as many bits, unless the file names some."""
        path = os.path.join(self.folder(), 'app.toml')
        every, secret = ('HS256', 'HS384', 'HS512'), bytes(range(64))
        for length, text, taken in ((64, '', every), (63, '', every[:2]), (47, '', every[:1]), (64, 'algorithms = "HS512"', every[2:]),
                                    (64, 'algorithms = ["HS256", "HS384"]', every[:2]), (32, 'algorithms = ["HS256"]', every[:1])):
            with open(path, 'w') as file:
                file.write(f'[bearer]\n{text}\n')
            server = self.serve('--secret-file', self.secret(secret[:length]), '--config', path, program='tour')
            for algorithm in every:
                with self.subTest((length, text, algorithm)):
                    token = signed(secret=secret[:length], header={'alg': algorithm})
                    if algorithm in taken:
                        self.expect(server, '/me', token, 200)
                    else:
                        self.expect(server, '/me', token, 401, INVALID.format('algorithm not accepted'))
            server.stop()
        for length, name in ((32, 'HS384'), (63, 'HS512'), (64, 'RS256')):
            with open(path, 'w') as file:
                file.write(f'[bearer]\nalgorithms = ["HS256", "{name}"]\n')
            server = Server('--secret-file', self.secret(secret[:length]), '--config', path, program='tour', start=False)
            self.assertEqual(server.wait(), 1)
            server.process.stderr.close()
            self.assertIn(f'bearer tokens: the key can\'t be used with the algorithm "{name}"', server.log)

    def test_configuration(self):
        path = os.path.join(self.folder(), 'app.toml')
        with open(path, 'w') as file:
            file.write('[bearer]\nrealm = "a \\"b\\""\naudiences = ["https://api.example"]\n')
        server = self.tour('--config', path)
        self.expect(server, '/me', None, 401, r'Bearer realm="a \"b\""')
        self.expect(server, '/me', signed(aud='https://api.example'), 200)
        for line, why in (('leeway = 3', 'unknown key "leeway"'), ('realm = 3', 'expected a string'), ('realm = "a\\nb"', 'realm'),
                          ('secret_env = "HOME"', 'set only one of secret, secret_file, secret_env, key_file and key_env, not 2')):
            with open(path, 'w') as file:
                file.write(f'[bearer]\n{line}\n')
            server = Server('--secret-file', self.secret(), '--config', path, program='tour', start=False)
            self.assertEqual(server.wait(), 1)
            server.process.stderr.close()
            self.assertRegex(server.log, why)
