"""What Chaos of test_pg does, under CHAOS_SEEDS (200) seeds."""
# needs: libpq-dev openssl postgresql
import os
import unittest

import test_pg
from test_pg import setUpModule, tearDownModule  # noqa: F401


class Seeds(test_pg.Chaos):
    SEEDS = range(1, int(os.environ.get('CHAOS_SEEDS', '200')) + 1)


if __name__ == '__main__':
    unittest.main()
