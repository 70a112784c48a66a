"""Certificates of servers on 127.0.0.1, each its own authority, with a key of either kind."""
import os
import subprocess

KEYS = {
    'ecdsa': ('ec', '-pkeyopt', 'ec_paramgen_curve:P-256'),
    'rsa': ('rsa:2048',),
}


class Certificate:
    """Paths of PEM files: the certificate, its key, and one with both."""

    def __init__(self, folder, kind):
        self.cert, self.key, self.both = (os.path.join(folder, f'{kind}.{what}') for what in ('cert', 'key', 'both'))
        if not os.path.exists(self.both):
            self._make(kind)

    def _make(self, kind):
        subprocess.run(['openssl', 'req', '-x509', '-nodes', '-days', '2', '-newkey', *KEYS[kind], '-subj', '/CN=127.0.0.1',
                        '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', self.key, '-out', self.cert], check=True, capture_output=True)
        with open(self.both, 'wb') as out:
            for path in (self.cert, self.key):
                with open(path, 'rb') as file:
                    out.write(file.read())
