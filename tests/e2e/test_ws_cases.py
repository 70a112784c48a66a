"""WebSockets case by case, in both roles: frames that a peer sends, and the reaction. A row of CASES is a name, what is sent, the
messages and pongs that are sent back, and the code of the close frame; without a code the socket goes on until it is closed.

Each case sends a list of frames, as functions of the mask that their sender uses. It comes at once, and byte by byte if it is short:
a reaction to a part of a frame comes though the rest of it does not.
"""
import functools
import re
import socket
import struct
import subprocess
import zlib

from wire import KIB, MIB, PROGRAMS, Case
from ws import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Served, Socket, frame

PATHS = ('/echo', '/parked', '/pieces')
CASES = []


def of(opcode):
    return lambda payload='', **options: functools.partial(frame, opcode, payload, **options)


text, binary, more, ping, pong, close = map(of, (TEXT, BINARY, CONTINUATION, PING, PONG, CLOSE))


def cut(whole, left):
    """A frame that lacks its last bytes."""
    return lambda mask: whole(mask=mask)[:-left]


def long_head(first, size):
    return lambda mask: bytes([first, 0xff if mask else 0x7f]) + struct.pack('>Q', size) + (mask or b'')


def code(number, reason=''):
    return struct.pack('>H', number) + (reason if isinstance(reason, bytes) else reason.encode())


def case(name, sent, *heard, code=None):
    CASES.append((name, sent, heard, code))


def text_is(what, good, payload):
    """In a frame; in one for each byte."""
    heard = [(TEXT, payload)] if good else []
    ends = {} if good else {'code': 1007}
    case(f'text, {what}', [text(payload)], *heard, **ends)
    pieces = [(more if i else text)(payload[i:i + 1], fin=i == len(payload) - 1) for i in range(len(payload))]
    case(f'text, {what}, in pieces', pieces or [text(fin=False), more()], *heard, **ends)


# Framing.
for size in (0, 1, 125, 126, 127, 128, 65535, 65536):
    case(f'text of {size} bytes', [text('*' * size)], (TEXT, b'*' * size))
    case(f'binary of {size} bytes', [binary(b'\xfe' * size)], (BINARY, b'\xfe' * size))
for form, size in ((2, 0), (2, 125), (8, 125), (8, 65535)):
    case(f'length {size} in {form} bytes', [binary(bytes(size), length=form)], code=1002)
case('length with the highest bit', [long_head(0x82, 1 << 63)], code=1002)
case('length beyond the limit', [long_head(0x82, (1 << 63) - 1)], code=1009)
case('wrong mask', [lambda mask: frame(TEXT, 'a', mask=None if mask else b'1234')], code=1002)

# Pings and pongs.
for size in (0, 1, 125):
    case(f'ping of {size} bytes', [ping('p' * size)], (PONG, b'p' * size))
case('ping that is not text', [ping(b'\0\xff\xfe\xfd')], (PONG, b'\0\xff\xfe\xfd'))
case('ping of 126 bytes', [ping('p' * 126)], code=1002)
case('pong that answers nothing', [pong(), pong('x'), text('a')], (TEXT, b'a'))
case('pong of 126 bytes', [pong('p' * 126)], code=1002)
case('pings and a pong', [ping('1'), pong('x'), ping('2')], (PONG, b'2'))
case('ping after an error', [text('a', rsv=1), ping('x')], code=1002)

# Reserved bits and opcodes, first and behind a message.
for first in ([], [text('hello')]):
    heard = [(TEXT, b'hello')] * len(first)
    for rsv in range(1, 8):
        for opcode in (TEXT, BINARY, PING, CLOSE):
            case(f'bits {rsv} of opcode {opcode} behind {len(first)}', [*first, of(opcode)(code(1000) if opcode == CLOSE else 'a', rsv=rsv)], *heard, code=1002)
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        for payload in ('', 'a'):
            case(f'opcode {opcode} with {payload!r} behind {len(first)}', [*first, of(opcode)(payload)], *heard, code=1002)

# Fragments.
begin, go_on, end = text('one ', fin=False), more('two ', fin=False), more('three')
case('ping in fragments', [ping('a', fin=False), more('b')], code=1002)
case('pong in fragments', [pong('a', fin=False), more('b')], code=1002)
case('close in fragments', [close(code(1000), fin=False)], code=1002)
case('three fragments', [begin, go_on, end], (TEXT, b'one two three'))
case('ping between fragments', [begin, ping('p'), go_on, end], (PONG, b'p'), (TEXT, b'one two three'))
case('pings between fragments', [begin, ping('1'), go_on, ping('2'), ping('3'), end], (PONG, b'3'), (TEXT, b'one two three'))
case('empty fragments', [text(fin=False), more(fin=False), more()], (TEXT, b''))
case('empty fragments around', [text(fin=False), more('a', fin=False), more(fin=False), more('b', fin=False), more()], (TEXT, b'ab'))
for fin in (True, False):
    case(f'continuation of nothing, fin {fin}', [more('a', fin=fin), text('b')], code=1002)
    case(f'continuation behind the end, fin {fin}', [begin, end, more('a', fin=fin)], (TEXT, b'one three'), code=1002)
    case(f'text within a text, fin {fin}', [begin, text('a', fin=fin), end], code=1002)
    case(f'binary within a text, fin {fin}', [begin, binary('a', fin=fin), end], code=1002)
case('bits of a continuation', [begin, more('a', rsv=4)], code=1002)
case('messages of fragments', [begin, end, binary(b'\xff', fin=False), more(b'\xfe'), text('x')],
     (TEXT, b'one three'), (BINARY, b'\xff\xfe'), (TEXT, b'x'))

# UTF-8. It is an error with the first byte that no character has there.
for what, good, payload in (
        ('nothing', True, b''), ('ASCII', True, b'Hello-'), ('Greek', True, 'κόσμε'.encode()), ('mixed', True, 'Hello-µ@ßöäüàá-UTF-8!!'.encode()),
        ('U+0000', True, b'\0'), ('U+007F', True, b'\x7f'), ('U+0080', True, b'\xc2\x80'), ('U+07FF', True, b'\xdf\xbf'), ('U+0800', True, b'\xe0\xa0\x80'),
        ('U+D7FF', True, b'\xed\x9f\xbf'), ('U+E000', True, b'\xee\x80\x80'), ('U+FFFD', True, b'\xef\xbf\xbd'), ('U+FFFE', True, b'\xef\xbf\xbe'),
        ('U+FFFF', True, b'\xef\xbf\xbf'), ('U+10000', True, b'\xf0\x90\x80\x80'), ('U+10FFFF', True, b'\xf4\x8f\xbf\xbf'),
        ('U+1FFFE', True, b'\xf0\x9f\xbf\xbe'), ('U+110000', False, b'\xf4\x90\x80\x80'), ('U+200000', False, b'\xf8\x88\x80\x80\x80'),
        ('U+4000000', False, b'\xfc\x84\x80\x80\x80\x80'), ('U+7FFFFFFF', False, b'\xfd\xbf\xbf\xbf\xbf\xbf'), ('FE', False, b'\xfe'), ('FF', False, b'\xff'),
        ('a lonely 80', False, b'\x80'), ('a lonely BF', False, b'a\xbf'), ('all that go on', False, bytes(range(0x80, 0xc0))),
        ('C0 and a space', False, b'\xc0 '), ('E0 and a space', False, b'\xe0 '), ('F0 and a space', False, b'\xf0 '),
        ('2 bytes less 1', False, b'\xdf'), ('3 bytes less 1', False, b'\xef\xbf'), ('4 bytes less 1', False, b'\xf4\x8f\xbf'),
        ('overlong / in 2', False, b'\xc0\xaf'), ('overlong / in 3', False, b'\xe0\x80\xaf'), ('overlong / in 4', False, b'\xf0\x80\x80\xaf'),
        ('overlong U+007F', False, b'\xc1\xbf'), ('overlong U+07FF', False, b'\xe0\x9f\xbf'), ('overlong U+FFFF', False, b'\xf0\x8f\xbf\xbf'),
        ('overlong U+0000', False, b'\xc0\x80'), ('U+D800', False, b'\xed\xa0\x80'), ('U+DFFF', False, b'\xed\xbf\xbf'),
        ('surrogates', False, b'\xed\xa0\x80\xed\xb0\x80'), ('a good beginning', False, 'κόσμε'.encode() + b'\xed\xa0\x80edited')):
    text_is(what, good, payload)
for what, payload in (('U+110000', 'κόσμε'.encode() + b'\xf4\x90'), ('a surrogate', b'\xed\xa0'), ('C0', b'a' * 200 + b'\xc0')):
    case(f'the rest of a frame does not come, {what}', [cut(text(payload + b'x' * 50), 50)], code=1007)
    case(f'other fragments do not come, {what}', [text(payload, fin=False)], code=1007)
    case(f'the rest of a fragment does not come, {what}', [begin, cut(more(payload + b'x' * 50, fin=False), 50)], code=1007)
case('a character in two fragments, a ping between', [text(b'\xf0\x9f', fin=False), ping(b'\xff'), more(b'\x98\x80')], (PONG, b'\xff'), (TEXT, '😀'.encode()))
case('binary that is not text', [binary(b'\xed\xa0\x80'), binary(b'\xff', fin=False), more(b'\xc0')], (BINARY, b'\xed\xa0\x80'), (BINARY, b'\xff\xc0'))
case('half a character, a new message', [text(b'\xf0\x9f'), text('a')], code=1007)

# The end.
case('close without a code', [close()], code=1005)
for number in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999):
    case(f'close with {number}', [close(code(number))], code=number)
for number in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535):
    case(f'close with {number}', [close(code(number, 'why'))], code=1002)
case('close with half a code', [close(b'\3')], code=1002)
case('close with a reason', [close(code(1000, 'grüße'))], code=1000)
case('close with the longest reason', [close(code(1000, 'r' * 123))], code=1000)
case('close with too long a reason', [close(code(1000, 'r' * 124))], code=1002)
case('close with a reason that is not text', [close(code(1000, b'\xce\xba\xed\xa0\x80'))], code=1007)
case('close with half a character', [close(code(1000, b'\xf0\x9f'))], code=1007)
case('messages behind close', [close(code(1000)), text('a'), ping('p')], code=1000)
case('two closes', [close(code(1000)), close(code(1001))], code=1000)
case('close within a message', [begin, close(code(1001))], code=1001)

# Limits.
case('a MiB', [text('*' * MIB)], (TEXT, b'*' * MIB))
case('a MiB in fragments of 4 KiB', [(more if i else binary)(b'\xfe' * 4 * KIB, fin=i == 255) for i in range(256)], (BINARY, b'\xfe' * MIB))
case('fragments of a byte', [(more if i else text)('*', fin=i == 4095) for i in range(4096)], (TEXT, b'*' * 4 * KIB))
case('messages of a byte', [text('*')] * 2000, *[(TEXT, b'*')] * 2000)

# Parameters of permessage-deflate that a client offers, or that a server has chosen.
DEFLATES = ('', 'client_no_context_takeover', 'server_no_context_takeover', 'server_no_context_takeover; client_no_context_takeover',
            'client_max_window_bits=9', 'server_max_window_bits=9', 'client_max_window_bits=10; server_max_window_bits=12; client_no_context_takeover')


class Packed:
    """Messages of a side as that was agreed, compressed and expanded."""

    def __init__(self, side, agreed):
        bits = re.search(f'{side}_max_window_bits=(\\d+)', agreed)
        self.bits, self.keeps = int(bits[1]) if bits else 15, f'{side}_no_context_takeover' not in agreed
        self.packer = self.unpacker = None

    def compress(self, data):
        if not self.packer or not self.keeps:
            self.packer = zlib.compressobj(wbits=-self.bits)
        return (self.packer.compress(data) + self.packer.flush(zlib.Z_SYNC_FLUSH))[:-4]

    def expand(self, data):
        if not self.unpacker or not self.keeps:
            self.unpacker = zlib.decompressobj(wbits=-self.bits)
        return self.unpacker.decompress(data + b'\0\0\xff\xff')


MESSAGES = [b'{"n": %d, "list": [%s]}' % (size, b', '.join(b'"item %d"' % (i * i % 997) for i in range(size // 12)))
            for size in (16, 64, 256, 1024, 4096, 20000, 131072, 256, 16)]


def is_short(row):
    return sum(len(each(mask=b'1234')) for each in row[1]) < 100


class Cases(Case):
    def hear(self, ws, awaited=()):
        """Messages, the last pong and the code that the peer sends; once these are there, close the socket."""
        heard, message = {}, None
        messages = heard.setdefault('messages', [])
        while True:
            if awaited and heard == awaited:
                ws.send(CLOSE, code(1000))
                awaited = None
            opcode, payload, fin, _ = ws.frame()
            if opcode == CLOSE:
                heard['code'] = struct.unpack('>H', payload[:2])[0] if payload else 1005
                return heard
            if opcode == PONG:
                heard['pong'] = payload
                continue
            message = (message[0], message[1] + payload) if opcode == CONTINUATION else (opcode, payload)
            if fin:
                messages.append(message)

    def play(self, ws, row, by_bytes):
        _, sent, heard, ends = row
        data = b''.join(each(mask=ws.mask) for each in sent)
        for at in range(0, len(data), 1 if by_bytes else len(data)):
            if not ws.wire.try_send(data[at:at + 1] if by_bytes else data):
                break
        awaited = {'messages': [each for each in heard if each[0] != PONG], **{'pong': payload for opcode, payload in heard if opcode == PONG}}
        self.assertEqual(self.hear(ws, () if ends else awaited), {**awaited, 'code': ends or 1000})
        if not ws.mask:
            ws.wire.end()
        ws.wire.read_end()

    def test_server(self):
        server = self.serve(program='sockets')
        for row in CASES:
            for path in PATHS:
                # A message by pieces has no limit.
                for by_bytes in () if path == '/pieces' and row[-1] == 1009 else (False, True) if is_short(row) else (False,):
                    with self.subTest(row[0], path=path, by_bytes=by_bytes), Socket(server, path) as ws:
                        self.play(ws, row, by_bytes)

    def start_client(self, count, *args):
        """A client that sends back what comes, on so many connections, one by one. Return: what accepts them."""
        listener = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listener.close)
        listener.settimeout(20)
        client = subprocess.Popen([PROGRAMS['ws_client'], *args, '--first', '1', '--last', str(count), f'ws://127.0.0.1:{listener.getsockname()[1]}'],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(client.stderr.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        self.client = client
        return lambda *fields: Served(listener.accept()[0], *fields)

    def end_client(self, accept):
        """It asks for a report, and frees the socket, whose end waits for no messages that are still under way."""
        with accept() as ws:
            ws.write(frame(BINARY, bytes(100 * KIB), mask=None) * 30 + ping()(mask=None))
            self.assertEqual(self.hear(ws), {'messages': [], 'code': 1000})
            ws.send(CLOSE, code(1000))
            ws.wire.end()
            ws.wire.read_end()
        self.assertEqual((self.client.wait(20), self.client.stderr.read()), (0, b''))

    def test_client(self):
        accept = self.start_client(len(CASES))
        for row in CASES:
            with self.subTest(row[0]), accept() as ws:
                self.play(ws, row, is_short(row))
        self.end_client(accept)

    def exchange(self, ws, agreed):
        """Messages whole and in fragments, and those that break the stream."""
        mine, theirs = Packed('client', agreed), Packed('server', agreed)
        if not ws.mask:
            mine, theirs = theirs, mine
        for i, data in enumerate(MESSAGES):
            packed = mine.compress(data)
            size = (len(packed), 1000, 7)[i % 3]
            pieces = [packed[at:at + size] for at in range(0, len(packed), size)]
            for at, piece in enumerate(pieces):
                ws.send(CONTINUATION if at else TEXT, piece, rsv=0 if at else 4, fin=at == len(pieces) - 1)
            ws.send(TEXT, data)    # and as it is
            for _ in range(2):
                opcode, got, fin, rsv = ws.frame()
                self.assertTrue(rsv or len(data) < 64)
                while not fin:
                    _, rest, fin, more_rsv = ws.frame()
                    self.assertEqual(more_rsv, 0)
                    got += rest
                self.assertEqual((opcode, theirs.expand(got) if rsv else got), (TEXT, data))

    def spoil(self, ws, agreed, i):
        """End it by something that is wrong."""
        pack = Packed('client' if ws.mask else 'server', agreed).compress
        data, ends = ((binary(b'\xff\xff\xff', rsv=4), 1002), (text(pack(b'\xff'), rsv=4), 1007), (ping('a', rsv=4), 1002),
                      (binary('a', rsv=2), 1002), (binary(pack(bytes(17 * MIB)), rsv=4), 1009),
                      (lambda mask: frame(TEXT, pack(b'ab'), rsv=4, fin=False, mask=mask) + frame(CONTINUATION, 'x', rsv=4, mask=mask), 1002),
                      (text(pack('κόσμε'.encode() + b'\xed\xa0' + bytes(99999))[:200], rsv=4, fin=False), 1007))[i % 7]
        ws.write(data(mask=ws.mask))
        self.assertEqual(self.hear(ws)['code'], ends)

    def test_deflate_of_server(self):
        for takeover in ((), ('--takeover',)):
            server = self.serve('--deflate', *takeover, program='sockets')
            for i, offer in enumerate(DEFLATES):
                for path in PATHS:
                    with self.subTest(offer, path=path, takeover=takeover):
                        with Socket(server, path, f'Sec-WebSocket-Extensions: permessage-deflate; {offer}'.rstrip('; ')) as ws:
                            agreed = ws.response.header('sec-websocket-extensions')
                            for needed in re.findall('server_[^;]*', offer):
                                self.assertIn(needed, agreed)
                            self.exchange(ws, agreed)
                            self.spoil(ws, agreed, i) if path == '/echo' else ws.close()

    def test_deflate_of_client(self):
        accept = self.start_client(len(DEFLATES), '--deflate', '--takeover')
        for i, chosen in enumerate(DEFLATES):
            reply = f'permessage-deflate; {chosen}'.rstrip('; ')
            with self.subTest(chosen), accept(f'Sec-WebSocket-Extensions: {reply}') as ws:
                self.exchange(ws, reply)
                self.spoil(ws, reply, i)
        self.end_client(accept)
