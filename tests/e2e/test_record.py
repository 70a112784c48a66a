"""EDDY_RECORD and EDDY_REPLAY: a replay takes the same way as the recorded run, without io_uring, network or disk."""
import os
import resource
import shutil
import signal
import subprocess
import unittest

import recorded
from recorded import DIVERGED, REFUSED, Recording, without_system
from timeline import Timeline, ns
from wire import EXAMPLES, KIB, MIB, PROGRAMS, Case, chunked, in_threads, request

LADDER = os.path.join(EXAMPLES, 'ladder')


def setUpModule():
    with open(PROGRAMS['tour'], 'rb') as file:
        if b'EDDY_REPLAY' not in file.read():
            raise unittest.SkipTest('built without -Drecord=enabled')


@unittest.skipIf(recorded.ALWAYS, 'each server is recorded already')
class Servers(Case):
    def record(self, *args, program='tour', env=None, **options):
        self.recording = Recording()
        self.dir = self.folder()
        return self.serve('--dir', self.dir, *args, program=program, env={**self.recording.env, **(env or {})}, **options)

    def end(self, server, sig=signal.SIGTERM, **options):
        server.process.send_signal(sig)
        server.wait()
        self.assertEqual(self.recording.wrong(server.program, server.process.returncode, None, server.log, **options), '')

    def load(self, server):
        with open(os.path.join(self.dir, 'file'), 'wb') as out:
            out.write(os.urandom(300 * KIB))
        ask = [request('GET', '/hello'), request('GET', '/text/100000', 'Accept-Encoding: gzip'), request('GET', '/files/file'),
               request('GET', '/files/file', 'Range: bytes=1000-5000'), request('PUT', '/files/up', body=os.urandom(200 * KIB)),
               request('POST', '/echo', 'Transfer-Encoding: chunked', body=chunked(b'x' * 5000)), request('GET', '/none'), request('GET', '/slow/20'),
               b'NONSENSE\r\n\r\n', request('GET', '/metrics')]
        in_threads(len(ask), lambda i: server.ask(ask[i]))
        with server.connect() as wire:
            wire.send(request('GET', '/files/file'))

    def test_a_replay_is_the_same(self):
        server = self.record('--compression', '--tracing', '--access-log')
        self.load(server)
        self.end(server)
        self.assertEqual(os.stat(self.recording.path).st_mode & 0o777, 0o600)
        # Again, and where it may make no call of the network or of io_uring.
        self.assertEqual(self.recording.wrong(server.program, 0, None, server.log, wrap=without_system()), '')

    def test_two_loops(self):
        server = self.record('--workers', '2', '--access-log')
        self.load(server)
        self.end(server)

    def test_a_timeline_of_a_replay(self):
        server = self.record('--workers', '2')
        self.load(server)
        path = os.path.join(self.dir, 'out.json')
        self.end(server, env={'EDDY_REPLAY_TRACE': path})
        timeline = Timeline(path)
        begin, end = (ns(*timeline.of(phase, name='GET /slow/{ms}')) for phase in 'be')
        self.assertGreater(end - begin, 19_000_000)
        self.assertEqual(timeline.wrong(), [])

    def test_the_other_executor_with_chaos(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                server = self.record(env={'EDDY_CHAOS': str(seed), 'EDDY_EXECUTOR': 'poll'})
                self.load(server)
                self.end(server)

    def test_a_listing(self):
        """Made by calls of the C library in the program itself."""
        self.recording = Recording()
        folder = self.folder()
        for name in ('b', 'a', 'c'):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(os.urandom(MIB))
        server = self.serve(folder, program='files', env=self.recording.env)
        self.assertIn(b'"b"', server.get('/api/files').body)
        self.assertEqual(len(server.get('/files/b').body), MIB)
        shutil.rmtree(folder)
        self.end(server)

    def test_a_crash_is_repeated(self):
        server = self.record()
        self.load(server)
        server.process.send_signal(signal.SIGABRT)
        server.process.wait(20)
        server.reader.join(10)
        server.process.stderr.close()
        self.assertEqual(self.recording.wrong(server.program, -signal.SIGABRT, None, server.log), '')

    def test_a_killed_program_replays_to_its_last_block(self):
        server = self.record()
        self.load(server)
        server.kill()
        replay = self.recording.replay(server.program)
        self.assertEqual(replay.returncode, REFUSED, replay.stderr)
        self.assertIn('the recording ends here', replay.stderr)


class Programs(Case):
    def run_one(self, *command, env=None, **options):
        return subprocess.run(command, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=60, **options)

    def test_programs_of_the_ladder(self):
        for name in ('01_tasks', '02_deadline', '03_fan_out', '05_cleanup', '06_pipeline', '08_rate_limit', '10_pubsub', '11_supervisor', '12_workers'):
            with self.subTest(name):
                recording, program = Recording(), os.path.join(LADDER, name)
                run = self.run_one(program, env=recording.env, cwd=self.folder())
                self.assertEqual(recording.wrong(program, run.returncode, run.stdout, run.stderr), '')

    def hello(self):
        recording, program = Recording(), os.path.join(LADDER, '01_tasks')
        self.assertEqual(self.run_one(program, env=recording.env).returncode, 0)
        return recording, program

    def test_refusals(self):
        recording, program = self.hello()
        with open(recording.path, 'rb') as file:
            whole = file.read()
        # Not the last 20 bytes: a file without its whole end is a cut one.
        for at in (0, 9, 40, len(whole) // 2, len(whole) - 20):
            with open(recording.path, 'wb') as file:
                file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            self.assertEqual(recording.replay(program).returncode, REFUSED, at)
        for length in (0, 8, 100):
            with open(recording.path, 'wb') as file:
                file.write(whole[:length])
            self.assertEqual(recording.replay(program).returncode, REFUSED, length)
        with open(recording.path, 'wb') as file:
            file.write(whole[:-1])
        cut = recording.replay(program)
        self.assertEqual(cut.returncode, 0, cut.stderr)
        with open(recording.path, 'wb') as file:
            file.write(whole)
        self.assertEqual(recording.replay(os.path.join(LADDER, '02_deadline')).returncode, REFUSED)
        self.assertEqual(self.run_one(program, env={'EDDY_REPLAY': '/none'}).returncode, REFUSED)
        self.assertEqual(self.run_one(program, env={**recording.env, 'EDDY_REPLAY': recording.path}).returncode, 1)
        again = self.run_one(program, env=recording.env)
        self.assertEqual(again.returncode, 1)
        self.assertIn('give it another name', again.stderr)
        self.assertEqual(recording.replay(program).returncode, 0)

    def test_another_way(self):
        """A file that is other bytes in a replay: the program is told the recorded ones, and its argument is the recorded one."""
        folder, recording, program = self.folder(), Recording(), os.path.join(LADDER, '07_cp')
        source, target = os.path.join(folder, 'a'), os.path.join(folder, 'b')
        with open(source, 'w') as file:
            file.write('text')
        run = self.run_one(program, source, target, env=recording.env)
        os.unlink(source)
        os.unlink(target)
        self.assertEqual(recording.wrong(program, run.returncode, run.stdout, run.stderr), '')
        self.assertEqual(os.listdir(folder), [])

    def test_a_full_disk_ends_the_recording_alone(self):
        recording, program = Recording(), os.path.join(LADDER, '05_cleanup')
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        run = self.run_one(program, env=recording.env, preexec_fn=limit, cwd=self.folder())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r'the recording .* (ends here|lacks its end)')
        self.assertEqual(recording.replay(program).returncode, REFUSED)

    def test_children_are_not_recorded(self):
        recording = Recording()
        run = self.run_one(PROGRAMS['eddy'], 'doctor', env=recording.env)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        self.assertNotEqual(DIVERGED, run.returncode)


if __name__ == '__main__':
    unittest.main()
