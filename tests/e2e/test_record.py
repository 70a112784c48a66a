"""EDDY_RECORD and EDDY_REPLAY: a replay takes the same way as the recorded run, without io_uring, network or disk; eddy replay,
and gdb on a replay."""
# needs: gdb valgrind
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import recorded
import wire
from recorded import DIVERGED, REFUSED, Recording, without_system
from timeline import Timeline, ns
from wire import EXAMPLES, KIB, MIB, PROGRAMS, Case, chunked, in_threads, request

EDDY_GDB = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'runtime', 'gdb', 'eddy-gdb.py')
LADDER = os.path.join(EXAMPLES, 'ladder')


def setUpModule():
    if not recorded.is_built():
        raise unittest.SkipTest('built without recordings')


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

    def test_a_lock_that_a_job_keeps_in_a_call(self):
        """The first upload makes the folder of uploads and syncs it, while the loop and other jobs want the lock of its names."""
        for _ in range(3):
            server = self.record('--sync', program='uploads')
            created = []
            in_threads(4, lambda i, s=server, c=created: c.append(s.ask(request('POST', f'/files/{i}', 'Upload-Complete: ?0', body='hello')).status))
            self.assertEqual(created, [201] * 4)
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

    @unittest.skipIf(wire.is_sanitized() or not shutil.which('valgrind'), 'needs valgrind, and a build without sanitizers')
    def test_valgrind(self):
        """It looks at what has happened without it."""
        server = self.record('--workers', '2')
        with open(f'/proc/{server.pid}/cmdline') as file:
            args = file.read().split('\0')[1:-1]
        self.load(server)
        self.end(server)
        replay = self.recording.replay(server.program, *args, wrap=('valgrind', '-q', '--error-exitcode=9'))
        self.assertEqual(replay.returncode, 0, replay.stderr)
        self.assertEqual(recorded.LINE.search(replay.stderr).groups()[1:], recorded.LINE.search(server.log).groups()[1:])

    def test_a_crash_is_repeated(self):
        server = self.record()
        self.load(server)
        server.process.send_signal(signal.SIGABRT)
        server.process.wait(20)
        server.reader.join(10)
        server.process.stderr.close()
        self.assertEqual(self.recording.wrong(server.program, -signal.SIGABRT, None, server.log), '')

    def test_a_copy_of_a_live_recording_replays(self):
        server = self.record()
        self.load(server)
        recorded.await_flush()
        copy = Recording(shutil.copy(self.recording.path, os.path.join(self.dir, 'copy')))
        self.load(server)
        self.end(server)
        replay = copy.replay(server.program)
        self.assertEqual(replay.returncode, REFUSED, replay.stderr)
        self.assertIn('the recording ends here', replay.stderr)
        self.assertRegex(copy.look('--print').stdout, r'\nrequest \d+: task \d+ "request": GET /slow/20\n')

    def test_a_long_event_is_listed(self):
        """All connections are accepted in one turn of the loop."""
        server = self.record()
        server.process.send_signal(signal.SIGSTOP)
        wires = [server.connect() for _ in range(150)]
        server.process.send_signal(signal.SIGCONT)
        for wire in wires:
            with wire:
                self.assertEqual(wire.ask(request('GET', '/hello')).status, 200)
        self.end(server)
        listed = self.recording.look('--print')
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertGreater(max(map(len, re.split(r'\n(?! *\t)', listed.stdout))), 2 * KIB)
        self.assertGreaterEqual(listed.stdout.count('submits recv of descriptor'), 150)

    def test_a_killed_program_replays_to_its_last_block(self):
        server = self.record('--access-log')
        self.load(server)
        recorded.await_flush()
        server.kill()
        path = os.path.join(self.dir, 'out.json')
        replay = self.recording.replay(server.program, env={'EDDY_REPLAY_TRACE': path})
        self.assertEqual(replay.returncode, REFUSED, replay.stderr)
        self.assertIn('the recording ends here', replay.stderr)
        # Log records and the timeline are whole.
        self.assertEqual(replay.stderr.count('eddy::access'), server.log.count('eddy::access'))
        self.assertTrue(list(Timeline(path).of('b', name='GET /hello')))


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
        copy = shutil.copy(program, self.folder())
        self.assertEqual(recording.replay(copy).returncode, 0)
        self.assertIn('tick 3', recording.look('--program', copy).stdout)
        self.assertEqual(self.run_one(program, env={'EDDY_REPLAY': '/none'}).returncode, REFUSED)
        self.assertEqual(self.run_one(program, env={**recording.env, 'EDDY_REPLAY': recording.path}).returncode, 1)
        again = self.run_one(program, env=recording.env)
        self.assertEqual(again.returncode, 1)
        self.assertIn('give it another name', again.stderr)
        self.assertEqual(recording.replay(program).returncode, 0)

    def test_another_build(self):
        recording, program = self.hello()
        with open(program, 'rb') as file:
            built = file.read()
        at = built.find(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0') + 16     # its number
        if at < 16:
            self.skipTest('the linker gives programs no number')
        other = os.path.join(self.folder(), 'other')
        with open(other, 'wb') as file:
            file.write(built[:at] + bytes([built[at] ^ 1]) + built[at + 1:])
        os.chmod(other, 0o755)
        refused = recording.replay(other)
        self.assertEqual(refused.returncode, REFUSED)
        self.assertIn('is a recording of', refused.stderr)
        self.assertEqual(recording.replay(other, env={'EDDY_REPLAY_LENIENT': '1'}).returncode, 0)
        self.assertIn('tick 3', recording.look('--program', other, '--lenient').stdout)

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

    def test_a_program_that_ends_at_once(self):
        recording = Recording()
        run = self.run_one(PROGRAMS['foreign'], '--exit', env=recording.env)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(recording.wrong(PROGRAMS['foreign'], 3, run.stdout, run.stderr), '')

    def test_a_thread_that_begins_after_the_end_of_the_recording(self):
        recording = Recording()
        run = self.run_one(PROGRAMS['foreign'], '--late', env={**recording.env, 'EDDY_RECORD_MAX': '1'})
        self.assertEqual((run.returncode, run.stdout), (0, 'the job has begun\n'), run.stderr)
        self.assertIn('the program goes on', run.stderr)

    def end_at_work(self, option, signo, wait=0.0):
        """Record a program whose job has begun, and end it. Return: the recording, and stderr."""
        recording, limit = Recording(), lambda: resource.setrlimit(resource.RLIMIT_STACK, (256 * KIB, 256 * KIB))
        process = subprocess.Popen([PROGRAMS['foreign'], option], env={**os.environ, **recording.env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=limit)
        self.assertEqual(process.stdout.readline(), 'the job has begun\n')
        time.sleep(wait)
        process.send_signal(signo)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signo, err)
        return recording, err

    def test_a_crash_while_a_job_runs(self):
        recording, err = self.end_at_work('--busy', signal.SIGABRT)
        self.assertEqual(recording.wrong(PROGRAMS['foreign'], -signal.SIGABRT, None, err), '')
        self.assertNotIn('overflow', err)

    def test_the_end_while_a_thread_wants_a_lock(self):
        recording, err = self.end_at_work('--locked', signal.SIGABRT, 0.3)
        self.assertEqual(recording.wrong(PROGRAMS['foreign'], -signal.SIGABRT, None, err), '')
        recording, _ = self.end_at_work('--locked', signal.SIGKILL, 0.5)
        self.assertEqual(recording.replay(PROGRAMS['foreign'], timeout=60).returncode, REFUSED)

    def test_variables_of_replays_are_there(self):
        recording, program = Recording(), os.path.join(LADDER, '01_tasks')
        run = self.run_one(program, env={**recording.env, 'EDDY_REPLAY': '', 'EDDY_REPLAY_NONE': '1'})
        self.assertEqual(recording.wrong(program, run.returncode, run.stdout, run.stderr), '')

    def test_a_file_that_is_followed(self):
        recording, program, path = Recording(), os.path.join(LADDER, '15_tail'), os.path.join(self.folder(), 'log')
        with open(path, 'w') as file:
            file.write('one\n')
            file.flush()
            process = subprocess.Popen([program, path], env={**os.environ, **recording.env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.assertEqual(process.stdout.readline(), 'one\n')
            file.write('two\n')
        self.assertEqual(process.stdout.readline(), 'two\n')
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        os.unlink(path)
        self.assertEqual(recording.wrong(program, process.returncode, 'one\ntwo\n' + out, err), '')

    def test_calls_of_the_program(self):
        folder, recording = self.folder(), Recording()
        run = self.run_one(PROGRAMS['foreign'], folder, env=recording.env)
        self.assertIn('hello from port', run.stdout)
        self.assertIn('the loop sees 0', run.stdout)
        with open(os.path.join(folder, 'commanded')) as file:
            self.assertEqual(file.read(), 'x\n')
        shutil.rmtree(folder)
        for _ in range(2):
            self.assertEqual(recording.wrong(PROGRAMS['foreign'], run.returncode, run.stdout, run.stderr), '')
        self.assertFalse(os.path.exists(folder))

    def test_a_full_disk_ends_the_recording_alone(self):
        whole, recording, program = Recording(), Recording(), os.path.join(LADDER, '05_cleanup')
        self.assertEqual(self.run_one(program, env=whole.env, cwd=self.folder()).returncode, 0)
        room = os.path.getsize(whole.path) - 500
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        run = self.run_one(program, env=recording.env, preexec_fn=limit, cwd=self.folder())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r'the recording .* (ends here|lacks its end)')
        self.assertEqual(recording.replay(program).returncode, REFUSED)

    def test_the_largest_file(self):
        recording, program = Recording(), os.path.join(LADDER, '05_cleanup')
        run = self.run_one(program, env={**recording.env, 'EDDY_RECORD_MAX': '1'}, cwd=self.folder())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r'the recording .* (ends here|lacks its end).*: File too large')
        self.assertLess(os.path.getsize(recording.path), 64 * KIB)
        self.assertEqual(recording.replay(program).returncode, REFUSED)
        for wrong in ('x', '1M', '-1'):
            refused = self.run_one(program, env={'EDDY_RECORD': recording.path + wrong, 'EDDY_RECORD_MAX': wrong})
            self.assertEqual(refused.returncode, 1)
            self.assertIn('expected bytes', refused.stderr)

    def test_children_are_not_recorded(self):
        recording = Recording()
        run = self.run_one(PROGRAMS['eddy'], 'doctor', env=recording.env)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        self.assertNotEqual(DIVERGED, run.returncode)


@unittest.skipIf(recorded.ALWAYS, 'each server is recorded already')
class Looks(Case):
    """eddy replay, and gdb, on a recording of three requests, the second of which takes 50 ms."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = Recording()
        server = wire.Server('--dir', cls.recording.folder, program='tour', env=cls.recording.env)
        for path in ('/hello', '/slow/50', '/text/1000'):
            server.get(path)
        server.stop()

    def look(self, *options, status=0):
        done = self.recording.look(*options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def events(self):
        """The listed events: number, seconds, rest of the line."""
        return [(int(number), float(at), rest)
                for number, at, rest in re.findall(r'^ *(\d+) +(\d+\.\d{6}) (.*)$', self.look('--print').stdout, re.M)]

    def test_print(self):
        done = self.look('--print')
        self.assertIn('listening on', done.stderr)
        self.assertRegex(done.stdout, r'\n\tsubmits recv of descriptor \d+, \d+\n')
        self.assertRegex(done.stdout, r'\n\tcompletes recv of descriptor \d+, \d+ = \d+\n')
        self.assertRegex(done.stdout, r'\nrequest 2: task \d+ "request": GET /slow/50\n')
        self.assertRegex(done.stdout, r'\n +\d+ +\d+\.\d{6} task \d+ "main" open\("/etc/mime.types", 524288, 0\) = \d+\n')
        events = self.events()
        self.assertEqual([number for number, *_ in events], list(range(1, len(events) + 1)))
        self.assertIn(f'replayed {len(events)} events', done.stderr)
        self.assertIn('"GET /hello HTTP/1.1??', self.look('--print', '--bytes').stdout)
        self.assertNotIn('"GET /hello', done.stdout)
        path = os.path.join(self.folder(), 'list')
        self.assertEqual(self.recording.replay(PROGRAMS['tour'], env={'EDDY_REPLAY_PRINT': path}).returncode, 0)
        with open(path) as file:
            self.assertEqual(file.read(), done.stdout)

    def test_until(self):
        count = len(self.events())
        by_number = self.look('--until', '100').stderr
        self.assertIn(f'eddy: the replay stops at event 100 of {count}, after ', by_number)
        self.assertIn('#1 "main" (eddy_run())', by_number)
        by_request = self.look('--until', 'request 2').stderr
        self.assertRegex(by_request, r'#\d+ "request" \(.*\), stack \d+ KiB: runs')
        self.assertNotRegex(by_request, r'replayed \d+ events')
        begun = float(re.search(r'request 2: .*\n +\d+ +(\d+\.\d+)', self.look('--print').stdout)[1])
        asleep = self.look('--until', f'{begun * 1000 + 40:.3f}ms').stderr
        stops = r'the replay stops at event (\d+) of \d+, after \d+ [mu]s: .*\n'
        # Nothing but the end of its sleep happens in that time.
        self.assertEqual(re.search(stops, self.look('--until', f'{begun + 0.045:.6f}s').stderr)[0], re.search(stops, asleep)[0])
        self.assertIn('replayed', self.look('--until', '1000000').stderr)
        beyond = self.look('--until', 'request 99')
        self.assertIn('the replay ended before the place at which it was to stop', beyond.stderr)
        for wrong in ('x', '-1', '1.5', '0', 'request', 'request x', 'request 0', '1.5h', '1e99s', ''):
            refused = self.look('--until', wrong, status=REFUSED if wrong else 0)
            self.assertEqual('is wrong' in refused.stderr, bool(wrong), wrong)

    def test_timeline_and_pace(self):
        path = os.path.join(self.folder(), 'out.json')
        began = time.monotonic()
        self.look('--timeline', path, '--pace')
        self.assertGreater(time.monotonic() - began, 0.045)
        self.assertEqual(Timeline(path).wrong(), [])
        # The loop is in the kernel while the request sleeps.
        with open(path) as file:
            spent = [event['dur'] for event in json.load(file)['traceEvents'] if event['ph'] == 'X' and event['name'] == 'io_uring_enter']
        self.assertGreater(max(spent), 45000)

    def test_mistakes(self):
        for options in ((), ('a', 'b'), ('a', '--unknown')):
            done = subprocess.run([PROGRAMS['eddy'], 'replay', *options], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn('usage: eddy replay FILE', done.stderr)
        for path, reason in (('/none', 'No such file'), (__file__, 'it is no recording')):
            done = subprocess.run([PROGRAMS['eddy'], 'replay', path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, REFUSED)
            self.assertIn(f"{path} can't be read: {reason}", done.stderr)
        self.assertIn('--until PLACE', subprocess.run([PROGRAMS['eddy'], 'replay', '--help'], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(self.recording.replay(PROGRAMS['tour'], env={'EDDY_REPLAY_PRINT': '/none/x'}).returncode, REFUSED)

    def gdb(self, *commands):
        """Run gdb on the replay. Return: what each command has printed."""
        script = ['set width 0', 'set debuginfod enabled off', 'set style enabled off', f'source {EDDY_GDB}']
        for command in commands:
            script += [r'echo \n<next>\n', f'python\ntry:\n    gdb.execute({command!r})\nexcept gdb.error as error:\n    print(error)\nend']
        with tempfile.NamedTemporaryFile('w') as file:
            file.write('\n'.join(script) + '\n')
            file.flush()
            done = subprocess.run(['gdb', '-nx', '-batch', '-x', file.name, PROGRAMS['tour']], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, 'EDDY_REPLAY': self.recording.path}, check=False, timeout=120, text=True,
                                  errors='replace')
        return done.stdout.split('\n<next>\n')[1:]

    # gcc's AddressSanitizer describes global variables as numbers.
    @unittest.skipIf(wire.is_sanitized() or not shutil.which('gdb'), 'needs gdb, and a build without sanitizers')
    def test_gdb(self):
        commands = ('eddy seek', 'eddy back', 'eddy seek x', 'eddy seek request 2', 'backtrace', 'eddy next-event', 'eddy seek', 'eddy next-event 3', 'eddy seek',
                    'eddy back', 'eddy seek', 'eddy back 2', 'eddy seek', 'eddy back x', 'info tasks', 'eddy seek 1ms', 'eddy seek', 'break eddy_sleep',
                    'eddy seek request 3', 'delete', 'continue', 'eddy seek', 'eddy seek 3')
        says = self.gdb(*commands)
        for said, wanted in zip(says, (
                'no replay runs', 'no replay runs', '"x" is no place', r'eddyi_probe_request', r'\n#\d+ .* in exchange|eddyi_exchange', r'\n\d+\t', r'event (\d+) of \d+, request 2',
                '', r'event (\d+) of', '', r'event (\d+) of', '', r'event (\d+) of', '"x" is no number', r'request .* running', '', r'event \d+ of \d+, request 0', '',
                'stopped before that place', '', 'SIGTRAP', '', r'event 3 of \d+, request 0|\n#\d+')):
            self.assertTrue(re.search(wanted, said), (wanted, said))
        at = [int(re.search(r'event (\d+) of', says[i])[1]) for i in (6, 8, 10, 12)]
        self.assertEqual([number - at[0] for number in at], [0, 3, 2, 0])


if __name__ == '__main__':
    unittest.main()
