"""Tokens of an issuer at the door: every algorithm comes in, and what is odd is told why it does not."""
import base64
import json
import time
import unittest

import tokens
from issuers import KEYS, METADATA, FakeIssuer, Mint
from tokens import encode
from wire import Shared, request

REALM = 'Bearer realm="tour"'
RESOURCE = 'resource_metadata="https://api.example/.well-known/oauth-protected-resource/v1"'
AUDIENCE = 'https://api.example'
CONFIG = '[bearer]\nrealm = "tour"\n'

# Algorithms, and the names of keys for them.
ALGS = {
    'RS256': 'rsa', 'RS384': 'rsa', 'RS512': 'rsa', 'PS256': 'rsa', 'PS384': 'rsa', 'PS512': 'rsa',
    'ES256': 'p256', 'ES384': 'p384', 'ES512': 'p521', 'EdDSA': 'ed',
}


def joined(header, claims, signature='AAAA'):
    """A token by hand, of parts that are text already or are not."""
    parts = []
    for value in (header, claims):
        if not isinstance(value, (str, bytes)):
            value = json.dumps(value).encode()
        parts.append(value if isinstance(value, str) else encode(value))
    return '.'.join((*parts, signature))


class Tokens(Shared):
    program = 'tour'

    @classmethod
    def setUpClass(cls):
        cls.mint = mint = Mint()
        cls.addClassCleanup(mint.close)
        rsa = mint.key('rsa', 'rsa', modulusLength=2048)
        ed = mint.key('ed', 'ed25519')
        cls.issuer = FakeIssuer(
            rsa, ed,
            mint.key('p256', 'ec', namedCurve='P-256'),
            mint.key('p256-too', 'ec', namedCurve='P-256'),
            mint.key('p384', 'ec', namedCurve='P-384'),
            mint.key('p521', 'ec', namedCurve='P-521'),
            mint.key('ed448', 'ed448'),
            {**rsa, 'kid': 'only-ps256', 'alg': 'PS256'},
            # None of these counts.
            mint.key('weak', 'rsa', modulusLength=1024),
            {**ed, 'kid': 'for-encryption', 'use': 'enc'},
            {**ed, 'kid': 'for-signing', 'key_ops': ['sign']},
            {'kty': 'oct', 'kid': 'secret', 'alg': 'HS256', 'k': encode(tokens.SECRET)},
            {'kty': 'new', 'kid': 'new'}, 'nonsense').begin()
        cls.addClassCleanup(cls.issuer.close)
        super().setUpClass()

    @classmethod
    def options(cls):
        path = cls.dir + '/app.toml'
        with open(path, 'w') as file:
            file.write(CONFIG)
        return ('--issuer', cls.issuer.url, '--http-issuer', '--workers', 2, '--audience', AUDIENCE,
                '--resource', 'https://api.example/v1', '--config', path,
                '--refresh-cooldown', 3600)

    def setUp(self):
        super().setUp()
        self.wire = self.server.connect()
        self.addCleanup(self.wire.close)

    def claims(self, **more):
        """Good ones; None leaves one out."""
        all_of_them = {'iss': self.issuer.url, 'aud': AUDIENCE, 'exp': int(time.time()) + 60, **more}
        return {name: value for name, value in all_of_them.items() if value is not None}

    def token(self, claims=None, by='ed', header=None, **more):
        """One that is good, but for what is said."""
        whole = {'alg': 'EdDSA', 'kid': by, **(header or {})}
        whole = {name: value for name, value in whole.items() if value is not ...}
        return self.mint.sign(by, claims or self.claims(**more), whole)

    def ask(self, token, path='/me'):
        return self.wire.ask(request('GET', path, f'authorization: Bearer {token}'))

    def comes_in(self, token, path='/me'):
        response = self.ask(token, path)
        self.assertEqual((response.status, response.header('www-authenticate')), (200, None), response)
        return response

    def refused(self, token, why):
        response = self.ask(token)
        self.assertProblem(response, 401, why)
        self.assertEqual(response.header('www-authenticate'),
                         f'{REALM}, error="invalid_token", error_description="{why}", {RESOURCE}')
        self.assertEqual(response.header('cache-control'), 'no-store')

    def all_refused(self, why, **odd):
        for name, token in odd.items():
            with self.subTest(name):
                self.refused(token, why)

    def test_every_algorithm_comes_in(self):
        for alg, by in ALGS.items():
            with self.subTest(alg):
                token = self.token(by=by, header={'alg': alg}, sub=alg)
                self.assertEqual(self.comes_in(token).json()['sub'], alg)
                changed = token[:-9] + ('A' if token[-9] != 'A' else 'B') + token[-8:]
                self.refused(changed, 'bad signature')
        self.comes_in(self.token(by='ed448'))
        self.comes_in(self.token(by='rsa', header={'alg': 'PS256', 'kid': 'only-ps256'}))

    def test_algorithms_that_do_not(self):
        pem = self.mint.ask(pem='rsa').encode()
        claims = self.claims()
        self.all_refused(
            'algorithm not accepted',
            none=joined({'alg': 'none'}, claims, ''), none_signed=joined({'alg': 'none'}, claims),
            none_in_capitals=joined({'alg': 'NONE'}, claims, ''), none_with_a_kid=joined({'alg': 'none', 'kid': 'rsa'}, claims, ''),
            by_the_public_key=tokens.signed(claims, secret=pem, header={'kid': 'rsa'}),
            by_the_public_key_in_a_line=tokens.signed(claims, secret=pem.replace(b'\n', b''), header={'kid': 'rsa'}),
            by_the_public_key_too=tokens.signed(claims, secret=pem, header={'alg': 'HS512', 'kid': 'rsa'}),
            by_a_published_secret=tokens.signed(claims, header={'kid': 'secret'}),
            no_such=joined({'alg': 'RS1'}, claims), small=joined({'alg': 'rs256'}, claims))
        self.all_refused('malformed token', no_alg=joined({'kid': 'ed'}, claims), a_number=joined({'alg': 256}, claims))

    def test_keys_are_of_their_algorithms(self):
        self.all_refused(
            'algorithm not accepted',
            pinned=self.token(by='rsa', header={'alg': 'RS256', 'kid': 'only-ps256'}),
            of_another_kind=self.token(by='p256', header={'alg': 'ES256', 'kid': 'rsa'}),
            of_another_curve=self.token(by='p384', header={'alg': 'ES384', 'kid': 'p256'}))
        self.all_refused(
            'unknown key',
            weak=self.token(by='weak', header={'alg': 'RS256'}),
            for_encryption=self.token(header={'kid': 'for-encryption'}),
            for_signing=self.token(header={'kid': 'for-signing'}))

    def test_keys_are_named(self):
        strange = 'x' * 80
        self.all_refused('unknown key', strange=self.token(header={'kid': strange}), empty=self.token(header={'kid': ''}),
                         nearly=self.token(header={'kid': 'ed '}), path=self.token(header={'kid': '../../dev/null'}),
                         # Two keys could be meant.
                         unnamed=self.token(by='p256', header={'alg': 'ES256', 'kid': ...}))
        # One can.
        self.comes_in(self.token(by='p384', header={'alg': 'ES384', 'kid': ...}))
        self.refused(self.token(header={'kid': 'ed448'}), 'bad signature')
        for kid in (None, 7, True, ['ed'], {'ed': 1}):
            self.all_refused('malformed token', **{f'kid_{kid}': joined({'alg': 'EdDSA', 'kid': kid}, self.claims())})

    def test_keys_that_are_brought_along(self):
        other = self.mint.key('stranger', 'ed25519')
        for more in ({'jwk': other}, {'jku': self.issuer.url + '/theirs'}, {'x5u': self.issuer.url + '/theirs'}, {'x5c': ['AAAA']}):
            self.all_refused('unknown key', **{f'{list(more)[0]}_new': self.token(by='stranger', header=more)})
            self.all_refused('bad signature', **{f'{list(more)[0]}_old': self.token(by='stranger', header={**more, 'kid': 'ed'})})
            # It does no harm beside a good signature.
            self.comes_in(self.token(header=more))
        self.assertEqual(set(self.issuer.asked), {METADATA, KEYS})

    def test_headers(self):
        self.all_refused('critical header not understood', crit=self.token(header={'crit': ['exp'], 'exp': 1}),
                         b64=self.token(header={'crit': ['b64'], 'b64': False}), plain=self.token(header={'crit': ['b64'], 'b64': True}))
        self.all_refused('malformed token', b64=self.token(header={'b64': False}), b64_text=self.token(header={'b64': 'true'}))
        self.comes_in(self.token(header={'b64': True}))
        for typ in ('JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/JWT'):
            with self.subTest(typ):
                self.comes_in(self.token(header={'typ': typ}))
        for typ in ('', 'JOSE', 'dpop+jwt', 'secevent+jwt', 'application/', 'jwt ', 5, None):
            self.all_refused('malformed token', **{f'typ_{typ}': self.token(header={'typ': typ})})

    def test_claims(self):
        now = int(time.time())
        url = self.issuer.url
        self.all_refused('token expired', old=self.token(exp=now - 61), older=self.token(exp=-1))
        self.all_refused('token not yet valid', early=self.token(nbf=now + 90))
        self.all_refused('claim missing', exp=self.token(exp=None), iss=self.token(iss=None), aud=self.token(aud=None))
        self.all_refused('issuer not accepted', slash=self.token(iss=url + '/'), other=self.token(iss='https://issuer.example'),
                         empty=self.token(iss=''))
        self.all_refused('audience not accepted', other=self.token(aud='https://api.example/'), empty=self.token(aud=[]),
                         others=self.token(aud=['a', 'b']))
        self.all_refused('malformed token', exp=self.token(exp='tomorrow'), exp_list=self.token(exp=[now + 60]),
                         nbf=self.token(nbf='today'), iss=self.token(iss=[url]), aud=self.token(aud=[AUDIENCE, 7]))
        self.comes_in(self.token(exp=now - 50))
        self.comes_in(self.token(nbf=now + 50))
        self.comes_in(self.token(exp=now + 60.5, aud=['a', AUDIENCE]))

    def test_signatures(self):
        token = self.token(by='p256', header={'alg': 'ES256'})
        text, signature = token.rsplit('.', 1)
        raw = base64.urlsafe_b64decode(signature + '==')
        r, s = raw[:32], raw[32:]
        of_another = self.token(by='p256', header={'alg': 'ES256'}, sub='ann').rsplit('.', 1)[1]
        self.all_refused(
            'bad signature', by_another=self.token(by='p256-too', header={'alg': 'ES256', 'kid': 'p256'}), of_another=f'{text}.{of_another}',
            **{name: f'{text}.{encode(odd)}' for name, odd in (
                ('zeros', bytes(64)), ('ones', (bytes(31) + b'\1') * 2), ('empty', b''), ('short', raw[:-1]), ('long', raw + b'\0'), ('half', r),
                ('turned', s + r), ('zero_r', bytes(32) + s), ('zero_s', r + bytes(32)), ('der', b'\x30\x44\2\x20' + r + b'\2\x20' + s))})
        self.comes_in(token)

    def test_text(self):
        token = self.token()
        header, claims, signature = token.split('.')
        unused = signature[:-1] + chr(ord(signature[-1]) + 1)
        headers = {'twice': b'{"alg":"EdDSA","kid":"ed","alg":"EdDSA"}', 'null': None, 'list': ['EdDSA'], 'nothing': '', 'no_json': b'{'}
        bodies = {
            'twice': b'{"exp":9999999999,"exp":1}', 'twice_escaped': b'{"exp":9999999999,"ex\\u0070":1}',
            'deep': b'{"exp":' + b'[' * 16 + b']' * 16 + b'}', 'list': [1], 'text': b'"x"', 'behind': b'{}{}', 'nan': b'{"exp":NaN}',
            'huge': b'{"exp":1e999}', 'mark': b'\xef\xbb\xbf{"exp":1}', 'latin': b'{"a":"\xe9"}', 'surrogate': b'{"a":"\\ud800"}',
            'nul': b'{"a":"\\u0000"}', 'nothing': '', 'no_json': b'{"exp":1',
        }
        self.all_refused(
            'malformed token', one='abc', two=f'{header}.{claims}', four=token + '.', five=f'{header}..{signature}.{claims}.AAAA',
            dots='..', more_dots='...', padded=token + '=', one_letter=token + 'AAA', unused_bits=joined(header, claims, unused),
            plus=joined(header, claims, signature[:-2] + '++'), slash=joined(header, claims, '////'),
            **{f'header_{name}': joined(odd, claims, signature) for name, odd in headers.items()},
            **{f'claims_{name}': joined(header, odd, signature) for name, odd in bodies.items()})
        self.comes_in(token)

    def test_sizes(self):
        self.refused(self.token(x='y' * 6800), 'malformed token')
        self.assertProblem(self.server.get('/me', f'authorization: Bearer {"a" * 17 * 1024}'), 431)
        token = self.token(x='y' * 5900)
        self.assertGreater(len(token), 8000)
        self.comes_in(token)

    def test_what_they_allow(self):
        read = self.token(scope='write read', roles=['editor'])
        self.assertEqual(self.comes_in(read, '/read').body, b'read')
        self.assertEqual(self.comes_in(read, '/editors').body, b'editors')
        self.assertEqual(self.comes_in(self.token(role='admin'), '/admin').body, b'admin')
        for path, token, scope in (('/admin', read, ''), ('/read', self.token(scope='write'), 'scope="read", '),
                                   ('/read', self.token(), 'scope="read", ')):
            response = self.ask(token, path)
            self.assertProblem(response, 403)
            self.assertEqual(response.header('www-authenticate'), f'{REALM}, error="insufficient_scope", {scope}{RESOURCE}')

        response = self.ask('abc', '/read')
        self.assertEqual(response.header('www-authenticate'),
                         f'{REALM}, error="invalid_token", error_description="malformed token", scope="read", {RESOURCE}')

    def test_requests(self):
        for path, scope in (('/me', ''), ('/read', 'scope="read", ')):
            response = self.wire.ask(request('GET', path))
            self.assertProblem(response, 401)
            self.assertEqual(response.header('www-authenticate'), f'{REALM}, {scope}{RESOURCE}')
        token = self.token()
        for fields in ((f'authorization: Bearer {token}', f'authorization: Bearer {token}'), ('authorization: Bearer',),
                       (f'authorization: Bearer {token},{token}',)):
            response = self.wire.ask(request('GET', '/me', *fields))
            self.assertProblem(response, 400)
            self.assertRegex(response.header('www-authenticate'), f'^{REALM}, error="invalid_request", error_description="[^"]+", {RESOURCE}$')

    def test_one_load_was_enough(self):
        """All that was refused, unknown keys as well, asked the issuer for nothing more while it is to be left alone."""
        self.comes_in(self.token())
        self.refused(self.token(header={'kid': 'never'}), 'unknown key')
        self.assertEqual(self.issuer.asked, {METADATA: 1, KEYS: 1})


if __name__ == '__main__':
    unittest.main()
