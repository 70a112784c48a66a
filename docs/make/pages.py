"""Makes reStructuredText of headers: a page for each, and for each layer a table of what it has.

Text stays what it says. Names of functions, constants and errors become literals, which conf.py links to where they are
described; indented text is a piece of code, "-EINVAL  why" a list, and "Return:" has a line of its own.
"""
import os
import re
import textwrap

INLINE = re.compile(r'''
    `(?P<code>[^`\n]+)`
  | (?P<manual>\b(?!eddy_|EDDY_)[a-z_]\w*\([1-9]\))
  | (?P<name>\beddy_\w+\(\)|\b(?:struct|union|enum)\ eddy_\w+|\b(?:eddy_\w+|EDDY_\w+)(?:\(\))?|\beddy/\w+\.h\b
    |(?<![\w-])-E[A-Z0-9]{3,}\b|(?<![\w.])\.[a-z_]{3,}\b)
''', re.X)


def escape(text):
    return re.sub(r'([\\*`|_<>\[\]:])', r'\\\1', text)


def inline(text):
    """A run of text as reStructuredText."""
    text = ' '.join(text.split())
    made, at = [], 0
    for match in INLINE.finditer(text):
        made.append(escape(text[at:match.start()]))
        if match['manual']:
            made.append(rf'\ :manpage:`{match["manual"]}`\ ')
        else:
            made.append(rf'\ ``{(match["code"] or match["name"]).strip()}``\ ')
        at = match.end()
    made.append(escape(text[at:]))
    return re.sub(r'^\\ |\\ $', '', ''.join(made)).strip()


def indent(text, by=3):
    return textwrap.indent(text, ' ' * by)


def code(text):
    return '.. code-block:: c\n\n' + indent(text)


def blocks(doc):
    """The paragraphs, lists and pieces of code of a comment: pairs of a kind and its lines."""
    made = []
    kind = None
    mark = 0  # the column of the item or term: a line that is deeper continues it
    for line in doc.split('\n'):
        wide = len(line) - len(line.lstrip())
        last = kind
        if not line.strip():
            kind = None if kind != 'code' else kind
            if kind == 'code':
                made[-1][1].append('')
            continue
        item = re.match(r'\s*(-|\d+\.) ', line)
        if wide > mark and (kind == 'term' or kind == 'item' and not item):
            made[-1][1].append(line)
            continue
        if item and (wide < 4 or kind == 'item'):
            kind, mark = 'item', wide
        elif wide >= 4:
            kind = 'code'
        elif re.match(r'  \S+(, \S+)*(  |$)', line):
            kind, mark = 'term', wide
        else:
            kind = 'text'
            # Of text that is not divided otherwise, what is returned stands alone.
            if last == 'text' and not line.startswith('Return'):
                made[-1][1].append(line)
                continue
        if kind == 'code' and last == 'code':
            made[-1][1].append(line)
        else:
            made.append((kind, [line]))
    return made


def returns(text):
    """Text, and apart from it what a function returns."""
    parts = re.split(r'(?:^|(?<=[.;] ))(?=Return(?: of \w+)?: )', ' '.join(text.split()))
    return [part.strip() for part in parts if part.strip()]


def prose(doc):
    made = []
    for kind, lines in blocks(doc):
        if kind == 'code':
            made.append(code(textwrap.dedent('\n'.join(lines)).rstrip()))
        elif kind == 'item':
            first = lines[0].strip()
            mark, _, rest = first.partition(' ')
            made.append(f'{mark} ' + inline(' '.join([rest, *lines[1:]])))
        elif kind == 'term':
            term, _, rest = lines[0].strip().partition('  ')
            text = inline(' '.join([rest, *lines[1:]]))
            made.append(inline(term) + '\n' + (indent(text) if text else indent('\\')))
        else:
            for part in returns(' '.join(lines)):
                if match := re.match(r'Return( of \w+)?: (.*)', part):
                    made.append(f':Return{escape(match[1] or "")}: {inline(match[2])}')
                else:
                    made.append(inline(part))
    return '\n\n'.join(made)


def sentence(doc):
    """The first sentence of a comment."""
    text = ' '.join(' '.join(lines) for kind, lines in blocks(doc)[:1] if kind == 'text')
    return re.split(r'(?<=[.;:])\s', ' '.join(text.split()))[0].rstrip(';:')


def capital(text):
    return text[:1].upper() + text[1:]


KINDS = {'function': 'function', 'inline': 'function', 'macro': 'macro', 'constant': 'macro', 'struct': 'struct',
         'union': 'union', 'enum': 'enum', 'type': 'type', 'variable': 'var'}
CALLED = ('function', 'inline', 'macro')


def member(item, kind):
    if not item.name:
        return '.. rst-class:: members\n\n' + prose(capital(item.doc))
    inner = '\n\n'.join(member(m, 'struct') for m in item.members)
    what = 'enumerator' if kind == 'enum' else item.text.split()[0] if item.members else 'member'
    text = re.sub(r'^(union|struct) ', '', item.text) if item.members else item.text
    body = '\n\n'.join(filter(None, (prose(item.doc), inner)))
    return f'.. c:{what}:: {text}\n' + (f'\n{indent(body)}\n' if body else '')


def entry(group, suspends, html):
    """What stands under one comment: all signatures, then what is said of them."""
    made = []
    doc = prose(group.doc)
    if group.doc.startswith('Private'):
        shown = any(one.members for one in group.declarations)
        doc = f'Its {"other " if shown else ""}members are private.'
    called = [d for d in group.declarations if d.kind in CALLED and d.name.startswith('eddy_')]
    if html and called:
        # The last one has the text: what is said of all is true of all.
        word = 'suspends' if any(suspends(d.name) for d in called) else 'never suspends'
        doc = f'.. rst-class:: {word.replace(" ", "-")}\n\n{word}\n\n{doc}'
    at = 0
    while at < len(group.declarations):
        kind = KINDS[group.declarations[at].kind]
        same = [d for d in group.declarations[at:]]
        run = next((n for n, d in enumerate(same) if KINDS[d.kind] != kind), len(same))
        if kind in ('struct', 'union', 'enum', 'type', 'var') or group.declarations[at].kind == 'constant':
            run = 1
        at += run
        here = same[:run]
        first = f'.. c:{kind}:: '
        text = first + ('\n' + ' ' * len(first)).join(d.text if kind not in ('struct', 'union', 'enum') else d.name for d in here)
        body = [doc] if at == len(group.declarations) else []
        value = here[0].body
        if here[0].kind == 'constant' and value and len(value) < 40 and 'EDDYI' not in value:
            body.insert(0, f'Is ``{value}``.')
        body += [member(m, here[0].kind) for m in here[0].members]
        body = '\n\n'.join(filter(None, body))
        made.append(text + '\n' + (f'\n{indent(body)}\n' if body else ''))
    return '\n'.join(made)


def heading(text, line):
    return f'{text}\n{line * len(text)}\n'


def libraries(root):
    """The pkg-config name of each header's library."""
    made = {}
    for layer in ('compress', 'trace', 'auth'):
        with open(os.path.join(root, layer, 'include', 'eddy', 'meson.build')) as file:
            for name, listed in re.findall(r'^(\w+)_headers = files\((.*?)\)', file.read(), re.M | re.S):
                made.update({header: f'eddy-{name}' for header in re.findall(r"'(\w+)\.h'", listed)})
    return made


def header_page(header, library, suspends, manuals=None):
    """The page of a header: of the site, or a manual page, whose names `manuals` has."""
    html = manuals is None
    made = [heading(header.title, '=')]
    use = f'#include <{header.title}>'
    if html:
        made += [capital(inline(header.summary)), code(use + f'    /* pkg-config: {library} */')]
    else:
        made += [heading('Synopsis', '-'), f'``{use}``', f'``cc … $(pkg-config --cflags --libs {library})``',
                 heading('Description', '-'), capital(inline(header.summary))]
    made.append(prose(header.doc))
    own = [name for name in header.includes if name.startswith('eddy/')]
    if not header.groups:
        made.append('It includes ' + ', '.join(f'``{name}``' for name in own) + '.')
    section = None
    for group in header.groups:
        if group.section != section:
            section = group.section
            title, _, rest = (section or 'Declarations').partition(':')
            made.append(heading(capital(escape(title)), '-'))
            if rest:
                made.append(capital(inline(rest)) + '.')
            if group.about:
                made.append(prose(group.about))
        made.append(entry(group, suspends, html))
    if not html:
        made.append(heading('See also', '-'))
        others = [f'{manuals[name]}(3)' for name in own if header.groups]
        made.append(', '.join(f':manpage:`{name}`' for name in (*others, f'eddy_{header.layer}(7)', 'eddy(7)')))
    return '\n\n'.join(filter(None, made)) + '\n'


def calls(header):
    """Triples of a function or macro that is called like one, its comment, and the header."""
    for group in header.groups:
        for one in group.declarations:
            if one.kind in CALLED and one.name.startswith('eddy_'):
                yield one, group.doc


def table_html(layer, headers, suspends):
    """The page that lists the functions of a layer."""
    made = [heading(f'Functions of {layer}', '='),
            'What each of them does to the task that calls it: one that suspends lets other tasks run until it returns, and '
            'returns ``-ECANCELED`` when the scope around it is cancelled. ``eddy/base.h`` has the rule.']
    for header in headers:
        listed = list(calls(header))
        if not listed:
            continue
        made.append(heading(header.title, '-'))
        made.append(capital(inline(header.summary)))
        rows = '\n'.join(f'   * - ``{one.name}()``\n     - {"**suspends**" if suspends(one.name) else "never"}\n     - {inline(sentence(doc)) or chr(92)}'
                         for one, doc in listed)
        made.append('.. list-table::\n   :header-rows: 1\n   :class: functions\n\n   * - Function\n     - Suspends\n     - What it does\n' + rows)
    return '\n\n'.join(made) + '\n'


def table_man(layer, headers, suspends, manuals, intro):
    """The manual page of a layer."""
    made = [heading(f'eddy_{layer}', '='), heading('Description', '-'), intro,
            f'Programs are built with ``cc … $(pkg-config --cflags --libs eddy-{layer})``.', heading('Functions', '-'),
            'A function that suspends lets other tasks run until it returns, and returns ``-ECANCELED`` when the scope around it '
            'is cancelled: see :manpage:`eddy_cancel(7)`. The others never do.']
    for header in headers:
        listed = list(calls(header))
        if not listed:
            continue
        rows = '\n'.join(f'{one.name:<42}{"suspends" if suspends(one.name) else "never suspends"}' for one, _ in listed)
        made.append(f':manpage:`{manuals[header.title]}(3)`: {inline(header.summary)}')
        made.append('::\n\n' + indent(rows))
    made.append(heading('See also', '-'))
    made.append(':manpage:`eddy(7)`, :manpage:`eddy_cancel(7)`')
    return '\n\n'.join(made) + '\n'
