"""What seeing requests costs a server of small ones: ./dev bench tracing.

Servers of one program, which take turns round by round: each of them has something else on. Loop and writing thread share one
processor. Goals are 0.97 of the requests a second with a number in every answer, and 0.90 with an access log in a file.
"""
import os
import urllib.request

import turns

MODES = {'off': (), 'number in a field': ('header',), 'number, access log': ('header', 'access'), 'metrics': ('metrics',),
         'number, access log, metrics': ('header', 'access', 'metrics')}


def start(bench, name):
    """Each has a folder of its own for its log."""
    folder = os.path.join(bench.folder, name.replace(', ', '-').replace(' ', '-'))
    os.mkdir(folder)
    server = turns.start(bench, name, 'traced', folder, *MODES[name])
    server.access_log = os.path.join(folder, 'access.log')
    return server


def count_lines(path):
    """Those of the access log, and those that were dropped."""
    lines = dropped = 0
    with open(path, 'rb') as file:
        for line in file:
            lines += b'eddy::access' in line
            if b'were dropped' in line:
                dropped += int(line.split(b'eddy::log: ')[1].split()[0])
    return lines, dropped


def lines(bench, cell, args):
    servers = {name: start(bench, name) for name in MODES}
    samples = turns.take(bench, cell, list(servers.values()), args)

    def more(name):
        return (f'{count:,}' for count in count_lines(servers[name].access_log)) if 'access' in MODES[name] else '––'
    return turns.table(samples, ('lines', 'dropped'), more)


def get(server, path):
    with urllib.request.urlopen(f'http://127.0.0.1:{server.port}{path}', timeout=10) as answer:
        return answer.headers, answer.read()


def smoke(build):
    """Pairs of a name and what is wrong with it, empty for nothing."""
    with turns.workplace(build) as bench:
        for name, words in MODES.items():
            server = start(bench, name)
            try:
                headers, body = get(server, '/hello')
                counted = b'route="/hello"' in get(server, '/metrics')[1]
            finally:
                server.stop()
            seen = (body == b'Hello, World!', 'request-id' in headers, counted, count_lines(server.access_log)[0] > 0)
            wanted = (True, 'header' in words, 'metrics' in words, 'access' in words)
            yield f'tracing, {name}', '' if seen == wanted else f'{seen}, not {wanted}'


def main(arguments):
    return turns.main('tracing', lines, arguments)
