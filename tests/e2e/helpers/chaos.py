"""Clients that do at random whatever clients can do, for some time or so many requests. At the end the server is as it
was."""
import contextlib
import os
import random
import shutil
import tempfile
import threading
import time
import zlib

from collector import Collector
from h2frames import (DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, SETTINGS, block, frame, reset, setting,
                      window)
from timeline import Timeline
import ws
from wire import KIB, MIB, Lost, Server, chunked, pattern, request, speaks_http2

FORM = b'--x\r\nContent-Disposition: form-data; name="f"; filename="%s"\r\n\r\n%s\r\n--x--\r\n'
LINES = ('Content-Length: 5', 'Transfer-Encoding: chunked', 'Expect: 100-continue', 'Connection: close', 'Connection: keep-alive', 'Host: b',
         'Range: bytes=0-9', 'X: y', 'Content-Encoding: gzip', ' folded', 'Content-Length: 99999999999', '\0', 'If-Match: *')


def gzip(data):
    encoder = zlib.compressobj(1, zlib.DEFLATED, 31)
    return encoder.compress(data) + encoder.flush()


def some_socket(chance, body):
    """A handshake, and frames behind it."""
    frames = (ws.frame(ws.TEXT, 'hello'), ws.frame(ws.BINARY, body), ws.frame(ws.TEXT, 'in ', fin=False) + ws.frame(ws.CONTINUATION, 'pieces'),
              ws.frame(ws.PING, 'p'), ws.frame(ws.BINARY, ws.deflate(body), rsv=4), ws.frame(ws.BINARY, body, fin=False), ws.frame(ws.CLOSE, b'\x03\xe8'))
    deflate = ('Sec-WebSocket-Extensions: permessage-deflate',)
    head = request('GET', '/ws/' + chance.choice(('chat', 'parked', 'pieces')), *ws.FIELDS, *chance.choice(((), deflate)))
    return head + b''.join(chance.choices(frames, k=4))


def some_streams(chance, data, first):
    """Requests by HTTP/2, from this stream on. With what else a client may say."""
    parts = [] if first > 1 else [PREFACE + setting((4, chance.choice((0, 10, 65535, MIB)))) + window(0, chance.choice((1, 16 * MIB)))]
    for stream in range(first, first + 8, 2):
        body = data[:chance.choice((0, 1, 5000, 70000))]
        method, path = chance.choice((('GET', '/big/33000'), ('GET', '/big/1000000'), ('GET', '/stream/100'), ('GET', '/slow/20'), ('GET', '/broken/1'),
                                      ('GET', '/ticks/20'), ('POST', '/echo'), ('POST', '/pump'), ('POST', '/ignore'), ('POST', '/refuse'), ('PUT', '/once/a')))
        head = block((':method', method), (':scheme', 'http'), (':path', path), (':authority', 'a'), *(('expect', '100-continue'),) * chance.randrange(2))
        parts.append(frame(HEADERS, END_HEADERS | (method == 'GET'), stream, head))
        if method != 'GET':
            parts += [frame(DATA, 0, stream, body[at:at + 16 * KIB]) for at in range(0, len(body), 16 * KIB)] + [frame(DATA, END_STREAM, stream)]
        parts.append(chance.choice((b'', b'', window(stream, 100000), reset(stream), reset(chance.randrange(1, stream + 1, 2)), frame(PING, payload=bytes(8)),
                                    setting((4, chance.choice((0, 100, 65535)))), window(0, 100000))))
    if chance.random() < 0.1:
        parts.append(chance.choice((frame(GOAWAY, payload=bytes(8)), frame(SETTINGS, payload=b'x'), frame(DATA, 0, 0, b'x'))))
    return b''.join(parts)


def some_request(chance, data):
    """One request, mostly a good one."""
    size = chance.choice((0, 1, 100, 5000, 70000, 300000))
    body = data[:size]
    name = chance.choice('abcd')
    accept = 'Accept-Encoding: ' + chance.choice(('zstd', 'br', 'gzip', 'deflate', 'identity', 'compress', '*;q=0'))
    text = chance.choice((
        lambda: request('GET', f'/big/{chance.choice((0, 10, 33000, 1000000))}'),
        lambda: request('GET', f'/stream/{chance.choice((0, 1, 100, 20000))}'),
        lambda: request('GET', f'/slow/{chance.choice((0, 1, 20, 200))}'),
        lambda: request('GET', f'/broken/{chance.choice((0, 1, 100))}'),
        lambda: request('GET', f'/big/{chance.choice((0, 10, 33000, 1000000))}', accept),
        lambda: request('GET', f'/stream/{chance.choice((0, 1, 100, 20000))}', accept),
        lambda: request('GET', f'/broken/{chance.choice((0, 1, 100))}', accept),
        lambda: request('POST', '/pump', accept, 'Content-Encoding: gzip', body=gzip(body)),
        lambda: request('PUT', f'/once/{name}', accept, 'Content-Encoding: gzip', body=gzip(body)),
        lambda: request('HEAD', '/stream/10', accept),
        lambda: request('GET', '/nowhere'),
        lambda: request('POST', '/echo', body=body),
        lambda: request('POST', '/echo', 'Transfer-Encoding: chunked', body=chunked(*[body] * (size > 0))),
        lambda: request('POST', '/echo', 'Expect: 100-continue', body=body),
        lambda: request('POST', '/pump', 'Transfer-Encoding: chunked', body=chunked(*[body] * (size > 0))),
        lambda: request('POST', '/ignore', body=body),
        lambda: request('POST', '/refuse', 'Transfer-Encoding: chunked', body=chunked(*[body] * (size > 0))),
        lambda: request('PUT', f'/once/{name}', body=body),
        lambda: request('PUT', f'/once/{name}', 'Transfer-Encoding: chunked', body=chunked(*[body] * (size > 0))),
        lambda: request('POST', '/save', f'Content-Disposition: attachment; filename={name}', body=body),
        lambda: request('POST', '/save-all', 'Content-Type: multipart/form-data; boundary=x', body=FORM % (name.encode(), body)),
        lambda: request('GET', '/', *chance.choices(LINES, k=3)),
        lambda: request('GET', f'/ticks/{chance.choice((0, 1, 20))}', accept),
        lambda: request('GET', '/feed', accept),
        lambda: some_socket(chance, body),
        lambda: some_socket(chance, body),
    ))()
    if chance.random() < 0.1:
        spoilt = bytearray(text)
        for _ in range(chance.randrange(1, 4)):
            spoilt[chance.randrange(min(len(spoilt), 300))] = chance.randrange(256)
        text = bytes(spoilt)
    return text


class Quota:
    """How much all clients do together: until a time, or so many requests."""

    def __init__(self, seconds=None, requests=None):
        self.until = time.monotonic() + seconds if seconds else None
        self.left, self.asked, self.answered, self.lock = requests, 0, 0, threading.Lock()

    def count(self, asked=0, answered=0):
        with self.lock:
            self.asked += asked
            self.answered += answered

    @property
    def more(self):
        return time.monotonic() < self.until if self.until else self.asked < self.left


def misbehave(server, chance, data, quota):
    while quota.more:
        with contextlib.suppress(Lost, OSError, AssertionError, ValueError):
            with server.connect(timeout=0.3, rcvbuf=chance.choice((0, 0, 4096))) as wire:
                streams = chance.random() < 0.2 and speaks_http2()
                for turn in range(chance.randrange(1, 6)):
                    count = 4 if streams else chance.choice((1, 1, 1, 2, 8))
                    quota.count(asked=count)
                    text = some_streams(chance, data, 8 * turn + 1) if streams else b''.join(some_request(chance, data) for _ in range(count))
                    if chance.random() < 0.3:
                        text = text[:chance.randrange(len(text))]
                    while text:
                        size = chance.choice((len(text), len(text), 1, 100, 16384))
                        wire.try_send(text[:size])
                        text = text[size:] if chance.random() < 0.98 else b''
                    act = chance.random()
                    if act < 0.5 and streams:
                        for _ in range(10):
                            wire.more()
                    elif act < 0.5:
                        wire.read()
                        quota.count(answered=1)
                    elif act < 0.6:
                        wire.end()
                    elif act < 0.7:
                        wire.reset()
                        break
                    elif act < 0.8:
                        wire.more()


def at_once(server, seed, clients, data, quota):
    """Return: the threads of so many clients, which have begun."""
    threads = [threading.Thread(target=misbehave, args=(server, random.Random(f'{seed} {i}'), data, quota)) for i in range(clients)]
    for thread in threads:
        thread.start()
    return threads


def serves(server, failing):
    """Whether it answers; one whose calls fail does so now and then."""
    good = False
    for _ in range(20):
        try:
            if server.get('/').status == 200:
                good = True
            elif not failing:
                return False
        except (Lost, OSError, AssertionError):
            if not failing:
                raise
    return good


class Watched:
    """All that looks at a server meanwhile: the access log, spans for a collector that often fails, and a timeline."""

    def __init__(self, folder, seed):
        chance = random.Random(f'{seed} collector')
        answers = (200, 200, 200, 500, (503, {'retry-after': '0'}, b''), 400, (200, {'connection': 'close'}, b'{}'), lambda _: None,
                   lambda _: self.collector.ended.wait(0.2))
        self.collector = Collector(*chance.choices(answers, k=500), 200)
        self.args, self.path = ('--collector', self.collector.url), os.path.join(folder, 'timeline.json')
        self.sample = chance.choice((1, 2, 5))
        self.env = {'EDDY_TRACE': self.path, 'EDDY_TRACE_SAMPLE': str(self.sample), 'EDDY_TRACE_MAX': str(4 * MIB)}

    def wrong(self):
        """What is wrong with what was seen, once the server has ended; empty for nothing."""
        timeline = Timeline(self.path)
        # What was dropped is missing elsewhere, too.
        wrong = timeline.wrong(self.sample > 1 or timeline.dropped > 0) + self.collector.wrong
        wrong += [] if self.collector.spans else ['no spans']
        wrong += [] if timeline.of('b', 'span') else ['no spans on the timeline']
        return '\n'.join(map(str, wrong[:5]))

    def close(self):
        self.collector.close()


def run(quota, seed, clients=24, failing=False, watched=False):
    """Return: what is wrong afterwards; empty for nothing. `failing`: calls fail in the server; `watched`: it is traced."""
    folder = tempfile.mkdtemp(prefix='eddy-e2e-')
    watch = Watched(folder, seed) if watched else None
    limits = {'head_timeout': 150, 'body_timeout': 100, 'write_timeout': 150, 'idle_timeout': 100, 'connections_max': 16, 'workers': 2,
              'dir': folder, 'file_max': 200000, 'drain_timeout': 300}
    server = Server('--compression', *(watch.args if watch else ()), *[word for name, value in limits.items() for word in (f'--{name}', value)],
                    program='limits', env=watch.env if watch else None)
    data = pattern(300000)
    try:
        start = server.descriptors()
        for thread in at_once(server, seed, clients, data, quota):
            thread.join()
        end = time.monotonic() + 12
        # Of each worker's pool of pipes a few may have come.
        while server.descriptors() > start + 2 * 2 * 8 and time.monotonic() < end:
            time.sleep(0.05)
        left = server.descriptors() - start
        if left > 2 * 2 * 8:
            return f'{left} descriptors are left:\n{server.log}'
        if not serves(server, failing):
            return f'it serves no more:\n{server.log}'
        # One that ends while it is busy.
        threads = at_once(server, f'{seed} end', clients, data, Quota(seconds=0.5))
        time.sleep(0.1)
        server.stop()
        for thread in threads:
            thread.join()
        litter = [name for name in os.listdir(folder) if name.startswith('.')]
        return f'litter: {litter}' if litter else watch.wrong() if watch else ''
    finally:
        if server.process.poll() is None:
            server.kill()
        if watch:
            watch.close()
        shutil.rmtree(folder, ignore_errors=True)
