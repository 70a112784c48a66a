"""PostgreSQL on the loop (examples/pg), against a server of the machine's version: servers/pg.c asks, a case at a time."""
# needs: libpq-dev openssl
import contextlib
import os
import select
import shutil
import socket
import ssl
import subprocess
import threading
import time
import unittest
from unittest import mock

import tls
from postgres import BIN, Cluster
from wire import PROGRAMS, Case

PROGRAM = PROGRAMS['pg']
CLUSTER = None


class SecureCluster(Cluster):
    """With TLS, and roles that must use TLS or a password."""
    SETTINGS = {**Cluster.SETTINGS, 'ssl': 'on', 'ssl_cert_file': 'server.pem', 'ssl_key_file': 'server.key'}
    HBA = ('local all all trust\nhost all secret 127.0.0.1/32 scram-sha-256\nhostssl all tls 127.0.0.1/32 trust\n'
           'hostnossl all tls 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 trust\n')

    def __init__(self):
        super().__init__()
        for user in ('plain', 'tls'):
            self.sql(f'create role {user} login')
        self.sql("create role secret login password 'sesame'")

    def prepare(self):
        tls.CERTS = self.folder
        tls.make('ca', '/CN=CA')
        tls.make('server', '/CN=localhost', 'DNS:localhost', ca='ca')
        for name in ('server.pem', 'server.key'):
            shutil.copy(tls.at(name), self.data)
            os.chmod(os.path.join(self.data, name), 0o600)
            if self.user:
                os.chown(os.path.join(self.data, name), self.user['user'], self.user['group'])


def setUpModule():
    global CLUSTER
    if not os.path.exists(PROGRAM):
        raise unittest.SkipTest('needs the program pg, which is built with libpq-dev')
    if not BIN:
        raise unittest.SkipTest('needs the package postgresql')
    CLUSTER = SecureCluster()


def tearDownModule():
    if CLUSTER:
        CLUSTER.end()


class Stalls:
    """A port in front of the server's, which passes on so many bytes, a few at a time, and then none."""

    def __init__(self, test, most):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port, self.left, self.sockets = self.listener.getsockname()[1], most, []
        test.addCleanup(self.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(('127.0.0.1', CLUSTER.port))
                self.sockets += [client, server]
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, target):
        with contextlib.suppress(OSError):
            while self.left > 0 and (data := source.recv(7)):
                self.left -= len(data)
                time.sleep(0.001)
                target.sendall(data)

    def close(self):
        self.listener.close()
        for one in self.sockets:
            one.close()


class Wraps:
    """A port that speaks TLS for the server, in records as large as TLS allows."""

    def __init__(self, test):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port, self.sockets = self.listener.getsockname()[1], []
        test.addCleanup(self.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.at('server.pem'), tls.at('server.key'))
        with contextlib.suppress(OSError):
            while True:
                client, server = self.listener.accept()[0], socket.create_connection(('127.0.0.1', CLUSTER.port))
                client.recv(8, socket.MSG_WAITALL)   # SSLRequest
                client.sendall(b'S')
                client = context.wrap_socket(client, server_side=True)
                self.sockets += [client, server]
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, target):
        """The last record is full."""
        with contextlib.suppress(OSError):
            while data := source.recv(16384):
                while select.select([source], [], [], 0.02)[0] and (more := source.recv(16384)):
                    data += more
                pieces = range(len(data) % 16384, len(data), 16384)
                for piece in (data[:pieces.start], *(data[at:at + 16384] for at in pieces)):
                    target.sendall(piece)

    def close(self):
        self.listener.close()
        for one in self.sockets:
            one.close()


class PgCase(Case):
    program = PROGRAM

    def start(self, case, *options, user='plain', host=None, port=None):
        conninfo = f'host={host or CLUSTER.folder} port={port or CLUSTER.port} user={user} dbname=postgres ' + ' '.join(options)
        env = dict(os.environ, HOME='/nonexistent')
        process = subprocess.Popen([self.program, conninfo, case], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def ends(self, process):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        return out

    def case_runs(self, case, *options, **more):
        return self.ends(self.start(case, *options, **more))

    def setUp(self):
        CLUSTER.sql('drop owned by plain; grant all on schema public to plain; grant pg_signal_backend, pg_read_all_stats to plain')


class Pg(PgCase):
    def test_types(self):
        self.case_runs('types')

    def test_structs(self):
        self.case_runs('structs')

    def test_shown(self):
        self.assertEqual(sorted(self.case_runs('shown').splitlines()), ['1: Ada', 'Ada is 37', 'connected ', 'greetings all'])

    def test_errors(self):
        self.case_runs('errors')

    def test_prepared(self):
        self.case_runs('prepared')

    def test_pipeline(self):
        self.case_runs('pipeline')

    def test_transactions(self):
        self.case_runs('transactions')

    def test_listens(self):
        self.case_runs('listens')

    def test_calls(self):
        self.case_runs('calls')

    def test_migrates(self):
        self.case_runs('migrates')

    def test_cancels(self):
        self.case_runs('cancels')

    def test_full(self):
        self.case_runs('full')

    def test_metrics(self):
        self.case_runs('metrics')

    def test_replaced(self):
        self.case_runs('replaced')

    def test_crowded(self):
        self.case_runs('crowded')

    def test_by_name(self):
        self.case_runs('types', host='localhost')
        self.case_runs('types', 'password=sesame', user='secret', host='localhost')
        self.assertIn('password', self.case_runs('refused', 'password=wrong', user='secret', host='localhost'))
        self.assertIn('translate host name', self.case_runs('refused', host='no.such.name.invalid'))
        self.assertIn('refused', self.case_runs('refused', host='127.0.0.1', port=1))
        self.case_runs('malformed')

    def test_tls(self):
        root = os.path.join(CLUSTER.folder, 'ca.pem')
        self.case_runs('secure', 'sslmode=verify-full', f'sslrootcert={root}', user='tls', host='localhost')
        self.assertIn('certificate', self.case_runs('refused', 'sslmode=verify-full', f'sslrootcert={tls.at("server.pem")}', user='tls',
                                                    host='localhost'))
        self.assertIn('does not match', self.case_runs('refused', 'sslmode=verify-full', f'sslrootcert={root}', user='tls', host='127.0.0.1'))

    def test_large_records(self):
        self.case_runs('large', 'sslmode=require', host='127.0.0.1', port=Wraps(self).port)

    def test_silent(self):
        with socket.create_server(('127.0.0.1', 0)) as silent:
            self.case_runs('silent', host='127.0.0.1', port=silent.getsockname()[1])

    def test_hanging_resolver(self):
        self.case_runs('silent', host='hangs')

    def test_stalled(self):
        processes = [self.start('stalled', 'sslmode=disable', host='127.0.0.1', port=Stalls(self, most).port) for most in (100, 600, 1500)]
        for process in processes:
            self.ends(process)

    def test_killed_under_load(self):
        process = self.start('load', host='127.0.0.1')
        self.assertEqual(process.stdout.readline(), 'begun\n')
        for _ in range(2):
            time.sleep(0.3)
            CLUSTER.kill()
            time.sleep(0.2)
            CLUSTER.start()
        self.assertRegex(self.ends(process), r'^[1-9]\d* ok')


class Jobs(PgCase):
    program = PROGRAMS['pg_jobs']

    def eventually(self, sql, wanted):
        for _ in range(1000):
            with contextlib.suppress(AssertionError):   # it may not run
                if CLUSTER.sql(sql) == wanted:
                    return
            time.sleep(0.02)
        self.assertEqual(CLUSTER.sql(sql), wanted)

    def test_shown(self):
        self.assertEqual(self.case_runs('shown'), 'mail to Ada\n')

    def test_adds(self):
        self.case_runs('adds')

    def test_notifies(self):
        self.case_runs('notifies')

    def test_retries(self):
        self.case_runs('retries')

    def test_stops(self):
        self.case_runs('stops')

    def test_drains(self):
        self.case_runs('drains')

    def test_serves(self):
        self.case_runs('serves')

    def test_leases(self):
        self.case_runs('leases')

    def add_table(self, text):
        CLUSTER.sql(f'create table {text}; alter table {text.split()[0]} owner to plain')

    def test_shared(self):
        self.add_table('done (a int, attempt int)')
        self.case_runs('creates')
        CLUSTER.sql("insert into eddy_jobs (kind, payload, run_at) select 'job', to_json(a), now() from generate_series(1, 1000) as a")
        for process in [self.start('shares') for _ in range(2)]:
            self.ends(process)
        self.assertEqual(CLUSTER.sql('select count(*), count(distinct a), sum(attempt) from done'), '1000|1000|1000')

    def test_periodic(self):
        self.add_table('ticks (at timestamptz default now())')
        for process in [self.start('periodic') for _ in range(2)]:
            self.ends(process)
        self.assertEqual(CLUSTER.sql('select count(distinct floor(extract(epoch from at) / 0.2)) - count(*) from ticks'), '0')
        self.assertEqual(CLUSTER.sql('select count(*), max(attempts) from eddy_jobs'), '1|0')

    def test_worker_is_killed(self):
        process = self.start('holds')
        self.eventually('select count(*) from begun', '1')
        process.kill()
        self.case_runs('shares')
        self.assertEqual(CLUSTER.sql('select a, attempt from done'), '1|2')

    def test_server_is_killed(self):
        process = self.start('survives')
        self.eventually('select count(*) > 3 from begun', 't')
        CLUSTER.kill()
        CLUSTER.start()
        self.ends(process)
        self.assertEqual(CLUSTER.sql('select count(distinct a) from done'), '8')


@unittest.skipUnless(os.path.exists(PROGRAMS['pg_app']), 'needs TLS')
class App(PgCase):
    program = PROGRAMS['pg_app']

    def test_rows(self):
        self.case_runs('rows')

    def test_starts(self):
        self.case_runs('starts')

    def test_events(self):
        self.case_runs('events')

    def test_workers(self):
        self.case_runs('workers')


@unittest.skipUnless(os.path.exists(PROGRAMS['pg_sessions']), 'needs TLS')
class Sessions(PgCase):
    program = PROGRAMS['pg_sessions']

    def test_sessions(self):
        self.case_runs('sessions')

    def test_expires(self):
        self.case_runs('expires')

    def test_ended_and_renewed(self):
        self.case_runs('ended_and_renewed')

    def test_unavailable(self):
        self.case_runs('unavailable')


class Chaos(PgCase):
    """Under EDDY_CHAOS. chaos_pg.py has more seeds."""
    SEEDS = (1,)
    CASES = {'pg': 'pipeline transactions listens endures cancels full replaced crowded', 'pg_jobs': 'notifies retries stops drains',
             'pg_app': 'rows workers', 'pg_sessions': 'sessions'}
    FAILING = {'pg': 'endures', 'pg_app': 'workers'}   # these bear calls that fail

    def test_cases(self):
        for seed in self.SEEDS:
            for modes, programs in (('', self.CASES), (',errors', self.FAILING)):
                for self.program, case in [(PROGRAMS[name], case) for name, cases in programs.items() for case in cases.split()]:
                    if not os.path.exists(self.program):
                        continue
                    with self.subTest(EDDY_CHAOS=f'{seed}{modes}', case=case), mock.patch.dict(os.environ, EDDY_CHAOS=f'{seed}{modes}'):
                        self.setUp()
                        self.case_runs(case)
                    self.doCleanups()
