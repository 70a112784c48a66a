"""The attacks of test_tls_attack.py, many times."""
import unittest

import test_tls_attack
from test_tls_attack import setUpModule, tearDownModule  # noqa: F401


class OnServer(test_tls_attack.OnServer):
    tries = 1000


class OnClient(test_tls_attack.OnClient):
    tries = 1000


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(cls('test_nothing_leaks') for cls in (OnServer, OnClient))
