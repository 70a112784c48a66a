"""Sockets that are cut off at any moment, and peers that send floods or read nothing: nothing is lost or leaked, memory is bounded,
and others are served."""
import contextlib
import random
import select
import signal
import threading
import time
import unittest

from wire import KIB, MIB, Case, Lost, in_threads, is_sanitized, request
from ws import BINARY, CLOSE, CONTINUATION, FIELDS, PING, PONG, TEXT, Socket, deflate, frame

PATHS = ('/echo', '/parked', '/pieces', '/close')
DEFLATE = 'Sec-WebSocket-Extensions: permessage-deflate'
NORMAL, TEXT_OF_CODE = b'\x03\xe8', '4001 bye'
# A whole life: the handshake, messages of all kinds, the end.
FRAMES = (frame(TEXT, 'hello'), frame(BINARY, bytes(20 * KIB)), frame(TEXT, 'in ', fin=False), frame(PING, 'p'), frame(CONTINUATION, 'pieces'),
          frame(TEXT, TEXT_OF_CODE), frame(TEXT, deflate('compressed ' * 1000), rsv=4), frame(BINARY, deflate(random.Random(1).randbytes(9000)), rsv=4),
          frame(CLOSE, NORMAL))
ENDS = ('close', 'reset', 'half')


class Cut(Case):
    def cut(self, server, chance):
        """One socket that ends somewhere: by FIN or RST, with or without what it was sent, or by half."""
        head = request('GET', chance.choice(PATHS), *FIELDS, *chance.choice(((), (DEFLATE,))))
        life = head + b''.join(chance.sample(FRAMES[:-1], 4)) + FRAMES[-1]
        at = chance.choice((chance.randrange(len(head)), chance.randrange(len(life)), len(life) - 1, len(life)))
        wire, how = server.connect(rcvbuf=chance.choice((0, 4096))), chance.choice(ENDS)
        with contextlib.suppress(Lost):
            for piece in (life[:at // 2], life[at // 2:at]):
                wire.try_send(piece)
                if chance.random() < 0.5 and select.select([wire.socket], [], [], 0.01)[0]:
                    wire.more()
        if how == 'reset':
            wire.reset()
        if how == 'half':
            with contextlib.suppress(Lost, OSError):
                wire.end()
                wire.read_end()
        wire.close()

    def test_at_any_moment(self):
        server = self.serve('--deflate', '--takeover', program='sockets')
        start, sizes = server.held(), []
        for turn in range(4):
            in_threads(8, lambda i, turn=turn: [self.cut(server, chance) for chance in [random.Random(f'{turn} {i}')] for _ in range(60)])
            self.eventually(lambda: server.held() <= start, what=lambda: f'{server.held()} descriptors, {start} at the start')
            sizes.append(server.rss())
        if not is_sanitized():
            self.assertLess(sizes[-1] - sizes[1], MIB, sizes)
        with Socket(server, '/echo') as ws:
            ws.send(TEXT, 'x')
            self.assertEqual(ws.message(), (TEXT, b'x'))
            self.assertEqual(ws.close(), (1000, b''))


class Floods(Case):
    FLOODS = {
        'pings': frame(PING, 'x' * 125), 'pongs': frame(PONG, 'x' * 125), 'empty messages': frame(TEXT), 'messages of a byte': frame(TEXT, 'x'),
        'empty fragments': frame(CONTINUATION, fin=False), 'fragments of a byte': frame(CONTINUATION, 'x', fin=False), 'close frames': frame(CLOSE, NORMAL),
        'compressed nothing': frame(TEXT, b'\0', rsv=4), 'compressed zeros': frame(BINARY, deflate(bytes(60 * KIB)), rsv=4),
    }

    def flood(self, ws, data, until):
        """Send that, and read nothing."""
        if data[0] & 0xf == CONTINUATION:
            ws.send(TEXT, fin=False)
        with contextlib.suppress(Lost, OSError):
            ws.wire.socket.settimeout(0.2)
            while time.monotonic() < until:
                with contextlib.suppress(TimeoutError):
                    ws.write(data * (64 * KIB // len(data)))

    def test_of(self):
        for name, data in self.FLOODS.items():
            with self.subTest(name):
                server = self.serve('--deflate', '--workers', 1, '--max', MIB, program='sockets')
                with contextlib.ExitStack() as stack, Socket(server, '/echo') as kind:
                    # Half of them on a path that takes messages in pieces.
                    floods = [stack.enter_context(Socket(server, path, DEFLATE, rcvbuf=4096)) for path in ('/echo', '/parked', '/pieces', '/pieces')]
                    before, worst, until = server.rss(), 0, time.monotonic() + 0.6
                    threads = [threading.Thread(target=self.flood, args=(ws, data, until)) for ws in floods]
                    for thread in threads:
                        thread.start()
                    while time.monotonic() < until:
                        began = time.monotonic()
                        kind.send(TEXT, 'still there?')
                        self.assertEqual(kind.message(), (TEXT, b'still there?'))
                        worst = max(worst, time.monotonic() - began)
                        time.sleep(0.01)
                    for thread in threads:
                        thread.join()
                    print(f'{name}: {worst:.3f} s, {(server.peak() - before) / MIB:.1f} MiB')
                    self.assertLess(worst, 3)
                    if not is_sanitized():
                        self.assertLess(server.peak() - before, 4 * 4 * MIB)
                    self.assertEqual(kind.close(), (1000, b''))
                server.stop()

    @unittest.skipIf(is_sanitized(), 'the sanitizer keeps what is freed')
    def test_of_those_that_read_nothing(self):
        """Each holds at most its queue, the messages that wait and the one that is sent."""
        server = self.serve('--deflate', '--queue-max', 64 * KIB, '--workers', 1, program='sockets')
        with contextlib.ExitStack() as stack:
            before = server.rss()
            slow = [stack.enter_context(Socket(server, path, DEFLATE, rcvbuf=4096)) for path in PATHS[:3] for _ in range(4)]
            full, data = 0, memoryview(frame(BINARY, bytes(50 * KIB)))
            for ws in slow:
                ws.wire.socket.setblocking(False)
                ws.rest = None
            while full < 20:
                full += 1
                for ws in slow:
                    with contextlib.suppress(BlockingIOError):
                        while True:
                            ws.rest = ws.rest or data
                            ws.rest = ws.rest[ws.wire.socket.send(ws.rest):]
                            full = 0
                time.sleep(0.02)
            self.assertLess((server.rss() - before) / len(slow), 512 * KIB)
            with Socket(server, '/echo') as ws:
                ws.send(TEXT, 'x')
                self.assertEqual(ws.message(), (TEXT, b'x'))


class Stop(Case):
    def test_with_a_thousand_open(self):
        """Those that answer are closed by 1001, and the others do not hold it up."""
        server = self.serve('--workers', 2, program='sockets')
        with contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(Socket(server, PATHS[i % 3])) for i in range(1000)]
            for ws in sockets[::7]:
                ws.send(TEXT, 'half of a message', fin=False)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            for ws in sockets[:500]:
                opcode, payload, _, _ = ws.frame()
                while opcode != CLOSE:
                    opcode, payload, _, _ = ws.frame()
                self.assertEqual(payload, b'\x03\xe9')
                ws.send(CLOSE, payload)
                ws.wire.read_end()
            self.assertEqual(server.wait(), 0)
            self.assertLess(time.monotonic() - began, 20)


if __name__ == '__main__':
    unittest.main()
