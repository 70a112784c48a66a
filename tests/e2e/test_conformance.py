"""What conformance suites ask of a server: their cases, which EDDY_VECTORS has, sent to probe."""
import collections
import concurrent.futures
import json
import os
import re
import unittest

from wire import Lost, Shared, only_http1, request, to_bytes

QUIET = 0.4   # how long a server is watched that may keep silent


def vectors(name):
    folder = os.environ.get('EDDY_VECTORS')
    if not folder:
        raise unittest.SkipTest('EDDY_VECTORS is not set')
    path = os.path.join(folder, 'http1', name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f'{path} is not there')
    with open(path, encoding='utf-8') as file:
        return json.load(file)


class Suite(Shared):
    program = 'probe'

    def for_each(self, cases, check):
        """Check all cases, many at a time, and report every one that failed. `check` returns why, or nothing."""
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            bad = [f'{case!r:.300}: {why}' for case, why in zip(cases, pool.map(check, cases)) if why]
        self.assertEqual(bad, [], f'{len(bad)} of {len(cases)}')

    def skip_each(self, skipped):
        """Say what is not run, each reason once. In a test of its own: one that skips anything has not passed."""
        for why, count in collections.Counter(skipped).items():
            with self.subTest(f'{count} cases'):
                self.skipTest(why)

    def statuses(self, data):
        """Send `data` and no more, and read to the end. Return: the statuses of all responses; 100s are none."""
        with self.server.connect() as wire:
            wire.try_send(data)
            try:
                wire.end()
            except OSError:
                pass
            answers, said = [], wire.read_end()
            while said:
                head, _, said = said.partition(b'\r\n\r\n')
                status = int(re.match(rb'HTTP/1\.1 (\d{3}) ', head)[1])
                length = re.search(rb'(?i)\r\ncontent-length: (\d+)', head)
                if not data.startswith(b'HEAD') and length:
                    said = said[int(length[1]):]
                if status != 100:
                    answers.append(status)
            return answers


def expand(pieces):
    return b''.join(to_bytes(piece) if isinstance(piece, str) else to_bytes(piece['repeat']) * piece['n'] for piece in pieces)


def in_table(status, table):
    for key, verdict in table.items():
        low, _, high = key.partition('-')
        if low != 'else' and int(low) <= status <= int(high or low):
            return verdict
    return table['else']


def lines_of(*lines):
    return lambda response: response.body == ''.join(line + '\n' for line in lines).encode()


# Where the verdict depends on more than the status.
PROBE_CHECKS = {
    'COMP-POST-CL-BODY': lambda r: r.body == b'hello',
    'COMP-CHUNKED-BODY': lambda r: r.body == b'hello',
    'COMP-CHUNKED-MULTI': lambda r: r.body == b'hello world',
    'COMP-CHUNKED-EXTENSION': lambda r: r.body == b'hello',
    'COMP-CHUNKED-TRAILER-VALID': lambda r: r.body == b'hello',
    'COMP-CHUNKED-HEX-UPPERCASE': lambda r: r.body == b'helloworld',
    'COMP-HEAD-NO-BODY': lambda r: r.status == 200 and r.header('content-length') == '2',
    'COMP-405-ALLOW': lambda r: r.status == 405 and r.header('allow'),
    'COMP-DATE-HEADER': lambda r: r.header('date'),
    'COMP-DATE-FORMAT': lambda r: re.fullmatch(r'\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT', r.header('date')),
    'COMP-NO-CL-IN-204': lambda r: r.status == 204 and r.header('content-length') is None,
    'COMP-OPTIONS-ALLOW': lambda r: r.status == 204 and r.header('allow'),
    'COMP-CONTENT-TYPE': lambda r: r.header('content-type') == 'text/plain; charset=utf-8',
    'COOK-ECHO': lines_of('Host: localhost:8080', 'Cookie: foo=bar'),
    'COOK-MULTI-HEADER': lines_of('Host: localhost:8080', 'Cookie: a=1', 'Cookie: b=2'),
    'COOK-PARSED-BASIC': lines_of('foo=bar'),
    'COOK-PARSED-MULTI': lines_of('a=1', 'b=2', 'c=3'),
}

# Sequences that are not scored: what we answer, step by step. All others are refused at once.
PROBE_SEQUENCES = {
    'SMUG-GET-CL-PREFIX-DESYNC': [200, 200],
    'SMUG-CL0-BODY-POISON': [200, 501],
    'SMUG-GET-CL-BODY-DESYNC': [200, 200],
    'SMUG-OPTIONS-CL-BODY-DESYNC': [204, 200],
    'SMUG-EXPECT-100-CL-DESYNC': [200, 200],
    'SMUG-PIPELINE-SAFE': [200, 200],
}


class Http11Probe(Suite):
    """Every scored test passes, and of the others none fails."""

    def one(self, test):
        data, verdict = expand(test['send']), test['verdict']
        silence_is_good = verdict['no_response_timeout'] == 'Pass'
        with self.server.connect(timeout=QUIET if silence_is_good else 10) as wire:
            wire.try_send(data)
            try:
                response = wire.read(head=data.startswith(b'HEAD'))
            except TimeoutError:
                return verdict['no_response_timeout']
            except Lost:
                return verdict['no_response_closed']
            table = verdict['status']
            if response.closes:
                table = verdict.get('status_and_closed', table)
                if wire.read_end():
                    return 'more behind the last answer'
            if check := PROBE_CHECKS.get(test['id']):
                return 'Pass' if check(response) else f'not as it should be: {response}'
            if 'depends_on' in verdict:
                return 'no check'
            return in_table(response.status, table)

    def check(self, test):
        verdict = self.one(test)
        good = ('Pass',) if test['scored'] else ('Pass', 'Warn')
        return '' if verdict in good else verdict

    def check_sequence(self, test):
        steps = [b''.join(expand(part['send']) for part in step['parts']) for step in test['steps']]
        statuses = self.statuses(b''.join(steps))
        return '' if statuses == PROBE_SEQUENCES.get(test['id'], [400]) else statuses

    def test_requests(self):
        tests = [test for test in vectors('http11probe.json')['tests'] if 'send' in test]
        self.for_each(tests, self.check)

    @staticmethod
    def sequences(of_validators):
        return [test for test in vectors('http11probe.json')['tests'] if 'steps' in test and test['id'].startswith('CAP-') == of_validators]

    def test_sequences(self):
        self.for_each(self.sequences(False), self.check_sequence)

    def test_not_run(self):
        self.skip_each(['not scored, and about a resource with validators'] * len(self.sequences(True)))


class HttpStrict(Suite):
    """Apache's own, with HttpProtocolOptions Strict."""

    def check(self, case):
        expected, statuses = case['strict'], self.statuses(to_bytes(case['send']))
        if expected == 'drop':
            good = not statuses
        elif len(statuses) != 1:
            good = False
        elif expected == 'any success':
            good = 200 <= statuses[0] < 400
        elif expected == 'any error':
            good = statuses[0] >= 400
        else:
            good = statuses[0] == int(expected)
        return '' if good else f'{statuses}, not {expected}'

    @staticmethod
    def cases(of_apache):
        return [case for case in vectors('apache_http_strict.json')['cases'] if ('regression-header' in case['send']) == of_apache]

    def test_requests(self):
        self.for_each(self.cases(False), self.check)

    def test_not_run(self):
        self.skip_each(["a route of Apache's configuration"] * len(self.cases(True)))


# Valid for llhttp, and refused: why.
LLHTTP_REFUSED = {
    r'Content-Length: 003': 'a length has no zeros in front',
    r'Content-Length:( {2}|\t)42': 'a length has no blanks around',
    r'Host: 0\.0\.0\.0=5000': 'not a host',
    r'^M-SEARCH \*': 'only OPTIONS has the target *',
    r' (ICE|RTSP)/1\.0': 'another protocol',
    r'^GET /\r\n': 'no version',
    r'Transfer-Encoding: deflate': 'the only transfer coding is chunked',
    r'#posts': 'a fragment in the target',
    r'@hypnotoad': 'a user in the target',
    '[\u0080-\uffff] HTTP': 'bytes that are not ASCII in the target',
}
# A method that llhttp 8 does not know, and 9 does.
LLHTTP_NEWER = r'^QUERY'


class Llhttp(Suite):
    """llhttp's fixtures of requests. Where there is no Host, one is put in: llhttp does not ask for it."""

    @staticmethod
    def data(case):
        text = case['input']
        data = text.encode('utf-8' if max(text, default=' ') > '\xff' else 'latin-1')
        return re.sub(rb'(?m)^([A-Z-]+ [^\r\n]* HTTP/\d\.\d\r\n)(?!(?:[^\r\n]+\r\n)*(?i:host):)', rb'\1Host: localhost\r\n', data)

    @staticmethod
    def refused(case):
        return any(re.search(pattern, case['input']) for pattern in LLHTTP_REFUSED)

    def check_valid(self, case):
        statuses, count = self.statuses(self.data(case)), max(1, case['messages_complete'])
        refused = statuses in ([], [400], [501])
        if self.refused(case):
            return '' if refused else statuses
        if refused and re.search(LLHTTP_NEWER, case['input']):
            return ''
        return '' if len(statuses) >= count and not {400, 501} & set(statuses[:count]) else statuses

    def check_invalid(self, case):
        """Nothing behind the error is taken for a request."""
        return '' if len(self.statuses(self.data(case))) <= case['messages_complete'] + 1 else 'an answer too many'

    @staticmethod
    def sort(case):
        """Whether it is valid, invalid, or why it is not run."""
        code = (case['error'] or {}).get('code')
        if 'lenient' in case['type']:
            return 'a lenient mode, which is never on'
        if case['type'] == 'url':
            return 'no requests, but URLs'
        if case['type'] == 'request-finish':
            return 'about the call that ends the parser'
        if 'no body is received' in case['name']:
            return 'llhttp is told to expect no body'
        # 22: it stops for CONNECT and upgrades, which are not taken up.
        return 'valid' if code in (None, 22) else 'invalid'

    def cases(self, kind):
        return [case for case in vectors('llhttp_request_fixtures.json')['cases'] if self.sort(case) == kind]

    def test_valid(self):
        self.for_each(self.cases('valid'), self.check_valid)

    def test_invalid(self):
        self.for_each(self.cases('invalid'), self.check_invalid)

    def test_not_run(self):
        kinds = map(self.sort, vectors('llhttp_request_fixtures.json')['cases'])
        self.skip_each([kind for kind in kinds if kind not in ('valid', 'invalid')])

    def test_invalid_heads_are_400(self):
        """Those whose first head is whole and wrong."""
        in_the_body = 2, 5, 12
        cases = [case for case in self.cases('invalid') if case['error']['code'] not in in_the_body
                 and '\r\n\r\n' in case['input'] and not case['messages_complete']]
        self.for_each(cases, lambda case: '' if self.statuses(self.data(case)) in ([400], [501]) else 'not refused')


class Smuggler(Suite):
    """Transfer-Encoding in all disguises, beside a Content-Length: refused, or plainly something else."""
    ATTACKS = ('0\r\n\r\nX', 6), ('1\r\nZ\r\n0\r\n\r\n', 4)

    def check(self, gadget):
        header = gadget['header']
        other = re.fullmatch(r'(?!transfer-encoding)[!#-9;-~]+:[\t -~\x80-\xff]*', header, re.IGNORECASE)
        for body, length in self.ATTACKS:
            statuses = self.statuses(to_bytes(f'POST / HTTP/1.1\r\n{header}\r\nHost: localhost\r\n'
                                              f'Content-Length: {length}\r\n\r\n{body}'))
            # With a Content-Length that counts, what is behind the body is no request.
            if statuses != [400] and not (other and statuses[0] in (200, 415) and statuses[1:] in ([], [400])):
                return statuses
        return ''

    def test_gadgets(self):
        gadgets = vectors('smuggler_te_gadgets.json')['te_gadgets']
        self.for_each(gadgets, self.check)


class Fragments(Suite):
    """A request that stops anywhere is waited for, and answered once the rest has come."""

    def test_waits_for_the_rest(self):
        data = request('GET', '/hello')
        wires = [self.server.connect() for _ in data]
        for at, wire in enumerate(wires):
            wire.send(data[:at])
        for at, wire in enumerate(wires):
            self.assertTrue(wire.is_open(0.3 if at == 0 else 0), at)
            wire.send(data[at:])
            self.assertEqual(wire.read().status, 404)
            wire.close()


class Probe(Suite):
    """The program's own contract."""

    def test_root(self):
        for method, body in (('GET', b'OK'), ('HEAD', b'')):
            response = self.server.get('/', method=method)
            self.assertEqual((response.status, response.body), (200, body))
            self.assertEqual(response.header('content-length'), '2')
            self.assertEqual(response.header('content-type'), 'text/plain; charset=utf-8')

    def test_bodies_come_back(self):
        for method in ('POST', 'PUT', 'PATCH'):
            for headers, body, expected in (((), '', ''), (('Content-Length: 0',), '', ''), ((), 'hello', 'hello'),
                                            (('Transfer-Encoding: chunked',), '5\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\n', 'hello world')):
                with self.subTest(f'{method} {body}'), self.server.connect() as wire:
                    response = wire.ask(request(method, '/', *headers, body=body))
                    self.assertEqual((response.status, response.body), (200, expected.encode()))
                    self.assertEqual(response.header('content-length'), str(len(expected)))
                    self.assertServes(wire)

    def test_large_body(self):
        """Up to a limit; past it the body is read all the same, and refused when it has come."""
        mib = b'x' * (1 << 20)
        self.assertEqual(self.server.ask(request('POST', '/', body=mib * 16)).body, mib * 16)
        with self.server.connect() as wire:
            wire.send(request('POST', '/', f'Content-Length: {17 << 20}'))
            wire.send(mib * 16)
            self.assertTrue(wire.is_open())
            wire.send(mib)
            self.assertProblem(wire.read(), 413)
            self.assertServes(wire)

    def test_malformed_bodies(self):
        for path in ('/', '/echo'):
            for body in ('5\r\nhell', 'x\r\n', '5 \r\nhello\r\n0\r\n\r\n', '5;\r\nhello\r\n0\r\n\r\n', '5\nhello\r\n0\r\n\r\n',
                         '0x5\r\nhello\r\n0\r\n\r\n', '5\r\nhello!\r\n0\r\n\r\n', 'FFFFFFFFFFFFFFFF0\r\nhello\r\n0\r\n\r\n',
                         '5;a="\r\nhello\r\n0\r\n\r\n', f'5;a={"b" * 2000}\r\nhello\r\n0\r\n\r\n', '0\r\nA b: c\r\n\r\n',
                         f'0\r\nA: {"b" * 9000}\r\n\r\n', '0\r\n\n', '0\r\nA: b\n\r\n', '0\r\n A: b\r\n\r\n'):
                with self.subTest(body[:40]):
                    self.assertEqual(self.statuses(request('POST', path, 'Transfer-Encoding: chunked', body=body)), [400])

    def test_other_methods(self):
        for method, status in (('OPTIONS', 204), ('DELETE', 405), ('TRACE', 405)):
            response = self.server.get('/', method=method)
            self.assertEqual(response.status, status)
            self.assertEqual(set(response.header('allow').split(', ')), {'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS'})
        self.assertIn(self.server.ask('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n').status, (400, 405))

    @only_http1('capital letters in names, and the field Host')
    def test_echo(self):
        for method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'):
            response = self.server.get('/echo', 'X-b: 1', 'x-A:\t2 ', 'X-b:', method=method)
            self.assertEqual((response.status, response.body), (200, b'Host: localhost\nX-b: 1\nx-A: 2\nX-b: \n'))
        response = self.server.get('/echo', method='HEAD')
        self.assertEqual((response.status, response.header('content-length')), (200, str(len('Host: localhost\n'))))
        self.assertProblem(self.server.get('/echoes', method='PROPFIND'), 404)

    def test_cookies(self):
        for headers, expected in (((), b''), (('Cookie: a=1; b=2', 'cookie: c=x=y'), b'a=1\nb=2\nc=x=y\n'), (('Cookie: foo=',), b'foo=\n'),
                                  (('Cookie: ===;;; ;',), b'')):
            response = self.server.get('/cookie', *headers)
            self.assertEqual((response.status, response.body), (200, expected))


if __name__ == '__main__':
    unittest.main()
