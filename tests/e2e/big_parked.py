"""A million tasks that wait, with vm.max_map_count as it is."""
import json
import os
import subprocess
import unittest

COUNT = 1_000_000
GIB = 1 << 30
PARKED = os.path.join(os.environ['EDDY_EXAMPLES'], '..', 'bench', 'micro', 'micro-parked')


def available():
    with open('/proc/meminfo') as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith('MemAvailable'))


class Parked(unittest.TestCase):
    def test_million_tasks(self):
        if available() < 7 * GIB:
            self.skipTest('needs 7 GiB of memory')
        done = subprocess.run([PARKED, str(COUNT)], capture_output=True, text=True, check=False, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = json.loads(done.stdout)
        print(f'{figures["bytes"]:.0f} bytes for each of {COUNT} parked tasks, {figures["mappings"]} mappings')
        self.assertLess(figures['bytes'], 4.5 * 1024)
        self.assertLess(figures['mappings'], 10000)
