"""All attacks at once for SOAK_SECONDS (60): no honest client waits for over a second, and memory stays within its bounds."""
import os
import statistics
import unittest

import attacks
from tls import setUpModule, tearDownModule  # noqa: F401
from wire import MIB, Case, is_sanitized


class Overload(Case):
    def test_all_attacks_at_once(self):
        self.assertFalse(is_sanitized(), 'the servers are to be those of a release: their memory is measured')
        path = self.folder()
        attacks.make_folder(path)
        found = attacks.run(path, float(os.environ.get('SOAK_SECONDS', '60')))
        for name, (waits, peak, most) in zip(('over TLS', 'without'), found):
            print(f'{name}: {len(waits)} requests of honest clients, median {statistics.median(waits) * 1000:.1f} ms, '
                  f'at most {max(waits) * 1000:.0f} ms; {peak / MIB:.0f} of {most / MIB:.0f} MiB')
        for waits, peak, most in found:
            self.assertLess(peak, most)
            self.assertLess(max(waits), 1)


if __name__ == '__main__':
    unittest.main()
