"""Certificates that are too weak, or for other purposes: whoever verifies them refuses them, wherever in a chain they are."""
import ssl

import tls
from test_client import HELLO, Script, fetch
from tls import TlsCase, at, context, make, tearDownModule  # noqa: F401
from wire import Case

# The library takes no other for an authority in the middle of a chain.
MIDDLE = ('-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign')
PSS = ('-sigopt', 'rsa_padding_mode:pss')
# Names of certificates and the digest that each is signed with.
WEAK = {'sha1': ('-sha1',), 'md5': ('-md5',), 'pss-sha1': ('-sha1', *PSS)}
STRONG = {'sha256': ('-sha256',), 'sha512': ('-sha512',), 'pss-sha256': ('-sha256', *PSS), 'pss-sha384': ('-sha384', *PSS)}
# What authorities may certify: a certificate of localhost and 127.0.0.1, or not. Some versions of the library accept all of the
# latter: addresses, a wildcard of an excluded name, a name that only ends like one that is permitted, URIs.
ALLOWED = {'by-name': 'permitted;DNS:localhost', 'by-address': 'excluded;IP:10.0.0.0/255.0.0.0', 'by-uri': 'permitted;URI:.example'}
EXCLUDED = {'no-address': 'excluded;IP:127.0.0.0/255.0.0.0', 'no-wildcard': 'excluded;DNS:a.example', 'no-part': 'permitted;DNS:ocalhost',
            'no-uri': 'excluded;URI:a.example'}
NAMES = {'by-name': ('DNS:localhost',), 'no-wildcard': ('DNS:localhost', 'DNS:*.example'), 'no-part': ('DNS:localhost',),
         'no-uri': ('DNS:localhost', 'URI:https://a.example/')}
REASON = 'has an RSA key of less than 2048 bits'


def bound(constraint):
    return '-addext', f'nameConstraints=critical,{constraint}'


def leaf(name, names=('DNS:localhost', 'IP:127.0.0.1'), **options):
    make(name, '/CN=jo', *names, **options)


def chain(name, names=('DNS:localhost', 'IP:127.0.0.1'), **options):
    """NAME.pem is signed by another one, which is made as told."""
    if options:
        make(f'{name}-middle', f'/CN={name}', **options)
    leaf(name, names, ca=f'{name}-middle')
    with open(at(f'{name}.pem'), 'a') as file:
        file.write(tls.text_of(f'{name}-middle.pem'))
    with open(at(f'{name}.both'), 'a') as file:
        file.write(tls.text_of(f'{name}-middle.pem'))


def setUpModule():
    tls.setUpModule()
    make('root', '/CN=root', rsa=2048)
    make('root-sha1', '/CN=root-sha1', rsa=2048, args=('-sha1',))
    for name, args in (WEAK | STRONG).items():
        leaf(name, ca='root', args=args)
        chain(f'under-{name}', ca='root', args=(*args, *MIDDLE))
    leaf('rsa-1024', ca='root', rsa=1024)
    leaf('rsa-3072', ca='root', rsa=3072)
    chain('under-rsa-1024', ca='root', rsa=1024, args=MIDDLE)
    chain('under-rsa-3072', ca='root', rsa=3072, args=MIDDLE)
    leaf('ecdsa-sha1', ca='ca', args=('-sha1',))
    leaf('under-root-sha1', ca='root-sha1')
    # With the root in the chain.
    leaf('whole', ca='root-sha1')
    with open(at('whole.pem'), 'a') as file:
        file.write(tls.text_of('root-sha1.pem'))
    # It is named like the root, and signed by it, but is another.
    make('alias-middle', '/CN=root', ca='root', args=('-sha1', *MIDDLE))
    chain('alias')
    for name, constraint in (ALLOWED | EXCLUDED).items():
        names = NAMES.get(name, ('DNS:localhost', 'IP:127.0.0.1'))
        chain(name, names, ca='root', args=(*MIDDLE, *bound(constraint)))
        make(f'{name}-root', f'/CN={name}-root', args=bound(constraint))
        leaf(f'{name}-direct', names, ca=f'{name}-root')
    # An authority below one with constraints that has its name, or that of the root, and a key of its own.
    make('bound', '/CN=bound', ca='root', args=(*MIDDLE, *bound(next(iter(EXCLUDED.values())))))
    for name, subject in (('self-issued', '/CN=bound'), ('named-as-root', '/CN=root')):
        make(f'{name}-middle', subject, ca='bound', args=MIDDLE)
        chain(name)
        with open(at(f'{name}.pem'), 'a') as file:
            file.write(tls.text_of('bound.pem'))
    for use in ('serverAuth', 'clientAuth', 'anyExtendedKeyUsage', 'codeSigning'):
        leaf(use, ca='ca', args=('-addext', f'extendedKeyUsage={use}'))


class OnClient(Case):
    def says(self, text, *certs, ca='root'):
        """What a client says of servers with these certificates, in both versions."""
        for cert in certs:
            for version in (tls.V12, tls.V13):
                with self.subTest(cert=cert, version=version):
                    with Script(HELLO, cert=cert, version=version, weak=True) as script:
                        said = fetch(script.url(), ca=ca)
                    self.assertRegex(said[0], text)

    def test_weak_ones(self):
        weak = f'^-129 .*{REASON}'
        self.says(weak, *WEAK, *(f'under-{name}' for name in WEAK), 'rsa-1024', 'under-rsa-1024')
        self.says(weak, 'ecdsa-sha1', ca='ca')

    def test_strong_ones(self):
        self.says('^200 hello$', *STRONG, *(f'under-{name}' for name in STRONG), 'rsa-3072', 'under-rsa-3072')

    def test_the_root_may_sign_itself_by_any_means(self):
        self.says('^200 hello$', 'under-root-sha1', 'whole', ca='root-sha1')

    def test_a_namesake_of_the_root_may_not(self):
        self.says(f'^-129 .*{REASON}', 'alias')

    def test_names_that_an_authority_may_not_certify(self):
        self.says('^-129 ', *EXCLUDED)
        for name in EXCLUDED:
            self.says('^-129 ', f'{name}-direct', ca=f'{name}-root')
        self.says('^-129 ', 'self-issued', 'named-as-root')

    def test_names_that_it_may(self):
        """No version of wolfSSL applies all constraints, so an authority that has any is refused."""
        want = '^-129 .*or has name constraints'
        self.says(want, *ALLOWED)
        for name in ALLOWED:
            self.says(want, f'{name}-direct', ca=f'{name}-root')

    def test_for_another_purpose(self):
        self.says('^-129 .*it is not a server certificate', 'clientAuth', 'codeSigning', ca='ca')
        self.says('^200 hello$', 'serverAuth', 'anyExtendedKeyUsage', ca='ca')


class OnServer(TlsCase):
    """Of certificates of clients."""

    def shows(self, server, cert, version):
        using = context(version=version)
        using.set_ciphers('DEFAULT:@SECLEVEL=0')
        using.load_cert_chain(at(f'{cert}.pem'), at(f'{cert}.key'))
        return self.session(self.dial(server, using)).header('x-peer')

    def test_them(self):
        server = self.secure('--client-ca', at('root.pem'), '--required')
        for version in (tls.V12, tls.V13):
            for cert in ('sha256', 'under-sha256', 'pss-sha256', 'rsa-3072'):
                with self.subTest(cert=cert, version=version):
                    self.assertEqual(self.shows(server, cert, version), 'CN=jo')
            for cert in ('sha1', 'md5', 'pss-sha1', 'rsa-1024', 'under-sha1', 'under-rsa-1024'):
                with self.subTest(cert=cert, version=version), self.assertRaisesRegex(ssl.SSLError, '(?i)bad.certificate'):
                    self.shows(server, cert, version)
