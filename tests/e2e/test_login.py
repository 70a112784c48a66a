"""files --login: who may use the server."""
# needs: curl
import base64
import contextlib
import os
import subprocess
import time
import unittest

import tls
from tls import setUpModule, tearDownModule   # noqa: F401
from wire import PROGRAMS, Case, form, in_threads, part, request


def basic(credentials, scheme='Basic'):
    data = credentials if isinstance(credentials, bytes) else credentials.encode()
    return f'Authorization: {scheme} {base64.b64encode(data).decode()}'


@unittest.skipUnless(os.path.exists(PROGRAMS['files']), 'needs the program files')
class Login(Case):
    def logins(self, text='anna:secret\n', mode=0o600):
        path = os.path.join(self.folder(), 'logins')
        with open(path, 'w', newline='') as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def start(self, text='anna:secret\n', *args, **options):
        self.dir = self.folder()
        with open(os.path.join(self.dir, 'file'), 'w') as file:
            file.write('data')
        return self.serve(self.dir, '--login', self.logins(text), *args, **options)

    def assertUnknown(self, response):
        self.assertProblem(response, 401, 'a name and a password are required')
        self.assertEqual(response.header('www-authenticate'), 'Basic realm="files", charset="UTF-8"')

    def test_every_route(self):
        server = self.start()
        for data in (request('GET', '/'), request('GET', '/page/page.css'), request('GET', '/plain'), request('GET', '/api/files'),
                     request('HEAD', '/api/events'), request('GET', '/files/'),
                     request('GET', '/files/file'), request('HEAD', '/files/file'), request('GET', '/files/?zip'), request('PUT', '/files/x', body='x'),
                     request('PUT', '/files/x/'), request('DELETE', '/files/file'), form(part('f', b'x', 'x')), request('PATCH', '/files/file', body='x'),
                     request('POST', '/api/move', 'Content-Type: application/json', body='{"from":"file","to":"x"}'), request('GET', '/nowhere'),
                     request('OPTIONS', '/files/file'), request('OPTIONS', '*'), request('POST', '/tus/')):
            head = data.startswith(b'HEAD')
            response = server.ask(data, head=head)
            if head:
                self.assertEqual(response.status, 401)
            else:
                self.assertUnknown(response)
            known = data.replace(b'\r\n', f'\r\n{basic("anna:secret")}\r\n'.encode(), 1)
            if not data.startswith((b'DELETE', b'POST /api')):
                self.assertNotEqual(server.ask(known, head=head).status, 401, known)
        self.assertEqual(server.get('/files/file', basic('anna:secret')).body, b'data')

    def test_before_the_body(self):
        server = self.start()
        with server.connect() as wire:
            self.assertUnknown(wire.ask(request('PUT', '/files/x', 'Content-Length: 1000000000', 'Expect: 100-continue')))
        self.assertEqual(os.listdir(self.dir), ['file'])

    def test_who(self):
        server = self.start('anna:secret\nbert:a:b:c\n\nzoë:pässwort 😀\nanna:other')
        for who in ('anna:secret', 'anna:other', 'bert:a:b:c', 'zoë:pässwort 😀'):
            for scheme in ('Basic', 'basic', 'BASIC'):
                self.assertEqual(server.get('/files/file', basic(who, scheme)).body, b'data', who)
        guesses = ('anna:secre', 'anna:secretx', 'anna:secretsecret', 'anna:', 'anna', '', ':', ':secret', 'Anna:secret', 'anna:Secret', 'anna:secret\n', 'bert:a',
                    'bert:a:b', 'anna:a:b:c', 'anna:secret\0', b'zo\xeb:p\xe4sswort', 'anna:secret\nbert:a:b:c', 'x' * 5000)
        began = time.monotonic()
        for at in range(0, len(guesses), 10):
            some = guesses[at:at + 10]
            in_threads(len(some), lambda i, some=some: self.assertUnknown(server.get('/files/file', basic(some[i]))))
        self.assertGreater(time.monotonic() - began, 0.9, 'a wrong one waits')
        self.assertRegex(server.log, 'a wrong name or password came from 127.0.0.1')
        good = basic('anna:secret')
        for field in ('Authorization: ', 'Authorization: Basic', 'Authorization: Basic !', good.replace('Basic', 'Bearer'), good[:-1], good + ' x', good + ',',
                      f'{good}\r\n{good}', good.replace('Basic ', 'Basic'), f'Proxy-{good}'):
            self.assertUnknown(server.get('/files/file', *field.split('\r\n')))

    def test_guesses(self):
        """So many of an address wait. Then even the right password does not tell, and other addresses are not held up."""
        server = self.start()
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(server.connect()) for _ in range(30)]
            for wire in wires:
                wire.send(request('GET', '/files/file', basic('anna:guess')))
            refused = [wire for wire in wires if not wire.is_open(0.01)]
            self.assertEqual(server.get('/files/file', basic('anna:secret')).status, 429)
            with server.connect(source='127.0.0.2') as other:
                self.assertEqual(other.ask(request('GET', '/files/file', basic('anna:secret'))).body, b'data')
            self.assertEqual(sorted(wire.read().status for wire in wires), [401] * 16 + [429] * 14)
            self.assertLessEqual(len(refused), 14)

    def test_origin_and_host(self):
        """A page elsewhere can't use the login that a browser knows; but any name of the server will do."""
        server = self.start()
        known = basic('anna:secret')
        for fields in (('Origin: http://evil.example',), ('Sec-Fetch-Site: cross-site',)):
            self.assertProblem(server.ask(request('PUT', '/files/x', known, *fields, body='x')), 403)
        self.assertEqual(server.ask(request('GET', '/files/file', known, host='files.example')).status, 200)
        self.assertUnknown(server.ask(request('GET', '/files/file', host='files.example')))

    def refused(self, *args, status=2):
        done = subprocess.run([PROGRAMS['files'], self.folder(), *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (status, ''), done.stderr)
        return done.stderr

    def test_files_of_logins(self):
        for text, said in (('', 'there are none'), ('\n\n', 'there are none'), ('anna\n', 'line 1 of'), ('a:b\n:x\n', 'line 2 of'), ('a:b\nx:\n', 'is not NAME:PASSWORD'),
                           ('a:b\r\n', 'contains a control character'), ('a:b\0c\n', 'contains a control character'), ('a:\tb\n', 'line 1 of')):
            path = self.logins(text)
            stderr = self.refused('--login', path)
            self.assertIn(said, stderr)
            self.assertIn(path, stderr)
        for mode in (0o640, 0o604, 0o644, 0o620, 0o602, 0o610, 0o666):
            self.assertIn('try: chmod 600', self.refused('--login', self.logins(mode=mode)))
        self.assertIn('No such file', self.refused('--login', '/nowhere'))
        self.assertIn('no regular file', self.refused('--login', self.folder()))
        self.assertIn('no regular file', self.refused('--login', '/dev/null'))
        for mode in (0o600, 0o400):
            self.serve(self.folder(), '--login', self.logins(mode=mode))

    def test_needs_encryption(self):
        for bind in ('0.0.0.0:0', '[::]:0', '192.0.2.1:0', 'files.example:0', '127.example.com:0', 'systemd'):
            said = self.refused('--login', self.logins(), '--bind', bind)
            self.assertIn(f'passwords would reach {bind} unencrypted', said)
            self.assertIn('--insecure-login', said)
        for bind in ('localhost:0', '127.0.0.1:0', '127.1.2.3:0', 'unix:' + os.path.join(self.folder(), 'socket')):
            self.start(bind=bind)
        server = self.start('anna:secret\n', '--insecure-login', bind='0.0.0.0:0')
        server.wait_for('WARN files: no HTTPS: others on the network can read and change what is sent, passwords too')
        self.assertNotIn('no login', server.log)
        self.assertUnknown(server.get('/'))

    def test_https(self):
        tls.make('login', '/CN=login', 'DNS:localhost')
        server = self.start('anna:secret\n', '--cert', tls.at('login.pem'), '--key', tls.at('login.key'), bind='0.0.0.0:0')
        for who, want in (('anna:secret', '200'), ('anna:wrong', '401')):
            done = subprocess.run(['curl', '-sk', '-u', who, '-o', '/dev/null', '-w', '%{http_code}', f'https://127.0.0.1:{server.port}/files/file'],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual(done.stdout, want)
        self.assertNotRegex(server.log, 'WARN files: no ')

    def test_warnings_without(self):
        server = self.serve(self.folder(), bind='0.0.0.0:0')
        server.wait_for(r'WARN files: no login: everyone who can reach 0\.0\.0\.0:0 can read, replace and delete files there .*--login FILE')
        server.wait_for('WARN files: no HTTPS')
        self.assertIn('can read files there;', self.serve(self.folder(), '--no-upload', bind='0.0.0.0:0').wait_for('WARN files: no login.*')[0])
        for bind in ('127.0.0.1:0', 'localhost:0', 'unix:' + os.path.join(self.folder(), 'socket')):
            server = self.serve(self.folder(), bind=bind)
            self.assertEqual(server.get('/').status, 200)
            self.assertNotIn('WARN', server.log)

    def test_secrets_are_not_logged(self):
        server = self.start('anna:topsecret\n', log='trace')
        server.get('/', basic('anna:topsecret'))
        server.get('/', basic('anna:topsecrex'))
        server.stop()
        self.assertNotIn('topsecre', server.log)
        self.assertNotIn(base64.b64encode(b'anna:topsecret').decode()[:12], server.log)


if __name__ == '__main__':
    unittest.main()
