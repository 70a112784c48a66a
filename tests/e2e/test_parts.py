"""Forms part by part, by the program limits: whole, in pieces, broken, too large, not read."""
import base64
import json
import os
import time
import unittest

from wire import MIB, Case, Shared, chunked, form, in_threads, is_sanitized, part, pattern, request

VECTORS = os.environ.get('EDDY_VECTORS')


class Parts(Case):
    def setUp(self):
        self.dir = self.folder()
        self.server = self.limits(dir=self.dir)

    def names(self):
        return sorted(os.listdir(self.dir))

    def post(self, how, *parts, **options):
        return self.server.ask(form(*parts, path=f'/parts/{how}', **options))

    def said(self, how, *parts, **options):
        response = self.post(how, *parts, **options)
        self.assertEqual(response.status, 200, response)
        return response.json()

    def content(self, name):
        with open(os.path.join(self.dir, name), 'rb') as file:
            return file.read()

    def test_headers_of_a_part(self):
        for sent, expected in (
                (part('a', 'x'), ('a', None, None, None)), (part('', 'x'), ('', None, None, None)),
                (part('a', 'x', 'f.txt', 'Content-Type: text/plain; charset=x'), ('a', 'f.txt', 'f.txt', 'text/plain; charset=x')),
                (part('a', 'x', ''), ('a', '', None, None)), (part('a', 'x', '../../b'), ('a', '../../b', 'b', None)),
                (part('a', 'x', 'C:\\\\dir\\\\b'), ('a', 'C:\\dir\\b', 'b', None)), (part('a', 'x', '..'), ('a', '..', None, None)),
                (part('a', 'x', 'y' * 256), ('a', 'y' * 256, None, None)), (part('a', 'x', '.b'), ('a', '.b', 'b', None)),
                (part('a', 'x', None, 'X-Other: y', 'content-transfer-encoding: base64'), ('a', None, None, None)),
                (b"Content-Disposition: form-data; name=a; filename=b; filename*=UTF-8''%c3%bc\r\n\r\nx", ('a', 'ü', 'ü', None)),
                (b'Content-Disposition: form-data; name="a"; filename="\xfc"\r\n\r\nx', ('a', 'ü', None, None))):
            with self.subTest(sent):
                said = self.said('read', sent)
                self.assertEqual([(p['field'], p['filename'], p['safe'], p['type'], p['text']) for p in said], [(*expected, 'x')])

    def test_in_order(self):
        names = [f'n{i}' for i in range(64)]
        said = self.said('read', *[part(name, name * 3) for name in names])
        self.assertEqual([(p['field'], p['text']) for p in said], [(name, name * 3) for name in names])
        self.assertEqual(self.said('read'), [])

    def test_save(self):
        data = pattern(300000)
        said = self.said('save', part('t', 'text'), part('f', data, 'x'), part('e', ''), part('g', '', 'empty'), part('f', b'2', 'x'))
        self.assertEqual([p.get('text') for p in said], ['text', None, '', None, None])
        self.assertEqual([(p['saved'], p['size'], p['replaced']) for p in said if 'saved' in p], [('x', 300000, False), ('empty', 0, False), ('x', 1, True)])
        self.assertEqual(self.names(), ['empty', 'x'])
        self.assertEqual(self.content('x'), b'2')

    def test_published_when_it_has_arrived(self):
        """A part is there before the form has ended, and stays when the form breaks."""
        body = form(part('f', 'one', 'a'), part('f', 'two', 'b'), path='/parts/save')
        with self.server.connect() as wire:
            wire.send(body[:body.index(b'two')])
            self.eventually(lambda: self.names() == ['a'], what=lambda: str(self.names()))
            wire.send(b'tw')
            self.assertEqual(self.names(), ['a'])
            wire.end()
            self.assertProblem(wire.read(), 400)
        self.assertEqual(self.names(), ['a'])
        self.assertEqual(self.content('a'), b'one')

    def test_not_before(self):
        """All of its bytes are here, but not yet the delimiter that says so."""
        body = form(part('f', 'one', 'a'), path='/parts/save')
        for cut in (body.index(b'one') + 3, body.index(b'\r\n--xYz--') + 7):
            with self.server.connect() as wire:
                wire.send(body[:cut])
                wire.end()
                self.assertProblem(wire.read(), 400)
            self.assertEqual(self.names(), [])

    def test_bad_name(self):
        for name in (b'..', b'\xff', b'a\x01', b'x' * 256):
            sent = part('f', 'x', 'NAME').replace(b'NAME', name)
            self.assertProblem(self.post('save', sent), 400, 'malformed' if b'\x01' in name else 'no valid file name')
            self.assertEqual(self.names(), [])

    def test_failure_that_the_handler_survives(self):
        """no_replace and a limit for one part; the parts behind it are read all the same."""
        said = self.said('once', part('f', '1', 'a'), part('f', '2', 'a'), part('f', 'x' * 1001, 'b'), part('f', 'x' * 1000, 'c'), part('t', 't'))
        self.assertEqual([p['error'] for p in said], [0, 17, 27, 0, 0])
        self.assertEqual(said[4]['text'], 't')
        self.assertEqual(self.names(), ['a', 'c'])
        self.assertEqual(self.content('a'), b'1')

    def test_what_is_not_read_is_skipped(self):
        data = pattern(3 * MIB)
        for framed in (True, False):
            with self.server.connect() as wire:
                response = wire.ask(form(part('a', data, 'x'), part('b', 'text'), part('c', data), path='/parts/skip', framed=framed))
                self.assertEqual([p['field'] for p in response.json()], ['a', 'b', 'c'])
                response = wire.ask(form(part('a', data), part('b', 'te'), part('c', data), path='/parts/half', framed=framed))
                self.assertEqual([p['text'] for p in response.json()][1], 'te')
                self.assertServes(wire)
        self.assertEqual(self.names(), [])

    def test_rest_of_a_part_is_empty(self):
        said = self.said('twice', part('a', 'data', 'x'), part('b', 'more', 'y'))
        self.assertEqual([p['saved'] for p in said], ['x', 'y'])
        self.assertEqual((self.content('x'), self.content('y'), self.content('rest')), (b'data', b'more', b''))

    def test_part_of_the_past_is_empty(self):
        said = self.said('stale', part('a', 'data'), part('b', 'more'), part('c', 'last'))
        self.assertEqual([(p['stale'], p['text']) for p in said], [(None, 'data'), (0, 'more'), (0, 'last')])

    def test_answer_before_the_end(self):
        with self.server.connect() as wire:
            response = wire.ask(form(part('a', 'data', 'x'), part('b', pattern(100000), 'y'), path='/parts/first'))
            self.assertEqual((response.status, len(response.json())), (200, 1))
            self.assertServes(wire)     # it was not too much to be thrown away
        self.assertEqual(self.names(), ['x'])

    def test_split_at_every_byte(self):
        data = form(part('f', 'x\r\n--xY', 'a'), part('g', '\r\n'), part('h', '', 'b'), path='/parts/save')
        start = data.index(b'\r\n\r\n') + 4
        with self.server.connect() as wire:
            for at in range(start, len(data)):
                wire.send(data[:at])
                time.sleep(0.0005)
                wire.send(data[at:])
                said = wire.read().json()
                self.assertEqual([(p.get('saved'), p.get('text')) for p in said], [('a', None), (None, '\r\n'), ('b', None)], at)
                self.assertEqual(self.content('a'), b'x\r\n--xY')

    def test_other_types(self):
        for value, status in (('text/plain', 415), ('multipart/mixed; boundary=x', 415), ('multipart/form-data', 400), ('', 415),
                              ('multipart/form-data; boundary=', 400), ('multipart/form-data; boundary=' + 'x' * 71, 400)):
            with self.subTest(value):
                for path in ('/parts/read', '/save-all'):
                    self.assertProblem(self.server.ask(request('POST', path, f'Content-Type: {value}', body='x')), status)
        self.assertProblem(self.server.ask(request('POST', '/parts/read', body='x')), 415)

    def test_malformed(self):
        good = form(part('f', 'x' * 100, 'a'), path='/parts/read').partition(b'\r\n\r\n')[2]
        for bad in (good[:-10], good[:20], b'nonsense', good.replace(b': form', b' form'), good.replace(b'form-data', b'attachment')):
            with self.subTest(bad), self.server.connect() as wire:
                ask = request('POST', '/parts/read', 'Content-Type: multipart/form-data; boundary=xYz', body=bad)
                self.assertProblem(wire.ask(ask), 400, 'malformed')
                self.assertServes(wire)

    def test_limits_of_parts(self):
        self.assertProblem(self.post('skip', *[part('f', 'x')] * 65), 413)
        self.assertProblem(self.post('skip', part('f', 'x', None, 'X: ' + 'y' * 8200)), 400)
        self.assertEqual(len(self.said('skip', part('f', 'x', None, 'X: ' + 'y' * 8000))), 1)

    def test_part_header_max(self):
        server = self.limits(dir=self.dir, part_header_max=200)
        for size, status in ((50, 200), (200, 400)):
            ask = form(part('f', 'x', None, 'X: ' + 'y' * size), path='/parts/skip')
            self.assertEqual(server.ask(ask).status, status)

    def test_field_max(self):
        data = 'x' * 65536
        self.assertEqual(self.said('save', part('f', data))[0]['text'], data)
        for framed in (True, False):
            self.assertProblem(self.post('save', part('f', data + 'x'), framed=framed), 413)
        server = self.limits(dir=self.dir, field_max=10)
        for size, status in ((10, 200), (11, 413)):
            self.assertEqual(server.ask(form(part('f', 'x' * size), path='/parts/save')).status, status)

    def test_file_max(self):
        """Of the whole body, headers and all, whoever reads it."""
        server = self.limits(dir=self.dir, file_max=1000)
        for how in ('save', 'skip', 'read'):
            for framed in (True, False):
                parts = part('f', 'x' * 500, 'a'), part('f', 'x' * 500, 'b')
                response = server.ask(form(*parts, path=f'/parts/{how}', framed=framed))
                self.assertProblem(response, 413)
                self.assertEqual(server.ask(form(parts[0], path=f'/parts/{how}', framed=framed)).status, 200)
        self.assertEqual(self.names(), ['a'])

    def test_file_max_of_many_reads(self):
        server = self.limits(dir=self.dir, file_max=150000)
        for size, status in ((140000, 200), (160000, 413)):
            with server.connect() as wire:
                wire.try_send(form(part('f', pattern(size), 'a'), path='/parts/save', framed=False))
                self.assertEqual(wire.read().status, status)
        self.assertEqual(os.path.getsize(os.path.join(self.dir, 'a')), 140000)

    def test_announced_length(self):
        """What is too long is refused before any of it is read."""
        server = self.limits(dir=self.dir, file_max=1000)
        data = request('POST', '/parts/save', 'Content-Type: multipart/form-data; boundary=x', 'Content-Length: 1001', 'Expect: 100-continue')
        with server.connect() as wire:
            self.assertProblem(wire.ask(data), 413)

    def test_many_at_once(self):
        def work(i):
            data = pattern(200000 + i, i)
            said = self.said('save', part('t', str(i)), part('f', data, f'f{i}'), framed=i % 2 == 0)
            self.assertEqual((said[0]['text'], self.content(f'f{i}')), (str(i), data))
        in_threads(20, work)

    def test_broken_off(self):
        data = form(part('t', 'x' * 1000), part('f', pattern(200000), 'f'), path='/parts/save')
        for at in (200, 1100, 1200, 100000, len(data) - 12):
            wire = self.server.connect()
            wire.send(data[:at])
            wire.reset()
        self.assertEqual(self.server.get('/').status, 200)
        self.assertEqual(self.names(), [])

    @unittest.skipIf(is_sanitized(), 'the sanitizer has memory of its own')
    def test_memory(self):
        """Small copy of big_parts: what a part takes does not grow with it."""
        self.assertEqual(self.post('save', part('f', 'x', 'warm')).status, 200)
        before = self.server.peak()
        size = 48 * MIB
        with self.server.connect(timeout=60) as wire:
            head, _, body = form(part('f', 'DATA', 'x'), path='/parts/save').partition(b'\r\n\r\n')
            wire.send(head.replace(b'Content-Length: %d' % len(body), b'Content-Length: %d' % (len(body) - 4 + size)) + b'\r\n\r\n')
            wire.send(body[:body.index(b'DATA')])
            for _ in range(size // MIB):
                wire.send(pattern(MIB))
            wire.send(body[body.index(b'DATA') + 4:])
            self.assertEqual(wire.read().json()[0]['size'], size)
        self.assertLess(self.server.peak() - before, 8 * MIB)


class Vectors(Shared):
    program = 'limits'

    @unittest.skipUnless(VECTORS, 'needs EDDY_VECTORS')
    def test_whole_and_byte_by_byte(self):
        """The bodies of other projects' tests answer alike however they arrive, and never with 500."""
        with open(os.path.join(VECTORS, 'multipart', 'multipart_cases.json')) as file:
            cases = json.load(file)['cases']
        statuses, skipped = [], []
        for case in cases:
            body = base64.b64decode(case['body_b64'])
            kind = case['content_type']
            if any(ord(c) < 32 or ord(c) > 255 for c in kind):
                skipped.append(f'{case["src"]}: its content-type fits in no header')
                continue
            if len(body) > 20000:
                skipped.append(f'{case["src"]}: {len(body)} bytes are too many one by one')
                continue
            with self.subTest(case['src'], type=kind):
                head = ('POST', '/parts/read', f'Content-Type: {kind}')
                whole = self.server.ask(request(*head, f'Content-Length: {len(body)}', body=body))
                pieces = self.server.ask(request(*head, 'Transfer-Encoding: chunked', body=chunked(*[body[i:i + 1] for i in range(len(body))])))
                self.assertIn(whole.status, (200, 400, 413, 415))
                self.assertEqual((whole.status, whole.body), (pieces.status, pieces.body))
                statuses.append(whole.status)
        print(f'# {len(statuses)} of {len(cases)} cases, {statuses.count(200)} taken; skipped {skipped}')
        self.assertGreater(statuses.count(200), 20)


if __name__ == '__main__':
    unittest.main()
