"""What the two versions of TLS by hand share: records and messages as bytes."""
import struct

CCS, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
VERSION = 0x0303
TAG = 16


class Alerted(Exception):
    """The peer has sent an alert."""

    def __init__(self, level, code):
        super().__init__(f'alert {code}')
        self.level, self.code = level, code


def vector(data, size):
    """`data` behind its length, which takes `size` bytes."""
    return len(data).to_bytes(size, 'big') + data


def message(kind, body):
    return bytes([kind]) + vector(body, 3)


def extension(number, body):
    return struct.pack('!H', number) + vector(body, 2)


class End:
    """One end of a connection over a socket. Messages are added to the transcript as they are sent and received, but for those
    of the types in `untold`."""
    untold = ()

    def __init__(self, sock):
        self.socket, self.received, self.messages = sock, b'', b''
        self.transcript = b''

    def take(self, size):
        while len(self.received) < size:
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError
            self.received += data
        taken, self.received = self.received[:size], self.received[size:]
        return taken

    def recv(self):
        """The content type and the content of the next record; raises Alerted, EOFError at the end."""
        raise NotImplementedError

    def recv_message(self):
        """The type and the body of the next message of the handshake."""
        while len(self.messages) < 4 or len(self.messages) < 4 + int.from_bytes(self.messages[1:4], 'big'):
            kind, data = self.recv()
            assert kind == HANDSHAKE, kind
            self.messages += data
        size = 4 + int.from_bytes(self.messages[1:4], 'big')
        whole, self.messages = self.messages[:size], self.messages[size:]
        if whole[0] not in self.untold:
            self.transcript += whole
        return whole[0], whole[4:]
