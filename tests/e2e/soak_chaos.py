"""Clients that do at random whatever clients can do, SOAK_REQUESTS (200,000) times, to one server under AddressSanitizer."""
import os
import random
import unittest

import chaos
from wire import is_sanitized


class Chaos(unittest.TestCase):
    def test_many_requests(self):
        self.assertTrue(is_sanitized(), 'the server is to be built with AddressSanitizer, which looks for leaks at its end')
        seed, quota = random.randrange(1 << 32), chaos.Quota(requests=int(os.environ.get('SOAK_REQUESTS', '200000')))
        self.assertEqual(chaos.run(quota, seed), '', f'seed {seed}')
        print(f'seed {seed}: {quota.asked} requests, {quota.answered} answers were read')
        self.assertGreater(quota.answered, quota.asked // 20)


if __name__ == '__main__':
    unittest.main()
