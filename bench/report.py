"""The figures as a table to read."""
import datetime
import os
import platform
import statistics
import subprocess

from servers import which

COPY = {'get': 'read-send', 'put': 'recv-write'}
BARE = {'get': 'splice', 'put': 'splice-in'}


def facts():
    """What the figures depend on; nothing that names the machine."""
    model = memory = ''
    for line in open('/proc/cpuinfo'):
        if line.startswith('model name'):
            model = line.split(':', 1)[1].strip()
            break
    for line in open('/proc/meminfo'):
        if line.startswith('MemTotal'):
            memory = f'{int(line.split()[1]) / (1 << 20):.0f} GiB'
    nginx = which('nginx')
    version = subprocess.run([nginx, '-v'], capture_output=True, text=True, check=False).stderr if nginx else ''
    return {
        'date': datetime.date.today().isoformat(),
        'kernel': platform.release(),
        'cpu': f'{model or platform.machine()}, {os.cpu_count()} processors',
        'memory': memory,
        'nginx': version.split('/')[-1].split()[0] if version else 'none',
        'load_before': round(os.getloadavg()[0], 1),
    }


def _rate(cell, figures):
    if cell.size and cell.size >= 1 << 20:
        return f'{figures["gb_s"]:.2f} GB/s'
    return f'{figures["requests_s"]:,.0f}/s'


def _cpu(cell, figures):
    if cell.size and cell.size >= 1 << 20:
        return f'{figures["cpu_gib"]:.3f} s/GiB'
    return f'{figures["cpu_us"]:.1f} µs'


def _per_round(result, other, figure):
    """Both were measured in every round: how far their ratio moved."""
    pairs = zip(result['samples']['eddy'], result['samples'][other])
    return sorted(figure(a) / figure(b) for a, b in pairs)


def _ratio(result, other, key, figure):
    if other not in result['figures']:
        return '–'
    value = result['figures']['eddy'][key] / result['figures'][other][key]
    rounds = _per_round(result, other, figure)
    if len(rounds) < 4:
        return f'**{value:.2f}**'
    low, _, high = statistics.quantiles(rounds, n=4)
    return f'**{value:.2f}** ({low:.2f}–{high:.2f})'


def _throughput(sample):
    return sample['requests'] / sample['seconds']


def _cost(sample):
    return sample['cpu'] / sample['requests']


def _short(result, other, key):
    if other not in result['figures']:
        return '–'
    return f'{result["figures"]["eddy"][key] / result["figures"][other][key]:.2f}'


def _transfers(results):
    before = 'before' in results[0]['figures']
    rows = ['| | eddy | nginx | × nginx | eddy cpu | nginx cpu | × nginx | × bare splice | × copying |' +
            (' × before |' if before else ''), '|---|--:|--:|--:|--:|--:|--:|--:|--:|' + ('--:|' if before else '')]
    for result in results:
        cell, figures = result['cell'], result['figures']
        nginx = figures.get('nginx')
        busy = ' †' if max(f['client_busy'] for f in figures.values()) > 0.95 else ''
        rows.append('| ' + ' | '.join([
            cell.title + busy,
            _rate(cell, figures['eddy']), _rate(cell, nginx) if nginx else '–',
            _ratio(result, 'nginx', 'requests_s', _throughput),
            _cpu(cell, figures['eddy']), _cpu(cell, nginx) if nginx else '–',
            _ratio(result, 'nginx', 'cpu_us', _cost),
            _short(result, BARE[cell.kind], 'cpu_us'), _short(result, COPY[cell.kind], 'cpu_us'),
            *([_ratio(result, 'before', 'cpu_us', _cost)] if before else []),
        ]) + ' |')
    return rows


def _hellos(results):
    rows = ['| | server | requests | p50 | p99 | cpu each |', '|---|---|--:|--:|--:|--:|']
    for result in results:
        for name, figures in result['figures'].items():
            rows.append(f'| {result["cell"].title} | {name} | {figures["requests_s"]:,.0f}/s | {figures["p50_us"]:.0f} µs '
                        f'| {figures["p99_us"]:.0f} µs | {figures["cpu_us"]:.2f} µs |')
        for other in ('nginx', 'before'):
            if other in result['figures']:
                rows.append(f'| | × {other} | {_ratio(result, other, "requests_s", _throughput)} '
                            f'| {_short(result, other, "p50_us")} | {_short(result, other, "p99_us")} '
                            f'| {_ratio(result, other, "cpu_us", _cost)} |')
    return rows


def _idles(results):
    rows = ['| | ' + ' | '.join(results[0]['figures']) + ' |', '|---' + '|--:' * len(results[0]['figures']) + '|']
    for result in results:
        cells = [f'{f["bytes_each"]:,.0f} B' for f in result['figures'].values()]
        rows.append(f'| {result["cell"].title}, resident each | ' + ' | '.join(cells) + ' |')
    return rows


def _settings(settings):
    text = f'{settings["rounds"]} rounds of {settings["seconds"]} s a sample'
    if settings['pinned']:
        return text + '; each server has one processor to itself, the client another'
    return text + '; **not pinned: there is only one processor**'


def markdown(known, settings, results, command):
    busy = ': **other work ran too, throughput and p99 suffered**' if known['load_before'] > 0.5 else ''
    lines = [f'Printed by `{command}` on {known["date"]}: {known["cpu"]}, {known["memory"]}, Linux {known["kernel"]}, '
             f'loopback; nginx {known["nginx"]} with `sendfile on; tcp_nopush on; open_file_cache; access_log off;` and '
             f'one worker. {_settings(settings)}; the machine\'s load was {known["load_before"]} before{busy}.', '',
             'Medians of samples that take turns. *cpu* is the processor time of the server\'s process, all threads, '
             'for each GiB or request: the steadiest figure. Behind a ratio is where the middle half of the rounds lay.']
    transfers = [r for r in results if r['cell'].kind in BARE]
    hellos = [r for r in results if r['cell'].kind == 'hello']
    idles = [r for r in results if r['cell'].kind == 'idle']
    if transfers:
        lines += ['', '## Files', '', *_transfers(transfers), '',
                  'Downloads are of files in the page cache, to a client that does not copy them; uploads become new '
                  'files on tmpfs, beside nginx\'s WebDAV `PUT`; from 1 MiB they replace what the connection sent before. The last two columns hold eddy\'s cpu against loops of '
                  'our own that speak no HTTP: non-blocking `splice` through a pipe of 1 MiB, and copying by 256 KiB.']
        if any('†' in row for row in lines):
            lines += ['', '† The client was saturated: judge by cpu, not by throughput.']
    if hellos:
        lines += ['', '## Small requests', '', *_hellos(hellos), '',
                  'Keep-alive; by wrk with one thread, the pipelined ones by the bench\'s own client.']
    if idles:
        lines += ['', '## Memory', '', *_idles(idles), '',
                  'Growth of the server\'s resident memory. nginx allocates some 0.4 KiB a connection before the first.']
    return '\n'.join(lines) + '\n'
