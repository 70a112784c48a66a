"""A PostgreSQL server of the machine's version, for tests and the bench."""
# needs: postgresql
import contextlib
import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

BIN = max(glob.glob('/usr/lib/postgresql/*/bin/initdb'), default='').removesuffix('initdb')


class Cluster:
    """A server with a folder, a unix socket there and a port of its own. It refuses to run as root."""
    SETTINGS = {'fsync': 'off', 'max_connections': 20, 'superuser_reserved_connections': 3, 'autovacuum': 'off', 'deadlock_timeout': '100ms',
                'listen_addresses': '127.0.0.1', 'log_min_messages': 'fatal', 'shared_buffers': '16MB'}
    HBA = 'local all all trust\nhost all all 127.0.0.1/32 trust\n'

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='eddy-pg-')
        self.data, self.process = os.path.join(self.folder, 'data'), None
        self.user = {}
        if os.getuid() == 0:
            user = pwd.getpwnam('nobody')
            self.user = {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.call('initdb', '-D', self.data, '-A', 'trust', '-U', 'test', '--no-sync', '--no-locale', '-E', 'UTF8')
        with open(os.path.join(self.data, 'pg_hba.conf'), 'w') as file:
            file.write(self.HBA)
        self.prepare()
        with socket.create_server(('127.0.0.1', 0)) as free:
            self.port = free.getsockname()[1]
        with open(os.path.join(self.data, 'postgresql.conf'), 'a') as file:
            settings = {**self.SETTINGS, 'port': self.port, 'unix_socket_directories': self.folder}
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        self.start()

    def prepare(self):
        """For subclasses: called before the first start."""

    def call(self, program, *args):
        done = subprocess.run([BIN + program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=self.folder,
                              timeout=60, **self.user)
        if done.returncode:
            raise AssertionError(f'{program}: {done.stdout}{done.stderr}')
        return done.stdout.strip()

    def sql(self, text, database='postgres'):
        return self.call('psql', '-qAtX', '-h', self.folder, '-p', str(self.port), '-U', 'test', '-c', text, database)

    def start(self):
        log = os.path.join(self.folder, 'log')
        for _ in range(200):
            # One that starts too early after kill() finds memory of the last backends, and ends.
            if not self.process or self.process.poll() is not None:
                with open(log, 'a') as file:
                    self.process = subprocess.Popen([BIN + 'postgres', '-D', self.data], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                                    cwd=self.folder, start_new_session=True, **self.user)
            with contextlib.suppress(AssertionError):
                return self.sql('select 1')
            time.sleep(0.05)
        with open(log) as file:
            raise AssertionError(f'PostgreSQL does not start:\n{file.read()}')

    def kill(self):
        """As the machine's end would. Its backends notice, and end by themselves."""
        with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children') as file:
            backends = file.read().split()
        self.process.kill()
        for pid in map(int, backends):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.process.wait()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.data, 'postmaster.pid'))

    def end(self):
        if self.process:
            self.process.send_signal(3)   # without a checkpoint
            self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)
