"""The units of docs/deploy/systemd/, under systemd: activation by the first request, the walls around the service, a restart and
an end that lose nothing. That of examples/service is only analyzed."""
# needs: btrfs-progs openssl systemd xfsprogs
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

import calls
import filtered
from booted import System
from mounted import mounted
from wire import KIB, MIB, PROGRAMS, Case, Wire, is_sanitized, part, form, request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNITS = os.path.join(ROOT, 'docs', 'deploy', 'systemd')
DOCTOR = os.path.join(os.path.dirname(os.path.dirname(PROGRAMS['files'])), 'subprojects', 'runtime', 'eddy-doctor')
SERVICE, SOCKET = 'eddy-serve.service', 'eddy-serve.socket'
PORT = 7878
DROPBOX = os.path.join(ROOT, 'examples', 'service', 'deploy', 'dropbox.service')
# Among the most that systemd knows to forbid; 100 is a service without any wall.
EXPOSURE = 5
CAP_SYS_RESOURCE = 24


def unit(name):
    with open(os.path.join(UNITS, name)) as file:
        return file.read()


def setting(name, text):
    return re.findall(rf'^{name}=(.*)$', text, re.M)


def page():
    with open(os.path.join(os.path.dirname(UNITS), 'systemd.md')) as file:
        return file.read()


def drop_ins():
    """What docs/deploy/systemd.md shows, by the name in the first line of each block."""
    return dict(re.findall(r'^```ini\n# (\w+)\.conf\n(.*?)^```$', page(), re.M | re.S))


class Units(Case):
    def analyze(self, *args):
        # What it should start may be elsewhere here.
        return subprocess.run(['systemd-analyze', *args], capture_output=True, text=True, check=False)

    def test_are_understood(self):
        folder = self.folder()
        names = (SOCKET, SERVICE, DROPBOX)
        for name in names:
            with open(os.path.join(folder, os.path.basename(name)), 'w') as file:
                file.write(re.sub(r'^ExecStart=\S+', 'ExecStart=/bin/true', unit(name), flags=re.M))
        done = self.analyze('verify', '--man=no', *(os.path.join(folder, os.path.basename(name)) for name in names))
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def exposure(self, path, most):
        done = self.analyze('security', '--no-pager', '--offline=true', f'--threshold={most}', path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_walls(self):
        rated = self.exposure(os.path.join(UNITS, SERVICE), EXPOSURE)
        said, version = re.search(r'the exposure ([\d.]+) of 10 \(systemd (\d+);', page()).groups()
        if self.analyze('--version').stdout.startswith(f'systemd {version} '):
            self.assertIn(f'Overall exposure level for {SERVICE}: {said} ', rated)

    def test_walls_of_a_service_with_a_network(self):
        self.exposure(DROPBOX, 20)


# Calls that the program can make, and never makes under the unit. Each opens an address, and belongs to `listens`;
LISTENS = {'bind', 'recvmsg', 'sendmmsg'}
# or is made for what the unit has not.
UNUSED = {
    'chmod': 'makes a Unix socket', 'fchmodat': 'makes a Unix socket', 'unlink': 'removes a Unix socket',
    'getcwd': 'resolves a relative path', 'chdir': 'starts a process in another folder', 'setpgid': 'starts a group of processes',
    'kill': 'ends a group of processes', 'sched_setaffinity': 'pins loops',
    'cachestat': 'is unknown to systemd 252',
    'landlock_create_ruleset': 'enters a sandbox', 'landlock_add_rule': 'enters a sandbox', 'landlock_restrict_self': 'enters a sandbox',
    'seccomp': 'enters a sandbox', 'clock_nanosleep': 'enters a sandbox',
    # Without io_uring, for operations that files does not start.
    **dict.fromkeys(('fadvise64', 'fgetxattr', 'fsetxattr', 'getxattr', 'setxattr', 'symlinkat', 'sync_file_range', 'tee'), 'is unused'),
}


@unittest.skipIf(is_sanitized(), 'sanitizers make other system calls')
class SystemCalls(Case):
    """Under the unit's filter, with the difference that a call beyond it kills the server."""
    wrap = (sys.executable, os.path.join(ROOT, 'tests', 'e2e', 'helpers', 'filtered.py'), os.path.join(UNITS, SERVICE) + ',bind')

    def test_the_list_is_what_the_program_calls(self):
        listed = {call for line in setting('SystemCallFilter', unit(SERVICE)) for call in line.split()}
        made = calls.made(PROGRAMS['files'], [os.path.join(ROOT, layer) for layer in ('runtime', 'http')])
        self.assertEqual(made - set(filtered.members('@default')) - LISTENS - set(UNUSED), listed)
        self.assertEqual({*LISTENS, *UNUSED} - made, set())
        self.assertEqual(set(setting('SystemCallFilter', drop_ins()['listens'])[0].split()), LISTENS)

    def serve_on(self, kind, *switches, env=None):
        folder, _ = mounted(self, kind)
        return self.serve(folder, '--no-sandbox', '--workers', 2, *switches, wrap=self.wrap, env=env), folder

    def every_technique(self, kind, env=None):
        data = os.urandom(MIB)
        for switch, techniques in (('--technique', ('sendfile', 'read-send', 'mmap', 'send-zc', 'dontcache', 'ring-splice', 'splice')),
                                   ('--upload-technique', ('recv-write', 'ring-splice', 'splice'))):
            for technique in techniques:
                with self.subTest(technique):
                    server, _ = self.serve_on(kind, switch, technique, env=env)
                    for status in (201, 200):
                        self.assertEqual(server.ask(request('PUT', '/files/x', body=data)).status, status)
                        self.assertEqual(server.get('/files/x').body, data)
                    self.assertEqual(server.ask(form(part('f', data, 'y'), part('f', b'one', 'z'))).status, 201)
                    self.assertEqual(server.get('/files/x', method='DELETE').status, 204)
                    server.stop()

    def test_every_technique_without_io_uring(self):
        self.every_technique('tmpfs', {'EDDY_EXECUTOR': 'poll'})

    def test_every_technique_on_tmpfs(self):
        self.every_technique('tmpfs')

    def test_every_technique_on_ext4(self):
        self.every_technique('ext4')

    def test_every_technique_on_xfs(self):
        self.every_technique('xfs')

    def test_every_technique_on_btrfs(self):
        self.every_technique('btrfs')

    def test_a_long_list(self):
        """Memory of this size is moved when it grows."""
        server, folder = self.serve_on('tmpfs')
        names = {f'{number:0200}' for number in range(4000)}
        for name in names:
            with open(os.path.join(folder, name), 'wb'):
                pass
        self.assertEqual({file['name'] for file in server.get('/api/files').json()['files']}, names)

    def test_a_dump(self):
        server = self.serve(self.folder(), '--no-sandbox', '--workers', 2, wrap=self.wrap)
        server.process.send_signal(signal.SIGQUIT)
        server.wait_for(r'loop \d+ "')
        self.assertEqual(server.get('/').status, 200)

    def test_a_timeline(self):
        path = os.path.join(self.folder(), 'timeline')
        server = self.serve(self.folder(), '--no-sandbox', wrap=self.wrap, env={'EDDY_TRACE': path})
        self.assertEqual(server.get('/').status, 200)
        server.stop()
        with open(path) as file:
            self.assertTrue(json.load(file))

    def test_a_restart_that_fails(self):
        """The old process ends the new one, and goes on."""
        folder = self.folder()
        here, there = os.path.join(folder, 'here'), os.path.join(folder, 'there')
        os.mkdir(here)
        server = self.serve(here, '--no-sandbox', wrap=self.wrap)
        os.rename(here, there)
        server.process.send_signal(signal.SIGUSR2)
        server.wait_for("can't restart, the old process continues: the new process has exited")
        os.rename(there, here)
        self.assertEqual(server.get('/api/files').status, 200)


class Booted(Case):
    """The unit in a system of its own, whose /var/lib/eddy-serve is on a file system of a kind."""
    kind = None

    @classmethod
    def setUpClass(cls):
        program = setting('ExecStart', unit(SERVICE))[0].split()[0]
        where = '/etc/systemd/system/'
        state = {'/var/lib/private/eddy-serve': mounted(cls, cls.kind)[0]} if cls.kind else {}
        cls.system = System({
            # As the unit has it, and as the page's drop-ins, which are for Debian's packages.
            program: PROGRAMS['files'], '/usr/libexec/eddy/eddy-serve': PROGRAMS['files'], '/usr/local/bin/eddy-doctor': DOCTOR,
            where + SERVICE: os.path.join(UNITS, SERVICE), where + SOCKET: os.path.join(UNITS, SOCKET),
            # The same walls around another program.
            where + 'doctor.service': unit(SERVICE).replace('Type=notify', 'Type=oneshot').encode(),
            where + 'doctor.service.d/run.conf': b'[Unit]\nRequires=\n[Service]\nExecStart=\nExecStart=/usr/local/bin/eddy-doctor\n'
                                                 b'SystemCallFilter=\nRestart=no\nWatchdogSec=0\n',
            '/etc/group': b'root:x:0:\neddy-tls:x:4711:\n',
            '/usr/local/bin/certbot-hook': os.path.join(os.path.dirname(UNITS), 'certbot-hook'),
            # A call beyond the filter is to be seen, but for cachestat, which not every systemd knows.
            where + SERVICE + '.d/test.conf': b'[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\nRestartSec=1\n'
                                              b'SystemCallErrorNumber=kill\nSystemCallFilter=cachestat\n',
        }, state)
        cls.addClassCleanup(cls.system.close)

    def setUp(self):
        self.extra, self.restarts = [], 0
        inside = self.system.network()
        inside.__enter__()
        self.addCleanup(inside.__exit__, None, None, None)
        self.since = time.time()
        # Not to be held against it: these tests kill it more often than the limit for starts allows.
        self.system.run('systemctl', 'reset-failed', SERVICE)
        self.system.start(SOCKET)
        self.addCleanup(self.stop)

    def stop(self):
        restarts = self.system.show(SERVICE, 'NRestarts')
        self.system.check('systemctl', 'stop', SOCKET, SERVICE)
        result = self.system.show(SERVICE, 'Result')
        self.assertEqual((result, restarts), ('success', str(self.restarts)), self.journal())
        if self.extra:
            self.system.check('rm', '-f', *self.extra)
            self.system.check('systemctl', 'daemon-reload')

    def drop_in(self, name, *lines):
        """One of the page's, and more lines, for this test."""
        path = f'/run/systemd/system/{SERVICE}.d/{name}.conf'
        self.extra.append(path)
        text = '\n'.join((drop_ins()[name], *lines))
        self.system.check('sh', '-c', 'mkdir -p "${1%/*}" && printf "%s\\n" "$2" >"$1" && systemctl daemon-reload', 'sh', path, text)

    def journal(self):
        return self.system.journal(SERVICE, self.since)

    def connect(self):
        return Wire(PORT)

    def ask(self, *args, **options):
        with self.connect() as wire:
            return wire.ask(request(*args, **options))

    def main_pid(self):
        return int(self.system.show(SERVICE, 'MainPID'))

    def send_half(self):
        """An upload that needs its second half."""
        wire = self.connect()
        self.addCleanup(wire.close)
        wire.send(request('PUT', '/files/late', 'Content-Length: 10') + b'first')
        self.ask('GET', '/api/files')
        return wire

    def assertSecondHalfArrives(self, wire):
        wire.send(b'-half')
        response = wire.read()
        self.assertIn(response.status, (200, 201), response)
        self.assertEqual(response.json()['size'], 10)


@unittest.skipIf(is_sanitized(), 'sanitizers make other system calls')
class ServiceOnTmpfs(Booted):
    kind = 'tmpfs'

    def test_all_that_it_does(self):
        """Within the system calls that it may make."""
        data = os.urandom(3 * MIB)
        self.assertEqual(self.ask('PUT', '/files/big', body=data).status, 201)
        self.assertEqual(self.ask('PUT', '/files/big', body=data).status, 200)
        self.assertEqual(self.ask('PUT', '/files/small', body=b'small').status, 201)
        chunks = b'5\r\nabcde\r\n0\r\n\r\n'
        self.assertEqual(self.ask('PUT', '/files/chunks', 'Transfer-Encoding: chunked', body=chunks).status, 201)
        with self.connect() as wire:
            posted = wire.ask(form(part('f', b'one', 'one'), part('f', bytes(200 * KIB), 'two')))
            self.assertEqual(posted.status, 201, posted)
        for _ in range(3):
            self.assertEqual(self.ask('GET', '/files/big').body, data)
            self.assertEqual(self.ask('GET', '/files/small').body, b'small')
            self.assertEqual(self.ask('GET', '/files/two').body, bytes(200 * KIB))
        self.assertEqual(self.ask('GET', '/files/big', 'Range: bytes=5-9, 100000-100004').status, 206)
        self.assertEqual(self.ask('GET', '/files/nothing').status, 404)
        self.assertEqual(self.ask('DELETE', '/files/one').status, 204)
        self.assertEqual(self.ask('PUT', '/files/folder/').status, 201)
        self.assertEqual(self.ask('PUT', '/files/folder/in', body=b'in').status, 201)
        move = b'{"from":"folder/in","to":"in"}'
        self.assertEqual(self.ask('POST', '/api/move', 'Content-Type: application/json', body=move).status, 200)
        self.assertEqual(self.ask('GET', '/files/in').body, b'in')
        self.assertEqual(self.ask('GET', '/files/?zip').status, 200)
        self.assertEqual(self.ask('DELETE', '/files/folder/').status, 204)
        names = [file['name'] for file in self.ask('GET', '/api/files').json()['files']]
        self.assertEqual({'big', 'chunks', 'small', 'two'} - set(names), set())
        self.assertNotIn('one', names)
        self.assertEqual(self.system.check('find', '/var/lib/private/eddy-serve', '-name', 'small', '-printf', '%m').strip(), '600')
        # A dump of its tasks as well.
        self.system.check('systemctl', 'kill', '--kill-whom=main', '--signal=QUIT', SERVICE)
        self.assertEqual(self.ask('GET', '/').status, 200)
        self.eventually(lambda: 'serve' in self.journal().partition('Listening on')[2], what=self.journal)


class ServiceOnExt4(ServiceOnTmpfs):
    kind = 'ext4'


class ServiceOnXfs(ServiceOnTmpfs):
    kind = 'xfs'


class ServiceOnBtrfs(ServiceOnTmpfs):
    kind = 'btrfs'


@unittest.skipIf(is_sanitized(), 'sanitizers make other system calls')
class Service(ServiceOnTmpfs):
    """On the file system of /var, here an overlay."""
    kind = None

    def test_the_first_request_starts_it(self):
        self.assertEqual(self.system.show(SERVICE, 'ActiveState'), 'inactive')
        self.assertEqual(self.ask('GET', '/').status, 200)
        self.assertEqual(self.system.show(SERVICE, 'ActiveState'), 'active')
        self.assertIn('listening on systemd:web', self.system.show(SERVICE, 'StatusText'))
        self.eventually(lambda: re.search(r'INFO eddy::app: Listening on systemd:web', self.journal()), what=self.journal)

    def test_what_is_around_it(self):
        self.ask('GET', '/')
        pid = self.main_pid()
        status = dict(re.findall(r'^(\w+):\s*(.*)$', self.system.check('cat', f'/proc/{pid}/status'), re.M))
        self.assertEqual((status['Seccomp'], status['NoNewPrivs']), ('2', '1'))
        self.assertEqual({status[name] for name in ('CapEff', 'CapPrm', 'CapBnd', 'CapAmb')}, {16 * '0'})
        self.assertNotIn('0', status['Uid'].split())
        # Who may not raise limits gives what there is.
        limits = self.system.check('cat', f'/proc/{pid}/limits')
        for name, limit, most in (('open files', resource.RLIMIT_NOFILE, 65536), ('locked memory', resource.RLIMIT_MEMLOCK, 64 * MIB)):
            hard = resource.getrlimit(limit)[1]
            expected = most if hard == resource.RLIM_INFINITY or self.may_raise() else min(most, hard)
            self.assertRegex(limits, rf'Max {name} +{expected} +{expected} ')
        # It has a network of its own, in which there is nobody; its clients come from that of the socket.
        net = [os.stat(f'/proc/{first}/ns/net').st_ino for first in (self.system.first, self.outside(pid))]
        self.assertNotEqual(*net)

    def may_raise(self):
        with open('/proc/self/status') as file:
            return int(re.search(r'^CapEff:\s*(\w+)', file.read(), re.M)[1], 16) >> CAP_SYS_RESOURCE & 1

    def outside(self, pid):
        """What a process of the system is called here."""
        for name in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{name}/status') as file:
                    numbers = re.search(r'^NSpid:\s*(.*)$', file.read(), re.M)[1].split()
                if numbers[-1] == str(pid) and len(numbers) > 1 and \
                        os.stat(f'/proc/{name}/ns/pid').st_ino == os.stat(f'/proc/{self.system.first}/ns/pid').st_ino:
                    return int(name)
            except (FileNotFoundError, ProcessLookupError):
                continue
        raise AssertionError(f'there is no process {pid}')

    def test_doctor(self):
        self.system.start('doctor.service')
        said = self.system.journal('doctor.service')
        self.assertIn('ok   io_uring: works', said)
        self.assertIn('This machine can run eddy.', said)
        self.assertNotIn('FAIL', said)

    def test_a_restart_loses_nothing(self):
        half = self.send_half()
        before = self.main_pid()
        self.system.check('systemctl', 'reload', SERVICE)
        self.eventually(lambda: self.main_pid() != before)
        self.assertEqual(self.ask('GET', '/').status, 200)
        self.assertSecondHalfArrives(half)
        self.assertEqual(self.ask('GET', '/files/late').body, b'first-half')

    def test_an_end_loses_nothing(self):
        self.assertEnds()

    def test_an_end_after_a_restart_loses_nothing(self):
        """systemd waits for the new process as it does for one that it started itself."""
        self.ask('GET', '/')
        before = self.main_pid()
        self.system.check('systemctl', 'reload', SERVICE)
        self.eventually(lambda: self.main_pid() != before)
        self.eventually(lambda: self.system.run('test', '-e', f'/proc/{before}').returncode)
        self.assertEnds()

    def assertEnds(self):
        half = self.send_half()
        stop = threading.Thread(target=self.system.check, args=('systemctl', 'stop', SERVICE))
        stop.start()
        self.eventually(lambda: self.system.show(SERVICE, 'ActiveState') == 'deactivating')
        self.assertSecondHalfArrives(half)
        stop.join()
        self.assertEqual(self.system.show(SERVICE, 'Result'), 'success', self.journal())
        self.assertNotIn('SIGKILL', self.journal())

    def test_who_comes_while_it_is_down_waits(self):
        self.ask('GET', '/')
        os.kill(self.outside(self.main_pid()), signal.SIGKILL)
        self.eventually(lambda: self.system.show(SERVICE, 'SubState') == 'auto-restart')
        self.assertEqual(self.ask('GET', '/').status, 200)
        self.restarts = 1

    def test_one_that_hangs_is_replaced(self):
        self.ask('GET', '/')
        before = self.main_pid()
        os.kill(self.outside(before), signal.SIGSTOP)
        self.eventually(lambda: self.main_pid() not in (0, before), 20)
        self.assertEqual(self.ask('GET', '/').status, 200)
        self.eventually(lambda: 'Watchdog timeout' in self.journal(), what=self.journal)
        self.restarts = 1

    def assertMovesFiles(self):
        data = os.urandom(200 * KIB)
        self.assertIn(self.ask('PUT', '/files/moved', body=data).status, (200, 201))
        self.assertEqual(self.ask('GET', '/files/moved').body, data)

    def test_a_service_of_ones_own(self):
        """With the sets of system calls."""
        self.drop_in('own')
        self.assertMovesFiles()

    def test_a_service_that_listens_itself(self):
        self.drop_in('listens', 'ExecStart=', setting('ExecStart', unit(SERVICE))[0].replace('systemd:web', 'localhost:7879').join(('ExecStart=', '')))
        self.system.start(SERVICE)
        with Wire(7879) as wire:
            self.assertEqual(wire.ask(request('GET', '/')).status, 200)

    def test_its_own_sandbox(self):
        self.drop_in('sandbox')
        self.assertMovesFiles()
        self.assertNotIn('eddy::sandbox', self.journal())

    def make_certificate(self, name):
        folder = f'/tmp/{name}'
        self.system.check('sh', '-c', f'mkdir -p {folder} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes '
                                      f'-subj /CN={name} -keyout {folder}/privkey.pem -out {folder}/fullchain.pem')
        return folder

    def certify(self, name):
        self.system.check('env', f'RENEWED_LINEAGE={self.make_certificate(name)}', '/usr/local/bin/certbot-hook')

    def shown(self):
        """Whom the certificate names that it shows."""
        done = self.system.run('openssl', 's_client', '-connect', f'127.0.0.1:{PORT}')
        found = re.search(r'^subject=CN ?= ?(\S+)$', done.stdout, re.M)
        self.assertTrue(found, done.stdout + done.stderr + self.journal())
        return found[1]

    def test_certificates_are_renewed(self):
        self.drop_in('tls')
        self.certify('first')
        self.assertEqual(self.shown(), 'first')
        self.certify('second')
        self.eventually(lambda: self.shown() == 'second')
