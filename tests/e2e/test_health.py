"""What load balancers hear, and what goes on between a signal to end and the end."""
import signal
import time

from wire import Case, request


class Health(Case):
    def doors(self, *args, **options):
        return self.serve(*args, program='doors', log='eddy::app=trace', **options)

    def test_lame_duck(self):
        server = self.doors('--lame_duck', 700, '--workers', 2)
        self.assertEqual(server.get('/health').body, b'ok\n')
        start = time.monotonic()
        with server.connect() as idle, server.connect() as busy:
            self.assertServes(idle)
            busy.send(request('GET', '/slow/1000'))
            self.begin_end(server)
            response = self.eventually(lambda: (answer := server.get('/health')).status == 503 and answer)
            self.assertProblem(response, 503, 'the server is shutting down')
            self.assertEqual(response.header('cache-control'), 'no-store')
            # All else goes on, on connections old and new.
            with server.connect() as late:
                for wire in (idle, late):
                    self.assertFalse(wire.ask(request('GET', '/')).closes)
                    self.assertTrue(wire.is_open())
                for wire in (idle, late):
                    self.assertClosed(wire)
            self.assertGreater(time.monotonic() - start, 0.65)
            answer = busy.read()
        self.assertEqual(server.wait(), 0)
        self.assertTrue(answer.closes)

    def test_without_one(self):
        server = self.doors()
        with server.connect() as wire:
            wire.send(request('GET', '/slow/200'))
            self.eventually(lambda: server.sockets())
            self.begin_end(server)
            answer = wire.read()
        self.assertEqual(server.wait(), 0)
        self.assertTrue(answer.closes)

    def test_second_signal(self):
        server = self.doors('--lame_duck', 60000)
        with server.connect() as wire:
            self.assertServes(wire)
            self.begin_end(server)
            self.eventually(lambda: server.get('/health').status == 503)
            server.process.send_signal(signal.SIGTERM)
            self.assertClosed(wire)
        self.assertEqual(server.wait(10), 0)

    def test_by_call(self):
        server = self.doors('--lame_duck', 300)
        response = server.ask(request('POST', '/stop', 'Content-Length: 0'))
        self.assertFalse(response.closes)
        self.assertEqual(server.get('/health').status, 503)
        self.assertEqual(server.wait(), 0)
