"""A client of WebSockets that can send anything.

    with Socket(server, '/echo') as ws:
        ws.send(TEXT, 'hello')
        self.assertEqual(ws.message(), (TEXT, b'hello'))
        self.assertEqual(ws.close(1000), (1000, b''))

Served(sock) is the server of such a socket, which is as free.
"""
import base64
import hashlib
import os
import re
import socket
import struct
import zlib

from wire import Lost, Wire, request, to_bytes

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
KEY = base64.b64encode(b'0123456789abcdef').decode()
FIELDS = ('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', f'Sec-WebSocket-Key: {KEY}')


def frame(opcode, payload=b'', fin=True, rsv=0, mask=b'\x11\x22\x33\x44', length=None):
    """The bytes of a frame; `mask` None: not masked; `length`: the form of its length, 0, 2 or 8 bytes."""
    payload = to_bytes(payload)
    if length is None:
        length = 0 if len(payload) < 126 else 2 if len(payload) < 65536 else 8
    head = bytes([fin << 7 | rsv << 4 | opcode])
    bit = 0 if mask is None else 0x80
    head += bytes([bit | {0: len(payload), 2: 126, 8: 127}[length]])
    head += {0: b'', 2: struct.pack('>H', len(payload) & 0xffff), 8: struct.pack('>Q', len(payload))}[length]
    return head + payload if mask is None else head + mask + masked(payload, mask)


def masked(payload, mask):
    repeated = (mask * (len(payload) // 4 + 1))[:len(payload)]
    return (int.from_bytes(payload, 'big') ^ int.from_bytes(repeated, 'big')).to_bytes(len(payload), 'big')


def deflate(payload):
    packer = zlib.compressobj(wbits=-15)
    return (packer.compress(to_bytes(payload)) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


def inflate(payload):
    return zlib.decompressobj(wbits=-15).decompress(payload + b'\0\0\xff\xff')


class Socket:
    mask = b'\x11\x22\x33\x44'

    def __init__(self, server, path, *fields, **options):
        self.wire = server.connect(**options)
        self.response = self.wire.ask(request('GET', path, *FIELDS, *fields))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.__exit__(None, None, None)

    def write(self, data):
        self.wire.send(data)

    def send(self, opcode, payload=b'', **options):
        self.write(frame(opcode, payload, **{'mask': self.mask, **options}))

    def frame(self):
        """The next one: (opcode, payload, fin, rsv)."""
        first, second = self.wire.take(2)
        size = second & 0x7f
        if bool(second & 0x80) == bool(self.mask):
            raise AssertionError('a server masks its frames, or a client does not')
        if size == 126:
            size, = struct.unpack('>H', self.wire.take(2))
        elif size == 127:
            size, = struct.unpack('>Q', self.wire.take(8))
        mask = self.wire.take(4) if second & 0x80 else bytes(4)
        return first & 0xf, masked(self.wire.take(size), mask), bool(first & 0x80), first >> 4 & 7

    def message(self):
        """The next one, whole: (opcode, payload). Control frames count as messages."""
        opcode, payload, fin, rsv = self.frame()
        while not fin:
            more, rest, fin, _ = self.frame()
            if more != CONTINUATION:
                raise AssertionError(f'a frame of opcode {more} within a message')
            payload += rest
        return opcode, inflate(payload) if rsv & 4 else payload

    def closed(self):
        """The code and the reason of the peer's close frame, and the end of the connection."""
        opcode, payload, _, _ = self.frame()
        if opcode != CLOSE:
            raise AssertionError(f'no close, but opcode {opcode}: {payload[:100]}')
        self.wire.read_end()
        return (struct.unpack('>H', payload[:2])[0] if payload else 1005), payload[2:]

    def close(self, code=1000, reason=''):
        self.send(CLOSE, struct.pack('>H', code) + to_bytes(reason) if code else b'')
        return self.closed()

    def is_lost(self):
        try:
            self.wire.more()
        except Lost:
            return True
        return False


class Served(Socket):
    mask = None

    def __init__(self, sock, *fields):
        self.wire = Wire.__new__(Wire)
        self.wire.socket, self.wire.buffer = sock, b''
        sock.settimeout(10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while b'\r\n\r\n' not in self.wire.buffer:
            self.wire.more()
        head, _, self.wire.buffer = self.wire.buffer.partition(b'\r\n\r\n')
        self.head = head.decode()
        key = re.search(r'(?i)^sec-websocket-key: (.*)\r?$', self.head, re.M)[1].strip()
        accept = base64.b64encode(hashlib.sha1((key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()).decode()
        self.write('\r\n'.join(('HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade',
                                f'Sec-WebSocket-Accept: {accept}', *fields, '', '')))
