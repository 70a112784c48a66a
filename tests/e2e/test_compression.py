"""Answers of tour --compression and of `coded`, byte by byte, and what other decoders make of them."""
# needs: chromium curl npm
import hashlib
import json
import os
import threading
import time
import unittest

from coding import CODINGS, Flowing, decode, decode_by_command, node, run
from wire import KIB, MIB, OVER_HTTP2, Case, Lost, Shared, curl, in_threads, is_sanitized, links_of, pattern, request

SIZES = (0, 1, 64 * KIB, 8 * MIB)


def accept(value):
    return f'Accept-Encoding: {value}'


class Tour(Shared):
    program = 'tour'

    @classmethod
    def options(cls):
        return ('--compression',)

    def get(self, path, coding, *headers, method='GET'):
        return self.server.get(path, *([accept(coding)] if coding is not None else []), *headers, method=method)

    def assertCoded(self, response, coding, text, status=200):
        self.assertEqual((response.status, response.header('content-encoding')), (status, coding), response)
        self.assertEqual((response.header('content-length'), response.header('transfer-encoding')), (None, 'chunked'))
        self.assertEqual(response.header('vary'), 'accept-encoding')
        self.assertIsNone(response.header('accept-ranges'))
        self.assertEqual(decode(coding, response.body), text)

    def assertPlain(self, response, text=None, status=200):
        self.assertEqual((response.status, response.header('content-encoding')), (status, None), response)
        self.assertEqual(response.header('vary'), 'accept-encoding')
        if text is not None:
            self.assertEqual(response.body, text)


class Negotiation(Tour):
    def test_table(self):
        table = {None: None, '': None, 'gzip': 'gzip', 'x-gzip': 'gzip', 'DEFLATE': 'deflate', 'br': 'br', 'zstd': 'zstd',
                 'gzip, deflate, br, zstd': 'zstd', 'gzip, deflate, br': 'br', 'zstd;q=0.1, *;q=0.9': 'br', '*': 'zstd',
                 'gzip;q=0.5, identity;q=0.5': 'gzip', 'gzip;q=0.1, identity': None, 'gzip;q=0': None, 'identity;q=0, br': 'br',
                 '*;q=0, deflate': 'deflate', 'gzip;q=2': None, 'gzip;q=nan, br;q=0.3': 'br', 'gz ip, br;q=0.3': 'br'}
        with self.server.connect() as wire:
            for value, coding in table.items():
                with self.subTest(value):
                    response = wire.ask(request('GET', '/hello', *([accept(value)] if value is not None else [])))
                    if coding:
                        self.assertCoded(response, coding, b'Hello, World!')
                    else:
                        self.assertPlain(response, b'Hello, World!')
                        self.assertEqual(response.header('content-length'), '13')

    def test_lines_of_the_header(self):
        self.assertCoded(self.get('/hello', 'gzip;q=0.5', 'X: y', accept('br')), 'br', b'Hello, World!')

    def test_406(self):
        for value in ('compress', 'identity;q=0', '*;q=0', 'compress, snappy'):
            with self.subTest(value):
                response = self.get('/hello', value)
                self.assertProblem(response, 406)
                self.assertPlain(response, status=406)
                self.assertEqual(response.header('accept-encoding'), 'zstd, br, gzip, deflate')
        # Before the handler runs, and whatever is asked for.
        self.assertEqual(self.get('/slow/60000', 'compress').status, 406)
        self.assertEqual(self.get('/nowhere', 'compress').status, 406)
        response = self.get('/hello', 'compress', method='HEAD')
        self.assertEqual((response.status, response.body), (406, b''))


class Left(Tour):
    def test_errors(self):
        for path, status in (('/nowhere', 404), ('/status/500', 500), ('/add/x/1', 400), ('/errno/5', 500)):
            with self.subTest(path):
                response = self.get(path, 'gzip')
                self.assertEqual((response.status, response.header('content-type')), (status, 'application/problem+json'))
                plain = self.get(path, None)
                self.assertCoded(response, 'gzip', plain.body, status)
        response = self.get('/hello', 'br', method='POST')
        self.assertEqual(set(response.header('allow').split(', ')), {'GET', 'HEAD', 'OPTIONS'})
        self.assertEqual(json.loads(decode('br', response.body))['status'], 405)

    def test_without_a_body(self):
        for status in (204, 304):
            self.assertPlain(self.get(f'/status/{status}', 'gzip'), b'', status)
        self.assertPlain(self.get('/hello', 'gzip', method='OPTIONS'), b'', 204)

    def test_left_alone(self):
        response = self.get('/preset', 'br')
        self.assertEqual((response.header('content-encoding'), response.header('etag')), ('gzip', '"v1"'))
        self.assertEqual(decode('gzip', response.body), b'compressed before anybody asked\n')
        self.assertPlain(self.get('/no-transform', 'br'), self.get('/no-transform', None).body)
        self.write('a.png', pattern(5000))
        self.assertPlain(self.get('/files/a.png', 'br'), pattern(5000))

    def test_head_is_that_of_get(self):
        self.write('a.txt', 'text' * 1000)
        for path in ('/hello', '/text/100000', '/stream/3', '/files/a.txt', '/nowhere', '/preset', '/no-transform', '/headers',
                     '/status/204', '/random/100'):
            for coding in ('zstd', 'gzip', None):
                with self.subTest(path=path, coding=coding):
                    get, head = self.get(path, coding), self.get(path, coding, method='HEAD')
                    self.assertEqual(head.status, get.status)
                    self.assertEqual([h for h in head.headers if h[0] != 'date'], [h for h in get.headers if h[0] != 'date'])
                    self.assertEqual(head.body, b'')
        # The gateway can't tell a head without a length from one of a stream.
        response = self.get('/health', 'gzip', method='HEAD')
        self.assertEqual([name for name, _ in response.headers],
                         ['server', 'date', 'x-health', 'vary'] + ['transfer-encoding'] * OVER_HTTP2)

    def test_files(self):
        text = self.write('b.txt', b'some text\n' * 5000)
        plain = self.get('/files/b.txt', None)
        self.assertPlain(plain, text)
        self.assertEqual(plain.header('accept-ranges'), 'bytes')
        etag = plain.header('etag')
        coded = self.get('/files/b.txt', 'br')
        self.assertCoded(coded, 'br', text)
        self.assertEqual(coded.header('etag'), 'W/' + etag)
        for value in (etag, 'W/' + etag, '*'):
            response = self.get('/files/b.txt', 'br', f'If-None-Match: {value}')
            self.assertPlain(response, b'', 304)
            self.assertEqual(response.header('etag'), 'W/' + etag)
        # A weak etag never matches here.
        self.assertEqual(self.get('/files/b.txt', 'br', f'If-Match: W/{etag}').status, 412)
        part = self.get('/files/b.txt', 'br', 'Range: bytes=10-19')
        self.assertPlain(part, b'some text\n', 206)
        self.assertEqual(part.header('content-range'), 'bytes 10-19/50000')
        self.assertCoded(self.get('/files/b.txt', 'br', 'Range: bytes=0-9', f'If-Range: W/{etag}'), 'br', text)
        several = self.get('/files/b.txt', 'br', 'Range: bytes=0-9,20-29')
        self.assertPlain(several, status=206)
        self.assertRegex(several.header('content-type'), 'multipart/byteranges')
        self.assertPlain(self.get('/files/b.txt', 'br', 'Range: bytes=50000-'), status=416)


class Framing(Tour):
    def test_http_1_0(self):
        for keep in ((), ('Connection: keep-alive',)):
            with self.server.connect() as wire:
                wire.send(request('GET', '/text/100000', accept('gzip'), *keep, version='1.0'))
                response = wire.read()
                self.assertTrue(response.closes)
                self.assertIsNone(response.header('transfer-encoding'))
                self.assertIsNone(response.header('content-length'))
                self.assertEqual(decode('gzip', response.body), self.get('/text/100000', None).body)

    def test_pipelined(self):
        paths = ['/hello', '/text/70000', '/stream/5', '/nowhere', '/files/p.txt', '/status/204', '/text/0'] * 3
        self.write('p.txt', b'text' * 5000)
        want = [self.get(path, None).body for path in paths]
        with self.server.connect() as wire:
            wire.send(b''.join(request('GET', path, accept(CODINGS[i % 4])) for i, path in enumerate(paths)))
            for i, text in enumerate(want):
                response = wire.read()
                if response.status != 204:
                    self.assertCoded(response, CODINGS[i % 4], text, response.status)

    def test_keep_alive_and_close(self):
        with self.server.connect() as wire:
            for _ in range(3):
                self.assertFalse(wire.ask(request('GET', '/stream/3', accept('zstd'))).closes)
            self.assertTrue(wire.ask(request('GET', '/stream/3', accept('zstd'), 'Connection: close')).closes)
            self.assertClosed(wire)

    def test_a_stream_that_breaks_is_cut(self):
        server = self.serve(program='coded')
        for coding in CODINGS:
            with server.connect() as wire:
                wire.send(request('GET', '/broken', accept(coding)))
                with self.assertRaises(Lost):
                    wire.read()


class Decoders(Tour):
    """Whoever is not ours reads what we send."""

    def bodies(self):
        for size in SIZES:
            text = self.get(f'/text/{size}', None).body
            self.assertEqual(len(text), size)
            yield size, text

    def test_commands_and_zlib(self):
        for size, text in self.bodies():
            for coding in CODINGS:
                with self.subTest(size=size, coding=coding):
                    body = self.get(f'/text/{size}', coding).body
                    self.assertEqual(decode(coding, body), text)
                    if coding != 'deflate':
                        self.assertEqual(decode_by_command(coding, body), text)
                    if size > MIB:
                        self.assertLess(len(body), size / 3)

    def test_noise(self):
        text = self.get('/random/300000', None).body
        for coding in CODINGS:
            body = self.get('/random/300000', coding).body
            self.assertEqual(decode(coding, body), text)
            self.assertLess(len(body), 301000)

    def test_files(self):
        for size in SIZES:
            text = self.write('f.txt', (b'%d some text\n' % size * (1 + size // 13))[:size])
            os.utime(self.path('f.txt'), (1000000000, 1000000000 + size))
            for _ in range(2):
                for coding in CODINGS:
                    self.assertCoded(self.get('/files/f.txt', coding), coding, text)

    def test_curl(self):
        url = f'http://127.0.0.1:{self.server.port}'
        for size, text in self.bodies():
            for coding in (None, *CODINGS):
                with self.subTest(size=size, coding=coding):
                    done = curl('--compressed', '-D', self.path('head'), *(['-H', accept(coding)] if coding else []), f'{url}/text/{size}')
                    self.assertEqual(done.stdout, text)
                    with open(self.path('head'), encoding='latin-1', newline='') as file:
                        self.assertRegex(file.read(), r'(?m)^content-encoding: %s\r$' % (coding or '(zstd|br|gzip)'))
        self.assertEqual(curl('--compressed', f'{url}/stream/1000').stdout, self.get('/stream/1000', None).body)

    def test_node(self):
        for size, text in self.bodies():
            for coding in CODINGS:
                with self.subTest(size=size, coding=coding):
                    self.assertEqual(run(node('stdin', coding), self.get(f'/text/{size}', coding).body), text)

    def test_chromium(self):
        if not os.path.exists(os.environ.get('EDDY_CHROMIUM', '/usr/bin/chromium')):
            self.skipTest('needs Chromium')
        paths = [f'/text/{size}' for size in SIZES] + ['/stream/1000']
        want = [(len(text), hashlib.sha256(text).hexdigest()) for text in (self.get(path, None).body for path in paths)]
        urls = []
        for coding in CODINGS:
            config = self.path(f'{coding}.toml')
            with open(config, 'w', encoding='ascii') as file:
                file.write(f'[compression]\norder = ["{coding}"]\n')
            server = self.serve('--compression', '--config', config, program='tour')
            urls += [f'http://127.0.0.1:{server.port}{path}' for path in paths]
        lines = run(node('fetch', *urls), b'').splitlines()
        self.assertEqual([json.loads(line) for line in lines], [[coding, *sums] for coding in CODINGS for sums in want])

    def test_chromium_reads_lines_as_they_are_written(self):
        if not os.path.exists(os.environ.get('EDDY_CHROMIUM', '/usr/bin/chromium')):
            self.skipTest('needs Chromium')
        server = self.serve(program='coded')
        read = run(node('lines', *(f'http://127.0.0.1:{server.port}/{coding}/lines/5' for coding in CODINGS)), b'').splitlines()
        text = ''.join(f'line {i}\n' for i in range(1, 6))
        self.assertEqual([json.loads(line) for line in read], [[coding, text] for coding in CODINGS])


class Streams(Tour):
    def test_lines(self):
        for lines in (0, 1, 5, 3000):
            text = b''.join(b'line %d\n' % i for i in range(1, lines + 1))
            for coding in CODINGS:
                with self.subTest(lines=lines, coding=coding):
                    self.assertCoded(self.get(f'/stream/{lines}', coding), coding, text)

    def test_each_line_comes_before_the_next_is_written(self):
        for coding in CODINGS:
            flowing = Flowing(coding)
            self.addCleanup(flowing.close)
            with self.subTest(coding), self.server.connect() as wire:
                wire.send(request('POST', '/echo', accept(coding), 'Content-Type: text/plain', 'Transfer-Encoding: chunked'))
                for i in range(20):
                    line = f'line {i} of {coding}\n'.encode() * (1 + i * i)
                    # Nothing is sent before all of the last one has been read.
                    wire.send(b'%x\r\n%s\r\n' % (len(line), line))
                    if not i:
                        self.assertEqual(wire.read_head().header('content-encoding'), coding)
                    text = b''
                    while len(text) < len(line):
                        text += flowing.feed(wire.take(int(wire.take_line(), 16)), 0)
                        wire.take(2)
                        if flowing.process:
                            text += flowing.feed(b'', len(line) - len(text))
                    self.assertEqual(text, line)
                wire.send(b'0\r\n\r\n')
                wire.read_chunked()

    def test_a_slow_reader_of_much(self):
        """What it does not take is not made."""
        for coding in CODINGS:
            with self.subTest(coding), self.server.connect(rcvbuf=4096) as wire:
                before = self.server.rss()
                wire.send(request('GET', f'/random/{256 * MIB}', accept(coding)))
                self.assertEqual(wire.read_head().header('content-encoding'), coding)
                for _ in range(20):
                    wire.take(10000)
                    self.assertLess(self.server.rss() - before, (40 if is_sanitized() else 8) * MIB)
                wire.reset()

    def test_those_who_vanish_leave_nothing(self):
        self.write('v.txt', b'some text' * 1000000)
        os.utime(self.path('v.txt'), (1, 1))

        def vanish(i):
            path = ('/text/20000000', '/stream/100000', '/files/v.txt')[i % 3]
            with self.server.connect(rcvbuf=4096) as wire:
                wire.send(request('GET', path, accept(CODINGS[i % 4])))
                wire.read_head()
                wire.take(100)
                wire.reset()

        def many():
            in_threads(8, lambda i: [vanish(i + 8 * j) for j in range(6)])
        many()
        self.eventually(lambda: self.server.sockets() <= 3, what='sockets are left')
        self.get('/hello', None)
        descriptors, rss = self.server.held(), self.server.rss()
        many()
        self.eventually(lambda: self.server.held() <= descriptors + 1, what=lambda: f'{self.server.held()} descriptors')
        if not is_sanitized():
            self.assertLess(self.server.rss() - rss, 4 * MIB)
        # Nothing that was broken off is kept as if it were whole.
        for coding in CODINGS:
            self.assertCoded(self.get('/files/v.txt', coding), coding, b'some text' * 1000000)


class Kept(Tour):
    """Files that are kept as they were coded."""

    def make(self, name, text, when=1000000000):
        self.write(name, text)
        os.utime(self.path(name), (when, when))
        time.sleep(0.04)   # what changed within a tick of the kernel's clock is not kept
        return text

    def kept(self):
        return sum('eddy-coded' in link for link in links_of(self.server.pid))

    def test_hits_and_changes(self):
        before = self.kept()
        text = self.make('k.txt', b'some text\n' * 40000)
        first = self.get('/files/k.txt', 'gzip')
        self.assertEqual(self.kept(), before + 1)
        for _ in range(3):
            again = self.get('/files/k.txt', 'gzip')
            self.assertEqual((again.body, again.headers[2:]), (first.body, first.headers[2:]))
        self.assertCoded(first, 'gzip', text)
        text = self.make('k.txt', b'other text' * 40000, 1000000001)
        self.assertCoded(self.get('/files/k.txt', 'gzip'), 'gzip', text)
        os.unlink(self.path('k.txt'))
        self.assertEqual(self.get('/files/k.txt', 'gzip').status, 404)
        text = self.make('k.txt', b'third text' * 40000, 1000000002)
        self.assertCoded(self.get('/files/k.txt', 'gzip'), 'gzip', text)

    def test_a_file_that_shrinks_is_cut(self):
        before = self.kept()
        for coding in CODINGS:
            text = self.make('z.txt', pattern(16 * MIB).hex().encode())
            with self.subTest(coding), self.server.connect(rcvbuf=4096) as wire:
                wire.send(request('GET', '/files/z.txt', accept(coding)))
                self.assertEqual(wire.read_head().header('content-encoding'), coding)
                os.truncate(self.path('z.txt'), 1000)
                with self.assertRaises(Lost):
                    wire.read_chunked()
        self.assertEqual(self.kept(), before)
        self.assertCoded(self.get('/files/z.txt', 'gzip'), 'gzip', text[:1000])

    def test_of_a_file_that_grows_comes_what_was_there(self):
        before = self.kept()
        text = self.make('w.txt', pattern(8 * MIB).hex().encode())
        with self.server.connect(rcvbuf=4096) as wire:
            wire.send(request('GET', '/files/w.txt', accept('gzip')))
            wire.read_head()
            with open(self.path('w.txt'), 'ab') as file:
                file.write(b'more')
            self.assertEqual(decode('gzip', wire.read_chunked()), text)
        self.assertEqual(self.kept(), before)
        self.assertCoded(self.get('/files/w.txt', 'gzip'), 'gzip', text + b'more')

    def test_many_at_once(self):
        text = self.make('m.txt', b'some text, ' * 400000)

        def ask(i):
            coding = CODINGS[i % 4]
            for _ in range(3):
                self.assertCoded(self.get('/files/m.txt', coding), coding, text)
        in_threads(16, ask)

    def test_http_1_0_gets_it_as_well(self):
        text = self.make('o.txt', b'some text\n' * 40000)
        for _ in range(2):
            with self.server.connect() as wire:
                wire.send(request('GET', '/files/o.txt', accept('gzip'), version='1.0'))
                self.assertEqual(decode('gzip', wire.read().body), text)

    def test_a_slow_reader_does_not_hold_another_one(self):
        text = self.make('s.txt', pattern(3 * MIB).hex().encode())
        with self.server.connect(rcvbuf=4096) as slow:
            slow.send(request('GET', '/files/s.txt', accept('gzip')))
            head = slow.read_head()
            self.assertCoded(self.get('/files/s.txt', 'gzip'), 'gzip', text)
            self.assertEqual(head.header('content-encoding'), 'gzip')
            self.assertEqual(decode('gzip', slow.read_chunked()), text)
        self.assertCoded(self.get('/files/s.txt', 'gzip'), 'gzip', text)


class Siblings(Case):
    def test_what_lies_beside_a_file_goes_first(self):
        tree = self.folder()
        files = {'a.css': b'plain, ' * 100, 'a.css.gz': b'made before', 'b.css': b'alone, ' * 100}
        for name, data in files.items():
            with open(os.path.join(tree, name), 'wb') as file:
                file.write(data)
        server = self.serve('--tree', tree, '--compression', program='limits')
        for name, value, coding, made in (('a.css', 'gzip', 'gzip', True), ('a.css', 'br, gzip', 'gzip', True), ('a.css', 'br', 'br', False),
                                          ('a.css', 'br, gzip;q=0', 'br', False), ('b.css', 'gzip', 'gzip', False), ('a.css', 'identity', None, False)):
            with self.subTest((name, value)):
                response = server.get('/tree/' + name, accept(value))
                self.assertEqual((response.status, response.all('content-encoding')), (200, [coding] if coding else []))
                self.assertEqual(response.all('vary'), ['accept-encoding'])
                self.assertEqual(response.header('etag').startswith('W/'), bool(coding) and not made)
                self.assertEqual(response.header('content-length') is None, bool(coding) and not made)
                body = decode(coding, response.body) if coding and not made else response.body
                self.assertEqual(body, files['a.css.gz'] if made else files[name])


class Settings(Case):
    def config(self, text):
        path = os.path.join(self.folder(), 'tour.toml')
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
        return path

    def test_section(self):
        path = self.config('[compression]\norder = ["gzip", "br"]\ngzip_level = 1\nsize_min = 100\nleave_types = ["text/x-*"]\nno_cache = true\n')
        server = self.serve('--compression', '--config', path, program='tour')
        self.assertEqual(server.get('/text/1000', accept('zstd, br, gzip')).header('content-encoding'), 'gzip')
        self.assertIsNone(server.get('/text/99', accept('gzip')).header('content-encoding'))
        response = server.get('/text/1000', accept('zstd'))
        self.assertEqual((response.status, response.header('accept-encoding')), (406, 'gzip, br'))

    def test_section_alone_compresses_nothing(self):
        server = self.serve('--config', self.config('[compression]\norder = ["gzip"]\n'), program='tour')
        response = server.get('/text/1000', accept('gzip'))
        self.assertEqual((response.header('content-encoding'), response.header('vary')), (None, None))

    def test_mistakes(self):
        for line, said in (('order = ["lzma"]', r'toml:\d+: \[compression\] order may only have zstd, br, gzip and deflate'),
                           ('br_level = 12', r'toml:3: \[compression\] br_level'),
                           ('level = 1', r'toml:3: \[compression\] unknown key "level"')):
            with self.subTest(line):
                server = self.serve('--compression', '--config', self.config(f'[compression]\n\n{line}\n'), program='tour', start=False)
                self.assertEqual(server.wait(), 1)
                server.process.stderr.close()
                self.assertRegex(server.log, said)

    def test_with_other_switches(self):
        folder = self.folder()
        server = self.serve('--compression', '--workers', 3, '--dir', folder, '--max-size', 1000, program='tour')
        text = server.get('/text/100000').body
        for _ in range(6):
            self.assertEqual(decode('zstd', server.get('/text/100000', accept('zstd')).body), text)
        response = server.ask(request('PUT', '/files/a', accept('gzip'), body='x' * 1000))
        self.assertEqual((response.status, json.loads(decode('gzip', response.body))), (201, {'name': 'a', 'size': 1000}))
        self.assertEqual(server.ask(request('PUT', '/files/b', accept('gzip'), body='x' * 1001)).status, 413)
        response = server.ask(request('TRACE', '/trace', accept('gzip')))
        self.assertEqual((response.status, decode('gzip', response.body)), (200, b''))
        response = server.ask(request('POST', '/json', accept('br'), 'Content-Type: application/json', body='[1, 2]'))
        self.assertEqual(decode('br', response.body), b'[1,2]')
        plain = self.serve('--dir', folder, program='tour').get('/hello', accept('gzip'))
        self.assertEqual((plain.header('content-encoding'), plain.header('vary')), (None, None))

    def test_groups_and_routes(self):
        server = self.serve(program='coded')
        for path, value, coding in (('/text/50', 'zstd, br, gzip', 'zstd'), ('/gzip/text/50', 'zstd, br, gzip', 'gzip'),
                                    ('/gzip/br/50', 'zstd, br, gzip', 'br'), ('/gzip/br/50', 'gzip;q=0.5, zstd', 'zstd'),
                                    ('/large/999', 'br', None), ('/large/1000', 'br', 'br'), ('/gzip/br/50', 'br, identity;q=0', 'br')):
            with self.subTest((path, value)):
                response = server.get(path, accept(value))
                self.assertEqual((response.status, response.header('content-encoding'), response.header('vary')),
                                 (200, coding, 'accept-encoding'))
                text = decode(coding, response.body) if coding else response.body
                self.assertEqual(text, (b'some text\n' * 100)[:len(text)])
                self.assertEqual(len(text), int(path.rpartition('/')[2]))
        response = server.get('/gzip/text/50', accept('br'))
        self.assertEqual((response.status, response.header('accept-encoding')), (406, 'gzip'))


class Others(Case):
    def test_are_served_while_much_is_coded(self):
        server = self.serve('--compression', program='tour')
        stop, waits = threading.Event(), []

        def drain():
            with server.connect(timeout=60) as wire:
                wire.send(request('GET', f'/text/{4096 * MIB}', accept('br')))
                while not stop.is_set():
                    wire.socket.recv(MIB)
                wire.reset()
        thread = threading.Thread(target=drain)
        thread.start()
        with server.connect() as wire:
            for _ in range(200):
                began = time.monotonic()
                wire.ask(request('GET', '/hello'))
                waits.append(time.monotonic() - began)
        stop.set()
        thread.join()
        self.assertLess(sorted(waits)[100], 0.2 if is_sanitized() else 0.05)


if __name__ == '__main__':
    unittest.main()
