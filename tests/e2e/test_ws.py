"""WebSockets: the handshake, messages, control frames, the end, compression, rooms, peers that break the rules, and what is
said of them in logs, metrics, spans and timelines."""
# needs: npm
import json
import os
import signal
import struct
import subprocess
import time
import unittest

from collector import KINDS
from recorded import unrepeatable
from spans import PARENT, TRACE, SpansCase
from timeline import Timeline
from wire import KIB, MIB, Case, Lost, is_sanitized, node, request
from ws import BINARY, CLOSE, CONTINUATION, FIELDS, KEY, PING, PONG, TEXT, Socket, deflate, frame

PATHS = ('/echo', '/parked', '/pieces')
DEFLATE = 'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'


class Sockets(Case):
    def serve_sockets(self, *args):
        return self.serve(*args, program='sockets')

    def assertEchoes(self, ws, data=b'still here'):
        ws.send(BINARY, data)
        self.assertEqual(ws.message(), (BINARY, data))

    def assertCloses(self, server, data, code, path='/echo', fields=()):
        """The server closes with that code after it got these bytes."""
        with Socket(server, path, *fields) as ws:
            self.assertEqual(ws.response.status, 101)
            ws.write(data)
            got = ws.frame()
            while got[0] != CLOSE:
                got = ws.frame()
            self.assertEqual(struct.unpack('>H', got[1][:2])[0] if got[1] else 1005, code)
            ws.wire.read_end()


class Handshake(Sockets):
    def test_by_the_letter(self):
        server = self.serve_sockets()
        with Socket(server, '/echo', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==') as ws:
            self.assertProblem(ws.response, 400)    # two keys
        fields = [field for field in FIELDS if 'Key' not in field]
        with server.connect() as wire:
            response = wire.ask(request('GET', '/echo', *fields, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='))
            self.assertEqual((response.status, response.header('sec-websocket-accept')), (101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='))
            self.assertEqual((response.header('upgrade'), response.header('connection')), ('websocket', 'upgrade'))
            self.assertIsNone(response.header('sec-websocket-protocol'))
            self.assertIsNone(response.header('sec-websocket-extensions'))
        # Case and company of tokens.
        with server.connect() as wire:
            response = wire.ask(request('GET', '/echo', 'connection: keep-alive, UPGRADE', 'upgrade: h2c, WebSocket', *FIELDS[2:]))
            self.assertEqual(response.status, 101)

    def test_what_is_no_upgrade(self):
        server = self.serve_sockets()
        for without in range(3):
            response = server.get('/echo', *[field for i, field in enumerate(FIELDS) if i != without])
            self.assertProblem(response, 426)
            self.assertEqual([response.header(name) for name in ('upgrade', 'connection', 'sec-websocket-version')], ['websocket', 'upgrade', '13'])
        for version in ('8', '013', '13, 8', '14'):
            response = server.get('/echo', *FIELDS[:2], f'Sec-WebSocket-Version: {version}', FIELDS[3])
            self.assertProblem(response, 426)
        self.assertEqual(server.get('/echo', *FIELDS, method='HEAD').status, 426)
        self.assertEqual(server.get('/echo', *FIELDS, method='POST').status, 405)

    def test_keys(self):
        server = self.serve_sockets()
        for key in ('', 'abc', KEY[:-1], KEY + 'A', 'A' * 24, '*' * 22 + '=='):
            self.assertProblem(server.get('/echo', *FIELDS[:3], f'Sec-WebSocket-Key: {key}'), 400)
        self.assertProblem(server.get('/echo', *FIELDS[:3]), 400)
        self.assertProblem(server.ask(request('GET', '/echo', *FIELDS, body=b'abc')), 400)

    def test_protocols(self):
        server = self.serve_sockets()
        for offered, chosen in ((('x, echo',), 'echo'), (('other', 'echo'), 'echo'), (('other',), 'other'), (('Echo',), None), ((), None)):
            with Socket(server, '/echo', *[f'Sec-WebSocket-Protocol: {protocol}' for protocol in offered]) as ws:
                self.assertEqual((ws.response.status, ws.response.header('sec-websocket-protocol')), (101, chosen))

    def test_origins(self):
        server = self.serve_sockets()
        same = 'Origin: http://localhost'
        for fields, status in (((same,), 101), (('Origin: http://evil.example',), 403), (('Origin: null',), 403),
                               (('Sec-Fetch-Site: cross-site',), 403), ((same, 'Sec-Fetch-Site: same-origin'), 101)):
            with Socket(server, '/echo', *fields) as ws:
                self.assertEqual(ws.response.status, status, fields)

    def test_frames_right_behind_it(self):
        server = self.serve_sockets()
        for path in PATHS:
            with server.connect() as wire:
                wire.send(request('GET', path, *FIELDS) + frame(TEXT, 'early') + frame(PING))
                self.assertEqual(wire.read().status, 101)
                self.assertIn(wire.take(9), (b'\x81\x05early\x8a\x00', b'\x8a\x00\x81\x05early'))
            with server.connect() as wire:
                # What looks like the end of another head does not hold the response back.
                wire.send(request('GET', path, *FIELDS) + frame(PING, '\r\n\r\n', mask=bytes(4)))
                self.assertEqual(wire.read().status, 101)
                self.assertEqual(wire.take(6), b'\x8a\x04\r\n\r\n')


class Messages(Sockets):
    def test_sizes(self):
        server = self.serve_sockets()
        for path in PATHS:
            with Socket(server, path) as ws:
                for size in (0, 1, 125, 126, 127, 65535, 65536, 65537, MIB):
                    data = os.urandom(size)
                    ws.send(BINARY, data)
                    self.assertEqual(ws.message(), (BINARY, data), (path, size))
                self.assertEqual(ws.close(), (1000, b''))

    def test_byte_by_byte(self):
        server = self.serve_sockets()
        for path in PATHS:
            with Socket(server, path) as ws:
                for byte in frame(TEXT, 'grüße'.encode(), fin=False) + frame(PING, 'p') + frame(CONTINUATION, ' an alle'):
                    ws.write(bytes([byte]))
                frames = [ws.frame()]
                while frames[-1][0] == PONG or not frames[-1][2]:
                    frames.append(ws.frame())
                self.assertEqual([payload for opcode, payload, _, _ in frames if opcode == PONG], [b'p'])
                self.assertEqual(b''.join(payload for opcode, payload, _, _ in frames if opcode != PONG).decode(), 'grüße an alle')
                ws.close()

    def test_many_at_once(self):
        server = self.serve_sockets()
        for path in PATHS:
            with Socket(server, path) as ws:
                ws.write(b''.join(frame(TEXT, str(i)) for i in range(5000)))
                for i in range(5000):
                    self.assertEqual(ws.message(), (TEXT, str(i).encode()))
                ws.close()

    def test_large_payloads(self):
        """What has arrived of them is received at once, by the handler if it waits for it."""
        server = self.serve_sockets()
        text = ('grüße' * 30000).encode()
        for path in PATHS:
            with Socket(server, path) as ws:
                ws.send(TEXT, text)
                self.assertEqual(ws.message(), (TEXT, text))
                ws.write(frame(PING) + frame(TEXT, text) + frame(TEXT, text[:70001], fin=False) + frame(CONTINUATION, text[70001:]))
                self.assertEqual([ws.message() for _ in range(3)], [(PONG, b''), (TEXT, text), (TEXT, text)])
                data = frame(TEXT, text)
                for at in range(0, len(data), 50000):
                    ws.write(data[at:at + 50000])
                    time.sleep(0.02)
                self.assertEqual(ws.message(), (TEXT, text))
                # The first buffer ends with the head.
                ws.write(frame(BINARY, bytes(8192 - 8 - 14)) + frame(TEXT, text))
                self.assertEqual([ws.message() for _ in range(2)], [(BINARY, bytes(8192 - 8 - 14)), (TEXT, text)])
            for wrong in (b'\xff' + text, text + b'\xff', text + b'\xc3'):
                self.assertCloses(server, frame(TEXT, wrong), 1007, path)

    def test_largest(self):
        server = self.serve_sockets('--max', 1000)
        for path in PATHS[:2]:
            with Socket(server, path) as ws:
                self.assertEchoes(ws, bytes(1000))
            self.assertCloses(server, frame(BINARY, bytes(1001)), 1009, path)
            self.assertCloses(server, frame(BINARY, bytes(600), fin=False) + frame(CONTINUATION, bytes(600)), 1009, path)
            # Before any of it has come.
            self.assertCloses(server, frame(BINARY, b'', length=8)[:2] + struct.pack('>Q', 2 ** 62) + b'mask', 1009, path)
        with Socket(server, '/pieces') as ws:
            data = os.urandom(3 * MIB)
            ws.send(BINARY, data)
            self.assertEqual(ws.message(), (BINARY, data))

    def test_pings_are_answered_while_the_handler_is_busy(self):
        server = self.serve_sockets('--queue-max', 1000)
        with Socket(server, '/echo', rcvbuf=4096) as ws:
            for _ in range(50):
                ws.send(BINARY, bytes(100 * KIB))
            time.sleep(0.1)    # the handler waits for room in its queue
            ws.send(PING, 'x')
            for _ in range(50):
                opcode, data = ws.message()
                if opcode == PONG:
                    opcode, data = ws.message()
                self.assertEqual((opcode, len(data)), (BINARY, 100 * KIB))


class Ends(Sockets):
    def test_lost_connections(self):
        server = self.serve_sockets()
        before = server.descriptors() if hasattr(server, 'descriptors') else None
        for path in PATHS:
            for data in (b'', frame(TEXT, 'abc')[:4], frame(TEXT, 'abc', fin=False), frame(BINARY, bytes(100000))[:50000]):
                for reset in (False, True):
                    ws = Socket(server, path)
                    ws.write(data)
                    ws.wire.reset() if reset else ws.wire.socket.close()
        with Socket(server, '/echo') as ws:
            self.assertEchoes(ws)
        if before is not None:
            self.eventually(lambda: server.descriptors() <= before)

    def test_a_busy_handler(self):
        """Its peer answers pings, which is not read while much waits for the handler."""
        server = self.serve_sockets('--ping', 100, '--pong', 100)
        with Socket(server, '/busy') as ws:
            ws.write(frame(TEXT, 'x') + frame(BINARY, bytes(100000)) + frame(BINARY, bytes(100000)))
            got = []
            while len(got) < 2:
                opcode, data = ws.message()
                if opcode == PING:
                    ws.send(PONG)
                else:
                    got.append(data)
            self.assertEqual(got, [b'x', bytes(100000)])

    def test_again_without_parks(self):
        server = self.serve_sockets()
        with Socket(server, '/again') as ws:
            ws.write(frame(TEXT, 'a') + frame(TEXT, 'b'))
            self.assertEqual(ws.message(), (TEXT, b'a'))
            self.assertEqual(ws.closed()[0], 1011)

    def test_a_message_without_end(self):
        """Its handler returns: other tasks that send to the socket do not wait for its end."""
        server = self.serve_sockets()
        with Socket(server, '/half') as ws:
            ws.send(TEXT, 'x')
            self.assertEqual(ws.frame()[:3], (TEXT, b'x', False))
            self.assertEqual(ws.closed()[0], 1011)

    def test_a_message_that_a_shutdown_ends(self):
        """Pieces that are queued and the close frame still arrive."""
        server = self.serve_sockets('--queue-max', 100000)
        with Socket(server, '/endless', rcvbuf=4096) as ws:
            time.sleep(0.2)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            got = ws.frame()
            while got[0] != CLOSE:
                self.assertEqual(len(got[1]), 20000)
                got = ws.frame()
            self.assertEqual(got[1], struct.pack('>H', 1001))
            ws.send(CLOSE, got[1])
            ws.wire.read_end()
        self.assertEqual(server.wait(), 0)

    def test_messages_behind_the_last(self):
        """After its handler has returned nothing is expanded, and so nothing can be wrong with it."""
        server = self.serve_sockets('--deflate')
        with Socket(server, '/leaves', DEFLATE) as ws:
            self.assertEqual(ws.frame()[:2], (CLOSE, struct.pack('>H', 1000)))
            ws.send(TEXT, b'\xff' * 10, rsv=4)
            ws.send(TEXT, b'\xff')
            with self.assertRaises(TimeoutError):
                ws.wire.socket.settimeout(0.2)
                ws.wire.socket.recv(1)
            ws.send(CLOSE, struct.pack('>H', 1000))
            ws.wire.socket.settimeout(20)
            ws.wire.read_end()

    def test_idle_ones_make_room(self):
        """One address that has opened many does not lock out others."""
        server = self.serve_sockets('--workers', 1, '--connections_max', 40)
        for path in PATHS[:2]:
            idle = []
            for _ in range(60):
                idle.append(Socket(server, path))
                self.addCleanup(idle[-1].__exit__)
            for _ in range(3):
                with Socket(server, '/echo') as ws:
                    self.assertEchoes(ws)

    def test_messages_are_counted_as_bodies_are(self):
        """One address may have half of what is left."""
        server = self.serve_sockets('--workers', 1, '--body_memory_max', 6 * MIB)
        with Socket(server, '/echo') as one:
            one.send(BINARY, bytes(4 * MIB), fin=False)
            with Socket(server, '/echo') as other:
                other.send(BINARY, bytes(MIB), fin=False)
                self.assertEqual(struct.unpack('>H', other.frame()[1])[0], 1013)
            one.send(CONTINUATION, b'x')
            self.assertEqual(len(one.message()[1]), 4 * MIB + 1)
            with Socket(server, '/echo') as other:
                self.assertEchoes(other, bytes(3 * MIB))

    def test_silence(self):
        server = self.serve_sockets('--ping', 100, '--pong', 1500)
        for path in PATHS:
            with Socket(server, path) as ws:
                for _ in range(3):
                    self.assertEqual(ws.frame()[0], PING)
                    began = time.monotonic()
                    ws.send(PONG)
                self.assertEqual(ws.frame()[0], PING)
                self.assertTrue(ws.is_lost())
                self.assertGreater(time.monotonic() - began, 1.59)

    def test_shutdown(self):
        server = self.serve_sockets()
        sockets = [Socket(server, path) for path in PATHS]
        for ws in sockets:
            self.assertEchoes(ws)
        server.process.send_signal(signal.SIGTERM)
        for ws in sockets:
            self.assertEqual(ws.message(), (CLOSE, struct.pack('>H', 1001)))
            ws.send(CLOSE, struct.pack('>H', 1001))
            ws.wire.read_end()
        self.assertEqual(server.wait(), 0)

    def test_shutdown_of_silent_ones(self):
        server = self.serve_sockets()
        sockets = [Socket(server, path) for path in PATHS]
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        for ws in sockets:
            ws.wire.__exit__(None, None, None)

    def test_slow_readers_are_bounded(self):
        server = self.serve_sockets('--queue-max', 100000)
        with Socket(server, '/echo', rcvbuf=4096) as ws:
            ws.wire.socket.settimeout(1)
            sent = 0
            while sent < 100 and ws.wire.try_send(frame(BINARY, bytes(MIB))):
                sent += 1
            self.assertLess(sent, 60, 'the server takes no more than its buffers hold')
        with Socket(server, '/echo') as ws:
            self.assertEchoes(ws)

    def test_a_flood_of_pings(self):
        """A peer that does not read gets a pong for the last ping, and few for those before."""
        server = self.serve_sockets('--queue-max', 10000)
        with Socket(server, '/echo', rcvbuf=4096) as ws:
            for _ in range(1000):
                ws.write(frame(PING, 'x' * 125) * 1000)
            ws.send(PING, 'last')
            pongs = 1
            while ws.message() != (PONG, b'last'):
                pongs += 1
            self.assertLess(pongs, 1000 * 1000)
            self.assertEchoes(ws)


class Deflate(Sockets):
    def test_negotiation(self):
        server = self.serve_sockets()
        with Socket(server, '/echo', DEFLATE) as ws:
            self.assertIsNone(ws.response.header('sec-websocket-extensions'))
        server = self.serve_sockets('--deflate')
        for offer, reply in ((DEFLATE, 'server_no_context_takeover'), ('Sec-WebSocket-Extensions: x, permessage-deflate', 'client_no_context_takeover')):
            with Socket(server, '/echo', offer) as ws:
                self.assertIn(reply, ws.response.header('sec-websocket-extensions'))

    def test_bombs(self):
        server = self.serve_sockets('--deflate', '--max', 100000)
        for path in PATHS[:2]:
            self.assertCloses(server, frame(BINARY, deflate(bytes(200000)), rsv=4), 1009, path, (DEFLATE,))
            self.assertCloses(server, frame(BINARY, bytes(100001)), 1009, path, (DEFLATE,))

    @unittest.skipIf(is_sanitized(), 'the sanitizer has memory of its own')
    def test_pieces_expand_one_by_one(self):
        server = self.serve_sockets('--deflate')
        with Socket(server, '/pieces', DEFLATE) as ws:
            before, size = server.peak(), 64 * MIB
            ws.send(BINARY, deflate(bytes(size)), rsv=4)
            self.assertEqual(len(ws.message()[1]), size)
            self.assertLess(server.peak() - before, 8 * MIB)


class Rooms(Sockets):
    def test_all_get_what_one_sends(self):
        server = self.serve_sockets('--workers', 2)
        with Socket(server, '/room') as one:
            self.join(one)
            with Socket(server, '/room') as other:
                self.join(other)
                self.assertEqual(one.message(), (TEXT, b'x'))
                one.send(TEXT, 'hello')
                for ws in (one, other):
                    self.assertEqual(ws.message(), (TEXT, b'hello'))
                other.send(BINARY, bytes(100000))
                for ws in (one, other):
                    self.assertEqual(ws.message(), (BINARY, bytes(100000)))
                self.assertEqual(one.close(), (1000, b''))
                other.send(TEXT, 'alone')
                self.assertEqual(other.message(), (TEXT, b'alone'))

    def test_rooms_joined_at_the_handshake(self):
        """Messages that are sent before the response follow it; a handshake that is rejected leaves the room."""
        server, fields = self.serve_sockets('--deflate'), (DEFLATE, 'Sec-WebSocket-Protocol: echo')
        with Socket(server, '/early') as ws:
            self.assertEqual(ws.message(), (TEXT, b'welcome'))
            for what in ('reject', 'recv', 'send'):
                with Socket(server, f'/early?{what}', *fields) as other:
                    self.assertEqual(other.response.status, 403, what)
                    self.assertNotIn('sec-websocket', other.response.raw)
                self.assertEqual(ws.message(), (TEXT, b'welcome'))
            with Socket(server, '/early?close') as other:
                self.assertEqual(other.message(), (TEXT, b'welcome'))
                self.assertEqual(other.close(4001), (4001, b'early'))
            ws.send(TEXT, 'x')
            self.assertEqual((ws.message(), ws.message()), ((TEXT, b'welcome'), (TEXT, b'x')))

    def test_nothing_follows_the_close_of_one_that_is_too_slow(self):
        server = self.serve_sockets('--lag-max', 100000, '--queue-max', 100 * MIB)
        with Socket(server, '/room', rcvbuf=4096) as ws:
            ws.send(TEXT, 'flood')
            time.sleep(0.5)     # the socket is closed by now
            opcode, data = ws.message()
            while opcode != CLOSE:
                opcode, data = ws.message()
            self.assertEqual(data[:2], struct.pack('>H', 1013))
            ws.wire.read_end()

    def test_slow_member_of_many(self):
        server = self.serve_sockets('--lag-max', 20000, '--queue-max', 100 * MIB)
        with Socket(server, '/rooms', rcvbuf=4096) as ws:
            opcode, data = ws.message()
            while opcode == BINARY:
                opcode, data = ws.message()
            self.assertEqual((opcode, data[:2]), (CLOSE, struct.pack('>H', 1013)))
            ws.wire.read_end()

    def join(self, ws):
        """Once its own message has come, it is in the room."""
        ws.send(TEXT, 'x')
        self.assertEqual(ws.message(), (TEXT, b'x'))

    def test_order_is_the_same_for_all(self):
        server = self.serve_sockets('--workers', 2)
        sockets = [Socket(server, '/room') for _ in range(6)]
        for ws in sockets:
            self.addCleanup(ws.__exit__)
            self.join(ws)
        for i in range(50):
            for at, ws in enumerate(sockets):
                ws.send(TEXT, f'{at}.{i}')
        got = []
        for ws in sockets:
            messages = []
            while len(messages) < 300:
                text = ws.message()[1]
                if text != b'x':
                    messages.append(text)
            got.append(messages)
        for messages in got[1:]:
            self.assertEqual(messages, got[0])
        for at in range(6):
            self.assertEqual([text for text in got[0] if text.startswith(b'%d.' % at)], [b'%d.%d' % (at, i) for i in range(50)])

    def flood(self, server, slow):
        """Send the room 24 MB that a member does not read."""
        fast = Socket(server, '/room')
        self.addCleanup(fast.__exit__)
        self.join(fast)
        self.join(slow)
        for ws in (fast, slow):
            self.assertEqual(ws.message(), (TEXT, b'x'))
        for i in range(400):
            fast.send(BINARY, struct.pack('>I', i) + bytes(60000))
            self.assertEqual(fast.message()[1][:4], struct.pack('>I', i))
        return fast

    def test_slow_members_are_closed(self):
        server = self.serve_sockets('--lag-max', 100000)
        with Socket(server, '/room', rcvbuf=4096) as slow:
            self.flood(server, slow)
            got, count = slow.message(), 0
            while got[0] == BINARY:
                got, count = slow.message(), count + 1
            self.assertLess(count, 400)
            self.assertEqual(got, (CLOSE, struct.pack('>H', 1013) + b'messages are read too slowly'))

    def test_slow_members_skip(self):
        server = self.serve_sockets('--lag-max', 100000, '--skips')
        with Socket(server, '/room', rcvbuf=4096) as slow:
            fast = self.flood(server, slow)
            got, count = None, 0
            while got != (TEXT, b'again'):
                fast.send(TEXT, 'again')
                fast.message()
                got, count = slow.message(), count + 1
            self.assertLess(count, 400)

    def test_messages_are_compressed_once(self):
        server = self.serve_sockets('--deflate')
        text = b'to all ' * 100
        with Socket(server, '/room', DEFLATE) as one, Socket(server, '/room', DEFLATE) as other, Socket(server, '/room') as plain:
            for ws in (one, other, plain):
                self.join(ws)
            one.send(TEXT, text)
            frames = []
            for ws in (one, other, plain):
                got = ws.frame()
                while got[1] == b'x':
                    got = ws.frame()
                frames.append(got)
            self.assertEqual(frames[0], frames[1])
            self.assertEqual((frames[0][3], len(frames[0][1]) < 100), (4, True))
            self.assertEqual((frames[2][3], frames[2][1]), (0, text))


class Theirs(Sockets):
    """npm ws; others are in interop_ws.py."""

    def test_messages_and_codes(self):
        server = self.serve_sockets('--deflate')
        done = subprocess.run(node('sockets.mjs', 'talk', 'ws', f'ws://127.0.0.1:{server.port}'), capture_output=True, check=False, timeout=60)
        self.assertEqual(json.loads(done.stdout or done.stderr), {
            'echoed': 14, 'protocol': 'echo', 'extensions': 'permessage-deflate', 'mine': [3000, '', True], 'theirs': [4001, 'as you wish', True],
            'refused': True, 'ponged': 'are you there?', 'joined': 'in three fragments'})


class Tour(SpansCase):
    def test_routes(self):
        server = self.serve('--compression', program='tour')
        with Socket(server, '/ws/echo', 'Sec-WebSocket-Protocol: other, echo', DEFLATE) as ws:
            self.assertEqual(ws.response.header('sec-websocket-protocol'), 'echo')
            self.assertIn('permessage-deflate', ws.response.header('sec-websocket-extensions'))
            ws.send(TEXT, 'x' * 1000)
            self.assertEqual(ws.message(), (TEXT, b'x' * 1000))
        with Socket(server, '/ws/chat') as one:
            one.send(TEXT, 'first')
            self.assertEqual(one.message(), (TEXT, b'first'))
            with Socket(server, '/ws/chat') as other:
                other.send(TEXT, 'hello')
                self.assertEqual((one.message(), other.message()), ((TEXT, b'hello'), (TEXT, b'hello')))

    def test_log_and_metrics(self):
        server = self.serve('--access-log', program='tour')
        with Socket(server, '/ws/echo') as ws:
            ws.send(TEXT, 'hello')
            ws.message()
            text = server.get('/metrics').body.decode()
            for line in ('eddy_websockets 1', 'eddy_websocket_messages_total{direction="received"} 1', 'eddy_websocket_messages_total{direction="sent"} 1',
                         'eddy_websocket_bytes_total{direction="received"} 11', 'eddy_websocket_bytes_total{direction="sent"} 7'):
                self.assertIn(line + '\n', text)
            self.assertEqual(ws.close(3000), (3000, b''))
        server.wait_for(r'INFO eddy::access: GET /ws/echo 101 .*whole=true')
        server.wait_for(r'INFO eddy::access: WEBSOCKET /ws/echo 3000 request_id=\d+ .*pattern=/ws/echo code=3000 messages_received=1 '
                        r'messages_sent=1 received=19 sent=11 us=\d+')
        text = server.get('/metrics').body.decode()
        self.assertIn('eddy_websockets 0\n', text)
        self.assertIn('eddy_websockets_closed_total{code="other"} 1\n', text)

    def test_spans(self):
        collector = self.collector()
        server = self.serve('--tracing', program='tour', env={'OTEL_EXPORTER_OTLP_ENDPOINT': collector.url.removesuffix('/v1/traces')})
        with Socket(server, '/ws/echo', f'traceparent: {PARENT}', 'tracestate: a=b') as ws:
            ws.close()
        collector.wait_spans(2)
        handshake, socket = collector.named('GET /ws/echo'), collector.named('WebSocket')
        self.assertEqual((handshake.trace, socket.trace, socket.parent, socket.kind), (TRACE, TRACE, handshake.id, KINDS['internal']))
        self.assertEqual(socket.attributes, {'http.route': '/ws/echo', 'url.path': '/ws/echo', 'code': 1000, 'messages_received': 0,
                                             'messages_sent': 0, 'received': 8, 'sent': 4})

    @unrepeatable('the cost of a timeline is not recorded')
    def test_timeline(self):
        path = f'{self.folder()}/out.json'
        server = self.serve(program='tour', env={'EDDY_TRACE': path})
        with Socket(server, '/ws/echo') as ws:
            ws.close(1001)
        server.stop(signal.SIGINT)
        timeline = Timeline(path)
        self.assertEqual(timeline.wrong(), [])
        span, = [e for e in timeline.of('b', 'span', track='spans') if e['name'] == 'WebSocket /ws/echo']
        self.assertEqual((span['args']['code'], span['args']['received']), (1001, 8))
