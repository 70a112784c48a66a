"""Connections by unix sockets: what holds for TCP holds for them. The buffers have one size, which a client that does not
read fills quickly."""
import os
import select
import time

from wire import KIB, MIB, Case, only_http1, request


class Unix(Case):
    def unix(self, **options):
        return self.limits(bind='unix:' + os.path.join(self.folder(), 'socket'), **options)

    def is_closed(self, wire):
        """Whether the server has closed it, whatever has not been read yet."""
        poll = select.poll()
        poll.register(wire.socket, 0)
        return bool(poll.poll(0))

    def test_held_answers_that_nobody_reads(self):
        """An answer is held back for a request that turns out not to be there; somewhere there is no room for it."""
        server = self.unix(write_timeout=200, idle_timeout=200)
        wires = []
        for size in range(100 * KIB, 400 * KIB, 4 * KIB):
            wires.append(server.connect())
            wires[-1].send(request('GET', f'/big/{size}') + request('GET', '/big/8000') + b'\r\n\r\n')
        self.eventually(lambda: all(map(self.is_closed, wires)))
        for wire in wires:
            wire.close()

    def test_slow_download_that_moves(self):
        server = self.unix(write_timeout=1000)
        with server.connect() as wire:
            wire.send(request('GET', f'/big/{4 * MIB}'))
            wire.read_head()
            # What came with the head, however much that was, takes nothing off the socket any more.
            came = len(wire.take(len(wire.buffer)))
            for _ in range(8):
                time.sleep(0.3)
                came += len(wire.take(MIB // 4))
            wire.take(4 * MIB - came)

    @only_http1('a connection that ends with a response')
    def test_stalled_download(self):
        server = self.unix(write_timeout=200)
        with server.connect() as wire:
            wire.send(request('GET', f'/big/{4 * MIB}'))
            self.eventually(lambda: self.is_closed(wire))

    def test_early_answer(self):
        """Who sends on gets it all the same."""
        server = self.unix()
        with server.connect() as wire:
            wire.send(request('POST', '/refuse', f'Content-Length: {4 * MIB}'))
            for _ in range(4):
                wire.send(bytes(MIB))
            answer = wire.read()
            self.assertTrue(answer.closes)
            wire.end()
            self.assertClosed(wire)
