"""OpenSSL by its C interface, in both roles: Python's ssl chooses no suite of TLS 1.3, sends no KeyUpdate and shows no records."""
# needs: openssl
import ctypes
import functools
import socket
import struct
import subprocess
import tempfile

from tls import at
from wire import MIB, PROGRAMS, Lost, Wire

V12, V13 = 0x303, 0x304
# What OpenSSL calls those of TLS 1.2, behind the kind of key.
SUITES = {'AES_128_GCM_SHA256': 'AES128-GCM-SHA256', 'AES_256_GCM_SHA384': 'AES256-GCM-SHA384',
          'CHACHA20_POLY1305_SHA256': 'CHACHA20-POLY1305'}
FRAME = {V12: {suite: 16 if 'CHACHA' in suite else 24 for suite in SUITES}, V13: dict.fromkeys(SUITES, 17)}   # bytes of a record that are no data
SET_HOST, SET_MIN_VERSION, SET_MAX_VERSION = 55, 123, 124
PEM, VERIFY, ZERO_RETURN = 1, 1, 6
HEADER, HANDSHAKE, KEY_UPDATE = 256, 22, 24
WATCH = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_ubyte), ctypes.c_size_t, ctypes.c_void_p,
                         ctypes.c_void_p)
KINDS = {'p': ctypes.c_void_p, 'i': ctypes.c_int, 'l': ctypes.c_long, 's': ctypes.c_char_p, 'w': WATCH}
# The result, then the arguments.
FUNCTIONS = '''TLS_client_method p  TLS_server_method p  SSL_CTX_new pp  SSL_CTX_ctrl lpilp  SSL_CTX_set_ciphersuites ips
    SSL_CTX_set_cipher_list ips  SSL_CTX_load_verify_locations ipss  SSL_CTX_set_verify ipip  SSL_CTX_use_certificate_chain_file ips
    SSL_CTX_use_PrivateKey_file ipsi  SSL_CTX_set_session_id_context ipsi  SSL_CTX_free ip  SSL_new pp  SSL_free ip  SSL_set_fd ipi
    SSL_set_session ipp  SSL_get1_session pp  SSL_SESSION_free ip  SSL_ctrl lpils  SSL_set1_host ips  SSL_set_alpn_protos ipsi
    SSL_get0_alpn_selected ippp  SSL_connect ip  SSL_accept ip  SSL_do_handshake ip  SSL_get_error ipi  SSL_read ippi  SSL_write ipsi
    SSL_pending ip  SSL_shutdown ip  SSL_key_update ipi  SSL_session_reused ip  SSL_get_version sp  SSL_get_current_cipher pp
    SSL_CIPHER_standard_name sp  SSL_set_msg_callback ipw'''


class Refused(Exception):
    """A handshake, a record or an argument was refused."""


@functools.cache
def library():
    lib = ctypes.CDLL('libssl.so.3')
    words = FUNCTIONS.split()
    for name, kinds in zip(words[::2], words[1::2], strict=True):
        function = getattr(lib, name)
        function.restype, *function.argtypes = [KINDS[kind] for kind in kinds]
    return lib


def must(result):
    if result is None or result <= 0:
        raise Refused(result)
    return result


class Context:
    """Of a client that trusts the CA of the tests, or of a server with the certificate NAME. It has one version, and one suite if told."""

    def __init__(self, version, suite=None, *, cert=None):
        self.lib, self.is_server = library(), bool(cert)
        self.pointer = self.lib.SSL_CTX_new(self.lib.TLS_server_method() if cert else self.lib.TLS_client_method())
        for what in (SET_MIN_VERSION, SET_MAX_VERSION):
            must(self.lib.SSL_CTX_ctrl(self.pointer, what, version, None))
        if suite and version == V13:
            must(self.lib.SSL_CTX_set_ciphersuites(self.pointer, f'TLS_{suite}'.encode()))
        elif suite:
            must(self.lib.SSL_CTX_set_cipher_list(self.pointer, f'ECDHE-ECDSA-{SUITES[suite]}:ECDHE-RSA-{SUITES[suite]}'.encode()))
        if cert:
            must(self.lib.SSL_CTX_use_certificate_chain_file(self.pointer, at(f'{cert}.pem').encode()))
            must(self.lib.SSL_CTX_use_PrivateKey_file(self.pointer, at(f'{cert}.key').encode(), PEM))
            must(self.lib.SSL_CTX_set_session_id_context(self.pointer, b'eddy', 4))
        else:
            must(self.lib.SSL_CTX_load_verify_locations(self.pointer, at('ca.pem').encode(), None))
            self.lib.SSL_CTX_set_verify(self.pointer, VERIFY, None)

    def __del__(self):
        self.lib.SSL_CTX_free(self.pointer)


class Session:
    """A TLS session over a connected socket, in the shape of a socket. `sent` and `received` are the lengths of its records, `updates` how many
    KeyUpdates were received and sent."""

    def __init__(self, context, sock, resumed=None, alpn=b'\x08http/1.1'):
        self.lib, self.context, self.socket = context.lib, context, sock
        self.received, self.sent, self.updates = [], [], [0, 0]
        # It blocks, as the library wants it, but not for ever.
        seconds = sock.gettimeout()
        sock.settimeout(None)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            sock.setsockopt(socket.SOL_SOCKET, option, struct.pack('ll', int(seconds or 0), 0))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.watch, self.room = WATCH(self.see), ctypes.create_string_buffer(MIB)
        self.pointer = self.lib.SSL_new(context.pointer)
        self.lib.SSL_set_msg_callback(self.pointer, self.watch)
        must(self.lib.SSL_set_fd(self.pointer, sock.fileno()))
        if resumed:
            must(self.lib.SSL_set_session(self.pointer, resumed))
        if context.is_server:
            must(self.lib.SSL_accept(self.pointer))
        else:
            must(self.lib.SSL_ctrl(self.pointer, SET_HOST, 0, b'localhost'))
            must(self.lib.SSL_set1_host(self.pointer, b'localhost'))
            self.lib.SSL_set_alpn_protos(self.pointer, alpn, len(alpn))
            must(self.lib.SSL_connect(self.pointer))

    def see(self, is_sent, _version, kind, data, size, _session, _arg):
        if kind == HEADER:
            (self.received, self.sent)[is_sent].append(data[3] << 8 | data[4])
        elif kind == HANDSHAKE and size and data[0] == KEY_UPDATE:
            self.updates[is_sent] += 1

    def recv(self, size):
        done = self.lib.SSL_read(self.pointer, self.room, min(size, MIB))
        if done > 0:
            return self.room[:done]
        if self.lib.SSL_get_error(self.pointer, done) == ZERO_RETURN:
            return b''
        raise Lost('ended without a close_notify')

    def sendall(self, data):
        """A record, or several of 16 KiB."""
        try:
            must(self.lib.SSL_write(self.pointer, bytes(data), len(data)))
        except Refused:
            raise Lost('ended') from None

    def update_keys(self, ask):
        """Send a KeyUpdate that asks for one, or not."""
        must(self.lib.SSL_key_update(self.pointer, int(ask)))
        must(self.lib.SSL_do_handshake(self.pointer))

    def end(self):
        """Send a close_notify. Return: whether the peer has."""
        return self.lib.SSL_shutdown(self.pointer) == 1 or self.lib.SSL_shutdown(self.pointer) == 1

    def close(self):
        if self.pointer:
            self.lib.SSL_free(self.pointer)
        self.pointer = None
        self.socket.close()

    @property
    def version(self):
        return self.lib.SSL_get_version(self.pointer).decode()

    @property
    def suite(self):
        return self.lib.SSL_CIPHER_standard_name(self.lib.SSL_get_current_cipher(self.pointer)).decode()

    @property
    def is_resumed(self):
        return bool(self.lib.SSL_session_reused(self.pointer))

    @property
    def ticket(self):
        """For another connection; freed with the process."""
        return self.lib.SSL_get1_session(self.pointer)

    @property
    def alpn(self):
        data, size = ctypes.c_void_p(), ctypes.c_uint()
        self.lib.SSL_get0_alpn_selected(self.pointer, ctypes.byref(data), ctypes.byref(size))
        return ctypes.string_at(data, size.value).decode() if size.value else None


class Client(Wire):
    def __init__(self, port, context, resumed=None, **options):
        super().__init__(port, **options)
        try:
            self.socket = Session(context, self.socket, resumed)
        except BaseException:
            self.socket.close()
            raise


class Peer(Wire):
    """Our end of a session, in either role; `pid` is the process at the other."""

    def __init__(self, session, pid=None):
        self.socket, self.buffer, self.pid = session, b'', pid

    def read_request(self):
        while b'\r\n\r\n' not in self.buffer:
            self.more()
        head, _, self.buffer = self.buffer.partition(b'\r\n\r\n')
        return head

    def answer(self, length, *headers):
        """Begin one with a body of this length."""
        self.send('\r\n'.join(('HTTP/1.1 200 OK', f'Content-Length: {length}', *headers, '', '')))


def fetch(context, play, *args, urls=1):
    """What the program `fetch` prints of requests to a server that plays as told."""
    with socket.create_server(('127.0.0.1', 0)) as listener, tempfile.TemporaryFile() as said:
        listener.settimeout(20)
        url = f'https://localhost:{listener.getsockname()[1]}/'
        process = subprocess.Popen([PROGRAMS['fetch'], '--ca', at('ca.pem'), *args, *[url] * urls], stdout=said)
        try:
            sock = listener.accept()[0]
            sock.settimeout(20)
            with Peer(Session(context, sock), process.pid) as peer:
                play(peer)
            assert process.wait(60) == 0, process.returncode
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        return said.read()
