"""Prints TAP, one line for each case, with what a failure has to say as comments below it."""
import sys


class Tap:
    def __init__(self, out=None):
        self.out = out or sys.stdout
        self.count = 0
        self.failed = 0

    def _line(self, word, name, tail=''):
        self.count += 1
        name = ' '.join(name.replace('#', '').split())
        print(f'{word} {self.count} - {name}{tail}', file=self.out, flush=True)

    def ok(self, name):
        self._line('ok', name)

    def skip(self, name, why):
        self._line('ok', name, f' # SKIP {" ".join(why.split())}')

    def fail(self, name, says=''):
        self.failed += 1
        self._line('not ok', name)
        self.say(says)

    def check(self, name, says):
        """Passed when there is nothing to say."""
        self.fail(name, says) if says else self.ok(name)

    def say(self, text):
        for line in text.splitlines():
            print(f'# {line}', file=self.out, flush=True)

    def end(self):
        """Prints the plan; returns the exit status."""
        print(f'1..{self.count}', file=self.out, flush=True)
        return 1 if self.failed else 0
