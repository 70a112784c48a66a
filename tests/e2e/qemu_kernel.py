"""Debian's own kernel (6.1 in Debian 12, the oldest that eddy runs on) in an emulated machine: the doctor, the tests of
the runtime, and whole servers, whose files leave over TLS that the kernel encrypts; then without its module of TLS."""
# needs: brotli curl openssl qemu-system-x86 zstd
import glob
import os
import re
import unittest
from ctypes.util import find_library

import vm

EXAMPLES = os.environ.get('EDDY_EXAMPLES', '')
BUILD = os.path.dirname(EXAMPLES)
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
PROGRAMS = ('subprojects/runtime/eddy-doctor', 'tests/runtime/test-runtime', 'tests/e2e/servers/secure', 'tests/e2e/servers/limits',
            'tests/e2e/servers/taken', 'tests/e2e/servers/resume', 'tests/e2e/servers/foreign', 'tests/e2e/servers/uploads', 'examples/files', 'examples/hello', 'examples/tour', 'release/eddy',
            *(f'examples/ladder/{name}' for name in ('01_tasks', '02_deadline', '03_fan_out', '05_cleanup', '06_pipeline', '07_cp', '08_rate_limit', '10_pubsub',
                                                     '11_supervisor', '12_workers', '15_tail')))
# What counts milliseconds.
IN_TIME = 'acceptor/without_descriptors_it_waits_for_a_close'
# What allows so much processor time: where the clock counts instructions.
COUNTED = 'loop/endless_sleep_costs_nothing'
IN_TIME_E2E = ','.join('test_tls.' + name for name in (
    'Bad.test_a_time_of_its_own', 'Bad.test_an_answer_does_not_extend_the_time', 'Bad.test_a_handshake_may_take_longer_than_a_head',
    'Endings.test_a_request_in_a_part_of_a_record', 'Endings.test_what_asks_for_nothing_does_not_hold_the_server',
    'Files.test_a_section_of_a_file'))
# What looks at the program with tools that are not there.
BY_TOOLS = 'test_sandbox.Filter.test_refuses_nothing_that_it_makes'
UNLOAD = "import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(176, b'tls', 0) != 0)"   # delete_module
CASE = re.compile(r'^(ok|not ok) \d+ - (.*?)(?: # SKIP (.*))?$', re.M)


class Emulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ran, cls.console = {}, ''
        doctor, runtime = (os.path.join(BUILD, program) for program in PROGRAMS[:2])
        machine = cls.machine()
        machine.run('doctor', [doctor])
        criterion = [machine.python, os.path.join(TESTS, 'criterion.py'), runtime]
        machine.run('runtime', criterion, {'EDDY_TEST_TIME': '240', 'EDDY_TEST_EXCEPT': f'{IN_TIME},{COUNTED}'})
        cls.boot(machine)
        # Clients and servers have limits of seconds.
        machine = cls.machine(counted=True)
        machine.run('runtime-counted', criterion, {'EDDY_TEST_ONLY': COUNTED.partition('/')[0], 'EDDY_TEST_TIME': '240'})
        servers = [machine.python, os.path.join(HERE, 'run.py')]
        e2e = {'EDDY_EXAMPLES': EXAMPLES, 'EDDY_TEST_TIME': '600', 'EDDY_TEST_EXCEPT': f'{IN_TIME_E2E},{BY_TOOLS}'}
        machine.run('e2e', servers, {**e2e, 'EDDY_TEST_ONLY': 'tls,download,program,tour'})
        machine.run('e2e-record', servers, {**e2e, 'EDDY_TEST_ONLY': 'record'})
        # Two files run at once, and those of TLS count the sockets of the machine for which the kernel encrypts.
        machine.run('e2e-sandbox', servers, {**e2e, 'EDDY_TEST_ONLY': 'sandbox'})
        machine.run('unload', [machine.python, '-c', UNLOAD])
        machine.run('doctor-without', [doctor])
        machine.run('e2e-without', servers, {**e2e, 'EDDY_TEST_ONLY': 'tls'})
        cls.boot(machine)

    @classmethod
    def machine(cls, **options):
        machine = vm.Machine(**options)
        cls.addClassCleanup(machine.close)
        for program in PROGRAMS:
            machine.add(os.path.join(BUILD, program))
        for path in glob.glob(f'/usr/lib/*/{find_library("seccomp")}'):
            machine.add(path)
        for path in ('/usr/bin/openssl', '/usr/bin/curl', '/usr/bin/zstd', '/usr/bin/brotli', '/usr/bin/setpriv', HERE, os.path.join(TESTS, 'tap.py'),
                     os.path.join(TESTS, 'criterion.py'), os.path.join(os.path.dirname(TESTS), 'docs')):
            machine.add(path)
        return machine

    @classmethod
    def boot(cls, machine):
        cls.ran.update(machine.boot())
        cls.console += machine.console

    def says(self, name):
        self.assertIn(name, self.ran, self.console)
        return self.ran[name]

    def cases(self, name):
        """What passed, and why what was skipped was; anything that failed is shown."""
        status, output = self.says(name)
        cases = CASE.findall(output)
        self.assertEqual(status, 0, output)
        self.assertIn(f'1..{len(cases)}', output)
        return {case for _, case, why in cases if not why}, {case: why for _, case, why in cases if why}

    def test_doctor(self):
        status, output = self.says('doctor')
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r'ok   kernel: [0-9.]+')
        self.assertRegex(output, r'ok   landlock: ABI \d+: a sandbox restricts files')
        self.assertRegex(output, 'ok   TLS in the kernel: there\n')
        self.assertRegex(output, 'ok   IORING_OP_MSG_RING: there\n')

    def test_runtime(self):
        passed, _ = self.cases('runtime')
        self.assertGreater(len(passed), 400)
        self.assertIn('sandbox/keeps_every_kind_of_thread_in', passed)
        passed, _ = self.cases('runtime-counted')
        self.assertIn(COUNTED, passed)

    def test_servers(self):
        passed, skipped = self.cases('e2e')
        confined, _ = self.cases('e2e-sandbox')
        for name in ('tls.Kernel.test_files_are_spliced', 'tls.Kernel.test_a_goodbye_behind_a_file', 'tls.Kernel.test_key_updates',
                     'tls.Kernel.test_no_nonce_is_used_twice', 'tls.Endings.test_goodbye', 'tls.Bodies.test_large_files_both_ways',
                     'program.Hello.test_answers', 'sandbox.Taken.test_gets_nothing', 'sandbox.Taken.test_gets_nothing_as_nobody',
                     'sandbox.Taken.test_gets_everything_without', 'sandbox.Files.test_files_come_and_go'):
            self.assertIn(f'test_{name}', passed | confined, skipped)

    def test_recordings(self):
        passed, skipped = self.cases('e2e-record')
        for name in ('Servers.test_a_replay_is_the_same', 'Servers.test_two_loops', 'Servers.test_the_other_executor_with_chaos', 'Programs.test_programs_of_the_ladder',
                     'Looks.test_until'):
            self.assertIn(f'test_record.{name}', passed, skipped)

    def test_without_the_module(self):
        """What the kernel can't do the library does."""
        self.assertEqual(self.says('unload').status, 0, self.console)
        status, output = self.says('doctor-without')
        self.assertEqual(status, 0, output)
        self.assertRegex(output, 'warn TLS in the kernel: absent; .*modprobe tls')
        passed, skipped = self.cases('e2e-without')
        self.assertEqual({case.split('.')[1] for case in skipped}, {'Kernel'}, skipped)
        for name in ('Endings.test_goodbye', 'Bodies.test_large_files_both_ways', 'Bad.test_key_updates'):
            self.assertIn(f'test_tls.{name}', passed, skipped)
