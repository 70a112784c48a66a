"""Five minutes (RESTLESS_SECONDS, 300) of an issuer at its worst, and of clients who are no better; the server's memory does not grow."""
import os
import random
import unittest

import restless
from wire import MIB, is_sanitized


class Restless(unittest.TestCase):
    maxDiff = None

    def test_for_a_while(self):
        seconds, seed, sizes = float(os.environ.get('RESTLESS_SECONDS', '300')), random.randrange(1 << 32), []

        def look(server, world):
            sizes.append(server.rss())
            self.answers = world.answers

        self.assertEqual(restless.run(seconds, seed, look=look), '', f'seed {seed}')
        third = len(sizes) // 3
        first, last = max(sizes[:third + 1]), max(sizes[-third - 1:])
        print(f'seed {seed}: {len(sizes)} sets of keys; answers {dict(self.answers)}; MiB {first / MIB:.1f}, then {last / MIB:.1f}')
        self.assertEqual(set(self.answers), {200, 400, 401, 403, 503})
        # Sanitizers keep what is freed for a while.
        if not is_sanitized():
            self.assertLess(last - first, 4 * MIB, f'seed {seed}: {sizes}')


if __name__ == '__main__':
    unittest.main()
