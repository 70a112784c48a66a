"""The program issuer: what it hands out, to whom, and how its keys change; `tour` is who takes its tokens."""
# needs: curl npm openssl
import base64
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import time
import unittest
import urllib.parse

from test_metadata import OPENID, SERVER, discover
from wire import EXAMPLES, Case, Server, chunked, request

CLOCK_REALTIME_COARSE = 5  # that of time(2), which the program calls; some milliseconds behind the precise one
SECRET = 'a-secret-of-16-bytes'
CLIENTS = f'# id secret scopes roles\nshop {SECRET} read,write admin\r\n\n\treader\t{SECRET}2 read -\nodd:id {SECRET}+%& - editor,x\n'
README = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples', 'README.md')
GRANT = 'grant_type=client_credentials'


def basic(user, password):
    return 'authorization: Basic ' + base64.b64encode(f'{user}:{password}'.encode()).decode()


SHOP = basic('shop', SECRET)


def decoded(token):
    """The header and the claims."""
    return [json.loads(base64.urlsafe_b64decode(part + '=' * (-len(part) % 4))) for part in token.split('.')[:2]]


def make_key(folder, name, *kind):
    path = os.path.join(folder, name)
    subprocess.run(['openssl', 'genpkey', *(kind or ('-algorithm', 'ed25519')), '-out', path], check=True, capture_output=True, timeout=60)
    return path


class Issuer(Case):
    def setUp(self):
        self.home = self.folder()
        self.keys, self.clients = os.path.join(self.home, 'keys'), os.path.join(self.home, 'clients')
        os.mkdir(self.keys)
        self.write(self.clients, CLIENTS)

    def write(self, path, text):
        with open(path, 'w', opener=lambda *args: os.open(*args, 0o600)) as file:
            file.write(text)
        return path

    def issuer(self, *args, url=None, address='127.0.0.1'):
        """Its port is known before it starts, as its documents have it."""
        door = socket.create_server((address, 0))
        self.addCleanup(door.close)
        self.url = url or f'http://127.0.0.1:{door.getsockname()[1]}'
        return self.serve('--keys', self.keys, '--clients', self.clients, '--issuer', self.url, *args, program='issuer', bind='systemd',
                          fds=(door.fileno(),), env={'LISTEN_FDS': '1'})

    def post(self, server, *fields, body=GRANT, kind='application/x-www-form-urlencoded', method='POST', path='/token'):
        return server.ask(request(method, path, f'content-type: {kind}', *fields, body=body))

    def token(self, server, *fields, body=GRANT):
        response = self.post(server, *(fields or (SHOP,)), body=body)
        self.assertEqual(response.status, 200, response)
        return response.json()['access_token']

    def tour(self, *args):
        return self.serve('--issuer', self.url, '--http-issuer', *args, program='tour')

    def ask(self, server, path, token):
        return server.get(path, f'authorization: Bearer {token}')

    def hang_up(self, server, *said):
        """Have it read its files again."""
        server.process.send_signal(signal.SIGHUP)
        for pattern in said:
            server.wait_for(pattern)


class HandsOut(Issuer):
    def setUp(self):
        super().setUp()
        make_key(self.keys, '1.pem')

    def test_documents(self):
        server = self.issuer()
        document = {'issuer': self.url, 'token_endpoint': self.url + '/token', 'jwks_uri': self.url + '/jwks',
                    'grant_types_supported': ['client_credentials'],
                    'token_endpoint_auth_methods_supported': ['client_secret_basic', 'client_secret_post']}
        for path in (SERVER, OPENID):
            self.assertEqual(server.get(path).json(), document)
        response = server.get('/jwks')
        self.assertEqual((response.header('content-type'), response.header('cache-control')), ('application/jwk-set+json', 'no-cache'))
        [key] = response.json()['keys']
        public = {name: key[name] for name in ('crv', 'kty', 'x')}
        thumbprint = hashlib.sha256(json.dumps(public, separators=(',', ':'), sort_keys=True).encode()).digest()
        self.assertEqual(key, {**public, 'alg': 'EdDSA', 'use': 'sig',
                               'kid': base64.urlsafe_b64encode(thumbprint).rstrip(b'=').decode()})

    def test_others_find_them(self):
        server = self.issuer(url='https://issuer.example')
        for kind in ('oauth2', 'oidc'):
            self.assertEqual(discover(server, kind, self.url)['token_endpoint'], 'https://issuer.example/token')

    def test_a_token(self):
        server = self.issuer('--lifetime', 90)
        began = int(time.clock_gettime(CLOCK_REALTIME_COARSE))
        response = self.post(server, SHOP)
        self.assertEqual((response.status, response.header('content-type'), response.header('cache-control')),
                         (200, 'application/json', 'no-store'))
        answer = response.json()
        header, claims = decoded(answer.pop('access_token'))
        self.assertEqual(answer, {'token_type': 'Bearer', 'expires_in': 90, 'scope': 'read write'})
        self.assertEqual(header, {'alg': 'EdDSA', 'typ': 'at+jwt', 'kid': server.get('/jwks').json()['keys'][0]['kid']})
        self.assertTrue(began <= claims['iat'] <= time.time())
        self.assertRegex(claims.pop('jti'), '^[0-9a-f]{32}$')
        self.assertEqual(claims.pop('exp') - claims.pop('iat'), 90)
        self.assertEqual(claims, {'iss': self.url, 'sub': 'shop', 'client_id': 'shop', 'scope': 'read write', 'roles': ['admin']})
        self.assertNotEqual(decoded(self.token(server))[1]['jti'], decoded(self.token(server))[1]['jti'])

    def test_by_form(self):
        server = self.issuer()
        for form in (f'client_id=shop&client_secret={SECRET}&{GRANT}', f'{GRANT}&scope=&x=1&x=2&client_secret={SECRET}&client_id=sho%70'):
            self.assertEqual(decoded(self.token(server, 'accept: */*', body=form))[1]['sub'], 'shop')
        self.assertEqual(decoded(self.token(server, SHOP, body=GRANT + '&client_id=shop'))[1]['sub'], 'shop')
        # What both ways escape (RFC 6749 section 2.3.1).
        user, password = 'odd:id', SECRET + '+%&'
        quoted = [urllib.parse.quote_plus(text) for text in (user, password)]
        for fields, body in (((basic(*quoted),), GRANT), (('accept: */*',), f'{GRANT}&client_id={quoted[0]}&client_secret={quoted[1]}')):
            response = self.post(server, *fields, body=body)
            self.assertEqual(response.status, 200, response)
            self.assertNotIn('scope', response.json())
            claims = decoded(response.json()['access_token'])[1]
            self.assertEqual((claims['sub'], claims['roles'], claims.get('scope')), ('odd:id', ['editor', 'x'], None))

    def test_scopes(self):
        server = self.issuer()
        for asked, granted in (('read', 'read'), ('write+read', 'read write'), ('write+write', 'write'), ('', 'read write')):
            response = self.post(server, SHOP, body=f'{GRANT}&scope={asked}')
            self.assertEqual((response.json()['scope'], decoded(response.json()['access_token'])[1]['scope']), (granted, granted))

    def test_tour_takes_them(self):
        server = self.issuer('--audience', 'https://api.example')
        tour = self.tour('--audience', 'https://api.example')
        token, reader = self.token(server), self.token(server, basic('reader', SECRET + '2'))
        me = self.ask(tour, '/me', token)
        self.assertEqual((me.status, me.json()), (200, decoded(token)[1]))
        self.assertEqual(me.json()['aud'], 'https://api.example')
        for path, status, other in (('/admin', 200, 403), ('/editors', 200, 403), ('/read', 200, 200)):
            self.assertEqual((self.ask(tour, path, token).status, self.ask(tour, path, reader).status), (status, other), path)
        tour.wait_for('tour: "shop" came as an admin')
        self.assertEqual(self.ask(tour, '/read', self.token(server, SHOP, body=GRANT + '&scope=write')).header('www-authenticate'),
                         'Bearer error="insufficient_scope", scope="read"')
        # Those of others are not taken.
        self.assertEqual(self.ask(self.tour(), '/me', token).status, 401)
        self.assertEqual(self.ask(self.tour('--audience', 'https://other.example'), '/me', token).status, 401)

    def test_every_kind_of_key(self):
        for name, kind, alg in (('2', ('-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'), 'RS256'),
                                ('10', ('-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'), 'ES256'),
                                ('11', ('-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521'), 'ES512'),
                                ('12', ('-algorithm', 'ed448'), 'EdDSA')):
            make_key(self.keys, name + '.pem', *kind)
            server = self.issuer('--kid-by-name')
            token = self.token(server)
            self.assertEqual((decoded(token)[0]['alg'], decoded(token)[0]['kid']), (alg, name))
            tour = self.tour()
            self.assertEqual(self.ask(tour, '/me', token).status, 200, alg)
            for one in (tour, server):
                one.stop()

    def test_says_whose_eyes_are_on_secrets(self):
        key = os.path.join(self.keys, '1.pem')
        server = self.issuer()
        server.wait_for('Listening')
        self.assertNotIn('chmod', server.log)
        for mode, path in ((0o640, key), (0o604, self.clients)):
            os.chmod(path, mode)
            self.hang_up(server, rf'WARN issuer: other users can read the secrets in (\S*/)?{os.path.basename(path)}: run chmod 600 on it', 'signs')
            os.chmod(path, 0o600)
        self.token(server)

    def test_says_what_it_is_not_for(self):
        server = self.issuer()
        server.wait_for(r' WARN issuer: \S+ is for trials and tests: it has no users and no consent')
        self.assertNotIn(SECRET, server.log)


class Refuses(Issuer):
    def setUp(self):
        super().setUp()
        make_key(self.keys, '1.pem')

    def refuses(self, response, status, error):
        self.assertEqual((response.status, response.header('content-type'), response.header('cache-control')),
                         (status, 'application/json', 'no-store'), response)
        said = response.json()
        self.assertEqual((set(said), said['error']), ({'error', 'error_description'}, error), response)
        self.assertEqual(response.header('www-authenticate'), 'Basic realm="issuer"' if status == 401 else None)

    def test_wrong_clients(self):
        server = self.issuer()
        for user, password in (('shop', SECRET[:-1]), ('shop', SECRET + '2'), ('shop', ''), ('sho', SECRET), ('Shop', SECRET), ('', SECRET),
                               ('', ''), ('reader', SECRET), ('#', 'id'), ('x' * 5000, SECRET), ('shop', 'x' * 5000), ('shop', SECRET + '\0')):
            with self.subTest(user, password=password):
                self.refuses(self.post(server, basic(user, password)), 401, 'invalid_client')
                self.refuses(self.post(server, body=GRANT + '&' + urllib.parse.urlencode({'client_id': user, 'client_secret': password})),
                             401, 'invalid_client')
        for value in ('Basic', 'Basic ', 'Basic !', 'Basic c2hvcA', 'Basic c2hvcA==', 'Basic c2hvcDph=', 'Basic ====', f'Bearer {SECRET}',
                      SHOP[15:] + '=', SHOP[15:] + ', Basic eA==', basic('sh%6', SECRET)[15:], basic('shop', SECRET[:-2] + '%gg')[15:],
                      # Bits that say nothing are not 0.
                      SHOP[15:-3] + 'x=='):
            with self.subTest(value):
                self.refuses(self.post(server, f'authorization: {value}'), 401, 'invalid_client')
        self.refuses(self.post(server), 401, 'invalid_client')
        self.refuses(self.post(server, SHOP, basic('reader', SECRET + '2')), 401, 'invalid_client')
        self.token(server)

    def test_wrong_requests(self):
        server = self.issuer()
        for error, body in (('unsupported_grant_type', 'grant_type=password&username=a&password=b'),
                            ('unsupported_grant_type', 'grant_type=authorization_code&code=x'),
                            ('unsupported_grant_type', 'grant_type=Client_Credentials'), ('unsupported_grant_type', GRANT + '%00'),
                            ('invalid_request', 'scope=read'), ('invalid_request', 'grant_type='), ('invalid_request', 'x'),
                            ('invalid_request', f'{GRANT}&{GRANT}'), ('invalid_request', GRANT + '&scope=read&scope=read'),
                            ('invalid_request', f'{GRANT}&client_id=shop&client_secret={SECRET}'),
                            ('invalid_request', GRANT + '&client_id=reader'),
                            ('invalid_scope', GRANT + '&scope=admin'), ('invalid_scope', GRANT + '&scope=read+admin'),
                            ('invalid_scope', GRANT + '&scope=read,write'), ('invalid_scope', GRANT + '&scope=+read'),
                            ('invalid_scope', GRANT + '&scope=read++write'), ('invalid_scope', GRANT + '&scope=-'),
                            ('invalid_scope', GRANT + '&scope=rea'), ('invalid_scope', GRANT + '&scope=read%00')):
            with self.subTest(body):
                self.refuses(self.post(server, SHOP, body=body), 400, error)
        self.refuses(self.post(server, basic('odd:id'.replace(':', '%3a'), urllib.parse.quote(SECRET + '+%&')), body=GRANT + '&scope=read'),
                     400, 'invalid_scope')
        for kind in ('application/json', 'text/plain', 'multipart/form-data; boundary=x'):
            self.refuses(self.post(server, SHOP, kind=kind), 400, 'invalid_request')
        self.refuses(server.ask(request('POST', '/token', SHOP)), 400, 'invalid_request')

    def test_wrong_methods(self):
        server = self.issuer()
        post, get = 'POST, OPTIONS', 'GET, HEAD, OPTIONS'
        for method, path, allow in (('GET', '/token', post), ('HEAD', '/token', post), ('PUT', '/token', post), ('DELETE', '/token', post),
                                    ('POST', '/jwks', get), ('POST', SERVER, get)):
            response = server.ask(request(method, path, SHOP), head=method == 'HEAD')
            self.assertEqual((response.status, response.header('allow')), (405, allow), (method, path))
        self.assertProblem(server.get(f'/token?{GRANT}&client_id=shop&client_secret={SECRET}'), 405)
        self.assertProblem(server.get('/'), 404)

    def test_hostile_bodies(self):
        server = self.issuer()
        for body, status in ((b'&' * 16384, 400), (b'%' * 16384, 400), (b'=' * 16384, 400), (os.urandom(16384).replace(b'grant', b''), 400),
                             (b'a&' * 8000, 413), (b'grant_type=' + b'x' * 16373, 400), (b'x' * 16385, 413)):
            response = self.post(server, SHOP, body=body)
            self.assertEqual(response.status, status, response)
        self.assertProblem(self.post(server, SHOP, 'transfer-encoding: chunked', body=chunked(b'x' * 9000, b'x' * 9000)), 413)
        with server.connect() as wire:
            response = wire.ask(request('POST', '/token', SHOP, 'content-type: application/x-www-form-urlencoded', 'transfer-encoding: chunked',
                                        body=b'5\r\ngrantX'))
            self.assertEqual(response.status, 400)
        # One that ends in the middle, while others are served.
        with server.connect() as wire:
            wire.send(request('POST', '/token', SHOP, 'content-type: application/x-www-form-urlencoded', 'content-length: 100', body='grant'))
            self.token(server)
            wire.reset()
        self.token(server)

    def test_only_where_nobody_listens_in(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(('192.0.2.1', 9))
            except OSError:
                self.skipTest('needs an address beside the loopback')
            address = probe.getsockname()[0]
        server = self.issuer(address='0.0.0.0')
        with server.connect(address=address) as wire:
            self.refuses(wire.ask(request('POST', '/token', SHOP, 'content-type: application/x-www-form-urlencoded', body=GRANT)),
                         400, 'invalid_request')
            self.assertEqual(wire.ask(request('GET', '/jwks')).status, 200)
        self.token(server)

    def test_who_tries_is_slowed_down(self):
        server = self.issuer()
        with server.connect() as wire:
            data = request('POST', '/token', basic('shop', 'x'), 'content-type: application/x-www-form-urlencoded', body=GRANT)
            statuses = [wire.ask(data).status for _ in range(100)]
            self.assertEqual(set(statuses), {401})
            self.eventually(lambda: wire.ask(data).status == 429)


class Rotates(Issuer):
    def setUp(self):
        super().setUp()
        make_key(self.keys, '1.pem')

    def kids(self, server):
        return [key['kid'] for key in server.get('/jwks').json()['keys']]

    def test_a_key_that_was_taken_away(self):
        """Its tokens are refused once the keys have come of age, and the new ones get in."""
        server = self.issuer('--kid-by-name')
        tour = self.tour('--max-key-age', 1, '--refresh-cooldown', 3600)
        old = self.token(server)
        self.assertEqual(self.ask(tour, '/me', old).status, 200)
        make_key(self.keys, '2.pem')
        os.unlink(os.path.join(self.keys, '1.pem'))
        self.hang_up(server, r'INFO issuer: 1 keys, of which "2" signs; 3 clients')
        self.assertEqual(self.kids(server), ['2'])
        new = self.token(server)
        self.assertEqual(decoded(new)[0]['kid'], '2')
        self.eventually(lambda: self.ask(tour, '/me', old).status == 401)
        self.assertIn('unknown key', self.ask(tour, '/me', old).header('www-authenticate'))
        self.assertEqual(self.ask(tour, '/me', new).status, 200)

    def test_a_key_that_is_added(self):
        """It is asked for when its first token comes; those of the old one hold."""
        server = self.issuer('--kid-by-name')
        tour = self.tour('--refresh-cooldown', 1)
        old = self.token(server)
        self.assertEqual(self.ask(tour, '/me', old).status, 200)
        make_key(self.keys, '2.pem')
        self.hang_up(server, '2 keys, of which "2" signs')
        self.assertEqual(self.kids(server), ['1', '2'])
        new = self.token(server)
        self.eventually(lambda: self.ask(tour, '/me', new).status == 200)
        self.assertEqual(self.ask(tour, '/me', old).status, 200)

    def test_a_key_that_others_are_to_know_first(self):
        """It does not sign before it is the last, and keeps its name then."""
        server = self.issuer()
        [old] = self.kids(server)
        make_key(self.keys, '0.pem')
        self.hang_up(server, '2 keys, of which "' + re.escape(old))
        tour = self.tour('--refresh-cooldown', 3600)
        [new] = set(self.kids(server)) - {old}
        token = self.token(server)
        self.assertEqual((decoded(token)[0]['kid'], self.ask(tour, '/me', token).status), (old, 200))
        os.rename(os.path.join(self.keys, '0.pem'), os.path.join(self.keys, '2.pem'))
        self.hang_up(server, '2 keys, of which "' + re.escape(new))
        token = self.token(server)
        self.assertEqual((decoded(token)[0]['kid'], self.ask(tour, '/me', token).status), (new, 200))

    def test_clients_change(self):
        server = self.issuer()
        self.write(self.clients, f'shop {SECRET}-2 read -\n')
        self.hang_up(server, 'signs; 1 clients')
        self.assertEqual(self.post(server, SHOP).status, 401)
        self.assertEqual(decoded(self.token(server, basic('shop', SECRET + '-2')))[1]['scope'], 'read')

    def test_what_is_bad_changes_nothing(self):
        server = self.issuer('--kid-by-name')
        bad = os.path.join(self.keys, '2.pem')
        public = subprocess.run(['openssl', 'pkey', '-in', os.path.join(self.keys, '1.pem'), '-pubout'], capture_output=True, check=True,
                                text=True, timeout=60).stdout
        for text, why in (('', 'it is not an unencrypted private key'), (public, 'it is a public key'), ('x' * 70000, 'larger than 65536 bytes')):
            self.write(bad, text)
            self.hang_up(server, rf'ERROR issuer: can\'t (use the key|read) 2\.pem: .*{why}')
            self.eventually(lambda: server.log.count('the old keys and clients stay in use') == server.log.count('2.pem: '))
            self.assertEqual((self.kids(server), decoded(self.token(server))[0]['kid']), (['1'], '1'))
        os.unlink(bad)
        os.mkfifo(bad)
        self.hang_up(server, r'can\'t read 2\.pem: it is not a file')
        os.unlink(bad)
        self.write(self.clients, 'shop short read -\n')
        self.hang_up(server, r'clients:1: the second field must be a secret of at least 16 bytes')
        self.token(server)
        os.unlink(self.clients)
        self.hang_up(server, 'clients: No such file or directory')
        self.token(server)
        # Once it is good again it counts.
        self.write(self.clients, CLIENTS)
        make_key(self.keys, '2.pem')
        self.hang_up(server, '2 keys, of which "2" signs; 3 clients')
        self.assertEqual(decoded(self.token(server))[0]['kid'], '2')

    def test_many_at_once(self):
        """Requests that have begun end with the files that they began with."""
        server = self.issuer('--kid-by-name')
        for i in range(20):
            server.process.send_signal(signal.SIGHUP)
            self.assertEqual(self.post(server, SHOP).status, 200, i)


class Starts(Issuer):
    def fails(self, status, why, *args):
        server = Server('--keys', self.keys, '--clients', self.clients, *args, program='issuer', start=False, bind='127.0.0.1:0')
        self.assertEqual(server.wait(), status, server.log)
        server.process.stderr.close()
        self.assertRegex(server.log, why)
        self.assertNotIn('Sanitizer', server.log)
        self.assertNotIn('Listening', server.log)
        self.assertNotIn(SECRET, server.log)

    def test_keys(self):
        known = ('--issuer', 'http://localhost:1')
        self.fails(1, r'keys: the folder has no file named \*\.pem', *known)
        self.write(os.path.join(self.keys, '.hidden.pem'), '')
        self.write(os.path.join(self.keys, 'key.txt'), '')
        self.fails(1, r'keys: the folder has no file named \*\.pem', *known)
        make_key(self.keys, 'weak.pem', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024')
        self.fails(1, r'weak\.pem: it is too weak', *known)
        os.rename(os.path.join(self.keys, 'weak.pem'), os.path.join(self.home, 'weak.pem'))
        make_key(self.keys, '1.pem')
        os.link(os.path.join(self.keys, '1.pem'), os.path.join(self.keys, '2.pem'))
        self.fails(1, r'2\.pem: another file has the same key', *known)
        for i in range(3, 20):
            os.link(os.path.join(self.keys, '1.pem'), os.path.join(self.keys, f'{i}.pem'))
        self.fails(1, 'more than 16', *known)
        self.fails(1, 'none: No such file', *known, '--keys', os.path.join(self.home, 'none'))

    def test_clients(self):
        make_key(self.keys, '1.pem')
        known = ('--issuer', 'http://localhost:1')
        for text, why in (('a\n', '1: the third field'), ('\n# x\na b - -\n', '3: the second field'), (f'a {SECRET}\n', '1: the third field'), (f'a {SECRET} -\n', '1: the fourth and last'),
                          (f'a {SECRET} x,,y -\n', '1: the third field'), (f'a {SECRET} x" -\n', '1: the third field'), (f'a {SECRET} - x,\n', '1: the fourth and last'),
                          (f'a {SECRET} - - -\n', '1: the fourth and last'), (f'a {SECRET} - -\na {SECRET} - -\n', '2: the first field'),
                          (f'a\0b {SECRET} - -\n', '1: the first field'), (f'a,b {SECRET} - -\n', '1: the first field'),
                          (''.join(f'c{i} {SECRET} - -\n' for i in range(1001)), '1001: there are more than 1000 clients'),
                          ('x' * (1 << 20) + 'x', 'larger than 1048576 bytes')):
            with self.subTest(text[:40]):
                self.write(self.clients, text)
                self.fails(1, rf'ERROR issuer: .*clients: ?(it is )?{why}', *known)

    def test_switches(self):
        make_key(self.keys, '1.pem')
        self.fails(2, '--issuer is required, as this address is not usable in a URL')
        for url in ('localhost', 'http://localhost/t', 'http://', 'http://a@b', 'http://a?b'):
            self.fails(2, '--issuer takes a URL without a path', '--issuer', url)
        self.fails(1, 'OAuth server metadata: issuer: expected', '--issuer', 'ftp://localhost')
        self.fails(2, '--lifetime takes a number from 1 to 86400', '--lifetime', '0')
        self.fails(2, 'takes options only', 'x')


class Walk(Case):
    @unittest.skipUnless(os.path.exists(os.path.join(EXAMPLES, 'issuer')), 'needs the program issuer')
    def test_readme(self):
        """What examples/README.md shows is run as it stands there, but for the ports."""
        with open(README) as file:
            [block] = re.findall(r'^```console\n(.*?build/examples/issuer.*?)^```$', file.read(), re.M | re.S)
        commands = [line[2:] for line in block.splitlines() if line.startswith('$ ')]
        shown = [line for line in block.splitlines() if not line.startswith('$ ')]
        self.assertEqual(len(commands), 5)
        with socket.create_server(('127.0.0.1', 0)) as one, socket.create_server(('127.0.0.1', 0)) as two:
            ports = {'7879': one.getsockname()[1], '7878': two.getsockname()[1]}
        folder = self.folder()
        script = ''
        for command in commands:
            for port, other in ports.items():
                command = command.replace(f'localhost:{port}', f'localhost:{other}')
            program = re.match(r'build/examples/(\w+) (.*) &$', command)
            if program:
                self.run_to_the_end(script, folder)
                script = ''
                port = ports['7879' if program[1] == 'issuer' else '7878']
                self.serve(*program[2].split(), program=program[1], bind=f'localhost:{port}', wrap=('env', '-C', folder))
            else:
                script += command + '\n'
        out = self.run_to_the_end(script, folder)
        self.assertEqual(len(shown), 1)
        self.assertRegex(out, r'^\{"iss":"http://localhost:\d+","sub":"shop",.*"roles":\["admin"\]\}admin$')
        self.assertTrue(out.replace(f':{ports["7879"]}', ':7879').startswith(shown[0].partition('…')[0]), (out, shown))
        self.assertTrue(out.endswith(shown[0].rpartition('…')[2]), (out, shown))

    def run_to_the_end(self, script, folder):
        done = subprocess.run(['sh', '-euc', script], capture_output=True, text=True, timeout=60, cwd=folder, stdin=subprocess.DEVNULL,
                              check=False, env=dict(os.environ, no_proxy='*'))
        self.assertEqual((done.returncode, done.stderr), (0, ''), script)
        return done.stdout


if __name__ == '__main__':
    unittest.main()
