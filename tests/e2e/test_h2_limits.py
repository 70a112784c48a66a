"""HTTP/2: limits, times, the end of the server, and clients that make work for nothing."""
import os
import re
import signal
import socket
import threading
import time
import unittest

import h2wire
from h2wire import H2Wire, Reset, frame
from wire import KIB, MIB, Case, Lost, request, speaks_http2


def setUpModule():
    if not speaks_http2():
        raise unittest.SkipTest('needs an eddy with -Dhttp2=enabled')


def metric(server, name):
    return float(re.search(rf'^{name} (\S+)', server.get('/metrics').body.decode(), re.M)[1])


class H2Case(Case):
    def h2(self, server, **how):
        return H2Wire(server.port, **how)


class Limits(H2Case):
    def test_without_http_2(self):
        server = self.serve(self.folder(), '--no-http2')
        with server.connect() as wire:
            wire.send(h2wire.PREFACE)
            self.assertEqual(wire.read().status, 400)

    def test_a_body_of_unknown_length_that_is_too_large(self):
        """Also if it is one byte, which arrives last."""
        with self.h2(self.limits(body_max=1000)) as wire:
            self.assertEqual(len(wire.ask('POST', '/echo', body=bytes(1000)).body), 1000)
            for first, last in ((1000, 1), (0, 1001)):
                stream = wire.begin('POST', '/echo', end=False)
                wire.give(stream, bytes(first))
                wire.sync()
                wire.give(stream, bytes(last), end=True)
                self.assertProblem(wire.read(stream), 413)

    def test_responses_are_observed_as_whole(self):
        server = self.serve('--dir', self.folder(), '--access-log', program='tour')
        with self.h2(server) as wire:
            for path in ('/hello/you', '/no-such'):
                wire.ask('GET', path)
            wire.ask('HEAD', '/hello/you')
            wire.h2.reset_stream(wire.begin('GET', '/events/1000'), h2wire.CANCEL)
            wire.flush()
            wire.sync()
        server.stop()
        self.assertEqual(server.log.count('whole=true'), 3, server.log)

    def test_streams_beyond_the_limit(self):
        """libnghttp2 ends the connection of a client that has acknowledged the limit."""
        with self.h2(self.limits()) as wire:
            wire.ask()
            for _ in range(100):
                wire.begin('GET', '/slow/500')
            # GET / of an authority "a", in a frame of our own: h2 would not send it.
            wire.raw(frame(h2wire.HEADERS, h2wire.END_STREAM | h2wire.END_HEADERS, 999, b'\x82\x86\x84\x01\x01a'))
            self.assertEqual(wire.read_end(), [h2wire.PROTOCOL_ERROR])

    def test_requests_whose_streams_were_reset_count(self):
        """No more handlers run than streams may be open."""
        server = self.limits()
        with self.h2(server) as wire:
            for i in range(60):
                wire.h2.reset_stream(wire.begin('POST', '/wait?ms=1500'), h2wire.CANCEL)
            for i in range(40):
                wire.begin('POST', '/wait?ms=1500')
            over = wire.begin('GET', '/')
            with self.assertRaises(Reset) as caught:
                wire.read(over)
            self.assertEqual(caught.exception.code, h2wire.REFUSED_STREAM)

    def test_bodies_that_nobody_reads(self):
        """They count as memory for bodies; past that they get 503."""
        with self.h2(self.limits(body_memory_max=100000)) as wire:
            wire.sync()
            stream = wire.begin('GET', '/slow/500', end=False)
            wire.give(stream, bytes(60000))
            other = wire.begin('POST', '/echo', end=False)
            wire.give(other, bytes(60000), end=True)
            self.assertEqual(wire.read(other).status, 503)

    def test_bodies_that_nobody_reads_hold_up_no_others(self):
        """Each holds the window of its stream, and they take more than the connection's."""
        with self.h2(self.limits(body_memory_max=256 * MIB)) as wire:
            wire.sync()
            unread = [wire.begin('GET', '/slow/20000', end=False) for _ in range(90)]
            for stream in unread:
                wire.give(stream, bytes(256 * KIB))
            self.assertEqual(len(wire.ask('POST', '/echo', body=bytes(100 * KIB)).body), 100 * KIB)
            self.assertFalse(any(wire.streams[stream].headers for stream in unread))

    def test_a_body_of_which_only_the_end_is_too_much(self):
        """What is dropped is no end of the body."""
        server = self.limits(body_memory_max=100000)
        with server.connect(source='127.0.0.2') as first, self.h2(server) as wire:
            first.send(request('POST', '/echo', 'Content-Length: 80000') + bytes(60000))
            stream = wire.begin('POST', '/echo', end=False)
            for _ in range(2):
                wire.give(stream, bytes(15000))
                time.sleep(0.1)
            wire.give(stream, bytes(15000), end=True)
            self.assertProblem(wire.read(stream), 503)

    def test_a_body_that_takes_all_memory_for_bodies(self):
        with self.h2(self.limits(body_memory_max=100000)) as wire:
            stream = wire.begin('POST', '/echo', end=False)
            for _ in range(6):
                wire.give(stream, bytes(16000))
                wire.sync()
            wire.give(stream, b'', end=True)
            self.assertEqual(len(wire.read(stream).body), 96000)

    def test_idle_connections_end(self):
        with self.h2(self.limits(idle_timeout=300)) as wire:
            self.assertEqual(wire.ask().status, 200)
            self.assertEqual(wire.read_end(), [h2wire.NO_ERROR])

    def test_a_body_that_stops(self):
        with self.h2(self.limits(body_timeout=200)) as wire:
            stream = wire.begin('POST', '/echo', end=False)
            wire.give(stream, b'some')
            self.assertProblem(wire.read(stream), 408)
            self.assertEqual(wire.ask().status, 200)

    def test_a_window_that_stays_shut(self):
        """The stream ends, and others go on."""
        with self.h2(self.limits(write_timeout=400), manual=True) as wire:
            stream = wire.begin('GET', '/big/200000')
            wire.h2.increment_flow_control_window(MIB)
            wire.flush()
            with self.assertRaises(Reset) as caught:
                wire.read(stream)
            self.assertEqual(caught.exception.code, h2wire.INTERNAL_ERROR)
            self.assertEqual(wire.ask().status, 200)

    def test_pings_open_no_window(self):
        """Their answers are no progress of a response that is not taken."""
        with self.h2(self.limits(write_timeout=400), manual=True) as wire:
            stream = wire.begin('GET', '/big/200000')
            wire.h2.increment_flow_control_window(MIB)
            wire.flush()
            until = time.monotonic() + 20
            with self.assertRaises(Reset) as caught:
                while time.monotonic() < until:
                    wire.sync()
                    wire.check(stream)
                    time.sleep(0.05)
            self.assertEqual(caught.exception.code, h2wire.INTERNAL_ERROR)

    def test_a_client_that_reads_nothing(self):
        server = self.serve('--write_timeout', 400, program='limits', log='debug')
        with self.h2(server, settings={4: 1 << 30}) as wire:
            wire.h2.increment_flow_control_window(1 << 30)
            wire.begin('GET', '/big/60000000')
            server.wait_for('its client takes nothing', timeout=60)
            with self.assertRaises(Lost):
                while True:
                    wire.more()

    def test_large_frames_that_are_not_read(self):
        """Those that wait for the socket end with the connection."""
        folder = self.folder()
        with open(os.path.join(folder, 'small'), 'wb') as file:
            file.write(bytes(100 * KIB))
        config = os.path.join(self.folder(), 'tour.toml')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('[server]\nwrite_timeout_ms = 400\n')
        server = self.serve('--dir', folder, '--config', config, program='tour')
        for _ in range(5):
            with self.h2(server, settings={4: 16 * MIB, 5: MIB}, rcvbuf=4096) as wire:
                wire.ask('GET', '/hello/you')
                wire.begin('GET', '/text/16000000')
                for _ in range(3):
                    time.sleep(0.02)
                    wire.begin('GET', '/files/small')
                time.sleep(0.1)
                self.eventually(lambda: metric(server, 'eddy_http_connections') == 1 and metric(server, 'eddy_tasks') < 10)

    def test_a_stream_of_files_that_is_reset(self):
        """Other streams of the connection go on, also if the reset comes within a large frame."""
        folder = self.folder()
        with open(os.path.join(folder, 'large'), 'wb') as file:
            file.write(os.urandom(MIB) * 8)
        server = self.serve(folder)
        for _ in range(10):
            with self.h2(server, settings={4: 64 * MIB, 5: MIB}, rcvbuf=65536) as wire:
                wire.ask('GET', '/')
                stream = wire.begin('GET', '/files/?zip')
                other = wire.begin('GET', '/files/large')
                time.sleep(0.02)
                wire.h2.reset_stream(stream, h2wire.CANCEL)
                wire.flush()
                self.assertEqual(len(wire.read(other).body), 8 * MIB)

    def test_the_end_of_the_server(self):
        server = self.limits()
        with self.h2(server) as wire, self.h2(server) as idle:
            idle.ask()
            stream = wire.begin('GET', '/slow/500')
            wire.sync()
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(wire.read(stream).status, 200)
            self.assertEqual(wire.read_end(), [h2wire.NO_ERROR] * 2)
            self.assertEqual([last for _, last in wire.goaways], [2**31 - 1, stream])
            self.assertEqual(idle.read_end(), [h2wire.NO_ERROR] * 2)
        self.assertEqual(server.wait(), 0)

    def test_no_request_is_handled_after_the_end(self):
        """Not even while one is in progress."""
        server = self.limits()
        with self.h2(server) as wire:
            stream = wire.begin('GET', '/slow/1000')
            wire.sync()
            server.process.send_signal(signal.SIGTERM)
            while not wire.goaways:
                wire.more()
            # Behind its acknowledgement of the server's PING.
            wire.sync()
            late = wire.begin('GET', '/')
            self.assertEqual(wire.read(stream).status, 200)
            self.assertEqual(wire.read_end(), [h2wire.NO_ERROR] * 2)
            self.assertEqual([last for _, last in wire.goaways], [2**31 - 1, stream])
            self.assertIsNone(wire.streams[late].headers)
        self.assertEqual(server.wait(), 0)

    def test_a_request_that_crosses_the_end_of_the_server(self):
        server = self.limits()
        with self.h2(server) as wire:
            wire.ask()
            server.process.send_signal(signal.SIGTERM)
            while not wire.incoming:
                wire.incoming += wire.socket.recv(4096)
            # The PING behind the first GOAWAY is not acknowledged yet.
            ping = wire.incoming.find(bytes((h2wire.PING, 0, 0, 0, 0, 0)))
            self.assertGreater(ping, 0)
            stream = wire.begin('GET', '/big/1000')
            wire.more()
            self.assertEqual(wire.read(stream).status, 200)
            self.assertEqual(wire.read_end(), [h2wire.NO_ERROR] * 2)
        self.assertEqual(server.wait(), 0)

    def test_a_client_that_does_not_see_the_end_of_the_server(self):
        server = self.limits()
        with self.h2(server) as wire:
            wire.ask()
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1.5)
            wire.socket.settimeout(0.1)
            data = b''
            while got := wire.socket.recv(4096):
                data += got
            self.assertEqual(h2wire.kinds_of(data), [h2wire.GOAWAY, h2wire.PING, h2wire.GOAWAY])


class Rates(H2Case):
    """Of each stream, as far as its client holds it up, and of the connection."""

    def drip(self, wire, stream, piece, seconds):
        """Send pieces of a body, until the server answers."""
        end = time.monotonic() + seconds
        wire.socket.settimeout(0.02)
        while time.monotonic() < end and wire.streams[stream].headers is None and wire.streams[stream].code is None:
            if piece:
                wire.h2.send_data(stream, piece)
                wire.flush()
            try:
                wire.more()
            except TimeoutError:
                pass
        wire.socket.settimeout(10)

    def counted(self, server, **expected):
        with server.connect() as wire:
            said = dict(zip(*[iter(wire.ask(b'GET /closed HTTP/1.1\r\nHost: x\r\n\r\n').body.decode().split())] * 2))
        self.assertEqual({name: said[name] for name in expected}, {name: str(value) for name, value in expected.items()})

    def test_body_rate_min(self):
        server = self.limits(body_rate_min=5000, rate_grace=600)
        for piece in (b'x', b'x' * 20, b''):
            with self.subTest(piece), self.h2(server) as wire:
                stream = wire.begin('POST', '/echo', end=False)
                self.drip(wire, stream, piece, 10)
                self.assertProblem(wire.read(stream), 408)
                self.assertEqual(wire.ask().status, 200)
        self.counted(server, bodies=3, writes=0)

    def test_a_body_that_is_quick_enough(self):
        server = self.limits(body_rate_min=1000, rate_grace=300)
        with self.h2(server) as wire:
            stream = wire.begin('POST', '/echo', end=False)
            self.drip(wire, stream, b'x' * 200, 1.5)
            wire.give(stream, b'', end=True)
            self.assertEqual(wire.read(stream).status, 200)
        self.counted(server, bodies=0)

    def test_a_window_that_opens_slowly(self):
        server = self.limits(write_rate_min=5000, rate_grace=600)
        with self.h2(server, manual=True) as wire:
            stream = wire.begin('GET', '/big/200000')
            wire.h2.increment_flow_control_window(MIB)
            while len(wire.streams[stream].body) < 65535:
                wire.more()
            with self.assertRaises(Reset):
                for _ in range(100):
                    wire.h2.increment_flow_control_window(20, stream)
                    wire.flush()
                    time.sleep(0.04)
                    wire.sync()
                    wire.check(stream)
            self.assertEqual(wire.ask().status, 200)
        self.counted(server, bodies=0, writes=1)

    def test_a_window_that_opens_quickly_enough(self):
        server = self.limits(write_rate_min=5000, rate_grace=300)
        with self.h2(server, manual=True) as wire:
            stream = wire.begin('GET', '/big/200000')
            wire.h2.increment_flow_control_window(MIB)
            for _ in range(30):
                wire.h2.increment_flow_control_window(600, stream)
                wire.flush()
                time.sleep(0.04)
                wire.sync()
                wire.check(stream)
        self.counted(server, writes=0)

    def test_a_socket_that_is_read_slowly(self):
        server = self.limits(write_rate_min=500000, rate_grace=600)
        with self.h2(server, settings={4: 1 << 30}, rcvbuf=4096) as wire:
            wire.h2.increment_flow_control_window(1 << 30)
            wire.begin('GET', f'/big/{32 * MIB}')
            end, got = time.monotonic() + 2.5, 0
            while time.monotonic() < end:
                wire.socket.recv(100)
                time.sleep(0.02)
            try:
                while data := wire.socket.recv(MIB):
                    got += len(data)
            except ConnectionResetError:
                pass
            self.assertLess(got, 32 * MIB)
        self.counted(server, writes=1)

    def test_connections_whose_requests_are_all_slow_make_room(self):
        server = self.limits(workers=1, connections_max=2, rate_grace=60000)
        with self.h2(server) as wire, self.h2(server) as other:
            slow = [wire.begin('POST', '/echo', end=False) for _ in range(3)]
            busy = other.begin('GET', '/slow/5000')
            time.sleep(1.2)
            with server.connect() as new:
                self.assertServes(new)
            with self.assertRaises(Lost):
                for stream in slow:
                    wire.read(stream)
            other.sync()
            self.assertEqual(other.read(busy).status, 200)


class Abuse(H2Case):
    def flood(self, server, data, count=2000):
        """Send it repeatedly. Return: the error codes of GOAWAY frames."""
        with self.h2(server) as wire:
            wire.ask()
            try:
                for _ in range(count):
                    wire.raw(data)
            except Lost:
                pass
            return wire.read_end()

    def test_floods(self):
        """Frames that make work for nothing."""
        server = self.limits()
        for name, data in (('pings', frame(h2wire.PING, payload=bytes(8))), ('settings', frame(h2wire.SETTINGS)),
                           ('priorities', frame(h2wire.PRIORITY, 0, 3, bytes(5))), ('windows', frame(h2wire.WINDOW_UPDATE, 0, 0, b'\0\0\0\1')),
                           ('late windows', frame(h2wire.WINDOW_UPDATE, 0, 1, b'\0\0\0\1')),
                           ('late data', frame(h2wire.DATA, 0, 1)), ('late bytes', frame(h2wire.DATA, 0, 1, b'x')),
                           ('unknown', frame(99)), ('urgencies', frame(h2wire.PRIORITY_UPDATE, payload=b'\0\0\0\1u=1'))):
            with self.subTest(name):
                end = h2wire.STREAM_CLOSED if name == 'late bytes' else h2wire.ENHANCE_YOUR_CALM
                self.assertIn(end, self.flood(server, data * 20, 100))
                with self.h2(server) as wire:
                    self.assertEqual(wire.ask().status, 200)

    def test_goodbyes(self):
        with self.h2(self.limits()) as wire:
            wire.begin('GET', '/slow/5000')
            wire.raw(frame(h2wire.GOAWAY, payload=bytes(8)) * 200)
            self.assertIn(h2wire.ENHANCE_YOUR_CALM, wire.read_end())

    def test_windows_that_open_little_by_little(self):
        server = self.limits()
        with self.h2(server) as wire:
            # Many at once are no flood.
            wire.raw(frame(h2wire.WINDOW_UPDATE, 0, 0, b'\0\0\0\1') * 900)
            self.assertEqual(wire.ask().status, 200)
        with self.h2(server, manual=True, settings={4: 0}) as wire:
            stream = wire.begin('GET', '/big/200000')
            try:
                for _ in range(1500):
                    wire.h2.increment_flow_control_window(1, stream)
                    wire.flush()
                    if not _ % 20:
                        wire.more()
            except Lost:
                pass
            self.assertEqual(wire.read_end(), [h2wire.ENHANCE_YOUR_CALM])

    def test_a_field_that_is_repeated(self):
        """By a byte each time, in a head or in trailers."""
        large = b'\x40\1x\x7f\xa1\x1e' + b'v' * 4000     # entry 62 of the table
        server = self.limits()
        for is_trailer in (False, True):
            with self.subTest(is_trailer=is_trailer), self.h2(server) as wire:
                wire.ask()
                stream = wire.begin('POST', '/echo', end=False) if is_trailer else 3
                fields = large + b'\xbe' * 100
                wire.raw(frame(h2wire.HEADERS, h2wire.END_STREAM | h2wire.END_HEADERS, stream, fields if is_trailer else h2wire.get(b'/') + fields))
                self.assertEqual(wire.read_end(), [h2wire.ENHANCE_YOUR_CALM])

    def test_resets_between_other_frames(self):
        """Small frames of DATA that a client lets come do not excuse them."""
        with self.h2(self.limits(), manual=True) as wire:
            big = wire.begin('GET', '/big/200000')
            while len(wire.streams[big].body) < 65535:
                wire.more()
            wire.h2.increment_flow_control_window(MIB)
            try:
                for _ in range(150):
                    wire.h2.reset_stream(wire.begin('POST', '/echo', end=False), h2wire.CANCEL)
                    wire.h2.increment_flow_control_window(1, big)
                    wire.flush()
                    wire.more()
            except (Lost, h2wire.h2.exceptions.ProtocolError):
                pass
            self.assertIn(h2wire.ENHANCE_YOUR_CALM, wire.read_end())

    def test_rapid_reset(self):
        server = self.limits()
        with self.h2(server) as wire:
            try:
                for _ in range(1000):
                    wire.h2.reset_stream(wire.begin('GET', '/slow/100'), h2wire.CANCEL)
                    wire.flush()
            except Lost:
                pass
            self.assertIn(h2wire.ENHANCE_YOUR_CALM, wire.read_end())

    def test_empty_frames(self):
        server = self.limits()
        with self.h2(server) as wire:
            stream = wire.begin('POST', '/echo', end=False)
            try:
                wire.raw(frame(h2wire.DATA, 0, stream) * 1000)
            except Lost:
                pass
            self.assertIn(h2wire.ENHANCE_YOUR_CALM, wire.read_end())

    def test_continuations_without_end(self):
        server = self.limits()
        with self.h2(server) as wire:
            wire.ask()
            try:
                wire.raw(frame(h2wire.HEADERS, 0, 3, b'\x82'))
                for _ in range(1000):
                    wire.raw(frame(h2wire.CONTINUATION, 0, 3, b''))
            except Lost:
                pass
            self.assertTrue(wire.read_end())

    def test_many_connections(self):
        server = self.limits()

        def work(_):
            with self.h2(server) as wire:
                for _ in range(5):
                    for stream in [wire.begin('GET', '/big/20000') for _ in range(10)]:
                        self.assertEqual(len(wire.read(stream).body), 20000)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with self.h2(server) as wire:
            self.assertEqual(wire.ask().status, 200)


if __name__ == '__main__':
    unittest.main()
