"""The programs of examples/cookbook/: what the comment at the head of each shows is run as it stands there, and compared.

A line that begins with "$ " is a command for a shell, in a folder of its own; what follows it is what it prints.

- One that ends with " &" goes on: the lines behind it are the first that it prints, on either output. A server's addresses
  there, localhost:7878 and the like, are free ports, and other commands and outputs mean those.
- "$ kill %1" and "$ kill -QUIT %1" send a signal to the first of them, "$ wait %2" waits for the second. What it has printed by its end
  is all that was shown of it, in any order: who is told to stop may still be at work.
- "…" stands for anything in a line, and alone for any number of lines. Times of records are not compared, nor blanks.
"""
# needs: brotli curl libsqlite3-dev
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from wire import EXAMPLES, Case

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, '..', '..', 'examples', 'cookbook')
COOKBOOK = os.path.join(EXAMPLES, 'cookbook')
RECIPES = sorted(name for name in os.listdir(SOURCES) if name.endswith(('.c', '.sh')))
SECONDS = 40


def transcript(name):
    """Pairs of a command and the lines that it prints."""
    with open(os.path.join(SOURCES, name)) as file:
        head = file.read().split('*/' if name.endswith('.c') else '\nset -e')[0]
    commands = []
    for line in re.findall(r'^(?: \*|#) {5}(.*)$', head, re.M):
        if line.startswith('$ '):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def plain(line):
    """A line without what is never compared."""
    line = re.sub(r'^\d{4}-\d\d-\d\dT[\d:.]+Z', 'TIME', line)
    # Which address localhost is depends on the machine.
    return ' '.join(line.replace('peer=::1 ', 'peer=127.0.0.1 ').split())


def matches(wanted, printed):
    """Whether these lines are those that were shown."""
    if not wanted:
        return not printed
    if wanted[0] == '…':
        return any(matches(wanted[1:], printed[i:]) for i in range(len(printed) + 1))
    pattern = '.*'.join(map(re.escape, wanted[0].split('…')))
    return bool(printed) and re.fullmatch(pattern, printed[0]) is not None and matches(wanted[1:], printed[1:])


def matches_in_any_order(wanted, printed):
    rest = list(printed)
    for line in wanted:
        found = next((other for other in rest if matches([line], [other])), None)
        if found is None:
            return False
        rest.remove(found)
    return not rest


class Background:
    """A command that goes on, and what it prints."""

    def __init__(self, command, folder, env):
        self.command, self.shown = command, []
        self.lines, self.changed, self.ended = [], threading.Condition(), False
        self.process = subprocess.Popen(['sh', '-c', 'exec env ' + command], cwd=folder, env=env, text=True, errors='replace',
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait_for_lines(self, count):
        with self.changed:
            self.changed.wait_for(lambda: self.ended or sum(bool(plain(line)) for line in self.lines) >= count, SECONDS)

    def wait(self):
        self.process.wait(SECONDS)
        self.reader.join(SECONDS)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(SECONDS)
        self.process.stdout.close()


class Session:
    """A recipe's transcript, as it is run."""

    def __init__(self, name):
        self.name, self.jobs, self.ports = name, [], {}
        self.folder = tempfile.mkdtemp(prefix='eddy-cookbook-')
        path = (COOKBOOK, SOURCES, EXAMPLES, os.path.join(EXAMPLES, '..', 'bench', 'eddy-bench'), os.environ['PATH'])
        self.env = dict(os.environ, PATH=':'.join(map(os.path.abspath, path[:-1])) + ':' + path[-1], LC_ALL='C', no_proxy='*')
        self.env.pop('EDDY_LOG', None)

    def translate(self, command):
        """With the ports that there are; those of servers that are still to come are any."""
        return re.sub(r'localhost:(\d{4})', lambda match: f'localhost:{self.ports.get(match[1], 0)}', command)

    def learn(self, job):
        """Where a server listens."""
        shown = re.search(r'Listening on localhost:(\d+)', '\n'.join(job.shown))
        found = re.search(r'Listening on localhost:(\d+)', ''.join(job.lines))
        if shown and found:
            self.ports[shown[1]] = found[1]

    def said(self, lines):
        """Lines as they would be with the ports that were shown; two records of every app are not shown."""
        text = ''.join(line for line in lines if not re.search('INFO eddy::app: (listening on|shutting down:) ', line))
        for shown, port in self.ports.items():
            text = text.replace(f'localhost:{port}', f'localhost:{shown}')
        return [line for line in map(plain, text.splitlines()) if line]

    def compare(self, command, shown, printed, how=matches):
        shown = [line for line in map(plain, shown) if line]
        if not how(shown, printed):
            raise AssertionError('\n'.join([f'{self.name}: {command}', 'shown:', *shown, 'printed:', *printed]))

    def start(self, command, shown):
        job = Background(self.translate(command), self.folder, self.env)
        self.jobs.append(job)
        job.shown += shown
        job.wait_for_lines(len(shown))
        self.learn(job)
        self.compare(command, shown, self.said(job.lines)[:len(shown)])

    def end(self, command, job, shown):
        job.wait()
        if job.process.returncode:
            raise AssertionError(f'{self.name}: {job.command}: exit status {job.process.returncode}\n' + ''.join(job.lines))
        job.shown += shown
        self.compare(command, job.shown, self.said(job.lines), matches_in_any_order)

    def dump(self, command, job, shown):
        """A signal that does not end it: what comes then is a report, of as many lines as it takes."""
        time.sleep(0.1)     # what has answered a client may have more to do
        before = len(job.lines)
        job.process.send_signal(signal.SIGQUIT)
        last = plain(next(line for line in reversed(shown) if line != '…'))
        with job.changed:
            job.changed.wait_for(lambda: job.ended or any(matches([last], [plain(line)]) for line in job.lines[before:]), 5)
        time.sleep(0.1)
        self.compare(command, shown, self.said(job.lines[before:]))
        del job.lines[before:]

    def run(self, command, shown):
        done = subprocess.run(['sh', '-c', self.translate(command)], cwd=self.folder, env=self.env, text=True, errors='replace',
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
        if done.returncode or 'Sanitizer' in done.stderr or (done.stderr and not shown):
            raise AssertionError(f'{self.name}: {command}\n{done.stderr}')
        self.compare(command, shown, self.said([done.stdout]))

    def step(self, command, shown):
        job = re.search(r'%(\d)$', command)
        if command.endswith(' &'):
            self.start(command[:-2], shown)
        elif command.startswith('kill -QUIT '):
            self.dump(command, self.jobs[int(job[1]) - 1], shown)
        elif job:
            if command.startswith('kill '):
                self.jobs[int(job[1]) - 1].process.terminate()
            self.end(command, self.jobs[int(job[1]) - 1], shown)
        else:
            self.run(command, shown)

    def close(self):
        """Servers that still run end as by Ctrl-C, and well."""
        running = [job for job in self.jobs if job.process.poll() is None and 'Listening' in ''.join(job.shown)]
        try:
            for job in running:
                job.process.terminate()
            for job in running:
                job.wait()
                if job.process.returncode or 'Sanitizer' in ''.join(job.lines):
                    raise AssertionError(f'{self.name}: {job.command} ends badly\n' + ''.join(job.lines))
        finally:
            for job in self.jobs:
                job.kill()
            shutil.rmtree(self.folder, ignore_errors=True)


def play(name):
    """Run a recipe as it is shown. Raises what differs."""
    session = Session(name)
    try:
        for command, shown in transcript(name):
            session.step(command, shown)
    finally:
        session.close()


@unittest.skipUnless(os.path.isdir(COOKBOOK), 'needs the programs of examples/cookbook')
class Cookbook(Case):
    """They mostly wait: some run side by side, from when the first is asked for."""

    @classmethod
    def setUpClass(cls):
        pool = concurrent.futures.ThreadPoolExecutor(6)
        cls.addClassCleanup(pool.shutdown, cancel_futures=True)
        cls.played = {name: pool.submit(play, name) for name in RECIPES if cls.is_built(name)}

    @staticmethod
    def is_built(name):
        return name.endswith('.sh') or os.path.exists(os.path.join(COOKBOOK, name[:-2]))

    def check(self, name):
        if name not in self.played:
            self.skipTest(f'{name} was not built: a feature that it needs is off')
        self.assertTrue(transcript(name), f'{name} shows nothing')
        self.played[name].result(100)


def make_test(name):
    return lambda self: self.check(name)


for recipe in RECIPES:
    setattr(Cookbook, 'test_' + recipe.replace('.', '_'), make_test(recipe))


if __name__ == '__main__':
    unittest.main()
