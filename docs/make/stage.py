"""Lays out what the site and the manual pages are made of: one tree of sources for Sphinx.

Markdown stays where it stands in the tree, a README.md as the index of its folder; a header becomes LAYER/NAME. Links are
written for the tree, where they lead to files and folders: each is turned to the page of what it leads to, and a file that is
no page becomes one that shows it.
"""
import glob
import json
import os
import re
import shutil
import textwrap
import tomllib

import headers
import pages

SKIPPED = ('build', 'node_modules', 'subprojects')
FENCE = re.compile(r'^(```.*?^```)$', re.M | re.S)
# Not in `code`: a link's text may have some.
LINK = re.compile(r'(`[^`]*`(?!\]))|(!?\[(?:[^]\[`]|`[^`]*`)*\])\(([^)\s#]*)(#[^)\s]*)?\)')
LANGUAGES = {'.c': 'c', '.h': 'c', '.py': 'python', '.build': 'meson', '.toml': 'toml', '.json': 'json', '.sh': 'sh'}


class Broken(Exception):
    pass


def markdown(root):
    """Every page that is written by hand, by its path in the tree."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(('.', 'build', 'obj-')) and f not in SKIPPED)
        for name in sorted(files):
            if name.endswith('.md'):
                yield os.path.relpath(os.path.join(folder, name), root)


def page_of(path):
    """What the page of a Markdown file is called."""
    folder, name = os.path.split(path)
    return os.path.join(folder, 'index' if name == 'README.md' else name[:-len('.md')])


def options(match):
    """Of a list the items that say what a word is, if all do: as a list of definitions, which no forge would show."""
    items = re.findall(r'^- (.*(?:\n  .*)*)\n', match[0], re.M)
    parts = [re.fullmatch(r'((?:`[^`\n]+`(?:, )?)+|\*\*[^*\n]+\*\*): (.*)', item, re.S) for item in items]
    return '\n'.join(f'{part[1]}\n: {part[2]}\n' for part in parts) if all(parts) else match[0]


def slug(title):
    """What a heading is called in links."""
    return re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-')


class Stage:
    def __init__(self, root, out):
        self.root, self.out, self.extra = root, os.path.join(out, 'source'), os.path.join(out, 'extra')
        self.headers = headers.read_all(root)
        self.suspends = headers.suspending(self.headers).__contains__
        self.libraries = pages.libraries(root)
        self.pages = {path: page_of(path) for path in markdown(root)}
        self.shown = {}  # files and folders that are no pages, and are linked to
        self.wrong = []
        self.written = set()

    def library(self, header):
        return self.libraries.get(header.name, f'eddy-{header.layer}')

    def write(self, name, text):
        """What has not changed stays as it is: then it is not built again."""
        path = os.path.join(self.out, name)
        self.written.add(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            with open(path) as file:
                if file.read() == text:
                    return
        with open(path, 'w') as file:
            file.write(text)

    def tidy(self):
        """Removes what an earlier layout has left."""
        for folder, _, files in os.walk(self.out):
            for name in files:
                if os.path.join(folder, name) not in self.written:
                    os.remove(os.path.join(folder, name))

    # --- Markdown

    def target(self, path):
        """The page of a file or folder of the tree, without its ending."""
        if path in self.pages:
            return self.pages[path]
        if match := re.fullmatch(r'(\w+)/include/eddy/(\w+)\.h', path):
            return f'{match[1]}/{match[2]}'
        if f'{path}/README.md' in self.pages:
            return self.pages[f'{path}/README.md']
        if f'{path}.md' in self.pages:
            return self.pages[f'{path}.md']
        if any(page.startswith(f'{path}/') for page in self.pages):
            return f'{path}/index'
        self.shown[path] = f'source/{path}'
        return self.shown[path]

    def turn(self, match, path):
        code, text, target, anchor = match.groups()
        if code or '://' in target or target.startswith('mailto:'):
            return match[0]
        if not target:
            return f'{text}({os.path.basename(self.pages[path])}.md{anchor})' if anchor else match[0]
        folder = os.path.dirname(path)
        file = os.path.normpath(os.path.join(folder, target))
        if not os.path.exists(os.path.join(self.root, file)):
            self.wrong.append(f'{path}: {target} leads nowhere')
            return match[0]
        if text.startswith('!'):
            self.copy(file)
            return match[0]
        page = self.target(os.path.relpath(os.path.realpath(os.path.join(self.root, file)), os.path.realpath(self.root)))
        # Of the page, not of a folder with its name.
        page = os.path.relpath(page + '.md', folder or '.')
        return f'{text}({page}{anchor})' if anchor else f'{text}({page.removesuffix(".md")})'

    def copy(self, file):
        """A picture, for Sphinx and for what has the address in HTML."""
        for folder in (self.out, self.extra):
            path = os.path.join(folder, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # With its time: a page is made again where a picture is newer.
            shutil.copy2(os.path.join(self.root, file), path)
            self.written.add(path)

    def page(self, path):
        with open(os.path.join(self.root, path)) as file:
            text = file.read()
        parts = FENCE.split(text)
        for at in range(0, len(parts), 2):
            for picture in re.findall(r'\b(?:src|srcset)="([^":]+)"', parts[at]):
                self.copy(os.path.normpath(os.path.join(os.path.dirname(path), picture)))
            parts[at] = LINK.sub(lambda match: self.turn(match, path), parts[at])
        # Pieces of code stand as deep as in their program: they begin at the margin here.
        for at in range(1, len(parts), 2):
            first, body = parts[at].split('\n', 1)
            parts[at] = first + '\n' + textwrap.dedent(body.removesuffix('```')) + '```'
        return ''.join(parts)

    # --- the map

    def listed(self, path):
        """The pages that the lists of a Markdown file lead to, in order."""
        with open(os.path.join(self.root, path)) as file:
            return self.led_to(path, file.read())

    def led_to(self, path, text):
        lists = re.findall(r'^(?:-|\d+\.) .*(?:\n  .*)*', text, re.M)
        found = []
        for match in LINK.finditer('\n'.join(lists)):
            if match[3] and '://' not in match[3]:
                file = os.path.normpath(os.path.join(os.path.dirname(path), match[3]))
                if os.path.exists(os.path.join(self.root, file)):
                    found.append(self.target(file))
        return list(dict.fromkeys(found))

    def groups(self):
        """The map's groups: the sections of docs/README.md, each with the pages that its list leads to."""
        path = 'docs/README.md'
        with open(os.path.join(self.root, path)) as file:
            sections = re.split(r'^## (.*)\n', file.read(), flags=re.M)
        groups = [(caption, [page for page in self.led_to(path, text) if page != 'index' and not page.startswith('source/')])
                  for caption, text in zip(sections[1::2], sections[2::2])]
        listed = {page for _, pages in groups for page in pages}

        def stands_alone(page):
            """What is linked to beside its folder stands below that."""
            folder = os.path.dirname(page)
            return folder not in listed and (page.endswith('/index') or f'{folder}/index' not in listed)

        return [(caption, list(filter(stands_alone, pages))) for caption, pages in groups]

    @staticmethod
    def toctree(folder, names):
        names = '\n'.join(os.path.relpath(name, folder or '.') for name in names)
        return f'\n\n```{{toctree}}\n:hidden:\n:maxdepth: 2\n\n{names}\n```\n'

    def children(self, path, top):
        """What stands below a folder's page in the map: all of its pages; of a layer its headers."""
        folder = os.path.dirname(path)
        if path == 'README.md':
            return top
        if folder in headers.LAYERS:
            return [f'{folder}/functions', *(f'{h.layer}/{h.name}' for h in self.headers if h.layer == folder)]
        if folder == 'docs':
            return []
        own = [page for page in self.listed(path) if os.path.dirname(page) == folder and page not in top]
        rest = [page for file, page in self.pages.items() if os.path.dirname(page) == folder and file != path]
        return list(dict.fromkeys(own + [page for page in rest if page not in top]))

    def indexes(self):
        """Pages for folders of pages that have none of their own."""
        folders = {os.path.dirname(path) for path in self.pages}
        for folder in sorted(f for f in folders if f and not {f'{f}/README.md', f'{f}.md'} & set(self.pages)):
            inside = sorted(path for path in self.pages if os.path.dirname(path) == folder)
            rows = []
            for path in inside:
                with open(os.path.join(self.root, path)) as file:
                    title = file.readline().lstrip('# ').strip()
                rows.append(f'- [{title}]({os.path.basename(self.pages[path])})')
            name = os.path.basename(folder).capitalize()
            yield folder, f'# {name}\n\n' + '\n'.join(rows) + self.toctree(folder, [self.pages[path] for path in inside])

    # --- all of it

    def html(self):
        groups = self.groups()
        top = [page for _, pages in groups for page in pages]
        indexes = dict(self.indexes())
        placed = {'index', *top}
        made = {}
        for path in self.pages:
            made[path] = self.page(path)
            if os.path.basename(path) == 'README.md':
                below = self.children(path, ['docs/index', *top])
                placed.update(below)
                if below:
                    made[path] += self.toctree(os.path.dirname(path), below)
            elif below := [page for page in self.pages.values() if os.path.dirname(page) == path[:-len('.md')]]:
                # A page with a folder of its name.
                made[path] += self.toctree(os.path.dirname(path), below)
                placed.update(below)
            elif os.path.dirname(path) in indexes:
                placed.add(self.pages[path])
        for path, text in made.items():
            lost = '' if self.pages[path] in placed else '---\norphan: true\n---\n\n'
            self.write(self.pages[path] + '.md', lost + text)
        for folder, text in indexes.items():
            self.write(f'{folder}/index.md', ('' if f'{folder}/index' in placed else '---\norphan: true\n---\n\n') + text)
        for header in self.headers:
            self.write(f'{header.layer}/{header.name}.rst', pages.header_page(header, self.library(header), self.suspends))
        for layer in headers.LAYERS:
            own = [h for h in self.headers if h.layer == layer]
            self.write(f'{layer}/functions.rst', pages.table_html(layer, own, self.suspends))
        for path, page in self.shown.items():
            self.write(page + '.rst', self.source(path))
        self.write('map.json', json.dumps([['', ['docs/index']], *groups]))
        self.write('names.json', json.dumps(dict(self.names()), indent=0))
        self.write('keywords.json', json.dumps(self.keywords(), indent=0))
        os.makedirs(self.extra, exist_ok=True)
        self.tidy()

    def keywords(self):
        """What the search finds beside the words of a page: of each page a list of a heading's place and its words."""
        path = 'docs/make/keywords.toml'
        with open(os.path.join(self.root, path), 'rb') as file:
            places = tomllib.load(file)
        made, taken = {}, {}
        for place, words in places.items():
            file, _, anchor = place.partition('#')
            whole = os.path.join(self.root, file)
            text = ''
            if os.path.exists(whole):
                with open(whole) as opened:
                    text = ''.join(FENCE.split(opened.read())[::2])
            if not text or anchor and anchor not in map(slug, re.findall(r'^#+ (.*)$', text, re.M)):
                self.wrong.append(f'{path}: {place} leads nowhere')
                continue
            self.wrong += [f'{path}: {word} leads to {taken[word.lower()]} and to {place}' for word in words if word.lower() in taken]
            taken.update((word.lower(), place) for word in words)
            made.setdefault(self.target(file), []).append((anchor, words))
        return made

    def names(self):
        """Where what pages speak of is described: its page, and its place there."""
        yield 'eddy_errors(7)', ('docs/errors', '')
        for layer in headers.LAYERS:
            yield f'eddy_{layer}(7)', (f'{layer}/functions', '')
        for path, page in self.pages.items():
            if match := re.fullmatch(r'docs/man/([\w-]+)\.(\d)\.md', path):
                yield f'{match[1]}({match[2]})', (page, '')
        for header in self.headers:
            page = f'{header.layer}/{header.name}'
            yield header.title, (page, '')
            yield f'{self.manual(header)}(3)', (page, '')
            for one in header.declarations():
                place = (page, f'c.{one.name}')
                if one.kind in pages.CALLED:
                    yield f'{one.name}()', place
                    yield one.name, place
                elif one.kind in ('struct', 'union', 'enum'):
                    yield f'{one.kind} {one.name}', place
                else:
                    yield one.name, place
                for value in one.members if one.kind == 'enum' else ():
                    yield value.name, (page, f'c.{one.name}.{value.name}')

    def source(self, path):
        """A page that shows a file, or what is in a folder."""
        whole = os.path.join(self.root, path)
        title = ':orphan:\n\n' + pages.heading(pages.escape(path), '=')
        if os.path.isdir(whole):
            return title + '\n::\n\n' + pages.indent('\n'.join(sorted(os.listdir(whole)))) + '\n'
        with open(whole, errors='replace') as file:
            text = file.read()
        language = LANGUAGES.get(os.path.splitext(path)[1], 'sh' if text.startswith('#!') else 'none')
        return title + f'\n.. code-block:: {language}\n\n' + pages.indent(text.expandtabs(8)) + '\n'

    # --- manual pages

    def manual(self, header):
        """The name of a header's page, which must be that of no function of another one."""
        name = f'eddy_{header.name}'
        taken = any(one.name == name for other in self.headers if other is not header for one in other.declarations())
        return f'{name}.h' if taken else name

    def man(self):
        made = []
        names = {header.title: self.manual(header) for header in self.headers}
        for header in self.headers:
            name = names[header.title]
            self.write(f'{name}.rst', ':orphan:\n\n' + pages.header_page(header, self.library(header), self.suspends, names))
            made.append((name, name, pages.sentence(header.summary).rstrip('.'), '', 3))
        for layer in headers.LAYERS:
            own = [h for h in self.headers if h.layer == layer]
            with open(os.path.join(self.root, layer, 'README.md')) as file:
                intro = re.match(r'# [^\n]*\n\n(.*?)\n\n', file.read(), re.S)[1]
            name = f'eddy_{layer}'
            intro = pages.prose(re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', intro))
            self.write(f'{name}.7.rst', ':orphan:\n\n' + pages.table_man(layer, own, self.suspends, names, intro))
            made.append((f'{name}.7', name, f'the layer {layer} of eddy', '', 7))
        for path in self.pages:
            if match := re.fullmatch(r'docs/man/([\w-]+)\.(\d)\.md', path):
                text = self.page(path)
                title = re.match(rf'# {match[1]}\({match[2]}\): (.*)\n', text)
                if not title:
                    raise Broken(f'{path} does not begin with "# {match[1]}({match[2]}): " and what it is')
                text = re.sub(r'(?<!!)\[([^]]*)\]\([^)]*\)', r'\1', text)
                text = text.expandtabs(8)
                text = re.sub(r'^- .*\n(?:(?:- |  ).*\n)*', options, text, flags=re.M)
                self.write(f'{match[1]}.{match[2]}.md', '---\norphan: true\n---\n\n' + text)
                made.append((f'{match[1]}.{match[2]}', match[1], title[1], '', int(match[2])))
        self.write('eddy_errors.7.md', '---\norphan: true\n---\n\n' + self.errors())
        made.append(('eddy_errors.7', 'eddy_errors', 'what calls return when they fail, and what to do', '', 7))
        self.write('index.rst', ':orphan:\n\n' + pages.heading('eddy', '='))
        self.write('man.json', json.dumps(made))
        self.tidy()

    def errors(self):
        """The codes of docs/errors.md: its table would not fit a terminal."""
        text = re.sub(r'(?<!!)\[([^]]*)\]\(([^)#]*)[^)]*\)', lambda link: f'{link[1]} (docs/{link[2]})' if link[2] else link[1], self.page('docs/errors.md'))
        table = re.search(r'^## Codes\n\n((?:.+\n)+)(?:.*\n)*?\| Code \|.*\n.*\n((?:\|.*\n)+)', text, re.M)
        if not table:
            raise Broken('docs/errors.md has no table of codes below "## Codes"')
        intro, rows = table.groups()
        made = ['# eddy_errors(7)', '## Description', intro.split(' The last column')[0], '## Codes']
        for row in rows.splitlines():
            code, says, remedy, status = (cell.strip() for cell in row.strip('|').split('|'))
            remedy = f' *What to do*: {remedy}.' if remedy else ''
            made.append(f'{code}\n: {says[:1].upper()}{says[1:]}.{remedy} Returned by a handler: {status}.')
        made += ['## See also', '`eddy(7)`, `eddy_cancel(7)`, `errno(3)`, `strerror(3)`']
        return '\n\n'.join(made) + '\n'

    def sources(self):
        """The files that manual pages are made of, and those that make them."""
        here = os.path.dirname(os.path.abspath(__file__))
        return [*glob.glob(os.path.join(self.root, '*', 'include', 'eddy', '*.h')), *glob.glob(os.path.join(here, '*.py')),
                os.path.join(self.root, 'docs', 'errors.md'), *glob.glob(os.path.join(self.root, 'docs', 'man', '*.md')), *glob.glob(os.path.join(self.root, '*', 'README.md'))]

    def aliases(self):
        """By what else the pages of section 3 are found: a page for each name; what is called goes before a structure."""
        made = {}
        for header in self.headers:
            name = self.manual(header)
            for one in header.declarations():
                if one.name.startswith('eddy_') and one.name != name and (one.kind in pages.CALLED or one.name not in made):
                    made[one.name] = name
        return made
