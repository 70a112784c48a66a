"""What an idle connection of HTTP/2 takes: little memory, and no stack."""
import re

import h2wire
from wire import KIB, is_sanitized

GET = h2wire.get(b'/hello/you') + b'\x40' + h2wire.literal(b'user-agent')[1:] + h2wire.literal(b'e2e' * 30)[1:]


def opened(server, count):
    """One after the other: what those in progress take at once is not that of idle ones."""
    wires = []
    for _ in range(count):
        wires.append(h2wire.Plain(server.port))
        if b'you' not in wires[-1].ask(GET):
            raise AssertionError('no response')
    return wires


def check(case, count):
    # Meson has malloc() fill what it hands out, which would make all of it resident.
    server = case.serve('--dir', case.folder(), program='tour', env={'MALLOC_PERTURB_': '0'})
    wires = opened(server, 50)
    before = server.rss()
    for _ in range(count // 100):
        wires += opened(server, 100)
    per = (server.rss() - before) / count
    print(f'{per:.0f} bytes for each of {count} idle connections of HTTP/2')
    metrics = server.get('/metrics').body.decode()
    case.assertEqual(int(re.search(r'^eddy_http2_connections_total (\d+)', metrics, re.M)[1]), len(wires))
    case.assertLess(int(re.search(r'^eddy_tasks (\d+)', metrics, re.M)[1]), 10)
    if not is_sanitized():
        case.assertLess(per, 24 * KIB)
    for wire in wires[::count // 10]:
        wire.ask(GET)
    for wire in wires:
        wire.socket.close()
