"""Clients that do at random whatever clients can do, for SOAK_SECONDS (600)."""
import os
import random
import time
import unittest

import chaos


class Chaos(unittest.TestCase):
    def test_all_kinds_of_clients(self):
        until = time.monotonic() + int(os.environ.get('SOAK_SECONDS', '600'))
        while time.monotonic() < until:
            seed = random.randrange(1 << 32)
            print('seed', seed, flush=True)
            self.assertEqual(chaos.run(10, seed), '', f'seed {seed}')


if __name__ == '__main__':
    unittest.main()
