"""A million KeyUpdates in each direction of one connection, of each suite; test_tls_updates.py has some thousands."""
import unittest

import test_tls_updates
from test_tls_updates import setUpModule, tearDownModule  # noqa: F401


class Updates(test_tls_updates.Updates):
    count, first = 1000000, 10000


def load_tests(_loader, _tests, _pattern):
    return unittest.TestSuite(map(Updates, ('test_the_server', 'test_the_client')))
