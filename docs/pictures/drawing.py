"""What the scripts beside it draw with: boxes, texts and arrows, as an SVG that reads on light and dark pages, on paper and at
360 pixels. A text that does not fit into its box is an error, by the widths of a wide font (DejaVu Sans)."""
from xml.sax.saxutils import escape

WIDTH = 420
STYLE = '''
svg { font: 13px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
  --ground: #ffffff; --ink: #1d2733; --quiet: #5b6775; --line: #c3cbd4;
  --plain: #eceff2; --plain-edge: #a3adb8; --blue: #dce9f7; --blue-edge: #6d9bcb; --violet: #e9e1f8; --violet-edge: #7a55b8;
  --green: #d3ecd9; --green-edge: #4a9461; --amber: #fbe5cf; --amber-edge: #d08a45; --deep: #14508c; --hot: #b4530a; }
@media screen and (prefers-color-scheme: dark) { svg {
  --ground: #11161d; --ink: #e6ebf1; --quiet: #9aa7b5; --line: #3a4653;
  --plain: #212831; --plain-edge: #4c5967; --blue: #1b2f47; --blue-edge: #41709f; --violet: #322750; --violet-edge: #a888e0;
  --green: #1c3d28; --green-edge: #57a871; --amber: #45301a; --amber-edge: #b37a3d; --deep: #6cb2ff; --hot: #ffa552; } }
.ground { fill: var(--ground); } text { fill: var(--ink); } .quiet { fill: var(--quiet); } .hot { fill: var(--hot); }
.small { font-size: 11.5px; } .bold { font-weight: 600; } .code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; font-size: 11.5px; }
rect { stroke-width: 1; } .plain { fill: var(--plain); stroke: var(--plain-edge); } .blue { fill: var(--blue); stroke: var(--blue-edge); }
.violet { fill: var(--violet); stroke: var(--violet-edge); } .green { fill: var(--green); stroke: var(--green-edge); }
.amber { fill: var(--amber); stroke: var(--amber-edge); } .frame { fill: none; stroke: var(--plain-edge); }
.dashed { stroke-dasharray: 4 3; } .deep { fill: var(--deep); stroke: var(--deep); }
path { fill: none; stroke: var(--quiet); stroke-width: 1.3; } path.line { stroke: var(--line); } path.way { stroke: var(--deep); stroke-width: 2.4; }
path.heat { stroke: var(--hot); } path.tip { fill: var(--quiet); stroke: none; } .ring { fill: none; stroke: var(--deep); stroke-width: 5; } path.way.tip { fill: var(--deep); } path.heat.tip { fill: var(--hot); } path.whisker { stroke: var(--hot); }
'''
NARROW, WIDE, CAPITALS = "ijlI.,:;'|!() ", 'mwMW@%', 'ABCDEFGHJKLNOPQRSTUVXYZ&'


def width_of(text, kind=''):
    """In pixels, a little more than it takes."""
    kinds = kind.split()
    if 'code' in kinds:
        return len(text) * 7.0
    wide = sum(0.36 if c in NARROW else 0.96 if c in WIDE else 0.70 if c in CAPITALS else 0.61 for c in text)
    return wide * (11.5 if 'small' in kinds else 13) * (1.08 if 'bold' in kinds else 1)


class Drawing:
    def __init__(self, height, title, described, width=WIDTH):
        self.width, self.height, self.title, self.described = width, height, title, described
        self.parts = []

    def text(self, x, y, text, kind='', anchor='start', room=None):
        taken = width_of(text, kind)
        left = x - taken * {'start': 0, 'middle': 0.5, 'end': 1}[anchor]
        if left < 0 or left + taken > self.width or (room is not None and taken > room):
            raise ValueError(f'{self.title}: {text!r} takes {taken:.0f} pixels, at {left:.0f}')
        words = f' class="{kind}"' if kind else ''
        where = f' text-anchor="{anchor}"' if anchor != 'start' else ''
        self.parts.append(f'<text{words} x="{x:g}" y="{y:g}"{where}>{escape(text)}</text>')

    def lines(self, x, y, lines, kind='small', anchor='start', room=None, step=16):
        """A line is a text, or a pair of a text and its kind."""
        for number, line in enumerate(lines):
            text, how = line if isinstance(line, tuple) else (line, kind)
            self.text(x, y + number * step, text, how, anchor, room)

    def box(self, x, y, width, height, kind, lines=(), anchor='middle'):
        """The first line is the name of what it is; all stand in its middle."""
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>')
        said = [lines[0] if isinstance(lines[0], tuple) else (lines[0], 'bold'), *lines[1:]] if lines else []
        top = y + height / 2 - len(said) * 8 + 12
        self.lines(x + (width / 2 if anchor == 'middle' else 8), top, said, anchor=anchor, room=width - 8)

    def line(self, *points, kind='line'):
        at = 'L'.join(f'{x:g} {y:g}' for x, y in points)
        self.parts.append(f'<path class="{kind}" d="M{at}"/>')

    def arrow(self, *points, kind=''):
        """Along these points; the last piece is horizontal or vertical."""
        (x1, y1), (x, y) = points[-2:]
        across, down = (x > x1) - (x < x1), (y > y1) - (y < y1)
        size = 7 if 'way' in kind else 6
        before = (x - across * (size - 1), y - down * (size - 1))
        at = 'L'.join(f'{px:g} {py:g}' for px, py in (*points[:-1], before))
        words = f' class="{kind}"' if kind else ''
        tip = ' '.join(word for word in (kind.replace('dashed', '').strip(), 'tip') if word)
        self.parts.append(f'<path{words} d="M{at}"/>')
        self.parts.append(f'<path class="{tip}" d="M{x:g} {y:g}l{-across * size - down * size / 2:g} {-down * size - across * size / 2:g}'
                          f'l{down * size:g} {across * size:g}z"/>')

    def upright(self, x, y, text):
        """Along a narrow box, read from its top."""
        self.parts.append(f'<text class="small" transform="translate({x - 8:g} {y:g}) rotate(90)" text-anchor="middle" >{escape(text)}</text>')

    def number(self, x, y, number):
        self.parts.append(f'<circle class="deep" cx="{x:g}" cy="{y:g}" r="8"/>'
                          f'<text class="small bold" style="fill: var(--ground)" x="{x:g}" y="{y + 4:g}" text-anchor="middle">{number}</text>')

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img">\n'
                f'<title>{escape(self.title)}</title><desc>{escape(self.described)}</desc><style>{STYLE}</style>\n'
                f'<rect class="ground" width="{self.width}" height="{self.height}" rx="6"/>\n' + '\n'.join(self.parts) + '\n</svg>\n')
