"""Clients of HTTP/2 that make work for nothing, for ABUSE_SECONDS (30) each: others are served as before, and memory is given back."""
import os
import unittest

import h2abuse
from wire import is_sanitized, speaks_http2


@unittest.skipUnless(speaks_http2(), 'needs an eddy with -Dhttp2=enabled')
class Abused(h2abuse.Abused):
    seconds = float(os.environ.get('ABUSE_SECONDS', '30'))

    def setUp(self):
        self.assertFalse(is_sanitized(), 'the servers are to be those of a release: they are measured')


if __name__ == '__main__':
    unittest.main()
