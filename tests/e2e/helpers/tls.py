"""What the tests of TLS share: certificates, which setUpModule() makes; clients by `openssl s_client`, curl and Python's ssl."""
# needs: curl openssl
import contextlib
import errno
import os
import select
import shutil
import socket
import ssl
import subprocess
import tempfile

from wire import MIB, Case, Lost, Wire, curl, request, sha256_of

CERTS = None
TCP_ULP = 31


def openssl(*args, check=True, stdin=b''):
    done = subprocess.run(['openssl', *map(str, args)], input=stdin, capture_output=True, check=False, timeout=60)
    if check and done.returncode:
        raise AssertionError(f'openssl {args[0]}: {done.stderr.decode()}')
    return done.stdout.decode(errors='replace') + done.stderr.decode(errors='replace')


def at(name):
    return os.path.join(CERTS, name)


def make(name, subject, *names, ca=None, rsa=0, curve='prime256v1', args=()):
    """NAME.pem and NAME.key; NAME.both holds both of them. `rsa`: the bits of such a key."""
    key = [f'rsa:{rsa}'] if rsa else ['ec', '-pkeyopt', f'ec_paramgen_curve:{curve}']
    args = ['req', '-x509', '-newkey', *key, '-nodes', '-days', '30', '-subj', subject, *args,
            '-keyout', at(f'{name}.key'), '-out', at(f'{name}.pem')]
    if names:
        args += ['-addext', 'subjectAltName=' + ','.join(names)]
    if ca:
        args += ['-CA', at(f'{ca}.pem'), '-CAkey', at(f'{ca}.key')]
        if not any('basicConstraints' in arg for arg in args):
            args += ['-addext', 'basicConstraints=critical,CA:FALSE']
    else:
        args += ['-addext', 'keyUsage=critical,keyCertSign,cRLSign']
    openssl(*args)
    with open(at(f'{name}.both'), 'wb') as both:
        for part in ('pem', 'key'):
            with open(at(f'{name}.{part}'), 'rb') as file:
                both.write(file.read())


EXPIRED = """[ca]
default_ca = own
[own]
database = {folder}/index
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
copy_extensions = copy
policy = any
[any]
commonName = supplied
"""


def make_expired(name):
    """NAME.pem, of localhost and of the key of `server`, which was valid for a day of long ago."""
    with tempfile.TemporaryDirectory(dir=CERTS) as folder:
        config, request = os.path.join(folder, 'config'), os.path.join(folder, 'request')
        with open(config, 'w') as file:
            file.write(EXPIRED.format(folder=folder))
        open(os.path.join(folder, 'index'), 'w').close()
        openssl('req', '-new', '-key', at('server.key'), '-subj', f'/CN={name}', '-addext', 'subjectAltName=DNS:localhost', '-out', request)
        openssl('ca', '-batch', '-notext', '-config', config, '-in', request, '-cert', at('ca.pem'), '-keyfile', at('ca.key'),
                '-startdate', '20200101000000Z', '-enddate', '20200102000000Z', '-out', at(f'{name}.pem'))


def setUpModule():
    global CERTS
    CERTS = tempfile.mkdtemp(prefix='eddy-certs-')
    make('ca', '/CN=Test CA')
    make('server', '/CN=localhost', 'DNS:localhost', 'IP:127.0.0.1', ca='ca')
    make('rsa', '/CN=localhost', 'DNS:localhost', ca='ca', rsa=2048)
    make('p384', '/CN=localhost', 'DNS:localhost', ca='ca', curve='secp384r1')
    make('one', '/CN=one', 'DNS:one.example', ca='ca')
    make('wild', '/CN=wild', 'DNS:other.example', 'DNS:*.wild.example', ca='ca')
    make('client', '/O=eddy, inc/CN=jo\\/CN=root', ca='ca')
    make('foreign', '/CN=Foreign CA')
    make('stranger', '/CN=jo', ca='foreign')


def tearDownModule():
    shutil.rmtree(CERTS, ignore_errors=True)


def text_of(name):
    with open(at(name)) as file:
        return file.read()


RAGGED_END = 'UNEXPECTED_EOF_WHILE_READING'     # as some versions name it


class Adapter:
    """A TLS socket whose failures look like those of a plain one: an end without a goodbye is one."""

    def __init__(self, sock):
        self.sock = sock

    def recv(self, size):
        try:
            return self.sock.recv(size)
        except ssl.SSLError as error:
            if not isinstance(error, (ssl.SSLEOFError, ssl.SSLSyscallError)) and error.reason != RAGGED_END:
                raise
            raise ConnectionResetError('ended without a close_notify') from error

    def __getattr__(self, name):
        return getattr(self.sock, name)


class TlsWire(Wire):
    def __init__(self, port, context, host='localhost', session=None, **options):
        super().__init__(port, **options)
        self.plain = self.socket
        self.plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.tls = context.wrap_socket(self.plain, server_hostname=host, suppress_ragged_eofs=False,
                                           session=session)
        except BaseException:
            self.plain.close()
            raise
        self.socket = Adapter(self.tls)

    def peer_name(self):
        return self.tls.getpeercert()['subject'][-1][0][1]


class ByHand:
    """A client whose encrypted bytes go through the test's hands."""

    def __init__(self, wire, host='localhost', step=MIB, using=None):
        self.wire, self.step, self.heard = wire, step, b''
        self.inside, self.outside = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = (using or context()).wrap_bio(self.inside, self.outside, server_hostname=host)

    def run(self, function, *args):
        while True:
            try:
                result, done = function(*args), True
            except ssl.SSLWantReadError:
                result, done = None, False
            data = self.outside.read()
            for i in range(0, len(data), self.step):
                self.wire.send(data[i:i + self.step])
            if done:
                return result
            data = self.wire.socket.recv(MIB)
            if not data:
                raise Lost('ended')
            self.heard += data
            self.inside.write(data)

    def recv(self, size):
        return self.run(self.tls.read, size)


class Answers(Wire):
    """What comes to a client by hand."""

    def __init__(self, hand):
        self.socket, self.buffer = hand, b''


def context(*, version=None, cert=None, alpn=None):
    made = ssl.create_default_context(cafile=at('ca.pem'))
    # Python forgives an end without a goodbye where its OpenSSL can.
    made.options &= ~getattr(ssl, 'OP_IGNORE_UNEXPECTED_EOF', 1 << 7 if ssl.OPENSSL_VERSION_INFO >= (3,) else 0)
    if version:
        made.minimum_version = made.maximum_version = version
    if cert:
        made.load_cert_chain(at(f'{cert}.both'))
    if alpn:
        made.set_alpn_protocols(alpn)
    return made


V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def has_ktls():
    """Whether this kernel encrypts TLS: a socket that is not connected is refused for that only."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b'tls')
        except OSError as error:
            return error.errno == errno.ENOTCONN
    return True


class TlsCase(Case):
    def secure(self, *args, cert='server', **options):
        self.dir = self.folder()
        return self.serve('--cert', at(f'{cert}.pem'), '--key', at(f'{cert}.key'), '--dir', self.dir, *args,
                          program='secure', **options)

    def dial(self, server, using=None, **options):
        wire = TlsWire(server.port, using or context(), **options)
        self.addCleanup(wire.close)
        return wire

    def session(self, wire):
        return wire.ask(request('GET', '/'))

    def busy(self, cert='p384'):
        """A server that has handshakes to work on for about a second, 300 at most, a connection of it that is idle, and their clients. The
        signatures of its key are left to the pool unless `cert` is quick."""
        server = self.secure(cert=cert)
        idle = self.dial(server)
        self.session(idle)
        # By what the server works, not by the clock: other programs may have the processors.
        start = server.worked()
        self.dial(server).close()
        count = min(300, max(40, int(1 / (server.worked() - start))))
        hand = ByHand(None)
        with contextlib.suppress(ssl.SSLWantReadError):
            hand.tls.do_handshake()
        hello = hand.outside.read()
        wires = [server.connect() for _ in range(count)]
        for wire in wires:
            wire.send(hello)
        select.select([wire.socket for wire in wires], [], [], 60)
        return server, idle, wires

    def write(self, name, data):
        with open(os.path.join(self.dir, name), 'wb') as file:
            file.write(data)

    def sha256(self, name):
        return sha256_of(os.path.join(self.dir, name))

    def curl(self, server, path, *args, **options):
        return curl('--cacert', at('ca.pem'), *args, f'https://localhost:{server.port}{path}', **options)

    def key_updates(self, server, *letters):
        """What a client hears that sends those of s_client (k: new keys of mine; K: and yours), then a request."""
        process = subprocess.Popen(['openssl', 's_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_3', '-crlf'],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        try:
            for letter in letters:
                process.stdin.write(letter + b'\n')
                process.stdin.flush()
                # One line at a time is a command.
                while (said := process.stdout.readline()) != b'KEYUPDATE\n':
                    self.assertNotEqual(said, b'')
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(b'GET /?x HTTP/1.1\nHost: localhost\nConnection: close\n\n')
                process.stdin.flush()
            return process.stdout.read()
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
