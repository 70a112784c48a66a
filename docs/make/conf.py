"""Sphinx's configuration: the site, and the manual pages. build.py lays out what it is given."""
import json
import logging
import os
import re
import sys

from docutils import nodes
from sphinx.addnodes import desc, desc_signature, index
from sphinx.transforms import SphinxTransform
from sphinx.util.images import get_image_size
from sphinx.util.nodes import make_refnode
from sphinx.writers.html5 import HTML5Translator
from sphinx.writers.manpage import ManualPageTranslator

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from stage import slug  # noqa: E402

project = 'eddy'
copyright = ''
extensions = ['myst_parser']
root_doc = 'index'
source_suffix = {'.rst': 'restructuredtext', '.md': 'markdown'}
highlight_language = 'none'
primary_domain = 'c'
smartquotes = False
today_fmt = '%Y-%m-%d'
# Pieces of code leave something out, which no lexer knows.
suppress_warnings = ['misc.highlighting_failure', 'myst.header']
toc_object_entries_show_parents = 'hide'

myst_heading_anchors = 4
myst_ref_domains = ['std']
myst_enable_extensions = ['html_image', 'deflist']

html_theme = 'theme'
html_theme_path = [HERE]
html_title = 'eddy'
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
html_permalinks_icon = '#'

man_make_section_directory = True


# A structure and a function may have one name: in C they are no duplicates, and of others a test knows. Newer releases warn from a
# module of their own.
for module in ('c', 'c._symbol'):
    logging.getLogger(f'sphinx.sphinx.domains.{module}').addFilter(
        lambda record: not str(record.msg).startswith('Duplicate C declaration'))


def read(app, name, otherwise):
    path = os.path.join(app.srcdir, name)
    if not os.path.exists(path):
        return otherwise
    with open(path) as file:
        return json.load(file)


def configure(app, config):
    config.man_pages = read(app, 'man.json', [])
    extra = os.path.join(os.path.dirname(app.srcdir), 'extra')
    if os.path.isdir(extra):
        config.html_extra_path = [extra]


class Keywords(SphinxTransform):
    """Entries of an index, which the search finds: docs/make/keywords.toml."""
    default_priority = 800  # before Sphinx gathers them

    def apply(self, **kwargs):
        for anchor, words in self.app.eddy_keywords.get(self.env.docname, ()):
            for section in self.document.findall(nodes.section):
                title = section[section.first_child_matching_class(nodes.title)].astext()
                if not anchor or slug(title) == anchor:
                    place = section['ids'][0] if anchor else ''
                    section.insert(1, index('', entries=[('single', word, place, 'main', None) for word in words]))
                    break


def read_again(app, env, added, changed, removed):
    """The pages whose keywords are others than before."""
    before, now = getattr(env, 'eddy_keywords', {}), app.eddy_keywords
    env.eddy_keywords = now
    again = [page for page in {*before, *now} if before.get(page) != now.get(page) and page in env.found_docs]
    app.eddy_changed = bool(added or changed or removed or again)
    return again


def link_names(app, doctree, docname):
    """Names in the text lead to where they are described."""
    if app.builder.name != 'html':
        return
    names = app.eddy_names
    for node in list(doctree.findall(nodes.literal)):
        text = node.astext()
        call = re.match(r'eddy_\w+(?=\()', text)
        page, anchor = names.get(text) or names.get(f'{call[0]}()' if call else '') or (None, None)
        inside = node.parent
        while inside and not isinstance(inside, (nodes.reference, nodes.title, desc_signature)):
            inside = inside.parent
        if page is None or inside or page == docname and not anchor:
            continue
        node.replace_self(make_refnode(app.builder, docname, page, anchor, node.deepcopy()))


def add_map(app, pagename, templatename, context, doctree):
    """The map beside a page: all that the index leads to, in groups, and what lies below the part that the page is of; and the
    list of what is on the page. Sphinx's own way takes the page's tree apart once more for each page."""
    below = app.env.toctree_includes

    def item(name, children=()):
        return {'title': app.env.titles[name].astext(), 'uri': app.builder.get_relative_uri(pagename, name),
                'is_current': name == pagename, 'children': [item(child) for child in children]}

    context['map'] = [(caption, [item(part, below.get(part, ()) if pagename == part or pagename in below.get(part, ()) else ())
                                 for part in parts]) for caption, parts in app.eddy_map]
    functions = {anchor: name for name, (page, anchor) in app.eddy_names.items() if page == pagename and name.endswith('()')}
    here = [item for section in doctree or () if isinstance(section, nodes.section) for item in inside(section, functions)]
    # The title and two headings: fewer need no list.
    context['here'] = here if len(here) + sum(len(item['children']) for item in here) >= 2 else []


def inside(section, functions):
    """The headings below that of a section, and the functions that stand under each."""
    for node in section:
        if isinstance(node, nodes.section):
            yield {'title': node[node.first_child_matching_class(nodes.title)].astext(), 'anchor': node['ids'][0],
                   'children': list(inside(node, functions))}
        elif isinstance(node, desc):
            yield from ({'title': functions[anchor], 'anchor': anchor, 'children': []} for signature in node
                        if isinstance(signature, desc_signature) for anchor in signature['ids'] if anchor in functions)


def write_all(app, env):
    """The map is on every page: where it has changed, all are written. And where a page has: Sphinx forgets the index entries of
    those that it does not write, and the search does not find them any more."""
    before = getattr(env, 'eddy_map', None)
    env.eddy_map = (app.eddy_map, env.toctree_includes, {name: title.astext() for name, title in env.titles.items()})
    return list(env.found_docs) if app.eddy_changed or env.eddy_map != before else []


# Wider than this a picture is not made as narrow as a telephone: its text could not be read.
WIDE_PICTURE = 600


class SiteTranslator(HTML5Translator):
    """As Sphinx has it, but each picture leads to itself in full size, and tables are scrolled in boxes of their own."""

    def visit_table(self, node):
        self.body.append('<div class="scroll">')
        super().visit_table(node)

    def depart_table(self, node):
        super().depart_table(node)
        self.body.append('</div>')

    def visit_image(self, node):
        size = get_image_size(os.path.join(self.builder.srcdir, node['uri']))
        before = len(self.body)
        super().visit_image(node)
        wide = ' wide' if size and size[0] > WIDE_PICTURE else ''
        self.body.insert(before, f'<a class="picture{wide}" href="{self.attval(node["uri"])}">')
        self.body.append('</a>')


class ManTranslator(ManualPageTranslator):
    """As Sphinx has it, but for declarations and pieces of code, and for lines that are left empty twice."""

    # No list of terms: what is said of a long declaration would begin behind its last line.
    def visit_desc(self, node):
        pass

    def depart_desc(self, node):
        pass

    def visit_desc_signature(self, node):
        self.ensure_eol()
        self.body.append('.br\n' if node.parent.index(node) else '.sp\n')
        if node.parent['objtype'] == 'enumerator':
            del node[0][:2]
        self.before = len(self.body)

    def depart_desc_signature(self, node):
        text = ''.join(self.body[self.before:])
        self.body[self.before:] = [r'\fB' + re.sub(' +', ' ', text) + '\\fP\n']

    def visit_desc_content(self, node):
        self.body.append('.RS 7\n')

    def depart_desc_content(self, node):
        self.ensure_eol()
        self.body.append('.RE\n')

    def visit_literal_block(self, node):
        self.body.append('.sp\n.RS 4\n.nf\n')

    def depart_literal_block(self, node):
        self.body.append('\n.fi\n.RE\n')

    def astext(self):
        text = re.sub(r'^\.RS 7\n(?:\.sp\n)?\.RE\n', '', super().astext(), flags=re.M)
        return re.sub(r'^(\.(?:SH|RS) [^\n]*\n(?:\.INDENT [\d.]+\n)*)(?:\n*\.sp\n)+', r'\1', text, flags=re.M)


def setup(app):
    app.connect('config-inited', configure, priority=1)
    app.connect('builder-inited', lambda app: setattr(app, 'eddy_names', read(app, 'names.json', {})))
    app.connect('builder-inited', lambda app: setattr(app, 'eddy_map', read(app, 'map.json', [])))
    app.connect('builder-inited', lambda app: setattr(app, 'eddy_keywords', read(app, 'keywords.json', {})))
    app.connect('env-get-outdated', read_again)
    app.connect('env-updated', write_all)
    app.add_transform(Keywords)
    app.connect('doctree-resolved', link_names)
    app.connect('html-page-context', add_map)
    app.set_translator('man', ManTranslator)
    app.set_translator('html', SiteTranslator)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
