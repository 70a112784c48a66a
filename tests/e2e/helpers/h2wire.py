"""A connection that speaks HTTP/2, by python3-h2 and its frames, which may be malformed."""
# needs: python3-h2
import contextlib
import socket
import ssl
import struct
import sys

# For a Python that is not Debian's; the package is pure Python.
sys.path.append('/usr/lib/python3/dist-packages')

import h2.config  # noqa: E402
import h2.connection  # noqa: E402
import h2.events  # noqa: E402
import h2.exceptions  # noqa: E402
import h2.settings  # noqa: E402

from h2frames import *  # noqa: E402, F403
from h2frames import GOAWAY  # noqa: E402
from wire import KIB, Lost, Response, to_bytes  # noqa: E402


def kinds_of(data):
    """The types of frames."""
    kinds = []
    while len(data) >= 9:
        kinds.append(data[3])
        data = data[9 + int.from_bytes(data[:3], 'big'):]
    return kinds


def literal(text, index=0):
    """A field of the static table's name with this value, or a new name, encoded without a dynamic table."""
    return bytes((index, len(text))) + text


def get(path, authority=b'localhost'):
    return b'\x82\x86' + literal(path, 4) + literal(authority, 1)


class Plain:
    """A connection of frames by hand, with little memory and work."""

    def __init__(self, port, settings=b'', source=None):
        self.socket = socket.create_connection(('127.0.0.1', port), 20, source and (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data, self.next = b'', 1
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def more(self):
        """Return: type, flags, stream and payload of the next frame; settings are acknowledged."""
        while len(self.data) < 9 or len(self.data) < 9 + int.from_bytes(self.data[:3], 'big'):
            if not (got := self.socket.recv(64 * KIB)):
                raise Lost('ended')
            self.data += got
        end = 9 + int.from_bytes(self.data[:3], 'big')
        found = self.data[3], self.data[4], int.from_bytes(self.data[5:9], 'big'), self.data[9:end]
        self.data = self.data[end:]
        if found[:2] == (SETTINGS, 0):
            self.socket.sendall(frame(SETTINGS, ACK))
        return found

    def ask(self, fields, count=1):
        """So many requests at once, without bodies. Return: the bodies of their responses."""
        first, body = self.next, b''
        self.next += 2 * count
        self.socket.sendall(b''.join(frame(HEADERS, END_HEADERS | END_STREAM, stream, fields) for stream in range(first, self.next, 2)))
        while count:
            kind, flags, stream, payload = self.more()
            if kind == GOAWAY or kind == RST_STREAM and stream >= first:
                raise Reset(int.from_bytes(payload[-4:], 'big'))
            if kind == DATA:
                body += payload
            count -= kind in (DATA, HEADERS) and flags & END_STREAM
        return body


class Reset(Lost):
    """The server has reset the stream, with this error code."""

    def __init__(self, code):
        super().__init__(f'reset with {code}')
        self.code = code


class Stream:
    """What has come of a response."""

    def __init__(self):
        self.interim, self.headers, self.body, self.ended, self.code = [], None, bytearray(), False, None


class H2Wire:
    """A connection to a port of 127.0.0.1, or by a socket. With `manual`, windows are not opened as bodies arrive. `tls` is a context for
    ssl."""

    def __init__(self, port, timeout=10, manual=False, settings=None, tls=None, rcvbuf=None, sock=None):
        self.socket = sock or socket.socket()
        if not sock:
            self.socket.settimeout(timeout)
            if rcvbuf:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
            self.socket.connect(('127.0.0.1', port))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname='localhost')
        config = h2.config.H2Configuration(client_side=True, header_encoding='latin-1', validate_outbound_headers=False,
                                           normalize_outbound_headers=False, validate_inbound_headers=True)
        self.h2 = h2.connection.H2Connection(config)
        self.manual, self.streams, self.goaways, self.settings, self.pongs, self.incoming, self.largest = manual, {}, [], {}, 0, b'', 0
        self.h2.initiate_connection()
        if settings:
            self.h2.update_settings(settings)
        if not manual:
            self.h2.increment_flow_control_window(16 << 20)
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def raw(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Lost(str(error)) from error

    def flush(self):
        if data := self.h2.data_to_send():
            self.raw(data)

    def reset_connection(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.socket.close()

    # ---- requests ----

    def begin(self, method='GET', path='/', *fields, authority='localhost', scheme='http', end=True, flush=True):
        """Send a head. Return: the number of its stream."""
        pseudo = [(':method', method), (':scheme', scheme), (':path', path), (':authority', authority)]
        stream = self.h2.get_next_available_stream_id()
        self.streams[stream] = Stream()
        self.h2.send_headers(stream, [(name, value) for name, value in pseudo if value is not None] + list(fields), end_stream=end)
        if flush:
            self.flush()
        return stream

    def give(self, stream, data, end=False):
        """Send some of a body, as windows allow."""
        data = memoryview(to_bytes(data))
        while True:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(data))
            if room or not data:
                self.h2.send_data(stream, bytes(data[:room]), end_stream=end and room == len(data))
                self.flush()
                data = data[room:]
                if not data:
                    return
            else:
                self.more()
                self.check(stream)

    def ask(self, method='GET', path='/', *fields, body=None, **how):
        stream = self.begin(method, path, *fields, end=body is None, **how)
        if body is not None:
            self.give(stream, body, end=True)
        return self.read(stream)

    # ---- what arrives ----

    def check(self, stream):
        if self.streams[stream].code is not None:
            raise Reset(self.streams[stream].code)

    def more(self):
        """Receive once. Return: the events."""
        try:
            data = self.socket.recv(64 * KIB)
        except (ConnectionResetError, ssl.SSLEOFError) as error:
            raise Lost(str(error)) from error
        if not data:
            raise Lost('ended')
        self.incoming += data
        events = []
        while len(self.incoming) >= 9 and len(self.incoming) >= (size := 9 + int.from_bytes(self.incoming[:3], 'big')):
            whole, self.incoming = self.incoming[:size], self.incoming[size:]
            self.largest = max(self.largest, size)
            # Behind a GOAWAY, h2 would accept nothing more.
            if whole[3] == GOAWAY:
                self.goaways.append((int.from_bytes(whole[13:17], 'big'), int.from_bytes(whole[9:13], 'big')))
            else:
                events += self.h2.receive_data(whole)
        for event in events:
            self.take(event)
        with contextlib.suppress(Lost):
            self.flush()
        return events

    def take(self, event):
        stream = self.streams.get(getattr(event, 'stream_id', None))
        if isinstance(event, h2.events.InformationalResponseReceived):
            stream.interim.append(event.headers)
        elif isinstance(event, h2.events.ResponseReceived):
            stream.headers = event.headers
        elif isinstance(event, h2.events.DataReceived):
            stream.body += event.data
            if not self.manual and event.flow_controlled_length:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            stream.ended = True
        elif isinstance(event, h2.events.StreamReset):
            stream.code = event.error_code
        elif isinstance(event, h2.events.RemoteSettingsChanged):
            self.settings.update({int(key): change.new_value for key, change in event.changed_settings.items()})
        elif isinstance(event, h2.events.PingAckReceived):
            self.pongs += 1

    def read_head(self, stream):
        state = self.streams[stream]
        while state.headers is None:
            self.check(stream)
            self.more()
        fields = [(name, value) for name, value in state.headers if name[0] != ':']
        return Response(int(dict(state.headers)[':status']), '2', fields, repr(state.headers))

    def read(self, stream):
        """The whole response. One that the server resets without an error, behind its end, is whole."""
        response = self.read_head(stream)
        state = self.streams[stream]
        while not state.ended:
            self.check(stream)
            self.more()
        response.body = bytes(state.body)
        return response

    def read_end(self):
        """Read to the end of the connection. Return: the error codes of GOAWAY frames."""
        try:
            while True:
                self.more()
        except (Lost, h2.exceptions.ProtocolError):
            return [code for code, _ in self.goaways]

    def sync(self):
        """Wait until the server has handled all that was sent before."""
        before = self.pongs
        self.h2.ping(b'12345678')
        self.flush()
        while self.pongs == before:
            self.more()
