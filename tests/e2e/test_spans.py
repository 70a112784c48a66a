"""Requests as spans: what a collector gets that validates all of it."""
import re
import socket
import threading
import time
import unittest

from collector import KINDS
from spans import PARENT, PARENT_ID, TRACE, SpansCase
from wire import OVER_HTTP2, Server, in_threads, request


class Spans(SpansCase):
    def test_of_a_request(self):
        collector = self.collector()
        server = self.traced(collector, service='shop')
        before = time.time_ns()
        server.ask(request('GET', '/hello/x%20y?secret=1', 'User-Agent: tests/1', host='shop.example:8080'))
        span, = collector.wait_spans(1)
        self.assertTrue(before <= span.start <= span.end <= time.time_ns())
        self.assertEqual((span.name, span.kind, span.parent, span.status), ('GET /hello/{name}', KINDS['server'], None, {}))
        number = span.attributes.pop('request_id')
        self.assertRegex(number, r'^\d{1,20}$')
        self.assertEqual(span.attributes, {
            'http.request.method': 'GET', 'url.path': '/hello/x%20y', 'url.scheme': 'http', 'http.route': '/hello/{name}',
            'http.response.status_code': 200, 'server.address': 'shop.example', 'server.port': 8080, 'client.address': '127.0.0.1',
            'network.protocol.version': '2' if OVER_HTTP2 else '1.1', 'user_agent.original': 'tests/1'})
        (resource, _), = collector.resources
        self.assertEqual((resource['service.name'], resource['telemetry.sdk.name']), ('shop', 'eddy'))

    def test_of_every_kind_of_answer(self):
        collector = self.collector()
        server = self.traced(collector)
        for path, method in (('/fail/500', 'GET'), ('/fail/404', 'GET'), ('/none', 'GET'), ('/hello/x', 'PUT'), ('/hello/x', 'HEAD')):
            server.get(path, method=method)
        server.ask(request('GET', '/hello/x', host='[::1]', version='1.0'))
        with server.connect() as wire:
            self.assertEqual(wire.ask(b'GET /\x80\xff HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n').status, 400)
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('PROPFIND', '/hello/x')).status, 405)
        spans = {(span.name, span.attributes['http.response.status_code']): span for span in collector.wait_spans(8)}
        self.assertEqual(set(spans), {('GET /fail/{status}', 500), ('GET /fail/{status}', 404), ('GET', 404), ('PUT', 405),
                                      ('HEAD /hello/{name}', 200), ('GET /hello/{name}', 200), ('HTTP', 400), ('HTTP', 405)})
        self.assertEqual(spans['GET /fail/{status}', 500].status, {'code': 2})
        self.assertEqual(spans['GET /fail/{status}', 404].status, {})
        self.assertEqual(spans['HTTP', 405].attributes['http.request.method_original'], 'PROPFIND')
        old = spans['GET /hello/{name}', 200].attributes
        self.assertEqual((old['network.protocol.version'], old['server.address'], old['server.port']), ('1.0', '::1', 80))

    def test_of_a_program(self):
        collector = self.collector()
        server = self.traced(collector)
        server.get('/work')
        collector.wait_spans(3)
        of_request, work, task = (collector.named(name) for name in ('GET /work', 'work', 'task'))
        self.assertEqual((work.parent, task.parent, {work.trace, task.trace}), (of_request.id, work.id, {of_request.trace}))
        self.assertEqual((work.kind, task.kind), (KINDS['consumer'], KINDS['internal']))
        self.assertEqual(work.attributes, {'text': 'a"\ufffd\n', 'number': -7, 'real': 0.25, 'flag': True})
        self.assertEqual(work.status, {'code': 2, 'message': 'half done'})
        self.assertEqual(of_request.attributes['of.handler'], 'yes')
        server.stop()
        ids = {match[1]: dict(re.findall(r'(\w+)=(\S+)', match[2])) for match in re.finditer(r'work: (before|in the task)(.*)', server.log)}
        self.assertEqual((ids['before']['span_id'], ids['in the task']['span_id']), (of_request.id, task.id))
        self.assertEqual(ids['before']['request_id'], ids['in the task']['request_id'])

    def test_a_trace_goes_on(self):
        collector = self.collector()
        server = self.traced(collector)
        server.get('/hello/x', f'traceparent: {PARENT}', 'tracestate: a=1', 'tracestate: b=2')
        span, = collector.wait_spans(1)
        self.assertEqual((span.trace, span.parent, span.is_remote, span.state), (TRACE, PARENT_ID, True, 'a=1, b=2'))

    def test_a_malformed_parent_begins_a_trace(self):
        collector = self.collector()
        server = self.traced(collector)
        wrong = [PARENT.upper(), PARENT[:-1], PARENT + '0', PARENT.replace('-', '_'), '00-' + 32 * '0' + PARENT[35:], PARENT[:36] + 16 * '0' + '-01',
                 'ff' + PARENT[2:], '', 'x' * 4000]
        for parent in wrong:
            server.get('/hello/x', f'traceparent: {parent}', 'tracestate: a=1')
        server.get('/hello/x', f'traceparent: {PARENT}', f'traceparent: {PARENT}')
        for span in collector.wait_spans(len(wrong) + 1):
            self.assertEqual((span.parent, span.state), (None, None))
            self.assertNotEqual(span.trace, TRACE)
        self.assertEqual(self.stats(server)['malformed'], len(wrong) + 1)

    def test_what_is_not_sampled_is_not_exported(self):
        collector = self.collector()
        server = self.traced(collector)
        server.get('/work', f'traceparent: {PARENT[:-1]}0')
        server.get('/hello/x')
        spans = collector.wait_spans(1)
        server.stop()
        self.assertEqual([span.name for span in spans], ['GET /hello/{name}'])

    def test_a_share_is_sampled(self):
        collector = self.collector()
        server = self.traced(collector, sample=0.5)
        with server.connect() as wire:
            for _ in range(200):
                wire.ask(request('GET', '/hello/x'))
            wire.ask(request('GET', '/hello/x', f'traceparent: {PARENT}'))
        server.stop()
        collector.verify()
        new = [span for span in collector.spans if span.parent is None]
        self.assertEqual(len(collector.spans), len(new) + 1)
        self.assertTrue(50 < len(new) < 150, len(new))
        for span in new:
            self.assertLess(int(span.trace[16:], 16) >> 1, 2**62)

    def test_many_at_once_on_several_loops(self):
        collector = self.collector()
        server = self.traced(collector, server='workers = 3', batch_max=7)

        def ask(_):
            with server.connect() as wire:
                for _ in range(20):
                    self.assertEqual(wire.ask(request('GET', '/work')).status, 200)
        in_threads(10, ask)
        collector.wait_spans(600)
        self.assertEqual(max(count for _, count in collector.resources), 7)
        self.assertEqual(self.wait_stats(server, exported=600)['failed'], 0)
        server.stop()
        collector.verify()


class Services(SpansCase):
    """Two of them, one of which asks the other."""

    def test_have_one_trace(self):
        collector = self.collector()
        back, front = self.traced(collector, service='back'), self.traced(collector, service='front')
        url = f'http://127.0.0.1:{back.port}/hello/x?y'
        self.assertEqual(front.get('/ask', f'x-url: {url}', f'traceparent: {PARENT}', 'tracestate: a=1').body, b'200 Hello, x!')
        collector.wait_spans(3)
        asked, to_back, answered = (collector.named(name) for name in ('GET /ask', 'GET', 'GET /hello/{name}'))
        self.assertEqual({span.trace for span in collector.spans}, {TRACE})
        self.assertEqual((asked.parent, to_back.parent, answered.parent), (PARENT_ID, asked.id, to_back.id))
        self.assertEqual((to_back.is_remote, answered.is_remote), (False, True))
        self.assertEqual([span.state for span in (asked, to_back, answered)], 3 * ['a=1'])
        self.assertEqual(to_back.kind, KINDS['client'])
        self.assertEqual(to_back.attributes, {
            'http.request.method': 'GET', 'url.full': url.partition('?')[0], 'server.address': '127.0.0.1', 'server.port': back.port,
            'http.response.status_code': 200})
        self.assertEqual({resource['service.name'] for resource, _ in collector.resources}, {'back', 'front'})
        self.assertEqual(len({resource['service.instance.id'] for resource, _ in collector.resources}), 2)

    def test_failures(self):
        collector = self.collector()
        server = self.traced(collector)
        with socket.socket() as silent:
            silent.bind(('127.0.0.1', 0))
            port = silent.getsockname()[1]
            self.assertEqual(server.get('/ask', f'x-url: http://127.0.0.1:{port}/').body, b'-111 ')
        self.assertEqual(server.get('/ask', f'x-url: http://127.0.0.1:{server.port}/none').body[:3], b'404')
        found = [span for span in collector.wait_spans(5) if span.kind == KINDS['client']]
        self.assertEqual({span.attributes['error.type'] for span in found}, {'ECONNREFUSED', '404'})
        # What the server has to say of a 404 is no error of its own.
        self.assertEqual([span.status for span in collector.spans if span.kind == KINDS['server']], 3 * [{}])

    def test_every_redirect_is_a_span(self):
        collector = self.collector()
        server = self.traced(collector)
        redirecting = Redirecting(f'http://127.0.0.1:{server.port}/hello/x')
        self.addCleanup(redirecting.close)
        self.assertEqual(server.get('/ask', f'x-url: {redirecting.url}').body, b'200 Hello, x!')
        spans = [span for span in collector.wait_spans(4) if span.kind == KINDS['client']]
        by_url = {span.attributes['url.full']: span for span in spans}
        first, second = by_url[redirecting.url], by_url[f'http://127.0.0.1:{server.port}/hello/x']
        self.assertEqual((first.attributes['http.response.status_code'], second.attributes['http.response.status_code']), (302, 200))
        self.assertEqual(second.attributes['http.request.resend_count'], 1)
        self.assertEqual(first.parent, second.parent)
        self.assertEqual(collector.named('GET /hello/{name}').parent, second.id)


class Redirecting:
    """Answers one request with a 302."""

    def __init__(self, to):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self.listener.getsockname()[1]}/from'
        self.to = to
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        connection, _ = self.listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(f'HTTP/1.1 302 Found\r\nlocation: {self.to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'.encode())

    def close(self):
        self.listener.close()
        self.thread.join(5)


class Settings(SpansCase):
    def test_environment(self):
        collector = self.collector()
        base = collector.url[:-len('/v1/traces')]
        for env in ({'OTEL_EXPORTER_OTLP_ENDPOINT': base}, {'OTEL_EXPORTER_OTLP_ENDPOINT': base + '/'},
                    {'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT': collector.url, 'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:1'}):
            server = self.traced(env={**env, 'OTEL_SERVICE_NAME': 'named'})
            server.get('/hello/x')
            server.stop()
        self.assertEqual(len(collector.wait_spans(3)), 3)
        self.assertEqual([resource['service.name'] for resource, _ in collector.resources], 3 * ['named'])

    def test_the_file_wins(self):
        collector = self.collector()
        server = self.traced(collector, service='file', env={'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:1', 'OTEL_SERVICE_NAME': 'named'})
        server.get('/hello/x')
        collector.wait_spans(1)
        self.assertEqual(collector.resources[0][0]['service.name'], 'file')

    def test_an_environment_that_is_wrong_is_told(self):
        for name in ('OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'):
            for value in ('localhost:4318', 'ftp://x', 'http://user:secret@localhost', 'http://' + 5000 * 'x'):
                server = self.traced(env={name: value})
                self.assertEqual(server.get('/hello/x').status, 200)
                server.wait_for(f'ERROR eddy::tracing: Spans are not exported: {name} is not an http or https URL')
                self.assertNotIn('secret', server.log)
                server.stop()

    def test_fields_of_posts(self):
        collector = self.collector()
        for keys, env, want in (
                ({'collector_headers': ['Authorization: Bearer a=b, c', 'x-empty:']}, {'OTEL_EXPORTER_OTLP_HEADERS': 'x-not=1'},
                 {'authorization': 'Bearer a=b, c', 'x-empty': '', 'x-not': None}),
                ({}, {'OTEL_EXPORTER_OTLP_HEADERS': 'Authorization=Bearer%20a=b%2C%20c, x-bad=%2g%00 ,', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS': ''},
                 {'authorization': 'Bearer a=b, c', 'x-bad': '%2g%00'}),
                ({}, {'OTEL_EXPORTER_OTLP_HEADERS': 'x-not=1', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS': 'x-a=1'}, {'x-a': '1', 'x-not': None})):
            server = self.traced(collector, env=env, **keys)
            server.get('/hello/x')
            server.stop()
            self.assertEqual({name: collector.headers.get(name) for name in want}, want)
        collector.wait_spans(3)

    def test_fields_that_are_none(self):
        for value in ('secret', 'a b=secret', 'a=secret%0d%0ab: c', 'content-length=1', 'Host=secret', 'Content-Type=secret', ','.join(f'a{i}=secret' for i in range(17)), 'a=' + 5000 * 'x'):
            server = self.traced('http://127.0.0.1:1', env={'OTEL_EXPORTER_OTLP_HEADERS': value})
            server.wait_for('ERROR eddy::tracing: Spans are not exported: OTEL_EXPORTER_OTLP_HEADERS has more than 16 fields, or an invalid one')
            self.assertNotIn('secret', server.log)
            server.stop()

    def test_tour_exports_too(self):
        collector = self.collector()
        server = self.serve('--tracing', program='tour', env={'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT': collector.url})
        server.get('/users/42/posts/x')
        span, = collector.wait_spans(1)
        self.assertEqual((span.name, collector.resources[0][0]['service.name']), ('GET /users/{id}/posts/{slug}', 'tour'))

    def test_nothing_is_exported_unasked(self):
        server = self.traced()
        server.get('/hello/x')
        self.assertEqual(self.stats(server), {'malformed': 0, 'exported': 0, 'dropped': 0, 'failed': 0})

    def test_name_of_the_program(self):
        collector = self.collector()
        self.traced(collector).get('/hello/x')
        collector.wait_spans(1)
        self.assertEqual(collector.resources[0][0]['service.name'], 'traced')

    def test_a_file_that_is_wrong(self):
        path = f'{self.folder()}/config.toml'
        for text, complaint in (('collector = "localhost:4318"', 'collector must be a URL'), ('sample = 0', 'expected a number above 0, 1 at most'),
                                ('collector_headers = ["a"]', 'expected an array of up to 16 fields like "name: value", not the string "a"'),
                                ('collector_headers = ["host: a"]', 'expected an array of up to 16 fields like "name: value", not the string "host: a"'),
                                ('batch_max = 0', 'expected an integer from 1 to 10000'), ('age_ms = 0', 'expected an integer from 1 ')):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(f'[tracing]\n{text}\n')
            server = Server(path, program='traced', start=False)
            self.assertEqual(server.wait(), 1)
            self.assertRegex(server.log, f'config.toml:.*{complaint}', text)


if __name__ == '__main__':
    unittest.main()
