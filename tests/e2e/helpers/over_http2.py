"""A Wire that speaks HTTP/2: a gateway for tests that write and read HTTP/1.1. wire.py takes it where EDDY_E2E_HTTP2 is set.

Each request that a test writes becomes a stream, once the response to the one before has ended, and the stream's response the text that
HTTP/1.1 has for it. What HTTP/2 has no equal for skips the test.
"""
# needs: python3-h2
import http.client
import re
import select
import time
import unittest

import wire
from h2wire import H2Wire, Reset, h2
from wire import KIB, MIB, Lost, Response, Wire, to_bytes

TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
LINE = re.compile(r'([A-Z-]+) (/[!-~]*|\*) HTTP/1\.1')
FIELD = re.compile(rf'({TOKEN}):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*')
HOST = re.compile(r'[\w.-]+(:\d*)?|\[[0-9a-fA-F:.]+\](:\d*)?', re.A)
LENGTH = re.compile(r'0|[1-9]\d{0,17}')
SIZE = re.compile(rb'[0-9a-fA-F]{1,15}')


def only(what):
    raise unittest.SkipTest(f'only HTTP/1.1 has {what}')


def match(pattern, text, what):
    return pattern.fullmatch(text) or only(what)


class Over2(Response):
    @property
    def closes(self):
        return only('responses that close the connection')


class Peer(H2Wire):
    """What it hears is told to a gateway."""

    def __init__(self, gateway):
        self.gateway = gateway
        super().__init__(None, sock=gateway.socket)

    def take(self, event):
        super().take(event)
        self.gateway.hear(event)


class Http2Wire(Wire):
    # The connection is HTTP/1.1 until a head is complete, and one whose text goes by other ways remains that.
    peer, script = None, None

    # ---- requests ----

    def send(self, data):
        if not self.script:
            self.text, self.at, self.script = bytearray(), 0, self.run()
        self.text += to_bytes(data)
        if not self.peer and not re.match(rb'[\r\n]*([A-Za-z]|$)', self.text):
            only('bytes that are no request')
        self.go_on()

    def go_on(self):
        """Send what can be sent of the text."""
        next(self.script)
        del self.text[:self.at]
        self.at = 0
        if not self.peer:
            return
        if (self.body or self.ends) and not self.has_failed and not self.state.ended:
            body, ends, self.body, self.ends = self.body, self.ends, b'', False
            try:
                self.peer.give(self.stream, body, end=ends)
            except Reset:
                pass    # reading tells so, unless the response is whole
        self.peer.flush()

    def run(self):
        """Read the text. Yields where it has to wait for more of it, or for the end of a response."""
        while True:
            while self.text.startswith(b'\r\n', self.at):
                self.at += 2
            if not self.peer and self.at > 2:
                only('blank lines')
            head = yield from self.until(b'\r\n\r\n')
            length = self.begin(head.decode('latin-1'))
            if length is None:
                while size := int(match(SIZE, (yield from self.until(b'\r\n')), 'chunks with more than a size')[0], 16):
                    yield from self.pass_on(size)
                    while b'\r\n'.startswith(end := bytes(self.text[self.at:self.at + 2])) and len(end) < 2:
                        yield
                    if end != b'\r\n':
                        only('chunks')
                    self.at += 2
                if (yield from self.until(b'\r\n')):
                    only('trailers of chunks')
            else:
                yield from self.pass_on(length)
            self.ends = length != 0
            self.is_whole = True
            while not self.state.ended:
                yield

    def until(self, mark):
        while (end := self.text.find(mark, self.at)) < 0:
            yield
        found, self.at = bytes(self.text[self.at:end]), end + len(mark)
        return found

    def pass_on(self, size):
        while size:
            piece = self.text[self.at:self.at + size]
            if not piece:
                yield
            self.body += piece
            self.at += len(piece)
            size -= len(piece)

    def begin(self, head):
        """Begin a stream. Return: how long its body is; None: in chunks."""
        line, *lines = head.split('\r\n')
        if len(head) > 64 * KIB:
            only('heads of more than 64 KiB, which libnghttp2 does not take')
        method, target = match(LINE, line, 'this request line').groups()
        fields = [(match(FIELD, line, 'malformed fields')[1].lower(), FIELD.fullmatch(line)[2]) for line in lines]
        values = {name: [value for other, value in fields if other == name] for name, _ in fields}
        lengths, codings = values.get('content-length', []), values.get('transfer-encoding', [])
        if target == '*' and method != 'OPTIONS':
            only('this request line')
        if method == 'CONNECT' or 'upgrade' in values or values.get('connection', ['keep-alive']) != ['keep-alive']:
            only('CONNECT' if method == 'CONNECT' else 'the fields of a connection')
        if len(values.get('host', [])) != 1 or len(lengths + codings) > 1:
            only('several fields where one is due, or none')
        match(HOST, values['host'][0], 'malformed hosts')
        if codings:
            match(re.compile('chunked', re.I), codings[0], 'other codings of a transfer')
        length = None if codings else int(match(LENGTH, lengths[0], 'malformed lengths')[0]) if lengths else 0
        if not self.peer:
            self.peer = Peer(self)
        wire.spoke_http2 = True
        own = {'host', 'connection', 'keep-alive', 'transfer-encoding', 'te'}
        self.method, self.body, self.ends, self.is_whole, self.is_chunked = method, bytearray(), False, False, False
        self.stream = self.peer.begin(method, target, *((name.encode(), value.encode('latin-1')) for name, value in fields if name not in own),
                                      authority=values['host'][0], end=length == 0, flush=False)
        return length

    def end(self):
        """No windows are opened from then on."""
        if self.script and self.text:
            only('a half-closed connection behind several requests, or within a head')
        if self.peer:
            self.peer.h2.increment_flow_control_window(16 * MIB, None if self.state.ended else self.stream)
            self.peer.flush()
            self.peer.flush = self.peer.h2.clear_outbound_data_buffer
        super().end()

    # ---- responses ----

    @property
    def state(self):
        return self.peer.streams[self.stream]

    @property
    def has_failed(self):
        return self.state.code is not None and not self.state.ended

    def hear(self, event):
        if isinstance(event, (h2.events.InformationalResponseReceived, h2.events.ResponseReceived)):
            status, fields = int(event.headers[0][1]), [(name, value) for name, value in event.headers if name[0] != ':']
            if status >= 200 and status not in (204, 304) and not any(name == 'content-length' for name, _ in fields):
                fields.append(('transfer-encoding', 'chunked'))
                self.is_chunked = self.method != 'HEAD'
            lines = [f'HTTP/1.1 {status} {http.client.responses.get(status, "")}', *(f'{name}: {value}' for name, value in fields)]
            self.buffer += '\r\n'.join(lines).encode('latin-1') + b'\r\n\r\n'
        elif isinstance(event, h2.events.DataReceived) and event.data:
            self.buffer += b'%x\r\n%s\r\n' % (len(event.data), event.data) if self.is_chunked else event.data
        elif isinstance(event, h2.events.StreamEnded) and self.is_chunked:
            self.buffer += b'0\r\n\r\n'

    def receive(self):
        if self.has_failed:
            raise Lost(f'reset with {self.state.code}')
        self.peer.more()
        self.go_on()

    def more(self):
        if not self.peer or self.is_whole and self.state.ended and self.text:
            if self.script and self.text:
                only('heads that are not complete')
            return super().more()
        before = len(self.buffer)
        while len(self.buffer) == before:
            self.receive()

    def take(self, size):
        pieces, have = [], 0
        while have < size:
            if not self.buffer:
                self.more()
            pieces.append(self.buffer[:size - have])
            have += len(pieces[-1])
            self.buffer = self.buffer[len(pieces[-1]):]
        return b''.join(pieces)

    def read_head(self):
        response = super().read_head()
        if self.peer:
            response.__class__ = Over2
        return response

    def read_end(self):
        if not self.peer:
            return super().read_end() if not self.script or not self.text else only('heads that are not complete')
        end = time.monotonic() + (0.5 if self.state.ended else self.socket.gettimeout())
        pieces = []
        try:
            while select.select([self.socket], [], [], max(0, end - time.monotonic()))[0]:
                self.receive()
                pieces.append(self.buffer)
                self.buffer = b''
        except Lost as lost:
            # What is sent behind a GOAWAY may come too late.
            if str(lost) != 'ended' and not self.has_failed and not self.peer.goaways:
                raise
            return b''.join(pieces) + self.buffer
        return only('responses that close the connection')

    def is_open(self, for_seconds=0.05):
        if not self.peer:
            return super().is_open(for_seconds)
        end = time.monotonic() + for_seconds
        try:
            while not self.buffer and select.select([self.socket], [], [], max(0, end - time.monotonic()))[0]:
                self.receive()
        except Lost:
            return False
        return not self.buffer
