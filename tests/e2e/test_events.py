"""Server-sent events: the bytes, the stream of a handler, and the parked subscribers of a channel."""
# needs: curl npm openssl
import contextlib
import os
import signal
import subprocess
import threading
import time
import unittest
import zlib

from recorded import unrepeatable
from tls import TlsWire, at, context, has_ktls, setUpModule, tearDownModule  # noqa: F401
from wire import KIB, MIB, Case, Lost, Shared, Wire, curl, is_sanitized, node, only_http1, request

HEAD = {'content-type': 'text/event-stream', 'cache-control': 'no-store', 'transfer-encoding': 'chunked'}


def chunk_of(wire):
    """The next chunk; empty at the end."""
    data = wire.take(int(wire.take_line(), 16) + 2)
    return data[:-2]


class Stream:
    """A client of events. With `gzip`, what comes is decoded as it comes."""

    def __init__(self, wire, path='/feed', *fields, gzip=False, version='1.1'):
        self.wire, self.text, self.version = wire, b'', version
        self.gzip = zlib.decompressobj(31) if gzip else None
        if gzip:
            fields += ('Accept-Encoding: gzip',)
        wire.send(request('GET', path, *fields, version=version))
        self.head = wire.read_head()

    def more(self):
        if self.version == '1.0':
            self.wire.more()
            data, self.wire.buffer = self.wire.buffer, b''
        else:
            data = chunk_of(self.wire)
        if not data:
            raise EOFError
        self.text += self.gzip.decompress(data) if self.gzip else data

    def next(self):
        """The next message or comment, without the empty line behind it."""
        while b'\n\n' not in self.text:
            self.more()
        first, _, self.text = self.text.partition(b'\n\n')
        return first

    def data(self):
        """The data of the next message."""
        while (text := self.next()).startswith(b':'):
            pass
        return b'\n'.join(line[6:] for line in text.split(b'\n') if line.startswith(b'data: '))

    def id(self):
        """The id of the next message."""
        while (text := self.next()).startswith(b':'):
            pass
        return next(line[4:].decode() for line in text.split(b'\n') if line.startswith(b'id: '))

    def is_at_end(self):
        try:
            self.more()
        except EOFError:
            return True
        return False


class Events(Case):
    """`secure`: not empty: over TLS, with these switches behind the first."""
    secure = ()

    def events(self, *args, **options):
        if self.secure:
            args += ('--cert', at('server.pem'), '--key', at('server.key'), *self.secure[1:])
        return self.serve(*args, program='events', **options)

    def dial(self, server, **options):
        wire = TlsWire(server.port, context(), **options) if self.secure else Wire(server.port, **options)
        self.addCleanup(wire.close)
        return wire

    def stream(self, server, path='/feed', *fields, rcvbuf=0, **options):
        return Stream(self.dial(server, rcvbuf=rcvbuf), path, *fields, **options)

    def ask(self, server, text, head=False):
        wire = self.dial(server)
        response = wire.ask(text, head)
        wire.close()
        return response

    def publish(self, server, data, query=''):
        self.assertEqual(self.ask(server, request('POST', '/publish' + query, body=data)).status, 204)


class Handlers(Events):
    def test_bytes(self):
        server = self.events()
        response = self.ask(server, request('GET', '/all'))
        self.assertEqual(response.status, 200)
        self.assertEqual({name: response.header(name) for name in HEAD}, HEAD)
        self.assertEqual(response.body, b': two\n: lines\n\nid: 7\nevent: tick\nretry: 2500\ndata: a\ndata:  b\ndata: c\ndata: \n\n'
                         b'id: \ndata: \n\nretry: 1000\n\n')

    def test_each_is_a_chunk(self):
        wire = self.dial(self.events())
        wire.send(request('GET', '/all'))
        self.assertEqual(wire.read_head().status, 200)
        self.assertEqual([chunk_of(wire)[-1:] for _ in range(4)], [b'\n'] * 4)
        self.assertEqual(wire.take(5), b'0\r\n\r\n')
        self.assertEqual(wire.ask(request('GET', '/nothing')).status, 404)    # the connection is kept

    def test_large_ones(self):
        server = self.events()
        data = '\n'.join('x' * 1000 for _ in range(500))
        response = self.ask(server, request('POST', '/lines', body=data))
        self.assertEqual(response.body.decode(), ''.join(f'data: {line}\n' for line in data.split('\n')) + '\n')

    def test_what_is_malformed(self):
        server = self.events()
        for query in ('id=a%0Ab', 'id=%0D', 'id=%00', 'event=a%0Db'):
            with self.assertRaises(Lost):
                self.ask(server, request('POST', '/lines?' + query, body='x'))
            self.assertEqual(self.ask(server, request('POST', '/publish?' + query, body='x')).status, 400)

    def test_head(self):
        server = self.events()
        for path in ('/all', '/feed', '/wait'):
            wire = self.dial(server)
            response = wire.ask(request('HEAD', path), head=True)
            self.assertEqual((response.status, response.header('content-type')), (200, 'text/event-stream'))
            self.assertEqual(wire.ask(request('HEAD', path), head=True).status, 200)

    def test_before_there_is_anything(self):
        """The head comes at once, and comments follow."""
        stream = self.stream(self.events('--comment', 50), '/wait')
        self.assertEqual(stream.head.status, 200)
        self.assertEqual(stream.next(), b':')
        self.assertEqual(stream.next(), b':')

    def test_http_1_0(self):
        response = self.ask(self.events(), request('GET', '/all', version='1.0'))
        self.assertIsNone(response.header('transfer-encoding'))
        self.assertTrue(response.body.endswith(b'retry: 1000\n\n'))

    def test_compressed_and_flushed(self):
        server = self.events('--compression')
        wire = self.dial(server)
        wire.send(request('POST', '/lines?twice', 'Accept-Encoding: gzip', body='hello'))
        head = wire.read_head()
        self.assertEqual(head.header('content-encoding'), 'gzip')
        decoder = zlib.decompressobj(31)
        began = time.monotonic()
        self.assertEqual(decoder.decompress(chunk_of(wire)), b'data: hello\n\n')
        text = b''
        while b'\n\n' not in text:
            text += decoder.decompress(chunk_of(wire))
        self.assertEqual(text, b'data: hello\n\n')
        self.assertGreater(time.monotonic() - began, 0.1)

    def waited(self, server):
        return server.wait_for('waited: (.*), then (.*?)(?: route|$)').group(1, 2)

    def test_a_client_leaves(self):
        """By a reset or an end, whatever has armed a receive before."""
        for leave in (Wire.close, Wire.reset):
            for kept in (False, True):
                with self.subTest((leave, kept)):
                    server = self.events()
                    wire = self.dial(server)
                    if kept:
                        wire.ask(request('GET', '/nothing'))
                    stream = Stream(wire, '/wait')
                    self.assertEqual(stream.head.status, 200)
                    if self.secure and leave is Wire.reset:
                        wire.plain = wire.tls
                        wire.tls.close()
                    else:
                        leave(wire)
                    ended, sent = self.waited(server)
                    self.assertEqual((ended, sent), ('Operation canceled', 'Connection reset by peer'))
                    server.stop()

    def test_a_server_stops(self):
        server = self.events()
        stream = self.stream(server, '/wait')
        server.process.send_signal(signal.SIGTERM)
        self.assertTrue(stream.is_at_end())
        self.assertEqual(self.waited(server)[0], 'Success')
        self.assertEqual(server.wait(), 0)


class Channels(Events):
    def test_many_get_each(self):
        server = self.events('--workers', 3)
        streams = [self.stream(server, version='1.0' if i % 5 == 0 else '1.1', gzip=False) for i in range(40)]
        for text in ('hello', 'two\nlines', 'x' * 100 * KIB, ''):
            self.publish(server, text)
        for stream in streams:
            for text in ('hello', 'two\nlines', 'x' * 100 * KIB, ''):
                self.assertEqual(stream.data().decode(), text)

    def test_topics(self):
        server = self.events('--workers', 3, '--compression')
        expected = (('', b'end'), ('ada', b'a1 a2 end'), ('bob', b'b1 end'), ('eve', b'e1 end'))
        streams = [self.stream(server, f'/feed?topic={topic}' if topic else '/feed', gzip=topic == 'eve')
                   for topic, _ in expected]
        for topic, data in (('ada', 'a1'), ('bob', 'b1'), ('ada', 'a2'), ('eve', 'e1'), ('none', 'n1')):
            self.publish(server, data, f'?topic={topic}')
        self.publish(server, 'end')
        for stream, (topic, data) in zip(streams, expected):
            self.assertEqual(b' '.join(stream.data() for _ in data.split()), data, topic)

    @unrepeatable('threads of the program are not recorded')
    def test_from_a_thread(self):
        server = self.events('--workers', 2)
        streams = [self.stream(server) for _ in range(10)]
        self.publish(server, 'x', '?thread&count=1000')
        for stream in streams:
            ids = [int(stream.id()) for _ in range(1000)]
            self.assertEqual(ids, list(range(ids[0], ids[0] + 1000)))

    def test_last_event_id(self):
        server = self.events('--replay', 3)
        for i in range(1, 6):
            self.publish(server, f'm{i}', f'?id={i}')
        for last, first in (('1', 3), ('2', 3), ('3', 4), ('4', 5), ('5', 6), ('7', 3), ('x', 3)):
            stream = self.stream(server, '/feed', f'Last-Event-ID: {last}')
            self.publish(server, 'm6', '?id=6')
            for i in range(first, 7):
                self.assertEqual(stream.data().decode(), f'm{i}', last)
            stream.wire.close()
            server.stop()
            server = self.events('--replay', 3)
            for i in range(1, 6):
                self.publish(server, f'm{i}', f'?id={i}')

    def test_greeting(self):
        server = self.events('--greets', '--replay', 2)
        for i in range(5):
            self.publish(server, f'm{i}')
        stream = self.stream(server)
        self.assertEqual([stream.data(), stream.data()], [b'm3', b'm4'])

    def test_compressed(self):
        server = self.events('--compression', '--comment', 200)
        packed, plain = self.stream(server, gzip=True), self.stream(server)
        self.assertEqual(packed.head.header('content-encoding'), 'gzip')
        self.assertIsNone(plain.head.header('content-encoding'))
        for i in range(20):
            self.publish(server, f'message {i}')
            self.assertEqual(packed.data(), f'message {i}'.encode())
            self.assertEqual(plain.data(), f'message {i}'.encode())
        self.assertEqual(packed.next(), b':')
        self.ask(server, request('POST', '/end'))
        with contextlib.suppress(EOFError):
            while True:
                packed.more()
        self.assertTrue(packed.gzip.eof)

    def test_comments(self):
        """After silence, and only then."""
        server = self.events('--comment', 300)
        streams = [self.stream(server), self.stream(server, version='1.0')]
        for _ in range(6):
            time.sleep(0.1)
            self.publish(server, 'x')
        for stream in streams:
            texts = [stream.next() for _ in range(8)]
            self.assertEqual(texts[-2:], [b':', b':'])
            self.assertEqual(sum(text.endswith(b'data: x') for text in texts), 6)

    def test_a_channel_ends(self):
        server = self.events()
        streams = [self.stream(server), self.stream(server, version='1.0')]
        self.publish(server, 'last')
        self.ask(server, request('POST', '/end'))
        for stream in streams:
            self.assertEqual(stream.data(), b'last')
        self.assertTrue(streams[0].is_at_end())
        self.assertEqual(streams[1].wire.read_end(), b'')
        self.assertEqual(self.ask(server, request('GET', '/feed')).status, 204)

    def test_a_channel_ends_while_a_head_is_sent(self):
        server = self.events('--compression')
        for options in ({}, {'version': '1.0'}, {'gzip': True}):
            for _ in range(5):
                response = self.stream(server, '/ended', **options)
                self.assertEqual(response.head.status, 200)
                if 'version' in options:
                    self.assertEqual(response.wire.read_end(), b'')
                else:
                    while not response.is_at_end():
                        pass
        self.assertEqual(self.ask(server, request('GET', '/ended')).body, b'')

    def test_a_server_stops(self):
        server = self.events('--workers', 2)
        streams = [self.stream(server) for _ in range(20)]
        server.process.send_signal(signal.SIGTERM)
        for stream in streams:
            self.assertTrue(stream.is_at_end())
            self.assertEqual(stream.wire.read_end(), b'')
        self.assertEqual(server.wait(), 0)

    def test_a_server_stops_with_one_that_reads_nothing(self):
        server = self.events('--lag', 64 * MIB, '--drain_timeout', 500)
        stream = self.stream(server, rcvbuf=4096)
        self.publish(server, 'z' * MIB, '?count=10')
        server.stop()
        self.assertIsNotNone(stream)

    def test_clients_leave(self):
        server = self.events()
        self.publish(server, 'x')
        before = self.eventually(lambda: (n := server.sockets()) and n)
        for leave in (Wire.close, Wire.reset):
            streams = [self.stream(server) for _ in range(20)]
            self.assertGreaterEqual(server.sockets(), before + 19)
            for stream in streams:
                leave(stream.wire)
            self.eventually(lambda: server.sockets() <= before)
        self.publish(server, 'x')

    def test_clients_that_speak(self):
        """Bytes behind the request are of no consequence."""
        server = self.events()
        stream = self.stream(server)
        for _ in range(50):
            stream.wire.send(request('GET', '/all') * 100)
        self.publish(server, 'x')
        self.assertEqual(stream.data(), b'x')
        wire = self.dial(server)
        wire.send(request('GET', '/feed') + request('GET', '/all') * 3)
        self.assertEqual(wire.read_head().status, 200)
        self.publish(server, 'y')
        self.assertTrue(chunk_of(wire).endswith(b'data: y\n\n'))

    def test_a_slow_one_is_cut(self):
        """The others are not held up, and it gets what it missed when it connects again."""
        server = self.events('--lag', MIB, log='eddy::http=debug,info')
        slow, quick = self.stream(server, rcvbuf=4096), self.stream(server)
        data, count = 'x' * 50 * KIB, 0
        while 'reads the events too slowly' not in server.log:
            self.publish(server, data)
            self.assertEqual(len(quick.data()), len(data))
            count += 1
            self.assertLess(count, 1000)
        last = None
        with contextlib.suppress(Lost, EOFError):
            while True:
                last = slow.id()
        self.assertIsNotNone(last)
        again = self.stream(server, '/feed', f'Last-Event-ID: {last}')
        self.publish(server, 'the last')
        while again.data() != b'the last':
            pass

    def test_a_message_above_the_limit(self):
        """Only a client that reads slowly lags."""
        server = self.events('--lag', 100000, '--compression')
        streams = self.stream(server, gzip=True), self.stream(server)
        for _ in range(3):
            self.publish(server, 'x' * 150000)
            for stream in streams:
                self.assertEqual(stream.data(), b'x' * 150000)

    def test_bursts_to_one_that_reads_slowly(self):
        """All of it comes in order, though the socket is full again and again."""
        server = self.events('--lag', 64 * MIB)
        stream = self.stream(server, rcvbuf=4096)
        thread = threading.Thread(target=self.publish, args=(server, 'y' * 10 * KIB, '?count=1000'))
        thread.start()
        ids = []
        for i in range(1000):
            ids.append(int(stream.id()))
            if i % 100 == 0:
                time.sleep(0.02)
        thread.join()
        self.assertEqual(ids, list(range(ids[0], ids[0] + 1000)))

    @only_http1('subscribers whose silence is that of the channel')
    def test_one_that_takes_nothing(self):
        """What a client does not take is given up after two times of silence."""
        server = self.events('--comment', 100, '--lag', 64 * MIB)
        stream = self.stream(server, rcvbuf=4096)
        before = server.sockets()
        self.publish(server, 'z' * MIB, '?count=10')
        self.eventually(lambda: server.sockets() < before)
        self.assertIsNotNone(stream)

    @unrepeatable('threads of the program are not recorded')
    def test_many_at_once(self):
        server = self.events('--workers', 2)
        streams = [self.stream(server) for _ in range(200)]
        for i in range(10):
            self.publish(server, f'{i}', '?thread')
            if i == 5:
                for stream in streams[:100]:
                    stream.wire.close()
                streams = streams[100:]
        for stream in streams:
            self.assertEqual([stream.data() for _ in range(10)], [b'%d' % i for i in range(10)])

    @only_http1('parked subscribers')
    def test_memory(self):
        """Of 500 parked subscribers, measured. Meson lets malloc() fill what it gives, used or not: not here."""
        server = self.events('--workers', 1, '--head_timeout', 60000, env={'MALLOC_PERTURB_': '0'})
        for _ in range(30):
            self.ask(server, request('GET', '/nothing'))
        idle = [self.dial(server) for _ in range(250)]
        for wire in idle:
            wire.ask(request('GET', '/nothing'))
        time.sleep(0.1)
        per_idle = -server.rss()
        more = [self.dial(server) for _ in range(250)]
        for wire in more:
            wire.ask(request('GET', '/nothing'))
        per_idle = (per_idle + server.rss()) / 250
        before = server.rss()
        streams = [self.stream(server) for _ in range(500)]
        self.publish(server, 'x')
        for stream in streams:
            self.assertEqual(stream.data(), b'x')
        each = (server.rss() - before) / 500
        print(f'{each:.0f} bytes for each of 500 parked streams, {per_idle:.0f} for an idle connection')
        if 'EDDY_SERVER_WRAP' not in os.environ and not is_sanitized():
            # Of TLS, 58 KB are of wolfSSL.
            self.assertLess(each, 72 * KIB if self.secure else 2 * KIB)


class SecureHandlers(Handlers):
    secure = (True,)


class SecureChannels(Channels):
    secure = (True, '--no_ktls')


@unittest.skipUnless(has_ktls(), 'needs TLS in the kernel')
class KernelChannels(Channels):
    secure = (True,)


class Tour(Shared):
    program = 'tour'

    def text(self, ids):
        return ''.join(f'id: {i}\nevent: tick\ndata: {i}\n\n' for i in ids).encode()

    def test_events(self):
        began = time.monotonic()
        response = self.server.get('/events/5')
        self.assertEqual((response.status, response.body), (200, self.text(range(1, 6))))
        self.assertGreater(time.monotonic() - began, 0.035)
        self.assertEqual(response.header('content-type'), 'text/event-stream')
        self.assertEqual(self.server.get('/events/5', 'Last-Event-ID: 3').body, self.text((4, 5)))
        for last in ('5', '6', '4000000000'):
            self.assertEqual(self.server.get('/events/5', f'Last-Event-ID: {last}').status, 204)
        self.assertEqual(self.server.get('/events/0').status, 204)
        self.assertEqual(self.server.get('/events/x').status, 400)
        self.assertEqual(self.server.get('/events/5?comment=x').status, 400)

    def test_stay(self):
        with self.server.connect() as wire:
            stream = Stream(wire, '/events/2?stay&comment=50')
            self.assertEqual([stream.next() for _ in range(4)],
                             [b'id: 1\nevent: tick\ndata: 1', b'id: 2\nevent: tick\ndata: 2', b':', b':'])

    def test_event_source(self):
        """It connects again at the end, and is told by 204 that nothing is left."""
        command = node('sockets.mjs', 'events', 'node', f'http://127.0.0.1:{self.server.port}/events/3', 'tick')
        command.insert(1, '--experimental-eventsource')
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(done.stdout, '[["1","1"],["2","2"],["3","3"]]\n', done.stderr)

    def test_curl(self):
        self.assertEqual(curl('-N', f'http://127.0.0.1:{self.server.port}/events/3').stdout, self.text((1, 2, 3)))


del Events


if __name__ == '__main__':
    unittest.main()
