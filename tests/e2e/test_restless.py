"""A little of big_restless."""
import unittest

import restless


class Restless(unittest.TestCase):
    maxDiff = None

    def test_whatever_becomes_of_the_issuer(self):
        self.assertEqual(restless.run(4, seed=1), '')


if __name__ == '__main__':
    unittest.main()
