"""NSS by its C interface, in both roles; Context and Session are like those of libssl.py. It remembers sessions itself."""
# needs: libnss3-tools
import ctypes
import functools
import os
import socket
import ssl
import subprocess

from tls import at, openssl, text_of
from wire import MIB, Lost

CODES = {('AES_128_GCM_SHA256', 'ECDSA'): 0xc02b, ('AES_256_GCM_SHA384', 'ECDSA'): 0xc02c, ('CHACHA20_POLY1305_SHA256', 'ECDSA'): 0xcca9,
         ('AES_128_GCM_SHA256', 'RSA'): 0xc02f, ('AES_256_GCM_SHA384', 'RSA'): 0xc030, ('CHACHA20_POLY1305_SHA256', 'RSA'): 0xcca8,
         ('AES_128_GCM_SHA256', '1.3'): 0x1301, ('AES_256_GCM_SHA384', '1.3'): 0x1302, ('CHACHA20_POLY1305_SHA256', '1.3'): 0x1303}
SECURITY, AS_CLIENT, AS_SERVER, TICKETS, ALPN = 1, 5, 6, 18, 26
SHUT_WR = 1
CERTS = 'server', 'p384', 'rsa'


class Versions(ctypes.Structure):
    _fields_ = [('min', ctypes.c_uint16), ('max', ctypes.c_uint16)]


class Item(ctypes.Structure):
    _fields_ = [('kind', ctypes.c_int), ('data', ctypes.c_void_p), ('size', ctypes.c_uint)]


class Info(ctypes.Structure):
    """SSLChannelInfo, up to what is read of it."""
    _fields_ = [('length', ctypes.c_uint32), ('version', ctypes.c_uint16), ('suite', ctypes.c_uint16), ('bits_and_times', ctypes.c_uint32 * 5),
                ('id_length', ctypes.c_uint32), ('id', ctypes.c_uint8 * 32), ('compression', ctypes.c_void_p), ('numbers', ctypes.c_int * 10),
                ('is_resumed', ctypes.c_int)]


@functools.cache
def library():
    lib = ctypes.CDLL('libssl3.so')     # brings the others with it
    for name in ('PR_ImportTCPSocket', 'SSL_ImportFD', 'CERT_GetDefaultCertDB', 'CERT_FindCertByDERCert', 'PK11_FindKeyByAnyCert', 'SSL_GetImplementedCiphers',
                 'SSL_GetExperimentalAPI'):
        getattr(lib, name).restype = ctypes.c_void_p
    lib.PR_ErrorToName.restype = lib.NSS_GetVersion.restype = ctypes.c_char_p
    folder = at('nss')
    os.mkdir(folder)
    subprocess.run(['certutil', '-N', '--empty-password', '-d', folder], check=True)
    subprocess.run(['certutil', '-A', '-n', 'ca', '-t', 'C,,', '-i', at('ca.pem'), '-d', folder], check=True)
    # Before it is opened: what others add later is not always seen.
    for cert in CERTS:
        path = at(f'{cert}.nss')
        openssl('pkcs12', '-export', '-in', at(f'{cert}.pem'), '-inkey', at(f'{cert}.key'), '-name', cert, '-out', path, '-passout', 'pass:')
        subprocess.run(['pk12util', '-i', path, '-W', '', '-d', folder], check=True, stdout=subprocess.DEVNULL)
    must(lib, lib.NSS_InitReadWrite(f'sql:{folder}'.encode()))
    must(lib, lib.NSS_SetDomesticPolicy())
    must(lib, lib.SSL_ConfigServerSessionIDCache(0, 0, 0, None))
    return lib


def version():
    return library().NSS_GetVersion().decode().split()[0]


def must(lib, result):
    if result < 0:
        raise Lost((lib.PR_ErrorToName(lib.PR_GetError()) or b'').decode())
    return result


@functools.cache
def imported(cert):
    """The certificate and its key. Those of one subject share a nickname."""
    lib, der = library(), ssl.PEM_cert_to_DER_cert(text_of(f'{cert}.pem'))
    data = ctypes.create_string_buffer(der, len(der))
    found = lib.CERT_FindCertByDERCert(ctypes.c_void_p(lib.CERT_GetDefaultCertDB()), ctypes.byref(Item(0, ctypes.addressof(data), len(der))))
    if not found:
        raise Lost(f'no certificate {cert}')
    return ctypes.c_void_p(found), ctypes.c_void_p(lib.PK11_FindKeyByAnyCert(ctypes.c_void_p(found), None))


class Context:
    def __init__(self, version, suite, *, cert=None):
        self.lib, self.version, self.cert = library(), version, cert and imported(cert)
        self.is_server = bool(cert)
        self.codes = {code for (name, _), code in CODES.items() if name == suite}


class Session:
    ticket = None

    def __init__(self, context, sock, resumed=None):
        self.lib, self.context = context.lib, context
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.room = ctypes.create_string_buffer(MIB)
        self.pointer = ctypes.c_void_p(self.lib.SSL_ImportFD(None, ctypes.c_void_p(self.lib.PR_ImportTCPSocket(ctypes.c_long(sock.detach())))))
        for option, value in ((SECURITY, 1), (AS_SERVER, context.is_server), (AS_CLIENT, not context.is_server), (TICKETS, 1), (ALPN, 1)):
            self.must(self.lib.SSL_OptionSet(self.pointer, option, int(value)))
        self.must(self.lib.SSL_VersionRangeSet(self.pointer, ctypes.byref(Versions(context.version, context.version))))
        codes = ctypes.cast(self.lib.SSL_GetImplementedCiphers(), ctypes.POINTER(ctypes.c_uint16))
        for i in range(ctypes.c_uint16.in_dll(self.lib, 'SSL_NumImplementedCiphers').value):
            self.must(self.lib.SSL_CipherPrefSet(self.pointer, codes[i], int(codes[i] in context.codes)))
        self.must(self.lib.SSL_SetNextProtoNego(self.pointer, b'\x08http/1.1', 9))
        if context.is_server:
            self.must(self.lib.SSL_ConfigServerCert(self.pointer, *context.cert, None, 0))
        else:
            self.must(self.lib.SSL_SetURL(self.pointer, b'localhost'))
        self.must(self.lib.SSL_ResetHandshake(self.pointer, int(context.is_server)))
        self.must(self.lib.SSL_ForceHandshake(self.pointer))

    def must(self, result):
        return must(self.lib, result)

    def recv(self, size):
        return self.room[:self.must(self.lib.PR_Read(self.pointer, self.room, min(size, MIB)))]

    def sendall(self, data):
        self.must(self.lib.PR_Write(self.pointer, bytes(data), len(data)))

    def update_keys(self, ask):
        update = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(self.lib.SSL_GetExperimentalAPI(b'SSL_KeyUpdate'))
        self.must(update(self.pointer, int(ask)))

    def end(self):
        self.must(self.lib.PR_Shutdown(self.pointer, SHUT_WR))

    def close(self):
        if self.pointer:
            self.lib.PR_Close(self.pointer)
        self.pointer = None

    @property
    def info(self):
        info = Info()
        self.must(self.lib.SSL_GetChannelInfo(self.pointer, ctypes.byref(info), ctypes.sizeof(info)))
        return info

    @property
    def version(self):
        return {0x303: 'TLSv1.2', 0x304: 'TLSv1.3'}[self.info.version]

    @property
    def suite(self):
        suite, kind = {code: names for names, code in CODES.items()}[self.info.suite]
        return f'TLS_{suite}' if kind == '1.3' else f'TLS_ECDHE_{kind}_WITH_{suite}'

    @property
    def is_resumed(self):
        return bool(self.info.is_resumed)

    @property
    def alpn(self):
        state, data, size = ctypes.c_int(), ctypes.create_string_buffer(255), ctypes.c_uint()
        self.must(self.lib.SSL_GetNextProto(self.pointer, ctypes.byref(state), data, ctypes.byref(size), 255))
        return data.raw[:size.value].decode() if state.value else None
