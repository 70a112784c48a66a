"""GnuTLS by its C interface, in both roles; Context and Session are like those of libssl.py."""
# needs: gnutls-bin
import contextlib
import ctypes
import functools
import socket
import time

from libssl import V12, V13
from tls import at
from wire import MIB, Lost

SERVER, CLIENT, PEM, X509, DNS, SHUT_WR, AGAIN, INTERRUPTED, ASK = 1, 2, 1, 1, 1, 1, -28, -52, 1
CIPHERS = {'AES_128_GCM_SHA256': 'AES-128-GCM', 'AES_256_GCM_SHA384': 'AES-256-GCM', 'CHACHA20_POLY1305_SHA256': 'CHACHA20-POLY1305'}
VERSIONS = {V12: 'TLS1.2', V13: 'TLS1.3'}
SECONDS = 30


class Datum(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('size', ctypes.c_uint)]


@functools.cache
def library():
    lib = ctypes.CDLL('libgnutls.so.30')
    for name in ('gnutls_record_send', 'gnutls_record_recv'):
        getattr(lib, name).restype = ctypes.c_ssize_t
    for name in ('gnutls_ciphersuite_get', 'gnutls_protocol_get_name', 'gnutls_strerror', 'gnutls_check_version'):
        getattr(lib, name).restype = ctypes.c_char_p
    return lib


def version():
    return library().gnutls_check_version(None).decode()


def must(result):
    if result < 0:
        raise Lost(library().gnutls_strerror(result).decode())
    return result


class Context:
    def __init__(self, version, suite, *, cert=None):
        self.lib, self.is_server, self.credentials, self.key = library(), bool(cert), ctypes.c_void_p(), Datum()
        self.priority = f'NORMAL:-VERS-ALL:+VERS-{VERSIONS[version]}:-CIPHER-ALL:+{CIPHERS[suite]}'.encode()
        must(self.lib.gnutls_certificate_allocate_credentials(ctypes.byref(self.credentials)))
        if cert:
            must(self.lib.gnutls_certificate_set_x509_key_file(self.credentials, at(f'{cert}.pem').encode(), at(f'{cert}.key').encode(), PEM))
            must(self.lib.gnutls_session_ticket_key_generate(ctypes.byref(self.key)))
        else:
            must(self.lib.gnutls_certificate_set_x509_trust_file(self.credentials, at('ca.pem').encode(), PEM))


class Session:
    def __init__(self, context, sock, resumed=None):
        self.lib, self.context, self.socket, self.pointer = context.lib, context, sock, ctypes.c_void_p()
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.room = ctypes.create_string_buffer(MIB)
        must(self.lib.gnutls_init(ctypes.byref(self.pointer), SERVER if context.is_server else CLIENT))
        must(self.lib.gnutls_priority_set_direct(self.pointer, context.priority, None))
        must(self.lib.gnutls_credentials_set(self.pointer, X509, context.credentials))
        protocol = ctypes.create_string_buffer(b'http/1.1')
        must(self.lib.gnutls_alpn_set_protocols(self.pointer, ctypes.byref(Datum(ctypes.addressof(protocol), 8)), 1, 0))
        if context.is_server:
            must(self.lib.gnutls_session_ticket_enable_server(self.pointer, ctypes.byref(context.key)))
        else:
            must(self.lib.gnutls_server_name_set(self.pointer, DNS, b'localhost', ctypes.c_size_t(9)))
            self.lib.gnutls_session_set_verify_cert(self.pointer, b'localhost', 0)
        if resumed:
            must(self.lib.gnutls_session_set_data(self.pointer, resumed, ctypes.c_size_t(len(resumed))))
        self.lib.gnutls_transport_set_int2(self.pointer, sock.fileno(), sock.fileno())
        self.run(self.lib.gnutls_handshake)

    def run(self, function, *args):
        """Again as long as it wants that."""
        end = time.monotonic() + SECONDS
        while (result := function(self.pointer, *args)) in (AGAIN, INTERRUPTED) and time.monotonic() < end:
            pass
        return must(result)

    def recv(self, size):
        return self.room[:self.run(self.lib.gnutls_record_recv, self.room, ctypes.c_size_t(min(size, MIB)))]

    def sendall(self, data):
        for i in range(0, len(data), 16384):
            part = bytes(data[i:i + 16384])
            self.run(self.lib.gnutls_record_send, part, ctypes.c_size_t(len(part)))

    def update_keys(self, ask):
        self.run(self.lib.gnutls_session_key_update, ASK if ask else 0)

    def end(self):
        self.run(self.lib.gnutls_bye, SHUT_WR)

    def close(self):
        if self.pointer:
            self.lib.gnutls_deinit(self.pointer)
        self.pointer = None
        self.socket.close()

    @property
    def version(self):
        return self.lib.gnutls_protocol_get_name(self.lib.gnutls_protocol_get_version(self.pointer)).decode().replace('TLS', 'TLSv')

    @property
    def suite(self):
        return self.lib.gnutls_ciphersuite_get(self.pointer).decode()

    @property
    def is_resumed(self):
        return bool(self.lib.gnutls_session_is_resumed(self.pointer))

    @property
    def ticket(self):
        data = Datum()
        must(self.lib.gnutls_session_get_data2(self.pointer, ctypes.byref(data)))
        return ctypes.string_at(data.data, data.size)

    @property
    def alpn(self):
        data = Datum()
        with contextlib.suppress(Lost):
            must(self.lib.gnutls_alpn_get_selected_protocol(self.pointer, ctypes.byref(data)))
        return ctypes.string_at(data.data, data.size).decode() if data.size else None
