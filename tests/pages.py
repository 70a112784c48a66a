"""Makes the site and the manual pages, and looks at what came out. Prints TAP.

    pages.py ROOT                   what can be seen without Sphinx: links, what is said of each function, options of commands
    pages.py ROOT KIND[=FOLDER]…    and html or man; what was made in that folder

- every function that a header declares is on one page of the site, under a name of its own, and in the table of its layer
- every function has a word said of it, and links of every Markdown file lead somewhere
- links and pictures of the site lead somewhere, and none is loaded from another host; scripts are the search's alone
- the map beside a page has the groups of docs/README.md, each with pages in it
- no page of the site is wider than a telephone, a tablet, or a window of 1280 px; there each picture can be read, and leads to itself
- there and in print nothing of code and tables is cut off; what is wider than the page is scrolled in its box, and in print broken
- a page of three headings or more lists them: beside the text where there is room, above it, closed, where there is none
- the site's search finds what people look for, first: the words of docs/make/keywords.toml, and those below
- `man` finds the page of each function, and mandoc warns of nothing in any page; what the pages speak of is there
- the options of the commands' pages are those that the programs tell of
"""
# needs: chromium mandoc python3-myst-parser python3-sphinx
import glob
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'docs', 'make'))
import headers  # noqa: E402
import pages as headers_page  # noqa: E402
import stage  # noqa: E402

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')


def declared(root):
    """What the headers declare for users, read in another way than that of docs/make/: pairs of a layer and a name."""
    for layer in LAYERS:
        for path in glob.glob(os.path.join(root, layer, 'include', 'eddy', '*.h')):
            with open(path) as file:
                text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)
            text = re.sub(r'^#define (?:.*\\\n)*.*$', '', text, flags=re.M)
            for name in re.findall(r'^(?:EDDY_\w*API|EDDY_PRINTF|static inline)\b[^;{]*?\b(eddy_\w+)\(', text, re.M):
                yield layer, name


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.places, self.links, self.loads, self.scripts = set(), [], [], []
        self.names = []
        self.sections, self.listed, self.inside = [], {}, None  # parts of the text; the links of each list of what is on the page
        with open(path) as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if 'id' in attrs:
            self.places.add(attrs['id'])
            if attrs['id'].startswith('c.') and 'sig' in attrs.get('class', ''):
                self.names.append(attrs['id'][2:])
        if tag == 'a' and 'href' in attrs:
            self.links.append(attrs['href'])
            if self.inside:
                self.listed[self.inside].append(attrs['href'])
        if tag == 'nav':
            self.inside = attrs['class'] if attrs.get('aria-label') == 'On this page' else None
            if self.inside:
                self.listed[self.inside] = []
        if tag == 'section':
            self.sections.append(f"#{attrs['id']}")
        self.loads += [attrs[key] for key in ('src', 'srcset', 'poster') if attrs.get(key)]
        if tag == 'link' and attrs.get('rel') in ('stylesheet', 'icon'):
            self.loads.append(attrs['href'])
        if tag == 'script':
            self.scripts.append(attrs.get('src', 'inline'))


def check_site(tap, root, out):
    pages = {os.path.relpath(path, out): Page(path) for path in glob.glob(os.path.join(out, '**', '*.html'), recursive=True)}
    wrong = []
    for name, page in pages.items():
        for link in page.links + page.loads:
            if re.match(r'[a-z]+:', link):
                if link in page.loads and not link.startswith('data:'):
                    wrong.append(f'{name} loads {link}')
                continue
            file, _, place = link.partition('#')
            file = os.path.normpath(os.path.join(os.path.dirname(name), file.split('?')[0])) if file else name
            if not os.path.exists(os.path.join(out, file)):
                wrong.append(f'{name}: {link} leads nowhere')
            elif place and file in pages and place not in pages[file].places:
                wrong.append(f'{name}: {link} leads to no place of that page')
        if page.scripts and name != 'search.html':
            wrong.append(f'{name} has scripts: {page.scripts}')
    tap.check('links of the site lead somewhere', '\n'.join(wrong))

    wrong = []
    for layer, name in declared(root):
        found = [page for page, it in pages.items() if name in it.names and page.startswith(f'{layer}/')]
        if len(found) != 1:
            wrong.append(f'{name} is on the pages {found}')
        elif f'{os.path.basename(found[0])}#c.{name}' not in pages[f'{layer}/functions.html'].links:
            wrong.append(f'{name} is not in the table of {layer}')
    tap.check('every function is on one page', '\n'.join(wrong))
    check_map(tap, root, out)
    check_here(tap, pages)
    check_browser(tap, root, out, sorted(pages))


def check_map(tap, root, out):
    with open(os.path.join(root, 'docs', 'README.md')) as file:
        wanted = re.findall(r'^## (.*)$', file.read(), re.M)
    with open(os.path.join(out, 'index.html')) as file:
        groups = re.findall(r'<h2>(.*?)</h2>(.*?)(?=<h2>|$)', file.read().partition('<nav id="map"')[2].partition('</nav>')[0], re.S)
    tap.check('the map has the groups of docs/README.md', '' if [name for name, inside in groups if '<a href' in inside] == wanted else
              f'{[name for name, _ in groups]}, not {wanted}')


def check_here(tap, pages):
    wrong = []
    for name, page in pages.items():
        if len(page.sections) < 3 and not page.listed:
            continue
        for kind in ('here above', 'here beside'):
            missing = set(page.sections[1:]) - set(page.listed.get(kind, ()))
            if missing or kind not in page.listed:
                wrong.append(f'{name}: the list "{kind}" lacks {sorted(missing)}')
    tap.check('pages list their headings', '\n'.join(wrong))


# In frames as wide as a telephone, a tablet and a window: pages that are wider, and the first thing in each that is not in a box of
# its own; code and tables that are cut off, as they are in print as well; pictures that nobody can read there; lists of what is on a
# page that are in the way. Then the first of what the search finds.
WIDTHS = {360: 'a telephone', 768: 'a tablet', 1280: 'a window of 1280 px'}
PAPER = 680
BESIDE = 1280
FRAMES = '''<!doctype html><pre id="said"></pre><script>
const isBoxed = (one) => one && (/auto|scroll/.test(getComputedStyle(one).overflowX) || isBoxed(one.parentElement));
const load = async (frame, page) => {
	frame.style.height = '700px';
	frame.src = page;
	await new Promise((done) => { frame.onload = done; document.body.append(frame); });
};
const text = (one) => one.textContent.trim().slice(0, 60);
const cutOff = (root) => [...root.querySelectorAll('main *')].find((one) =>
	/hidden|clip/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth
	|| one.matches('pre, table') && one.scrollWidth > one.clientWidth && !isBoxed(one));
const asPrinted = (sheet) => {
	for (const {media} of sheet.cssRules)
		if (media)
			media.mediaText = media.mediaText === 'print' ? 'all' : /screen/.test(media.mediaText) ? 'not all' : media.mediaText;
};
const here = (root, width) => {
	const [above, beside] = ['above', 'beside'].map((kind) => root.querySelector(`nav.${kind}`));
	const main = root.querySelector('main').getBoundingClientRect();
	if (!above)
		return '';
	if (width >= BESIDE)
		return beside.getBoundingClientRect().left >= main.right && !above.checkVisibility() ? '' : ': the list of headings is not beside the text';
	const details = above.querySelector('details');
	const link = above.querySelector('a');
	const closed = !link.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true}) && above.getBoundingClientRect().bottom <= main.top;
	details.open = true;
	const opened = link.getBoundingClientRect().height > 0;
	details.open = false;
	return closed && opened && !beside.checkVisibility() ? '' : ': the list of headings is not above the text, closed';
};
const look = async () => {
	const said = [];
	for (const page of PAGES) {
		const frame = document.createElement('iframe');
		await load(frame, page);
		const {documentElement: root} = frame.contentDocument;
		for (const width of WIDTHS) {
			const tell = (words) => said.push([width, `${page}${words}`]);
			frame.style.width = `${width}px`;
			if (frame.contentWindow.innerWidth !== width)
				tell(` is seen at ${frame.contentWindow.innerWidth} px`);
			if (root.scrollWidth > root.clientWidth) {
				const out = [...root.querySelectorAll('body *')].find(
					(one) => one.getBoundingClientRect().right > root.clientWidth + 1 && !isBoxed(one.parentElement));
				tell(` is ${root.scrollWidth} wide: ${out ? text(out) : '?'}`);
			}
			const cut = cutOff(root);
			if (cut)
				tell(` cuts off: ${text(cut)}`);
			const place = here(root, width);
			if (place)
				tell(place);
			for (const image of root.querySelectorAll('main img')) {
				if (image.clientWidth < 0.75 * image.naturalWidth)
					tell(`: ${image.src} is made too small to be read`);
				if (image.parentElement.href !== image.src)
					tell(`: ${image.src} does not lead to itself`);
			}
			tell('');
		}
		frame.style.width = `${PAPER}px`;
		[...frame.contentDocument.styleSheets].forEach(asPrinted);
		const cut = [...root.querySelectorAll('main pre, main .scroll')].find((one) => one.scrollWidth > one.clientWidth);
		if (cut || root.querySelector('header').checkVisibility())
			said.push([PAPER, `${page} in print cuts off: ${cut ? text(cut) : 'nothing, but has the head line'}`]);
		said.push([PAPER, page]);
		frame.remove();
	}
	const frame = document.createElement('iframe');
	await load(frame, 'search.html');
	for (const word of WORDS) {
		const {contentWindow: it, contentDocument: page} = frame;
		page.getElementById('search-results').replaceChildren();
		it.eval(`DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; Search.performSearch(${JSON.stringify(word)})`);
		const first = page.querySelector('#search-results a');
		said.push([word, first ? first.href.slice(location.href.lastIndexOf('/') + 1) : 'nothing']);
	}
	return said;
};
look().catch((error) => [['', error.stack]]).then((said) => { document.getElementById('said').textContent = JSON.stringify(said); });
</script>'''

# Where a search must lead first.
SEARCHED = {
    'database': 'docs/cookbook/beside', 'PostgreSQL': 'docs/cookbook/beside', 'middleware': 'docs/cookbook/services',
    'validation': 'docs/cookbook/services', 'OpenAPI': 'docs/cookbook/services', 'rate limit': 'docs/cookbook/services',
    'server-sent events': 'docs/cookbook/streams', 'graceful shutdown': 'docs/http', 'reverse proxy': 'docs/deploy/haproxy',
    'timeout': 'docs/guide/1-tasks', 'backpressure': 'docs/guide/3-between', 'upload': 'http/index', 'health check': 'http/health',
}


def searched(root):
    """Pairs of a word, and the page and the heading that it leads to."""
    yield from ((word, page, '') for word, page in SEARCHED.items())
    with tempfile.TemporaryDirectory() as folder:
        for page, places in stage.Stage(root, folder).keywords().items():
            yield from ((word, page, anchor) for anchor, words in places for word in words)


def check_browser(tap, root, out, pages):
    names = {width: f'no page is wider than {what}, nor cuts anything off' for width, what in WIDTHS.items()}
    names[PAPER] = 'no page cuts anything off in print'
    found = 'the search finds what people look for'
    chromium = shutil.which('chromium')
    if not chromium:
        for name in (*names.values(), found):
            tap.skip(name, 'needs chromium')
        return
    path = os.path.join(out, 'frames.htm')
    wanted = list(searched(root))
    values = {'PAGES': pages, 'WIDTHS': list(WIDTHS), 'PAPER': PAPER, 'BESIDE': BESIDE, 'WORDS': [word for word, _, _ in wanted]}
    with open(path, 'w') as file:
        file.write(re.sub(r'\b(?:' + '|'.join(values) + r')\b', lambda match: json.dumps(values[match[0]]), FRAMES))
    done = subprocess.run([chromium, '--headless=new', '--no-sandbox', '--disable-gpu', '--allow-file-access-from-files',
                           '--virtual-time-budget=600000', '--dump-dom', f'file://{path}'], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.remove(path)
    said = re.search(r'<pre id="said">(.+?)</pre>', done.stdout, re.S)
    said = json.loads(html.unescape(said[1])) if said else []
    for width, name in names.items():
        lines = [line for at, line in said if at == width]
        wrong = [line for line in lines if line not in pages]
        tap.check(name, '\n'.join(wrong) if len(lines) - len(wrong) == len(pages) else f'not all pages were seen: {said[-1:]}')
    first = dict(said)
    wrong = []
    for word, page, anchor in wanted:
        led, _, place = first.get(word, 'nothing').partition('#')
        if led != f'{page}.html' or anchor and place.replace('_', '-') != anchor.replace('_', '-'):
            wrong.append(f'{word} leads to {led}#{place}, not to {page}.html#{anchor}')
    tap.check(found, '\n'.join(wrong))


# What the reader of headers must take: lists of either indentation, titles with a text, unions, what is for C++ alone.
HEADER = """/* eddy/made_up.h: a header of the test.
 *
 * - one item
 *   of two lines
 * - another
 *    - one that stands deeper,
 *      of two lines
 *
 *     code();
 */
#ifndef EDDY_MADE_UP_H
#define EDDY_MADE_UP_H

/* Not for anybody. */
#pragma GCC system_header

/* ---- apples ----
 * Text of the apples.
 */

/* Peel an apple:
 *    1. wash it,
 *       with water
 * and cut it. */
EDDY_API int eddy_apple_peel(union eddy_fruit fruit);

/* ---- pears ---- */

/* A fruit. */
union eddy_fruit {
	struct eddy_apple *apple; /* red */
	/* ---- others: green ---- */

	struct eddy_pear *pear;
#ifdef __cplusplus
	eddy_fruit(struct eddy_pear *p) : pear(p)
	{
	}
};
#else
} __attribute__((transparent_union));
#endif

#endif
"""


def check_reading(tap):
    with tempfile.TemporaryDirectory() as folder:
        include = os.path.join(folder, 'http', 'include', 'eddy')
        os.makedirs(os.path.join(include, 'internal'))
        for name, text in (('made_up.h', HEADER), ('internal/none.h', 'What is internal is no page.')):
            with open(os.path.join(include, name), 'w') as file:
                file.write(text)
        header, = headers.read_all(folder)
    made = headers_page.header_page(header, 'eddy-http', lambda name: False)
    wanted = ('- one item of two lines\n\n- another\n\n- one that stands deeper, of two lines\n\n.. code-block:: c\n\n   code();\n',
              'Apples\n------\n\n\nText of the apples.\n\n.. c:function:: int eddy_apple_peel(union eddy_fruit fruit)\n',
              '   Peel an apple\\:\n\n   1. wash it, with water\n\n   and cut it.\n',
              'Pears\n-----\n\n\n.. c:union:: eddy_fruit\n\n   A fruit.\n\n   .. c:member:: struct eddy_apple *apple\n\n      red\n',
              '   .. rst-class:: members\n\n   Others\\: green\n\n   .. c:member:: struct eddy_pear *pear\n')
    tap.check('a header is read as it is meant', '\n'.join([f'{part!r} is not in what is made of it' for part in wanted if part not in made]
                                                          + [made] * any(word in made for word in ('cplusplus', 'Not for', '{'))))


def check_sources(tap, root):
    """What takes no Sphinx to be seen."""
    with tempfile.TemporaryDirectory() as folder:
        work = stage.Stage(root, folder)
        work.html()
    tap.check('links of every Markdown file lead somewhere', '\n'.join(work.wrong))
    bare = [f'{header.title}:{group.line}: nothing is said of {one.name}' for header in work.headers for group in header.groups
            for one in group.declarations if one.kind in ('function', 'inline', 'macro', 'type') and not group.doc]
    tap.check('every function has a word said of it', '\n'.join(bare))


def lint(out, pages):
    done = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning', *pages], cwd=out, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout


def check_manual(tap, root, out):
    pages = sorted(os.path.relpath(path, out) for path in glob.glob(os.path.join(out, 'man[1-9]', '*')))
    whole, wrong, spoken = [], [], {}
    for page in pages:
        with open(os.path.join(out, page)) as file:
            text = file.read()
        if match := re.fullmatch(r'\.so (\S+)\n', text):
            if not os.path.exists(os.path.join(out, match[1])):
                wrong.append(f'{page} leads to {match[1]}, which is not there')
            continue
        whole.append(page)
        text = re.sub(r'\\f[A-Z]|\\', '', text)
        for name, section in re.findall(r'\b(eddy[\w.-]*)\((\d)\)', text):
            spoken.setdefault(f'man{section}/{name}.{section}', page)
    wrong += [f'{layer}: man finds nothing for {name}' for layer, name in declared(root) if f'man3/{name}.3' not in pages]
    wrong += [f'{where} speaks of {page}' for page, where in spoken.items() if page not in pages]
    tap.check('man finds every function', '\n'.join(wrong))
    tap.check('mandoc warns of nothing', lint(out, whole))


def check_options(tap, root):
    for name, source in (('eddy-bench', 'bench/eddy-bench/main.c'), ('eddy-serve', 'examples/files_settings.c'),
                         ('eddy-get', 'http/src/command/get.c'), ('eddy-put', 'http/src/command/put.c')):
        with open(os.path.join(root, 'docs', 'man', f'{name}.1.md')) as file:
            told = set(re.findall(r'`(--[\w-]+)', file.read()))
        with open(os.path.join(root, source)) as file:
            said = set(re.findall(r'(?<![\w-])(--[a-z][\w-]+)', ' '.join(re.findall(r'"((?:\\.|[^"\\])*)"', file.read()))))
        tap.check(f'the options of {name}(1)', '' if told == said else
                  f'the page alone has {sorted(told - said)}, the program {sorted(said - told)}')


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_options(tap, root)
    check_reading(tap)
    check_sources(tap, root)
    for tool in ('sphinx-build', 'mandoc'):
        if sys.argv[2:] and not shutil.which(tool):
            tap.skip('pages', f'needs {tool}')
            return tap.end()
    with tempfile.TemporaryDirectory() as folder:
        for kind in sys.argv[2:]:
            kind, _, out = kind.partition('=')
            if not out:
                out = os.path.join(folder, kind)
                done = subprocess.run([sys.executable, os.path.join(root, 'docs', 'make', 'build.py'), kind, root, out], text=True,
                                      check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                tap.check(f'{kind} is made without a warning', done.stdout)
                if done.returncode:
                    continue
            {'html': check_site, 'man': check_manual}[kind](tap, root, out)
    return tap.end()


sys.exit(main())
