"""More clients than there is room for, and clients that hold what they take. The tests have the names of the rows of BEHAVIOUR.md."""
import re
import select
import time
import unittest

from proxied import header, ports
from wire import MIB, Case, Lost, Wire, only_http1, request

BODY = request('POST', '/echo', 'Content-Length: 1000000')
HEAD = b'GET / HTTP/1.1\r\nHost: a\r\n'


def is_gone(wire):
    """Whether the server has closed it, with or without an answer, all of which has been read."""
    poll = select.poll()
    poll.register(wire.socket, select.POLLRDHUP)
    return bool(poll.poll(0))


class Crowded(Case):
    def serve(self, *args, **options):
        """Who holds a connection holds the end of the server too, unless that is quick."""
        return super().serve(*args, '--drain_timeout', 100, **options)

    def dial(self, server, source=None, data=b'', **options):
        wire = Wire(server.port, source=source, **options)
        self.addCleanup(wire.close)
        if data:
            wire.try_send(data)
        return wire

    def closed(self, server):
        """Connections that were closed, by reason."""
        words = server.get('/closed').body.decode().split()
        return dict(zip(words[::2], map(int, words[1::2])))

    def await_closed(self, server, **reasons):
        self.eventually(lambda: {name: n for name, n in self.closed(server).items() if n} == reasons, what=lambda: str(self.closed(server)))

    def big_file(self):
        """A folder for --tree."""
        folder = self.folder()
        with open(f'{folder}/big', 'wb') as file:
            file.truncate(64 * MIB)
        return folder


class TheTableOfConnectionsIsFull(Crowded):
    def evicted(self, server, count):
        """Who made room for others, in that order, and what they were."""
        pattern = r'from 127\.0\.0\.(\d+):\d+ is closed: (it is idle|its request head is incomplete|it is slow), and a new connection needs its place'
        return self.eventually(lambda: len(found := re.findall(pattern, server.log)) >= count and found, what=lambda: server.log)

    def newcomers(self, server, count):
        """Who keep their places once they have them."""
        for _ in range(count):
            self.dial(server, '127.0.0.1', request('GET', '/slow/600000'))
            time.sleep(0.05)

    def test_order(self):
        """Idle ones go first, then those without a whole head, then slow ones; others stay."""
        server = self.serve('--connections_max', 5, '--tree', self.big_file(), '--rate_grace', 60000, program='limits', log='debug')
        self.dial(server, '127.0.0.2', BODY + b'x')
        self.dial(server, '127.0.0.3', request('GET', '/tree/big'), rcvbuf=4096)
        busy = self.dial(server, '127.0.0.4', request('GET', '/slow/600000'))
        head = self.dial(server, '127.0.0.5', HEAD)
        idle = self.dial(server, '127.0.0.6')
        self.assertServes(idle)
        time.sleep(1.2)     # heads have had their time, and all that are slow are known to be
        self.newcomers(server, 4)
        found = self.evicted(server, 4)
        self.assertEqual(found[:2], [('6', 'it is idle'), ('5', 'its request head is incomplete')])
        self.assertEqual(sorted(found[2:]), [('2', 'it is slow'), ('3', 'it is slow')])
        self.assertTrue(is_gone(idle) and is_gone(head))
        self.assertFalse(is_gone(busy))

    def test_the_address_that_holds_most_loses_first(self):
        for what, data in (('it is idle', request('GET', '/')), ('its request head is incomplete', HEAD), ('it is slow', BODY + b'x')):
            with self.subTest(what):
                server = self.serve('--connections_max', 10, '--rate_grace', 60000, program='limits', log='debug')
                held = [self.dial(server, source, data) for source in
                        ['127.0.0.2'] * 2 + ['127.0.0.3'] * 5 + ['127.0.0.4'] * 3]
                if what == 'it is idle':
                    for wire in held:
                        self.assertEqual(wire.read().status, 200)
                time.sleep(1.2)     # all that are slow are known to be
                self.newcomers(server, 3)
                # Then two hold three each.
                found = self.evicted(server, 3)
                self.assertEqual(found[:2], [('3', what), ('3', what)])
                self.assertIn(found[2], (('3', what), ('4', what)))

    def test_one_that_has_only_come_is_spared(self):
        """Others that come would close it before it can ask."""
        server = self.serve('--connections_max', 32, program='limits', log='debug')
        self.newcomers(server, 31)
        first = self.dial(server, '127.0.0.2')
        second = self.dial(server, '127.0.0.3', request('GET', '/'))
        time.sleep(0.1)
        first.send(request('GET', '/slow/600000'))
        self.assertTrue(second.is_open(0.6))
        self.assertFalse(is_gone(first))
        self.assertNotIn('needs its place', server.log)

    def wait_behind(self, data, *args, count=32, **options):
        """Seconds until one is served that comes when all places have just been taken from one address, less those in which a processor was
        waited for."""
        server = self.serve(*args, '--rate_grace', 60000, program='limits', **options)
        return self.wait_beside(server, [], data, count)

    def wait_beside(self, server, crowd, data, count):
        crowd += [self.dial(server, '127.0.0.2', data) for _ in range(count)]
        # A busy machine takes its time to connect them: then the oldest are no longer spared, which tells nothing.
        began = time.monotonic() - server.queued()
        with server.connect() as wire:
            self.assertServes(wire)
        waited = time.monotonic() - server.queued() - began
        for wire in crowd:
            wire.reset()
        return waited

    def test_a_crowd_makes_room_at_once(self):
        """One address that holds many places is spared for less than the half second that others have. The shortest of the tries counts."""
        for what, data in (('heads', HEAD), ('bodies', BODY + b'x')):
            with self.subTest(what):
                self.assertTrue(any(self.wait_behind(data, '--connections_max', 32) < 0.4 for _ in range(20)))

    def test_a_crowd_of_uploads_makes_room_at_once(self):
        """Each has a connection, and waits for a file as long as the others keep theirs."""
        upload = request('PUT', '/once/x', 'Content-Length: 1000000') + b'x'
        folder = self.folder()
        self.assertTrue(any(self.wait_behind(upload, '--dir', folder, count=400, wrap=('prlimit', '--nofile=256')) < 0.5
                            for _ in range(20)))

    def test_one_who_is_served_meanwhile(self):
        """256 descriptors, and 400 who send a byte now and then, of a head or of a body, or take no answer. Within a second, as bench/overload.py
        shows; who is not let in waits for over 20."""
        tree = self.big_file()
        for what, data, options in (('heads', HEAD, {}), ('bodies', BODY + b'x', {}),
                                    ('answers', request('GET', '/tree/big'), {'rcvbuf': 4096})):
            with self.subTest(what):
                server = self.serve('--tree', tree, program='limits', wrap=('prlimit', '--nofile=256'))
                crowd = [self.dial(server, '127.0.0.2', data, **options) for _ in range(400)]
                for _ in range(3):
                    began = time.monotonic() - server.queued()
                    with Wire(server.port, timeout=60, source='127.0.0.1') as wire:
                        self.assertServes(wire)
                    self.assertLess(time.monotonic() - server.queued() - began, 5)
                    for wire in crowd if what != 'answers' else ():
                        wire.try_send(b'x')
                for wire in crowd:
                    wire.reset()

    def test_one_who_needs_a_descriptor(self):
        """Uploads that trickle hold a socket and a file each: they go when a request finds no descriptor."""
        server = self.serve('--dir', self.folder(), '--rate_grace', 60000, program='limits', log='debug',
                            wrap=('prlimit', '--nofile=128'))
        for at in range(39):
            self.dial(server, '127.0.0.2', request('PUT', f'/once/{at}', 'Content-Length: 1000000') + b'x')
        for _ in range(2):
            self.dial(server, '127.0.0.3', request('GET', '/slow/600000'))
        honest = self.dial(server, '127.0.0.4', request('GET', '/slow/1200'))
        self.assertEqual(honest.read().body, b'slept')  # all that are slow are known to be
        self.assertEqual(server.log.count('needs its place'), 0)
        for _ in range(3):
            self.assertEqual(honest.ask(request('PUT', '/once/honest', body='x')).status, (201, 409, 409)[_])
        self.assertEqual(self.evicted(server, 1), [('2', 'it is slow')])

    def test_forms_of_one_address_leave_descriptors(self):
        """Each may have as many files as it has parts, and none of it is slow."""
        server = self.serve('--dir', self.folder(), program='limits', wrap=('prlimit', '--nofile=128'))
        # Together they would have all that 128 leave to clients.
        for form in range(5):
            parts = ''.join(f'--b\r\nContent-Disposition: form-data; name="f"; filename="{form}-{at}"\r\n\r\nx\r\n' for at in range(15))
            self.dial(server, '127.0.0.2', request('POST', '/patient/save-all', 'Content-Type: multipart/form-data; boundary=b',
                                                   'Content-Length: 1000000', body=parts))
        time.sleep(1)       # what finds no room gives up
        for at in range(10):
            wire = self.dial(server, '127.0.0.3', request('PUT', f'/once/{at}', 'Content-Length: 100') + b'x')
            self.assertTrue(wire.is_open(0.02))
        took = []
        for at in range(5):
            began = time.monotonic() - server.queued()
            with Wire(server.port, source='127.0.0.4') as wire:
                self.assertEqual(wire.ask(request('PUT', f'/once/honest{at}', body='x')).status, 201)
            took.append(time.monotonic() - server.queued() - began)
        self.assertLess(min(took), 0.4)

    def wait_behind_busy_ones(self):
        server = self.serve('--connections_max', 332, '--rate_grace', 60000, program='limits')
        crowd = [self.dial(server, '127.0.0.2', request('GET', '/slow/600000')) for _ in range(300)]
        time.sleep(0.1)
        return self.wait_beside(server, crowd, BODY + b'x', 32)

    def test_a_crowd_is_looked_at_as_a_whole(self):
        """The busy ones of it, which came first, do not shield the slow ones."""
        self.assertTrue(any(self.wait_behind_busy_ones() < 0.45 for _ in range(20)))

    def test_files_of_handlers_are_not_counted(self):
        server = self.serve(program='limits', wrap=('prlimit', '--nofile=128'))
        with server.connect() as wire:
            for _ in range(200):
                self.assertEqual(wire.ask(request('GET', '/own-file')).status, 200)
        for _ in range(5):
            self.assertEqual(server.get('/').status, 200)

    def test_what_is_told(self):
        server = self.serve('--connections_max', 1, program='limits', log='debug')
        with server.connect() as wire:
            self.assertServes(wire)
            with server.connect() as other:
                self.assertServes(other)
        server.wait_for(r'DEBUG eddy::http: a connection (?:of HTTP/2 )?to 127\.0\.0\.1:0 from 127\.0\.0\.1:\d+ is closed: it is idle, and a new connection needs its place')
        self.assertGreater(self.closed(server)['idle'], 0)


class ABodyThatTrickles(Crowded):
    def trickle(self, wire, piece, seconds, every=0.02):
        """Return: whether the server has let it go on for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not wire.try_send(piece) or not wire.is_open(every):
                return False
        return True

    def assertTooSlow(self, server, head, piece, every=0.02):
        with server.connect() as wire:
            wire.send(head)
            self.assertFalse(self.trickle(wire, piece, 10, every))
            self.assertProblem(wire.read(), 408)
            wire.end()
            self.assertClosed(wire)

    def test_body_rate_min(self):
        server = self.limits(body_rate_min=5000, rate_grace=600, dir=self.folder())
        self.assertTooSlow(server, BODY, b'x')
        # Of 1,000 bytes a second, and of none at all.
        self.assertTooSlow(server, BODY, b'x' * 20)
        self.assertTooSlow(server, BODY, b'')
        # One that goes to a file, within the kernel.
        self.assertTooSlow(server, request('PUT', '/once/x', f'Content-Length: {10 * MIB}'), b'x')
        self.await_closed(server, bodies=4)

    def test_chunk_sizes_and_heads_of_parts_count_nothing(self):
        server = self.limits(body_rate_min=5000, rate_grace=600, part_header_max=MIB, dir=self.folder())
        self.assertTooSlow(server, request('POST', '/echo', 'Transfer-Encoding: chunked'), b'1;' + b'e' * 500 + b'\r\nx\r\n')
        self.assertTooSlow(server, request('POST', '/save-all', 'Content-Type: multipart/form-data; boundary=b', 'Content-Length: 1000000',
                                           body='--b\r\nContent-Disposition: form-data; name="a"\r\n'), b'X: ' + b'h' * 500 + b'\r\n')

    def test_one_that_is_quick_enough(self):
        server = self.limits(body_rate_min=1000, rate_grace=300)
        with server.connect() as wire:
            wire.send(request('POST', '/echo', 'Content-Length: 4000'))
            for _ in range(40):
                wire.send(b'x' * 100)
                time.sleep(0.03)
            self.assertEqual(len(wire.read().body), 4000)
        self.await_closed(server)

    def test_a_route_may_set_it_to_0(self):
        server = self.limits(body_rate_min=5000, rate_grace=300)
        with server.connect() as wire:
            wire.send(request('POST', '/patient', 'Content-Length: 20'))
            self.assertTrue(self.trickle(wire, b'x', 0.9, 0.05))

    def test_a_handler_that_takes_its_time(self):
        """Only the time counts in which the server waits for the client."""
        server = self.limits(body_rate_min=100000, rate_grace=200)
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('GET', '/slow/900')).body, b'slept')
        self.await_closed(server)

    def take(self, wire, piece, seconds):
        """Take an answer in pieces. Return: whether the server has let it go on for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                wire.take(piece)
            except (OSError, Lost):
                return False
            time.sleep(0.02)
        return True

    def test_write_rate_min(self):
        server = self.limits(write_rate_min=500000, rate_grace=600)
        for piece in (0, 100):
            with server.connect(rcvbuf=4096) as wire:
                wire.send(request('GET', f'/big/{16 * MIB}'))
                self.take(wire, piece, 1.5)
                with self.assertRaises(Lost):
                    wire.take(16 * MIB)
        self.await_closed(server, writes=2)

    def test_a_client_that_reads_quickly_enough(self):
        server = self.limits(write_rate_min=10000, rate_grace=300)
        with server.connect(rcvbuf=4096) as wire:
            wire.send(request('GET', f'/big/{16 * MIB}'))
            self.assertTrue(self.take(wire, 2000, 1.5))
            self.assertEqual(len(wire.take(8 * MIB)), 8 * MIB)
        self.await_closed(server)

    def test_a_route_may_set_write_rate_min_to_0(self):
        server = self.limits(write_rate_min=500000, rate_grace=300)
        with server.connect(rcvbuf=4096) as wire:
            wire.send(request('GET', f'/patient/{16 * MIB}'))
            time.sleep(1)
            self.assertEqual(len(wire.take(16 * MIB)), 16 * MIB)


class MemoryOfConnections(Crowded):
    def test_body_memory_max(self):
        """Bytes count as they come, and until the request ends."""
        server = self.limits(body_memory_max=100000)
        for form in (('Content-Length: 80000', b'x' * 60000, b'x' * 20000),
                     ('Transfer-Encoding: chunked', b'11170\r\n' + b'x' * 70000 + b'\r\n', b'0\r\n\r\n')):
            with self.subTest(form[0]), server.connect() as first:
                first.send(request('POST', '/echo', form[0]) + form[1])
                self.eventually(lambda: self.asked(server, 60000) == 503)
                self.assertEqual(self.asked(server, 10000), 200)
                first.send(form[2])
                self.assertEqual(first.read().status, 200)
                self.eventually(lambda: self.asked(server, 60000) == 200)
        # What is announced takes nothing.
        with server.connect() as first:
            first.send(request('POST', '/echo', 'Content-Length: 90000'))
            self.assertEqual(self.asked(server, 60000), 200)

    @only_http1('a connection that ends with a refused body')
    def test_an_address_leaves_as_much_as_it_takes(self):
        """Without it one could keep all memory for bodies at the least rate."""
        server = self.limits(body_memory_max=100000)
        held = []
        for _ in range(10):
            wire = self.dial(server, '127.0.0.2', request('POST', '/echo', 'Content-Length: 20000') + b'x' * 19000)
            self.eventually(lambda: is_gone(wire) or self.asked(server, 1) == 200)
            held.append(wire)
        self.eventually(lambda: sum(map(is_gone, held)) == 7)
        self.assertEqual(self.asked(server, 30000), 200)
        for wire in held:
            if not is_gone(wire):
                wire.send(b'x' * 1000)
                self.assertEqual(wire.read().status, 200)
        self.eventually(lambda: self.asked(server, 90000) == 200)

    def test_trees_of_json_are_counted(self):
        """They take more than their text."""
        server = self.limits(body_memory_max=1000000)
        text = '[' + ','.join(['{"a":{}}'] * 1000) + ']'
        with server.connect() as first, Wire(server.port, source='127.0.0.3') as second:
            first.send(request('POST', '/json/600000', 'Content-Type: application/json', body=text))
            self.eventually(lambda: self.asked(server, 500000) == 503)
            response = second.ask(request('POST', '/json/0', 'Content-Type: application/json', body=text))
            self.assertProblem(response, 503)
            small = request('POST', '/json/0', 'Content-Type: application/json', body='[1]')
            self.eventually(lambda: second.ask(small).status == 200)

    def asked(self, server, size):
        """Of somebody who has nothing else there."""
        with Wire(server.port, source='127.0.0.9') as wire:
            response = wire.ask(request('POST', '/echo', body=b'x' * size))
            if response.status != 200:
                self.assertProblem(response, 503)
            return response.status


class ConnectionsOfOneAddress(Crowded):
    def test_connections_per_address_max(self):
        server = self.serve('--connections_per_address_max', 3, program='limits', log='debug')
        held = [self.dial(server, '127.0.0.2') for _ in range(3)]
        for wire in held:
            self.assertServes(wire)
        self.assertTrue(is_gone(self.late(server, '127.0.0.2')))
        self.assertServes(self.dial(server, '127.0.0.3'))
        for wire in held:
            self.assertServes(wire)
        self.await_closed(server, over=1)
        server.wait_for(r'from 127\.0\.0\.2:\d+ is closed: its address has reached connections_per_address_max')
        held.pop().close()
        self.eventually(lambda: not is_gone(self.late(server, '127.0.0.2')))

    def late(self, server, source):
        wire = self.dial(server, source)
        wire.try_send(request('GET', '/'))
        time.sleep(0.1)
        return wire

    def test_on_all_loops(self):
        server = self.limits(connections_per_address_max=4, workers=2)
        for wire in [self.dial(server, '127.0.0.2') for _ in range(4)]:
            self.assertServes(wire)
        self.assertTrue(is_gone(self.late(server, '127.0.0.2')))
        self.assertServes(self.dial(server, '127.0.0.3'))

    def test_no_limit_by_default(self):
        server = self.limits()
        for wire in [self.dial(server, '127.0.0.2') for _ in range(100)]:
            self.assertServes(wire)

    def test_trusted_proxies_and_unix_sockets_are_not_counted(self):
        path = self.folder() + '/socket'
        server = self.serve('--bind', '127.0.0.1:0', '--bind', f'unix:{path}', '--trust', '127.0.0.2', '--connections_per_address_max', 1,
                            program='doors')
        for wire in [self.dial(server, '127.0.0.2') for _ in range(3)] + [Wire(path) for _ in range(3)]:
            self.addCleanup(wire.close)
            self.assertEqual(wire.ask(request('GET', '/')).status, 200)
        first = self.dial(server, '127.0.0.3')
        self.assertEqual(first.ask(request('GET', '/')).status, 200)
        self.assertTrue(is_gone(self.late(server, '127.0.0.3')))

    def test_a_client_behind_a_proxy_header(self):
        """It counts for its own address, and not for that of the proxy."""
        server = self.serve('--bind', '127.0.0.1:0', '--proxied', '127.0.0.1:0', '--trust', '127.0.0.2', '--connections_per_address_max', 1,
                            program='doors')
        port = ports(server, 2)[1]
        for ip, is_served in (('192.0.2.7', True), ('192.0.2.8', True), ('192.0.2.7', False)):
            wire = Wire(port, source='127.0.0.2')
            self.addCleanup(wire.close)
            wire.send(header((ip, 1)) + request('GET', '/'))
            if is_served:
                self.assertEqual(wire.read().status, 200)
            else:
                with self.assertRaises(Lost):
                    wire.read()


if __name__ == '__main__':
    unittest.main()
