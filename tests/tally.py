"""Counts test cases over all steps of a run.

    tally.py STATE LABEL FILE    reads TAP, or a testlog.json that Meson wrote; shows the failures and adds to STATE
    tally.py STATE               prints the sum as the run's last line; exit status 0 only if something ran and
                                 nothing failed
"""
import json
import os
import re
import sys

CASE = re.compile(r'(ok|not ok)\b(?: \d+)?(?: - )?([^#]*)(?:# SKIP\S*\s*(.*))?', re.I)


class Counts:
    def __init__(self, path):
        self.path = path
        self.values = json.load(open(path)) if os.path.exists(path) else {'passed': 0, 'failed': 0, 'skipped': 0}

    def add(self, key, number=1):
        self.values[key] += number

    def save(self):
        with open(self.path, 'w') as file:
            json.dump(self.values, file)


def read_tap(text, label, counts):
    """Counts TAP; returns how many cases failed. Comments are shown once something has failed."""
    failed = 0
    for line in text.splitlines():
        match = CASE.match(line)
        if match:
            word, name, why = match.groups()
            if why is not None:
                counts.add('skipped')
                print(f'skipped: {label}: {name.strip()}: {why}')
            elif word.lower() == 'ok':
                counts.add('passed')
            else:
                counts.add('failed')
                failed += 1
                print(f'FAILED: {label}: {name.strip()}')
        elif failed and line.startswith('#'):
            print(f'    {line[2:]}')
    return failed


def read_meson(path, label, counts):
    for line in open(path):
        test = json.loads(line)
        name = f"{label}: {test['name'].split(' / ')[-1]}"
        failed = read_tap(test.get('stdout', ''), name, counts)
        if test['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL') and not failed:
            counts.add('failed')
            print(f"FAILED: {name}: {test['result']}, exit status {test.get('returncode')}, "
                  f"after {test.get('duration', 0):.0f} s")
            print(test.get('stdout', '') + test.get('stderr', ''))
        elif failed:
            # Tests put what they have to say into their TAP; what is left comes from outside of it.
            said = re.sub(r'\(test program exited with .*\)', '', test.get('stderr', '')).strip()
            if said:
                print(said)


def main():
    counts = Counts(sys.argv[1])
    if len(sys.argv) == 2:
        values = counts.values
        skipped = f", {values['skipped']} skipped" if values['skipped'] else ''
        print(f"{values['passed']} passed, {values['failed']} failed{skipped}")
        return 0 if values['passed'] and not values['failed'] else 1
    label, path = sys.argv[2:4]
    if path.endswith('.json'):
        read_meson(path, label, counts)
    else:
        text = sys.stdin.read() if path == '-' else open(path, errors='replace').read()
        read_tap(text, label, counts)
        # Each ends with its plan.
        if not re.search(r'^1\.\.\d', text, re.M):
            counts.add('failed')
            print(f'FAILED: {label}: it ended early')
    counts.save()
    return 0


sys.exit(main())
