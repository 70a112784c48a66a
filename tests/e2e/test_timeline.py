"""EDDY_TRACE on whole servers: the file is what its format asks for, whatever happens to the program and the disk."""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

from timeline import Timeline
from wire import EXAMPLES, KIB, MIB, PROGRAMS, Case, in_threads, request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Timelines(Case):
    def tour(self, *args, trace=None, env=None, **options):
        self.path = trace or os.path.join(self.folder(), 'out.json')
        self.dir = self.folder()
        return self.serve('--dir', self.dir, *args, program='tour', env={'EDDY_TRACE': self.path, **(env or {})}, **options)

    def read(self, sampled=False):
        timeline = Timeline(self.path)
        self.assertEqual(timeline.wrong(sampled), [])
        return timeline

    def test_requests_of_every_kind(self):
        server = self.tour()
        with open(os.path.join(self.dir, 'file'), 'wb') as out:
            out.write(bytes(300 * KIB))
        with open(os.path.join(self.dir, 'up'), 'wb') as out:
            out.truncate(8 * MIB)
        paths = ['/hello', '/hello/"x"', '/slow/20', '/text/100000', '/stream/50', '/files/file', '/none', '/query?secret=1']
        in_threads(8, lambda i: self.assertIn(server.get(paths[i]).status, (200, 404)))
        self.assertEqual(server.ask(request('PUT', '/files/up', body=bytes(200 * KIB))).status, 200)
        with server.connect() as wire:
            wire.send(b'NONSENSE\r\n\r\n')
            self.assertEqual(wire.read().status, 400)
        server.stop(signal.SIGINT)
        timeline = self.read()
        self.assertEqual(timeline.dropped, 0)
        self.assertEqual(timeline.groups[1], f'tour ({server.pid})')
        spans = {e['args'].get('path'): e for e in timeline.of('b', 'span', track='spans')}
        self.assertEqual(len(timeline.of('b', 'span')), 10)
        self.assertEqual(spans['/hello/"x"']['name'], 'GET /hello/{name}')
        self.assertEqual(spans['/hello/"x"']['args']['status'], 200)
        self.assertEqual(spans['/none']['name'], 'GET')
        self.assertEqual(spans['/none']['args']['status'], 404)
        self.assertNotIn('secret', str(timeline.whole))
        self.assertEqual(spans['']['args']['status'], 400)
        end = next(e for e in timeline.of('e', 'span') if e['id'] == spans['/slow/20']['id'])
        self.assertGreaterEqual(end['ts'] - spans['/slow/20']['ts'], 20000)
        for name in ('ring', 'spans', 'main', 'signals', 'request'):
            self.assertIn(name, timeline.tracks.values())
        self.assertTrue(timeline.of('X', 'wait', 'sleep', track='request'))
        received = [e for e in timeline.of('b', 'op', 'recv', track='ring') if e['args']['result'] > 0]
        self.assertTrue(all(e['args']['bytes'] == e['args']['result'] for e in received))
        self.assertTrue(timeline.of('s', 'arrow', 'wake', track='ring'))
        self.assertTrue(timeline.of('f', 'arrow', 'wake', track='request'))
        # What the kernel leaves to a thread of its own says so: here the upload replaces a file that is large, in memory too.
        left = {e['name'] for e in timeline.of('b', 'op') if e['args'].get('io-wq') == 'always'}
        self.assertIn('renameat', left)
        self.assertFalse(left & {'recv', 'send', 'accept', 'poll', 'close'})

    def test_loops_are_groups_of_one_file(self):
        server = self.tour('--workers', 2)
        in_threads(8, lambda i: server.get('/slow/5'))
        server.stop()
        timeline = self.read()
        loops = [pid for pid, name in timeline.groups.items() if name.startswith('loop ')]
        self.assertEqual(len(loops), 2)
        for pid in loops:
            self.assertIn('ring', [name for (group, _), name in timeline.tracks.items() if group == pid])
        # They wake each other by messages, at least at the end.
        self.assertTrue(timeline.of('X', 'ring', 'messages'))

    def await_records(self, count):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                if Timeline(self.path).records >= count:
                    return
            except ValueError:
                pass    # written between two reads of the file
            time.sleep(0.01)
        self.fail(f'there never were {count} records in the file')

    def test_killed(self):
        server = self.tour()
        for _ in range(20):
            server.get('/hello')
        self.await_records(100)
        server.kill()
        timeline = self.read()
        self.assertGreaterEqual(len(timeline.of('b', 'span')), 1)

    def test_panic(self):
        program = os.path.join(os.path.dirname(EXAMPLES), 'tests', 'runtime', 'crash-deadlock')
        if not os.path.exists(program):
            self.skipTest('needs the crash tests of the runtime')
        self.path = os.path.join(self.folder(), 'out.json')
        done = subprocess.run([program], env=dict(os.environ, EDDY_TRACE=self.path), stderr=subprocess.PIPE, check=False, timeout=60)
        self.assertEqual(done.returncode, -signal.SIGABRT)
        timeline = self.read()
        self.assertEqual([len(timeline.of('X', 'run', track=name)) for name in ('left', 'right')], [1, 1])

    def refused(self, why, **env):
        server = self.tour(env=env)
        server.wait_for(f'ERROR eddy::timeline: .*{why}')
        self.assertEqual(server.get('/hello').status, 200)
        server.stop()
        self.assertNotIn('INFO eddy::timeline', server.log)

    def test_no_such_folder(self):
        self.refused('/none/there/out.json: No such file or directory', EDDY_TRACE='/none/there/out.json')

    def test_no_room_at_all(self):
        self.refused('No space left on device', EDDY_TRACE='/dev/full')

    def test_sample_that_is_none(self):
        self.refused('EDDY_TRACE_SAMPLE="often"', EDDY_TRACE_SAMPLE='often')

    def test_two_of_one_path(self):
        first = self.tour()
        second = self.serve('--dir', self.dir, program='tour', env={'EDDY_TRACE': self.path})
        second.wait_for('ERROR eddy::timeline: .*another process writes to it')
        self.assertEqual(second.get('/hello').status, 200)
        self.assertEqual(first.get('/slow/1').status, 200)
        second.stop()
        first.stop()
        self.assertEqual([e['name'] for e in self.read().of('b', 'span')], ['GET /slow/{ms}'])

    def test_a_path_for_each_process(self):
        self.path = os.path.join(self.folder(), 'of-%p.json')
        server = self.tour(trace=self.path)
        server.get('/hello')
        server.stop()
        self.path = self.path.replace('%p', str(server.pid))
        self.assertEqual(len(self.read().of('b', 'span')), 1)

    def test_full_disk(self):
        """As far as a file may grow, which a write finds out in its middle."""
        server = self.tour()
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (100 * KIB, resource.RLIM_INFINITY))
        with server.connect() as wire:
            for _ in range(300):
                self.assertEqual(wire.ask(request('GET', '/hello')).status, 200)
            server.wait_for('WARN eddy::timeline: the timeline ends here')
            self.assertEqual(wire.ask(request('GET', '/hello')).status, 200)
        server.stop()
        timeline = self.read()
        self.assertGreater(timeline.dropped, 0)
        self.assertGreater(timeline.records, 100)
        self.assertLessEqual(os.path.getsize(self.path), 100 * KIB)

    def test_limit_of_the_file(self):
        server = self.tour(env={'EDDY_TRACE_MAX': str(64 * KIB)})
        with server.connect() as wire:
            for _ in range(300):
                self.assertEqual(wire.ask(request('GET', '/hello')).status, 200)
        server.stop()
        self.assertGreater(self.read().dropped, 0)
        self.assertLessEqual(os.path.getsize(self.path), 64 * KIB)

    def sampled(self, seconds):
        """How many spans there are of a server that is busy for so long, and how many pauses."""
        server = self.tour(env={'EDDY_TRACE_SAMPLE': '4'})

        def ask(_):
            with server.connect() as wire:
                until = time.monotonic() + seconds
                while time.monotonic() < until:
                    wire.ask(request('GET', '/hello'))
        in_threads(2, ask)
        server.stop()
        timeline = self.read(sampled=True)
        self.assertEqual(timeline.whole['otherData']['sample'], 4)
        # The slices begin 40 ms apart; one goes on for as long as the turn that was under way.
        runs = sorted(int(e['ts']) for e in timeline.of('X', 'run'))
        return len(timeline.of('b', 'span')), sum(b - a > 15000 for a, b in zip(runs, runs[1:]))

    def test_sampled(self):
        # A machine that is busy has no time for it in each slice.
        for seconds in (0.3, 1, 4):
            spans, pauses = self.sampled(seconds)
            if spans > 10 and pauses > 3:
                return
        self.fail(f'{spans} spans, {pauses} pauses')

    def test_is_drawn(self):
        """By the script that made the picture of the docs."""
        server = self.tour()
        in_threads(3, lambda i: server.get(f'/slow/{i}'))
        server.stop()
        script = os.path.join(ROOT, 'docs', 'pictures', 'timeline.py')
        for words in ([], ['-1', '2']):
            drawn = subprocess.run([sys.executable, script, self.path, *words], capture_output=True, text=True, check=True).stdout
            texts = [e.text for e in xml.etree.ElementTree.fromstring(drawn).iter() if e.tag.endswith('}text')]
            for text in ('requests', 'tasks', 'request', 'ring', 'GET /slow/{ms}  200'):
                self.assertIn(text, texts)

    def test_nothing_without_being_asked(self):
        server = self.serve('--dir', self.folder(), program='tour')
        server.get('/hello')
        self.assertEqual([name for name in os.listdir(f'/proc/{server.pid}/task')
                          if open(f'/proc/{server.pid}/task/{name}/comm').read() == 'eddy-timeline\n'], [])


class Probes(unittest.TestCase):
    def named_in_docs(self):
        with open(os.path.join(ROOT, 'docs', 'timeline.md')) as file:
            text = file.read()
        rows = re.findall(r'^\| (`\w+__.*?) \|', text, re.M)
        return set(re.findall(r'\w+__\w+', ' '.join(rows))), set(re.findall(r'usdt:[^:]+:eddy:(\w+)', text))

    def test_all_that_the_docs_name_are_there(self):
        if not shutil.which('readelf'):
            self.skipTest('needs readelf')
        says = subprocess.run(['readelf', '-n', PROGRAMS['tour']], capture_output=True, text=True, check=True).stdout
        found = set(re.findall(r'Provider: eddy\s+Name: (\w+)', says))
        if not found and not glob.glob('/usr/include/**/sys/sdt.h', recursive=True):
            self.skipTest('needs sys/sdt.h, of systemtap-sdt-dev')
        listed, used = self.named_in_docs()
        self.assertEqual(found, listed)
        self.assertGreaterEqual(len(used), 3)
        self.assertLessEqual(used, listed)


if __name__ == '__main__':
    unittest.main()
