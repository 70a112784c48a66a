"""Clients that leave while a handler waits for something else."""
import time
import unittest

from wire import Shared, Wire, request

GONE, STAYS = 'cancelled, the client has left', 'done, the client is there'


class Leaving(Shared):
    """The handlers of /wait wait for ?ms= milliseconds (default 2 s), and log what has ended the wait. Each request has a time of its own, by which its
    records are known."""
    program = 'limits'
    count = 0

    def said(self, text):
        """What follows this in a record, or None."""
        found = [line.partition(text)[2] for line in self.server.lines if line and f' INFO limits: {text}' in line]
        return found[-1] if found else None

    def ask(self, wire, method, path, ms=2000, **how):
        """Go on once the handler waits. Return: its time in ms."""
        Leaving.count += 1
        ms += Leaving.count
        wire.send(request(method, f'{path}?ms={ms}', **how))
        self.eventually(lambda: self.said(f'waiting {ms} ms') is not None)
        return ms

    def check(self, leave, method, path, text):
        """On a new connection; and on one that has served, where a receive is armed ahead."""
        body = 'x' * (method not in ('GET', 'HEAD'))
        for kept in (False, True):
            with self.subTest((method, path, kept)), self.server.connect() as wire:
                if kept:
                    self.assertServes(wire)
                began = time.monotonic()
                # Whoever is to be cancelled waits longer than a busy machine delays the client.
                ms = self.ask(wire, method, path, 60000 if text == GONE else 250, body=body)
                leave(wire)
                self.assertEqual(self.eventually(lambda: self.said(f'waited {ms} ms: ')), text)
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
            self.ask(wire, 'GET', '/wait')
            wire.end()
            self.assertEqual(wire.read().body, b'waited')

    def test_who_stays_is_served_on(self):
        """Behind a request that was looked after, others are served, also those that came meanwhile."""
        for path in ('/wait', '/wait/end'):
            with self.subTest(path), self.server.connect() as wire:
                self.ask(wire, 'GET', path)
                wire.send(request('GET', '/slow/300') + request('POST', '/echo', body='x' * 30000))
                self.assertEqual([wire.read().body for _ in range(3)], [b'waited', b'slept', b'x' * 30000])
                self.assertServes(wire)

    def test_many(self):
        wires = [self.server.connect() for _ in range(100)]
        for wire in wires:
            self.ask(wire, 'GET', '/wait')
        for wire in wires[::2]:
            wire.reset()
        for wire in wires[1::2]:
            self.assertEqual(wire.read().body, b'waited')
            self.assertServes(wire)
            wire.close()


if __name__ == '__main__':
    unittest.main()
