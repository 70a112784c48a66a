"""eddy-bench --http2 beside servers that do as they are told, and beside eddy, nghttpd and nginx."""
import hashlib
import os
import shutil
import socket
import subprocess
import threading
import unittest

import h2wire
import test_bench_load as load
import tls
from h2wire import frame, h2
from test_bench_tls import Secure
from wire import speaks_http2

MOMENT = ('-t', '0.1', '-r', '1', '--warmup', '0', '--no-system-calls')


def setUpModule():
    if not speaks_http2():
        raise unittest.SkipTest('needs an eddy with -Dhttp2=enabled')
    tls.setUpModule()


def tearDownModule():
    tls.tearDownModule()


class Asked:
    """A request, and by which its answer is given: frames leave when the answer has returned."""

    def __init__(self, connection, stream, fields):
        self.connection, self.stream, self.fields, self.digest, self.size, self.raw = connection, stream, dict(fields), hashlib.sha256(), 0, b''

    def ok(self, body=b'hello', status='200', length=None, end=True):
        fields = [(':status', status)] + ([('content-length', length)] if length else [])
        self.connection.send_headers(self.stream, fields, end_stream=end and not body)
        if body:
            self.connection.send_data(self.stream, body, end_stream=end)

    def reset(self, code):
        self.connection.reset_stream(self.stream, code)

    def leave(self, last):
        """Say that streams behind this one are not served."""
        self.raw = frame(h2wire.GOAWAY, 0, 0, last.to_bytes(4, 'big') + bytes(4))


class Odd(load.Odd):
    """A server of HTTP/2 that answers every request by `answer(number, request)`. If that returns False, the connection ends."""

    def _serve(self, sock):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding='utf-8', validate_outbound_headers=False))
        connection.initiate_connection()
        requests, ends = {}, False
        with sock:
            try:
                sock.sendall(connection.data_to_send())
                while not ends and (data := sock.recv(65536)):
                    raw = b''
                    for event in connection.receive_data(data):
                        ends |= self._take(connection, event, requests)
                        asked = requests.get(getattr(event, 'stream_id', None))
                        if asked:
                            raw, asked.raw = raw + asked.raw, b''
                    sock.sendall(connection.data_to_send() + raw)
            except OSError:
                pass

    def _take(self, connection, event, requests):
        if isinstance(event, h2.events.RequestReceived):
            requests[event.stream_id] = Asked(connection, event.stream_id, event.headers)
        elif isinstance(event, h2.events.DataReceived):
            requests[event.stream_id].digest.update(event.data)
            requests[event.stream_id].size += len(event.data)
            if event.flow_controlled_length:
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            with self.lock:
                self.requests.append(requests[event.stream_id])
                number = len(self.requests)
            return self.answer(number, requests[event.stream_id]) is False
        return False


class OddSecure(Secure, Odd):
    pass


class Case(load.Case):
    odd = Odd

    def bench(self, word, *args, status=0):
        return super().bench(word, '--http2', *args, status=status)

    def refused(self, answer, why, *args, word='get'):
        with self.odd(answer) as server:
            said = self.bench(word, server.url, *MOMENT, *args, status=1)[0]
        self.assertIn(why, said)

    def sample(self, *args):
        sample = self.bench(*args, *MOMENT)[1][0]['targets'][0]['samples'][0]
        self.assertGreater(sample['requests'], 0)
        self.assertEqual(sample['errors'], 0)
        return sample


class Answers(Case):
    def test_requests(self):
        sample, cell, server = self.one(lambda _, asked: asked.ok(), '--streams', '3', '-c', '2', '-H', 'X-Some:  Thing', path='a/{n}/{i}')
        self.assertEqual((sample['requests'], sample['bytes'], sample['errors']), (len(server.requests) - 6, 5 * sample['requests'], 0))
        self.assertEqual((cell['http2'], cell['depth'], cell['title']), (True, 3, 'GET × 2, HTTP/2, 3 streams'))
        self.assertEqual(server.connections, 3)
        self.assertEqual(len({asked.fields[':path'] for asked in server.requests}), len(server.requests))
        fields = dict(server.requests[-1].fields, **{':path': ''})
        self.assertEqual(fields, {':method': 'GET', ':scheme': 'http', ':authority': server.url[7:-1], ':path': '', 'x-some': 'Thing'})

    def test_streams_are_in_flight_at_once(self):
        held = []

        def answer(_, asked):
            held.append(asked)
            if len(held) == 5:
                for one in held:
                    one.ok()
                held.clear()
        sample = self.one(answer, '--streams', '5')[0]
        self.assertEqual((sample['requests'] % 5, sample['errors']), (0, 0))

    def test_bodies(self):
        for fields, body in ({}, b''), ({'length': '60000'}, b'x' * 60000), ({'status': '204'}, b''):
            sample = self.one(lambda _, asked, body=body, fields=fields: asked.ok(body[:16384], end=len(body) <= 16384, **fields) or [
                asked.connection.send_data(asked.stream, body[at:at + 16384], end_stream=at + 16384 >= len(body))
                for at in range(16384, len(body), 16384)] and None)[0]
            self.assertEqual((sample['errors'], sample['bytes']), (0, len(body) * sample['requests']))

    def test_verified(self):
        self.one(lambda _, asked: asked.ok(), '--verify', '--streams', '4')
        self.refused(lambda _, asked: asked.ok(), 'the wrong content', '--digest', hashlib.sha256(b'hullo').hexdigest())
        sample = self.one(lambda n, asked: asked.ok(b'hello' if n % 3 else b'hullo'), '--verify', '--streams', '2')[0]
        self.assertAlmostEqual(sample['requests'] / sample['errors'], 2, delta=1)

    def test_uploads(self):
        for size in 0, 10, 100000:
            with self.subTest(size):
                server = self.one(lambda _, asked: asked.ok(b''), '--sizes', str(size), '--streams', '2', word='put', quick=MOMENT)[2]
                self.assertEqual({(asked.size, asked.fields['content-length'], asked.fields[':method']) for asked in server.requests},
                                 {(size, str(size), 'PUT')})
                self.assertEqual(len({asked.digest.digest() for asked in server.requests}), 1)

    def test_secure(self):
        with OddSecure(lambda _, asked: asked.ok()) as server:
            self.sample('get', server.url, '--streams', '3', '--ca', tls.at('ca.pem'))
        self.assertEqual((server.protocols, server.requests[0].fields[':scheme']), ({'h2'}, 'https'))

    def test_server_that_leaves(self):
        """By a GOAWAY: what it refused is asked again, on another connection."""
        def answer(_, asked):
            if asked.stream <= 9:
                asked.ok()
            if asked.stream == 9:
                asked.leave(9)
        sample, cell, server = self.one(answer, '--streams', '4')
        self.assertEqual(sample['errors'], 0, cell['remarks'])
        self.assertGreater(server.connections, 2)
        self.assertTrue(any('closed by the server and opened again' in remark for remark in cell['remarks']))


class Failures(Case):
    def test_first_answers(self):
        self.refused(lambda _, asked: asked.ok(status='404'), 'status 404')
        self.refused(lambda _, asked: asked.ok(), 'instead of 4096', '--sizes', '4K')
        self.refused(lambda _, asked: asked.reset(2), 'the stream was reset: INTERNAL_ERROR')
        self.refused(lambda _, asked: asked.ok(end=False) or asked.reset(0), 'the stream was reset: NO_ERROR')
        self.refused(lambda _, asked: asked.ok(length='6'), 'the stream was reset: PROTOCOL_ERROR')
        self.refused(lambda _, asked: asked.leave(0), 'refuses requests, by a GOAWAY')
        self.refused(lambda _, asked: asked.ok(end=False) or False, 'closed the connection within its responses')
        self.refused(lambda _, asked: None, 'no data was transferred', '--timeout', '0.2')

    def test_malformed_frames(self):
        def answer(_, asked):
            asked.raw = frame(h2wire.PING, 0, 0, b'short')
        self.refused(answer, "the server's frames are malformed")

    def test_some_fail(self):
        sample = self.one(lambda n, asked: asked.ok() if n % 4 else asked.reset(2), '--streams', '2')[0]
        self.assertGreater(sample['errors'], 0)
        self.assertGreater(sample['requests'], sample['errors'])

    def test_servers_of_http_1(self):
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
            said = self.bench('get', 'http://localhost:%d/' % listener.getsockname()[1], status=1)[0]
            thread.join()
        self.assertIn('does not speak HTTP/2', said)
        with Secure(lambda *_: load.OK) as server:
            server.context.set_alpn_protocols(['http/1.1'])
            self.assertIn('does not speak HTTP/2: it does not agree to h2 by ALPN',
                          self.bench('get', server.url, '--ca', tls.at('ca.pem'), status=1)[0])


class Servers(Case):
    """Whole ones, which serve files."""

    def setUp(self):
        super().setUp()
        self.dir = self.folder()
        os.chmod(self.dir, 0o755)
        with open(os.path.join(self.dir, '1m'), 'wb') as file:
            file.write(os.urandom(1 << 20))

    def download(self, url, *args):
        for frame_size in ('--frame', '1m'), ():
            sample = self.sample('get', url + '{size}', '--sizes', '1M', '--verify', '-c', '2', '--streams', '3', *frame_size, *args)
            self.assertEqual(sample['bytes'], sample['requests'] << 20)

    def test_files(self):
        for scheme, words, args in ('http', (), ()), ('https', ('--cert', tls.at('server.both')), ('--ca', tls.at('ca.pem'))):
            with self.subTest(scheme):
                server = self.serve(self.dir, *words)
                url = f'{scheme}://localhost:{server.port}/files/'
                self.download(url, *args)
                for size in '0', '1K', '3M':
                    self.sample('put', url + 'up{n}', '--sizes', size, '--verify', '-c', '2', '--streams', '2', *args)
                self.sample('put', url + 'up{n}', '--sizes', '3M', '--frame', '1M', '--verify', *args)

    def started(self, *command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def free_port(self):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            return listener.getsockname()[1]

    def await_port(self, port):
        self.eventually(lambda: socket.socket().connect_ex(('127.0.0.1', port)) == 0)

    @unittest.skipUnless(shutil.which('nghttpd'), 'needs nghttpd')
    def test_nghttpd(self):
        port = self.free_port()
        self.started('nghttpd', '--no-tls', '-a', '127.0.0.1', '-d', self.dir, str(port))
        self.await_port(port)
        self.download(f'http://127.0.0.1:{port}/')

    @unittest.skipUnless(shutil.which('nginx'), 'needs nginx')
    def test_nginx(self):
        """It leaves after each ten requests of a connection."""
        port, folder = self.free_port(), self.dir
        with open(os.path.join(folder, 'nginx.conf'), 'w') as file:
            file.write(f'daemon off; master_process off; pid {folder}/pid; error_log stderr; events {{}}\n'
                       f'http {{ access_log off; keepalive_requests 10; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;\n'
                       f'fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n'
                       f'server {{ listen 127.0.0.1:{port} http2; root {folder}; }} }}\n')
        self.started('nginx', '-c', file.name)
        self.await_port(port)
        self.download(f'http://127.0.0.1:{port}/')


if __name__ == '__main__':
    unittest.main()
