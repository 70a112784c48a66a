"""The figures as a page to read."""
import statistics

UNITS = {'cpu_ns': 'ns', 'wall_ns': 'ns', 'end_ns': 'ns', 'bytes': 'B', 'table_bytes': 'B', 'mappings': '', 'rate': '/s', 'cpu_rate': '/s', 'step_us': 'µs'}

HEAD = '''# Micro-benchmarks

Each part of eddy is compared with a hand-written baseline (the column "beside"; source in
[bench/micro/](../bench/micro)). Both are measured one after the other in every round, so that other load affects both.
A figure is the median of the rounds; the range after a ratio is its minimum and maximum. Times are CPU time unless
stated otherwise. A goal applies to the ratio, or to the figure if there is no ratio.

```console
$ ./dev bench micro                     # all; some minutes
$ ./dev bench micro nop echo            # some
$ ./dev bench micro --publish           # writes this page
$ ./dev bench micro router --publish    # its part alone, which says when that was
```

'''


def figure(sample, name):
    if name == 'cpu_rate':
        return 1e9 / sample['cpu_ns']
    return 1e9 / sample['wall_ns'] if name == 'rate' else sample[name]


def _shown(value, name):
    digits = 0 if value >= 1000 or name in ('mappings', 'rate', 'cpu_rate') else 1
    return f'{value:,.{digits}f} {UNITS[name]}'.rstrip().replace(' /s', '/s')


def _median(samples, name):
    return statistics.median(figure(s, name) for s in samples)


def value_of(row, samples):
    """What a goal is of, its least and most; None where something of it was not measured."""
    if row.key not in samples or (row.base and row.base not in samples):
        return None
    mine = samples[row.key]
    if not row.base:
        each = [figure(s, row.figure) for s in mine]
        return statistics.median(each), min(each), max(each)
    each = [figure(a, row.figure) / figure(b, row.figure) for a, b in zip(mine, samples[row.base])]
    return _median(mine, row.figure) / _median(samples[row.base], row.figure), min(each), max(each)


def _verdict(row, value):
    if not row.goal:
        return '', ''
    met = value >= row.goal if row.at_least else value <= row.goal
    number = f'{row.goal:,.0f} B' if row.figure == 'bytes' else f'{row.goal:,.0f} µs' if row.figure == 'step_us' else f'{row.goal:.2f}'
    return ('≥ ' if row.at_least else '≤ ') + number, 'met' if met else '**missed**'


def rows(case, samples, many):
    lines = ['| | eddy | beside | | ratio | goal | |', '|---|--:|---|--:|--:|--:|---|']
    for row in case.rows:
        found = value_of(row, samples)
        if not found:
            continue
        value, low, high = found
        spread = f'({low:.2f}–{high:.2f})' if row.base else f'{_shown(low, row.figure)} – {_shown(high, row.figure)}'
        beside = row.beside or ('' if low == high else 'least and most')
        other = _shown(_median(samples[row.base], row.figure), row.figure) if row.base else spread if low != high else ''
        ratio = f'**{value:.3f}** {spread}' if row.base and value < 0.1 else f'**{value:.2f}** {spread}' if row.base else ''
        lines.append('| ' + ' | '.join([
            row.title, _shown(_median(samples[row.key], row.figure), row.figure), beside, other, ratio,
            *_verdict(row, value)]).replace('{n}', f'{many:,}') + ' |')
    return lines


def printed(known, settings, command):
    busy = ': **other work ran too**' if known['load_before'] > 0.5 else ''
    return (f'Printed by `{command}` on {known["date"]}: {known["cpu"]}, {known["memory"]}, Linux {known["kernel"]}. '
            f'{settings["rounds"]} rounds of {settings["seconds"]} s a sample; the machine\'s load was '
            f'{known["load_before"]} before{busy}.')


def section(case, samples, many, introduction=''):
    lines = ['', f'## {case.title}', '']
    for text in filter(None, (introduction, case.notes.replace('{n}', f'{many:,}'))):
        lines += [text, '']
    return '\n'.join(lines + rows(case, samples, many)) + '\n'


def page(known, settings, results, command):
    return printed(known, settings, command) + '\n' + ''.join(section(c, s, settings['many']) for c, s in results)


def renewed(text, known, settings, results, command, order):
    """A page with the sections of these results in place of what it had of them, or where they belong by `order`."""
    introduction, *old = text.split('\n## ')
    sections = {each.partition('\n')[0]: '\n## ' + each.rstrip('\n') + '\n' for each in old}
    for case, samples in results:
        sections[case.title] = section(case, samples, settings['many'], printed(known, settings, command))
    titles = [case.title for case in order]
    unknown = [title for title in sections if title not in titles]
    return introduction.rstrip('\n') + '\n' + ''.join(sections[title] for title in titles + unknown if title in sections)
