"""tour with --tracing and --access-log: numbers in answers and records."""
import json
import re
import time
import unittest

from wire import Case, Server, in_threads, request

PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'


def numbers(server, count, connections=4):
    """What so many requests were numbered, pipelined on connections that both workers have."""
    found = [[] for _ in range(connections)]

    def client(i):
        left = count // connections
        with server.connect(timeout=60) as wire:
            while left:
                batch = min(left, 100)
                wire.send(request('GET', '/hello') * batch)
                left -= batch
                while batch:
                    wire.more()
                    whole, end, wire.buffer = wire.buffer.rpartition(b'Hello, World!')
                    seen = re.findall(rb'^request-id: (\d+)\r$', whole + end, re.M)
                    batch -= len(seen)
                    found[i] += map(int, seen)
    in_threads(connections, client)
    return [number for of_one in found for number in of_one]


class Unique(Case):
    """No number comes twice, over workers and processes. big_tracing.py has a million."""
    count = 10000

    def test_over_two_processes(self):
        seen = []
        for _ in range(2):
            server = self.serve('--dir', self.folder(), '--tracing', '--workers', 2, program='tour')
            seen += numbers(server, self.count // 2)
        self.assertEqual(len(seen), self.count)
        self.assertEqual(len(set(seen)), self.count)


class Tracing(Case):
    def tour(self, *args, **options):
        return self.serve('--dir', self.folder(), *args, program='tour', **options)

    def records(self, server, pattern):
        """The fields of each record whose line fits."""
        server.stop()
        return [dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line)) for line in server.lines if line and re.search(pattern, line)]

    def test_every_answer_has_a_number(self):
        server = self.tour('--tracing')
        seen = set()
        for method, path in (('GET', '/hello'), ('HEAD', '/hello'), ('GET', '/none'), ('DELETE', '/hello'), ('GET', '/errno/5'),
                             ('GET', '/stream/3'), ('GET', '/%zz')):
            number = server.get(path, method=method).header('request-id')
            self.assertRegex(number, r'^\d{1,20}$', (method, path))
            self.assertLess(int(number), 2**64)
            seen.add(number)
        with server.connect() as wire:
            wire.send(b'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')
            refused = wire.read()
        self.assertEqual(refused.status, 400)
        self.assertRegex(refused.header('request-id'), r'^\d{1,20}$')
        self.assertEqual(len(seen), 7)

    def test_name_of_the_header(self):
        server = self.tour('--tracing=X-Number')
        response = server.get('/hello')
        self.assertRegex(response.header('x-number'), r'^\d+$')
        self.assertIsNone(response.header('request-id'))

    def test_off_by_default(self):
        self.assertIsNone(self.tour().get('/hello').header('request-id'))

    def test_a_name_that_is_none(self):
        server = Server('--tracing=a b', program='tour', start=False)
        self.assertEqual(server.wait(), 1)
        self.assertIn('header_name is not a valid field name, or is a field that the server sets', server.log)

    def test_fifty_at_once_do_not_mix(self):
        server = self.tour('--tracing', log='info,request=trace')
        answered = []
        in_threads(50, lambda i: answered.append(server.get('/log').header('request-id')))
        records = self.records(server, ' TRACE request: handling')
        numbers = [record['request_id'] for record in records]
        self.assertEqual(len(numbers), 100)
        self.assertEqual(sorted(numbers), sorted(answered * 2))

    def test_records_of_the_spec(self):
        server = self.tour('--tracing', log='trace')
        server.get('/log')
        server.stop()
        for line in (r' INFO eddy::app: Listening on 127\.0\.0\.1:\d+$', r'TRACE request: handling request_id=\d+ trace_id=[0-9a-f]{32} span_id=[0-9a-f]{16}$',
                     r'TRACE eddy::app: Shutdown signal received, not accepting new requests$', r' INFO eddy::app: Shutting down the server$'):
            self.assertRegex(server.log, f'(?m){line}')

    def test_a_trace_goes_on(self):
        server = self.tour('--tracing', log='info,request=trace')
        server.get('/log', f'traceparent: {PARENT}')
        server.get('/log', 'traceparent: 00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
        first, _, third, _ = self.records(server, ' TRACE request: handling')
        self.assertEqual(first['trace_id'], '0af7651916cd43dd8448eb211c80319c')
        self.assertNotEqual(first['span_id'], 'b7ad6b7169203331')
        self.assertNotEqual(third['trace_id'].lower(), first['trace_id'])

    def test_access_log(self):
        server = self.tour('--access-log')
        self.assertEqual(server.get('/hello/x').status, 200)
        self.assertEqual(server.get('/none').status, 404)
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('POST', '/echo', body='12345')).status, 200)
        hello, none, echo = self.records(server, r' INFO eddy::access: (GET|POST) /\S+ \d{3} ')
        self.assertEqual((hello['peer'], hello['pattern'], hello['whole']), ('127.0.0.1', '"/hello/{name}"', 'true'))
        self.assertEqual(none['pattern'], '""')
        self.assertEqual(echo['received'], '5')
        self.assertGreater(int(echo['sent']), 50)

    def test_access_log_of_one_who_has_left(self):
        server = self.tour('--access-log')
        with server.connect() as wire:
            wire.send(request('GET', '/slow/5000'))
            time.sleep(0.1)
            wire.reset()
        record = server.wait_for(r' INFO eddy::access: GET /slow/5000 (\d{3}) .*whole=(\w+)')
        self.assertEqual(record.groups(), ('499', 'false'))

    def test_nothing_in_a_path_forges_a_line(self):
        server = self.tour('--access-log')
        server.get('/%0aINFO%20forged')
        with server.connect() as wire:
            wire.ask(b'GET /a\x7fb HTTP/1.1\r\nHost: x\r\n\r\n')
        server.stop()
        self.assertFalse([line for line in server.lines if line and not re.match(r'\d{4}-\d\d-\d\dT', line)])

    def test_lines_of_json(self):
        server = self.tour('--access-log', env={'EDDY_LOG_FORMAT': 'json'})
        server.get('/hello')
        server.stop()
        records = [json.loads(line) for line in server.lines if line]
        access, = (record for record in records if record['target'] == 'eddy::access')
        self.assertEqual((access['message'], access['level'], access['fields']['peer']), ('GET /hello 200', 'INFO', '127.0.0.1'))

    def test_configuration(self):
        path = f'{self.folder()}/config.toml'

        def write(text):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        write('[tracing]\nheader = true\nheader_name = "x-from-file"\n')
        server = self.tour('--tracing', '--config', path)
        self.assertRegex(server.get('/hello').header('x-from-file'), r'^\d+$')
        write('[tracing]\nheader = true\n')
        self.assertIsNone(self.tour('--config', path).get('/hello').header('request-id'))
        for text, complaint in (('header_name = "a b"', 'header_name is not a valid field name, or is a field that the server sets'), ('header = 1', 'expected true or false'),
                                ('heeder = true', 'heeder')):
            write(f'[tracing]\n{text}\n')
            server = Server('--config', path, program='tour', start=False)
            self.assertEqual(server.wait(), 1)
            self.assertRegex(server.log, f'config.toml.*{complaint}')

    def test_who_does_not_read_the_log_holds_up_nobody(self):
        server = self.tour('--access-log', log='info')
        # The reader of stderr stops: pipes hold 64 KiB, the writer 1 MiB more, and these are 3 MB.
        server.changed.acquire()
        try:
            with server.connect() as wire:
                for _ in range(60):
                    wire.send(request('GET', '/none/' + 'x' * 300) * 100)
                    for _ in range(100):
                        self.assertEqual(wire.read().status, 404)
        finally:
            server.changed.release()
        server.wait_for('records were dropped')
        self.assertEqual(server.get('/hello').status, 200)


if __name__ == '__main__':
    unittest.main()
