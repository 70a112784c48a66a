"""REPLAYS (1000) recordings, each replayed twice and every tenth ten times, to the same hash, status and records: programs of the ladder;
`limits` under what test_unkind does, with a seed of EDDY_CHAOS each; `tour` and `files` under mixed load, with one and two loops, compression,
tracing, tokens, TLS, HTTP/2, WebSockets, uploads, connections that are cut, and processes that are killed."""
import concurrent.futures
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import unittest

import chaos
import recorded
import tls
import tokens
import ws
from recorded import REFUSED, Recording
from wire import EXAMPLES, KIB, PROGRAMS, Lost, Server, chunked, pattern, request

COUNT = int(os.environ.get('REPLAYS', '1000'))
# Its programs, with arguments.
LADDER = {
    **dict.fromkeys(('01_tasks', '02_deadline', '03_fan_out', '05_cleanup', '06_pipeline', '08_rate_limit', '10_pubsub', '11_supervisor', '12_workers',
                     '17_seats'), ()),
    '04_echo': ('localhost:{port}',), '07_cp': ('{file}', 'copy'), '09_scan': ('1', '300'), '13_happy_eyeballs': ('[::1]:1', '127.0.0.1:1'),
    '14_proxy': ('localhost:{port}', 'localhost:1'), '15_tail': ('{file}',), '16_chat': ('localhost:{port}',)}
DRIVEN = {'04_echo', '14_proxy', '15_tail', '16_chat'}
DATA = pattern(300000)
tearDownModule = tls.tearDownModule


def setUpModule():
    tls.setUpModule()
    with open(tls.at('secret'), 'wb') as file:
        file.write(tokens.SECRET)
    os.chmod(tls.at('secret'), 0o600)


def some_request(chance, program):
    """A request that the program may get, sometimes a bad one."""
    body = DATA[:chance.choice((0, 1, 5000, 70000, 300000))]
    accept = 'Accept-Encoding: ' + chance.choice(('zstd', 'br', 'gzip', 'identity'))
    name = chance.choice('abcd')
    common = [request('GET', f'/files/{name}'), request('GET', f'/files/{name}', 'Range: bytes=100-5000'), request('HEAD', f'/files/{name}'),
              request('PUT', f'/files/{name}', body=body), request('PUT', f'/files/{name}', 'Transfer-Encoding: chunked', body=chunked(body[:5000] or b'x')),
              request('PUT', f'/files/{name}', body=body)[:-len(body) // 2 or None], request('GET', '/nowhere'), request('GET', '/', *chance.choices(chaos.LINES, k=2))]
    if program == 'files':
        return chance.choice(common + [request('GET', '/api/files'), request('GET', '/'), request('DELETE', f'/files/{name}')])
    token = tokens.signed() if chance.random() < 0.7 else 'x'
    return chance.choice(common + [
        request('GET', '/hello'), request('GET', f'/text/{chance.choice((10, 100000))}', accept), request('GET', f'/stream/{chance.choice((1, 100))}', accept),
        request('GET', f'/slow/{chance.choice((0, 20))}'), request('GET', '/me', f'Authorization: Bearer {token}'), request('GET', '/metrics'),
        request('GET', '/random/1000'), request('GET', '/log'), request('GET', '/events/3'), request('GET', '/errno/5'),
        request('GET', '/ws/' + chance.choice(('echo', 'chat')), *ws.FIELDS) + ws.frame(ws.TEXT, 'hello') + ws.frame(ws.PING, 'p') + ws.frame(ws.CLOSE, b'\x03\xe8')])


def load(server, secure, chance, program):
    """A few connections, some of which are cut."""
    for _ in range(chance.randrange(2, 6)):
        with contextlib.suppress(Lost, OSError, AssertionError, ValueError):
            with tls.TlsWire(server.port, tls.context(), timeout=0.5) if secure else server.connect(timeout=0.5) as wire:
                streams = not secure and program == 'tour' and chance.random() < 0.2
                text = chaos.some_streams(chance, DATA, 1) if streams else b''.join(some_request(chance, program) for _ in range(chance.choice((1, 1, 3))))
                wire.send(text)
                for _ in range(chance.randrange(5)):
                    wire.more()
                if chance.random() < 0.3 and not secure:
                    wire.reset()


def replays(recording, program, status, out, err, seed):
    """What is wrong in a replay; '' for nothing."""
    for _ in range(10 if seed % 10 == 0 else 2):
        wrong = recording.wrong(program, status, out, err)
        if wrong:
            return wrong
    return ''


def drive(name, process, port, path):
    """Clients of a server of the ladder, or lines of the file that it follows; then Ctrl-C. Return: what it has printed on stderr so far."""
    if name == '15_tail':
        process.stdout.readline()
        with open(path, 'a') as file:
            file.write('another line\n')
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        return ''
    said = process.stderr.readline()    # Listening on …
    with contextlib.suppress(OSError):
        for i in range(3):
            with socket.create_connection(('127.0.0.1', port), timeout=1) as wire:
                wire.sendall(f'client {i}\nsome text\n'.encode())
                wire.settimeout(0.2)
                wire.recv(1000)
    process.send_signal(signal.SIGINT)
    return said


def of_ladder(seed):
    recording, name = Recording(), list(LADDER)[seed % len(LADDER)]
    program, path = os.path.join(EXAMPLES, 'ladder', name), os.path.join(recording.folder, 'file')
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    with open(path, 'w') as file:
        file.write('a line\n')
    words = [word.format(file=path, port=port) for word in LADDER[name]]
    env = {**os.environ, **recording.env, 'EDDY_CHAOS': str(seed)} if seed % 2 else {**os.environ, **recording.env}
    process = subprocess.Popen([program, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=recording.folder)
    said = drive(name, process, port, path) if name in DRIVEN else ''
    out, err = process.communicate(timeout=60)
    return replays(recording, program, process.returncode, None if name in DRIVEN else out, said + err, seed)


def of_server(program, seed):
    chance, recording = random.Random(f'{program} {seed}'), Recording()
    folder = os.path.join(recording.folder, 'files')
    os.mkdir(folder)
    for name in 'ab':
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(DATA)
    secure = seed % 4 == 3
    args = ['--workers', str(seed % 2 + 1)] + (['--cert', tls.at('server.pem'), '--key', tls.at('server.key')] if secure else [])
    if program == 'tour':
        args += ['--dir', folder, '--access-log', '--secret-file', tls.at('secret')]
        args += chance.choice(([], ['--compression'], ['--tracing'], ['--compression', '--tracing']))
    else:
        args.insert(0, folder)
    env = {**recording.env, **({'EDDY_CHAOS': str(seed)} if seed % 3 == 0 else {}), **({'EDDY_EXECUTOR': 'poll'} if seed % 7 == 0 else {})}
    server = Server(*args, program=program, env=env)
    clients = [threading.Thread(target=load, args=(server, secure, random.Random(f'{program} {seed} {i}'), program)) for i in range(4)]
    for client in clients:
        client.start()
    killed = seed % 20 == 19
    if not killed:
        for client in clients[:chance.randrange(5)]:
            client.join()
    server.process.send_signal(signal.SIGKILL if killed else signal.SIGTERM)
    server.wait()
    for client in clients:
        client.join()
    server.process.stderr.close()
    shutil.rmtree(folder)
    if killed:
        # It lacks its end.
        said = [recorded.LINE.search(replay.stderr)[0] for replay in (recording.replay(server.program) for _ in range(2)) if replay.returncode == REFUSED]
        return '' if len(said) == 2 and len(set(said)) == 1 else f'killed, and replayed as {said}'
    return replays(recording, server.program, server.process.returncode, None, server.log, seed)


def of_limits(seed):
    os.environ['EDDY_CHAOS'] = str(seed)
    recorded.times = 2 if seed % 10 else 10
    try:
        return chaos.run(chaos.Quota(seconds=0.5), seed, clients=8)
    except AssertionError as error:
        return str(error)
    finally:
        del os.environ['EDDY_CHAOS']
        recorded.times = 1


class Replays(unittest.TestCase):
    """A twentieth of the ladder, a fifth of `limits`, and the rest of `tour` and `files`."""

    def each(self, of_seed, count):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for seed, wrong in enumerate(pool.map(of_seed, range(1, count + 1)), 1):
                with self.subTest(seed=seed):
                    self.assertEqual(wrong, '')

    def test_ladder(self):
        self.each(of_ladder, max(COUNT // 20, len(LADDER)))

    def test_tour(self):
        self.each(lambda seed: of_server('tour', seed), COUNT // 2)

    def test_files(self):
        self.each(lambda seed: of_server('files', seed), COUNT // 4)

    def test_limits(self):
        """Each server of chaos.run() is recorded, and replayed as it has ended."""
        before, recorded.ALWAYS = recorded.ALWAYS, '1'
        self.addCleanup(setattr, recorded, 'ALWAYS', before)
        for seed in range(1, COUNT // 5 + 1):
            with self.subTest(seed=seed):
                self.assertEqual(of_limits(seed), '')


if __name__ == '__main__':
    unittest.main()
