"""eddy-bench report: what it makes of a result, whoever wrote that."""
# needs: chromium npm
import json
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import measured
import wire

PROGRAM = os.path.join(os.environ['EDDY_EXAMPLES'], '..', 'bench', 'eddy-bench', 'eddy-bench')
H = '{http://www.w3.org/1999/xhtml}'
# Breaks out of attributes, elements, comments, tables and Markdown, where nobody escapes it; steers a terminal.
EVIL = '</style></title><script>alert(1)</script>"\' onload="x()"-->|`*_[a](b)&amp;\x1b]0;x\x07\u202e'


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_report(self, result, *options, status=0):
        with open(self.path('in.json'), 'w') as file:
            json.dump(result, file)
        done = subprocess.run([PROGRAM, 'report', self.path('in.json'), *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def page(self, result):
        self.run_report(result, '--html', self.path('out.html'))
        with open(self.path('out.html'), encoding='utf-8') as file:
            text = file.read()
        return text, ElementTree.fromstring(text)

    def charts(self, page):
        return list(page.iter(H + 'svg'))


def texts(element):
    return ' '.join(' '.join(element.itertext()).split())


class Page(Case):
    def test_is_whole_by_itself(self):
        text, page = self.page(measured.Made().result())
        tags = {element.tag.removeprefix(H) for element in page.iter()}
        self.assertFalse(tags & {'script', 'link', 'img', 'iframe', 'object', 'use', 'image', 'foreignObject'})
        ids = [element.get('id') for element in page.iter() if element.get('id')]
        self.assertEqual(len(ids), len(set(ids)))
        for element in page.iter():
            for name, value in element.items():
                self.assertNotIn(name, ('src', 'style', 'action', 'data'))
                self.assertTrue(name != 'href' or value[1:] in ids and value[0] == '#', value)
                self.assertFalse(name.startswith('on'), name)
                self.assertNotIn('://', value, name)
        self.assertNotIn('url(', text)
        self.assertNotIn('@import', text)
        policy = [meta.get('content') for meta in page.iter(H + 'meta') if meta.get('http-equiv') == 'Content-Security-Policy']
        self.assertEqual(policy, ["default-src 'none'; style-src 'unsafe-inline'"])

    def test_says_goals_before_all_else(self):
        result = measured.Made().result()
        _, page = self.page(result)
        main = page.find(f'{H}body/{H}main')
        section = next(element for element in main if element.tag == H + 'section')
        rows = section.findall(f'{H}table/{H}tbody/{H}tr')
        self.assertEqual(len(rows), sum(len(cell['goals']) for cell in result['cells']))
        self.assertEqual(texts(rows[0]).split(' eddy ')[0], 'GET 4 KiB × 16')
        marks = [row[-1].get('class') for row in rows]
        self.assertEqual({mark: marks.count(mark) for mark in sorted(set(marks))},
                         {'barely': 2, 'met': 19, 'missed': 1, 'unknown': 1})
        self.assertIn('23 goals: 19 met; 2 met, within noise; 1 missed; 1 not measured', texts(section))
        self.assertIn('not measured: the other target was not measured', texts(section))

    def test_tables_have_headings(self):
        _, page = self.page(measured.Made().result())
        for table in page.iter(H + 'table'):
            heads = [cell.get('scope') for cell in table.find(H + 'thead').iter(H + 'th')]
            self.assertEqual(set(heads), {'col'})
            for row in table.find(H + 'tbody'):
                self.assertEqual(row[0].get('scope'), 'row')
                self.assertEqual(len(row), len(heads))

    def test_charts_have_names(self):
        _, page = self.page(measured.Made().result())
        charts, seen = self.charts(page), set()
        self.assertGreater(len(charts), 30)
        for chart in charts:
            title, description = chart[0], chart[1]
            self.assertEqual((title.tag, description.tag), (H + 'title', H + 'desc'))
            self.assertEqual(chart.get('aria-labelledby'), f'{title.get("id")} {description.get("id")}')
            self.assertTrue(title.text and description.text)
            seen |= {title.get('id'), description.get('id')}
        self.assertEqual(len(seen), 2 * len(charts))

    def chart(self, page, title):
        return next(chart for chart in self.charts(page) if chart[0].text == title)

    def bars(self, page, title):
        """Name, width of the bar, and of its whisker the ends."""
        bars = []
        for group in self.chart(page, title).findall(H + 'g'):
            bar = next((rect for rect in group.findall(H + 'rect') if rect.get('class') == 'bar'), None)
            whisker = next((path for path in group.findall(H + 'path') if path.get('class') == 'whisker'), None)
            ends = re.findall(r'M([\d.]+) [\d.]+V', whisker.get('d')) if whisker is not None else []
            bars.append((group[0].text, bar is not None and float(bar.get('width')), [float(end) for end in ends]))
            self.assertTrue(bar is None or bar.get('x') == '0')
        return bars

    def test_bars_begin_at_zero_and_have_whiskers(self):
        result = measured.Made().result()
        _, page = self.page(result)
        bars = self.bars(page, 'GET 1 MiB × 16: throughput')
        self.assertEqual([name for name, _, _ in bars], list(measured.SERVERS))
        samples = {t['name']: sorted(s['bytes'] for s in t['samples']) for t in result['cells'][2]['targets']}
        for name, width, (low, high) in bars:
            self.assertAlmostEqual(width / bars[0][1], samples[name][3] / samples['eddy'][3], delta=0.01)
            self.assertLess(low, width)
            self.assertGreater(high, width)
            self.assertLessEqual(high, 348.05)

    def test_ratios_say_beside_whom(self):
        result = measured.Made().result()
        _, page = self.page(result)
        captions = [''.join(caption.itertext()) for caption in page.iter(H + 'figcaption')]
        self.assertIn('throughput more is better; × beside nginx', captions)
        for cell in result['cells']:
            del cell['targets'][1:]
        self.assertNotIn('beside', str([''.join(caption.itertext()) for caption in self.page(result)[1].iter(H + 'figcaption')]))

    def test_a_whisker_may_leave_the_picture(self):
        result = measured.Made().result()
        nginx = result['cells'][2]['targets'][1]['samples']
        nginx[0]['bytes'] *= 50
        _, page = self.page(result)
        bars = self.bars(page, 'GET 1 MiB × 16: throughput')
        whiskers = [path.get('d') for path in self.chart(page, 'GET 1 MiB × 16: throughput').iter(H + 'path')
                    if path.get('class') == 'whisker']
        self.assertEqual(['H359.0M354.0' in whisker for whisker in whiskers], [False, True] + [False] * 6)
        self.assertGreater(bars[0][1], 348 / 1.7)

    def test_a_bar_that_is_far_longer_leaves_room_for_others(self):
        title = 'GET 1 MiB × 16: CPU time'
        result = measured.Made().result()
        plain = {name: width for name, width, _ in self.bars(self.page(result)[1], title)}
        for sample in next(t for t in result['cells'][2]['targets'] if t['name'] == 'node')['samples']:
            sample['cpu_seconds'] *= 1000
        _, page = self.page(result)
        bars = {name: width for name, width, _ in self.bars(page, title)}
        self.assertEqual(bars.pop('node'), 360)
        self.assertGreater(max(bars.values()), 348 / 3.1)
        for name, width in bars.items():
            self.assertAlmostEqual(width / bars['eddy'], plain[name] / plain['eddy'], delta=0.02)
        # It is seen to be broken, and only it.
        broken = [group[0].text for group in self.chart(page, title).findall(H + 'g')
                  if any(path.get('class') == 'halo' and 'l-5' in path.get('d') for path in group.findall(H + 'path'))]
        self.assertEqual(broken, ['node'])
        self.assertIn('broken', self.chart(page, title)[1].text)

    def test_one_round_has_no_whiskers(self):
        _, page = self.page(measured.Made(rounds=1).result())
        self.assertTrue(all(ends == [] for _, _, ends in self.bars(page, 'GET 1 MiB × 16: throughput')))
        self.assertIn('one round only: there is no confidence interval', texts(page))

    def test_targets_keep_their_colour(self):
        result = measured.Made().result()
        result['cells'][1]['targets'].reverse()
        _, page = self.page(result)
        for title in ('GET 4 KiB × 16: throughput', 'GET 64 KiB × 16: throughput', 'GET 64 KiB × 16: latency'):
            hues = {}
            for group in self.chart(page, title).findall(H + 'g'):
                for text in group.findall(H + 'text')[:1]:
                    hues[text.text] = group.get('class')
            self.assertEqual(hues, {name: f'h{i}' for i, name in enumerate(measured.SERVERS)}, title)

    def test_lines_go_over_sizes(self):
        _, page = self.page(measured.Made().result())
        for title in ('get × 16: throughput over size', 'get × 16: CPU time over size'):
            chart = self.chart(page, title)
            lines = [path.get('d') for path in chart.iter(H + 'path') if path.get('class').startswith('line')]
            self.assertEqual([line.count('L') for line in lines], [4] * len(measured.SERVERS))
            for size in measured.SIZES.values():
                self.assertIn(size, texts(chart))
            for name in measured.SERVERS:
                self.assertIn(name, texts(chart))
        # PUT has another number of connections for each size: no line.
        self.assertFalse([chart for chart in self.charts(page) if chart[0].text.startswith('put')])

    def test_latency_is_over_percentiles(self):
        _, page = self.page(measured.Made().result())
        chart = self.chart(page, 'GET /hello × 64: latency')
        for tick in ('50', '90', '99', '99.9', '100 µs', '1 ms'):
            self.assertIn(tick, [text.text for text in chart.iter(H + 'text')])
        for line in (path for path in chart.iter(H + 'path') if path.get('class').startswith('line')):
            points = [tuple(map(float, point.split())) for point in line.get('d')[1:].split('L')]
            self.assertEqual(points, sorted(points, key=lambda point: (point[0], -point[1])))

    def test_the_first_byte_has_a_chart_where_it_comes_before_the_last(self):
        result = measured.Made().result()
        late, at_once = (next(cell for cell in result['cells'] if cell['name'] == name) for name in ('get-1m-16', 'hello-64'))
        for target in late['targets'] + at_once['targets']:
            target['histogram']['first_byte'] = target['histogram']['total']
        late['targets'][1]['histogram']['first_byte'] = [[1.5, 7], [2.5, 9]]
        titles = [chart[0].text for chart in self.charts(self.page(result)[1])]
        self.assertEqual([title for title in titles if 'latency' in title and title.startswith((late['title'], at_once['title']))],
                         ['GET 1 MiB × 16: latency of the first byte', 'GET 1 MiB × 16: latency', 'GET /hello × 64: latency'])

    def test_names_at_lines_do_not_overlap(self):
        _, page = self.page(measured.Made().result())
        for chart in self.charts(page):
            at = sorted(float(text.get('y')) for group in chart.findall(H + 'g') for text in group.findall(H + 'text')
                        if text.get('x') == '424')
            self.assertTrue(chart.get('class') == 'bars' or at)
            self.assertTrue(all(b - a >= 16.8 for a, b in zip(at, at[1:])), at)

    def test_nothing_in_a_result_is_markup(self):
        result = measured.Made(rounds=2).result()
        result.update(title=EVIL, when=EVIL, command=EVIL, remarks=[EVIL])
        result['machine'].update(dict.fromkeys(('cpu', 'kernel', 'virtual', 'governor', 'mitigations'), EVIL))
        cell = result['cells'][0]
        cell.update(title=EVIL, group=EVIL, work=EVIL, against=EVIL, remarks=[EVIL])
        cell['targets'][1].update(name=EVIL, url=EVIL, version=EVIL, server={'pid': 1, 'command': EVIL})
        for goal in cell['goals']:
            goal.update(against=EVIL, figure=EVIL)
        clean, page = self.page(measured.Made(rounds=2).result())
        text, evil = self.page(result)
        self.assertEqual(text.count('<script'), 0)
        self.assertEqual(text.count('</style>'), clean.count('</style>'))
        tags = {element.tag for element in page.iter()}
        self.assertLessEqual({element.tag for element in evil.iter()}, tags)
        self.assertLessEqual({name for element in evil.iter() for name in element.keys()},
                             {name for element in page.iter() for name in element.keys()})
        for odd in '\x1b\x07\u202e':
            self.assertNotIn(odd, text)
        self.assertIn('alert(1)', texts(evil))

    def test_an_empty_result_is_a_page(self):
        for result in ({'eddy_bench': 1}, {'eddy_bench': 1, 'cells': [{'name': 'a'}]},
                       {'eddy_bench': 1, 'cells': [{'name': 'a', 'size': 0, 'targets': [{'name': 'b', 'samples': [{}]}]}]}):
            _, page = self.page(result)
            self.assertEqual(page.tag, H + 'html')
            self.run_report(result)

    def test_odd_numbers_draw_no_odd_charts(self):
        result = measured.Made(rounds=2).result()
        odd = [0, 1e18, 1e-300, 5e-324]
        for i, cell in enumerate(result['cells'][:5]):
            cell['size'] = odd[i % 4] or 1
            for j, target in enumerate(cell['targets']):
                for sample in target['samples']:
                    sample.update(seconds=odd[j % 4], bytes=odd[(i + j) % 4], requests=odd[(j + 1) % 4], cpu_seconds=odd[(j + 2) % 4])
                    sample['total_us'] = dict.fromkeys(('p50', 'p99'), odd[j % 4])
                target['histogram']['total'] = [[0, 0], [1e-300, 1], [1e18, 1e18]]
        text, page = self.page(result)
        for chart in self.charts(page):
            for element in chart.iter():
                for name, value in element.items():
                    self.assertNotRegex(value, r'\b(nan|inf)\b', name)
        self.assertLess(len(text), 1 << 20)


class Tables(Case):
    def test_columns_stand_below_each_other(self):
        lines = self.run_report(measured.Made().result()).stdout.splitlines()
        at = lines.index('Files') + 1
        rows = lines[at:at + 49]
        column = rows[0].index('target')
        self.assertEqual({row[column:].split('  ')[0] for row in rows[1:]}, set(measured.SERVERS))
        end = rows[0].index('throughput') + len('throughput')
        self.assertTrue(all(row[end - 1] == 's' and row[end] == ' ' for row in rows[1:]), rows)

    def test_markdown_has_the_same(self):
        result = measured.Made().result()
        result['cells'][0]['title'] = 'a|b*c'
        text = self.run_report(result, '--markdown', '-').stdout
        self.assertTrue(text.startswith('# eddy beside its peers\n\n2026-11-22T14:00:00Z: AMD EPYC, 2 processors, 24 GiB'))
        self.assertIn('\n## Small requests\n\n| what | target | throughput | × nginx | CPU time | × nginx | p50 | p99 |\n|---|---|--:|', text)
        self.assertIn('| a\\|b\\*c | eddy |', text)
        self.assertIn('| **missed** |', text)
        for rows in re.findall(r'(?:^\|.*\n)+', text, re.M):
            self.assertEqual(len({len(re.findall(r'(?<!\\)\|', row)) for row in rows.splitlines()}), 1)

    def test_json_has_what_is_derived(self):
        made = measured.Made().result()
        for sample in next(cell for cell in made['cells'] if cell['name'] == 'hello-64')['targets'][0]['samples']:
            sample['client_cpu_seconds'] = sample['seconds']
        self.run_report(made, '--json', self.path('out.json'))
        with open(self.path('out.json')) as file:
            result = json.load(file)
        cell = next(cell for cell in result['cells'] if cell['name'] == 'hello-64')
        eddy, nginx = cell['targets'][:2]
        rates = sorted(sample['requests'] / sample['seconds'] for sample in eddy['samples'])
        self.assertAlmostEqual(eddy['figures']['throughput']['median'], rates[3], places=3)
        self.assertEqual(eddy['figures']['throughput']['unit'], 'requests/s')
        ratios = sorted(a['requests'] / b['requests'] for a, b in zip(eddy['samples'], nginx['samples']))
        against = eddy['figures']['throughput']['against']
        self.assertEqual(against['target'], 'nginx')
        self.assertAlmostEqual(against['ratio'], ratios[3], places=6)
        self.assertLess(against['low'], ratios[1])
        self.assertEqual([goal['outcome']['verdict'] for goal in cell['goals']], ['met, within noise', 'missed', 'not measured'])
        self.assertEqual(cell['remarks'], [])
        self.assertEqual(cell['derived_remarks'], ['eddy: the client was saturated; judge by CPU time, not by throughput or latency'])
        # Said once, however often it is derived.
        self.run_report(result, '--json', self.path('again.json'))
        with open(self.path('again.json')) as file:
            self.assertEqual(json.load(file), result)


class Barriers(Case):
    def test_axe_finds_none(self):
        """Wide and narrow, light and dark; of names as odd as they come as well."""
        if wire.is_sanitized():
            self.skipTest('the page is the same with a sanitizer')
        if not os.path.exists(os.environ.get('EDDY_CHROMIUM', '/usr/bin/chromium')):
            self.skipTest('needs chromium')
        one, evil = measured.Made().result(), measured.Made(rounds=2).result()
        one.update(cells=[one['cells'][0], *one['cells'][8:]])
        evil.update(title=EVIL, remarks=[EVIL], cells=evil['cells'][:2])
        evil['cells'][0].update(title=EVIL, group=EVIL, remarks=[EVIL])
        evil['cells'][1]['targets'][0].update(name='w' * 300)
        self.run_report(one, '--html', self.path('report.html'))
        self.run_report(evil, '--html', self.path('evil.html'))
        self.run_report({'eddy_bench': 1}, '--html', self.path('empty.html'))
        pages = [self.path(f'{name}.html') for name in ('report', 'evil', 'empty')]
        done = subprocess.run(wire.node('report.mjs', *pages), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.stdout, done.returncode), ('', 0), done.stderr)


class Words(Case):
    def test_usage(self):
        for args in ([], ['a', 'b'], ['--speed', 'a'], ['--html']):
            done = subprocess.run([PROGRAM, 'report', *args], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn('usage: eddy-bench report', done.stderr)

    def test_says_what_is_wrong(self):
        result = {'eddy_bench': 1, 'cells': [{'name': 'a', 'targets': [{'name': 'b', 'samples': [{'requests': 'x'}]}]}]}
        done = self.run_report(result, status=2)
        self.assertEqual(done.stderr, f'eddy-bench: {self.path("in.json")}: cells[0].targets[0].samples[0].requests is not a number\n')
        done = self.run_report({'eddy_bench': 1}, '--html', self.path('no/such/folder'), status=2)
        self.assertIn('No such file or directory', done.stderr)
        done = self.run_report({'eddy_bench': 1}, '--html', '/dev/full', status=2)
        self.assertIn('No space left on device', done.stderr)
