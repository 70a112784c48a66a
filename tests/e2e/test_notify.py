"""What a service manager hears (sd_notify)."""
import os
import signal
import socket

from wire import Case, request


class Notify(Case):
    def manager(self, address=None):
        """A service manager's socket, and what NOTIFY_SOCKET says of it."""
        address = address or os.path.join(self.folder(), 'notify')
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(address)
        manager.settimeout(20)
        return manager, address.replace('\0', '@')

    def doors(self, address, *args, **env):
        return self.serve(*args, program='doors', env={'NOTIFY_SOCKET': address, **env})

    def hear(self, manager):
        return dict(line.split('=', 1) for line in manager.recv(4096).decode().splitlines())

    def test_ready_and_stopping(self):
        for address in (None, f'\0eddy-notify-{os.getpid()}'):
            for workers in (1, 3):
                manager, name = self.manager(address)
                server = self.doors(name, '--workers', workers)
                self.assertEqual(self.hear(manager), {'READY': '1', 'STATUS': f'listening on 127.0.0.1:{server.port}'})
                with server.connect() as wire:
                    wire.send(request('GET', '/slow/300'))
                    self.assertEqual(server.get('/').status, 200)     # the other one has been accepted
                    server.process.send_signal(signal.SIGTERM)
                    # It stops while there still is something to be done.
                    self.assertEqual(self.hear(manager)['STOPPING'], '1')
                    self.assertEqual(wire.read().body, str(server.pid).encode())
                self.assertEqual(server.wait(), 0)
                manager.setblocking(False)
                self.assertRaises(BlockingIOError, manager.recv, 100)
                manager.close()

    def test_start_that_fails_is_not_ready(self):
        manager, name = self.manager()
        server = self.serve('--bind', 'nonsense', program='doors', env={'NOTIFY_SOCKET': name}, start=False)
        self.assertEqual(server.wait(), 1)
        server.process.stderr.close()
        manager.setblocking(False)
        self.assertRaises(BlockingIOError, manager.recv, 100)

    def test_watchdog(self):
        manager, name = self.manager()
        server = self.doors(name, WATCHDOG_USEC='120000')
        self.hear(manager)
        for _ in range(3):
            self.assertEqual(self.hear(manager), {'WATCHDOG': '1'})
        with server.connect() as wire:
            # In the meantime fewer messages come than a socket holds: a full one would be waited for.
            wire.send(request('GET', '/slow/500'))
            self.assertEqual(server.get('/').status, 200)     # the other one has been accepted
            server.process.send_signal(signal.SIGTERM)
            while 'STOPPING' not in self.hear(manager):
                pass
            # It is alive as long as it drains.
            self.assertEqual(self.hear(manager), {'WATCHDOG': '1'})
            wire.read()
        # Another signal might come when it has stopped listening for them.
        self.assertEqual(server.wait(), 0)

    def test_watchdog_of_others(self):
        for env in (dict(WATCHDOG_USEC='x'), dict(WATCHDOG_USEC='0'), dict(WATCHDOG_USEC='99999999999999999999'),
                    dict(WATCHDOG_USEC='10000', WATCHDOG_PID='1')):
            manager, name = self.manager()
            server = self.doors(name, **env)
            self.hear(manager)
            server.get('/slow/50')
            manager.setblocking(False)
            self.assertRaises(BlockingIOError, manager.recv, 100)
            server.stop()

    def test_nobody_to_be_told(self):
        """That is no reason to end, nor for more than one record."""
        for address in ('/nowhere/at/all', '@eddy-nobody', 'relative', '/', '@', '/' + 200 * 'x', 'vsock:2:1'):
            with self.subTest(address):
                server = self.doors(address, WATCHDOG_USEC='10000')
                server.wait_for('can\'t notify the service manager')
                self.assertEqual(server.get('/slow/50').status, 200)
                self.assertEqual(server.log.count('WARN'), 1, server.log)
                server.stop()
