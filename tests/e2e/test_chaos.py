"""A little of soak_chaos."""
import unittest

import chaos


class Chaos(unittest.TestCase):
    def test_all_kinds_of_clients(self):
        self.assertEqual(chaos.run(chaos.Quota(seconds=2), seed=1), '')

    def test_all_that_looks_at_it(self):
        self.assertEqual(chaos.run(chaos.Quota(seconds=2), seed=1, watched=True), '')


if __name__ == '__main__':
    unittest.main()
