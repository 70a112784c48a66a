#!/usr/bin/env python3
"""Runs the service, or a test, with a PostgreSQL of its own.

    local.py run PROGRAM FILE.toml     the database and the secret are kept for the next run
    local.py test COMMAND…             the database is new, and removed afterwards

The command gets PGHOST, PGUSER and PGDATABASE."""
import base64
import contextlib
import glob
import hmac
import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = max(glob.glob('/usr/lib/postgresql/*/bin/initdb'), default=shutil.which('initdb') or '').removesuffix('initdb')


def token(secret, sub, **claims):
    """A JWT for an hour, signed by HS256."""
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b'=')
    claims = {'sub': sub, 'exp': int(time.time()) + 3600, **claims}
    text = part(b'{"alg":"HS256"}') + b'.' + part(json.dumps(claims).encode())
    return (text + b'.' + part(hmac.digest(secret, text, 'sha256'))).decode()


class Database:
    """A server in a folder, reached by a unix socket there. It refuses to run as root."""

    def __init__(self, folder=None):
        assert BIN, 'needs PostgreSQL: apt-get install postgresql'
        self.kept, self.folder, self.user = folder, folder or tempfile.mkdtemp(prefix='dropbox-'), {}
        os.makedirs(self.folder, exist_ok=True)
        if os.getuid() == 0:
            user = pwd.getpwnam('nobody')
            self.user = {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.env = {'PGHOST': self.folder, 'PGUSER': 'dropbox', 'PGDATABASE': 'postgres', 'PGPORT': '5432'}
        self.data = os.path.join(self.folder, 'postgres')
        if not os.path.exists(self.data):
            subprocess.run([BIN + 'initdb', '-D', self.data, '-A', 'trust', '-U', 'dropbox', '-E', 'UTF8', '--no-locale', '--no-sync'],
                           check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **self.user)
        self.start()

    def start(self):
        with open(os.path.join(self.folder, 'log'), 'a') as log:
            self.process = subprocess.Popen([BIN + 'postgres', '-D', self.data, '-k', self.folder, '-h', ''], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, cwd=self.folder, start_new_session=True, **self.user)
        while subprocess.run([BIN + 'pg_isready', '-q', '-h', self.folder], check=False).returncode:
            assert self.process.poll() is None, f'PostgreSQL does not start: see {self.folder}/log'
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def close(self):
        self.stop()
        if not self.kept:
            shutil.rmtree(self.folder)


def secret_of(settings):
    path = os.path.join(os.path.dirname(os.path.abspath(settings)), 'secret')
    with contextlib.suppress(FileExistsError), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'w') as file:
        file.write(secrets.token_hex())
    with open(path, 'rb') as file:
        return file.read()


def main(what, *command):
    database = Database(f'/var/tmp/dropbox-{os.getuid()}' if what == 'run' else None)
    try:
        if what == 'run':
            print(f'ADMIN={token(secret_of(command[1]), "ada", role="admin")}', flush=True)
        signal.signal(signal.SIGINT, signal.SIG_IGN)   # the command ends by itself
        process = subprocess.Popen(command, env={**os.environ, **database.env}, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        return process.wait()
    finally:
        database.close()


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
