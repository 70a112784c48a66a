"""The client over TLS: whom it trusts, and what it takes for an answer. Its other tests are tests/http/client*.c."""
import concurrent.futures
import contextlib
import errno
import os
import re
import socket
import ssl
import subprocess
import threading

import tls
from tls import V12, V13
from wire import MIB, PROGRAMS, Case, Server, pattern

FETCH = PROGRAMS['fetch']
CLOSE = b'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello'
HELLO = b'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'


def setUpModule():
    tls.setUpModule()
    tls.make('bare', '/CN=localhost', ca='ca')
    tls.make('impostor', '/CN=localhost', 'DNS:localhost', ca='foreign')
    tls.make_expired('old')


def tearDownModule():
    tls.tearDownModule()


def fetch(*args, ca='ca'):
    """What it says, a line each."""
    trust = ['--ca', tls.at(f'{ca}.pem')] if ca else []
    done = subprocess.run([FETCH, *trust, *map(str, args)], capture_output=True, check=False, timeout=60, text=True)
    if done.returncode or 'Sanitizer' in done.stderr or 'runtime error' in done.stderr:
        raise AssertionError(f'fetch: {done.returncode}\n{done.stderr}')
    return done.stdout.splitlines()


class Fetching:
    """It asks for a URL twice; the second time when it is told to."""

    def __init__(self, url):
        self.process = subprocess.Popen([FETCH, '--ca', tls.at('ca.pem'), '--wait', url, url], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def line(self):
        return self.process.stdout.readline().rstrip('\n')

    def go(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()

    def end(self):
        said = self.process.communicate(timeout=20)[1]
        if self.process.returncode or said:
            raise AssertionError(f'fetch: {self.process.returncode}\n{said}')


class Script:
    """A server in a thread that answers each connection with some bytes. It speaks TLS if it has a certificate, and ends
    with a goodbye or without."""

    def __init__(self, answer, cert='server', key=None, goodbye=True, version=None, port=0, tickets=True, weak=False):
        self.answer, self.goodbye, self.context, self.heads = answer, goodbye, None, []
        if cert:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            if weak:
                self.context.set_ciphers('DEFAULT:@SECLEVEL=0')
            self.context.load_cert_chain(tls.at(f'{cert}.pem'), tls.at(f'{key or cert}.key'))
            if version:
                self.context.maximum_version = self.context.minimum_version = version
            if not tickets:
                self.context.num_tickets = 0
                self.context.options |= ssl.OP_NO_TICKET
        self.resumed = []
        self.listener = socket.create_server(('127.0.0.1', port))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def serve(self, plain):
        connection = plain
        if self.context:
            connection = self.context.wrap_socket(plain, server_side=True)
            self.resumed.append(connection.session_reused)
        with contextlib.closing(connection):
            self.talk(connection)

    def talk(self, connection):
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            data = connection.recv(4096)
            if not data:
                return
            head += data
        self.heads.append(head.decode())
        connection.sendall(self.answer)
        if self.context and self.goodbye:
            connection.unwrap()

    def run(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            plain.settimeout(20)
            with contextlib.closing(plain), contextlib.suppress(OSError):
                self.serve(plain)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def url(self, host='localhost', scheme='https'):
        return f'{scheme}://{host}:{self.port}/'


class Early(Script):
    """Answers when it has the head, and takes nothing more until the client is done."""

    def __init__(self, *args, **options):
        self.done = threading.Event()
        super().__init__(*args, **options)

    def talk(self, connection):
        while not connection.recv(4096).count(b'\r\n\r\n'):
            pass
        connection.sendall(self.answer)
        self.done.wait(20)


class Client(Case):
    def setUp(self):
        super().setUp()
        for name in ('fetch', 'secure'):
            if not os.path.exists(PROGRAMS[name]):
                self.skipTest(f'needs the program {name}')

    def refused(self, line, error, text):
        self.assertRegex(line, rf'^-{error} .*{text}')

    def test_speaks_to_who_is_trusted(self):
        server = Server('--cert', tls.at('server.both'), program='secure')
        self.addCleanup(server.stop)
        url = f'https://localhost:{server.port}/'
        lines = fetch(url, url, f'https://127.0.0.1:{server.port}/', f'https://LOCALHOST.:{server.port}/')
        self.assertEqual(lines, ['200 ', 'TLSv1.3 localhost'] * 2 + ['200 ', 'TLSv1.3 -', '200 ', 'TLSv1.3 localhost'])

    def test_speaks_1_2(self):
        with Script(HELLO, version=ssl.TLSVersion.TLSv1_2) as server:
            self.assertEqual(fetch(server.url()), ['200 hello'])

    def test_reads_folded_lines_tabs_and_chunk_extensions_with_blanks(self):
        head = b'HTTP/1.1 200 OK\r\nx-folded: a\r\n\tb\r\n'
        for rest in (b'content-length:\t5\t\r\n\r\nhello', b'content-length:\r\n 5\r\n\r\nhello',
                     b'transfer-encoding:\t chunked\t\r\n\r\n2 ; a = b\r\nhe\r\n3; c\r\nllo\r\n0\t;d\r\n\r\n',
                     b'transfer-encoding:\r\n\tchunked\r\n \r\n\r\n5\r\nhello\r\n0\r\n\r\n'):
            with self.subTest(rest), Script(head + rest, cert=None) as server:
                self.assertEqual(fetch(server.url(scheme='http')), ['200 hello'])
        for rest in (b'5 \r\nhello\r\n0\r\n\r\n', b'5;a \r\nhello\r\n0\r\n\r\n'):
            with self.subTest(rest), Script(b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n' + rest, cert=None) as server:
                self.refused(fetch(server.url(scheme='http'))[0], errno.EBADMSG, '')

    def test_trusts_nobody_else(self):
        with Script(HELLO) as server:
            self.refused(fetch(server.url(), ca=None)[0], errno.ENOKEY, 'the certificate is not trusted')
            self.refused(fetch('--only', server.url(), ca='foreign')[0], errno.ENOKEY, 'the certificate is not trusted')
            self.assertEqual(fetch('--only', server.url()), ['200 hello'])
            self.assertEqual(len(server.heads), 1)
            self.refused(fetch(server.url(), ca='none')[0], errno.EINVAL, 'no usable CA certificates')

    def test_knows_names(self):
        for cert, host, text in (('one', 'localhost', 'not for localhost'), ('rsa', '127.0.0.1', 'not for 127.0.0.1'),
                                 ('bare', 'localhost', 'not for localhost')):
            with self.subTest(cert=cert), Script(HELLO, cert) as server:
                self.refused(fetch(server.url(host))[0], errno.EKEYREJECTED, text)
                self.assertEqual(server.heads, [])
        with Script(HELLO, 'rsa') as server:
            self.assertEqual(fetch(server.url()), ['200 hello'])

    def test_knows_time(self):
        with Script(HELLO, 'old', 'server') as server:
            self.refused(fetch(server.url())[0], errno.EKEYREJECTED, 'the certificate is not trusted')
            self.assertEqual(server.heads, [])

    def test_knows_what_is_no_tls(self):
        with Script(HELLO, cert=None) as server, Script(HELLO) as secure:
            self.assertEqual(fetch(server.url(scheme='http')), ['200 hello'])
            # Who speaks first is not waited for by this server: it sees no head.
            self.refused(fetch(secure.url(scheme='http'))[0], '(104|32|74)', '')
        with socket.create_server(('127.0.0.1', 0)) as listener:
            def answer():
                with listener.accept()[0] as connection:
                    connection.recv(1)
                    connection.sendall(b'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
                    connection.recv(1 << 16)
            thread = threading.Thread(target=answer)
            thread.start()
            lines = fetch(f'https://localhost:{listener.getsockname()[1]}/')
            thread.join()
            self.refused(lines[0], errno.EBADMSG, 'handshake')

    def test_hears_what_is_cut_off(self):
        body = b'HTTP/1.1 200 OK\r\n\r\nhello'
        with Script(body) as server:
            self.assertEqual(fetch(server.url()), ['200 hello'])
        with Script(body, goodbye=False) as server:
            self.refused(fetch(server.url())[0], errno.ECONNRESET, 'before the end of the body')

    def test_does_not_leave_tls(self):
        with Script(HELLO, cert=None) as plain:
            location = plain.url(scheme='http')
            with Script(f'HTTP/1.1 302 Found\r\nlocation: {location}\r\n\r\n'.encode()) as server:
                self.refused(fetch('--redirects', 5, server.url())[0], errno.EPERM, 'from https to http')
                self.assertEqual(plain.heads, [])

    def sparse(self, size):
        path = os.path.join(self.folder(), 'sparse')
        with open(path, 'wb') as file:
            file.truncate(size)
        return path

    def test_resumes_sessions(self):
        for version, tickets, again in ((V12, True, True), (V12, False, True), (V13, True, True), (V13, False, False)):
            with self.subTest(version, tickets=tickets), Script(CLOSE, version=version, tickets=tickets) as server:
                self.assertEqual(fetch(*[server.url()] * 4), ['200 hello'] * 4)
                self.assertEqual(server.resumed, [False] + [again] * 3)

    def test_forgets_the_oldest_session(self):
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(Script(CLOSE)) for _ in range(9)]
            order = [*servers, servers[8], servers[1], servers[0]]
            self.assertEqual(fetch(*[server.url() for server in order]), ['200 hello'] * 12)
            self.assertEqual([server.resumed for server in (servers[0], servers[1], servers[2], servers[8])],
                             [[False, False], [False, True], [False], [False, True]])

    def test_resumes_no_session_of_another_origin(self):
        """Also where the server would."""
        for version in (V12, V13):
            with self.subTest(version), Script(CLOSE, version=version) as one, Script(CLOSE) as other:
                other.context = one.context
                self.assertEqual(fetch(one.url(), other.url(), one.url(), other.url()), ['200 hello'] * 4)
                self.assertEqual((one.resumed, other.resumed), ([False, True], [False, True]))

    def test_looks_again_at_who_resumes_nothing(self):
        """Another server at the same place, which does not know the session, is not the first one's."""
        not_its, foreign = (errno.EKEYREJECTED, 'not for localhost'), (errno.ENOKEY, 'the certificate is not trusted')
        for version, cert, why in ((V12, 'one', not_its), (V13, 'one', not_its), (V12, 'impostor', foreign), (V13, 'impostor', foreign)):
            with self.subTest(version, cert=cert):
                with Script(CLOSE, version=version) as first:
                    fetching = Fetching(first.url())
                    self.assertEqual(fetching.line(), '200 hello')
                with Script(CLOSE, cert, version=version, port=first.port) as second:
                    fetching.go()
                    self.refused(fetching.line(), *why)
                    self.assertEqual((second.resumed[1:], second.heads), ([], []))
                fetching.end()

    def test_hears_early_answers(self):
        path, body = self.sparse(256 * MIB), 300000 * b'n'
        answers = (b'HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno',
                   b'HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 413 No\r\nconnection: close\r\ncontent-length: 300000\r\n\r\n' + body)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for answer in answers:
                with self.subTest(version, answer=answer[:20]), Early(answer, version=version) as server:
                    lines = fetch('--put', path, server.url())
                    server.done.set()
                    self.assertEqual(lines, ['413 ' + answer.decode().rpartition('\r\n\r\n')[2]])

    def test_new_keys_while_it_sends(self):
        """The server asks for them twice in the middle of the body, and has something else to say as well."""
        folder, sent = self.folder(), pattern(48 * MIB) + os.urandom(1000)  # the pattern repeats itself
        path, messages = os.path.join(folder, 'body'), os.path.join(folder, 'messages')
        with open(path, 'wb') as file:
            file.write(sent)
        server = subprocess.Popen(['openssl', 's_server', '-accept', '127.0.0.1:0', '-cert', tls.at('server.pem'), '-key',
                                   tls.at('server.key'), '-tls1_3', '-naccept', '1', '-msg', '-msgfile', messages],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.kill)
        heard = bytearray()

        def hear(enough):
            while not enough():
                data = server.stdout.read(1 << 16)
                self.assertNotEqual(data, b'')
                heard.extend(data)
        hear(lambda: b'\nACCEPT ' in heard and heard.endswith(b'\n'))
        port = int(heard.rpartition(b':')[2])
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            lines = pool.submit(fetch, '--put', path, f'https://localhost:{port}/')
            for times in (1, 2):
                hear(lambda size=len(heard) + 4 * MIB: len(heard) > size)
                server.stdin.write(b'K\n')
                hear(lambda times=times: heard.count(b'SSL_do_handshake') == times)
                server.stdin.write(b'HTTP/1.1 102 Wait\r\n\r\n')
            hear(lambda: heard.endswith(sent[-1000:]))
            server.stdin.write(b'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\n')
            self.assertEqual(lines.result(30), ['200 ok'])
        # What the program itself has to say stands between.
        body = re.sub(rb'(SSL_do_handshake -> 1|Read BLOCK)\n', b'', heard).partition(b'\r\n\r\n')[2]
        self.assertTrue(body.startswith(sent))
        with open(messages) as file:
            said = file.read()
        for arrow in ('>>>', '<<<'):
            self.assertEqual(len(re.findall(f'{arrow} TLS 1.3, Handshake .*, KeyUpdate', said)), 2)

    def test_uploads(self):
        folder = self.folder()
        path = os.path.join(folder, 'sent')
        with open(path, 'wb') as file:
            file.write(pattern(5 * MIB + 17))
        server = Server('--cert', tls.at('server.both'), '--dir', folder, program='secure')
        self.addCleanup(server.stop)
        lines = fetch('--put', path, f'https://localhost:{server.port}/files/got')
        self.assertRegex(lines[0], '^20[01] ')
        with open(os.path.join(folder, 'got'), 'rb') as file:
            self.assertEqual(file.read(), pattern(5 * MIB + 17))
