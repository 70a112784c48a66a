"""The configuration file of a program, from its start to what goes over the wire."""
import os
import re
import signal
import socket
import stat

from wire import Case, Server, form, part, request

NAMED = 'Content-Disposition: attachment; filename=a'


class Config(Case):
    def file(self, text):
        path = os.path.join(self.folder(), 'app.toml')
        with open(path, 'w') as file:
            file.write(text)
        return path

    def test_replaces_switches(self):
        path = self.file('[server]\nrequest_line_max = 40\nbody_max = 10\nidle_timeout_ms = 200\nworkers = 2\n')
        server = self.serve('--config', path, '--request_line_max', 1000, '--body_max', 1000, program='limits')
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('POST', '/echo', body=b'0123456789')).status, 200)
            self.assertEqual(wire.ask(request('POST', '/echo', body=b'0123456789a')).status, 413)
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('GET', '/' + 40 * 'a')).status, 414)
        with server.connect() as wire:
            self.assertEqual(wire.ask(request('GET', '/')).status, 200)
            self.assertClosed(wire)

    def test_every_limit(self):
        """Each key by what is refused past it, and not below."""
        path = self.file('[server]\nheader_block_max = 500\nheader_count_max = 5\nfile_max = 400\nparts_max = 2\n'
                         'part_header_max = 100\nfield_max = 20\n')
        server = self.serve('--config', path, '--dir', self.folder(), program='limits')
        field = 'x' * 20
        for below, past, status in (
                (request('GET', '/', 'A: ' + 'x' * 400), request('GET', '/', 'A: ' + 'x' * 500), 431),
                (request('GET', '/', *['A: b'] * 4), request('GET', '/', *['A: b'] * 5), 431),
                (request('POST', '/save', NAMED, body='x' * 400), request('POST', '/save', NAMED, body='x' * 401), 413),
                (form(*[part('f', 'x')] * 2, path='/parts/skip'), form(*[part('f', 'x')] * 3, path='/parts/skip'), 413),
                (form(part('f', field), path='/parts/save'), form(part('f', field + 'x'), path='/parts/save'), 413),
                (form(part('f', 'x', None, 'X: y'), path='/parts/skip'), form(part('f', 'x', None, 'X: ' + 'y' * 100), path='/parts/skip'), 400)):
            with self.subTest(past[:200]):
                self.assertEqual(server.ask(below).status, 200)
                self.assertProblem(server.ask(past), status)

    def test_times(self):
        path = self.file('[server]\nhead_timeout_ms = 200\nbody_timeout_ms = 200\n')
        server = self.serve('--config', path, program='limits')
        for half in (request('GET', '/')[:-2], request('POST', '/echo', 'Content-Length: 10', body='x')):
            with server.connect() as wire:
                self.assertProblem(wire.ask(half), 408)
                self.assertClosed(wire)

    def test_connections_max(self):
        server = self.serve('--config', self.file('[server]\nconnections_max = 2\n'), program='limits')
        wires = [server.connect() for _ in range(2)]
        for wire in wires:
            self.assertServes(wire)
        with server.connect() as third:
            self.assertServes(third)
            self.assertClosed(wires[0])
        for wire in wires:
            wire.close()

    def test_drain_timeout(self):
        server = self.serve('--config', self.file('[server]\ndrain_timeout_ms = 100\n'), program='limits')
        with server.connect() as wire:
            wire.send(request('POST', '/pump', 'Content-Length: 10', body='x'))
            self.assertEqual(wire.read_head().status, 200)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(8), 0)    # and not after the 10 s that are the default

    def test_replaces_the_address(self):
        server = self.serve('--config', self.file('[server]\nbind = "localhost:0"\n'), program='limits')
        self.assertRegex(server.log, r'(?m)Listening on localhost:\d+$')

    def test_addresses(self):
        path = os.path.join(self.folder(), 'socket')
        server = self.serve('--config', self.file(f'[server]\nbind = ["127.0.0.1:0", "unix:{path}"]\nunix_mode = "0640"\n'),
                            '--bind', 'localhost:0', '--bind', 'localhost:0', '--unix_mode', '600', program='doors')
        server.wait_for('Listening on unix:')
        self.assertEqual(re.findall(r'Listening on (\S+):', server.log), ['127.0.0.1', 'unix'])
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(path)
            wire.sendall(request('GET', '/'))
            self.assertIn(f'{server.pid} unix:{path}'.encode(), wire.recv(4096))
        self.assertEqual(server.get('/').body.decode(), f'{server.pid} 127.0.0.1:0')

    def test_proxies(self):
        path = self.file('[server]\ntrusted_proxies = ["127.0.0.0/8"]\nforwarded = "x-forwarded-for"\nforwarded_host = true\n')
        server = self.serve('--config', path, '--trust', '10.0.0.0/8', '--forwarded', 'forwarded', program='doors')
        fields = 'X-Forwarded-For: 192.0.2.1, 10.0.0.1', 'X-Forwarded-Host: far.example', 'Forwarded: for=192.0.2.9'
        # 10.0.0.1 is not trusted any more.
        self.assertEqual(server.get('/peer', *fields).body.decode(), '10.0.0.1 10.0.0.1:0 remote forwarded http far.example')

    def test_mistakes_end_the_start(self):
        path = self.file('[server]\nworkers = 0\n[tracing]\n[serve]\n')
        server = Server('--config', path, program='limits', start=False)
        self.assertEqual(server.wait(), 1)
        said = [line.split(' ERROR ')[1] for line in server.log.splitlines()]
        self.assertEqual(said, [
            f'eddy::app: {path}:2: [server] workers: expected an integer from 1 to 1024, not 0',
            f'eddy::app: {path}:3: [tracing] requires the program to call eddy_app_use_tracing(), '
            'eddy_app_set_tracing() or eddy_trace_config()',
            f'eddy::app: {path}:4: unknown section [serve]; did you mean [server]?'])

    def test_file_is_missing(self):
        path = os.path.join(self.folder(), 'none.toml')
        server = Server('--config', path, program='limits', start=False)
        self.assertEqual(server.wait(), 1)
        self.assertRegex(server.log, re.escape(f'can\'t read the configuration file "{path}": No such file or directory')
                         + '$')
