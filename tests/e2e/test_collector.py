"""Collectors that behave badly, or come too late: the service does not notice, the counters do."""
import socket
import ssl
import struct
import threading
import time
import unittest

import tls
from spans import SpansCase
from wire import MIB, request


def setUpModule():
    tls.setUpModule()


def tearDownModule():
    tls.tearDownModule()


class BadCollectors(SpansCase):
    """The service answers as ever, and the counters know."""

    def hello(self, server, count=1):
        with server.connect() as wire:
            for _ in range(count):
                began = time.monotonic()
                self.assertEqual(wire.ask(request('GET', '/hello/x')).body, b'Hello, x!')
                self.assertLess(time.monotonic() - began, 5)

    def test_is_not_there(self):
        with socket.socket() as silent:
            silent.bind(('127.0.0.1', 0))
            server = self.traced(f'http://127.0.0.1:{silent.getsockname()[1]}/v1/traces', retry_ms=1)
            self.hello(server, 3)
            self.assertEqual(self.wait_stats(server, failed=3)['exported'], 0)
            server.stop()
        self.assertEqual(server.log.count("Spans can't be exported to"), 1)

    def test_the_queue_is_smaller_than_a_batch(self):
        collector = self.collector()
        server = self.traced(collector, age_ms=1000000, queue_max=4)
        for batches in (1, 2, 3):
            self.hello(server, 4)
            self.assertEqual(self.wait_stats(server, exported=4 * batches)['exported'], 4 * batches)
        server.stop()

    def test_answers_500(self):
        collector = self.collector(500)
        server = self.traced(collector)
        self.hello(server, 3)
        self.wait_stats(server, failed=3)
        # For good: nothing is posted twice.
        stats = self.stats(server)
        server.stop()
        self.assertEqual((stats['exported'], stats['dropped']), (0, 0))
        self.assertIn('it responded with status 500', server.log)
        self.assertEqual(collector.wrong, [])

    def test_is_refused_for_good(self):
        for status in (400, 404, 413, 500, 301):
            collector = self.collector(status)
            server = self.traced(collector, age_ms=1000000, batch_max=2)
            self.hello(server, 2)
            collector.wait(lambda: collector.posts == 1)  # noqa: B023
            server.stop()
            self.assertEqual(collector.posts, 1, status)

    def test_is_tried_again(self):
        for status in (429, 502, 503, 504):
            collector = self.collector(status, status, 200)
            server = self.traced(collector, age_ms=1000000, batch_max=2, retry_ms=1)
            self.hello(server, 2)
            collector.wait_spans(2)
            self.assertEqual(collector.posts, 3)
            stats = self.wait_stats(server, exported=2)
            self.assertEqual((stats['failed'], stats['dropped']), (0, 0))
            server.stop()
            self.assertIn('again', server.log)

    def test_is_tried_five_times(self):
        collector = self.collector(*5 * [503], 200)
        server = self.traced(collector, age_ms=1000000, batch_max=2, retry_ms=1)
        self.hello(server, 4)
        collector.wait_spans(2)
        self.assertEqual(collector.posts, 6)
        self.assertEqual(self.wait_stats(server, exported=2)['failed'], 2)

    def test_says_when_to_come_again(self):
        collector = self.collector((503, {'retry-after': '1'}, b''), 200)
        server = self.traced(collector, age_ms=1000000, batch_max=2, retry_ms=1)
        self.hello(server, 2)
        collector.wait_spans(2)
        self.assertGreater(collector.times[1] - collector.times[0], 0.9)

    def test_asks_for_more_time_than_there_is(self):
        collector = self.collector((429, {'retry-after': '100000'}, b''))
        server = self.traced(collector, queue_max=4, batch_max=2, flush_ms=50)
        self.hello(server, 2)
        collector.wait(lambda: collector.posts == 1)
        self.hello(server, 50)
        self.wait_stats(server, dropped=40)
        server.stop()

    def test_rejects_some(self):
        answer = (200, {}, b'{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too\\nodd"}}')
        collector = self.collector(answer)
        server = self.traced(collector, age_ms=1000000, batch_max=3)
        self.hello(server, 3)
        collector.wait(lambda: collector.posts)
        stats = self.wait_stats(server, exported=2, failed=1)
        self.assertEqual((stats['exported'], stats['failed']), (2, 1))
        server.stop()
        self.assertIn('it rejected some spans: too\\nodd', server.log)

    def test_rejects_more_than_it_got(self):
        for body in (b'{"partialSuccess":{"rejectedSpans":99}}', b'{"partialSuccess":{"rejectedSpans":"18446744073709551615"}}'):
            collector = self.collector((200, {}, body))
            server = self.traced(collector, age_ms=1000000, batch_max=3)
            self.hello(server, 3)
            collector.wait(lambda: collector.posts)  # noqa: B023
            self.assertEqual(self.wait_stats(server, failed=3)['exported'], 0)

    def test_answers_nonsense(self):
        for body in (b'', b'ok', b'[]', b'{"partialSuccess":7}', b'{"partialSuccess":{"rejectedSpans":"-1"}}', b'{' * 10000, b'\xff'):
            collector = self.collector((200, {}, body))
            server = self.traced(collector, age_ms=1000000, batch_max=3)
            self.hello(server, 3)
            collector.wait(lambda: collector.posts)  # noqa: B023
            self.assertEqual(self.wait_stats(server, exported=3)['failed'], 0, body)

    def test_answers_no_http(self):
        collector = self.collector(lambda handler: handler.wfile.write(b'hello\r\n\r\n'))
        server = self.traced(collector)
        self.hello(server, 3)
        self.wait_stats(server, failed=3)

    def test_sends_a_gibibyte(self):
        sent = []

        def flood(handler):
            handler.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
            try:
                for _ in range(1024):
                    handler.wfile.write(MIB * b'x')
                    sent.append(MIB)
            except OSError:
                pass
        collector = self.collector(flood)
        server = self.traced(collector)
        self.hello(server, 3)
        self.wait_stats(server, failed=3)
        server.stop()
        self.assertLess(sum(sent), 64 * MIB)

    def test_hangs(self):
        collector = self.collector(lambda handler: collector.ended.wait(30))
        server = self.traced(collector, queue_max=6, batch_max=2, timeout_ms=100000, flush_ms=50)
        self.hello(server, 2)
        collector.wait(lambda: collector.posts == 1)
        self.hello(server, 100)
        stats = self.stats(server)
        self.assertGreater(stats['dropped'], 80)
        self.assertEqual((stats['exported'], stats['failed']), (0, 0))
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 5)

    def test_hangs_for_a_while(self):
        collector = self.collector(lambda handler: collector.ended.wait(30), 200)
        server = self.traced(collector, timeout_ms=100, retry_ms=1)
        self.hello(server, 2)
        # On a busy machine the next may be too late as well, and come once more.
        collector.wait(lambda: len(collector.spans) >= 2)
        self.assertEqual(self.wait_stats(server, exported=2)['failed'], 0)

    def test_resets(self):
        def reset(handler):
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            handler.connection.close()
        collector = self.collector(reset, reset, 200)
        server = self.traced(collector, age_ms=1000000, batch_max=2, retry_ms=1)
        self.hello(server, 2)
        collector.wait_spans(2)
        self.assertEqual(self.wait_stats(server, exported=2)['failed'], 0)

    def test_never_accepts(self):
        with socket.socket() as listener:
            listener.bind(('127.0.0.1', 0))
            listener.listen(0)
            server = self.traced(f'http://127.0.0.1:{listener.getsockname()[1]}/', timeout_ms=50, retry_ms=1)
            self.hello(server, 3)
            self.wait_stats(server, failed=3)
            server.stop()


class Certificates(SpansCase):
    """Nobody gets spans whom nobody trusts."""

    def over_tls(self, cert, **keys):
        using = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        using.load_cert_chain(tls.at(f'{cert}.both'))
        collector = self.collector(context=using)
        return collector, self.traced(collector, retry_ms=1, **keys)

    def test_trusted_by_the_file(self):
        collector, server = self.over_tls('server', collector_ca=tls.at('ca.pem'))
        server.get('/hello/x')
        collector.wait_spans(1)
        self.assertEqual(self.wait_stats(server, exported=1)['failed'], 0)

    def refused(self, *args, **keys):
        collector, server = self.over_tls(*args, **keys)
        self.assertEqual(server.get('/hello/x').status, 200)
        self.assertEqual(self.wait_stats(server, failed=1)['exported'], 0)
        server.stop()
        self.assertEqual(collector.posts, 0)
        return server.log

    def test_of_an_authority_that_nobody_named(self):
        self.assertIn('the certificate is not trusted', self.refused('server'))

    def test_of_another_authority(self):
        self.assertIn('the certificate is not trusted', self.refused('server', collector_ca=tls.at('foreign.pem')))

    def test_of_another_name(self):
        self.assertIn("Spans can't be exported to https://localhost:", self.refused('one', collector_ca=tls.at('ca.pem')))


class Ends(SpansCase):
    def test_what_is_left_is_flushed(self):
        collector = self.collector()
        server = self.traced(collector, age_ms=1000000)
        for _ in range(3):
            server.get('/hello/x')
        self.assertEqual(collector.posts, 0)
        server.stop()
        self.assertEqual(len(collector.spans), 3)
        collector.verify()

    def test_what_is_on_its_way_arrives_once(self):
        asked = threading.Event()

        def answer_late(handler):
            asked.set()
            server.wait_for('Shutdown signal')
            handler.send_response(200)
            handler.send_header('content-length', '0')
            handler.end_headers()
        collector = self.collector(answer_late, 200)
        server = self.traced(collector, batch_max=1, log='trace')
        server.get('/hello/x')
        self.assertTrue(asked.wait(10))
        server.get('/hello/y')
        server.stop()
        self.assertEqual((collector.posts, len(collector.spans)), (2, 1))

    def test_its_time_is_limited(self):
        collector = self.collector(lambda handler: collector.ended.wait(30))
        server = self.traced(collector, age_ms=1000000, flush_ms=50)
        server.get('/hello/x')
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 5)


if __name__ == '__main__':
    unittest.main()
