"""The configuration file of a program, from its start to what goes over the wire."""
import os
import re

from wire import Case, Server, request


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

    def test_replaces_the_address(self):
        server = self.serve('--config', self.file('[server]\nbind = "localhost:0"\n'), program='limits')
        self.assertRegex(server.log, r'Listening on localhost:\d+$')

    def test_mistakes_end_the_start(self):
        path = self.file('[server]\nworkers = 0\n[tracing]\n[serve]\n')
        server = Server('--config', path, program='limits', start=False)
        self.assertEqual(server.wait(), 1)
        said = [line.split(' ERROR ')[1] for line in server.log.splitlines()]
        self.assertEqual(said, [
            f'eddy::app: {path}:2: [server] workers: expected an integer from 1 to 1024, not 0',
            f'eddy::app: {path}:3: [tracing] is known only to a program that calls eddy_app_use_tracing(), '
            'eddy_app_set_tracing() or eddy_trace_config()',
            f'eddy::app: {path}:4: unknown section [serve]; did you mean [server]?'])

    def test_file_is_missing(self):
        path = os.path.join(self.folder(), 'none.toml')
        server = Server('--config', path, program='limits', start=False)
        self.assertEqual(server.wait(), 1)
        self.assertRegex(server.log, re.escape(f'can\'t read the configuration file "{path}": No such file or directory')
                         + '$')
