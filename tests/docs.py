"""Checks that the documents show what the programs are, and prints TAP.

    docs.py ROOT

- every C block of docs/guide/ and docs/cookbook/ is a run of lines of one file below examples/, and so is every block of sh that
  is no command of ./dev
- so is every C block of README.md, those of the layers and of examples/pg, docs/*.md, docs/deploy/*.md, docs/errors/*.md and docs/man/*.md, or of a program of
  tests/e2e/servers/; those that are whole programs are compiled by style.py
- the program of README.md is examples/hello.c but for comments
- the README of a layer has each of its headers
- the targets of docs/log.md are those of the layers' records
- the names eddy_… that the same pages speak of are declared in public headers, or metrics of docs/metrics.md
- every console block of docs/guide/ and docs/cookbook/ is what the comment at the head of such a file shows, which the tests run; it
  may begin late and stop early
- every page of docs/decisions/ says context, choice and price, has the next number, and is in the list of them by its title
- the tests and the sources that docs/traps.md and SECURITY.md name are there
- docs/cookbook/ links to every recipe, and to every page of its own from the first
- docs/config.md has every key that a section's table has, and no other
- the table of examples/README.md has a line for every step of the ladder, in order
- links to files of the tree, and to their headings, lead somewhere
"""
import glob
import os
import re
import sys

from tap import Tap

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')


def blocks(text, language):
    """Pairs of a line's number and the block that begins behind it."""
    for match in re.finditer(rf'^```{language}\n(.*?)^```$', text, re.M | re.S):
        yield text.count('\n', 0, match.start()) + 1, match.group(1)


def shown(source):
    """The commands and their output in the comment at the head of a file, a line each."""
    head = source.split('*/')[0]
    return '\n' + ''.join(line + '\n' for line in re.findall(r'^(?: \*|#) {5}(.*)$', head, re.M))


def anchors(text):
    """What a page's headings are called in links."""
    return {re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-') for heading in re.findall(r'^#+ (.*)$', text, re.M)}


def check_links(root, path, text):
    wrong = []
    for target, anchor in re.findall(r'\]\(([^)#]*)(?:#([^)]*))?\)', text):
        if '://' in target:
            continue
        file = os.path.join(root, os.path.dirname(path), target) if target else os.path.join(root, path)
        if not os.path.exists(file):
            wrong.append(f'{path}: {target} leads nowhere')
        elif anchor and anchor not in anchors(open(file).read()):
            wrong.append(f'{path}: {target}#{anchor} leads to no heading')
    return wrong


def check_code(text, path, sources):
    """How many C blocks there are, and which of them are in no source."""
    all_of_them = [(line, block) for line, block in blocks(text, 'c') if 'int main(' not in block]
    wrong = [f'{path}:{line}: no program has these lines' for line, block in all_of_them
             if not any('\n' + block in source for source in sources.values())]
    return len(all_of_them), wrong


def check_shell(text, path, sources):
    return [f'{path}:{line}: no script has these lines' for line, block in blocks(text, 'sh')
            if not block.startswith('./dev ') and not any('\n' + block in source for source in sources.values())]


def check_cookbook(tap, root):
    """No recipe is hidden."""
    linked, pages = set(), read_sources(root, 'docs/cookbook/*.md')
    for text in pages.values():
        linked |= set(re.findall(r'\]\(\.\./\.\./examples/cookbook/([^)#]+)\)', text))
    recipes = {os.path.basename(path) for path in read_sources(root, 'examples/cookbook/*.c', 'examples/cookbook/*.sh')}
    index = pages.get(os.path.join('docs', 'cookbook', 'README.md'), '')
    missing = [f'no page links to examples/cookbook/{name}' for name in sorted(recipes - linked)]
    missing += [f'docs/cookbook/README.md does not link to {name}' for name in sorted(map(os.path.basename, pages))
                if name != 'README.md' and f']({name}#' not in index]
    tap.check('the cookbook shows every recipe', '\n'.join(missing) if recipes else 'there are none')


def check_decisions(tap, root):
    """One a page, all of one shape, none left out of the list."""
    pages = sorted(read_sources(root, 'docs/decisions/[0-9]*.md').items())
    wrong, rows = [], []
    for number, (path, text) in enumerate(pages, 1):
        title = re.match(r'# (\d+)\. (.+)\n', text)
        if not title or int(title[1]) != number or not os.path.basename(path).startswith(f'{number:04}-'):
            wrong.append(f'{path}: not number {number}, in name and title')
            continue
        rows.append((title[1], title[2], os.path.basename(path)))
        parts = re.findall(r'^\*\*(Context|Choice|Price|Measured)\.\*\*', text, re.M)
        if parts not in (['Context', 'Choice', 'Price'], ['Context', 'Choice', 'Price', 'Measured']):
            wrong.append(f'{path}: context, choice, price, and what was measured, once each and in this order; it has {parts}')
        wrong += check_links(root, path, text)
    with open(os.path.join(root, 'docs', 'decisions', 'README.md')) as file:
        index = file.read()
    wrong += check_links(root, 'docs/decisions/README.md', index)
    listed = re.findall(r'^\| (\d+) \| \[(.+?)\]\(([^)]+)\) \|', index, re.M)
    wrong += [f'docs/decisions/README.md does not have {row}' for row in rows if row not in listed]
    if len(listed) > len(rows) or [row for row in listed if row in rows] != rows:
        wrong.append('docs/decisions/README.md has others, or another order')
    tap.check('decisions', '\n'.join(wrong) if pages else 'there are none')


def check_traps(tap, root):
    """A remedy that nobody tests any more is none."""
    with open(os.path.join(root, 'docs', 'traps.md')) as file:
        tables = re.findall(r'^\|.*$', file.read(), re.M)
    tests = set(re.findall(r'^[A-Z]\w*\((?:struct \w+ \*\w+, )?(\w+), (\w+)',
                           '\n'.join(read_sources(root, 'tests/runtime/*.c').values()), re.M))
    tests |= {('crash', os.path.basename(path)[:-len('.c')]) for path in read_sources(root, 'tests/runtime/crash/*.c')}
    tests |= {(suite, '*') for suite, _ in tests}
    files = {os.path.basename(path) for path in read_sources(root, *(f'{layer}/src/**/*.c' for layer in ('runtime', 'http')))}
    named = [pair for row in tables for pair in re.findall(r'`(\w+)/(\w+|\*)`', row)]
    wrong = [f'there is no test {suite}/{name}' for suite, name in named if (suite, name) not in tests]
    wrong += [f'there is no {name}' for row in tables for name in re.findall(r'`(\w+\.c)`', row) if name not in files]
    tap.check('docs/traps.md names what there is', '\n'.join(wrong) if named else 'no test was found')


def check_security(tap, root):
    """The mitigations and the tests that SECURITY.md names are there, and no CVE has two rows."""
    with open(os.path.join(root, 'SECURITY.md')) as file:
        rows = [line for line in file if line.startswith('| ') and 'CVE-' in line]
    named = {path for row in rows for path in re.findall(r'`(tests/\S+|\w+\.c)`', row)}
    places = [root, os.path.join(root, 'http', 'src', 'tls')]
    wrong = [f'{path} is not there' for path in sorted(named) if not any(os.path.exists(os.path.join(at, path)) for at in places)]
    holes = [hole for row in rows for hole in re.findall(r'CVE-\d+-\d+', row.split('|')[1])]
    wrong += [f'{hole} has several rows' for hole in sorted(set(holes)) if holes.count(hole) > 1]
    tap.check('SECURITY.md names what there is', '\n'.join(wrong) if named and holes else 'no hole was found')


def declared(root):
    """The public names, those that macros make included."""
    paths = glob.glob(os.path.join(root, '*', 'include', 'eddy', '*.h')) + glob.glob(os.path.join(root, 'examples', 'pg', '*.h'))
    text = ''.join(open(path).read() for path in paths)
    names = set(re.findall(r'\beddy_\w+', text))
    verbs = re.findall(r'X\(owner, (\w+), "', text)
    return names | {f'eddy_{owner}_map_{verb}' for owner in ('app', 'group') for verb in verbs}


def read_sources(root, *patterns):
    sources = {}
    for pattern in patterns:
        for path in glob.glob(os.path.join(root, pattern), recursive=True):
            with open(path) as file:
                sources[os.path.relpath(path, root)] = file.read()
    return sources


def check_pages(tap, root, sources):
    """What users read, beside the guide."""
    names = declared(root)
    sources = sources | read_sources(root, 'tests/e2e/servers/*.c')
    # A test of its own holds these against what a server says.
    with open(os.path.join(root, 'docs', 'metrics.md')) as file:
        names |= set(re.findall(r'^\| `(\w+)`', file.read(), re.M))
    docs = sorted(os.path.relpath(path, root) for kind in ('*', 'deploy/*', 'errors/*', 'man/*') for path in glob.glob(os.path.join(root, 'docs', f'{kind}.md')))
    pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'runtime/README.md', 'http/README.md', 'compress/README.md', 'trace/README.md', 'auth/README.md', 'examples/pg/README.md', *docs]
    pieces = 0
    for path in pages:
        with open(os.path.join(root, path)) as file:
            text = file.read()
        count, wrong = check_code(text, path, sources)
        pieces += count
        wrong += check_links(root, path, text)
        wrong += [f'{path}: no header declares {name}' for name in sorted(set(re.findall(r'`(eddy_\w+)(?=`|\((?!\d\)))', text)) - names)]
        tap.check(path, '\n'.join(wrong))
    tap.check('the other pages have code', '' if pieces else 'no block was found')


def check_first_program(tap, root, sources):
    """Who copies either has the same."""
    with open(os.path.join(root, 'README.md')) as file:
        programs = [block for _, block in blocks(file.read(), 'c') if 'int main(' in block]
    hello = re.sub(r'^/\*.*?\*/\n', '', sources['examples/hello.c'], flags=re.M | re.S)
    tap.check('the program of README.md is examples/hello.c', '' if programs == [hello] else f'README.md has\n{"".join(programs)}and not\n{hello}')


def check_headers(tap, root):
    """The README of a layer names each of its headers that is not private."""
    missing = []
    for layer in LAYERS:
        with open(os.path.join(root, layer, 'README.md')) as file:
            text = file.read()
        for path in sorted(glob.glob(os.path.join(root, layer, 'include', 'eddy', '*.h'))):
            name = f'eddy/{os.path.basename(path)}'
            with open(path) as file:
                private = file.readline().startswith(f'/* {name}: private')
            if not private and f'[{name}](include/{name})' not in text and f'<{name}>' not in text:
                missing.append(f'{layer}/README.md does not name {name}')
    tap.check('every header is in the README of its layer', '\n'.join(missing))


def check_targets(tap, root):
    """What users filter by."""
    sources = read_sources(root, *(f'{layer}/src/**/*.c' for layer in LAYERS))
    emitted = set(re.findall(r'"(eddy::\w+)"', ''.join(sources.values())))
    with open(os.path.join(root, 'docs', 'log.md')) as file:
        listed = set(re.findall(r'^\| `(eddy::\w+)` \|', file.read(), re.M))
    tap.check('targets of records', '' if emitted and emitted == listed else
              f'docs/log.md alone: {listed - emitted}, sources alone: {emitted - listed}')


def sections(root):
    """The sections of configuration files that the sources have: pairs of a name and its keys."""
    for path in sorted(glob.glob(os.path.join(root, '*', 'src', '**', '*.c'), recursive=True)):
        with open(path) as file:
            text = file.read()
        tables = {name: re.findall(r'^\t\{ "(\w+)", EDDY_CONFIG', body, re.M)
                  for name, body in re.findall(r'struct eddy_config_key (\w+)\[\] = \{\n(.*?)^\};', text, re.M | re.S)}
        for name, table in re.findall(r'\{\s*(?:\.name = )?"([\w.]+)",\s*(?:\.keys = )?(\w+)', text):
            if table in tables:
                yield name, tables[table]


def check_config(tap, root):
    with open(os.path.join(root, 'docs', 'config.md')) as file:
        pages = dict(re.findall(r'^## `\[([\w.]+)\]`\n(.*?)(?=^## |\Z)', file.read(), re.M | re.S))
    found = dict(sections(root))
    # Most of [server] is made by macros; a test of http compares it.
    del found['server']
    wrong = []
    for name, keys in found.items():
        rows = re.findall(r'^\| `(\w+)` \|', pages.get(name, ''), re.M)
        if rows != keys:
            wrong.append(f'[{name}] has {keys}\nthe page has {rows}')
    wrong += [f'no layer has [{name}]' for name in sorted(set(pages) - set(found) - {'server'})]
    tap.check('the keys of docs/config.md', '\n'.join(wrong))


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    sources = read_sources(root, 'examples/**/*.c', 'examples/**/*.sh')
    names = declared(root)

    pages = sorted(path for folder in ('guide', 'cookbook') for path in glob.glob(os.path.join(root, 'docs', folder, '*.md')))
    pieces = 0
    for page in pages:
        path = os.path.relpath(page, root)
        with open(page) as file:
            text = file.read()
        wrong = check_links(root, path, text)
        count, missing = check_code(text, path, sources)
        pieces += count
        wrong += missing + check_shell(text, path, sources)
        wrong += [f'{path}: no header declares {name}' for name in sorted(set(re.findall(r'`(eddy_\w+)(?=[`(])', text)) - names)]
        for line, block in blocks(text, 'console'):
            pieces += 1
            if not any('\n' + block in shown(source) for source in sources.values()):
                wrong.append(f'{path}:{line}: no example shows this at its head')
        tap.check(path, '\n'.join(wrong))
    tap.check('the guide has code', '' if pieces else 'no block was found in docs/guide/')
    check_cookbook(tap, root)
    check_decisions(tap, root)
    check_traps(tap, root)
    check_security(tap, root)

    check_pages(tap, root, sources)
    check_first_program(tap, root, sources)
    check_headers(tap, root)
    check_targets(tap, root)
    check_config(tap, root)
    with open(os.path.join(root, 'examples', 'README.md')) as file:
        text = file.read()
    wrong = check_links(root, 'examples/README.md', text)
    steps = sorted(path[len('examples/'):] for path in sources if path.startswith('examples/ladder/'))
    listed = re.findall(r'^\| \[\w+\]\((ladder/\S+)\)', text, re.M)
    if listed != steps:
        wrong.append(f'the table has {listed}\nthe folder has {steps}')
    tap.check('examples/README.md', '\n'.join(wrong))
    return tap.end()


sys.exit(main())
