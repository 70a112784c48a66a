"""What bearer tokens cost: ./dev bench auth.

First the verification of a signature beside that of the bare library, see micro/jwt.c. Then a server of small requests that all bring a token
of RS256 along: servers of one program, which take turns round by round. One lets everyone in, one looks for a token that it has
seen before, one verifies it each time. The goal is 0.85 of the requests a second with a token that was seen before.
--before adds one of another build.
"""
import os
import subprocess
import urllib.error
import urllib.request

import turns
from micro import main as micro

MODES = {'off': (), 'guarded, a token seen before': ('guard',), 'guarded, nothing is kept': ('guard', 'no-cache')}


def token_of(bench):
    """For a day."""
    return subprocess.run([bench.program('guarded'), 'token'], capture_output=True, text=True, check=True).stdout.strip()


def field_of(token):
    return 'authorization: Bearer ' + token


def start(bench, name, program='guarded'):
    return turns.start(bench, name, program, *MODES[name.partition(' (')[0]])


def lines(bench, cell, args):
    token = token_of(bench)
    servers = [start(bench, name) for name in MODES]
    if 'before' in bench.builds:
        program = os.path.join(bench.builds['before'], 'bench', 'guarded')
        servers += [start(bench, name + ' (before)', program) for name in MODES]
    yield f'Each request has a token of {len(token)} bytes.\n'
    yield from turns.table(turns.take(bench, cell, servers, args, field_of(token)))


def status(server, field):
    name, _, value = field.partition(': ')
    request = urllib.request.Request(f'http://127.0.0.1:{server.port}/hello', headers={name: value} if field else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench:
        if not os.path.exists(bench.program('guarded')):
            return
        token = token_of(bench)
        for name, words in MODES.items():
            server = start(bench, name)
            try:
                seen = status(server, field_of(token)), status(server, field_of(token)), status(server, '')
            finally:
                server.stop()
            wanted = (200, 200, 401 if words else 200)
            yield f'auth, {name}', '' if seen == wanted else f'{seen}, not {wanted}'


def main(arguments):
    without = list(arguments)
    if '--before' in without:
        at = without.index('--before')
        del without[at:at + 2]
    return micro.main(['jwt', *without]) or turns.main('auth', lines, arguments)
