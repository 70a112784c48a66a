#!/usr/bin/env python3
"""The whole service, by sockets: test_service.py PROGRAM. It starts PostgreSQL."""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from local import Database, token

SECRET = b'a secret of the tests, of more than 32 bytes'
SETTINGS = '''[server]
bind = "localhost:0"
[dropbox]
database = "postgresql://"
data_dir = "data"
rate = 100000
burst = 100000
[bearer]
secret_file = "secret"
'''


class Service:
    def __init__(self, env):
        self.folder, self.env = tempfile.mkdtemp(prefix='dropbox-'), env
        for name, text in (('dropbox.toml', SETTINGS.encode()), ('secret', SECRET)):
            with open(os.path.join(self.folder, name), 'wb') as file:
                file.write(text)
        self.start()

    def start(self):
        self.log = os.path.join(self.folder, 'log')
        with open(self.log, 'w') as log:
            self.process = subprocess.Popen([os.path.abspath(PROGRAM), os.path.join(self.folder, 'dropbox.toml')], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env={**os.environ, **self.env})
        while not (found := re.search(r'Listening on \S*?:(\d+)', self.said())):
            assert self.process.poll() is None, self.said()
            time.sleep(0.02)
        self.port = int(found[1])

    def said(self):
        with open(self.log) as log:
            return log.read()

    def ask(self, method, path, who=None, body=None, headers=None):
        headers = {**(headers or {}), **({'authorization': 'Bearer ' + token(SECRET, who, role=who)} if who else {})}
        with contextlib.closing(http.client.HTTPConnection('localhost', self.port, timeout=30)) as client:
            client.request(method, path, body, headers)
            response = client.getresponse()
            return response.status, response.headers, response.read()

    def add_user(self, name):
        return self.ask('POST', '/users', 'admin', json.dumps({'name': name, 'email': 'x@example.org'}), {'content-type': 'application/json'})

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(60)


class Tests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = Database()
        cls.addClassCleanup(cls.database.close)

    def setUp(self):
        self.env = self.database.env
        self.sql(f'create database {self._testMethodName}')
        self.env = {**self.database.env, 'PGDATABASE': self._testMethodName}
        self.service = Service(self.env)
        self.addCleanup(shutil.rmtree, self.service.folder)
        self.addCleanup(lambda: self.service.process.poll() is None and self.service.end(signal.SIGKILL))

    def checksums(self):
        return [file['sha256'] for file in json.loads(self.service.ask('GET', '/files', 'ada')[2])]

    def test_files(self):
        service, body = self.service, os.urandom(1 << 20)
        status, headers, _ = service.add_user('zoë')
        self.assertEqual((status, headers['location']), (201, '/users/zo%C3%AB'))
        self.assertEqual(service.ask('GET', headers['location'], 'ada')[0], 200)
        service.add_user('ada')
        self.assertEqual(service.ask('PUT', '/files/a%2Fb', 'ada', body)[0], 201)
        self.assertEqual(service.ask('GET', '/files/a%2Fb', 'ada')[2], body)
        self.assertEqual(service.ask('PUT', '/files/%ff', 'ada', b'x')[0], 400)
        self.assertEqual(len(os.listdir(os.path.join(service.folder, 'data'))), 1)
        self.assertEqual(service.end(), 0)

    def test_events(self):
        """A subscriber gets changes of his files, and no event when the connection to the database is made again."""
        listening = "select pid from pg_stat_activity where query like 'listen \"files\"'"
        self.service.add_user('ada')
        with contextlib.closing(http.client.HTTPConnection('localhost', self.service.port, timeout=30)) as client:
            client.request('GET', '/events', headers={'authorization': 'Bearer ' + token(SECRET, 'ada')})
            events = client.getresponse()
            while not (pid := self.sql(listening)):
                time.sleep(0.05)
            self.sql(f'select pg_terminate_backend({pid})')
            while self.sql(listening) in ('', pid):
                time.sleep(0.05)
            time.sleep(0.2)
            self.service.ask('PUT', '/files/x', 'ada', b'x')
            while not (line := events.readline()).startswith(b'data:'):
                pass
            self.assertIn(b'"state":"stored"', line)

    def test_openapi(self):
        status, _, body = self.service.ask('GET', '/openapi.json')
        paths = json.loads(body)['paths']
        self.assertEqual((status, set(paths) >= {'/users', '/users/{name}', '/files', '/files/{name}', '/events'}), (200, True))
        self.assertIn('403', paths['/users']['post']['responses'])
        self.assertEqual([parameter['name'] for parameter in paths['/files']['get']['parameters']], ['limit', 'offset'])

    def test_without_database(self):
        self.service.add_user('ada')
        self.database.stop()
        for method, path in (('GET', '/users/ada'), ('GET', '/files'), ('PUT', '/files/x')):
            self.assertEqual(self.service.ask(method, path, 'ada', b'x' if method == 'PUT' else None)[0], 503)
        self.assertEqual(self.service.ask('GET', '/healthz')[0], 200)
        self.database.start()
        while self.service.ask('GET', '/users/ada', 'ada')[0] != 200:
            time.sleep(0.1)

    def test_jobs_outlive_the_process(self):
        """The checksum of a file is made by the next process, and the migrations are not applied again."""
        self.service.add_user('ada')
        self.service.ask('PUT', '/files/x', 'ada', b'x')
        while self.checksums() != ['2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881']:
            time.sleep(0.05)
        while self.sql('select count(*) from eddy_jobs') != '0':
            time.sleep(0.05)
        self.service.end(signal.SIGKILL)
        self.sql("insert into files (owner, name, size, stored, type) select owner, 'y', size, stored, type from files")
        self.service.start()
        while None in self.checksums():
            time.sleep(0.05)
        self.assertEqual(self.sql('select name from eddy_migrations'), '001_tables')
        self.assertEqual(self.service.end(), 0)
        self.assertEqual(self.sql('select count(*) from eddy_jobs'), '0')

    def sql(self, text):
        done = subprocess.run(['psql', '-qAtX', '-c', text], env={**os.environ, **self.env}, check=True, capture_output=True, text=True)
        return done.stdout.strip()


if __name__ == '__main__':
    PROGRAM = sys.argv.pop(1)
    unittest.main()
