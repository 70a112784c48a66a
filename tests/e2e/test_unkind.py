"""Requests, bodies and files once more, from servers that run under EDDY_CHAOS."""
import os
import unittest

import chaos
import test_bodies
import test_requests

SEED = 1


class Chaos(unittest.TestCase):
    def test_all_kinds_of_clients(self):
        self.assertEqual(chaos.run(chaos.Quota(seconds=2), seed=SEED), '')

    def test_calls_that_fail(self):
        """Whatever fails, the server goes on, ends well and leaves nothing behind."""
        os.environ['EDDY_CHAOS'] = f'{SEED},errors'
        try:
            self.assertEqual(chaos.run(chaos.Quota(seconds=2), seed=SEED, failing=True, watched=True), '')
        finally:
            os.environ['EDDY_CHAOS'] = str(SEED)


def load_tests(loader, tests, pattern):
    os.environ['EDDY_CHAOS'] = str(SEED)
    for module in (test_bodies, test_requests):
        for name, case in vars(module).items():
            if isinstance(case, type) and issubclass(case, unittest.TestCase):
                again = type(f'{name}_under_chaos', (case,), {'__module__': __name__})
                tests.addTests(loader.loadTestsFromTestCase(again))
    return tests


if __name__ == '__main__':
    unittest.main()
