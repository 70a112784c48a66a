"""Times, the number of connections, and the end of a server that is busy."""
import os
import select
import signal
import time
import unittest

from wire import MIB, Case, Lost, Server, in_threads, only_http1, request, try_connect

# Longer than a timeout of 150 ms by any means, even where the machine is slow.
LATE = 2


class Times(Case):
    def test_slow_head(self):
        server = self.limits(head_timeout=200)
        began = time.monotonic()
        with server.connect() as wire:
            for byte in b'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ' + b'x' * 1000:
                if not wire.try_send(bytes([byte])) or time.monotonic() > began + LATE:
                    break
                time.sleep(0.02)
                if not wire.is_open(0):
                    break
            self.assertGreater(time.monotonic() - began, 0.19)
            self.assertProblem(wire.read(), 408)
            self.assertClosed(wire)

    def test_nothing_sent(self):
        server = self.limits(head_timeout=150, idle_timeout=60000)
        began = time.monotonic()
        with server.connect() as wire:
            self.assertClosed(wire)
        self.assertGreater(time.monotonic() - began, 0.14)

    def test_idle(self):
        server = self.limits(idle_timeout=600)
        with server.connect() as wire:
            self.assertServes(wire)
            time.sleep(0.35)
            self.assertServes(wire)
            time.sleep(0.35)
            began = time.monotonic()
            self.assertServes(wire)
            self.assertClosed(wire)
            took = time.monotonic() - began
            self.assertGreater(took, 0.59)
            self.assertLess(took, LATE)

    def test_second_head_is_timed_as_well(self):
        server = self.limits(head_timeout=150, idle_timeout=60000)
        with server.connect() as wire:
            self.assertServes(wire)
            self.assertTrue(wire.is_open(0.3))
            wire.send('GET / HTTP/1.1\r\n')
            self.assertProblem(wire.read(), 408)
            self.assertClosed(wire)

    def test_blank_line_is_no_head(self):
        """Who ends a body with a CRLF too many, and asks no more, is idle."""
        server = self.limits(head_timeout=150, idle_timeout=60000)
        with server.connect() as wire:
            wire.send(request('POST', '/echo', body='q=42') + b'\r\n')
            self.assertEqual(wire.read().body, b'q=42')
            self.assertTrue(wire.is_open(0.3))
            wire.send(b'\r\n')
            self.assertTrue(wire.is_open(0.3))
            self.assertServes(wire)
        with server.connect() as wire:
            wire.send(b'\r\n')
            self.assertClosed(wire)

    def test_half_a_head_behind_a_request(self):
        server = self.limits(head_timeout=150, idle_timeout=60000)
        with server.connect() as wire:
            wire.send(request('GET', '/') + b'GET / HT')
            self.assertEqual(wire.read().status, 200)
            self.assertProblem(wire.read(), 408)
            self.assertClosed(wire)

    def test_blank_lines_give_no_time(self):
        server = self.limits(idle_timeout=400)
        with server.connect() as wire:
            self.assertServes(wire)
            start = time.monotonic()
            while not select.select([wire.socket], [], [], 0.05)[0]:
                self.assertLess(time.monotonic() - start, 5)
                wire.try_send(b'\r\n')

    def test_request_that_overtakes_the_idle_limit(self):
        """What it was spared by is forgotten: a later head may come in pieces."""
        server = self.limits(idle_timeout=400)
        with server.connect() as wire, server.connect() as other:
            self.assertServes(wire)
            other.send(request('GET', '/block/600'))
            time.sleep(0.2)
            wire.send(request('GET', '/'))
            self.assertEqual(other.read().status, 204)
            self.assertEqual(wire.read().status, 200)
            other.close()
            head = request('GET', '/')
            wire.send(head[:9])
            time.sleep(0.1)
            self.assertEqual(wire.ask(head[9:]).status, 200)

    def test_stalled_body(self):
        server = self.limits(body_timeout=150)
        for data in (request('POST', '/echo', 'Content-Length: 10', body='abc'),
                     request('POST', '/echo', 'Content-Length: 10'),
                     request('POST', '/echo', 'Transfer-Encoding: chunked', body='5\r\nab'),
                     request('POST', '/echo', 'Transfer-Encoding: chunked')):
            with self.subTest(data), server.connect() as wire:
                wire.send(data)
                response = wire.read()
                self.assertProblem(response, 408)
                self.assertTrue(response.closes)
                wire.end()
                self.assertClosed(wire)
        self.assertNotIn('ERROR', server.log)

    def test_slow_body_that_moves(self):
        server = self.limits(body_timeout=600)
        with server.connect() as wire:
            wire.send(request('POST', '/echo', 'Content-Length: 14'))
            for _ in range(14):
                time.sleep(0.05)
                wire.send('x')
            self.assertEqual(wire.read().body, b'x' * 14)

    def test_stalled_upload(self):
        folder = self.folder()
        server = self.limits(body_timeout=150, dir=folder)
        for sent in (0, 100, 3 * MIB):
            with self.subTest(sent), server.connect() as wire:
                wire.send(request('PUT', '/once/x', f'Content-Length: {10 * MIB}') + b'x' * sent)
                self.assertProblem(wire.read(), 408)
                wire.end()
                self.assertClosed(wire)
            self.assertEqual(self.names(folder), [])
        self.assertNotIn('ERROR', server.log)

    def names(self, folder):
        import os
        return os.listdir(folder)

    def test_stalled_unread_body(self):
        server = self.limits(body_timeout=150)
        with server.connect() as wire:
            response = wire.ask(request('POST', '/ignore', 'Content-Length: 10', body='abc'))
            self.assertEqual(response.body, b'ignored')
            self.assertClosed(wire)

    @only_http1('a connection that ends with a response')
    def stalled_download(self, path):
        server = self.limits(write_timeout=200)
        with server.connect(rcvbuf=4096) as wire:
            wire.send(request('GET', path))
            wire.read_head()
            # It stalls once the socket's buffers are full: megabytes of short lines take a while.
            self.eventually(lambda: not self.established(server, wire), 20, 'the stalled download was not cut')
            self.assertRaises(Lost, wire.take, 100 * MIB)
        with server.connect() as wire:
            self.assertServes(wire)

    def established(self, server, wire):
        """Whether the server still has the connection open."""
        mine = wire.socket.getsockname()[1]
        with open('/proc/net/tcp') as file:
            for line in file:
                fields = line.split()
                if fields[1].endswith(f':{server.port:04X}') and fields[2].endswith(f':{mine:04X}'):
                    return fields[3] == '01'
        return False

    def test_stalled_download(self):
        self.stalled_download(f'/big/{50 * MIB}')

    def test_stalled_stream(self):
        self.stalled_download('/stream/100000000')

    def test_slow_download_that_moves(self):
        server = self.limits(write_timeout=800)
        with server.connect(rcvbuf=65536) as wire:
            wire.send(request('GET', f'/big/{20 * MIB}'))
            wire.read_head()
            for _ in range(8):
                time.sleep(0.1)
                wire.take(MIB)
            wire.take(11 * MIB)

    def test_very_slow_download_that_moves(self):
        """Slower than the socket's buffer tells: a third of it would have to become empty."""
        server = self.limits(write_timeout=3000)
        paths = f'/big/{20 * MIB}', '/stream/2000000'

        def read(i):
            with server.connect(rcvbuf=65536) as wire:
                wire.send(request('GET', paths[i]))
                wire.read_head()
                for _ in range(100):
                    time.sleep(0.02)
                    wire.take(10000)
                # All of what the server's socket held at a time, and more.
                wire.take(8 * MIB)
        in_threads(2, read)

    def test_handler_may_take_its_time(self):
        server = self.limits(head_timeout=300, body_timeout=300, write_timeout=300, idle_timeout=300)
        self.assertEqual(server.get('/slow/700').body, b'slept')

    def test_many_at_once(self):
        server = self.limits(head_timeout=300, idle_timeout=300, body_timeout=300)
        wires = []
        for i in range(150):
            wire = server.connect()
            wires.append(wire)
            if i % 3 == 0:
                wire.send('GET / HTTP/1.1\r\n')
            elif i % 3 == 1:
                self.assertServes(wire)
            else:
                wire.send(request('POST', '/echo', 'Content-Length: 10'))
        for i, wire in enumerate(wires):
            if i % 3 != 1:
                self.assertProblem(wire.read(), 408)
                wire.end()
            self.assertClosed(wire)
            wire.close()


class Connections(Case):
    def test_oldest_idle_is_closed(self):
        server = self.limits(connections_max=4)
        wires = []
        for _ in range(3):
            wires.append(server.connect())
            self.assertServes(wires[-1])
            time.sleep(0.02)
        self.assertServes(wires[0])     # now the second one is the oldest
        for _ in range(2):
            wires.append(server.connect())
            self.assertServes(wires[-1])
        self.assertEqual(wires[1].read_end(), b'')
        self.assertServes(wires[0])
        self.assertServes(wires[-1])
        for wire in wires:
            wire.close()

    def test_busy_ones_are_not_closed(self):
        server = self.limits(connections_max=3)
        busy = [server.connect() for _ in range(3)]
        for wire in busy:
            wire.send(request('GET', '/slow/400'))
        time.sleep(0.1)
        with server.connect() as wire:
            wire.send(request('GET', '/'))
            # It waits to be accepted, until one of the others is done.
            self.assertTrue(wire.is_open(0.1) or not all(other.is_open(0) for other in busy))
            for other in busy:
                self.assertEqual(other.read().body, b'slept')
            self.assertEqual(wire.read().status, 200)
        for wire in busy:
            wire.close()

    def test_new_one_is_not_closed_before_its_request(self):
        """The last free place is of use to whoever takes it, however long it thinks."""
        server = self.limits(connections_max=3)
        busy = [server.connect() for _ in range(2)]
        for wire in busy:
            wire.send(request('GET', '/slow/600'))
        time.sleep(0.05)
        with server.connect() as wire:
            time.sleep(0.1)
            self.assertServes(wire)
        for wire in busy:
            self.assertEqual(wire.read().body, b'slept')
            wire.close()

    def test_one_at_a_time(self):
        server = self.limits(connections_max=1)
        with server.connect() as wire:
            time.sleep(0.05)
            self.assertServes(wire)
            self.assertServes(wire)
        with server.connect() as wire:
            self.assertServes(wire)
            with server.connect() as other:
                self.assertServes(other)
            self.assertClosed(wire)

    def test_burst(self):
        """Those who come at once, and nobody else is there: no more than may be are accepted."""
        server = self.limits(connections_max=300)
        server.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WNOWAIT)
        wires = [server.connect() for _ in range(400)]
        for wire in wires:
            self.addCleanup(wire.close)
        server.process.send_signal(signal.SIGCONT)
        # The last one that there is room for.
        self.assertServes(wires[299])
        self.assertLessEqual(server.sockets(), 1 + 300)

    def test_flood(self):
        """Hundreds at once through a few places: everybody is served in the end."""
        server = self.limits(connections_max=8)
        wires = [server.connect(timeout=20) for _ in range(200)]
        for wire in wires:
            wire.send(request('GET', '/slow/1', 'Connection: close'))
        for wire in wires:
            self.assertEqual(wire.read().body, b'slept')
            wire.close()


class End(Case):
    def test_requests_in_flight_are_finished(self):
        server = self.serve('--drain_timeout', 60000, program='limits', log='trace')
        with server.connect() as busy, server.connect() as sending, server.connect() as idle, server.connect() as fresh:
            self.assertServes(idle)
            busy.send(request('GET', '/slow/1000') + request('GET', '/'))
            sending.send(request('POST', '/echo', 'Content-Length: 5', body='ab'))
            time.sleep(0.1)
            self.begin_end(server)
            # At once: one of the others has still something to send.
            self.assertClosed(idle)
            self.assertClosed(fresh)
            self.eventually(lambda: not try_connect(server.port), what='it still listens')
            response = busy.read()
            self.assertEqual((response.body, response.closes), (b'slept', True))
            self.assertClosed(busy)
            sending.send('cde')
            response = sending.read()
            self.assertEqual((response.body, response.closes), (b'abcde', True))
            self.assertClosed(sending)
        self.assertEqual(server.wait(5), 0)

    @only_http1('responses that close the connection')
    def test_by_a_handler(self):
        """What it answers says that it is the last, as does what is still on its way there."""
        for workers in (1, 3):
            server = self.serve('--workers', workers, program='doors')
            with server.connect() as asking, server.connect() as idle:
                self.assertServes(idle)
                response = asking.ask(request('POST', '/stop', 'Content-Length: 0') + request('GET', '/'))
                self.assertEqual((response.body, response.closes), (b'ending', True))
                self.assertClosed(asking)
                self.assertClosed(idle)
            self.assertEqual(server.wait(5), 0)

    @only_http1('responses that close the connection')
    def test_client_that_stays_delays_nothing(self):
        """It has its last answer and leaves its side open."""
        server = self.serve(program='limits', log='trace')
        with server.connect() as wire:
            self.assertServes(wire)
            wire.send(request('POST', '/echo', 'Content-Length: 5', body='ab'))
            time.sleep(0.1)
            self.begin_end(server)
            wire.send('cde')
            self.assertTrue(wire.read().closes)
            began = time.monotonic()
            self.assertEqual(server.wait(10), 0)
            self.assertLess(time.monotonic() - began, 4)

    @only_http1('half a head')
    def test_half_a_head_at_the_end(self):
        """It counts as a request: it gets the time that is left, or is cut with it."""
        server = self.serve('--drain_timeout', 60000, program='limits', log='trace')
        with server.connect() as wire, server.connect() as other:
            wire.send('GET / HTTP/1.1\r\n')
            self.assertServes(other)    # who came later
            self.begin_end(server)
            wire.send('Host: a\r\n\r\n')
            response = wire.read()
            self.assertEqual((response.status, response.closes), (200, True))
        self.assertEqual(server.wait(5), 0)

    def test_time_to_drain_ends(self):
        server = self.limits(drain_timeout=200)
        with server.connect() as slow, server.connect() as stalled, server.connect() as half:
            slow.send(request('GET', '/slow/60000'))
            stalled.send(request('POST', '/echo', 'Content-Length: 5'))
            half.send('GET / HT')
            time.sleep(0.1)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(10), 0)
            self.assertGreater(time.monotonic() - began, 0.19)
            self.assertLess(time.monotonic() - began, 4)

    @only_http1('status 503 in the log of such requests')
    def test_requests_cut_by_the_end_are_no_failures(self):
        # A traced app has an access log.
        server = self.serve('--drain_timeout', 100, '--collector', 'http://127.0.0.1:1/', program='limits')
        with server.connect() as slow, server.connect() as stalled:
            slow.send(request('GET', '/slow/60000'))
            stalled.send(request('POST', '/echo', 'Content-Length: 5'))
            self.eventually(lambda: server.sockets() >= 3)
            time.sleep(0.1)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(10), 0)
        for line in ('GET /slow/60000 503', 'POST /echo 503'):
            self.assertIn(line, server.log)

    def test_handler_that_ignores_its_end(self):
        """Its memory is in use: the process says who is stuck, and ends around it."""
        server = Server(program='limits')
        self.addCleanup(server.kill)
        with server.connect() as wire:
            wire.send(request('GET', '/stubborn/60000'))
            time.sleep(0.1)
            for _ in range(2):
                server.process.send_signal(signal.SIGTERM)
                time.sleep(0.1)
            self.assertEqual(server.wait(20), 1)
        self.assertIn('1 connections did not end within 5 s', server.log)
        self.assertRegex(server.log, r'"request" .*: sleep, for ')
        self.assertEqual(server.complaint().splitlines()[0], 'exit status 1')

    def test_second_signal_ends_at_once(self):
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM), (signal.SIGINT, signal.SIGINT)):
            with self.subTest(first=first, second=second):
                server = self.limits()
                with server.connect() as slow, server.connect() as stalled:
                    slow.send(request('GET', '/slow/60000'))
                    stalled.send(request('POST', '/echo', 'Content-Length: 5'))
                    time.sleep(0.1)
                    began = time.monotonic()
                    server.process.send_signal(first)
                    time.sleep(0.1)
                    self.assertIsNone(server.process.poll())
                    server.process.send_signal(second)
                    self.assertEqual(server.wait(10), 0)
                    self.assertLess(time.monotonic() - began, 4)

    def test_end_with_large_answers_on_their_way(self):
        server = self.limits()
        with server.connect(rcvbuf=65536) as wire:
            wire.send(request('GET', f'/big/{20 * MIB}'))
            wire.read_head()
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
            wire.take(20 * MIB)
            self.assertClosed(wire)
        self.assertEqual(server.wait(5), 0)

    def test_end_while_streaming(self):
        server = self.limits(drain_timeout=100)
        with server.connect() as wire:
            wire.send(request('GET', '/stream/1000000000'))
            wire.take(100000)
            server.process.send_signal(signal.SIGTERM)
            try:
                while True:
                    wire.buffer = b''
                    wire.more()
            except Lost:
                pass
        self.assertEqual(server.wait(5), 0)

    def test_end_with_workers(self):
        server = self.limits(workers=3, drain_timeout=1000)
        wires = [server.connect() for _ in range(30)]
        for i, wire in enumerate(wires):
            if i % 2:
                wire.send(request('GET', '/slow/200'))
            else:
                self.assertServes(wire)
        time.sleep(0.05)
        server.process.send_signal(signal.SIGTERM)
        for i, wire in enumerate(wires):
            if i % 2:
                self.assertEqual(wire.read().body, b'slept')
            self.assertClosed(wire)
            wire.close()
        self.assertEqual(server.wait(5), 0)

    def test_requests_that_wait_to_be_accepted(self):
        """What stands in the queue when the signal comes is served, and nobody is reset."""
        for workers in (1, 2):
            server = self.limits(workers=workers)
            server.process.send_signal(signal.SIGSTOP)
            wires = [server.connect() for _ in range(100)]
            for wire in wires[::2]:
                wire.send(request('GET', '/hello/x'))
            server.process.send_signal(signal.SIGTERM)
            server.process.send_signal(signal.SIGCONT)
            for wire in wires[::2]:
                self.assertEqual(wire.read().body, b'Hello, x!')
            for wire in wires:
                self.assertClosed(wire)
                wire.close()
            self.assertEqual(server.wait(5), 0)

    def test_requests_that_wait_and_do_not_fit_a_buffer(self):
        """Heads that are longer than a buffer, of more connections than there are buffers."""
        server = self.limits(workers=1)
        server.process.send_signal(signal.SIGSTOP)
        wires = [server.connect() for _ in range(200)]
        for wire in wires:
            wire.send(request('GET', '/hello/x', 'X: ' + 9000 * 'x'))
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGCONT)
        for wire in wires:
            self.assertEqual(wire.read().body, b'Hello, x!')
            wire.close()
        self.assertEqual(server.wait(5), 0)

    def test_end_under_load(self):
        """Every connection that was accepted is answered, or was told nothing."""
        server = self.limits(workers=2)
        wires = []
        for i in range(200):
            wires.append(server.connect())
            wires[-1].send(request('GET', '/hello/x'))
            if i == 150:
                server.process.send_signal(signal.SIGTERM)
                break
        for wire in wires:
            self.assertEqual(wire.read().body, b'Hello, x!')
            wire.close()
        self.assertEqual(server.wait(5), 0)


if __name__ == '__main__':
    unittest.main()
