"""HTTP/2 by prior knowledge: requests, bodies, windows, files, and clients that leave."""
import os
import socket
import struct
import time
import unittest

import h2wire
from h2wire import H2Wire, Reset, frame
from wire import KIB, MIB, Lost, Shared, pattern, request, speaks_http2


def setUpModule():
    if not speaks_http2():
        raise unittest.SkipTest('needs an eddy with -Dhttp2=enabled')


class Requests(Shared):
    program = 'limits'

    def connect(self, **how):
        return H2Wire(self.server.port, **how)

    def test_a_request(self):
        with self.connect() as wire:
            response = wire.ask()
            self.assertEqual((response.status, response.body), (200, b'static'))
            self.assertEqual(response.header('server'), 'eddy')
            self.assertRegex(response.header('date'), r'^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$')
            self.assertEqual(response.header('content-length'), '6')
            for name in ('connection', 'transfer-encoding', 'keep-alive'):
                self.assertIsNone(response.header(name))
            self.assertEqual({wire.settings.get(key) for key in (3, 4, 5, 6, 9)}, {100, 256 * KIB, None, 16 * KIB, 1})

    def test_frames_of_large_bodies(self):
        """Once a client has sent a MiB, its frames may have one."""
        with self.connect() as wire:
            for _ in range(3):
                self.assertEqual(wire.ask('POST', '/echo', body=bytes(MIB // 2)).status, 200)
            self.assertEqual(wire.settings[5], MIB)

    def test_the_same_head_as_by_http_1(self):
        for path in ('/', '/none', '/status/204', '/status/304', '/hello/a%20b', '/errno/2'):
            with self.subTest(path), self.connect() as wire, self.server.connect() as old:
                new, before = wire.ask('GET', path), old.ask(request('GET', path))
                self.assertEqual((new.status, new.body), (before.status, before.body))
                self.assertEqual([field for field in new.headers if field[0] != 'date'],
                                 [field for field in before.headers if field[0] not in ('date', 'connection')])

    def test_methods(self):
        with self.connect() as wire:
            head = wire.ask('HEAD', '/big/1000')
            self.assertEqual((head.status, head.header('content-length'), head.body), (200, '1000', b''))
            self.assertEqual(wire.ask('POST', '/').status, 405)
            self.assertEqual(wire.ask('PROPFIND', '/').status, 405)
            self.assertEqual(wire.ask('NOSUCH', '/').status, 501)
            self.assertEqual(wire.ask('OPTIONS', '*').status, 204)
            self.assertEqual(wire.ask('CONNECT', None, authority='localhost:1', scheme=None).status, 405)

    def test_targets(self):
        with self.connect() as wire:
            self.assertEqual(wire.ask('GET', '/hello/../hello/world').body, b'static')
            self.assertEqual(wire.ask('GET', '/../x').status, 400)
            self.assertEqual(wire.ask('GET', '/hello/%zz').status, 400)

    def test_host(self):
        with self.connect() as wire:
            self.assertEqual(wire.ask('GET', '/host', authority='example.com:80').body, b'example.com:80')
            self.assertEqual(wire.ask('GET', '/host', ('host', 'example.com'), authority=None).body, b'example.com')
            self.assertEqual(wire.ask('GET', '/host', ('host', 'EXAMPLE.com'), authority='example.com').status, 200)
            self.assertEqual(wire.ask('GET', '/host', ('host', 'other'), authority='example.com').status, 400)

    def test_fields(self):
        with self.connect() as wire:
            body = wire.ask('GET', '/headers', ('x-a', '1'), ('x-a', '2'), ('cookie', 'a=b'), ('cookie', 'c=d')).body
            self.assertEqual(body, b'x-a: 1\nx-a: 2\ncookie: a=b\ncookie: c=d\n')

    def test_heads_that_are_too_large(self):
        with self.connect() as wire:
            self.assertProblem(wire.ask('GET', '/' + 'a' * 9000), 414)
            self.assertProblem(wire.ask('GET', '/', *((f'x-{i}', 'v' * 600) for i in range(30))), 431)
            self.assertProblem(wire.ask('GET', '/', *((f'x-{i}', '') for i in range(101))), 431)
            self.assertEqual(wire.ask().status, 200)

    def test_fields_that_are_malformed(self):
        """RFC 9113 section 8.2 and 8.3: an error of the stream. The connection goes on."""
        for fields, how in (((('Upper', 'x'),), {}), ((('connection', 'close'),), {}), ((('transfer-encoding', 'chunked'),), {}),
                            ((('te', 'gzip'),), {}), ((('x', 'a\nb'),), {}), (((':path', '/'),), {}), (((':status', '200'),), {}),
                            ((), {'scheme': None}), ((), {'path': ''}), ((('content-length', 'x'),), {})):
            with self.subTest(fields=fields, how=how), self.connect() as wire:
                with self.assertRaises(Reset) as caught:
                    wire.ask('GET', *(() if 'path' in how else ('/',)), *fields, **how)
                self.assertEqual(caught.exception.code, h2wire.PROTOCOL_ERROR)
                self.assertEqual(wire.ask().status, 200)

    def test_many_streams_at_once(self):
        with self.connect() as wire:
            streams = [wire.begin('GET', f'/big/{i * 1000}') for i in range(100)]
            for i, stream in enumerate(streams):
                self.assertEqual(len(wire.read(stream).body), i * 1000)
            slow, quick = wire.begin('GET', '/slow/300'), wire.begin('GET', '/')
            wire.read(quick)
            self.assertIsNone(wire.streams[slow].headers)
            self.assertEqual(wire.read(slow).status, 200)

    def test_bodies(self):
        for size in (0, 1, 1000, 16 * KIB, 100 * KIB, MIB - 1):
            with self.subTest(size), self.connect() as wire:
                body = pattern(size)
                response = wire.ask('POST', '/echo', body=body)
                self.assertEqual((response.status, response.body == body), (200, True))
                sized = wire.ask('POST', '/echo', ('content-length', str(size)), body=body)
                self.assertEqual((sized.status, sized.body == body), (200, True))

    def test_a_body_that_differs_from_its_length(self):
        with self.connect() as wire:
            for said, sent in ((5, b'1234'), (3, b'1234')):
                with self.assertRaises(Reset) as caught:
                    wire.ask('POST', '/echo', ('content-length', str(said)), body=sent)
                self.assertEqual(caught.exception.code, h2wire.PROTOCOL_ERROR)

    def test_a_body_that_is_too_large(self):
        with self.connect() as wire:
            stream = wire.begin('POST', '/echo', ('content-length', str(10 * MIB)), end=False)
            self.assertProblem(wire.read(stream), 413)
            stream = wire.begin('POST', '/echo', end=False)
            try:
                wire.give(stream, bytes(3 * MIB))
            except Reset as reset:
                self.assertEqual(reset.code, h2wire.NO_ERROR)
            self.assertProblem(wire.read(stream), 413)
            self.assertEqual(wire.ask().status, 200)

    def test_a_response_before_the_body_has_ended(self):
        """The client is told that it need not send the rest."""
        with self.connect() as wire:
            stream = wire.begin('POST', '/none', end=False)
            self.assertEqual(wire.read(stream).status, 404)
            while wire.streams[stream].code is None:
                wire.more()
            self.assertEqual(wire.streams[stream].code, h2wire.NO_ERROR)
            self.assertEqual(wire.ask().status, 200)

    def test_an_empty_response_before_the_body_has_ended(self):
        with self.connect() as wire:
            stream = wire.begin('POST', '/nothing', ('content-length', '1000'), end=False)
            self.assertEqual(wire.read(stream).status, 200)
            while wire.streams[stream].code is None:
                wire.more()
            self.assertEqual(wire.streams[stream].code, h2wire.NO_ERROR)
            self.assertEqual(wire.ask().status, 200)

    def test_an_expectation(self):
        with self.connect() as wire:
            stream = wire.begin('POST', '/echo', ('expect', '100-continue'), end=False)
            while not wire.streams[stream].interim:
                wire.more()
            self.assertEqual(dict(wire.streams[stream].interim[0])[':status'], '100')
            wire.give(stream, b'body', end=True)
            self.assertEqual(wire.read(stream).body, b'body')
            self.assertEqual(wire.ask('POST', '/echo', ('expect', 'else'), body=b'').status, 417)

    def test_streams_of_unknown_length(self):
        with self.connect() as wire:
            response = wire.ask('GET', '/stream/1000')
            self.assertEqual(response.body.count(b'\n'), 1000)
            self.assertIsNone(response.header('content-length'))
            stream = wire.begin('GET', '/broken/10')
            with self.assertRaises(Reset) as caught:
                wire.read(stream)
            self.assertEqual(caught.exception.code, h2wire.INTERNAL_ERROR)
            self.assertEqual(wire.ask().status, 200)

    def test_large_heads_of_responses(self):
        with self.connect() as wire:
            wire.h2.decoder.max_header_list_size = MIB
            self.assertEqual(len(wire.ask('GET', '/header/200000').header('x-large')), 200000)
            with self.assertRaises(Reset) as caught:
                wire.ask('GET', '/header/600000')
            self.assertEqual(caught.exception.code, h2wire.INTERNAL_ERROR)
            self.assertEqual(wire.ask().status, 200)

    def test_trailers_are_dropped(self):
        with self.connect() as wire:
            stream = wire.begin('POST', '/echo', end=False)
            wire.give(stream, b'body')
            wire.h2.send_headers(stream, [('x-trailer', 'x')], end_stream=True)
            wire.flush()
            self.assertEqual(wire.read(stream).body, b'body')

    def test_windows(self):
        """Of a response only as much comes as the client lets come; others are not held up."""
        with self.connect(manual=True) as wire:
            stream = wire.begin('GET', '/big/300000')
            wire.read_head(stream)
            while len(wire.streams[stream].body) < 65535:
                wire.more()
            wire.sync()
            self.assertEqual(len(wire.streams[stream].body), 65535)
            wire.h2.increment_flow_control_window(MIB)
            wire.h2.increment_flow_control_window(1, stream)
            wire.flush()
            self.assertEqual(wire.ask().status, 200)
            self.assertEqual(len(wire.streams[stream].body), 65536)
            wire.h2.increment_flow_control_window(MIB, stream)
            wire.flush()
            self.assertEqual(len(wire.read(stream).body), 300000)

    def test_a_window_that_can_not_open_any_more(self):
        """Its client sends no more. Before the timeout."""
        with self.connect(manual=True) as wire:
            stream = wire.begin('GET', '/big/300000')
            wire.read_head(stream)
            wire.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(wire.read_end(), [h2wire.NO_ERROR])
            self.assertEqual((len(wire.streams[stream].body), wire.streams[stream].code), (65535, h2wire.INTERNAL_ERROR))

    def test_windows_grow_with_what_is_read(self):
        with self.connect() as wire:
            wire.ask()
            stream = wire.begin('POST', '/pump', end=False)
            wire.give(stream, bytes(MIB))
            self.eventually(lambda: wire.sync() or wire.h2.local_flow_control_window(stream) > 512 * KIB)
            wire.give(stream, bytes(MIB), end=True)
            self.assertEqual(wire.read(stream).status, 200)

    def test_bytes_that_come_one_by_one(self):
        with socket.create_connection(('127.0.0.1', self.server.port)) as raw:
            for byte in h2wire.PREFACE + frame(h2wire.SETTINGS):
                raw.sendall(bytes((byte,)))
            data = b''
            while len(data) < 9:
                data += raw.recv(4096)
            self.assertEqual(data[3], h2wire.SETTINGS)

    def test_a_preface_that_is_wrong(self):
        for data in (b'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', h2wire.PREFACE + frame(h2wire.PING, payload=bytes(8)),
                     h2wire.PREFACE + frame(h2wire.SETTINGS, payload=b'x')):
            with self.subTest(data), socket.create_connection(('127.0.0.1', self.server.port)) as raw:
                raw.settimeout(10)
                raw.sendall(data)
                said = b''
                while got := raw.recv(4096):
                    said += got
                self.assertIn(h2wire.GOAWAY, h2wire.kinds_of(said))

    def test_http_1_goes_on_as_before(self):
        with self.server.connect() as wire:
            self.assertServes(wire)
            wire.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
            self.assertEqual(wire.read().status, 400)

    def test_who_resets_a_stream_cancels_its_handler(self):
        with self.connect() as wire:
            stream = wire.begin('GET', '/wait?ms=60001')
            self.server.wait_for('waiting 60001 ms')
            wire.h2.reset_stream(stream, h2wire.CANCEL)
            wire.flush()
            self.server.wait_for('waited 60001 ms: cancelled, the client has left')
            stream = wire.begin('POST', '/wait?ms=301')
            self.server.wait_for('waiting 301 ms')
            wire.h2.reset_stream(stream, h2wire.CANCEL)
            wire.flush()
            self.server.wait_for('waited 301 ms: done')
            self.assertEqual(wire.ask().status, 200)

    def test_a_reset_without_an_error_cancels(self):
        with self.connect() as wire:
            stream = wire.begin('GET', '/wait?ms=60006')
            self.server.wait_for('waiting 60006 ms')
            wire.h2.reset_stream(stream, h2wire.NO_ERROR)
            wire.flush()
            self.server.wait_for('waited 60006 ms: cancelled, the client has left')

    def test_a_reset_with_its_request_starts_nothing(self):
        with self.connect() as wire:
            wire.h2.reset_stream(wire.begin('GET', '/wait?ms=60007', flush=False), h2wire.CANCEL)
            wire.flush()
            wire.sync()
            self.assertEqual(wire.ask().status, 200)
        self.assertNotIn('60007', self.server.log)

    def test_a_client_that_says_goodbye(self):
        """Its requests are answered in full, also those whose end it has not let come yet."""
        with self.connect(manual=True) as wire:
            streams = [wire.begin('GET', '/big/70000') for _ in range(2)]
            while sum(len(wire.streams[stream].body) for stream in streams) < 65535:
                wire.more()
            wire.raw(frame(h2wire.GOAWAY, payload=bytes(8)))
            wire.h2.increment_flow_control_window(MIB)
            for stream in streams:
                wire.h2.increment_flow_control_window(MIB, stream)
            wire.flush()
            for stream in streams:
                self.assertEqual(len(wire.read(stream).body), 70000)
            self.assertEqual(wire.read_end(), [h2wire.NO_ERROR])

    def test_what_is_wrong_is_said_to_a_client_that_goes_on_sending(self):
        for _ in range(5):
            with self.connect() as wire:
                wire.raw(frame(h2wire.DATA, 0, 0, b'x'))
                try:
                    for _ in range(50):
                        wire.raw(frame(h2wire.PING, payload=bytes(8)) * 3000)
                        time.sleep(0.001)
                except Lost:
                    pass
                self.assertEqual(wire.read_end(), [h2wire.PROTOCOL_ERROR])

    def test_a_goodbye_that_is_too_long(self):
        """Also once frames may be larger."""
        for count in range(2):
            with self.connect() as wire:
                for _ in range(count):
                    wire.ask()
                wire.raw(frame(h2wire.GOAWAY, payload=bytes(17 * KIB)))
                self.assertEqual(wire.read_end(), [h2wire.FRAME_SIZE_ERROR])

    def test_who_leaves_cancels_handlers(self):
        wire = self.connect()
        wire.begin('GET', '/wait?ms=60002')
        self.server.wait_for('waiting 60002 ms')
        wire.reset_connection()
        self.server.wait_for('waited 60002 ms: cancelled, the client has left')

    def test_who_leaves_within_a_body(self):
        wire = self.connect()
        wire.give(wire.begin('POST', '/wait?ms=60003', end=False), b'some')
        wire.reset_connection()
        self.server.wait_for('waiting 60003 ms')    # its body has failed

    def test_who_ends_its_stream_of_bytes(self):
        """Requests that are complete are answered; bodies that are not have failed; routes may ask for it."""
        with self.connect(manual=True) as wire:
            answered = wire.begin('GET', '/slow/300')
            wire.begin('POST', '/wait?ms=60004', end=False)
            wire.begin('GET', '/wait/end?ms=60005')
            self.server.wait_for('waiting 60005 ms')
            wire.socket.shutdown(socket.SHUT_WR)
            wire.flush = wire.h2.clear_outbound_data_buffer
            self.server.wait_for('waiting 60004 ms')
            self.server.wait_for('waited 60005 ms: cancelled, the client has left')
            self.assertEqual(wire.read(answered).status, 200)

    def test_clients_that_leave_within_a_response(self):
        for _ in range(20):
            wire = self.connect(manual=True)
            wire.begin('GET', '/big/3000000')
            wire.begin('GET', '/stream/100000')
            wire.more()
            wire.reset_connection()
        with self.connect() as wire:
            self.assertEqual(wire.ask().status, 200)


class Files(Shared):
    """Of `files`, whose handlers are the same."""

    def connect(self, **how):
        return H2Wire(self.server.port, **how)

    def test_files(self):
        for size in (0, 1, 4096, 16384, 65536, 5 * MIB + 3):
            with self.subTest(size), self.connect() as wire:
                data = self.write('file.bin', pattern(size))
                response = wire.ask('GET', '/files/file.bin')
                self.assertEqual((response.status, response.body == data), (200, True))
                self.assertEqual(response.header('content-length'), str(size))

    def test_files_outside_the_page_cache(self):
        for size in (1000, 70000, 200001):
            data = self.write('cold.bin', pattern(size, 5))
            with open(self.path('cold.bin'), 'rb') as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            with self.subTest(size), self.connect() as wire:
                self.assertEqual(wire.ask('GET', '/files/cold.bin').body == data, True)
                self.assertEqual(wire.ask('GET', '/files/').status, 200)

    def large(self, **how):
        """A client that takes frames of a MiB."""
        return self.connect(settings={4: 16 * MIB, 5: MIB}, **how)

    def test_large_frames(self):
        for size in (64 * KIB - 1, 64 * KIB, 300 * KIB, 5 * MIB + 3):
            data = self.write('large.bin', pattern(size, 3))
            with self.subTest(size), self.large() as wire:
                wire.ask()
                streams = [wire.begin('GET', '/files/large.bin') for _ in range(3)]
                small = wire.begin('GET', '/files/')
                self.assertEqual([wire.read(stream).body == data for stream in streams], [True] * 3)
                self.assertEqual(wire.read(small).status, 200)
                self.assertGreater(wire.largest, 60 * KIB)
                part = wire.ask('GET', '/files/large.bin', ('range', 'bytes=1-70000'))
                self.assertEqual(part.body, data[1:70001])

    def test_parts_that_are_far_apart(self):
        """The server maps a part of a file at a time."""
        data = self.write('far.bin', pattern(40 * MIB, 3))
        with self.large() as wire:
            self.assertEqual(wire.ask('GET', '/files/far.bin').body == data, True)
            starts = [0, 20 * MIB, 33 * MIB]
            streams = [wire.begin('GET', '/files/far.bin', ('range', f'bytes={start}-{start + 2 * MIB - 1}'), ('priority', 'i'), flush=False)
                       for start in starts]
            wire.flush()
            for stream, start in zip(streams, starts):
                self.assertEqual(wire.read(stream).body == data[start:start + 2 * MIB], True)

    def test_a_reset_within_a_large_frame(self):
        """The frame is completed, and counts for the window of the connection."""
        self.write('large.bin', pattern(5 * MIB))
        for _ in range(10):
            with self.large(manual=True, rcvbuf=4096) as wire:
                wire.ask()
                wire.h2.increment_flow_control_window(600 * KIB)
                stream = wire.begin('GET', '/files/large.bin')
                time.sleep(0.05)
                wire.h2.reset_stream(stream, h2wire.CANCEL)
                other = wire.begin('GET', '/files/large.bin', ('range', 'bytes=0-399999'))
                while not wire.streams[other].ended:
                    wire.h2.increment_flow_control_window(1000)
                    wire.flush()
                    wire.more()
                self.assertEqual(len(wire.streams[other].body), 400000)

    def test_who_leaves_within_a_large_frame(self):
        self.write('large.bin', pattern(5 * MIB))
        for _ in range(10):
            wire = self.large(rcvbuf=4096)
            wire.ask()
            for _ in range(3):
                wire.begin('GET', '/files/large.bin')
            time.sleep(0.02)
            wire.reset_connection()
        with self.connect() as wire:
            self.assertEqual(wire.ask('GET', '/files/').status, 200)

    def test_ranges(self):
        data = self.write('range.bin', pattern(MIB))
        with self.connect() as wire:
            response = wire.ask('GET', '/files/range.bin', ('range', 'bytes=1000-500000'))
            self.assertEqual((response.status, response.body == data[1000:500001]), (206, True))
            several = wire.ask('GET', '/files/range.bin', ('range', 'bytes=0-9,100000-300000'))
            self.assertIn(data[100000:300001], several.body)
            self.assertEqual(wire.ask('GET', '/files/range.bin', ('if-none-match', response.header('etag'))).status, 304)

    def test_uploads(self):
        for size in (0, 1, 4096, 300 * KIB, 5 * MIB + 3):
            with self.subTest(size), self.connect() as wire:
                data = pattern(size, 1)
                self.assertIn(wire.ask('PUT', '/files/new.bin', ('content-length', str(size)), body=data).status, (200, 201, 204))
                with open(self.path('new.bin'), 'rb') as file:
                    self.assertEqual(file.read() == data, True)

    def test_an_upload_that_breaks_off_leaves_nothing(self):
        wire = self.connect()
        stream = wire.begin('PUT', '/files/broken.bin', ('content-length', str(MIB)), end=False)
        wire.give(stream, bytes(200 * KIB))
        wire.sync()
        wire.reset_connection()
        with self.connect() as other:
            self.eventually(lambda: other.ask('GET', '/files/broken.bin').status == 404)

    def test_bulk_streams_share(self):
        self.write('bulk.bin', pattern(2 * MIB))
        with self.connect() as wire:
            streams = [wire.begin('GET', '/files/bulk.bin', ('priority', 'u=3, i')) for _ in range(4)]
            while not any(wire.streams[stream].ended for stream in streams):
                wire.more()
            self.assertGreater(min(len(wire.streams[stream].body) for stream in streams), MIB)
            for stream in streams:
                self.assertEqual(len(wire.read(stream).body), 2 * MIB)

    def test_urgency(self):
        """RFC 9218: what is more urgent goes first."""
        self.write('urgent.bin', pattern(2 * MIB))
        with self.connect(settings={4: 16 * MIB}) as wire:
            wire.ask()
            later = wire.begin('GET', '/files/urgent.bin', ('priority', 'u=6'), flush=False)
            sooner = wire.begin('GET', '/files/urgent.bin', ('priority', 'u=1'))
            wire.read(sooner)
            self.assertFalse(wire.streams[later].ended)
            self.assertEqual(len(wire.read(later).body), 2 * MIB)

    def test_an_urgency_that_changes(self):
        """PRIORITY_UPDATE, of a stream that is open, and of one that is not yet."""
        self.write('urgent.bin', pattern(2 * MIB))
        for early in (False, True):
            with self.subTest(early=early), self.connect(settings={4: 16 * MIB}) as wire:
                wire.ask()
                update = frame(h2wire.PRIORITY_UPDATE, payload=struct.pack('>I', 5) + b'u=1')
                wire.raw(update * early)
                first = wire.begin('GET', '/files/urgent.bin', flush=False)
                second = wire.begin('GET', '/files/urgent.bin', flush=False)
                self.assertEqual(second, 5)
                wire.raw(wire.h2.data_to_send() + update * (not early))
                wire.read(second)
                self.assertFalse(wire.streams[first].ended)
                self.assertEqual(len(wire.read(first).body), 2 * MIB)

    def test_a_file_that_becomes_shorter(self):
        """Its last page is filled up with zeros."""
        for left in (0, 3 * MIB - 1):
            self.write('cut.bin', pattern(3 * MIB))
            with self.subTest(left), self.connect(manual=True) as wire:
                stream = wire.begin('GET', '/files/cut.bin')
                wire.read_head(stream)
                os.truncate(self.path('cut.bin'), left)
                wire.manual = False
                wire.h2.increment_flow_control_window(16 * MIB)
                wire.h2.increment_flow_control_window(16 * MIB, stream)
                wire.flush()
                with self.assertRaises(Reset) as caught:
                    wire.read(stream)
                self.assertEqual(caught.exception.code, h2wire.INTERNAL_ERROR)
                self.assertEqual(wire.ask('GET', '/files/').status, 200)

    def test_a_file_that_becomes_shorter_as_it_is_sent(self):
        """To a client that reads it slowly."""
        for size in range(32 * MIB, 0, -4 * MIB):
            self.write('cut.bin', bytes(32 * MIB))
            with self.subTest(size), self.large(rcvbuf=4096) as wire, self.connect() as other:
                wire.ask()
                stream = wire.begin('GET', '/files/cut.bin')
                while len(wire.streams[stream].body) < MIB:
                    wire.more()
                os.truncate(self.path('cut.bin'), size - 1)
                with self.assertRaises(Lost):
                    wire.read(stream)
                self.assertLess(len(wire.streams[stream].body), 32 * MIB)
                self.assertEqual(other.ask('GET', '/files/').status, 200)


if __name__ == '__main__':
    unittest.main()
