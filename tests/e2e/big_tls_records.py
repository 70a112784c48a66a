"""Records of every size from 1 to 16,384 bytes, of both versions and all suites; test_tls_records.py has those at the edges."""
import unittest

import test_tls_records
from test_tls_records import RECORD, setUpModule, tearDownModule  # noqa: F401


class Records(test_tls_records.Records):
    sizes = range(1, RECORD + 1)


def load_tests(_loader, _tests, _pattern):
    return unittest.TestSuite(map(Records, ('test_the_server_receives', 'test_the_server_sends', 'test_the_client_receives')))
