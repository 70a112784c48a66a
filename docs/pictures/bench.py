#!/usr/bin/env python3
"""Draws what bench/RESULTS.md has beside nginx: bars on a scale of ratios, with the ends of their 95 % intervals.

    bench.py cpu > bench-cpu.svg                     processor time of every server in every cell
    bench.py throughput > bench-throughput.svg       what it gave and took
    bench.py eddy > bench-eddy.svg                   both, of eddy alone
    bench.py --write                                 all three, beside this script; so does `./dev bench --publish`
"""
import math
import os
import re
import sys

from drawing import Drawing

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, '..', '..', 'bench', 'RESULTS.md')
COLUMNS = {'throughput': 3, 'cpu': 5}
NAMES = {'throughput': 'throughput, × nginx (right is more)', 'cpu': 'processor time, × nginx (left is less)'}
LEFT, RIGHT, BAR = 96, 366, 13


def ratios(text, column):
    """Of every cell that nginx is in: its title, and of each server the ratio and the ends of its interval; nginx is 1."""
    cells = {}
    for line in text.split('\n'):
        fields = [field.strip() for field in line.strip('|').split(' | ')]
        if not line.startswith('| ') or len(fields) < 8:
            continue
        found = re.fullmatch(r'([\d.]+) \(([\d.]+)–([\d.]+)\)', fields[column])
        if found:
            cells.setdefault(fields[0], {})[fields[1]] = tuple(map(float, found.groups()))
        elif fields[1] == 'nginx' and not fields[column] and fields[2] != '–':
            cells.setdefault(fields[0], {})['nginx'] = None
    return [(title, servers) for title, servers in cells.items() if 'nginx' in servers and 'eddy' in servers]


class Scale:
    """Logarithmic: twice as much and half as much are as far from 1."""
    def __init__(self, values, left, right):
        low, high = min(values) / 1.05, max(values) * 1.05
        self.left, self.right, self.low, self.high = left, right, math.log(low), math.log(high)
        steps = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)
        self.marks = [mark for mark in steps if low <= mark <= high]

    def x(self, value):
        return self.left + (math.log(value) - self.low) / (self.high - self.low) * (self.right - self.left)


def label(mark):
    return f'{mark:g}' if mark >= 1 else f'1/{round(1 / mark)}'


def written(ratio):
    return f'{ratio:.3g}' if ratio >= 10 else f'{ratio:.2f}'


def draw_bar(picture, scale, y, ratio, kind):
    """From 1 to the ratio, and a whisker from end to end of its interval."""
    value, low, high = ratio
    one, end = scale.x(1), scale.x(value)
    picture.parts.append(f'<rect class="{kind}" x="{min(one, end):.1f}" y="{y}" width="{abs(end - one):.1f}" height="{BAR - 4}"/>')
    middle = y + (BAR - 4) / 2
    for part in ((low, middle, high, middle), (low, middle - 3, low, middle + 3), (high, middle - 3, high, middle + 3)):
        x1, y1, x2, y2 = scale.x(part[0]), part[1], scale.x(part[2]), part[3]
        picture.parts.append(f'<path class="whisker" d="M{x1:.1f} {y1:g}L{x2:.1f} {y2:g}"/>')


def draw_marks(picture, scale, top, bottom):
    for mark in scale.marks:
        x = scale.x(mark)
        picture.line((round(x, 1), top), (round(x, 1), bottom), kind='' if mark == 1 else 'line')
        picture.text(round(x, 1), top - 4, label(mark), 'small quiet', 'middle')


def all_servers(text, what):
    cells = ratios(text, COLUMNS[what])
    scale = Scale([end for _, servers in cells for ratio in servers.values() if ratio for end in ratio], LEFT, RIGHT)
    height = 46 + sum(24 + BAR * (len(servers) - 1) for _, servers in cells) + 26
    picture = Drawing(height, f'{what} beside nginx', f'Bars of {NAMES[what]}. Cells: {", ".join(title for title, _ in cells)}.')
    picture.text(8, 18, NAMES[what], 'bold')
    draw_marks(picture, scale, 42, height - 22)
    y = 44
    for title, servers in cells:
        picture.text(8, y + 14, title, 'small bold')
        y += 20
        for name, ratio in servers.items():
            if ratio is None:
                continue
            picture.text(LEFT - 6, y + 9, name, 'small' if name == 'eddy' else 'small quiet', 'end')
            draw_bar(picture, scale, y, ratio, 'deep' if name == 'eddy' else 'plain')
            picture.text(412, y + 9, written(ratio[0]), 'small' if name == 'eddy' else 'small quiet', 'end')
            y += BAR
        y += 4
    picture.text(8, height - 8, 'bare, copying: loops of our own without HTTP', 'small quiet')
    return picture.svg()


def eddy_alone(text):
    columns = {what: dict(ratios(text, column)) for what, column in COLUMNS.items()}
    titles = list(columns['cpu'])
    scale = Scale([end for cells in columns.values() for servers in cells.values() for end in servers['eddy']], LEFT, RIGHT)
    height = 46 + 50 * len(titles)
    said = '; '.join(f'{title}: {columns["throughput"][title]["eddy"][0]:g} and {columns["cpu"][title]["eddy"][0]:g}' for title in titles)
    picture = Drawing(height, 'eddy beside nginx', f'Throughput and processor time of eddy, as ratios to those of nginx in the same rounds. {said}.')
    picture.text(8, 18, 'eddy, × nginx', 'bold')
    picture.text(412, 18, 'throughput: right is more; CPU time: left is less', 'small quiet', 'end')
    draw_marks(picture, scale, 42, height - 6)
    for number, title in enumerate(titles):
        y = 44 + number * 50
        picture.text(8, y + 14, title, 'small bold')
        for what, name, kind in (('throughput', 'throughput', 'deep'), ('cpu', 'CPU time', 'amber')):
            y += BAR + 2
            ratio = columns[what][title]['eddy']
            picture.text(LEFT - 6, y + 14, name, 'small quiet', 'end')
            draw_bar(picture, scale, y + 5, ratio, kind)
            picture.text(412, y + 14, written(ratio[0]), 'small', 'end')
    return picture.svg()


def draw(which, text):
    if not ratios(text, COLUMNS['cpu']):
        sys.exit('bench/RESULTS.md has no cell of eddy and nginx: nothing is drawn')
    return eddy_alone(text) if which == 'eddy' else all_servers(text, which)


def main(words):
    with open(RESULTS, encoding='utf-8') as file:
        text = file.read()
    pictures = (*COLUMNS, 'eddy')
    if words == ['--write']:
        for which in pictures:
            drawn = draw(which, text)
            with open(os.path.join(HERE, f'bench-{which}.svg'), 'w', encoding='utf-8') as out:
                out.write(drawn)
    elif len(words) == 1 and words[0] in pictures:
        print(draw(words[0], text), end='')
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
