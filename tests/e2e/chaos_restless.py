"""What test_restless does, under CHAOS_SEEDS (200) seeds."""
import os
import unittest

import restless


class Seeds(unittest.TestCase):
    maxDiff = None

    def test_whatever_becomes_of_the_issuer(self):
        for seed in range(1, int(os.environ.get('CHAOS_SEEDS', '200')) + 1):
            for modes in ('', ',errors'):
                with self.subTest(EDDY_CHAOS=f'{seed}{modes}'):
                    self.assertEqual(restless.run(2, seed, env={'EDDY_CHAOS': f'{seed}{modes}'}, excuse={500} if modes else ()), '')


if __name__ == '__main__':
    unittest.main()
