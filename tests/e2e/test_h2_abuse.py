"""A little of abuse_h2."""
import unittest

import h2abuse
from wire import is_sanitized, speaks_http2


@unittest.skipUnless(speaks_http2(), 'needs an eddy with -Dhttp2=enabled')
class Abused(h2abuse.Abused):
    seconds, slice, measures = 0.1, 0.05, not is_sanitized()


if __name__ == '__main__':
    unittest.main()
