"""A collector of spans that believes nothing: OTLP over HTTP, in JSON (opentelemetry-proto's
ExportTraceServiceRequest, by proto3's JSON mapping with OTLP's own rules for ids)."""
import http.server
import json
import re
import threading
import time

KINDS = {'internal': 1, 'server': 2, 'client': 3, 'producer': 4, 'consumer': 5}
FIXED64 = re.compile(r'0|[1-9]\d{0,19}')
INT64 = re.compile(r'0|-?[1-9]\d{0,18}')


class Wrong(AssertionError):
    """What was posted is not OTLP."""


def check(value, what, *details):
    if not value:
        raise Wrong(' '.join(map(str, (what, *details))))


def members(value, where, required, optional=()):
    """An object that has these members, and no others."""
    check(isinstance(value, dict), where, 'is not an object:', value)
    check(set(required) <= set(value) <= set(required) | set(optional), where, 'has the members', sorted(value))
    return value


def text(value, where, empty=False):
    check(isinstance(value, str) and (empty or value), where, 'is not a string:', repr(value))
    return value


def uint32(value, where):
    check(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32, where, 'is no uint32:', repr(value))
    return value


def hex_id(value, where, digits):
    check(isinstance(value, str) and re.fullmatch(f'[0-9a-f]{{{digits}}}', value) and set(value) != {'0'}, where, 'is no id:', value)
    return value


def nanoseconds(value, where):
    check(isinstance(value, str) and FIXED64.fullmatch(value) and int(value) < 2**64, where, 'is no fixed64:', repr(value))
    check(abs(int(value) - time.time_ns()) < 3600 * 10**9, where, 'is another day:', value)
    return int(value)


def any_value(value, where):
    """An AnyValue has one member. What it stands for."""
    check(isinstance(value, dict) and len(value) == 1, where, 'is no value:', value)
    (kind, inner), = value.items()
    if kind == 'stringValue':
        return text(inner, where, empty=True)
    if kind == 'intValue':
        check(isinstance(inner, str) and INT64.fullmatch(inner) and -2**63 <= int(inner) < 2**63, where, 'is no int64:', repr(inner))
        return int(inner)
    if kind == 'boolValue':
        check(isinstance(inner, bool), where, 'is no bool:', inner)
        return inner
    check(kind == 'doubleValue', where, 'is of an unknown type:', kind)
    check(inner in ('NaN', 'Infinity', '-Infinity') or (isinstance(inner, (int, float)) and not isinstance(inner, bool)), where,
          'is no double:', inner)
    return float(inner)


def attributes(value, where):
    """KeyValues whose keys are not empty, and differ."""
    check(isinstance(value, list), where, 'is no list:', value)
    found = {}
    for pair in value:
        members(pair, where, ('key', 'value'))
        key = text(pair['key'], where)
        check(key not in found, where, 'has twice', key)
        found[key] = any_value(pair['value'], f'{where}.{key}')
    return found


def check_status(value):
    members(value, 'status', (), ('code', 'message'))
    check(value.get('code', 0) in (0, 1, 2) and not isinstance(value.get('code'), bool), 'status code', value)
    if 'message' in value:
        text(value['message'], 'status message')
        check(value['code'] == 2, 'a message beside a status that is no error:', value)
    return value


class Span:
    """A span of a request, whose every field has been looked at."""

    def __init__(self, value):
        members(value, 'span', ('traceId', 'spanId', 'flags', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes'),
                ('traceState', 'parentSpanId', 'status', 'droppedAttributesCount'))
        self.trace = hex_id(value['traceId'], 'traceId', 32)
        self.id = hex_id(value['spanId'], 'spanId', 16)
        self.parent = hex_id(value['parentSpanId'], 'parentSpanId', 16) if 'parentSpanId' in value else None
        check(self.parent != self.id, 'a span is its own parent:', self.id)
        self.state = text(value['traceState'], 'traceState') if 'traceState' in value else None
        self.flags = uint32(value['flags'], 'flags')
        check(self.flags & 1, 'a span that is not sampled was exported')
        check(self.flags & 0x100 and not self.flags & ~0x301, 'flags', self.flags)
        check(self.parent or not self.flags & 0x200, 'a remote parent that is none')
        self.is_remote = bool(self.flags & 0x200)
        self.name = text(value['name'], 'name')
        self.kind = value['kind']
        check(self.kind in KINDS.values() and not isinstance(self.kind, bool), 'kind', self.kind)
        self.start = nanoseconds(value['startTimeUnixNano'], 'startTimeUnixNano')
        self.end = nanoseconds(value['endTimeUnixNano'], 'endTimeUnixNano')
        check(self.start <= self.end, 'a span ends before it starts')
        self.attributes = attributes(value['attributes'], 'attributes')
        self.dropped = uint32(value.get('droppedAttributesCount', 0), 'droppedAttributesCount')
        self.status = check_status(value.get('status', {}))
        if self.kind in (KINDS['server'], KINDS['client']):
            self.check_http()

    def check_http(self):
        """The stable conventions for HTTP spans: what is required, and its types."""
        has = self.attributes
        server = self.kind == KINDS['server']
        types = {'http.request.method': str, 'http.request.method_original': str, 'url.path': str, 'url.scheme': str, 'url.full': str,
                 'http.route': str, 'http.response.status_code': int, 'http.request.resend_count': int, 'server.address': str,
                 'server.port': int, 'client.address': str, 'network.protocol.version': str, 'user_agent.original': str,
                 'error.type': str}
        for key, kind in types.items():
            check(key not in has or type(has[key]) is kind, key, 'is', repr(has.get(key)))
        required = ['http.request.method', *(('url.scheme',) if server else ('url.full', 'server.address', 'server.port'))]
        for key in required:
            check(key in has, self.name, 'lacks', key)
        method = has['http.request.method']
        check(method in ('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', '_OTHER'), 'method', method)
        name = 'HTTP' if method == '_OTHER' else method
        check(self.name == (f'{name} {has["http.route"]}' if 'http.route' in has else name), 'the name', self.name)
        status = has.get('http.response.status_code')
        check(status is None or 100 <= status <= 599, 'status', status)
        check(status is not None or 'error.type' in has, 'neither a status nor an error')
        if status is not None and status >= (500 if server else 400):
            check(has.get('error.type') == str(status), 'error.type', has.get('error.type'))
        check(('error.type' in has) == (self.status.get('code') == 2), 'error.type', has.get('error.type'), 'and status', self.status)

    def __repr__(self):
        return f'<{self.name} {self.trace[:4]}/{self.id[:4]} of {self.parent and self.parent[:4]}>'


def read_request(body):
    """The resource's attributes and the spans of an ExportTraceServiceRequest."""
    def no_doubles(pairs):
        check(len(dict(pairs)) == len(pairs), 'a member comes twice:', pairs)
        return dict(pairs)
    request = json.loads(body.decode('utf-8'), object_pairs_hook=no_doubles, parse_constant=lambda word: check(False, word))
    members(request, 'request', ('resourceSpans',))
    check(len(request['resourceSpans']) == 1, 'not one resource')
    resource = members(request['resourceSpans'][0], 'resourceSpans', ('resource', 'scopeSpans'))
    of = attributes(members(resource['resource'], 'resource', ('attributes',))['attributes'], 'resource')
    for key in ('service.name', 'service.instance.id', 'telemetry.sdk.name', 'telemetry.sdk.language', 'telemetry.sdk.version'):
        text(of.get(key), key)
    check(re.fullmatch(r'[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}', of['service.instance.id']), 'no UUID')
    check(len(resource['scopeSpans']) == 1, 'not one scope')
    scope = members(resource['scopeSpans'][0], 'scopeSpans', ('scope', 'spans'))
    members(scope['scope'], 'scope', ('name', 'version'))
    check((scope['scope']['name'], bool(scope['scope']['version'])) == ('eddy', True), 'scope', scope['scope'])
    check(scope['spans'], 'no spans')
    return of, [Span(span) for span in scope['spans']]


class Collector:
    """Takes spans on a free port. `answers` are given in order, the last one for ever: a status, or (status, headers, body), or a
    function of the handler that answers by itself; `context` is of TLS. Spans of a post count as taken when it is answered 2xx."""

    def __init__(self, *answers, context=None):
        self.answers = list(answers or (200,))
        self.posts, self.spans, self.resources, self.wrong, self.times = 0, [], [], [], []
        self.headers = {}
        self.changed = threading.Condition()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            disable_nagle_algorithm = True   # a body waits for no acknowledgement of its head

            def do_POST(self):
                collector.take(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None   # a service may leave in the middle
        self.port = self.server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}/v1/traces'
        if context:
            self.url = f'https://localhost:{self.port}/v1/traces'
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def read(self, handler):
        body = handler.rfile.read(int(handler.headers['content-length']))
        check(handler.headers['content-type'] == 'application/json', 'content-type', handler.headers['content-type'])
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        check(handler.headers['traceparent'] is None, 'the exporter traces its own posts')
        return read_request(body)

    def take(self, handler):
        try:
            resource, spans = self.read(handler)
        except Exception as error:  # noqa: B902
            resource, spans = None, []
            with self.changed:
                self.wrong.append(error)
        with self.changed:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            self.posts += 1
            self.times.append(time.monotonic())
            self.changed.notify_all()
        if callable(answer):
            answer(handler)
            handler.close_connection = True
            return
        status, headers, body = answer if isinstance(answer, tuple) else (answer, {}, b'{}')
        if 200 <= status <= 299:
            with self.changed:
                self.spans += spans
                self.resources.append((resource, len(spans)))
                self.changed.notify_all()
        handler.send_response(status)
        for name, value in {'content-type': 'application/json', 'content-length': str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def wait(self, check_it, timeout=10):
        with self.changed:
            if not self.changed.wait_for(check_it, timeout):
                raise AssertionError(f'{self.posts} posts, {self.spans}, {self.wrong}')

    def wait_spans(self, count):
        self.wait(lambda: len(self.spans) >= count or self.wrong)
        self.verify()
        return self.spans

    def named(self, name):
        found = [span for span in self.spans if span.name == name]
        check(len(found) == 1, f'{len(found)} spans are called {name}:', self.spans)
        return found[0]

    def verify(self):
        """Nothing wrong has come; ids differ, and parents that are not elsewhere are there."""
        if self.wrong:
            raise self.wrong[0]
        ids = {span.id: span for span in self.spans}
        check(len(ids) == len(self.spans), 'ids come twice:', self.spans)
        for span in self.spans:
            if span.parent and not span.is_remote:
                parent = ids.get(span.parent)
                check(parent, 'a parent is missing:', span)
                check(parent.trace == span.trace, 'a parent is of another trace:', span)
                check(parent.start <= span.start, 'a child starts before its parent:', span)
