"""Holds what headers say of suspending against the code, and prints TAP.

    suspends.py ROOT LIBRARY…

The libraries' instructions say who calls whom. A public function from which a call leads to where a task waits must say that it
suspends (the rule stands in eddy/base.h), and one that says so must lead there. Calls by pointers are not seen: those that may
suspend are named below, and so are the calls that never come to it. Reads the instructions of x86-64 alone.
"""
import bisect
import collections
import os
import platform
import re
import shutil
import subprocess
import sys

from tap import Tap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'docs', 'make'))
import headers  # noqa: E402

# Every wait calls this, from eddyi_wait(), which is inlined; nothing else does.
WAITS = 'eddyi_task_call_before_suspend'

# Who calls what a program has given, which may suspend; and functions of the same file that it may be inlined into.
POINTERS = {
    'eddy_next': 'filters and handlers',
    'eddyi_render_error': 'the eddy_err_fn of an app',
    'eddy_res_error': 'the same',
    'eddy_req_session': 'the store of sessions',
    'eddy_session_end': 'the same',
    'eddy_rule_check': 'predicates of rules',
    'eddy_res_interim': 'the verb of a stream',
}

# Calls after which it never comes to a wait.
NEVER = {
    ('eddy_jwk_from_secret', 'eddyi_jwk_make'): 'a secret has no halves that the pool would compare',
    ('eddy_keyset_parse', 'eddyi_jwk_read'): 'of private keys only the public half is read',
    ('eddyi_span_end', 'eddyi_scope_end'): 'no task is spawned in the scope of a span',
}


def plain(name):
    """What a function is called in its source; compilers split and copy them."""
    return re.sub(r'\.(cold|part|isra|constprop|localalias)\b.*', '', name)


class Calls:
    """Who calls whom: sets of pairs of an object file and a function."""

    def __init__(self, libraries):
        self.callees = collections.defaultdict(set)  # names
        self.places = collections.defaultdict(list)  # of a section: the addresses of its functions, and their names
        self.behind = []                             # calls of an address in a section
        for library in libraries:
            self.read(library)
        self.functions = {(file, name) for (file, _), places in self.places.items() for _, name in places}
        self.by_name = collections.defaultdict(set)
        for function in self.functions:
            self.by_name[function[1]].add(function)
        for caller, section, offset in self.behind:
            places = self.places[caller[0], section]
            at = bisect.bisect([address for address, _ in places], offset) - 1
            if at >= 0:
                self.callees[caller].add(places[at][1])

    def read(self, library):
        done = subprocess.run(['objdump', '-dr', '--no-show-raw-insn', library], stdout=subprocess.PIPE, text=True, check=True)
        file = section = caller = target = None
        for line in done.stdout.split('\n'):
            if match := re.match(r'([0-9a-f]+) <(.+)>:$', line):
                if target:    # a function may end with a jump
                    self.callees[caller].add(target)
                caller, target = (file, match[2]), None
                self.places[file, section].append((int(match[1], 16), match[2]))
            elif match := re.match(r'(\S+\.o):\s+file format', line):
                file = f'{os.path.basename(library)}/{match[1]}'
            elif match := re.match(r'Disassembly of section (\S+):', line):
                section = match[1]
            elif match := re.match(r'\s+[0-9a-f]+: R_X86_64_\w+\s+(\S+?)([+-]0x[0-9a-f]+)?$', line):
                # What the linker fills in; the instruction before has no target of its own yet.
                if target is None:
                    continue
                target = None
                if match[1].startswith('.'):
                    self.behind.append((caller, match[1], int(match[2] or '0', 16) + 4))
                else:
                    self.callees[caller].add(match[1])
            elif match := re.match(r'\s+[0-9a-f]+:\s+(\S+)\s*(.*)$', line):
                if target:
                    self.callees[caller].add(target)
                target = None
                if match[1].startswith(('call', 'j')) and not match[2].startswith('*'):
                    place = re.search(r'<([^>+]+)(?:\+0x[0-9a-f]+)?>', match[2])
                    target = place[1] if place else ''

    def resolve(self, file, name):
        """A function of the same file, else one of any."""
        return {(file, name)} & self.functions or self.by_name[name]

    def waiting(self):
        """The functions that lead to a wait, with the next one on the way there; and which of NEVER were met."""
        callers = collections.defaultdict(set)
        met = set()
        for caller, names in self.callees.items():
            for name in names:
                edge = (plain(caller[1]), plain(name))
                for callee in self.resolve(caller[0], name):
                    callers[callee].add((caller, edge))
        way = {function: None for function in self.functions if plain(function[1]) == WAITS or plain(function[1]) in POINTERS}
        todo = list(way)
        while todo:
            callee = todo.pop()
            for caller, edge in callers[callee]:
                if edge in NEVER:
                    met.add(edge)
                elif caller not in way:
                    way[caller] = callee
                    todo.append(caller)
        return way, met


def path(way, function):
    names = []
    while function:
        names.append(plain(function[1]))
        function = way[function]
    return ' > '.join(names)


def main():
    root, libraries = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tap = Tap()
    if platform.machine() != 'x86_64' or not shutil.which('objdump'):
        tap.skip('who suspends', 'needs objdump, and reads x86-64 alone')
        return tap.end()
    found = headers.read_all(root)
    says = headers.suspending(found)
    public = {one.name for header in found for one in header.declarations('function')}
    calls = Calls(libraries)
    way, met = calls.waiting()
    leads = {plain(function[1]): function for function in way}
    there = {plain(name) for _, name in calls.functions}
    tap.check('what is declared is in the libraries', '\n'.join(sorted(public - there)))
    tap.check('what suspends says so', '\n'.join(
        f'{name}() does not say that it suspends: {path(way, leads[name])}' for name in sorted(public & set(leads) - says)))
    tap.check('what says that it suspends does', '\n'.join(
        f'{name}() says that it suspends, and no call leads to a wait' for name in sorted(says & public - set(leads))))
    tap.check('the table of calls has no line too many', '\n'.join(
        f'{caller}() does not call {callee}(), or it never waits' for caller, callee in sorted(set(NEVER) - met)))
    tap.check('the table of pointers has no line too many', '\n'.join(sorted(set(POINTERS) - there)))
    blind = [f'{header.title}:{group.line}: {one.name}() says both' for header in found for group in header.groups
             for one in group.declarations if group.suspends and re.search(r'\b[Nn]ever suspends?\b', group.doc)]
    tap.check('nothing says both', '\n'.join(blind))
    return tap.end()


sys.exit(main())
