"""A server in a sandbox: what it still does, and that nobody who has taken it over gets out."""
# needs: curl openssl
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import unittest

import calls
import tls
from tls import setUpModule, tearDownModule   # noqa: F401
from wire import KIB, PROGRAMS, Case, form, is_sanitized, links_of, part, request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOBODY = 65534
AS_NOBODY = ('setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups')
LANDLOCK_CREATE_RULESET, ASK_VERSION = 444, 1
# The last for links and renames into another folder.
REFUSED = ('Permission denied', 'Operation not permitted', 'Invalid cross-device link')
BLOCK_LANDLOCK = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 95), (0x06, 0, 0, 0x7fff0000)]
program = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
libc.prctl(38, 1, 0, 0, 0)
class Fprog(ctypes.Structure):
    _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
if libc.prctl(22, 2, ctypes.byref(Fprog(len(code), ctypes.addressof(program)))) < 0:
    sys.exit('no filter')
os.execv(sys.argv[1], sys.argv[1:])
"""


def landlock():
    return ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, 0, ASK_VERSION)


class Sandboxed(Case):
    def files(self, *args, **options):
        return self.serve(*args, sandbox=True, **options)

    def states(self, server, name):
        """What the threads of a server say in their status; those of the kernel's rings, which call nothing, apart."""
        found = set()
        for task in os.listdir(f'/proc/{server.pid}/task'):
            with open(f'/proc/{server.pid}/task/{task}/comm') as comm, open(f'/proc/{server.pid}/task/{task}/status') as status:
                if not comm.read().startswith('iou-'):
                    found.add(re.search(rf'^{name}:\s+(\S+)$', status.read(), re.M)[1])
        return found


class Files(Sandboxed):
    """Everything that it does without one."""

    def test_files_come_and_go(self):
        data = os.urandom(300 * KIB)
        for workers in (1, 3):
            folder = self.folder()
            server = self.files(folder, '--workers', workers)
            for status in (201, 200):
                self.assertEqual(server.ask(request('PUT', '/files/x', body=data)).status, status)
                self.assertEqual(server.get('/files/x').body, data)
            self.assertEqual(server.ask(request('PUT', '/files/small', body=b'small')).status, 201)
            self.assertEqual(server.ask(form(part('f', data, 'y'), part('f', b'one', 'z'))).status, 201)
            self.assertEqual(server.ask(request('GET', '/files/y', 'Range: bytes=5-9')).body, data[5:10])
            self.assertEqual([file['name'] for file in server.get('/api/files').json()['files']], ['small', 'x', 'y', 'z'])
            self.assertEqual(server.get('/plain').status, 200)
            self.assertEqual(server.get('/files/z', method='DELETE').status, 204)
            self.assertEqual(sorted(os.listdir(folder)), ['small', 'x', 'y'])
            self.assertEqual((self.states(server, 'Seccomp'), self.states(server, 'NoNewPrivs')), ({'2'}, {'1'}))
            server.stop()

    def test_every_technique(self):
        data = os.urandom(300 * KIB)
        for switch, techniques in (('--technique', ('sendfile', 'read-send', 'mmap', 'send-zc', 'dontcache', 'ring-splice', 'splice')),
                                   ('--upload-technique', ('recv-write', 'ring-splice', 'splice'))):
            for technique in techniques:
                with self.subTest(technique):
                    server = self.files(self.folder(), switch, technique)
                    self.assertEqual(server.ask(request('PUT', '/files/x', body=data)).status, 201)
                    self.assertEqual(server.get('/files/x').body, data)
                    server.stop()

    def test_may_be_left_out(self):
        self.assertEqual(self.states(self.serve(self.folder(), '--no-sandbox'), 'Seccomp'), {'0'})

    def test_a_restart_is_refused(self):
        server = self.files(self.folder())
        server.process.send_signal(signal.SIGUSR2)
        server.wait_for("can't restart, the old process continues: a process in a sandbox can't start another one")
        self.assertEqual(server.get('/api/files').status, 200)

    def test_a_dump(self):
        server = self.files(self.folder(), '--workers', 2)
        server.process.send_signal(signal.SIGQUIT)
        server.wait_for(r'loop \d+ "')
        self.assertEqual(server.get('/').status, 200)

    def test_a_timeline(self):
        path = os.path.join(self.folder(), 'timeline')
        server = self.files(self.folder(), env={'EDDY_TRACE': path})
        self.assertEqual(server.get('/').status, 200)
        server.stop()
        with open(path) as file:
            self.assertTrue(json.load(file))

    def test_a_service_manager_is_told(self):
        for address in (os.path.join(self.folder(), 'notify'), f'\0eddy-sandbox-{os.getpid()}'):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(address)
                manager.settimeout(20)
                server = self.files(self.folder(), env={'NOTIFY_SOCKET': address.replace('\0', '@'), 'WATCHDOG_USEC': '100000'})
                self.assertIn(b'READY=1', manager.recv(4096))
                self.assertEqual(manager.recv(4096), b'WATCHDOG=1')
                server.stop()
                manager.setblocking(False)
                heard = b''
                with contextlib.suppress(BlockingIOError):
                    while True:
                        heard += manager.recv(4096)
                self.assertIn(b'STOPPING=1', heard)

    def test_a_service_manager_without_a_watchdog(self):
        """It hears no more than READY=1: the socket would lead to others, too."""
        address = os.path.join(self.folder(), 'notify')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            manager.settimeout(20)
            server = self.files(self.folder(), env={'NOTIFY_SOCKET': address})
            self.assertIn(b'READY=1', manager.recv(4096))
            with open('/proc/net/unix') as table:
                inodes = {line.split()[6] for line in table.readlines()[1:] if line.split()[4] == '0002'}
            self.eventually(lambda: inodes.isdisjoint(link[8:-1] for link in links_of(server.pid)))
            server.stop()
            manager.setblocking(False)
            with self.assertRaises(BlockingIOError):
                manager.recv(4096)

    def test_without_landlock(self):
        """As on a kernel that has none: it says so, and the rest applies."""
        server = self.files(self.folder(), wrap=(sys.executable, '-c', BLOCK_LANDLOCK))
        server.wait_for(r'INFO eddy::sandbox: this kernel has no Landlock \(Operation not supported\): access to files is not restricted')
        self.assertEqual(server.ask(request('PUT', '/files/x', body=b'x')).status, 201)
        self.assertEqual(self.states(server, 'Seccomp'), {'2'})


class Certificates(Sandboxed):
    """They are read again, also where they are replaced by others of the name, or are links as certbot makes them."""

    def setUp(self):
        for name in ('first', 'second'):
            tls.make(name, f'/CN={name}', 'DNS:localhost')

    def shown(self, server):
        said = tls.openssl('s_client', '-connect', f'127.0.0.1:{server.port}', check=False)
        return re.search(r'CN ?= ?(\w+)', said)[1]

    def reload(self, server):
        server.process.send_signal(signal.SIGHUP)
        self.eventually(lambda: self.shown(server) == 'second')

    def test_replaced(self):
        folder = self.folder()
        paths = {kind: os.path.join(folder, kind) for kind in ('pem', 'key')}
        for kind, path in paths.items():
            shutil.copy(tls.at(f'first.{kind}'), path)
        server = self.files(self.folder(), '--cert', paths['pem'], '--key', paths['key'])
        self.assertEqual(self.shown(server), 'first')
        for kind, path in paths.items():
            shutil.copy(tls.at(f'second.{kind}'), path + '.new')
            os.rename(path + '.new', path)
        self.reload(server)

    def test_links(self):
        folder = self.folder()
        live, archive = os.path.join(folder, 'live'), os.path.join(folder, 'archive')
        os.mkdir(live)
        os.mkdir(archive)

        def place(name):
            for kind in ('pem', 'key'):
                shutil.copy(tls.at(f'{name}.{kind}'), archive)
                os.symlink(f'../archive/{name}.{kind}', os.path.join(live, f'{kind}.new'))
                os.rename(os.path.join(live, f'{kind}.new'), os.path.join(live, kind))
        place('first')
        server = self.files(self.folder(), '--cert', os.path.join(live, 'pem'), '--key', os.path.join(live, 'key'))
        self.assertEqual(self.shown(server), 'first')
        place('second')
        self.reload(server)


class Taken(Sandboxed):
    """Somebody's code runs in the server. Without the sandbox it gets all that it tries for."""

    def setUp(self):
        self.top = self.folder()
        os.chmod(self.top, 0o755)
        self.inside, self.outside = os.path.join(self.top, 'inside'), os.path.join(self.top, 'outside')
        for path in (self.inside, self.outside):
            os.mkdir(path)
            os.chmod(path, 0o777)
        for path in (os.path.join(self.inside, 'own'), os.path.join(self.outside, 'secret')):
            with open(path, 'w') as file:
                file.write('x')
            os.chmod(path, 0o666)
        os.symlink('../outside/secret', os.path.join(self.inside, 'link'))
        self.daemon = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.daemon.close)
        self.daemon.bind(os.path.join(self.outside, 'secret.socket'))
        os.chmod(os.path.join(self.outside, 'secret.socket'), 0o777)
        self.daemon.listen()

    def taken(self, *args, **options):
        return self.serve(self.inside, os.path.join(self.outside, 'secret'), *args, program='taken', **options)

    def outcome(self, server, place):
        return dict(line.rsplit(': ', 1) for line in server.get(f'/from/{place}').body.decode().splitlines())

    def everything(self, server):
        return {f'{place}: {name}': r for place in ('task', 'pool', 'thread') for name, r in self.outcome(server, place).items()}

    def assertNothingWorks(self, **options):
        for workers in (1, 3):
            server = self.taken('--workers', workers, **options)
            for _ in range(2 * workers):
                outcomes = self.everything(server)
                self.assertGreater(len(outcomes), 50)
                self.assertEqual({name for name, r in outcomes.items() if r not in REFUSED}, set())
            self.assertEqual(server.get('/inside').body, b'read write')
            self.assertEqual(sorted(os.listdir(self.inside)), ['link', 'own'])
            self.assertEqual(sorted(os.listdir(self.outside)), ['secret', 'secret.socket'])
            server.stop()

    @unittest.skipUnless(landlock() > 0, 'needs Landlock')
    def test_gets_nothing(self):
        self.assertNothingWorks()

    @unittest.skipUnless(landlock() > 0 and os.geteuid() == 0, 'needs Landlock, and root to become nobody')
    def test_gets_nothing_as_nobody(self):
        started = subprocess.run([*AS_NOBODY, PROGRAMS['taken']], capture_output=True, check=False)
        if b'while loading shared libraries' in started.stderr:
            self.skipTest('nobody may not read the libraries of this build')
        self.assertNothingWorks(wrap=AS_NOBODY)

    @unittest.skipUnless(os.geteuid() == 0, 'needs root, for whom no file is out of reach')
    def test_gets_everything_without(self):
        outcomes = self.everything(self.taken('--no-sandbox'))
        self.assertEqual({name: r for name, r in outcomes.items() if r != 'worked'}, {})

    @unittest.skipUnless(landlock() > 0, 'needs Landlock')
    def test_reads_and_writes_not(self):
        self.assertEqual(self.taken('--read-only').get('/inside').body, b'read -')

    @unittest.skipIf(is_sanitized(), 'sanitizers look at how a process ends')
    def test_is_killed(self):
        for name in ('unshare', 'mount', 'ptrace', 'bpf'):
            with self.subTest(name):
                server = self.taken()
                with server.connect() as wire:
                    wire.send(request('GET', f'/fatal/{name}'))
                    self.assertEqual(server.wait(), -signal.SIGSYS)
                server.process.stderr.close()

    def test_lives_without_a_sandbox(self):
        self.assertEqual(self.taken('--no-sandbox').get('/fatal/bpf').body, b'still here')


@unittest.skipIf(is_sanitized(), 'sanitizers make other system calls')
class Filter(Case):
    """Its list, against the calls that the program makes."""
    # With arguments that are not refused.
    JUDGED = {'clone', 'clone3', 'connect', 'fcntl', 'ioctl', 'prlimit64', 'process_vm_readv', 'sched_setaffinity', 'sendmmsg', 'sendmsg',
              'sendto', 'setpriority', 'tgkill'}
    # By a process that is not in a sandbox yet, or for what no process in one does.
    OUTSIDE = {'chmod': 'makes a Unix socket', 'fchmodat': 'makes a Unix socket', 'execve': 'starts a process',
               'getxattr': 'an operation by path, which nothing of files starts', 'setxattr': 'the same', 'io_uring_setup': 'makes a loop',
               'kill': 'ends a group of processes', 'pidfd_send_signal': 'ends a process', 'socket': 'listens, and connects'}

    def refused(self):
        with open(os.path.join(ROOT, 'runtime', 'src', 'sandbox', 'call_filter.c')) as file:
            return {name.lower() for name in re.findall(r'\bSYS_(\w+)', file.read())} - {'seccomp'}

    def test_refuses_nothing_that_it_makes(self):
        made = calls.made(PROGRAMS['files'], [os.path.join(ROOT, layer) for layer in ('runtime', 'http')])
        self.assertEqual(made & self.refused(), self.JUDGED | set(self.OUTSIDE))
