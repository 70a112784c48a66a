"""A proxy that cuts connections in the middle, some number of times."""
import contextlib
import random
import select
import socket
import struct
import threading

KIB = 1 << 10


class Cutting:
    """Passes bytes between clients and `port`. `cuts` times, a connection that sends a body is reset after a random number of bytes."""

    def __init__(self, port, cuts, seed=1, least=100 * KIB, most=700 * KIB):
        self.target, self.left, self.done = port, cuts, 0
        self.random, self.lock = random.Random(seed), threading.Lock()
        self.least, self.most = least, most
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _cut(self):
        """Whether to cut a connection that has sent enough."""
        with self.lock:
            if not self.left:
                return False
            self.left -= 1
            self.done += 1
            return True

    def _pass(self, client):
        limit, sent = self.random.randrange(self.least, self.most), 0
        with client, socket.create_connection(('127.0.0.1', self.target)) as server, contextlib.suppress(OSError):
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(64 * KIB)
                    if not data:
                        return
                    (server if source is client else client).sendall(data)
                    sent += len(data) * (source is client)
                if sent > limit:
                    if self._cut():
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                        return
                    limit = 1 << 62
