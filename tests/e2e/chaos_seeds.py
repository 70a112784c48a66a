"""What test_unkind does, under CHAOS_SEEDS (200) seeds; every second server is traced."""
import os
import unittest

import chaos


class Seeds(unittest.TestCase):
    def test_all_kinds_of_clients(self):
        for seed in range(1, int(os.environ.get('CHAOS_SEEDS', '200')) + 1):
            for modes in ('', ',errors'):
                os.environ['EDDY_CHAOS'] = f'{seed}{modes}'
                with self.subTest(EDDY_CHAOS=os.environ['EDDY_CHAOS']):
                    self.assertEqual(chaos.run(chaos.Quota(seconds=2), seed, failing=bool(modes), watched=seed % 2 == 1), '')


if __name__ == '__main__':
    unittest.main()
