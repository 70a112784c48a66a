"""TLS: curl, `openssl s_client` and OpenSSL by Python's ssl as clients."""
import contextlib
import ctypes
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

from tls import (V12, V13, Answers, ByHand, TlsCase, TlsWire, at, context, has_ktls, make, openssl, setUpModule,  # noqa: F401
                 tearDownModule, text_of)
from coding import CODINGS, decode
from recorded import unrepeatable
from wire import KIB, MIB, PROGRAMS, Lost, Server, Wire, chunked, in_threads, is_sanitized, only_http1, pattern, request, sha256_of, speaks_http2


class Basics(TlsCase):
    def test_both_versions(self):
        server = self.secure()
        for version, name in ((V12, 'TLSv1.2'), (V13, 'TLSv1.3')):
            with self.subTest(name):
                wire = self.dial(server, context(version=version))
                self.assertEqual(wire.tls.version(), name)
                answer = self.session(wire)
                self.assertEqual(answer.header('x-version'), name)
                self.assertRegex(answer.header('x-cipher'), '^TLS_')
                self.assertEqual(answer.header('x-name'), 'localhost')
                self.assertEqual(answer.header('x-peer'), '-')
                self.assertEqual(answer.header('x-secure'), 'yes')
                # The connection is kept.
                self.assertEqual(self.session(wire).status, 200)

    def test_a_handshake_waits_for_no_long_job(self):
        server = self.secure()
        # More than the pool has threads for.
        wires = [self.dial(server, context()) for _ in range(6)]
        for wire in wires:
            wire.send(request('GET', '/held'))

        def is_busy():
            with self.dial(server, context()) as wire:
                return int(wire.ask(request('POST', '/let_go/0')).body) >= 2
        self.eventually(is_busy)
        with self.dial(server, context()) as wire:
            self.assertEqual(wire.ask(request('POST', '/let_go/6')).status, 200)
        for wire in wires:
            self.assertEqual(wire.read().body, b'let go')

    def test_the_library_is_named(self):
        server = self.secure()
        version, path = server.wait_for(r'TLS by wolfSSL ([\d.]+), ([^\s;]+)').groups()
        library = ctypes.CDLL(path)
        library.wolfSSL_lib_version.restype = ctypes.c_char_p
        self.assertEqual(library.wolfSSL_lib_version().decode(), version)
        with open(f'/proc/{server.process.pid}/maps') as maps:
            self.assertEqual({line.split()[-1] for line in maps if 'libwolfssl' in line}, {os.path.realpath(path)})
        # ./dev test wolfssl says which it has to be.
        self.assertTrue(os.path.realpath(path).startswith(os.environ.get('EDDY_WOLFSSL_PREFIX', '/')), path)
        # Once, also when certificates are read again.
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('Certificates were reloaded')
        self.assertEqual(server.log.count('TLS by wolfSSL'), 1)

    def test_old_versions_are_refused(self):
        server = self.secure()
        said = openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0',
                       check=False)
        self.assertRegex(said, 'alert (protocol version|handshake failure)')
        server = self.secure('--only-1.3')
        with self.assertRaisesRegex(ssl.SSLError, 'ALERT'):
            self.dial(server, context(version=V12))
        self.assertEqual(self.dial(server).tls.version(), 'TLSv1.3')

    def test_rsa_and_a_file_with_both(self):
        server = self.secure(cert='rsa')
        self.assertEqual(self.session(self.dial(server)).status, 200)
        server = self.serve('--cert', at('rsa.both'), program='secure')
        self.assertEqual(self.session(self.dial(server, context(version=V12))).status, 200)

    def test_every_suite_that_is_offered(self):
        server, rsa = self.secure(), self.secure(cert='rsa')
        for suite in ('TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'):
            said = openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_3', '-ciphersuites', suite)
            self.assertIn(f'Cipher is {suite}', said)
        for suite in ('AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'):
            for port, kind in ((server.port, 'ECDSA'), (rsa.port, 'RSA')):
                using = context(version=V12)
                using.set_ciphers(f'ECDHE-{kind}-{suite}')
                wire = TlsWire(port, using)
                self.assertEqual(wire.tls.cipher()[0], f'ECDHE-{kind}-{suite}')
                self.assertEqual(self.session(wire).status, 200)
                wire.close()

    def test_alpn(self):
        server = self.secure()
        for version in (V12, V13):
            wire = self.dial(server, context(version=version, alpn=['http/1.1']))
            self.assertEqual(wire.tls.selected_alpn_protocol(), 'http/1.1')
            self.assertEqual(self.session(wire).status, 200)
            wire = self.dial(server, context(version=version, alpn=['h2', 'http/1.1']))
            self.assertEqual(wire.tls.selected_alpn_protocol(), 'h2' if speaks_http2() else 'http/1.1')
            with self.assertRaisesRegex(ssl.SSLError, '(?i)no.application.protocol'):
                self.dial(server, context(version=version, alpn=['h3', 'spdy/3']))
        self.assertIsNone(self.dial(server).tls.selected_alpn_protocol())

    @unittest.skipUnless(speaks_http2(), 'needs an eddy with -Dhttp2=enabled')
    @only_http1('a server without HTTP/2')
    def test_alpn_without_http_2(self):
        server = self.serve(self.folder(), '--no-http2', '--cert', at('server.pem'), '--key', at('server.key'))
        for version in (V12, V13):
            wire = self.dial(server, context(version=version, alpn=['h2', 'http/1.1']))
            self.assertEqual(wire.tls.selected_alpn_protocol(), 'http/1.1')
            self.assertServes(wire)
            with self.assertRaisesRegex(ssl.SSLError, '(?i)no.application.protocol'):
                self.dial(server, context(version=version, alpn=['h2']))

    def test_the_certificate_goes_by_the_name(self):
        server = self.secure('--more', at('one.both'), '--more', at('wild.both'))
        for host, name in (('localhost', 'localhost'), ('one.example', 'one'), ('ONE.example', 'one'),
                           ('other.example', 'wild'), ('a.wild.example', 'wild')):
            with self.subTest(host):
                wire = self.dial(server, host=host)
                self.assertEqual(wire.peer_name(), name)
                self.assertEqual(self.session(wire).header('x-name'), host.lower())
        unverified = context()
        unverified.check_hostname = False
        for host in ('two.example', 'a.b.wild.example', 'wild.example', None, '127.0.0.1'):
            with self.subTest(host):
                self.assertEqual(self.dial(server, unverified, host=host).peer_name(), 'localhost')

    def shows(self, server, *args):
        """By what kind of key the server has signed, for a client with these options."""
        said = openssl('s_client', '-connect', f'127.0.0.1:{server.port}', *args, check=False)
        kind = re.search('Peer signature type: (.*)', said)
        # OpenSSL 3.5 names the scheme.
        kinds = {'ecdsa': 'ECDSA', 'rsa_pss': 'RSA-PSS', 'rsa_pkcs1': 'RSA'}
        return kind and next((kinds[start] for start in kinds if kind[1].startswith(start)), kind[1]) or said

    def test_the_certificate_goes_by_what_the_client_verifies(self):
        ecdsa, rsa = self.secure('--more', at('rsa.both')), self.secure('--more', at('server.both'), cert='rsa')
        for server, first in ((ecdsa, ('ECDSA', 'ECDSA')), (rsa, ('RSA-PSS', 'RSA'))):
            for args, want in (
                    (('-tls1_3',), first[:1]),
                    (('-tls1_3', '-sigalgs', 'rsa_pss_rsae_sha384'), ('RSA-PSS',)),
                    (('-tls1_3', '-sigalgs', 'ECDSA+SHA256'), ('ECDSA',)),
                    (('-tls1_3', '-sigalgs', 'ECDSA+SHA256:RSA+SHA256'), ('ECDSA',)),     # RSA is not that of 1.3
                    (('-tls1_3', '-sigalgs', 'rsa_pss_rsae_sha256:ECDSA+SHA384'), ('RSA-PSS',)),  # for another curve
                    (('-tls1_2',), ('RSA-PSS', *first)),
                    (('-tls1_2', '-cipher', 'ECDHE-RSA-AES128-GCM-SHA256'), ('RSA', 'RSA-PSS')),
                    (('-tls1_2', '-cipher', 'ECDHE-ECDSA-CHACHA20-POLY1305'), ('ECDSA',)),
                    (('-tls1_2', '-sigalgs', 'RSA+SHA256'), ('RSA',)),
                    (('-tls1_2', '-sigalgs', 'ECDSA+SHA384'), ('ECDSA',)),
                    (('-tls1_2', '-curves', 'X25519'), ('RSA', 'RSA-PSS'))):
                with self.subTest(args, first=first):
                    self.assertIn(self.shows(server, *args), want)
        both = '-tls1_3', '-sigalgs', 'ECDSA+SHA256:rsa_pss_rsae_sha256'
        server = self.secure('--more', at('rsa.both'), cert='p384')
        self.assertEqual(self.shows(server, '-tls1_3'), 'ECDSA')
        self.assertEqual(self.shows(server, *both), 'RSA-PSS')

    def test_the_name_counts_more(self):
        server = self.secure('--more', at('rsa.both'), '--more', at('one.both'))
        self.assertEqual(self.shows(server, '-tls1_3', '-servername', 'localhost', '-sigalgs', 'rsa_pss_rsae_sha256'), 'RSA-PSS')
        self.assertIn('handshake failure', self.shows(server, '-tls1_3', '-servername', 'one.example', '-sigalgs',
                                                      'rsa_pss_rsae_sha256'))

    def test_sessions_are_resumed_on_every_worker(self):
        server = self.secure('--workers', 2)
        for version in (V12, V13):
            using = context(version=version)
            first = self.dial(server, using)
            self.assertEqual(self.session(first).header('x-resumed'), 'no')
            for _ in range(8):
                again = self.dial(server, using, session=first.tls.session)
                self.assertTrue(again.tls.session_reused)
                self.assertEqual(self.session(again).header('x-resumed'), 'yes')
        said = openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_2', '-reconnect')
        self.assertEqual(said.count('Reused, TLSv1.2'), 5, said)
        self.assertIn('ticket lifetime hint: 3600 (seconds)', said)

    def test_sessions_outlive_what_is_read_again(self):
        folder = self.folder()
        cert, key = os.path.join(folder, 'cert'), os.path.join(folder, 'key')

        def install(name):
            shutil.copy(at(f'{name}.pem'), cert)
            shutil.copy(at(f'{name}.key'), key)
            server.process.send_signal(signal.SIGHUP)
        shutil.copy(at('server.pem'), cert)
        shutil.copy(at('server.key'), key)
        server = self.serve('--cert', cert, '--key', key, program='secure')
        using = {version: context(version=version) for version in (V12, V13)}
        sessions = {}
        for version in using:
            first = self.dial(server, using[version])
            self.session(first)
            sessions[version] = first.tls.session
        # A client that knows the session of one certificate has not verified another.
        for name, times, want in (('server', 1, True), ('rsa', 2, False), ('server', 3, True)):
            install(name)
            self.eventually(lambda times=times: server.log.count('were reloaded') == times)
            for version in using:
                with self.subTest(name, version=version):
                    again = self.dial(server, using[version], session=sessions[version])
                    self.assertEqual(again.tls.session_reused, want)
                    self.assertEqual(self.session(again).header('x-resumed'), 'yes' if want else 'no')


class Clients(TlsCase):
    """Certificates of clients."""

    def test_optional(self):
        server = self.secure('--client-ca', at('ca.pem'))
        for version in (V12, V13):
            self.assertEqual(self.session(self.dial(server, context(version=version))).header('x-peer'), '-')
            answer = self.session(self.dial(server, context(version=version, cert='client')))
            # What is special is escaped: nobody is two by a name.
            self.assertEqual(answer.header('x-peer'), 'CN=jo/CN=root, O=eddy\\, inc')
            self.assertEqual(answer.body, ssl.PEM_cert_to_DER_cert(text_of('client.pem')))
            self.assertRefusesCert(server, context(version=version, cert='stranger'))

    def assertRefusesCert(self, server, using):
        # In 1.3 the client is done before the server has seen the certificate.
        with self.assertRaisesRegex(ssl.SSLError, '(?i)alert'):
            self.session(self.dial(server, using))

    def test_required(self):
        server = self.secure('--client-ca', at('ca.pem'), '--required')
        for version in (V12, V13):
            self.assertRefusesCert(server, context(version=version))
            self.assertRefusesCert(server, context(version=version, cert='stranger'))
            self.assertEqual(self.session(self.dial(server, context(version=version, cert='client'))).status, 200)

    def test_authorities_are_named(self):
        server = self.secure('--client-ca', at('ca.pem'))
        self.assertRegex(openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_2'),
                         '\nAcceptable client certificate CA names\nCN ?= ?Test CA\n')
        # Several, in one file.
        both = os.path.join(self.folder(), 'both')
        with open(both, 'w') as file:
            file.write(text_of('foreign.pem') + text_of('ca.pem'))
        server = self.secure('--client-ca', both)
        said = openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_2')
        named = re.search('Acceptable client certificate CA names\n((CN ?= ?.*\n)*)', said)[1]
        self.assertEqual(sorted(re.findall('= ?(.*)', named)), ['Foreign CA', 'Test CA'])

    def test_more_authorities_than_a_record_can_name(self):
        many = os.path.join(self.folder(), 'many')
        # Few with long names: the library takes the square of their number.
        make('long', f'/O={"o" * 64}/OU={"u" * 64}/CN=Long CA')
        with open(many, 'w') as file:
            file.write(text_of('ca.pem') + text_of('long.pem') * 120)
        server = self.secure('--client-ca', many)
        said = openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_2')
        self.assertIn('No client certificate CA names sent', said)
        for version in (V12, V13):
            answer = self.session(self.dial(server, context(version=version, cert='client')))
            self.assertIn('CN=jo', answer.header('x-peer'))

    def test_who_must_show_one_resumes_nothing(self):
        server = self.secure('--client-ca', at('ca.pem'), '--required')
        for version in (V12, V13):
            using = context(version=version, cert='client')
            first = self.dial(server, using)
            self.session(first)
            again = self.dial(server, using, session=first.tls.session)
            answer = self.session(again)
            self.assertEqual(answer.header('x-resumed'), 'no')
            self.assertIn('CN=jo', answer.header('x-peer'))


class Resumption(TlsCase):
    def test_no_session_without_an_exchange_of_keys(self):
        """RFC 8446 section 2.2: psk_ke has no forward secrecy."""
        server = self.secure()

        def resumed(mode):
            return subprocess.run([PROGRAMS['resume'], str(server.port), mode], capture_output=True, check=True, timeout=60).stdout
        self.assertEqual(resumed('dhe'), b'resumed\n')
        self.assertIn(resumed('ke'), (b'anew\n', b'refused\n'))
        self.session(self.dial(server))


class Idle(TlsCase):
    def cost(self, version):
        """Bytes that a connection which waits for its next request takes beside wolfSSL's own."""
        server = self.secure()
        self.write('file', bytes(MIB))

        def used():
            whole, library = map(int, asking.ask(request('GET', '/memory')).body.split())
            return whole - library

        def one():
            wire = self.dial(server, context(version=version))
            self.assertEqual(wire.ask(request('PUT', '/files/sent', body=bytes(MIB))).status, 200)
            self.assertEqual(wire.ask(request('GET', '/files/file')).body, bytes(MIB))
            return wire
        asking = self.dial(server)
        # Freed and kept for the next ones: what the first ones have needed.
        for _ in range(4):
            one().close()
        before = used()
        kept = [one() for _ in range(50)]
        return (used() - before) / len(kept)

    @unittest.skipIf(is_sanitized(), 'needs an allocator that counts')
    @only_http1('idle connections of 4 KiB')
    @unrepeatable('memory in use is not recorded')
    def test_what_a_connection_takes(self):
        """No buffer of records, and nothing of the accelerator's."""
        for version in V12, V13:
            with self.subTest(version):
                each = self.cost(version)
                self.assertGreater(each, 500)
                self.assertLess(each, 4 * KIB)


class Bodies(TlsCase):
    def test_large_files_both_ways(self):
        server = self.secure()
        data = pattern(20 * MIB + 4321)
        self.write('big', data)
        for version in ('1.2', '1.3'):
            args = (f'--tlsv{version}', '--tls-max', version)
            self.curl(server, '/files/big', '-o', os.path.join(self.dir, 'got'), *args)
            self.assertEqual(self.sha256('got'), self.sha256('big'))
            self.curl(server, f'/files/up{version}', '-T', os.path.join(self.dir, 'big'), *args)
            self.assertEqual(self.sha256(f'up{version}'), self.sha256('big'))

    def test_sizes_around_records(self):
        server = self.secure()
        wire = self.dial(server)
        for size in (0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 32 * KIB, 32 * KIB + 1, 64 * KIB, 64 * KIB + 5,
                     76 * KIB, 200 * KIB):
            with self.subTest(size):
                data = pattern(size, size)
                self.assertEqual(wire.ask(request('PUT', f'/files/f{size}', f'Content-Length: {size}', body=data))
                                 .status, 200)
                self.assertEqual(wire.ask(request('GET', f'/files/f{size}')).body, data)

    def test_ranges(self):
        server = self.secure()
        data = pattern(3 * MIB)
        self.write('f', data)
        wire = self.dial(server)
        answer = wire.ask(request('GET', '/files/f', 'Range: bytes=1000000-2500000'))
        self.assertEqual((answer.status, answer.body), (206, data[1000000:2500001]))
        answer = wire.ask(request('GET', '/files/f', 'Range: bytes=0-99999,2000000-2999999'))
        self.assertEqual(answer.status, 206)
        self.assertIn(data[:100000], answer.body)
        self.assertIn(data[2000000:3000000], answer.body)

    def test_a_body_while_it_arrives(self):
        server = self.secure()
        data = pattern(2 * MIB)
        pieces = [data[i:i + 50021] for i in range(0, len(data), 50021)]
        with Wire(server.port) as wire:
            hand = ByHand(wire)
            hand.run(hand.tls.do_handshake)
            hand.tls.write(request('POST', '/pump', 'Transfer-Encoding: chunked') + chunked(*pieces) + request('GET', '/'))
            # One session must not be used by two threads at a time: what this one sends is encrypted already.
            sender = threading.Thread(target=wire.send, args=(hand.outside.read(),))
            sender.start()
            answers = Answers(hand)
            self.assertEqual(answers.read().body, data)
            self.assertEqual(answers.read().status, 200)
            sender.join()

    def test_tiny_records(self):
        """A head and a body of which each byte is a record of its own."""
        server = self.secure()
        wire = self.dial(server)
        for byte in request('PUT', '/files/t', body=b'abcdef'):
            wire.send(bytes([byte]))
        self.assertEqual(wire.read().status, 200)
        self.assertEqual(wire.ask(request('GET', '/files/t')).body, b'abcdef')

    def test_a_record_in_pieces(self):
        """Its bytes come a few at a time: nothing is lost between parking and reading."""
        server = self.secure()
        with Wire(server.port) as wire:
            hand = ByHand(wire, step=5)
            hand.run(hand.tls.do_handshake)
            hand.run(hand.tls.write, request('GET', '/'))
            self.assertIn(b'HTTP/1.1 200 OK', hand.run(hand.tls.read, 1000))

    def test_half_a_record_behind_a_whole_one(self):
        """At the end of a handshake; between the halves the server has had the time for a whole one."""
        server = self.secure()
        for first in (6 + 3, 6 + 5, 6 + 20):
            with self.subTest(first), Wire(server.port) as wire:
                hand = ByHand(wire)
                with contextlib.suppress(ssl.SSLWantReadError):
                    hand.tls.do_handshake()
                wire.send(hand.outside.read())
                while not (end := hand.outside.read()):
                    hand.inside.write(wire.socket.recv(MIB))
                    with contextlib.suppress(ssl.SSLWantReadError):
                        hand.tls.do_handshake()
                self.assertEqual(end[:6], b'\x14\x03\x03\x00\x01\x01')
                wire.send(end[:first])
                self.assertEqual(self.session(self.dial(server)).status, 200)
                wire.send(end[first:])
                hand.run(hand.tls.write, request('GET', '/'))
                self.assertIn(b'HTTP/1.1 200 OK', hand.run(hand.tls.read, 1000))

    def test_pipelined(self):
        server = self.secure()
        wire = self.dial(server)
        wire.send(request('GET', '/') * 300)
        for _ in range(300):
            self.assertEqual(wire.read().status, 200)
        data = pattern(100000)
        wire.send(request('PUT', '/files/p', body=data) + request('GET', '/files/p') + request('GET', '/'))
        self.assertEqual(wire.read().status, 200)
        self.assertEqual(wire.read().body, data)
        self.assertEqual(wire.read().status, 200)

    def test_expectation(self):
        server = self.secure()
        wire = self.dial(server)
        self.assertEqual(wire.ask(request('PUT', '/files/e', 'Content-Length: 5', 'Expect: 100-continue')).status, 100)
        self.assertEqual(wire.ask(b'hello').status, 200)

    def test_an_early_answer(self):
        server = self.secure()
        wire = self.dial(server)
        wire.send(request('POST', '/refuse', f'Content-Length: {4 * MIB}') + bytes(MIB))
        answer = wire.read()
        self.assertEqual(answer.status, 409)
        self.assertTrue(answer.closes)
        self.assertClosed(wire)

    def test_a_client_that_reads_late(self):
        server = self.secure()
        self.write('big', pattern(8 * MIB))
        slow = self.dial(server, rcvbuf=4096)
        slow.send(request('GET', '/files/big'))
        # Nobody else waits for it.
        self.assertEqual(self.session(self.dial(server)).status, 200)
        self.assertEqual(slow.read().body, pattern(8 * MIB))


    def test_the_folder_of_files(self):
        folder = self.folder()
        server = self.serve(folder, '--cert', at('server.pem'), '--key', at('server.key'))
        with open(os.path.join(folder, 'a'), 'wb') as file:
            file.write(pattern(3 * MIB))
        path = os.path.join(folder, 'a')
        said = self.curl(server, '/files', '-F', f'x=@{path};filename=b', '-F', f'y=@{path};filename=c').stdout
        self.assertIn(b'"size":3145728', said)
        for name in ('b', 'c'):
            self.assertEqual(sha256_of(os.path.join(folder, name)), sha256_of(path))
        got = os.path.join(self.folder(), 'got')
        self.curl(server, '/files/b', '-r', '1000000-', '-o', got)
        with open(got, 'rb') as file:
            self.assertEqual(file.read(), pattern(3 * MIB)[1000000:])


class Kernel(TlsCase):
    """Where the kernel encrypts (kTLS). All else here is done over it as well on such a machine; qemu_kernel.py is one."""

    def setUp(self):
        super().setUp()
        if not has_ktls():
            self.skipTest('needs a kernel with TLS; as root: modprobe tls')

    def taken_over(self):
        """Connections for which a kernel has ever sent."""
        with open('/proc/net/tls_stat') as file:
            return int(re.search(r'TlsTxSw\s+(\d+)', file.read())[1])

    def spliced(self, server):
        return int(self.session(self.dial(server)).header('x-spliced'))

    def download(self, server, *args):
        """Return: how many connections the kernel took over, and bytes of files that were spliced."""
        spliced, taken = self.spliced(server), self.taken_over()
        got = os.path.join(self.folder(), 'got')
        self.curl(server, '/files/big', '-o', got, *args)
        self.assertEqual(sha256_of(got), self.sha256('big'))
        return self.taken_over() - taken, self.spliced(server) - spliced

    def test_files_are_spliced(self):
        server = self.secure('--workers', 1)
        size = 5 * MIB + 4321
        self.write('big', pattern(size))
        for version in ('--http1.1', '--http2'):
            for suite in ('TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384'):
                self.assertEqual(self.download(server, version, '--tlsv1.3', '--tls13-ciphers', suite), (1, size), suite)
            for suite in ('ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'):
                self.assertEqual(self.download(server, version, '--tls-max', '1.2', '--ciphers', suite), (1, size), suite)

    def test_what_stays_with_the_library(self):
        size = 2 * MIB + 4321
        server = self.secure('--workers', 1)
        self.write('big', pattern(size))
        self.assertEqual(self.download(server, '--tls-max', '1.2', '--ciphers', 'ECDHE-ECDSA-CHACHA20-POLY1305'), (0, 0))
        self.assertEqual(self.download(server, '--tlsv1.3', '--tls13-ciphers', 'TLS_CHACHA20_POLY1305_SHA256'), (0, 0))
        server = self.secure('--workers', 1, '--no_ktls')
        self.write('big', pattern(size))
        self.assertEqual(self.download(server), (0, 0))

    def test_a_resumed_session(self):
        server = self.secure('--workers', 1)
        self.write('big', pattern(300 * KIB))
        for version in (V12, V13):
            using = context(version=version)
            first = self.dial(server, using)
            self.session(first)
            before = self.taken_over()
            again = self.dial(server, using, session=first.tls.session)
            self.assertEqual(self.session(again).header('x-resumed'), 'yes')
            self.assertEqual(self.taken_over(), before + 1)
            self.assertEqual(again.ask(request('GET', '/files/big')).body, pattern(300 * KIB))

    def test_a_goodbye_behind_a_file(self):
        server = self.secure('--workers', 1)
        self.write('big', pattern(300 * KIB))
        for version in (V12, V13):
            before = self.taken_over()
            wire = self.dial(server, context(version=version))
            answer = wire.ask(request('GET', '/files/big', 'Connection: close'))
            self.assertEqual(answer.body, pattern(300 * KIB))
            self.assertClosed(wire)
            self.assertEqual(self.taken_over(), before + 1)

    def test_no_nonce_is_used_twice(self):
        """In 1.2 half of it stands in front of each record: the library's, which begin at random, then the kernel's."""
        server = self.secure('--workers', 1)
        self.write('big', pattern(200 * KIB))
        with Wire(server.port) as wire:
            hand = ByHand(wire, using=context(version=V12))
            hand.run(hand.tls.do_handshake)
            hand.run(hand.tls.write, request('GET', '/files/big', 'Connection: close'))
            body = b''
            while len(body) < 200 * KIB:
                body += hand.run(hand.tls.read, MIB)
        self.assertTrue(body.endswith(pattern(200 * KIB)[-1000:]))
        nonces, sealed, at_byte = [], False, 0
        while at_byte + 13 <= len(hand.heard):
            kind, length = hand.heard[at_byte], int.from_bytes(hand.heard[at_byte + 3:at_byte + 5], 'big')
            if sealed:
                nonces.append(hand.heard[at_byte + 5:at_byte + 13])
            sealed |= kind == 20
            at_byte += 5 + length
        self.assertGreater(len(nonces), 200 * KIB // (16 * KIB))
        self.assertEqual(len(set(nonces)), len(nonces))

    def test_key_updates(self):
        """The client's own keys are the library's business; ours can't be changed any more."""
        server = self.secure()
        self.assertIn(b'x-version: TLSv1.3', self.key_updates(server, b'k', b'k'))
        self.assertNotIn(b'x-version', self.key_updates(server, b'K'))
        self.eventually(lambda: server.sockets() == 1)


class Endings(TlsCase):
    def test_goodbye(self):
        server = self.secure()
        for version in (V12, V13):
            wire = self.dial(server, context(version=version))
            self.assertTrue(wire.ask(request('GET', '/', 'Connection: close')).closes)
            self.assertClosed(wire)
            # A body whose end is that of the connection.
            wire = self.dial(server, context(version=version))
            wire.send(request('POST', '/pump', 'Content-Length: 3', version='1.0', body=b'abc'))
            self.assertEqual(wire.read().body, b'abc')

    def test_a_broken_answer_has_no_goodbye(self):
        server = self.secure()
        wire = self.dial(server)
        wire.send(request('GET', '/broken', version='1.0'))
        with self.assertRaisesRegex(Lost, 'reset'):
            wire.read()
        wire = self.dial(server)
        wire.send(request('GET', '/broken'))
        with self.assertRaises(Lost):
            wire.read()

    def test_idle_time_and_shutdown_say_goodbye(self):
        server = self.secure('--idle_timeout', 200)
        wire = self.dial(server)
        self.session(wire)
        self.assertClosed(wire)
        server = self.secure()
        idle, fresh, busy = self.dial(server), self.dial(server), self.dial(server)
        self.session(idle)
        # Its handshake has ended at both ends.
        self.session(busy)
        busy.send(request('GET', '/slow/1000'))
        with Wire(server.port) as silent:
            self.eventually(lambda: server.sockets() >= 5)
            server.process.send_signal(signal.SIGTERM)
            self.assertClosed(idle)
            self.assertClosed(fresh)
            self.assertEqual(silent.read_end(), b'')
            answer = busy.read()
            self.assertEqual(answer.body, b'slept')
            self.assertClosed(busy)
        self.assertEqual(server.wait(), 0)
        self.assertTrue(answer.closes)

    def opened(self, wire):
        """A client by hand whose first request has been answered."""
        hand = ByHand(wire)
        hand.run(hand.tls.do_handshake)
        hand.run(hand.tls.write, request('GET', '/'))
        self.assertIn(b'200 OK', hand.run(hand.tls.read, 1000))
        return hand

    def opened_in_time(self, server):
        """The same, by a server whose limits are short: again, if this machine was too busy to keep them."""
        for _ in range(100):
            wire = server.connect()
            self.addCleanup(wire.socket.close)
            with contextlib.suppress(Lost, ConnectionResetError):
                return wire, self.opened(wire)
        self.fail('no connection is opened in time')

    def test_a_request_in_a_part_of_a_record(self):
        """It is a head that arrives: it has the time of one, also at the end, and not that of an idle connection."""
        wire, hand = self.opened_in_time(self.secure('--idle_timeout', 60000, '--head_timeout', 300))
        hand.tls.write(request('GET', '/'))
        sealed = hand.outside.read()
        start = time.monotonic()
        for i in range(len(sealed) - 1):
            if select.select([wire.socket], [], [], 0.05)[0]:
                break
            wire.send(sealed[i:i + 1])
        wire.socket.settimeout(5)
        with contextlib.suppress(ConnectionResetError):
            wire.socket.recv(1000)
        self.assertLess(time.monotonic() - start, 2)
        server = self.secure()
        with server.connect() as wire, server.connect() as other:
            hand, ready = self.opened(wire), self.opened(other)
            hand.tls.write(request('GET', '/'))
            sealed = hand.outside.read()
            wire.send(sealed[:50])
            # Who is answered now has come later.
            ready.run(ready.tls.write, request('GET', '/'))
            self.assertIn(b'200 OK', ready.run(ready.tls.read, 1000))
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(other.socket.recv(1000)[:1], b'\x17')
            wire.send(sealed[50:])
            self.assertIn(b'200 OK', hand.run(hand.tls.read, 1000))
        self.assertEqual(server.wait(), 0)

    def test_what_asks_for_nothing_gives_no_time(self):
        server = self.secure('--idle_timeout', 400)
        wire = self.dial(server)
        self.session(wire)
        start = time.monotonic()
        while not select.select([wire.tls], [], [], 0.05)[0]:
            self.assertLess(time.monotonic() - start, 5)
            wire.try_send(b'\r\n')

    def test_what_asks_for_nothing_does_not_hold_the_server(self):
        """Its time is up while there is always more of it here."""
        wire, hand = self.opened_in_time(self.secure('--head_timeout', 100))
        hand.run(hand.tls.write, request('GET', '/'))
        self.assertIn(b'200 OK', hand.run(hand.tls.read, 1000))
        for _ in range(300000):
            hand.tls.write(b'\r\n')
        with self.assertRaises(Lost):
            wire.send(hand.outside.read())
            wire.read_end()

    def test_a_client_that_says_goodbye_first(self):
        """It has shut down its sending side, and still gets its answer (RFC 8446 section 6.1)."""
        server = self.secure()
        for half_close in (False, True):
            with Wire(server.port) as wire:
                hand = ByHand(wire)
                hand.run(hand.tls.do_handshake)
                hand.run(hand.tls.write, request('GET', '/slow/100'))
                with contextlib.suppress(ssl.SSLWantReadError):
                    hand.tls.unwrap()
                wire.send(hand.outside.read())
                if half_close:
                    wire.end()
                self.assertIn(b'slept', hand.run(hand.tls.read, 1000))

    def test_a_body_that_is_cut_off(self):
        server = self.secure()
        for goodbye in (False, True):
            wire = self.dial(server)
            wire.send(request('PUT', '/files/cut', 'Content-Length: 1000000') + bytes(300000))
            if goodbye:
                with contextlib.suppress(ssl.SSLError, OSError):
                    wire.tls.unwrap()
            wire.close()
        self.eventually(lambda: server.sockets() == 1)
        self.assertEqual(os.listdir(self.dir), [])


class Bad(TlsCase):
    """What is no handshake, or a bad one."""

    @only_http1('a response without TLS at a port with TLS')
    def test_plain_http(self):
        server = self.secure()
        with server.connect() as wire:
            answer = wire.ask(request('GET', '/'))
            self.assertEqual(answer.status, 400)
            self.assertIn(b'HTTPS', answer.body)
            self.assertEqual(wire.read_end(), b'')

    def test_garbage(self):
        server = self.secure()
        cases = {
            'zeros': bytes(100),
            'noise': pattern(5000),
            'another version': b'\x16\x02\x00\x00\x05\x01\x00\x00\x01\x00',
            'an empty record': b'\x16\x03\x01\x00\x00',
            'a record too long': b'\x16\x03\x01\x40\x01',
            'a message too long': b'\x16\x03\x01\x00\x04\x01\x01\x00\x00',
            'no hello': b'\x16\x03\x01\x00\x04\x02\x00\x00\x00',
            'a hello of nothing': b'\x16\x03\x01\x00\x04\x01\x00\x00\x00',
            'an alert': b'\x15\x03\x01\x00\x02\x02\x28',
            'a hello in which an extension is too long':
                b'\x16\x03\x01\x00\x33\x01\x00\x00\x2f\x03\x03' + bytes(33) +
                b'\x00\x02\x13\x01\x01\x00\x00\x04\x00\x00\xff\xff',
        }
        for name, data in cases.items():
            with self.subTest(name), server.connect() as wire:
                wire.send(data)
                said = wire.read_end()
                self.assertEqual(said[:5], b'\x15\x03\x03\x00\x02', said)
                self.assertEqual(said[5], 2)
        self.assertEqual(self.session(self.dial(server)).status, 200)

    def hello(self):
        hand = ByHand(None)
        with contextlib.suppress(ssl.SSLWantReadError):
            hand.tls.do_handshake()
        return hand.outside.read()

    def test_a_hello_that_lies_about_its_parts(self):
        """Each byte of it changed: whatever comes of it, the server lives."""
        server = self.secure('--head_timeout', 1000)
        hello = self.hello()
        end = 5 + 4 + 2 + 32 + 1
        wires = []
        for i in [*range(end), *range(end, len(hello), 7)]:
            wire = server.connect()
            wire.try_send(hello[:i] + bytes([hello[i] ^ 0x81]) + hello[i + 1:])
            wires.append(wire)
        for wire in wires:
            with contextlib.suppress(Lost):
                wire.read_end()
            wire.close()
        self.assertEqual(self.session(self.dial(server)).status, 200)

    def test_a_hello_in_many_records(self):
        """RFC 8446 section 5.1: a message may be spread over records."""
        server = self.secure('--more', at('one.both'))
        with server.connect() as wire:
            hand = ByHand(wire, host='one.example')
            with contextlib.suppress(ssl.SSLWantReadError):
                hand.tls.do_handshake()
            hello = hand.outside.read()
            for i in range(5, len(hello), 100):
                piece = hello[i:i + 100]
                wire.send(hello[:3] + len(piece).to_bytes(2, 'big') + piece)
            hand.run(hand.tls.do_handshake)
        self.assertEqual(hand.tls.getpeercert()['subject'][-1][0][1], 'one')

    def test_a_handshake_in_too_many_steps(self):
        """Each byte of a message is a record of its own, and sent once the last one has been worked on."""
        server = self.secure('--head_timeout', 60000)
        with server.connect() as wire:
            hand = ByHand(wire, using=context(version=V12))
            with contextlib.suppress(ssl.SSLWantReadError):
                hand.tls.do_handshake()
            wire.send(hand.outside.read())
            while not wire.buffer.endswith(b'\x0e\0\0\0'):
                wire.more()
            sent = 0
            for piece in [b'\x10\x00\x40\x00', *[b'\0'] * 100]:
                self.assertEqual(self.session(self.dial(server)).status, 200)
                if select.select([wire.socket], [], [], 0)[0]:
                    break
                wire.send(b'\x16\x03\x03' + len(piece).to_bytes(2, 'big') + piece)
                sent += 1
            # Some may have been worked on together.
            self.assertIn(sent, range(31, 80))
            with contextlib.suppress(Lost):
                wire.read_end()

    def test_another_handshake(self):
        """Of a 1.2 session that is open: nobody has the private key used that often."""
        server = self.secure()
        said = openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_2', check=False, stdin=b'R\n')
        self.assertIn('RENEGOTIATING', said)
        self.assertIn('alert unexpected message', said)
        self.eventually(lambda: server.sockets() == 1)

    def test_broken_records(self):
        server = self.secure()
        for version in (V12, V13):
            wire = self.dial(server, context(version=version))
            self.session(wire)
            wire.plain = socket.socket(fileno=os.dup(wire.tls.fileno()))
            # Not authentic, and then as if it were the end.
            wire.plain.sendall(b'\x17\x03\x03\x00\x40' + bytes(64))
            with self.assertRaises((Lost, ssl.SSLError)):
                self.assertNotEqual(wire.read_end(), b'')
            wire.plain.close()
        with self.assertRaises((Lost, ssl.SSLError)):
            wire = self.dial(server)
            wire.send(request('POST', '/pump', 'Content-Length: 100') + b'abc')
            plain = socket.socket(fileno=os.dup(wire.tls.fileno()))
            plain.sendall(b'\x17\x03\x03\x00\x40' + bytes(64))
            plain.close()
            wire.read()
        self.assertEqual(self.session(self.dial(server)).status, 200)

    def test_the_time_of_a_handshake(self):
        server = self.secure('--head_timeout', 300)
        hello = self.hello()
        for sent in (b'', hello[:1], hello[:100], hello[:-1]):
            with self.subTest(len(sent)), server.connect() as wire:
                wire.send(sent)
                start = time.monotonic()
                self.assertEqual(wire.read_end(), b'')
                self.assertLess(time.monotonic() - start, 5)
        # After the server has spoken.
        with server.connect() as wire:
            wire.send(hello)
            said = wire.read_end()
            self.assertEqual(said[:3], b'\x16\x03\x03')

    def test_a_time_of_its_own(self):
        server = self.secure('--handshake_timeout', 600)
        with server.connect() as wire:
            wire.send(self.hello()[:100])
            start = time.monotonic()
            self.assertEqual(wire.read_end(), b'')
            self.assertLess(time.monotonic() - start, 5)
        # What has shaken hands has the time of a head, and of a request.
        wire = self.dial(server)
        self.session(wire)
        wire.send(request('GET', '/')[:10])
        self.assertFalse(select.select([wire.tls], [], [], 0.9)[0])
        self.assertEqual(wire.ask(request('GET', '/')[10:]).status, 200)

    def test_a_handshake_may_take_longer_than_a_head(self):
        server = self.secure('--handshake_timeout', 20000, '--head_timeout', 300)
        with server.connect() as wire:
            hello = self.hello()
            wire.send(hello[:100])
            self.assertFalse(select.select([wire.socket], [], [], 0.8)[0])
            wire.send(hello[100:])
            self.assertEqual(wire.socket.recv(3), b'\x16\x03\x03')
        wire = self.dial(server)
        start = time.monotonic()
        self.assertEqual(wire.read_end(), b'')
        self.assertLess(time.monotonic() - start, 5)

    def test_an_answer_does_not_extend_the_time(self):
        server = self.secure('--head_timeout', 1500)
        with server.connect() as wire:
            self.assertFalse(select.select([wire.socket], [], [], 0.8)[0])
            start = time.monotonic()
            wire.send(self.hello())
            self.assertEqual(wire.read_end()[:3], b'\x16\x03\x03')
            self.assertLess(time.monotonic() - start, 1.4)

    def is_served_between(self):
        """Whether one who has a connection already is answered before all of a crowd have their handshake."""
        server, idle, wires = self.busy('server')
        self.session(idle)
        is_between = not select.select([wires[-1].socket], [], [], 0)[0]
        for wire in wires:
            wire.reset()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        return is_between

    def test_quick_ones_leave_others_their_turn(self):
        """Those of a quick key are made on the loop, as many as there is time for. The best of the tries counts."""
        self.assertTrue(any(self.is_served_between() for _ in range(20)))

    def test_the_end_while_they_are_worked_on(self):
        """Nobody is parked by a step that was begun before the end."""
        for cert, hurried in (('p384', False), ('p384', True), ('server', False)):
            server, idle, wires = self.busy(cert)
            server.process.send_signal(signal.SIGTERM)
            start = time.monotonic()
            self.assertClosed(idle)
            if hurried:
                server.process.send_signal(signal.SIGTERM)
            for wire in wires:
                with contextlib.suppress(Lost):
                    wire.read_end()
                wire.close()
            self.assertEqual(server.wait(), 0)
            self.assertLess(time.monotonic() - start, 9)

    def test_many_at_once(self):
        server = self.secure('--workers', 2)
        using = context()

        def one(_):
            for _ in range(5):
                with contextlib.closing(TlsWire(server.port, using, timeout=60)) as wire:
                    if wire.ask(request('GET', '/')).status != 200:
                        raise AssertionError('no answer')
        in_threads(40, one)
        silent = [server.connect() for _ in range(50)]
        for wire in silent:
            wire.send(self.hello()[:200])
        self.assertEqual(self.session(self.dial(server)).status, 200)
        self.assertLess(server.threads(), 12)
        for wire in silent:
            wire.reset()
        self.eventually(lambda: server.sockets() <= 3)

    def test_clients_that_vanish(self):
        server = self.secure()
        self.write('big', pattern(4 * MIB))
        for i in range(40):
            wire = TlsWire(server.port, context())
            wire.send(request('GET', '/files/big') if i % 2 else
                      request('PUT', '/files/x', 'Content-Length: 1000000') + bytes(40000))
            if i % 3:
                wire.socket.recv(1) if i % 2 else None
            wire.plain = socket.socket(fileno=wire.tls.detach())
            wire.socket = wire.plain
            wire.reset()
        self.eventually(lambda: server.sockets() == 1)
        self.assertEqual(os.listdir(self.dir), ['big'])

    def test_key_updates(self):
        self.assertIn(b'x-version: TLSv1.3', self.key_updates(self.secure('--no_ktls'), b'K', b'k', b'K'))


class Files(TlsCase):
    """Certificates, as files."""

    def refused(self, *args, pattern):
        server = Server(*args, program='secure', start=False)
        self.assertNotEqual(server.wait(), 0)
        self.assertNotIn('Listening', server.log)
        server.process.stderr.close()
        self.assertRegex(server.log, pattern)
        return server.log

    def test_unusable_ones(self):
        folder = self.folder()
        garbage = os.path.join(folder, 'garbage')
        with open(garbage, 'wb') as file:
            file.write(pattern(4000))
        empty = os.path.join(folder, 'empty')
        open(empty, 'w').close()
        encrypted = os.path.join(folder, 'encrypted')
        openssl('pkey', '-in', at('server.key'), '-aes256', '-passout', 'pass:secret', '-out', encrypted)
        cert, key = at('server.pem'), at('server.key')
        for args, want in (
                (('--cert', '/nowhere', '--key', key), r'can.t read the certificate "/nowhere": No such file'),
                (('--cert', cert, '--key', folder), rf'can.t read the private key "{folder}": it is not a file'),
                (('--cert', garbage, '--key', key), rf'"{garbage}" has no usable certificate'),
                (('--cert', empty, '--key', key), rf'"{empty}" has no usable certificate'),
                (('--cert', cert, '--key', garbage), rf'"{garbage}" has no usable private key'),
                (('--cert', cert), rf'"{cert}" has no usable private key'),
                (('--cert', cert, '--key', encrypted), rf'"{encrypted}" is encrypted.*openssl pkey'),
                (('--cert', cert, '--key', at('rsa.key')), rf'"{at("rsa.key")}" does not match .*"{cert}"'),
                (('--cert', cert, '--key', at('one.key')), rf'"{at("one.key")}" does not match .*"{cert}"'),
                (('--cert', cert, '--key', key, '--client-ca', garbage), rf'"{garbage}" has no usable CA'),
                (('--cert', cert, '--key', key, '--client-ca', '/nowhere'), 'client CA "/nowhere"'),
                (('--cert', cert, '--key', key, '--required'), 'requires `client_ca`'),
                ((), '`cert` is not set')):
            with self.subTest(args):
                self.refused(*args, pattern=want)
        said = self.refused('--cert', '/no/cert', '--key', '/no/key', '--more', '/no/more', pattern='ERROR')
        for path in ('/no/cert', '/no/key', '/no/more'):
            self.assertIn(path, said)

    def test_a_section_of_a_file(self):
        folder = self.folder()
        config = os.path.join(folder, 'config.toml')
        for name in ('server.pem', 'server.key', 'ca.pem'):
            shutil.copy(at(name), folder)

        def write(*lines):
            with open(config, 'w') as file:
                file.write('[tls]\n' + '\n'.join(lines) + '\n')
        write('cert = "server.pem"', 'key = "server.key"', 'min_version = "1.3"', 'client_certs = "required"',
              'client_ca = "ca.pem"', 'no_ktls = true', 'handshake_timeout_ms = 2000')
        server = self.serve('--config', config, program='secure')
        self.assertIn('CN=jo', self.session(self.dial(server, context(cert='client'))).header('x-peer'))
        with self.assertRaises(ssl.SSLError):
            self.dial(server, context(version=V12, cert='client'))
        with server.connect() as wire:
            self.assertEqual(wire.read_end(), b'')
        write('cert = "server.pem"', 'key = "nowhere"')
        self.refused('--config', config, pattern=f'private key "{folder}/nowhere"')
        write('cert = "server.pem"', 'key = "server.key"', 'min_version = "1.1"')
        self.refused('--config', config, pattern='min_version: ')

    @unrepeatable('jobs take turns with the loop')
    def test_a_reload_that_has_to_wait(self):
        """The server hears other signals meanwhile."""
        server, idle, wires = self.busy()
        server.process.send_signal(signal.SIGHUP)
        server.process.send_signal(signal.SIGTERM)
        ended = select.select([idle.tls, wires[-1].socket], [], [], 60)[0]
        self.assertEqual(ended, [idle.tls])
        for wire in wires:
            wire.close()
        self.assertEqual(server.wait(), 0)

    def test_reloads_that_are_asked_for_meanwhile(self):
        """All of them together are one more. On a busy machine the server may have worked on all handshakes before the last signal."""
        for _ in range(5):
            server, idle, wires = self.busy()
            for _ in range(3):
                server.process.send_signal(signal.SIGHUP)
                self.session(idle)
            if not select.select([wires[-1].socket], [], [], 0)[0]:
                break
            for wire in wires:
                wire.close()
        self.assertFalse(select.select([wires[-1].socket], [], [], 0)[0])
        self.eventually(lambda: server.log.count('were reloaded') >= 2, 30)
        for wire in wires:
            wire.close()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        self.assertEqual(len(re.findall('were reloaded', server.log)), 2)

    def test_reload(self):
        folder = self.folder()
        cert, key = os.path.join(folder, 'cert'), os.path.join(folder, 'key')

        def install(name):
            shutil.copy(at(f'{name}.pem'), cert)
            shutil.copy(at(f'{name}.key'), key)
        install('server')
        server = self.serve('--cert', cert, '--key', key, program='secure')
        unverified = context()
        unverified.check_hostname = False
        old = self.dial(server)
        self.session(old)
        install('one')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('Certificates were reloaded')
        self.assertEqual(self.dial(server, unverified).peer_name(), 'one')
        self.assertEqual(self.session(old).status, 200)
        with open(cert, 'w') as file:
            file.write('nothing')
        server.process.send_signal(signal.SIGHUP)
        server.wait_for(rf'ERROR .*"{cert}" has no usable certificate')
        self.assertEqual(self.dial(server, unverified).peer_name(), 'one')
        shutil.copy(at('server.pem'), cert)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for('does not match')
        self.assertEqual(self.dial(server, unverified).peer_name(), 'one')
        self.assertEqual(self.session(old).status, 200)
        self.assertEqual(len(re.findall('Certificates were reloaded', server.log)), 1)


class Compression(TlsCase):
    def test_with_and_without_the_kernel(self):
        """What is coded and what is kept as it was, in the kernel's records and in ours."""
        for switches in ((), ('--no_ktls',)):
            server = self.secure('--compression', *switches)
            text = pattern(700000).hex().encode()
            self.write('a.txt', text)
            os.utime(os.path.join(self.dir, 'a.txt'), (1, 1))
            wire = self.dial(server)
            for coding in CODINGS * 2:
                with self.subTest(coding=coding, switches=switches):
                    response = wire.ask(request('GET', '/files/a.txt', f'Accept-Encoding: {coding}'))
                    self.assertEqual(response.header('content-encoding'), coding)
                    self.assertEqual(decode(coding, response.body), text)
            self.assertEqual(wire.ask(request('GET', '/files/a.txt')).body, text)
