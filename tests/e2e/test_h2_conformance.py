"""RFC 9113 and RFC 7541 by frames, well-formed and not: what h2spec asks, and what comes of it."""
import socket
import unittest

import tls
from h2frames import (ACK, COMPRESSION_ERROR, CONTINUATION, DATA, END_HEADERS, END_STREAM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, GOAWAY, HEADERS,
                      NO_ERROR, PING, PREFACE, PRIORITY, PROTOCOL_ERROR, PUSH_PROMISE, RST_STREAM, SETTINGS, STREAM_CLOSED, WINDOW_UPDATE, block,
                      frame, reset, setting, window)
from wire import KIB, Shared, speaks_http2

PADDED, WITH_PRIORITY, WHOLE = 8, 32, END_STREAM | END_HEADERS
WAIT = b'<wait>'  # between frames: until the server has answered stream 1, and what came before
PSEUDO = {':method': 'GET', ':scheme': 'http', ':path': '/', ':authority': 'localhost'}


def fields(*more, **changed):
    """Those of a request. A changed pseudo-header field of None is left out."""
    pseudo = PSEUDO | {f':{name}': value for name, value in changed.items()}
    return block(*((name, value) for name, value in pseudo.items() if value is not None), *more)


def get(*more, stream=1, flags=WHOLE, **changed):
    return frame(HEADERS, flags, stream, fields(*more, **changed))


def post(*more, stream=1, **changed):
    return get(*more, stream=stream, flags=END_HEADERS, **{'method': 'POST', 'path': '/echo', **changed})


# What comes of it, as its kind and the arguments of a check. The connection goes on, but for the last.
def answers(stream=1, data=None):
    """With 200. `data`: the sizes of its DATA frames."""
    return 'answers', stream, data


def resets(code, stream=1):
    return 'resets', stream, code


def acks(kind, count):
    """So many acknowledgements of PING or SETTINGS, of which one is of the client's first."""
    return 'acks', kind, count


def ends(code):
    return 'ends', code


HALF, REST = fields()[:20], fields()[20:]
SLOW, BIG = {'path': '/slow/100'}, {'path': '/big/10'}
IGNORED = ('ignored',)

CASES = (
    # RFC 9113 sections 4.1 to 4.3. Frames up to 1 MiB are announced.
    ('a frame of an unknown type', frame(22, 255, 0, b'12345678'), IGNORED),
    ('flags that are not defined', frame(PING, 22, 0, bytes(8)), acks(PING, 1)),
    ('the reserved bit', frame(PING, 0, 1 << 31, bytes(8)), acks(PING, 1)),
    ('a frame of 16 KiB', post() + frame(DATA, END_STREAM, 1, bytes(16 * KIB)), answers()),
    ('a frame above 16 KiB', post() + frame(DATA, END_STREAM, 1, bytes(16 * KIB + 1))[:9], ends(FRAME_SIZE_ERROR)),
    ('a head above 16 KiB', frame(HEADERS, WHOLE, 1, bytes(16 * KIB + 1))[:9], ends(FRAME_SIZE_ERROR)),
    ('fields that are no HPACK', frame(HEADERS, WHOLE, 1, b'\0\5ab'), ends(COMPRESSION_ERROR)),
    ('PRIORITY within a head', frame(HEADERS, END_STREAM, 1, HALF) + frame(PRIORITY, 0, 1, bytes(5)), ends(PROTOCOL_ERROR)),
    ('another head within a head', frame(HEADERS, END_STREAM, 1, HALF) + get(stream=3), ends(PROTOCOL_ERROR)),
    # 5.1: idle, half closed, closed by a reset, closed by its ends.
    ('DATA of an idle stream', frame(DATA, END_STREAM, 1, b'x'), ends(PROTOCOL_ERROR)),
    ('RST_STREAM of an idle stream', reset(1), ends(PROTOCOL_ERROR)),
    ('WINDOW_UPDATE of an idle stream', window(1, 100), ends(PROTOCOL_ERROR)),
    ('CONTINUATION of an idle stream', frame(CONTINUATION, END_HEADERS, 1, REST), ends(PROTOCOL_ERROR)),
    ('DATA after the end', get(**SLOW) + frame(DATA, END_STREAM, 1, b'x'), ends(STREAM_CLOSED)),
    ('a head after the end', get(**SLOW) + get(), ends(STREAM_CLOSED)),
    ('CONTINUATION after the end', get(**SLOW) + frame(CONTINUATION, END_HEADERS, 1, REST), ends(PROTOCOL_ERROR)),
    ('DATA after a reset', post() + reset(1) + frame(DATA, END_STREAM, 1, b'x'), IGNORED),
    ('a head after a reset', post() + reset(1) + get(), ends(STREAM_CLOSED)),
    ('CONTINUATION after a reset', post() + reset(1) + frame(CONTINUATION, END_HEADERS, 1, REST), ends(PROTOCOL_ERROR)),
    ('DATA of a closed stream', get() + WAIT + frame(DATA, END_STREAM, 1, b'x'), ends(STREAM_CLOSED)),
    ('a head of a closed stream', get() + WAIT + get(), ends(STREAM_CLOSED)),
    ('CONTINUATION of a closed stream', get() + WAIT + frame(CONTINUATION, END_HEADERS, 1, REST), ends(PROTOCOL_ERROR)),
    # 5.1.1. A stream below the last one, which libnghttp2 takes for a closed one.
    ('an even stream', get(stream=2), ends(PROTOCOL_ERROR)),
    ('a stream below the last', get(stream=5) + get(stream=3), ends(STREAM_CLOSED)),
    # 5.1.2. The limit has been acknowledged.
    ('too many streams', b''.join(get(stream=2 * i + 1, **SLOW) for i in range(101)), ends(PROTOCOL_ERROR)),
    # 5.3.1 of RFC 7540, whose priorities are switched off (RFC 9218): PRIORITY is ignored.
    ('a head that depends on itself', frame(HEADERS, WHOLE | WITH_PRIORITY, 1, b'\0\0\0\1\xff' + fields()), ends(PROTOCOL_ERROR)),
    ('PRIORITY that depends on itself', frame(PRIORITY, 0, 1, b'\0\0\0\1\xff'), IGNORED),
    # 5.4.1 and 5.5.
    ('GOAWAY before the end', frame(PING, 0, 0, bytes(6)), ends(FRAME_SIZE_ERROR)),
    ('an unknown frame within a head', frame(HEADERS, END_STREAM, 1, HALF) + frame(22, 0, 0, bytes(8)), ends(PROTOCOL_ERROR)),
    # 6.1 to 6.4.
    ('DATA of stream 0', frame(DATA, 0, 0, b'x'), ends(PROTOCOL_ERROR)),
    ('too much padding of DATA', post() + frame(DATA, END_STREAM | PADDED, 1, b'\6body'), ends(PROTOCOL_ERROR)),
    ('padding of DATA', post() + frame(DATA, END_STREAM | PADDED, 1, b'\4body' + bytes(4)), answers(data=[4])),
    ('HEADERS of stream 0', get(stream=0), ends(PROTOCOL_ERROR)),
    ('too much padding of HEADERS', frame(HEADERS, WHOLE | PADDED, 1, bytes((len(fields()) + 1,)) + fields()), ends(PROTOCOL_ERROR)),
    ('PRIORITY of stream 0', frame(PRIORITY, 0, 0, bytes(5)), ends(PROTOCOL_ERROR)),
    ('PRIORITY of a wrong size', get(**SLOW) + frame(PRIORITY, 0, 1, bytes(4)), ends(FRAME_SIZE_ERROR)),
    ('RST_STREAM of stream 0', reset(0), ends(PROTOCOL_ERROR)),
    ('RST_STREAM of a wrong size', post() + frame(RST_STREAM, 0, 1, bytes(3)), ends(FRAME_SIZE_ERROR)),
    # 6.5.
    ('SETTINGS', setting((4, 100)), acks(SETTINGS, 2)),
    ('an acknowledgement with settings', frame(SETTINGS, ACK, 0, bytes(6)), ends(FRAME_SIZE_ERROR)),
    ('SETTINGS of a stream', frame(SETTINGS, 0, 1, bytes(6)), ends(PROTOCOL_ERROR)),
    ('SETTINGS of a wrong size', frame(SETTINGS, 0, 0, bytes(3)), ends(FRAME_SIZE_ERROR)),
    ('ENABLE_PUSH of 2', setting((2, 2)), ends(PROTOCOL_ERROR)),
    ('INITIAL_WINDOW_SIZE of 2^31', setting((4, 1 << 31)), ends(FLOW_CONTROL_ERROR)),
    ('MAX_FRAME_SIZE below 2^14', setting((5, 16 * KIB - 1)), ends(PROTOCOL_ERROR)),
    ('MAX_FRAME_SIZE of 2^24', setting((5, 1 << 24)), ends(PROTOCOL_ERROR)),
    ('an unknown setting', setting((255, 1)), IGNORED),
    ('a setting twice', setting((4, 100), (4, 1)) + get(**BIG) + WAIT + window(1, 9), answers(data=[1, 9])),
    # 6.7 and 6.8.
    ('an acknowledgement of no PING', frame(PING, ACK, 0, b'unwanted'), acks(PING, 0)),
    ('PING of a stream', frame(PING, 0, 1, bytes(8)), ends(PROTOCOL_ERROR)),
    ('PING of a wrong size', frame(PING, 0, 0, bytes(9)), ends(FRAME_SIZE_ERROR)),
    ('GOAWAY of a stream', frame(GOAWAY, 0, 1, bytes(8)), ends(PROTOCOL_ERROR)),
    # 6.9. libnghttp2 takes an increment of 0 for an error of the connection.
    ('a window of 1', setting((4, 1)) + get(**BIG) + WAIT + window(1, 100), answers(data=[1, 9])),
    ('a window that is changed', setting((4, 0)) + get(**BIG) + WAIT + setting((4, 1)) + WAIT + setting((4, 10)), answers(data=[1, 9])),
    ('a window below 0', setting((4, 3)) + get(**BIG) + WAIT + setting((4, 2)) + window(1, 2) + WAIT + window(1, 100), answers(data=[3, 1, 6])),
    ('a connection of 2^31', window(0, 2**31 - 1) * 2, ends(FLOW_CONTROL_ERROR)),
    ('a stream of 2^31', post() + window(1, 2**31 - 1) * 2, resets(FLOW_CONTROL_ERROR)),
    ('an increment of 0', window(0, 0), ends(PROTOCOL_ERROR)),
    ('an increment of 0 on a stream', post() + window(1, 0), ends(PROTOCOL_ERROR)),
    ('WINDOW_UPDATE of a wrong size', frame(WINDOW_UPDATE, 0, 0, bytes(3)), ends(FRAME_SIZE_ERROR)),
    # 6.10.
    ('a head in three frames', frame(HEADERS, END_STREAM, 1, HALF) + frame(CONTINUATION, 0, 1, REST[:5]) +
     frame(CONTINUATION, END_HEADERS, 1, REST[5:]), answers()),
    ('DATA within a head', frame(HEADERS, 0, 1, HALF) + frame(CONTINUATION, 0, 1, REST) + frame(DATA, END_STREAM, 1, b'x'), ends(PROTOCOL_ERROR)),
    ('CONTINUATION of stream 0', frame(HEADERS, END_STREAM, 1, HALF) + frame(CONTINUATION, END_HEADERS, 0, REST), ends(PROTOCOL_ERROR)),
    ('CONTINUATION after END_HEADERS', post() + frame(CONTINUATION, END_HEADERS, 1, REST), ends(PROTOCOL_ERROR)),
    ('CONTINUATION after CONTINUATION', frame(HEADERS, 0, 1, HALF) + frame(CONTINUATION, END_HEADERS, 1, REST) * 2, ends(PROTOCOL_ERROR)),
    ('CONTINUATION after DATA', post() + frame(DATA, 0, 1, b'x') + frame(CONTINUATION, END_HEADERS, 1, REST), ends(PROTOCOL_ERROR)),
    # 7. The client has said goodbye, and nothing is left to do.
    ('GOAWAY with an unknown code', frame(GOAWAY, 0, 0, b'\0\0\0\0\0\0\0\xff'), ends(NO_ERROR)),
    ('RST_STREAM with an unknown code', post() + reset(1, 255), IGNORED),
    # 8.
    ('trailers that do not end the stream', post() + frame(HEADERS, END_HEADERS, 1, block(('x', 'y'))), resets(PROTOCOL_ERROR)),
    ('a name in capital letters', get(('X-Test', 'ok')), resets(PROTOCOL_ERROR)),
    ('an unknown pseudo-header field', get((':test', 'ok')), resets(PROTOCOL_ERROR)),
    ('a pseudo-header field of responses', get((':status', '200')), resets(PROTOCOL_ERROR)),
    ('a pseudo-header field in trailers', post() + frame(HEADERS, WHOLE, 1, block((':method', 'GET'))), resets(PROTOCOL_ERROR)),
    ('a pseudo-header field after others', get(('x', 'y'), (':path', '/'), path=None), resets(PROTOCOL_ERROR)),
    ('a field of connections', get(('connection', 'keep-alive')), resets(PROTOCOL_ERROR)),
    ('te', get(('te', 'trailers, deflate')), resets(PROTOCOL_ERROR)),
    ('te: trailers', get(('te', 'trailers')), answers()),
    ('an empty path', get(path=''), resets(PROTOCOL_ERROR)),
    *((f'no {name}', get(**{name: None}), resets(PROTOCOL_ERROR)) for name in ('method', 'scheme', 'path')),
    *((f'two {name}s', get((f':{name}', PSEUDO[f':{name}'])), resets(PROTOCOL_ERROR)) for name in ('method', 'scheme', 'path')),
    ('content-length above a frame', post(('content-length', '2')) + frame(DATA, END_STREAM, 1, b'x'), resets(PROTOCOL_ERROR)),
    ('content-length below two frames', post(('content-length', '1')) + frame(DATA, 0, 1, b'x') + frame(DATA, END_STREAM, 1, b'x'), resets(PROTOCOL_ERROR)),
    ('PUSH_PROMISE', frame(PUSH_PROMISE, END_HEADERS, 1, b'\0\0\0\2' + fields()), ends(PROTOCOL_ERROR)),
    # RFC 7541 sections 2.3.3, 4.2, 5.2, 6.1 and 6.3.
    *((name, frame(HEADERS, WHOLE, 1, fields() + data), ends(COMPRESSION_ERROR)) for name, data in (
        ('an index above both tables', b'\xc6'), ('a name above both tables', b'\x7f\x07\5empty'), ('a table size after fields', b'\x20'),
        ('padding of a byte', b'\0\1x\x82\7\xff'), ('padding of zeros', b'\0\1x\x81\0'), ('EOS', b'\0\1x\x84\xff\xff\xff\xff'),
        ('index 0', b'\x80'))),
    ('a table size above the limit', frame(HEADERS, WHOLE, 1, b'\x3f\xe2\x1f' + fields()), ends(COMPRESSION_ERROR)),
)


class Talk:
    """A connection by frames."""

    def __init__(self, port, context=None):
        self.socket = socket.create_connection(('127.0.0.1', port), 5)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname='localhost')
        self.data, self.frames, self.ended = b'', [], False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def of(self, kind, stream=None):
        return [(flags, payload) for k, flags, s, payload in self.frames if k == kind and stream in (None, s)]

    def has_ended(self, stream):
        return any(flags & END_STREAM for flags, _ in self.of(HEADERS, stream) + self.of(DATA, stream))

    def until(self, condition):
        while not self.ended and not condition():
            try:
                got = self.socket.recv(64 * KIB)
            except ConnectionResetError:
                got = b''
            self.ended = not got
            self.data += got
            while len(self.data) >= 9 and len(self.data) >= (size := 9 + int.from_bytes(self.data[:3], 'big')):
                self.frames.append((self.data[3], self.data[4], int.from_bytes(self.data[5:9], 'big'), self.data[9:size]))
                self.data = self.data[size:]

    def sync(self):
        self.until(lambda: self.of(HEADERS, 1))
        self.send(frame(PING, payload=b'%08d' % len(self.frames)))
        before = len(self.of(PING))
        self.until(lambda: len(self.of(PING)) > before)


def setUpModule():
    if not speaks_http2():
        raise unittest.SkipTest('needs an eddy with -Dhttp2=enabled')


class Frames(Shared):
    program = 'limits'
    context = None

    def converse(self, talk, data, kind, *expected):
        *steps, last = data.split(WAIT)
        talk.send(PREFACE + setting() + frame(SETTINGS, ACK))
        for step in steps:
            talk.send(step)
            talk.sync()
        talk.send(last)
        if kind == 'ends':
            talk.until(lambda: False)
            self.assertEqual([int.from_bytes(payload[4:8], 'big') for _, payload in talk.of(GOAWAY)], list(expected))
            return
        stream = expected[0] if kind in ('answers', 'resets') else None
        if kind == 'answers':
            talk.until(lambda: talk.has_ended(stream))
            self.assertEqual(talk.of(HEADERS, stream)[0][1][:1], b'\x88')
            if expected[1]:
                self.assertEqual([len(payload) for _, payload in talk.of(DATA, stream) if payload], expected[1])
        # It goes on.
        talk.send(get(stream=1001, path='/status/204'))
        talk.until(lambda: talk.has_ended(1001))
        self.assertEqual((talk.has_ended(1001), talk.of(GOAWAY)), (True, []))
        self.assertEqual([int.from_bytes(payload, 'big') for _, payload in talk.of(RST_STREAM, stream)], [expected[1]] if kind == 'resets' else [])
        if kind == 'acks':
            self.assertEqual([flags & ACK for flags, _ in talk.of(expected[0])].count(ACK), expected[1])

    def test_cases(self):
        for name, data, outcome in CASES:
            with self.subTest(name), Talk(self.server.port, self.context) as talk:
                self.converse(talk, data, *outcome)
                self.assertEqual(talk.frames[0][0], SETTINGS)

    def test_a_preface_that_is_wrong(self):
        """RFC 9113 section 3.4: on a plain port it may be HTTP/1.1, which answers."""
        with Talk(self.server.port) as talk:
            talk.send(b'INVALID PREFACE\r\n\r\n')
            talk.socket.shutdown(socket.SHUT_WR)
            talk.until(lambda: False)
            self.assertEqual(talk.data[:12], b'HTTP/1.1 400')


class FramesOverTls(Frames):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(tls.tearDownModule)
        tls.setUpModule()
        cls.context = tls.context(alpn=['h2'])
        super().setUpClass()

    @classmethod
    def options(cls):
        return '--cert', tls.at('server.pem'), '--key', tls.at('server.key')

    def test_a_preface_that_is_wrong(self):
        with Talk(self.server.port, self.context) as talk:
            talk.send(b'INVALID PREFACE\r\n\r\n')
            talk.until(lambda: False)
            self.assertEqual([int.from_bytes(payload[4:8], 'big') for _, payload in talk.of(GOAWAY)], [PROTOCOL_ERROR])


if __name__ == '__main__':
    unittest.main()
