"""Runs the scripts of tlsfuzzer against `secure` of tests/e2e/servers, and prints TAP.

    tlsfuzzer.py BUILD [SCRIPT…]     SCRIPT: tls13-ecdhe-curves, say; default: all

EDDY_TLSFUZZER         the folder with checkouts of tlsfuzzer and tlslite-ng, side by side
EDDY_TLSFUZZER_LOGS    a folder for what the scripts print; default: nothing is kept
EDDY_TLSFUZZER_PYTHON  a Python that has ecdsa (Debian: python3-ecdsa); default: /usr/bin/python3

A script passes if each of its conversations passes or fails as docs/tls-conformance.md explains: `expected` below has the patterns,
matched with "CONVERSATION: WHAT WAS WRONG", and names the section there. A script that is not named here fails.
"""
# needs: openssl python3-ecdsa
import collections
import os
import re
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, 'e2e', 'helpers')]
from tap import Tap  # noqa: E402

SECONDS = 600
# Its suites are those of CBC unless it is told otherwise, which most scripts can't be: they stand for those of GCM here.
RUN = '''
import importlib, sys
from tlslite.constants import CipherSuite as Suites, ClientCertificateType as Types
kind, name = sys.argv[1:3]
sys.argv[:3] = [name]
for old, new in (('128_CBC_SHA', '128_GCM_SHA256'), ('128_CBC_SHA256', '128_GCM_SHA256'),
                 ('256_CBC_SHA', '256_GCM_SHA384'), ('256_CBC_SHA384', '256_GCM_SHA384')):
    for key in ('RSA', 'ECDSA'):
        setattr(Suites, f'TLS_ECDHE_{key}_WITH_AES_{old}', getattr(Suites, f'TLS_ECDHE_{kind}_WITH_AES_{new}'))
# wolfSSL asks for certificates of the kind of its own only, though it takes others.
Types.ecdsa_sign = Types.rsa_sign
importlib.import_module('tlsfuzzer._apps.test_' + name.replace('-', '_')).main()
'''

# What is not run, by the section of docs/tls-conformance.md that says why.
LEFT_OUT = {
    'key exchange': '''bleichenbacher-timing-marvin bleichenbacher-timing-pregenerate bleichenbacher-workaround clienthello-md5
        dhe-key-share-random dhe-no-shared-secret-padding dhe-rsa-key-exchange dhe-rsa-key-exchange-signatures
        dhe-rsa-key-exchange-with-bad-messages empty-extensions export-ciphers-rejected ffdhe-expected-params ffdhe-negotiation
        fuzzed-finished invalid-cipher-suites invalid-rsa-key-exchange-messages invalid-session-id invalid-version
        message-duplication tls13-dhe-shared-secret-padding tls13-ffdhe-groups tls13-ffdhe-sanity truncating-of-finished
        truncating-of-kRSA-client-key-exchange dsa-sig-flexibility dsa-in-certificate-verify
        ecdhe-padded-shared-secret ecdhe-rsa-key-share-random serverhello-random unsupported-curve-fallback''',
    'modes': '''aesccm atypical-padding chacha20 cve-2016-2107 cve-2016-7054 encrypt-then-mac encrypt-then-mac-renegotiation fuzzed-MAC
        fuzzed-padding fuzzed-plaintext lucky13 openssl-3712''',
    'versions': '''SSLv3-padding TLSv1_2-rejected-without-TLSv1_2 sslv2-connection sslv2-force-cipher sslv2-force-cipher-3des
        sslv2-force-cipher-non3des sslv2-force-export-cipher sslv2hello-protocol''',
    'renegotiation': '''interleaved-application-data-and-fragmented-handshakes-in-renegotiation
        interleaved-application-data-in-renegotiation legacy-renegotiation renegotiation-changed-clienthello
        renegotiation-disabled renegotiation-disabled-client-cert sig-algs-renegotiation-resumption''',
    'extensions': '''heartbeat ocsp-stapling record-size-limit tls13-certificate-compression tls13-client-certificate-compression
        tls13-mldsa-in-certificate-verify tls13-mlkem tls13-post-handshake-auth tls13-psk_dhe_ke tls13-psk_ke
        tls13-ecdsa-brainpool-in-certificate-verify tls13-eddsa tls13-eddsa-in-certificate-verify eddsa-in-certificate-verify
        tls13-ecdhe-brainpool-curves tls13-keyupdate-from-server''',
    'echo': 'lengths tls13-lengths',
    'signatures': 'ecdhe-rsa-key-exchange',
    'certificates': 'tls13-rsapss-signatures',
    'timing': 'tls13-minerva',
}

# The conversations that are expected to fail, of those that are run, and the section that says why.
HANDSHAKE_FAILURE, OTHER_ALERT = r'Alert\(fatal, handshake_failure\)|received "handshake_failure"', 'Expected alert description'
REFUSED = r'Alert\(fatal, '
TOO_LARGE = [(r'decode_error|Unexpected closure', 'size')]
EXPECTED = {
    'alpn-negotiation': [('renegotiation', 'renegotiation'), ('resumption', 'tickets'), ('16269', 'size'),
                         ('no_application_protocol', 'tolerated')],
    'ccs': [(OTHER_ALERT, 'alerts')],
    'certificate-malformed': [(OTHER_ALERT, 'alerts')],
    'certificate-request': [('cert types|sigalgs', 'certificate requests')],
    'certificate-verify': [('sigalgs', 'certificate requests')],
    'certificate-verify-malformed': [(OTHER_ALERT, 'alerts')],
    'certificate-verify-malformed-sig': [(OTHER_ALERT, 'alerts'), ('sha1', 'signatures')],
    'client-compatibility': [('protocol_version', 'versions'), (HANDSHAKE_FAILURE, 'modes'), ('decode_error', 'versions')],
    'client-hello-max-size': TOO_LARGE,
    'cve-2004-0079': [(OTHER_ALERT, 'alerts')],
    'cve-2016-6309': TOO_LARGE,
    'downgrade-protection': [('protocol_version', 'versions')],
    'ecdsa-in-certificate-verify': [(OTHER_ALERT, 'alerts'), ('sha1|sha224', 'signatures'), ('sigalgs', 'certificate requests')],
    'ecdsa-sig-flexibility': [('sha1|sha224', 'signatures'), (HANDSHAKE_FAILURE, 'certificates')],
    'extended-master-secret-extension': [('renegotiat', 'renegotiation'), ('resume', 'tickets'), ('protocol_version', 'versions'),
                                         ('DHE', 'key exchange'), ('EMS|extended master secret', 'renegotiation')],
    'extended-master-secret-extension-with-client-cert': [('resume', 'tickets')],
    'extensions': [('decode_error"', 'alerts'), ('decode_error', 'size'), (HANDSHAKE_FAILURE, 'key exchange')],
    'fallback-scsv': [(REFUSED, 'versions'), (OTHER_ALERT, 'alerts')],
    'interleaved-CKE-with-CCS': [(OTHER_ALERT, 'alerts')],
    'invalid-client-hello': [(OTHER_ALERT, 'alerts'), (HANDSHAKE_FAILURE, 'key exchange')],
    'invalid-client-hello-w-record-overflow': [(OTHER_ALERT, 'alerts'), (HANDSHAKE_FAILURE, 'key exchange')],
    'invalid-server-name-extension': [('server_hello', 'names'), ('decode_error', 'names')],
    'invalid-server-name-extension-resumption': [('SNI', 'names')],
    'large-hello': TOO_LARGE,
    'large-number-of-extensions': TOO_LARGE,
    'message-skipping': [(OTHER_ALERT, 'alerts')],
    'no-heartbeat': [('closure', 'alerts')],
    'no-mlkem-in-old-tls': [(REFUSED, 'versions')],
    'point-extension': [('ompressed|Empty', 'tolerated')],
    'record-layer-fragmentation': [('closure', 'fragments'), ('decode_error', 'size')],
    'resumption-with-wrong-ciphers': [('resum', 'tickets')],
    'rsa-sigs-on-certificate-verify': [('sha1', 'signatures')],
    'rsa-pss-sigs-on-certificate-verify': [('sha1', 'signatures')],
    'session-ticket-resumption': [('renegotiation', 'renegotiation'), ('session', 'tickets')],
    'sessionID-resumption': [('session', 'tickets')],
    'sig-algs': [('pss_pss', 'certificates')],
    'signature-algorithms': [('SHA-1', 'signatures'), (REFUSED, 'size')],
    'tls13-0rtt-garbage': [('record later in handshake', 'early data')],
    'tls13-certificate-request': [('sigalgs|extensions', 'certificate requests')],
    'tls13-certificate-verify': [('sigalgs', 'certificate requests')],
    'tls13-count-tickets': [('count', 'tickets')],
    'tls13-crfg-curves': [('x448', 'groups'), (OTHER_ALERT, 'alerts')],
    'tls13-ecdhe-curves': [('x448', 'groups')],
    'tls13-ecdsa-in-certificate-verify': [('signature is refused', 'signatures'), ('sigalgs', 'certificate requests')],
    'tls13-ecdsa-support': [(HANDSHAKE_FAILURE, 'certificates')],
    'tls13-finished': [('pad_right 131072|closure', 'size')],
    'tls13-invalid-ciphers': [('protocol_version', 'alerts')],
    'tls13-keyupdate': [('closure|BrokenPipe', 'fragments')],
    'tls13-large-number-of-extensions': TOO_LARGE,
    'tls13-legacy-version': [('illegal_parameter', 'tolerated')],
    'tls13-multiple-ccs-messages': [('closure', 'alerts'), ('illegal_parameter', 'alerts')],
    'tls13-no-unknown-groups': [('between 1 and 259', 'groups')],
    'tls13-non-support': [('try negotiating TLS 1.3', 'versions')],
    'tls13-obsolete-curves': [('supported_groups', 'tolerated')],
    'tls13-record-layer-limits': [(OTHER_ALERT, 'size')],
    'tls13-serverhello-random': [('ffdhe|x448', 'groups')],
    'tls13-session-resumption': [('PSK_ONLY', 'tickets')],
    'tls13-shuffled-extentions': [('decode_error', 'size'), ('server_hello', 'tolerated')],
    'tls13-signature-algorithms': [(REFUSED, 'size')],
    'tls13-symetric-ciphers': [('CCM', 'modes')],
    'tls13-unencrypted-alert': [('unencrypted Alert', 'alerts')],
    'tls13-unrecognised-groups': [('decode_error', 'size'), ('ffdhe', 'groups')],
    'tls13-version-negotiation': [('1.8', 'versions')],
    'tls13-zero-content-type': [('closure', 'alerts')],
    'tls13-zero-length-data': [(OTHER_ALERT, 'alerts')],
    'version-numbers': [('0, 0|4, 1', 'tolerated')],
    'x25519': [('x448', 'groups'), ('DHE', 'key exchange'), ('sha-1', 'signatures')],
}
# With a certificate of the client: the kind of its key.
CERTIFIED = {
    'rsa': '''certificate-malformed certificate-request certificate-verify certificate-verify-malformed
        certificate-verify-malformed-sig extended-master-secret-extension-with-client-cert rsa-pss-sigs-on-certificate-verify
        rsa-sigs-on-certificate-verify tls13-certificate-request tls13-certificate-verify''',
    'ecdsa': 'ecdsa-in-certificate-verify tls13-ecdsa-in-certificate-verify',
}
# Those that are run against a certificate of ECDSA as well: the others can't verify one.
ECDSA = '''connection-abort conversation tls13-ecdhe-curves tls13-ecdsa-support tls13-signature-algorithms ecdsa-sig-flexibility'''


def words(groups):
    return {name: key for key, names in groups.items() for name in names.split()}


def openssl(*args):
    subprocess.run(['openssl', *args], check=True, capture_output=True)


class Server:
    def __init__(self, build, folder, kind, *args):
        self.process = subprocess.Popen(
            [os.path.join(build, 'tests', 'e2e', 'servers', 'secure'), '--bind', '127.0.0.1:0', '--dir', folder,
             '--cert', f'{folder}/{kind}.pem', '--key', f'{folder}/{kind}.key', *args],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said = ''
        for line in self.process.stdout:
            self.said += line
            if match := re.search(r'Listening on 127.0.0.1:(\d+)', line):
                self.port = match[1]
                break
        else:
            raise AssertionError(self.said)
        threading.Thread(target=self.drain).start()

    def drain(self):
        for line in self.process.stdout:
            self.said += line

    def end(self):
        self.process.terminate()
        return self.process.wait(60)


def failures(said):
    """The conversations that have failed: each its name, a colon and what was wrong, as far as that is told."""
    parts = re.split(r'^(.+?) ?\.\.\.$', said, flags=re.MULTILINE)
    errors = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        if found := re.findall(r'^(?:[\w.]*Error|[\w.]*Exception)(?:: .*)?$', text, re.MULTILINE):
            errors[name] = found[-1]
    for name in re.findall(r'^\t(?=[\'"])(.+)$', said, re.MULTILINE):
        name = name[1:-1].replace("\\'", "'")
        yield f'{name}: {errors.get(name, "")}'


class Scripts:
    def __init__(self, tap, checkout, folder):
        self.tap, self.checkout, self.folder = tap, checkout, folder
        self.logs = os.environ.get('EDDY_TLSFUZZER_LOGS')

    def args(self, name, certified):
        with open(os.path.join(self.checkout, 'tlsfuzzer', 'tlsfuzzer', '_apps', f'test_{name.replace("-", "_")}.py')) as file:
            source = file.read()
        if re.search(r'^ *print\(" -d ', source, re.MULTILINE):
            yield '-d'
        if certified:
            yield from ('-k', f'{self.folder}/client-{certified}.key', '-c', f'{self.folder}/client-{certified}.pem')

    def run(self, server, kind, name, certified=None):
        path = os.pathsep.join(os.path.join(self.checkout, project) for project in ('tlsfuzzer', 'tlslite-ng'))
        try:
            done = subprocess.run(
                [os.environ.get('EDDY_TLSFUZZER_PYTHON', '/usr/bin/python3'), '-c', RUN, kind.upper(), name, '-h', 'localhost',
                 '-p', server.port, *self.args(name, certified)], cwd=self.folder, capture_output=True, check=False,
                text=True, errors='replace', timeout=SECONDS, env={**os.environ, 'PYTHONPATH': path})
            said = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            said = ' ...\nTimeoutError: the script itself\n'
        if self.logs:
            with open(os.path.join(self.logs, f'{name}.{kind}.log'), 'w') as file:
                file.write(said)
        self.judge(f'{name}, {kind}' + (f', a client of {certified}' if certified else ''), name, said)

    def judge(self, label, name, said):
        passed = re.search(r'^PASS: (\d+)$', said, re.MULTILINE)
        explained, others = collections.Counter(), collections.Counter()
        for failure in failures(said):
            reason = next((why for pattern, why in EXPECTED.get(name, ()) if re.search(pattern, failure)), None)
            if reason:
                explained[reason] += 1
            else:
                others[failure] += 1
        label += ''.join(f', {count} {why}' for why, count in sorted(explained.items()))
        if others:
            self.tap.fail(label, '\n'.join(f'{count} x {failure}' for failure, count in others.most_common(20)))
        elif not passed or not int(passed[1]):
            self.tap.fail(label, said[-2000:])
        else:
            self.tap.ok(f'{label}, {passed[1]} passed')


def prepare(folder):
    for name, key in (('rsa', ['rsa:2048']), ('ecdsa', ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'])):
        for who in (name, f'client-{name}'):
            openssl('req', '-x509', '-newkey', *key, '-nodes', '-days', '30', '-subj', f'/CN={who}', '-addext',
                    'subjectAltName=DNS:localhost', '-keyout', f'{folder}/{who}.key', '-out', f'{folder}/{who}.pem')
    with open(f'{folder}/clients.pem', 'w') as file:
        for name in ('rsa', 'ecdsa'):
            with open(f'{folder}/client-{name}.pem') as pem:
                file.write(pem.read())


def main(build, *only):
    tap, checkout = Tap(), os.environ.get('EDDY_TLSFUZZER')
    if not checkout:
        tap.skip('tlsfuzzer', 'EDDY_TLSFUZZER names no folder with checkouts of tlsfuzzer and tlslite-ng')
        return tap.end()
    left_out, certified = words(LEFT_OUT), words(CERTIFIED)
    scripts = os.path.join(checkout, 'tlsfuzzer', 'scripts')
    names = only or sorted(name[5:-3] for name in os.listdir(scripts) if name.startswith('test-'))
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        plain = {kind: Server(build, folder, kind) for kind in ('rsa', 'ecdsa')}
        asking = Server(build, folder, 'rsa', '--client-ca', f'{folder}/clients.pem')
        runner = Scripts(tap, checkout, folder)
        for name in names:
            if name in left_out and not only:
                tap.skip(name, left_out[name])
            elif name in certified:
                runner.run(asking, 'rsa', name, certified[name])
            else:
                runner.run(plain['rsa'], 'rsa', name)
                if name in ECDSA.split():
                    runner.run(plain['ecdsa'], 'ecdsa', name)
        for server in (*plain.values(), asking):
            tap.check('the server ends well', '' if server.end() == 0 and 'ERROR' not in server.said else server.said)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
