#!/usr/bin/env python3
"""What SPEC.md says, asked of a running service: contract.py URL SECRET_FILE [--scan PORT] [--pid PID] [--left-out TEST,…].

The service runs with the settings of dropbox.toml, for rate and burst too. --scan: listen as the scanner of `scan_url`; --pid: end with
the tests of shutdown, which end the service. Tests that are named as left out must fail. Needs Python alone."""
import argparse
import base64
import contextlib
import gzip
import hashlib
import hmac
import http.client
import http.server
import json
import os
import queue
import secrets
import signal
import socket
import sys
import threading
import time
import unittest
import urllib.parse

OPTIONS = None
RUN = secrets.token_hex(4)   # names are new in each run


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


def mint(claims, key=None, alg='HS256'):
    text = b64(json.dumps({'alg': alg, 'typ': 'JWT'}).encode()) + '.' + b64(json.dumps(claims).encode())
    return text + '.' + ('' if alg == 'none' else b64(hmac.digest(key or OPTIONS.secret, text.encode(), 'sha256')))


def token(sub, **claims):
    return mint({'sub': sub, 'exp': int(time.time()) + 600, **claims})


def connect():
    return http.client.HTTPConnection(OPTIONS.host, OPTIONS.port, timeout=10)


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.body)


def ask(method, path, who=None, body=None, headers=None, **claims):
    headers = dict(headers or {})
    if who:
        headers['authorization'] = 'Bearer ' + token(who, **claims)
    while True:
        with contextlib.closing(connect()) as client:
            client.request(method, path, iter(body) if isinstance(body, list) else body, headers)
            answer = Answer(client.getresponse())
        if answer.status != 429:
            return answer
        time.sleep(0.1)   # the tests are quicker than the rate


def make_user(name, **members):
    body = json.dumps({'name': name, 'email': 'x@example.org', **members})
    return ask('POST', '/users', 'root', body, {'content-type': 'application/json'}, role='admin')


class Scanner(http.server.BaseHTTPRequestHandler):
    got, answers = queue.Queue(), []

    def do_POST(self):
        Scanner.got.put((self.headers['content-type'], json.loads(self.rfile.read(int(self.headers['content-length']))), time.monotonic()))
        self.send_response(Scanner.answers.pop(0) if Scanner.answers else 200)
        self.send_header('content-length', '0')
        self.end_headers()

    def log_message(self, *args):
        pass


class Stream:
    """The events of a user, line by line."""

    def __init__(self, who):
        self.client = connect()
        self.client.request('GET', '/events', headers={'authorization': 'Bearer ' + token(who)})
        self.response = self.client.getresponse()

    def line(self):
        while True:
            line = self.response.readline()
            if line != b'\n':
                return line.decode().rstrip('\n')

    def event(self):
        while not (line := self.line()).startswith('data: '):
            if not line:
                raise EOFError
        return json.loads(line[6:])


class Contract(unittest.TestCase):
    def problem(self, answer, status, member=None):
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers.get_content_type(), 'application/problem+json')
        self.assertEqual(answer.json['status'], status)
        for name in ('type', 'title', 'detail'):
            self.assertTrue(answer.json[name])
        if member:
            self.assertIn('#/' + member, [fault['pointer'] for fault in answer.json['errors']])

    def user(self, suffix='', **members):
        name = f'{self._testMethodName}-{RUN}{suffix}'
        self.assertEqual(make_user(name, **members).status, 201)
        return name

    # ---- without a token

    def test_health(self):
        answer = ask('GET', '/healthz')
        self.assertEqual((answer.status, answer.body.strip()), (200, b'ok'))

    def test_metrics(self):
        user = self.user()
        ask('GET', f'/users/{user}', user)
        before = ask('GET', '/metrics').body.decode()
        self.assertRegex(before, r'(?m)^\w*request\w*(total|count)\{(?=.*method="GET").*/users/[{:]name.* \d')
        value = {line.split()[0]: float(line.split()[1]) for line in before.splitlines() if line.startswith('dropbox_')}
        ask('PUT', '/files/one', user, b'12345')
        after = ask('GET', '/metrics').body.decode()
        self.assertIn(f'dropbox_uploads_total {value["dropbox_uploads_total"] + 1:g}\n', after)
        self.assertIn(f'dropbox_bytes_total {value["dropbox_bytes_total"] + 5:g}\n', after)

    def test_fields_of_responses(self):
        for path in ('/healthz', '/nowhere', '/files'):
            answer = ask('GET', path)
            for name in ('request-id', 'content-security-policy', 'x-frame-options', 'referrer-policy'):
                self.assertTrue(answer.headers[name], (path, name))
            self.assertEqual(answer.headers['x-content-type-options'], 'nosniff')
        self.assertNotEqual(ask('GET', '/healthz').headers['request-id'], answer.headers['request-id'])

    def test_cors(self):
        wants = {'origin': 'https://app.example', 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization'}
        answer = ask('OPTIONS', '/files/x', headers=wants)
        self.assertIn(answer.status, (200, 204))
        self.assertEqual(answer.headers['access-control-allow-origin'], 'https://app.example')
        self.assertIn('PUT', answer.headers['access-control-allow-methods'])
        self.assertIn(answer.headers['access-control-allow-headers'].lower(), ('authorization', '*'))
        self.assertEqual(ask('GET', '/healthz', headers=wants).headers['access-control-allow-origin'], 'https://app.example')
        self.assertEqual(ask('GET', '/files', headers=wants).headers['access-control-allow-origin'], 'https://app.example')
        self.assertIsNone(ask('GET', '/healthz', headers={'origin': 'https://other.example'}).headers['access-control-allow-origin'])

    def test_unknown_path(self):
        self.problem(ask('GET', '/nowhere'), 404)
        self.problem(ask('GET', '/users/a/b', 'somebody'), 404)

    def test_unknown_method(self):
        answer = ask('DELETE', '/users/x', 'somebody')
        self.problem(answer, 405)
        self.problem(ask('GET', '/users', 'somebody'), 405)

    def test_allow(self):
        self.assertIn('GET', ask('DELETE', '/users/x', 'somebody').headers.get('allow', ''))

    # ---- tokens

    def test_tokens(self):
        now, key = int(time.time()), b'another secret of at least 32 bytes, yes'
        bad = {'none': '', 'scheme': 'Basic eDp5', 'malformed': 'Bearer x.y.z', 'key': 'Bearer ' + mint({'sub': 'a', 'exp': now + 60}, key),
               'unsigned': 'Bearer ' + mint({'sub': 'a', 'exp': now + 60}, alg='none'), 'expired': 'Bearer ' + token('a', exp=now - 90),
               'endless': 'Bearer ' + mint({'sub': 'a'}), 'early': 'Bearer ' + token('a', nbf=now + 90), 'aud': 'Bearer ' + token('a', aud='b')}
        for name, value in bad.items():
            with self.subTest(name):
                answer = ask('GET', '/files', headers={'authorization': value} if value else {})
                self.problem(answer, 401)
                self.assertTrue(answer.headers['www-authenticate'].startswith('Bearer'))
        for method, path in (('POST', '/users'), ('GET', '/users/x'), ('PUT', '/files/x'), ('GET', '/files/x'), ('GET', '/events')):
            self.problem(ask(method, path), 401)

    def test_leeway(self):
        now = int(time.time())
        self.assertEqual(ask('GET', '/files', 'a', exp=now - 30).status, 200)
        self.assertEqual(ask('GET', '/files', 'a', nbf=now + 30).status, 200)

    def test_roles(self):
        name = f'roles-{RUN}'
        body, kind = json.dumps({'name': name, 'email': 'x@example.org'}), {'content-type': 'application/json'}
        self.problem(ask('POST', '/users', 'a', body, kind), 403)
        self.problem(ask('POST', '/users', 'a', body, kind, role='user', roles=['reader']), 403)
        self.assertEqual(ask('POST', '/users', 'a', body, kind, roles=['reader', 'admin']).status, 201)

    # ---- users

    def test_user(self):
        name = f'user-{RUN}'
        answer = make_user(name, quota=1000, unknown=[1])
        self.assertEqual((answer.status, answer.headers['location']), (201, f'/users/{name}'))
        self.assertEqual(answer.json, {'name': name, 'email': 'x@example.org'})
        self.problem(make_user(name), 409)
        self.assertEqual(ask('PUT', '/files/a', name, b'abc').status, 201)
        answer = ask('GET', f'/users/{name}', 'somebody')
        self.assertEqual((answer.status, answer.headers.get_content_type()), (200, 'application/json'))
        self.assertEqual(answer.json, {'name': name, 'email': 'x@example.org', 'quota': 1000, 'used': 3})
        head = ask('HEAD', f'/users/{name}', 'somebody')
        self.assertEqual((head.status, head.body), (200, b''))
        self.problem(ask('GET', f'/users/none-{RUN}', 'somebody'), 404)

    def test_user_with_any_name(self):
        name = f'ü /%?#"-{RUN}'
        answer = make_user(name)
        self.assertEqual(answer.status, 201)
        self.assertEqual(urllib.parse.unquote(answer.headers['location']), f'/users/{name}')
        self.assertTrue(answer.headers['location'].isascii())
        self.assertEqual(ask('GET', answer.headers['location'], 'a').json['name'], name)

    def test_default_quota(self):
        self.assertEqual(ask('GET', f'/users/{self.user()}', 'a').json['quota'], 50_000_000)

    def test_invalid_users(self):
        for member, members in (('name', {'name': ''}), ('name', {'name': 'x' * 65}), ('name', {'name': 5}), ('name', {'name': None}),
                                ('email', {'email': 'a'}), ('email', {'email': 'a' * 201}), ('quota', {'quota': 0}),
                                ('quota', {'quota': 10 ** 12 + 1}), ('quota', {'quota': '5'}), ('quota', {'quota': 1.5})):
            with self.subTest(member, **members):
                self.problem(make_user(**{'name': f'invalid-{RUN}', **members}), 400, member)
        self.problem(ask('POST', '/users', 'root', '{"name":"x"}', {'content-type': 'application/json'}, role='admin'), 400, 'email')
        for body in ('{', '[]', '"x"', '', '{"name":"a","email":"abc"} x'):
            with self.subTest(body):
                self.problem(ask('POST', '/users', 'root', body, {'content-type': 'application/json'}, role='admin'), 400)

    def test_length_in_bytes(self):
        self.problem(make_user('ü' * 33), 400, 'name')

    def test_nul_and_invalid_utf8(self):
        self.problem(make_user('a\0b'), 400)
        self.problem(ask('GET', '/users/a%00b', 'a'), 400)
        self.problem(ask('GET', '/users/%ff', 'a'), 400)
        self.problem(ask('PUT', '/files/a%00b', self.user(), b'x'), 400)

    def test_other_bodies(self):
        self.problem(ask('POST', '/users', 'root', '{"name":"a","email":"abc"}', role='admin'), 415)
        self.problem(ask('POST', '/users', 'root', 'name=a', {'content-type': 'text/plain'}, role='admin'), 415)
        body = json.dumps({'name': 'a', 'email': 'x' * (1 << 20)})
        for _ in range(20):
            with contextlib.suppress(ConnectionError):   # the service may answer and close while the body is still sent
                self.problem(ask('POST', '/users', 'root', body, {'content-type': 'application/json'}, role='admin'), 413)
                return
        self.fail('it never answers')

    # ---- files

    def test_file(self):
        user, body = self.user(), os.urandom(100_000)
        answer = ask('PUT', '/files/a.bin', user, body, {'content-type': 'text/x-any; charset=utf-8'})
        self.assertEqual(answer.status, 201)
        self.assertEqual(answer.json, {'id': answer.json['id'], 'name': 'a.bin', 'size': 100_000})
        self.assertIsInstance(answer.json['id'], int)
        self.problem(ask('PUT', '/files/a.bin', user, b'other'), 409)
        answer = ask('GET', '/files/a.bin', user)
        self.assertEqual((answer.status, answer.body), (200, body))
        self.assertEqual(answer.headers['content-type'], 'text/x-any; charset=utf-8')
        self.assertRegex(answer.headers['content-disposition'], '^attachment; filename="?a.bin')
        for name in ('last-modified', 'etag'):
            self.assertTrue(answer.headers[name])
        self.assertEqual(answer.headers['accept-ranges'], 'bytes')
        head = ask('HEAD', '/files/a.bin', user)
        self.assertEqual((head.status, head.headers['content-length']), (200, '100000'))
        self.problem(ask('GET', '/files/none', user), 404)
        self.problem(ask('GET', '/files/a.bin', 'somebody'), 404)

    def test_conditions(self):
        user = self.user()
        ask('PUT', '/files/a', user, b'0123456789')
        etag = ask('GET', '/files/a', user).headers['etag']
        self.assertEqual(ask('GET', '/files/a', user, headers={'if-none-match': etag}).status, 304)
        answer = ask('GET', '/files/a', user, headers={'range': 'bytes=2-4'})
        self.assertEqual((answer.status, answer.body, answer.headers['content-range']), (206, b'234', 'bytes 2-4/10'))
        self.assertEqual(ask('GET', '/files/a', user, headers={'if-match': '"other"'}).status, 412)
        answer = ask('GET', '/files/a', user, headers={'range': 'bytes=10-'})
        self.assertEqual((answer.status, answer.headers['content-range']), (416, 'bytes */10'))

    def test_strong_etag(self):
        user = self.user()
        ask('PUT', '/files/a', user, b'0123456789')
        etag = ask('GET', '/files/a', user).headers['etag']
        self.assertTrue(etag.startswith('"'), etag)
        self.assertEqual(ask('GET', '/files/a', user, headers={'if-match': etag}).status, 200)
        self.assertEqual(ask('GET', '/files/a', user, headers={'range': 'bytes=1-1', 'if-range': etag}).body, b'1')

    def test_problems_of_conditions(self):
        user = self.user()
        ask('PUT', '/files/a', user, b'0123456789')
        self.problem(ask('GET', '/files/a', user, headers={'range': 'bytes=10-'}), 416)
        self.problem(ask('GET', '/files/a', user, headers={'if-match': '"other"'}), 412)

    def test_empty_and_chunked(self):
        user = self.user()
        self.assertEqual(ask('PUT', '/files/empty', user, b'', {'content-length': '0'}).json['size'], 0)
        self.assertEqual(ask('GET', '/files/empty', user).body, b'')
        self.assertEqual(ask('PUT', '/files/chunked', user, [b'abc', b'def']).json['size'], 6)
        answer = ask('GET', '/files/chunked', user)
        self.assertEqual((answer.body, answer.headers['content-type']), (b'abcdef', 'application/octet-stream'))
        self.assertEqual(ask('PUT', '/files/json', user, b'{', {'content-type': 'application/json'}).status, 201)

    def test_file_with_any_name(self):
        user = self.user()
        for name in ('ü "/\\;.txt', '%41', '.hidden', 'x' * 255):
            path = '/files/' + urllib.parse.quote(name, safe='')
            self.assertEqual(ask('PUT', path, user, b'x').json['name'], name)
            answer = ask('GET', path, user)
            self.assertEqual((answer.status, answer.body), (200, b'x'))
        self.assertEqual(len(ask('GET', '/files', user).json), 4)

    def test_quota(self):
        user = self.user(quota=1000)
        self.problem(ask('PUT', '/files/announced', user, b'x' * 1001), 507)
        self.problem(ask('PUT', '/files/chunked', user, [b'x' * 600, b'x' * 600]), 507)
        self.assertEqual(ask('GET', '/files', user).json, [])
        self.assertEqual(ask('PUT', '/files/fits', user, b'x' * 1000).status, 201)
        self.problem(ask('PUT', '/files/more', user, b'x'), 507)
        self.assertEqual(ask('GET', f'/users/{user}', user).json['used'], 1000)
        self.problem(ask('PUT', '/files/a', f'nobody-{RUN}', b'x'), 403)

    def test_upload_that_ends_early(self):
        user = self.user()
        with contextlib.closing(connect()) as client:
            client.putrequest('PUT', '/files/part')
            client.putheader('authorization', 'Bearer ' + token(user))
            client.putheader('content-length', '1000')
            client.endheaders(b'x' * 500)
            time.sleep(0.2)
        time.sleep(0.3)
        self.assertEqual(ask('GET', '/files', user).json, [])
        self.assertEqual(ask('PUT', '/files/part', user, b'whole').status, 201)

    def test_list(self):
        user = self.user()
        for name in 'bca':
            ask('PUT', f'/files/{name}', user, name.encode() * 3, {'content-type': 'text/plain'})
        files = ask('GET', '/files', user).json
        self.assertEqual([file['name'] for file in files], ['a', 'b', 'c'])
        self.assertEqual({**files[0], 'id': 0, 'sha256': ''}, {'id': 0, 'name': 'a', 'size': 3, 'type': 'text/plain', 'sha256': ''})
        self.assertEqual([file['name'] for file in ask('GET', '/files?limit=1&offset=1', user).json], ['b'])
        self.assertEqual(ask('GET', '/files?offset=3', user).json, [])
        self.assertEqual(ask('GET', '/files', f'nobody-{RUN}').json, [])
        for query in ('limit=0', 'limit=501', 'limit=x', 'limit=1.5', 'offset=-1', 'offset=4294967296'):
            self.problem(ask('GET', f'/files?{query}', user), 400)

    def test_compression(self):
        user = self.user()
        for n in range(12):
            ask('PUT', f'/files/{n}' + 'x' * 200, user, b'x')
        answer = ask('GET', '/files', user, headers={'accept-encoding': 'gzip'})
        self.assertEqual(answer.headers['content-encoding'], 'gzip')
        self.assertEqual(len(json.loads(gzip.decompress(answer.body))), 12)
        self.assertIn('accept-encoding', ','.join(answer.headers.get_all('vary')).lower())
        self.assertIsNone(ask('GET', '/files', user).headers['content-encoding'])

    # ---- events and jobs

    def test_events_and_checksum(self):
        user, other = self.user(), Stream(f'other-{RUN}')
        stream = Stream(user)
        self.assertEqual((stream.response.status, stream.response.headers.get_content_type()), (200, 'text/event-stream'))
        body = os.urandom(200_000)
        number, digest = ask('PUT', '/files/a', user, body).json['id'], hashlib.sha256(body).hexdigest()
        self.assertEqual(stream.event(), {'id': number, 'state': 'stored'})
        self.assertEqual(stream.event(), {'id': number, 'sha256': digest})
        self.assertEqual(ask('GET', '/files', user).json[0]['sha256'], digest)
        other.client.sock.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            other.event()

    def test_scan(self):
        if not OPTIONS.scan:
            self.skipTest('needs --scan')
        user = self.user()
        stream = Stream(user)
        ask('PUT', '/files/first', user, b'1')
        while 'sha256' not in stream.event():
            pass
        self.wait_for(hashlib.sha256(b'1').hexdigest())
        Scanner.answers[:] = [500, 503]
        number = ask('PUT', '/files/a', user, b'abc').json['id']
        want = {'id': number, 'sha256': hashlib.sha256(b'abc').hexdigest()}
        posts = [Scanner.got.get(timeout=5) for _ in range(3)]
        for kind, body, _ in posts:
            self.assertEqual((kind, body), ('application/json', want))
        self.assertGreater(posts[1][2] - posts[0][2], 0.09)
        self.assertGreater(posts[2][2] - posts[1][2], 0.19)
        Scanner.answers[:] = [404]
        ask('PUT', '/files/b', user, b'b')
        self.wait_for(hashlib.sha256(b'b').hexdigest())
        time.sleep(0.4)
        self.assertTrue(Scanner.got.empty(), 'a 4xx is final')

    def wait_for(self, digest):
        # The posts of earlier files come first.
        while Scanner.got.get(timeout=15)[1]['sha256'] != digest:
            pass

    # ---- last: they use up the rate, and end the service

    def test_y_rate_limit(self):
        time.sleep(2)   # the bucket is full
        with contextlib.closing(connect()) as client:
            answers, headers = [], {'authorization': 'Bearer ' + token('a')}
            for _ in range(250):
                client.request('GET', '/users/none', headers=headers)
                answers.append(Answer(client.getresponse()))
                if answers[-1].status == 429:
                    break
        self.assertGreaterEqual(len(answers), 90)
        self.problem(answers[-1], 429)
        self.assertTrue(int(answers[-1].headers['retry-after']) >= 0)
        self.assertEqual(ask('GET', '/healthz').status, 200)
        time.sleep(2.1)
        self.assertEqual(ask('GET', '/users/none', 'a').status, 404)

    def test_z_shutdown(self):
        if not OPTIONS.pid:
            self.skipTest('needs --pid')
        user = self.user()
        stream, upload = Stream(user), connect()
        upload.putrequest('PUT', '/files/late')
        upload.putheader('authorization', 'Bearer ' + token(user))
        upload.putheader('content-length', '10')
        upload.endheaders(b'12345')
        Scanner.answers[:] = [500, 500]   # its worker is busy for 600 ms, and the job of the next upload waits
        ask('PUT', '/files/busy', self.user(suffix='2'), b'busy')
        os.kill(OPTIONS.pid, signal.SIGTERM)
        time.sleep(0.2)
        stream.client.sock.settimeout(2)
        while (line := stream.response.readline()) not in (b'',):
            self.assertIn(line[:1], (b':', b'\n'))
        with self.assertRaises(OSError):
            socket.create_connection((OPTIONS.host, OPTIONS.port), 1)
        upload.send(b'67890')
        self.assertEqual(upload.getresponse().status, 201)
        upload.close()
        for _ in range(100):
            if not os.path.exists(f'/proc/{OPTIONS.pid}'):
                break
            time.sleep(0.05)
        else:
            self.fail('it does not end')
        if OPTIONS.scan:   # both jobs were done, with three posts and one
            for body in (b'busy', b'busy', b'busy', b'1234567890'):
                self.wait_for(hashlib.sha256(body).hexdigest())


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('url')
    parser.add_argument('secret', type=argparse.FileType('rb'))
    parser.add_argument('--scan', type=int)
    parser.add_argument('--pid', type=int)
    parser.add_argument('--left-out', default='', help='names of tests without test_, between commas')
    parser.add_argument('--only', default='')
    OPTIONS = parser.parse_args()
    OPTIONS.secret = OPTIONS.secret.read()
    url = urllib.parse.urlsplit(OPTIONS.url)
    OPTIONS.host, OPTIONS.port = url.hostname, url.port
    for name in filter(None, OPTIONS.left_out.split(',')):
        setattr(Contract, f'test_{name}', unittest.expectedFailure(getattr(Contract, f'test_{name}')))
    if OPTIONS.scan:
        server = http.server.ThreadingHTTPServer(('127.0.0.1', OPTIONS.scan), Scanner)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    names = [name for name in unittest.TestLoader().getTestCaseNames(Contract) if OPTIONS.only in name]
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(map(Contract, names)))
    sys.exit(not result.wasSuccessful())


if __name__ == '__main__':
    main()
