"""What each cell is to reach: limits of a figure of eddy's, beside another target of the cell or by itself.

Figures are called as eddy-bench calls them; it derives them, and says whether a goal is met.
"""
KIB = 1 << 10


def goal(figure, against=None, at_least=None, at_most=None, aim=None, target='eddy'):
    return {'target': target, 'against': against, 'figure': figure, 'at_least': at_least, 'at_most': at_most, 'aim': aim}


def beside_nginx(throughput, cpu, p99=None, aims=(None, None)):
    goals = [goal('throughput', 'nginx', at_least=throughput, aim=aims[0]), goal('cpu', 'nginx', at_most=cpu, aim=aims[1])]
    if p99:
        goals.append(goal('p99', 'nginx', at_most=p99))
    return goals


BARE = 'bare'         # splice through a pipe of 1 MiB, or liburing: without HTTP
HTTP1 = 'eddy-http1'   # eddy, asked by HTTP/1.1
COPYING = 'copying'   # 256 KiB at a time through memory
# Processor time beside that of the bare loop; an upload of 4 KiB is mostly work with names, of which that loop does less.
BARE_MAX = {'get-4k-16': 1.08, 'get-64k-16': 1.08, 'hello-64': 1.08, 'put-4k-16': None, 'replace-4k-16': None}
SIZED = beside_nginx(0.95, 1.05, aims=(1.05, 0.95))

GOALS = {
    'get-4k-16': beside_nginx(1.5, 0.75, aims=(None, 0.65)),
    'get-64k-16': beside_nginx(1.4, 0.80, aims=(None, 0.70)),
    'get-1m-16': beside_nginx(1.05, 0.95),
    'get-64m-1': [*SIZED, goal('cpu', COPYING, at_most=0.45)],
    'get-64m-16': [*SIZED, goal('cpu', COPYING, at_most=0.45)],
    'get-1g-1': SIZED,
    'put-4k-16': beside_nginx(1.1, 0.9),
    'replace-4k-16': beside_nginx(1.1, 0.9),
    'put-1m-16': beside_nginx(1.2, 0.85),
    'put-64m-1': beside_nginx(1.2, 0.85),
    'replace-1m-16': beside_nginx(1.0, 0.9),
    'replace-64m-1': beside_nginx(1.0, 0.9),
    'put-64m-over': [goal('throughput', COPYING, at_least=1.25), goal('cpu', COPYING, at_most=0.75)],
    'hello-64': [*beside_nginx(1.05, 0.80, 0.8), goal('cpu', 'lwan', at_most=1.05), goal('cpu', 'libreactor', at_most=1.05)],
    'hello-pipelined': [*beside_nginx(1.5, 0.6), goal('throughput', 'libreactor', at_least=0.7)],
    'tls-get-4k-16': beside_nginx(1.1, 0.85),
    'tls-get-1m-16': beside_nginx(1.0, 0.9),
    'tls-get-64m-1': beside_nginx(1.05, 0.85),
    'tls-put-64m-1': beside_nginx(1.05, 0.9),
    'tls-full-ecdsa': [goal('cpu', 'nginx', at_most=0.9)],
    'tls-full-rsa': [goal('cpu', 'nginx', at_most=1.0)],
    'tls-resumed-ecdsa': [goal('cpu', 'nginx', at_most=0.9)],
    'tls-resumed-rsa': [goal('cpu', 'nginx', at_most=0.9)],
    'h2-get-1m-4': [goal('cpu', 'nginx', at_most=0.65), goal('cpu', 'nginx-16k', at_most=0.8)],
    'h2-get-4k-32': [goal('cpu', 'nginx', at_most=0.7)],
    'h2-hello-32': [goal('cpu', 'nginx', at_most=0.7)],
    'h2-put-64m-4': [goal('cpu', HTTP1, at_most=1.4)],
    'h2-tls-get-1m-4': [goal('cpu', 'nginx', at_most=0.75)],
    'h2-tls-get-4k-32': [goal('cpu', 'nginx', at_most=0.75)],
    'h2-tls-hello-32': [goal('cpu', 'nginx', at_most=0.75)],
    'h2-tls-put-64m-4': [goal('cpu', HTTP1, at_most=1.4)],
    'idle': [goal('resident_each', at_most=1.2 * KIB)],
    'stalled': [goal('p99', 'alone', at_most=1.2, target='200 downloads, 200 uploads stalled'),
                goal('threads_more', 'alone', at_most=0, target='200 downloads, 200 uploads stalled')],
    'cold': [goal('p99', 'warm', at_most=2, target='cold')],
    'routes': [goal('cpu', '10 routes', at_most=1.05, target='10,000 routes')],
}
# Those who are built by hand, and are no loss where they are not.
OPTIONAL = ('lwan', 'libreactor')


def of(cell, names):
    """The goals of a cell in which these take part. One beside somebody who is missing stays, and can't be met: it is seen."""
    goals = list(GOALS.get(cell, ()))
    limit = BARE_MAX.get(cell, 1.10)
    if goals and limit and BARE in names:
        goals.append(goal('cpu', BARE, at_most=limit))
    return [g for g in goals if g['against'] not in OPTIONAL or g['against'] in names]
