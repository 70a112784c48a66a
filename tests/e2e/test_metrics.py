"""GET /metrics of tour, read strictly: Prometheus's text format 0.0.4."""
import collections
import os
import re
import subprocess
import unittest

from issuers import FakeIssuer
from tokens import SECRET, signed
from wire import KIB, MIB, PROGRAMS, Case, Shared, Wire, in_threads, only_http1, pattern, request, try_connect

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCS = os.path.join(ROOT, 'docs', 'metrics.md')
TYPE = 'text/plain; version=0.0.4; charset=utf-8'
NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
VALUE = r'-?\d+(?:\.\d+)?'

Family = collections.namedtuple('Family', 'help type')


def parse_labels(text):
    labels = re.findall(LABEL, text)
    pairs = [label.split('=', 1) for label in labels]
    if ','.join(labels) != text or len({name for name, _ in pairs}) != len(pairs):
        raise AssertionError(f'not labels: {text!r}')
    return frozenset((name, re.sub(r'\\(.)', lambda m: {'n': '\n'}.get(m[1], m[1]), value[1:-1])) for name, value in pairs)


def check_histogram(name, series):
    """Its buckets are cumulative, and the last one is the count."""
    of = collections.defaultdict(dict)
    for (sample, labels), value in series.items():
        rest = frozenset(label for label in labels if label[0] != 'le')
        of[rest][sample.removeprefix(name), dict(labels).get('le')] = value
    for labels, values in of.items():
        bounds = [le for part, le in values if part == '_bucket']
        counts = [values['_bucket', le] for le in bounds]
        numbers = [float(le) for le in bounds]
        if bounds[-1] != '+Inf' or numbers != sorted(set(numbers)) or counts != sorted(counts):
            raise AssertionError(f'{name}{set(labels)}: {values}')
        if set(values) != {('_bucket', le) for le in bounds} | {('_sum', None), ('_count', None)}:
            raise AssertionError(f'{name}{set(labels)} has other lines: {values}')
        if values['_count', None] != counts[-1] or (values['_sum', None] > 0 and not counts[-1]):
            raise AssertionError(f'{name}{set(labels)}: its count is not that of its buckets: {values}')


def parse(text):
    """Families, and {(name, labels): value}. Whatever the format does not say is an error."""
    if not text.endswith('\n'):
        raise AssertionError('the last line does not end')
    families, series, name, of_family = {}, {}, None, {}
    lines = iter(text[:-1].split('\n'))
    for line in lines:
        if line.startswith('#'):
            head = re.fullmatch(rf'# HELP ({NAME}) ((?:[^\\\n]|\\[\\n])+)', line)
            kind = re.fullmatch(rf'# TYPE ({NAME}) (counter|gauge|histogram)', next(lines, ''))
            if not head or not kind or head[1] != kind[1] or head[1] in families or (name and not of_family):
                raise AssertionError(f'not the beginning of a family: {line!r}')
            name, of_family = head[1], {}
            families[name] = Family(head[2], kind[2])
            continue
        sample = re.fullmatch(rf'({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ({VALUE})', line)
        if not sample or not name:
            raise AssertionError(f'not a sample: {line!r}')
        key = sample[1], parse_labels(sample[2] or '')
        kind = families[name].type
        names = {name + part for part in ('_bucket', '_sum', '_count')} if kind == 'histogram' else {name}
        if key[0] not in names or key in series or (kind == 'counter') != name.endswith('_total'):
            raise AssertionError(f'{line!r} does not belong here, or is there twice')
        if kind != 'gauge' and float(sample[3]) < 0:
            raise AssertionError(f'{line!r} is negative')
        series[key] = of_family[key] = float(sample[3])
        if kind == 'histogram' and line.startswith(f'{name}_count'):
            check_histogram(name, of_family)
    return families, series


class Scrape:
    def __init__(self, text):
        self.families, self.series = parse(text)

    def __call__(self, name, **labels):
        """The sum of all series of that name with these labels."""
        wanted = set(labels.items())
        return sum(value for (sample, has), value in self.series.items() if sample == name and wanted <= has)

    def requests(self, route, method, status=None):
        labels = {'status': status} if status else {}
        return self('eddy_http_requests_total', route=route, method=method, **labels)


def scrape(server):
    response = server.get('/metrics')
    if response.status != 200 or response.header('content-type') != TYPE:
        raise AssertionError(response)
    return Scrape(response.body.decode())


class Format(Shared):
    program = 'tour'

    def test_fields(self):
        for method in ('GET', 'HEAD'):
            response = self.server.get('/metrics', method=method)
            self.assertEqual(response.status, 200)
            self.assertEqual(response.header('content-type'), TYPE)
            self.assertEqual(response.header('cache-control'), 'no-store')
        self.assertEqual(self.server.get('/metrics', method='POST').status, 405)

    def test_the_list_is_that_of_the_manual(self):
        self.server.get('/hello')
        self.eventually(lambda: scrape(self.server).requests('/hello', 'GET'))
        found = scrape(self.server)
        labels = collections.defaultdict(set)
        for name, has in found.series:
            family = name if name in found.families else re.sub('_(bucket|sum|count)$', '', name)
            labels[family] |= {label for label, _ in has} - {'le'}
        with open(DOCS, encoding='utf-8') as file:
            rows = re.findall(r'^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$', file.read(), re.M)
        listed = {name: (kind, set(re.findall(r'`(\w+)`', has)), text) for name, kind, has, text in rows}
        self.assertEqual(len(listed), len(rows), 'a metric is listed twice')
        self.assertEqual(listed, {name: (family.type, labels[name], family.help) for name, family in found.families.items()})

    def test_of_the_process(self):
        found = scrape(self.server)
        self.assertAlmostEqual(found('process_start_time_seconds'), os.stat(f'/proc/{self.server.pid}').st_mtime, delta=5)
        self.assertAlmostEqual(found('process_open_fds'), self.server.descriptors(), delta=3)
        self.assertAlmostEqual(found('process_threads'), self.server.threads(), delta=2)
        self.assertLess(abs(found('process_resident_memory_bytes') / self.server.rss() - 1), 0.2)
        self.assertGreater(found('process_virtual_memory_bytes'), found('process_resident_memory_bytes'))
        self.assertGreaterEqual(found('process_max_fds'), found('process_open_fds'))
        self.assertGreater(found('process_cpu_seconds_total'), 0)
        self.assertGreater(scrape(self.server)('process_cpu_seconds_total'), found('process_cpu_seconds_total'))
        with open(os.path.join(ROOT, 'meson.build')) as file:
            version = re.search(r"version: '([^']*)'", file.read())[1]
        self.assertEqual(found('eddy_build_info', version=version), 1)

    @unittest.skipIf(os.environ.get('EDDY_EXECUTOR') == 'poll', 'only rings have kernel workers')
    def test_what_goes_to_workers(self):
        with open(self.path('large'), 'wb') as file:
            file.truncate(8 * MIB)
        before = scrape(self.server)
        self.server.ask(request('PUT', '/files/large', body='text'))
        found = scrape(self.server)
        # At least the rename by which the upload replaces it, also where files are in memory.
        self.assertGreater(found('eddy_ops_to_workers_total'), before('eddy_ops_to_workers_total'))
        self.assertGreaterEqual(found('eddy_io_workers'), 1)
        self.assertEqual(found('eddy_io_workers_max'), 16 * found('eddy_loops'))


class Limited(Case):
    @unittest.skipIf(os.environ.get('EDDY_EXECUTOR') == 'poll', 'only rings have kernel workers')
    def test_workers_of_the_kernel(self):
        config = os.path.join(self.folder(), 'tour.toml')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('[server]\nworkers = 2\nio_workers_max = 3\n')
        server = self.serve('--config', config, program='tour')
        # The second loop may be told of it after the first one serves.
        self.eventually(lambda: scrape(server)('eddy_io_workers_max') == 2 * 2 * 3)


class Counted(Case):
    """Two workers, of which either may answer."""

    def setUp(self):
        self.dir = self.folder()
        self.server = self.serve('--dir', self.dir, '--workers', 2, program='tour')
        self.before = scrape(self.server)

    def file(self, name, size):
        with open(os.path.join(self.dir, name), 'wb') as file:
            file.write(pattern(size))

    def grown(self, name, **labels):
        """By how much, once nothing but this scrape is under way."""
        return self.at_rest()(name, **labels) - self.before(name, **labels)

    def at_rest(self):
        def found():
            now = scrape(self.server)
            return now if now('eddy_http_requests_in_flight') == 1 else None
        return self.eventually(found, what='a request does not end')

    def assertCounted(self, route, method, status, count):
        found = self.at_rest()
        self.assertEqual(found.requests(route, method, status) - self.before.requests(route, method, status), count, (route, method))
        self.assertEqual(found.requests(route, method) - self.before.requests(route, method), count, (route, method))
        timed = found('eddy_http_request_duration_seconds_count', route=route, method=method)
        self.assertEqual(timed, found.requests(route, method))

    def test_requests_of_all_kinds(self):
        def client(i):
            with self.server.connect() as wire:
                for _ in range(10):
                    self.assertEqual(wire.ask(request('GET', f'/hello/{i}')).status, 200)
                self.assertEqual(wire.ask(request('HEAD', '/hello/x'), head=True).status, 200)
                self.assertEqual(wire.ask(request('GET', '/hello/x', 'If-Match: "x"')).status, 200)
                self.assertEqual(wire.ask(request('POST', '/echo', body='12345')).body, b'12345')
                self.assertEqual(wire.ask(request('GET', '/status/302')).status, 302)
                self.assertEqual(wire.ask(request('GET', '/status/503')).status, 503)
        in_threads(8, client)
        self.assertCounted('/hello/{name}', 'GET', '2xx', 88)
        self.assertCounted('/hello/{name}', 'HEAD', '2xx', 8)
        self.assertCounted('/echo', 'POST', '2xx', 8)
        self.assertEqual(self.grown('eddy_http_requests_total', route='/status/{code}', status='3xx'), 8)
        self.assertEqual(self.grown('eddy_http_requests_total', route='/status/{code}', status='5xx'), 8)
        self.assertEqual(self.grown('eddy_http_request_body_bytes_total'), 40)
        self.assertEqual(self.grown('eddy_http_responses_cut_total'), 0)

    @only_http1('these bytes around a body')
    def test_bytes_of_answers(self):
        with self.server.connect() as wire:
            answer = wire.ask(request('GET', '/random/70000'))
            size = len(answer.raw) + 4
            # A stream of pieces, each with its size around it; the wire's parser has taken that off.
            self.assertEqual(len(answer.body), 70000)
        self.assertGreaterEqual(self.grown('eddy_http_response_bytes_total', route='/random/{n}'), size + 70000)
        self.assertLess(self.grown('eddy_http_response_bytes_total', route='/random/{n}'), size + 71000)
        with self.server.connect() as wire:
            answer = wire.ask(request('GET', '/hello'))
        self.assertEqual(self.grown('eddy_http_response_bytes_total', route='/hello'), len(answer.raw) + 4 + 13)

    def test_what_no_route_answers(self):
        self.assertEqual(self.server.get('/none').status, 404)
        self.assertEqual(self.server.get('/hello', method='DELETE').status, 405)
        self.assertEqual(self.server.get('/hello', 'X-Long: ' + 'x' * 20 * KIB).status, 431)
        self.assertEqual(self.server.get('/' + 'x' * 10 * KIB).status, 414)
        self.assertEqual(self.server.ask(b'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n').status, 400)
        self.assertEqual(self.server.get('/hello', method='OPTIONS').status, 204)
        self.assertEqual(self.server.ask(request('PROPFIND', '/hello')).status, 405)
        self.assertEqual(self.server.ask(request('INVENTED', '/hello')).status, 501)
        found = self.at_rest()
        self.assertEqual({key: value for key, value in found.series.items()
                          if key[0] == 'eddy_http_requests_total' and value and ('route', '/metrics') not in key[1]},
                         {('eddy_http_requests_total', frozenset({('route', '(none)'), ('method', method), ('status', status)})): value
                          for method, status, value in (('GET', '4xx', 1), ('DELETE', '4xx', 1), ('OPTIONS', '2xx', 1),
                                                        # Of a head that is refused nothing is believed, nor what is its method.
                                                        ('other', '4xx', 4), ('other', '5xx', 1))})

    def test_an_answer_that_is_cut(self):
        with Wire(self.server.port, rcvbuf=4096) as wire:
            wire.send(request('GET', f'/random/{64 * MIB}'))
            wire.take(20000)
            wire.reset()
        self.assertEqual(self.grown('eddy_http_responses_cut_total', route='/random/{n}', method='GET'), 1)
        self.assertEqual(self.grown('eddy_http_responses_cut_total'), 1)
        self.assertCounted('/random/{n}', 'GET', '2xx', 1)
        self.assertGreaterEqual(self.grown('eddy_http_response_bytes_total', route='/random/{n}'), 20000)
        self.assertLess(self.grown('eddy_http_response_bytes_total', route='/random/{n}'), 64 * MIB)

    def test_ten_thousand_paths_and_odd_methods_add_nothing(self):
        self.server.get('/none')
        self.server.ask(request('PROPFIND', '/none'))
        before = set(self.at_rest().series)

        def client(worker):
            with self.server.connect() as wire:
                for i in range(0, 2500, 50):
                    wire.send(b''.join(request('GET', f'/none/{worker}/{i + j}?x="{j}') for j in range(50)))
                    for _ in range(50):
                        self.assertEqual(wire.read().status, 404)
                for method in ('PROPFIND', 'MKCOL', 'LOCK', 'SUBSCRIBE'):
                    self.assertEqual(wire.ask(request(method, f'/{worker}')).status, 404)
            for method in ('INVENTED', 'A' * 100):
                with self.server.connect() as wire:
                    self.assertIn(wire.ask(request(method, f'/{worker}')).status, (400, 501))
        in_threads(4, client)
        found = self.at_rest()
        self.assertEqual(set(found.series), before)
        self.assertEqual(found.requests('(none)', 'GET', '4xx'), 10001)
        self.assertEqual(found.requests('(none)', 'other'), 1 + 4 * 6)

    @only_http1('transfers without a copy')
    def test_how_bytes_of_files_went(self):
        self.file('large.bin', MIB)
        self.file('small.bin', 1000)
        moved = 'eddy_transfer_bytes_total'
        self.assertEqual(len(self.server.get('/files/large.bin').body), MIB)
        self.assertEqual(self.grown(moved, direction='out', technique='splice'), MIB)
        self.assertEqual(self.grown(moved, direction='out', technique='copy'), 0)
        self.assertEqual(len(self.server.get('/files/small.bin').body), 1000)
        self.assertEqual(self.grown(moved, direction='out', technique='splice'), MIB)
        self.assertEqual(self.grown(moved, direction='out', technique='copy'), 1000)
        self.assertEqual(self.grown(moved, direction='in'), 0)
        self.assertEqual(self.server.ask(request('PUT', '/files/new.bin', body=pattern(MIB))).status, 201)
        self.assertEqual(self.grown(moved, direction='in'), MIB)
        # What came in one piece with the head was in memory already.
        self.assertLess(self.grown(moved, direction='in', technique='copy'), 64 * KIB)
        self.assertEqual(self.server.ask(request('PUT', '/files/little.bin', body='x' * 100)).status, 201)
        self.assertEqual(self.grown(moved, direction='in'), MIB + 100)

    def test_connections_and_what_is_under_way(self):
        wires = [self.server.connect() for _ in range(5)]
        for wire in wires:
            self.assertServes(wire, '/hello')
        # Beside those that ask.
        self.eventually(lambda: scrape(self.server)('eddy_http_connections') == 6)
        wires[0].send(request('POST', '/echo', 'Content-Length: 10', body='half'))
        self.eventually(lambda: scrape(self.server)('eddy_http_requests_in_flight') == 2)
        for wire in wires:
            wire.close()
        self.eventually(lambda: scrape(self.server)('eddy_http_connections') == 1)
        self.assertGreaterEqual(self.grown('eddy_http_connections_accepted_total'), 8)
        self.assertEqual(self.at_rest()('eddy_loops'), 2)


class Guarded(Case):
    """What auth counts, which metrics know nothing of."""

    def counted(self, server, name, **labels):
        return scrape(server)(name, **labels)

    def ask(self, server, path, token=None):
        return server.get(path, *([f'authorization: Bearer {token}'] if token else [])).status

    def test_requests_at_a_guard(self):
        path = os.path.join(self.folder(), 'secret')
        with open(path, 'wb') as file:
            file.write(SECRET)
        server = self.serve('--secret-file', path, program='tour')
        token = signed()
        self.assertEqual([self.ask(server, '/me', token) for _ in range(3)], [200] * 3)
        self.assertEqual([self.ask(server, '/admin', token), self.ask(server, '/me'), self.ask(server, '/me', 'a')], [403, 401, 401])
        for outcome, count in ('let_in', 3), ('forbidden', 1), ('refused', 2), ('unknown', 0):
            self.assertEqual(self.counted(server, 'eddy_bearer_requests_total', outcome=outcome), count, outcome)
        self.assertEqual(self.counted(server, 'eddy_bearer_tokens_cached_total'), 3)

    def test_fetches_of_keys(self):
        issuer = FakeIssuer()
        self.addCleanup(issuer.close)
        server = self.serve('--issuer', issuer.url, '--http-issuer', program='tour')
        token = signed(header={'alg': 'EdDSA'})
        for _ in range(2):
            self.assertEqual(self.ask(server, '/me', token), 503)
        self.assertEqual(self.counted(server, 'eddy_bearer_requests_total', outcome='unknown'), 2)
        self.assertEqual(self.counted(server, 'eddy_oauth_fetches_total', outcome='failed'), 2)
        self.assertEqual(self.counted(server, 'eddy_oauth_fetches_total', outcome='loaded'), 0)
        self.assertEqual(self.counted(server, 'eddy_oauth_waits_total'), 2)


class FullDisk(Case):
    def test_nobody_notices_but_the_counter(self):
        path = os.path.join(self.folder(), 'socket')
        with open('/dev/full', 'w') as full:
            process = subprocess.Popen([PROGRAMS['tour'], '--bind', f'unix:{path}', '--access-log', '--tracing'],
                                       env=dict(os.environ, EDDY_LOG=''), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=full)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        with self.eventually(lambda: try_connect(path), what='it does not listen') as wire:
            for _ in range(100):
                self.assertEqual(wire.ask(request('GET', '/hello')).status, 200)

            def dropped():
                return Scrape(wire.ask(request('GET', '/metrics')).body.decode())('eddy_log_records_dropped_total')
            # One that says where it listens, too; and the scrapes' own follow.
            self.eventually(lambda: dropped() >= 101)
        process.terminate()
        self.assertEqual(process.wait(10), 0)
