"""eddy-bench compare: what it says of two results, and its exit status."""
import json
import os
import subprocess
import tempfile
import unittest

import measured

PROGRAM = os.path.join(os.environ['EDDY_EXAMPLES'], '..', 'bench', 'eddy-bench', 'eddy-bench')
ALONE = 'changes without a peer in both runs may come from the machine: measure an unchanged server as well'


def cpu_times(result, factor, target='eddy', cell='get-1m-16'):
    """Changes what it costs in one cell."""
    for sample in next(t for c in result['cells'] if c['name'] == cell for t in c['targets'] if t['name'] == target)['samples']:
        sample['cpu_seconds'] *= factor
    return result


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def compare(self, old, new, *options, status):
        paths = []
        for name, result in (('old.json', old), ('new.json', new)):
            paths.append(os.path.join(self.folder, name))
            with open(paths[-1], 'w') as file:
                json.dump(result, file)
        done = subprocess.run([PROGRAM, 'compare', *paths, *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def made(self, seed, **how):
        return measured.Made(seed, **how).result()

    def test_noise_is_no_change(self):
        for seed in range(2, 6):
            lines = self.compare(self.made(1), self.made(seed), status=0)
            self.assertRegex(lines[-1], r'^0 worse, 0 better, \d+ as before, 0 not judged$')

    def test_a_change_is_one(self):
        lines = self.compare(self.made(1), cpu_times(self.made(2), 1.3), status=1)
        self.assertRegex(lines[1], r'^GET 1 MiB × 16  eddy    CPU time  0\.\d\d × nginx  0\.\d\d × nginx  1\.\d\d × +\S+  worse$')
        self.assertRegex(lines[-1], '^1 worse, 0 better,')
        self.assertNotIn(ALONE, lines)
        lines = self.compare(cpu_times(self.made(1), 1.3), self.made(2), status=0)
        self.assertRegex(lines[-1], '^0 worse, 1 better,')

    def test_small_changes_are_tolerated_as_asked(self):
        old, new = self.made(1), cpu_times(self.made(1), 1.02)
        # The same rounds, but for the one thing: without noise it is the tolerance that decides.
        for result in (old, new):
            for cell in result['cells']:
                for target in cell['targets']:
                    target['samples'] = target['samples'][:1] * 7
        self.compare(old, new, status=0)
        self.compare(old, new, '--tolerance', '1', status=1)
        self.compare(old, new, '--tolerance', '0', status=1)

    def test_ratios_hold_on_another_machine(self):
        new = cpu_times(self.made(2), 1.3)
        new['machine']['cpu'] = 'Other'
        for target in (target for cell in new['cells'] for target in cell['targets']):
            for sample in target['samples']:
                sample['cpu_seconds'] = sample.get('cpu_seconds', 0) / 2
        lines = self.compare(self.made(1), new, status=1)
        self.assertIn('the machines differ; only ratios to a peer are judged:', lines)
        self.assertIn('  before: AMD EPYC, 2 processors, Linux 6.1.0-18-amd64, kvm', lines)
        self.assertRegex(lines[-1], r'^1 worse, 0 better, \d+ as before, [1-9]\d* not judged$')
        lines = self.compare(self.made(1), new, '--all', status=1)
        self.assertTrue(any(' nginx ' in line and line.endswith('not judged: another machine') for line in lines))

    def test_figures_themselves_are_compared_without_a_peer(self):
        old, new = self.made(1), cpu_times(self.made(2), 1.3)
        for result in (old, new):
            for cell in result['cells']:
                cell['targets'] = cell['targets'][:1]
        lines = self.compare(old, new, status=1)
        self.assertRegex(lines[1], r'GET 1 MiB × 16  eddy    CPU time  0\.\d+ s/GiB  0\.\d+ s/GiB  1\.\d\d × ')
        self.assertIn(ALONE, lines)
        new['machine']['processors'] = 4
        self.assertEqual(self.compare(old, new, status=2)[-1], 'nothing can be compared')

    def test_says_what_only_one_has(self):
        old, new = self.made(1), self.made(2)
        del old['cells'][-1], new['cells'][0:2]
        lines = self.compare(old, new, status=0)
        self.assertIn('only before: get-4k-16, get-64k-16', lines)
        self.assertIn('only after: routes', lines)

    def test_says_that_a_peer_is_another(self):
        new = self.made(2)
        for cell in new['cells']:
            for target in cell['targets']:
                if target['name'] == 'nginx':
                    target['version'] = 'nginx 2'
        self.assertEqual(self.compare(self.made(1), new, status=0).count('nginx was nginx 1.2.3 and is nginx 2'), 1)

    def test_other_work_is_not_compared(self):
        new = cpu_times(self.made(2), 1.3)
        for cell in new['cells']:
            cell['connections'] = 3
        self.assertEqual(self.compare(self.made(1), new, status=2)[-1], 'nothing can be compared')

    def test_few_rounds_are_said_to_be_few(self):
        def transfers(seed, rounds):
            result = self.made(seed, rounds=rounds)
            return result | {'cells': [cell for cell in result['cells'] if cell['name'] != 'idle']}

        self.assertEqual(self.compare(transfers(1, 1), transfers(2, 1), status=2)[-1], 'nothing can be compared')
        lines = self.compare(transfers(1, 4), cpu_times(transfers(2, 4), 2), status=1)
        self.assertIn('with only 4 rounds, some changes may be random', lines)
        self.assertEqual(len(self.compare(transfers(1, 7), transfers(2, 7), status=0)), 1)

    def test_markdown(self):
        lines = self.compare(self.made(1), cpu_times(self.made(2), 1.3), '--markdown', status=1)
        self.assertEqual(lines[0], '| what | target | figure | before | after | change | 99.9 % interval | verdict |')
        self.assertTrue(lines[2].endswith('| **worse** |'))

    def test_usage(self):
        for args in ([], ['a'], ['a', 'b', 'c'], ['a', 'b', '--tolerance', 'x'], ['a', 'b', '--tolerance', '-1'], ['a', 'b', '--odd']):
            done = subprocess.run([PROGRAM, 'compare', *args], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn('usage: eddy-bench compare', done.stderr)
        done = subprocess.run([PROGRAM, 'compare', '/dev/null', '/nowhere'], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, 'eddy-bench: /dev/null: is not a regular file\n'))
