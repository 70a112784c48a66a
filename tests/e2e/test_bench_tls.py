"""eddy-bench beside servers of https://: all that it does without TLS, whom it trusts, and what it says of those that it does not."""
import hashlib
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time
import unittest

import test_bench_load as load
import tls
from test_bench_load import OK, PROGRAM
from tls import V12, V13

GCM = 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256'


def setUpModule():
    tls.setUpModule()
    tls.make_expired('old')


def tearDownModule():
    tls.tearDownModule()


class Polite(ssl.SSLSocket):
    """Says goodbye, and waits for the other's."""

    def __exit__(self, *_):
        try:
            self.settimeout(20)
            self.unwrap()
            self.context.goodbyes += 1
        except OSError:
            pass
        self.close()


# For what a single answer shows.
MOMENT = ('-t', '0.1', '-r', '1', '--warmup', '0', '--no-system-calls')


class Secure(load.Odd):
    """An odd server that speaks TLS; without `goodbye` its connections end as if they were cut off."""

    def __init__(self, answer, cert='server', key=None, goodbye=True, version=None, asks=False, late=False):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(tls.at(f'{cert}.pem'), tls.at(f'{key or cert}.key'))
        self.context.set_alpn_protocols(['h2', 'http/1.1'])
        self.context.sni_callback = lambda _, name, __: self.names.add(name)
        self.late, self.names, self.protocols, self.resumed = late, set(), set(), 0
        self.context.goodbyes = 0
        if goodbye:
            self.context.sslsocket_class = Polite
        if version:
            self.context.minimum_version = self.context.maximum_version = version
        if asks:
            self.context.load_verify_locations(tls.at('ca.pem'))
            self.context.verify_mode = ssl.CERT_REQUIRED
        super().__init__(answer)
        self.url = self.url.replace('http://127.0.0.1', 'https://localhost')

    def _serve(self, sock):
        with sock:
            try:
                sealed = self.context.wrap_socket(sock, server_side=True)
            except OSError:
                return
            with self.lock:
                self.protocols.add(sealed.selected_alpn_protocol())
                self.resumed += sealed.session_reused
        # As long as it takes a client to fill a socket; where it takes longer nothing is seen here.
        if self.late:
            time.sleep(0.2)
        super()._serve(sealed)


class Case(load.Case):
    odd = Secure

    def bench(self, *args, status=0, trust=True):
        if trust:
            args = (*args, '--ca', tls.at('ca.pem'))
        return super().bench(*args, status=status)

    def refused(self, answer, why, *args, word='get', trust=True, host='localhost', **options):
        with Secure(answer, **options) as server:
            said = self.bench(word, server.url.replace('localhost', host), '-t', '0.1', '-r', '1', *args, status=1, trust=trust)[0]
        self.assertIn(why, said)
        return server

    def remarks(self):
        with open(self.json, encoding='utf-8') as file:
            return json.load(file)['remarks']


class Answers(load.Bodies, Case):
    def test_until_the_end(self):
        sample, cell, server = self.one(lambda *_: [b'HTTP/1.0 200 OK\r\n\r\n' + b'x' * 100000, None])
        self.assertGreater(sample['requests'], 0)
        self.assertEqual(sample['bytes'], 100000 * sample['requests'])
        self.assertEqual(sample['errors'], 0)
        self.assertEqual(server.connections, len(server.requests) + 1)
        self.eventually(lambda: server.context.goodbyes == len(server.requests))
        self.assertTrue(any('closed by the server and opened again' in remark for remark in cell['remarks']))

    def test_verified(self):
        self.check(lambda *_: [OK[:-2], OK[-2:]], 5, '--verify')
        self.check(lambda *_: OK, 5, '--digest', hashlib.sha256(b'hello').hexdigest())
        self.refused(lambda *_: OK, 'the wrong content', '--digest', hashlib.sha256(b'hullo').hexdigest())

    def test_expected(self):
        self.check(lambda *_: OK.replace(b'200', b'418'), 5, '--expect', '418')
        self.refused(lambda *_: OK, 'status 200', '--expect', '418')

    def test_versions_and_suites(self):
        for version, name in (V12, 'TLSv1.2'), (V13, 'TLSv1.3'):
            with self.subTest(name):
                server = self.one(lambda *_: OK, version=version)[2]
                self.assertTrue(any(f'speaks {name}, ' in remark and not re.search('AES.?128', remark) for remark in self.remarks()), self.remarks())
                self.assertTrue(any('client decrypts' in remark for remark in self.remarks()))
                self.assertEqual((server.names, server.protocols, server.resumed), ({'localhost'}, {'http/1.1'}, 0))
                self.one(lambda *_: OK, '--ciphers', GCM, version=version)
                self.assertTrue(any(re.search(f'speaks {name}, .*AES.?128.GCM', remark) for remark in self.remarks()), self.remarks())

    def test_resumed(self):
        for version in (V12, V13):
            with self.subTest(version):
                answer = OK.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n')
                sample, _, server = self.one(lambda *_: answer, '--resume', version=version)
                self.assertEqual(sample['errors'], 0)
                # Each connection that could know the first one's.
                self.assertGreater(server.resumed, 0)
                self.assertGreaterEqual(server.resumed, server.connections - 4)
                self.assertTrue(any(re.search(r' resumed \d+ % of its sessions', remark) for remark in self.remarks()), self.remarks())

    def test_plain_and_secure_take_turns(self):
        with Secure(lambda *_: OK) as a, load.Odd(lambda *_: OK) as b:
            cell = self.bench('get', 'a=' + a.url, 'b=' + b.url, '-t', '0.05', '-r', '2', '--warmup', '0', '--no-system-calls')[1][0]
        for target in cell['targets']:
            self.assertEqual([sample['errors'] for sample in target['samples']], [0, 0])
        self.assertEqual([remark[:8] for remark in self.remarks() if 'speaks' in remark], ['a speaks'])

    def test_suites_that_do_not_compare(self):
        for version, differ in (V13, False), (V12, True):
            with Secure(lambda *_: OK, version=V13) as a, Secure(lambda *_: OK, version=version) as b:
                self.bench('get', 'a=' + a.url, 'b=' + b.url, '-t', '0.05', '-r', '1', '--warmup', '0', '--no-system-calls')
            self.assertEqual(sum('different TLS cipher suites' in remark for remark in self.remarks()), differ)

    def test_pipelined_and_paced(self):
        sample = self.one(lambda n, _: OK.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n') if n % 5 == 3 else OK, '-d', '5')[0]
        self.assertEqual((sample['errors'], sample['requests'] % 5), (0, 0))
        sample = self.one(lambda *_: OK, '--rate', '50', '-c', '2', quick=('-t', '0.4', '-r', '1', '--warmup', '0'))[0]
        self.assertAlmostEqual(sample['requests'], 20, delta=2)
        self.assertEqual(sample['errors'], 0)


class Ends(Case):
    def test_body_that_is_cut_off(self):
        """Without a length the end of the connection is the end of the body only if TLS says so."""
        self.refused(lambda *_: [b'HTTP/1.0 200 OK\r\n\r\n' + b'x' * 1000, None], 'close_notify', goodbye=False)
        for goodbye, why in (True, 'within a body'), (False, 'close_notify'):
            self.refused(lambda *_: [OK[:-1], None], why, goodbye=goodbye)
            self.refused(lambda *_: None, 'without a response' if goodbye else why, goodbye=goodbye)

    def test_kept_connection_is_closed(self):
        for goodbye in True, False:
            with self.subTest(goodbye=goodbye):
                sample, cell, server = self.one(lambda n, _: None if n % 4 == 0 else OK, goodbye=goodbye)
                self.assertEqual(sample['errors'], 0)
                self.assertGreater(sample['requests'], 3)
                self.assertGreater(server.connections, 2)
                self.assertTrue(any('closed by the server and opened again' in remark for remark in cell['remarks']))
                self.assertEqual(server.resumed, 0)

    def test_some_break(self):
        for goodbye in True, False:
            for answer in OK[:-5], b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n':
                with self.subTest(answer, goodbye=goodbye):
                    sample = self.one(lambda n, _, answer=answer: OK if n % 4 else [answer, None], goodbye=goodbye)[0]
                    self.assertGreater(sample['errors'], 0)
                    self.assertGreater(sample['requests'], sample['errors'])

    def test_nothing_moves(self):
        for pieces in [OK[:20]], [OK[:-1]]:
            held = threading.Event()
            with self.subTest(pieces):
                self.refused(lambda *_, slow=load.Slow(pieces, held): slow, 'no data was transferred', '--timeout', '0.3')
                held.set()

    def test_server_that_says_nothing(self):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            said = self.bench('get', 'https://localhost:%d/' % listener.getsockname()[1], '--timeout', '0.3', status=1)[0]
        self.assertIn('no data was transferred', said)

    def test_connection_ends_within_the_handshake(self):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            def serve():
                listener.accept()[0].close()
                with listener.accept()[0] as sock:
                    sock.recv(65536)

            thread = threading.Thread(target=serve)
            thread.start()
            said = self.bench('get', 'https://localhost:%d/' % listener.getsockname()[1], status=1)[0]
            thread.join()
        self.assertIn('during the TLS handshake', said)


class Trust(Case):
    def test_who_is_unknown(self):
        server = self.refused(lambda *_: OK, 'it is not signed by a trusted authority; name the authority with --ca FILE', trust=False)
        self.assertEqual(server.requests, [])
        self.refused(lambda *_: OK, 'its authority is not in the file of --ca', '--ca', tls.at('foreign.pem'), trust=False)
        self.refused(lambda *_: OK, 'it is self-signed; name the certificate itself with --ca FILE', cert='foreign', trust=False)
        self.refused(lambda *_: OK, 'it is self-signed, and is not in the file of --ca', cert='foreign')

    def test_who_is_another(self):
        server = self.refused(lambda *_: OK, 'not for localhost; --insecure', cert='one')
        self.assertEqual(server.requests, [])
        self.refused(lambda *_: OK, 'not for 127.0.0.1', cert='rsa', host='127.0.0.1')

    def test_who_has_expired(self):
        self.assertEqual(self.refused(lambda *_: OK, 'it has expired; --insecure', cert='old', key='server').requests, [])

    def test_whoever_it_is(self):
        for cert, key in ('stranger', None), ('one', None), ('old', 'server'):
            with Secure(lambda *_: OK, cert, key) as server:
                cells = self.bench('get', server.url, '--insecure', '-t', '0.05', '-r', '1', '--no-system-calls', trust=False)[1]
            self.assertGreater(cells[0]['targets'][0]['samples'][0]['requests'], 0)

    def test_address_has_a_certificate_as_well(self):
        with Secure(lambda *_: OK) as server:
            self.bench('get', server.url.replace('localhost', '127.0.0.1'), '-t', '0.05', '-r', '1', '--no-system-calls')
        self.assertEqual(server.names, {None})

    def test_who_speaks_no_tls(self):
        refusal = b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'
        with socket.create_server(('127.0.0.1', 0)) as listener:
            def serve():
                listener.accept()[0].close()
                with listener.accept()[0] as sock:
                    sock.recv(65536)
                    sock.sendall(refusal)
                    sock.recv(65536)

            thread = threading.Thread(target=serve)
            thread.start()
            said = self.bench('get', 'https://localhost:%d/' % listener.getsockname()[1], status=1)[0]
            thread.join()
        self.assertIn('does not speak TLS', said)

    def test_servers_that_refuse(self):
        # In 1.3 a server says so behind the client's handshake.
        for version, alert in (V12, 'handshake failure'), (V13, 'certificate required'):
            self.refused(lambda *_: OK, f'alert {alert}', version=version, asks=True)
        self.refused(lambda *_: OK, 'alert', '--ciphers', 'ECDHE-RSA-AES128-GCM-SHA256', version=V12)
        self.refused(lambda *_: OK, '--ciphers names no suite of TLS 1.3', '--ciphers', 'ECDHE-ECDSA-AES128-GCM-SHA256', version=V13)

    def test_mistakes(self):
        for why, status, *args in (('for targets of https', 2, 'http://localhost/', '--insecure'),
                                   ('for targets of https', 2, 'http://localhost/', '--ca', 'x'),
                                   ('for targets of https', 2, 'http://localhost/', '--resume'),
                                   ('exclude each other', 2, 'https://localhost/', '--ca', 'x', '--insecure'),
                                   ('no readable certificates', 1, 'https://localhost/', '--ca', '/dev/null'),
                                   ('does not know all of them', 1, 'https://localhost/', '--ciphers', 'ROT13'),
                                   ('no certificate is possible for its host', 1, 'https://[::1%lo]/')):
            with self.subTest(args):
                self.assertIn(why, self.bench('get', *args, status=status, trust=False)[0])


class Uploads(Case):
    def test_sizes(self):
        for size, count in ('0', 0), ('10', 10), ('32K', 32768), ('5M', 5 << 20):
            with self.subTest(size):
                sample, _, server = self.one(lambda *_: b'HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n', '--sizes', size, '-c', '2', word='put',
                                             quick=MOMENT)
                self.assertEqual(sample['errors'], 0)
                self.assertGreater(sample['requests'], 0)
                self.assertEqual({request.size for request in server.requests}, {count})
                self.assertEqual(len({request.digest for request in server.requests}), 1)

    def test_wait_for_room(self):
        """Meanwhile TLS has something to say that is no answer: tickets."""
        sample, _, server = self.one(lambda *_: OK, '--sizes', '16M', word='put', quick=MOMENT, version=V13, late=True)
        self.assertEqual((sample['errors'], {request.size for request in server.requests}), (0, {16 << 20}))

    def test_of_a_file(self):
        path = os.path.join(self.place, 'body')
        body = os.urandom(300000)
        with open(path, 'wb') as file:
            file.write(body)
        server = self.one(lambda *_: OK, '--body-file', path, '-X', 'POST', word='req')[2]
        self.assertEqual({request.digest for request in server.requests}, {hashlib.sha256(body).hexdigest()})

    def given_up(self, version, answer, why):
        """The server reads the beginning, and then does no more than to answer."""
        context = Secure(lambda *_: OK, goodbye=False, version=version).context
        with socket.create_server(('127.0.0.1', 0)) as listener:
            def serve():
                listener.accept()[0].close()
                with listener.accept()[0] as plain, context.wrap_socket(plain, server_side=True) as sock:
                    sock.recv(100)
                    answer(sock)
                    held.wait(30)

            held = threading.Event()
            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            began = time.monotonic()
            said = self.bench('put', 'https://localhost:%d/' % listener.getsockname()[1], '--sizes', '64M', '--timeout', '20', status=1)[0]
            self.assertLess(time.monotonic() - began, 15, 'it was told by the timeout only')
            held.set()
            thread.join()
            self.assertIn(why, said)

    def test_refused(self):
        for version in V12, V13:
            with self.subTest(version):
                self.given_up(version, lambda sock: sock.sendall(b'HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n'), 'status 413')
                self.given_up(version, lambda sock: sock.shutdown(socket.SHUT_WR), 'close_notify')


class OfOurs(Case):
    def test_files(self):
        folder = self.folder()
        with open(os.path.join(folder, '1m'), 'wb') as file:
            file.write(os.urandom(1 << 20))
        server = self.serve(folder, '--cert', tls.at('server.both'))
        url = f'https://localhost:{server.port}/files/'
        quick = ('-t', '0.1', '-r', '1', '--no-system-calls', '-c', '4')
        cell = self.bench('get', url + '{size}', '--sizes', '1M', '--verify', '--files', folder, *quick)[1][0]
        target = cell['targets'][0]
        self.assertEqual(target['server']['pid'], server.pid)
        self.assertEqual((target['samples'][0]['errors'], cell['verified']), (0, True))
        self.assertEqual(target['samples'][0]['bytes'], target['samples'][0]['requests'] * (1 << 20))
        for size in '1K', '3M':
            sample = self.bench('put', url + 'up{n}', '--sizes', size, '--verify', *quick)[1][0]['targets'][0]['samples'][0]
            self.assertGreater(sample['requests'], 0)
            self.assertEqual(sample['errors'], 0)
        self.assertIn('status 400', self.bench('get', url.replace('https', 'http') + '1m', *quick, status=1, trust=False)[0])


class Holds(Case):
    def hold(self, answer, *args):
        with Secure(answer) as server:
            with subprocess.Popen([PROGRAM, 'hold', server.url, '-c', '20', '--ca', tls.at('ca.pem'), *args], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as process:
                said = [json.loads(process.stdout.readline())]
                process.stdin.close()
                said.append(json.loads(process.stdout.read()))
            self.assertEqual((process.returncode, server.connections), (0, 21))
            return said

    def test_idle(self):
        self.assertEqual(self.hold(lambda *_: OK), [{'connections': 20}, {'open': 20}])

    def test_stalled(self):
        body = b'HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n' + b'x' * 50000000
        self.assertEqual(self.hold(lambda *_: body, '--stall', 'get'), [{'connections': 20}, {'open': 20}])
        self.assertEqual(self.hold(lambda *_: OK, '--stall', 'put'), [{'connections': 20}, {'open': 20}])


if __name__ == '__main__':
    unittest.main()
