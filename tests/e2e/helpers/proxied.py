"""Headers of the PROXY protocol, and connections that begin with one."""
import contextlib
import socket
import struct

from wire import Lost, Wire

SIGNATURE = b'\r\n\r\n\0\r\nQUIT\n'
LOCAL, PROXY = 0x20, 0x21
UNSPECIFIED, TCP4, UDP4, TCP6, UNIX = 0x00, 0x11, 0x12, 0x21, 0x31
SSL = 0x20


def extension(kind, value):
    return struct.pack('!BH', kind, len(value)) + value


def by_tls(yes=True):
    return extension(SSL, bytes([yes, 0, 0, 0, 0]) + (extension(0x21, b'TLSv1.3') if yes else b''))


def header(client=None, *extensions, command=PROXY, family=None):
    """Version 2, for a client (an address and a port; a path), or for nobody."""
    if client is None:
        block, is_of = b'', UNSPECIFIED
    elif isinstance(client, str):
        block, is_of = client.encode().ljust(108, b'\0') * 2, UNIX
    else:
        of = socket.AF_INET6 if ':' in client[0] else socket.AF_INET
        server = '2001:db8::1' if of == socket.AF_INET6 else '192.0.2.1'
        block = socket.inet_pton(of, client[0]) + socket.inet_pton(of, server) + struct.pack('!HH', client[1], 443)
        is_of = TCP6 if of == socket.AF_INET6 else TCP4
    block += b''.join(extensions)
    return SIGNATURE + struct.pack('!BBH', command, is_of if family is None else family, len(block)) + block


def ports(server, count):
    """Those that a server of several addresses listens at, in their order."""
    found = []
    for _ in range(count):
        known = len(found)
        found.append(server.wait_for(r'Listening on \S*:(\d+)$', which=lambda m: m[1] not in found[:known])[1])
    return [int(port) for port in found]


def peer_of(port, first, *headers, path='/peer'):
    """Who the server thinks has asked, on a connection that begins with `first`: text, where, how, scheme, host."""
    with Wire(port) as wire:
        lines = ''.join(f'{line}\r\n' for line in headers)
        wire.send(first + f'GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n'.encode())
        return wire.read().body.decode()


def is_closed_at_once(port, data):
    """Whether the connection ends without an answer, with what was sent or before."""
    with Wire(port, timeout=5) as wire:
        with contextlib.suppress(Lost):
            wire.send(data)
            return wire.read_end() == b''
        return True
