"""Results as eddy-bench writes them, made up: always the same, and shaped like those of real servers.

    python3 measured.py > result.json
"""
import json
import random
import sys

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = {4 * KIB: '4 KiB', 64 * KIB: '64 KiB', MIB: '1 MiB', 64 * MIB: '64 MiB', GIB: '1 GiB'}
# How quick each is, how much of a processor it takes, how heavy the tail of its latency is.
SERVERS = {'eddy': (1.0, 0.7, 1.0), 'nginx': (0.72, 1.0, 1.3), 'h2o': (0.8, 0.9, 1.2), 'lighttpd': (0.55, 1.1, 1.6),
           'haproxy': (0.6, 1.0, 1.5), 'Go net/http': (0.5, 1.6, 3.0), 'node': (0.15, 4.0, 4.0), 'bare splice': (1.08, 0.6, 0.9)}


class Made:
    def __init__(self, seed=1, rounds=7):
        self.random = random.Random(seed)
        self.rounds = rounds

    def quantiles(self, middle, tail):
        return {name: round(middle * (1 + tail * step), 1)
                for name, step in (('p50', 0), ('p90', 0.6), ('p99', 2), ('p999', 5), ('max', 14))}

    def histogram(self, middle, tail, count):
        buckets, left, us = [], count, middle * 0.5
        while left > 0:
            some = min(left, max(1, round(left * (0.04 if us < middle else 0.12 / tail ** 0.5))))
            buckets.append([round(us, 1), some])
            left -= some
            us *= 1.04
        return buckets

    def sample(self, server, rate, size, cpu_share):
        quick, cost, tail = SERVERS.get(server, (1, 1, 1))
        noise = self.random.gauss(1, 0.03)
        seconds = 0.5
        requests = max(1, round(rate * quick * noise * seconds))
        latency = 16e6 / (rate * quick)
        return {
            'seconds': seconds, 'requests': requests, 'bytes': requests * size, 'errors': 0,
            'cpu_seconds': round(min(seconds, cpu_share * cost * seconds * quick) * self.random.gauss(1, 0.015), 5),
            'client_cpu_seconds': min(0.9, 0.8 * quick) * seconds, 'voluntary_switches': round(requests / 9),
            'involuntary_switches': self.random.randrange(5), 'system_calls': round(requests * 2.1), 'retransmits': 0,
            'resident_bytes': 9 * MIB, 'resident_bytes_before': 8 * MIB, 'threads': 1 if server != 'Go net/http' else 7,
            'first_byte_us': self.quantiles(latency * 0.6, tail), 'total_us': self.quantiles(latency * noise, tail)}

    def target(self, server, rate, size, cpu_share, name=None):
        quick, _, tail = SERVERS.get(server, (1, 1, 1))
        samples = [self.sample(server, rate, size, cpu_share) for _ in range(self.rounds)]
        latency = 16e6 / (rate * quick)
        return {'name': name or server, 'url': 'http://127.0.0.1:8080/', 'version': f'{server} 1.2.3',
                'server': {'pid': 17, 'command': f'/usr/sbin/{server} -c bench/peers/{server}.conf'}, 'connections': 16,
                'samples': samples,
                'histogram': {'first_byte': [], 'total': self.histogram(latency, tail, sum(s['requests'] for s in samples))}}

    def transfer(self, work, size, connections, gbs):
        rate = gbs * 1e9 / size
        goals = [(1.05, 'throughput', True), (0.95, 'cpu', False)]
        name = f'{work}-{SIZES[size].replace(" ", "").replace("iB", "").lower()}-{connections}'
        return {'name': name, 'title': f'{work.upper()} {SIZES[size]} × {connections}', 'group': 'Files' if work == 'get' else 'Uploads',
                'work': work, 'size': size, 'connections': connections, 'depth': 1, 'against': 'nginx',
                'targets': [self.target(server, rate, size, 0.6) for server in SERVERS],
                'goals': [{'target': 'eddy', 'against': 'nginx', 'figure': figure, 'aim': limit * 1.3 if more else limit * 0.8,
                           'at_least' if more else 'at_most': limit} for limit, figure, more in goals]}

    def small(self):
        return {'name': 'hello-64', 'title': 'GET /hello × 64', 'group': 'Small requests', 'work': 'req', 'connections': 64, 'depth': 1,
                'against': 'nginx', 'targets': [self.target(server, 150e3, 13, 0.9) for server in SERVERS],
                'goals': [{'target': 'eddy', 'against': 'nginx', 'figure': 'throughput', 'at_least': 1.38},
                          {'target': 'eddy', 'against': 'nginx', 'figure': 'p99', 'at_most': 0.4},
                          {'target': 'eddy', 'against': 'lwan', 'figure': 'cpu', 'at_most': 1.05}]}

    def memory(self):
        targets = []
        for server, each in (('eddy', 870), ('nginx', 1010), ('Go net/http', 21000)):
            samples = [{'resident_bytes_before': 8 * MIB, 'resident_bytes': 8 * MIB + 10000 * each + self.random.randrange(5000),
                        'threads': 1} for _ in range(3)]
            targets.append({'name': server, 'connections': 10000, 'samples': samples})
        return {'name': 'idle', 'title': '10,000 idle connections', 'group': 'Memory', 'connections': 10000, 'against': 'nginx',
                'targets': targets, 'goals': [{'target': 'eddy', 'figure': 'resident_each', 'at_most': 1228.8}]}

    def beside(self, name, title, group, names, goals, factor=1.0):
        targets = [self.target('eddy', 40e3, 4096, 0.5, names[0]), self.target('eddy', 40e3 * factor, 4096, 0.5, names[1])]
        return {'name': name, 'title': title, 'group': group, 'work': 'get', 'size': 4096, 'connections': 64, 'against': names[0],
                'targets': targets, 'goals': [{'target': names[1], 'against': names[0], 'figure': figure, 'at_most': limit}
                                              for figure, limit in goals]}

    def result(self):
        cells = [self.transfer('get', size, 16, gbs)
                 for size, gbs in ((4 * KIB, 0.4), (64 * KIB, 3.5), (MIB, 5.5), (64 * MIB, 6.1), (GIB, 6.2))]
        cells += [self.transfer('get', 64 * MIB, 1, 6.8), self.transfer('put', MIB, 16, 2.2), self.transfer('put', 64 * MIB, 1, 2.4)]
        cells += [self.small(), self.memory(),
                  self.beside('stalled', '200 stalled downloads and 200 stalled uploads', 'Stalled and cold',
                              ('alone', 'with 400 stalled peers'), (('p99', 1.2), ('threads_more', 0)), 0.97),
                  self.beside('routes', '10,000 routes against 10', 'Routes', ('10 routes', '10,000 routes'), (('cpu', 1.05),), 0.99)]
        return {'eddy_bench': 1, 'title': 'eddy beside its peers', 'when': '2026-11-22T14:00:00Z', 'command': './dev bench',
                'machine': {'cpu': 'AMD EPYC', 'processors': 2, 'memory_bytes': 24 * GIB, 'kernel': '6.1.0-18-amd64', 'virtual': 'kvm',
                            'load_before': 0.7, 'governor': None, 'mitigations': 'Retpolines; IBPB conditional'},
                'settings': {'rounds': self.rounds, 'seconds': 0.5, 'warmup': 0.1, 'server_cpu': 0, 'client_cpu': 1},
                'cells': cells, 'remarks': []}


if __name__ == '__main__':
    json.dump(Made().result(), sys.stdout)
