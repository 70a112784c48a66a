"""Clients that leave while a handler waits for something else."""
import time
import unittest

from wire import Shared, Wire, request

GONE, STAYS = 'cancelled, the client has left', 'waited, the client is there'


class Leaving(Shared):
    """The handlers of /wait wait for ?ms= milliseconds (default 2 s), and log what has ended the wait."""
    program = 'limits'

    def said(self, text):
        return [line for line in self.server.lines if line and f' INFO limits: {text}' in line]

    def ask(self, wire, data):
        """Go on once the handler waits."""
        count = len(self.said('waiting'))
        wire.send(data)
        self.eventually(lambda: len(self.said('waiting')) > count)

    def check(self, leave, method, path, text):
        """On a new connection; and on one that has served, where a receive is armed ahead."""
        body = 'x' * (method not in ('GET', 'HEAD'))
        record = f'{method} {path}: '
        for kept in (False, True):
            with self.subTest((method, path, kept)), self.server.connect() as wire:
                if kept:
                    self.assertServes(wire)
                count, began = len(self.said(record)), time.monotonic()
                # Whoever is to be cancelled waits longer than a busy machine delays the client.
                self.ask(wire, request(method, f'{path}?ms={60000 if text == GONE else 1000}', body=body))
                leave(wire)
                self.eventually(lambda: len(self.said(record)) > count)
                self.assertEqual(self.said(record)[-1].partition(record)[2], text)
                if text == GONE:
                    self.assertLess(time.monotonic() - began, 59)

    def test_the_client_leaves_while_a_handler_waits(self):
        """A reset cancels GET and HEAD. POST and PUT complete, and so does a route that says so."""
        for method, path, text in (('GET', '/wait', GONE), ('HEAD', '/wait', GONE), ('GET', '/wait/end', GONE), ('POST', '/wait/reset', GONE),
                                   ('POST', '/wait/end', GONE), ('POST', '/wait', STAYS), ('PUT', '/wait', STAYS), ('GET', '/wait/never', STAYS)):
            self.check(Wire.reset, method, path, text)

    def test_an_end_of_stream_where_the_route_asks_for_it(self):
        for method, path, text in (('GET', '/wait/end', GONE), ('POST', '/wait/end', GONE), ('GET', '/wait', STAYS), ('POST', '/wait/reset', STAYS)):
            self.check(Wire.end, method, path, text)

    def test_who_has_only_said_all_is_answered(self):
        with self.server.connect() as wire:
            self.ask(wire, request('GET', '/wait'))
            wire.end()
            self.assertEqual(wire.read().body, b'waited')

    def test_who_stays_is_served_on(self):
        """Behind a request that was looked after, others are served, also those that came meanwhile."""
        for path in ('/wait', '/wait/end'):
            with self.subTest(path), self.server.connect() as wire:
                self.ask(wire, request('GET', path))
                wire.send(request('GET', '/slow/300') + request('POST', '/echo', body='x' * 30000))
                self.assertEqual([wire.read().body for _ in range(3)], [b'waited', b'slept', b'x' * 30000])
                self.assertServes(wire)

    def test_many(self):
        wires = [self.server.connect() for _ in range(100)]
        for wire in wires:
            self.ask(wire, request('GET', '/wait'))
        for wire in wires[::2]:
            wire.reset()
        for wire in wires[1::2]:
            self.assertEqual(wire.read().body, b'waited')
            self.assertServes(wire)
            wire.close()


if __name__ == '__main__':
    unittest.main()
