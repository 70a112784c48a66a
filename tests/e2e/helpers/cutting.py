"""A proxy that cuts connections, and a server of one file that changes or misbehaves, for clients that continue."""
import contextlib
import http.server
import random
import re
import select
import socket
import struct
import threading

from wire import KIB


class Cutter:
    """Passes connections on to a port of this machine. Each is cut after a random number of bytes of bodies from the server, or from the client
    with `upward`, until `cuts` of them have been; `by_reset` cuts by RST, which takes bytes along that the other side has not read yet. With
    `raw`, all bytes count, as those of TLS."""

    def __init__(self, port, cuts, seed=1, least=1, most=300 * KIB, by_reset=False, upward=False, raw=False):
        self.target, self.left, self.chance = port, cuts, random.Random(seed)
        self.least, self.most, self.by_reset, self.upward, self.raw = least, most, by_reset, upward, raw
        self.requests, self.passed, self.connections = [], 0, 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def limit(self):
        with self.lock:
            self.connections += 1
            return self.chance.randint(self.least, self.most) if self.left else None

    def is_one_left(self):
        """Whether there is a cut left, which is then done."""
        with self.lock:
            found = self.left > 0
            self.left -= found
            return found

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                threading.Thread(target=self.serve, args=(client, self.limit()), daemon=True).start()

    def serve(self, client, limit):
        with client, contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', self.target)) as server:
            heads = {client: b'', server: b''}
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(64 * KIB)
                    target, counts = (server, self.upward) if source is client else (client, not self.upward)
                    if not data:
                        return
                    data = self.pass_head(source, target, data, heads, source is client)
                    if counts and limit is not None and len(data) >= limit and self.is_one_left():
                        self.pass_body(target, data[:limit], counts)
                        self.cut(client, server)
                        return
                    limit = limit - len(data) if counts and limit is not None else limit
                    self.pass_body(target, data, counts)

    def pass_head(self, source, target, data, heads, is_request):
        """Pass on the first head, and later ones as they are. Return: what follows it."""
        if self.raw or heads[source] is None:
            return data
        heads[source] += data
        if b'\r\n\r\n' not in heads[source]:
            return b''
        head, _, data = heads[source].partition(b'\r\n\r\n')
        # Heads of interim responses.
        while head.startswith(b'HTTP/1.1 1') and b'\r\n\r\n' in data:
            more, _, data = data.partition(b'\r\n\r\n')
            head += b'\r\n\r\n' + more
        heads[source] = None
        if is_request:
            with self.lock:
                self.requests.append(head.decode() + '\r\n\r\n')
        target.sendall(head + b'\r\n\r\n')
        return data

    def pass_body(self, target, data, counts):
        target.sendall(data)
        if counts:
            with self.lock:
                self.passed += len(data)

    def cut(self, *sockets):
        for one in sockets:
            if self.by_reset:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            one.close()


class Origin:
    """A server of one file at any path. `fields` are added to its responses; `answer` may send another response and say so."""

    def __init__(self, data, etag='"1"', fields=(), answer=lambda handler: False, ranges=True):
        self.data, self.etag, self.fields, self.answer, self.ranges = data, etag, list(fields), answer, ranges
        self.requests, self.lock = [], threading.Lock()
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *_):
                pass

            def do_GET(self):
                with origin.lock:
                    origin.requests.append((self.path, dict(self.headers)))
                with contextlib.suppress(ConnectionError):
                    if not origin.answer(self):
                        origin.send(self)
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def send(self, handler, most=None):
        """The file, or the range that was asked for; of either `most` bytes before the connection ends."""
        data, etag = self.data, self.etag
        wanted = re.fullmatch(r'bytes=(\d+)-(\d*)', handler.headers.get('range', ''))
        condition = handler.headers.get('if-range')
        first, status, size = 0, 200, len(data)
        if self.ranges and wanted and condition in (None, etag):
            first, status = int(wanted[1]), 206
            data = data[first:int(wanted[2]) + 1 if wanted[2] else None]
        handler.send_response(status)
        if status == 206:
            handler.send_header('content-range', f'bytes {first}-{first + len(data) - 1}/{size}')
        if etag:
            handler.send_header('etag', etag)
        for name, value in self.fields:
            handler.send_header(name, value)
        handler.send_header('content-length', str(len(data)))
        handler.end_headers()
        handler.wfile.write(data if most is None else data[:most])
        if most is not None and most < len(data):
            handler.close_connection = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
