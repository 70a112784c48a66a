"""Reads public headers, which are the manual: what they declare, and what their comments say of it.

A header is a comment that says what it is for, and groups: declarations without an empty line between them, below one comment
that is about all of them. What is called eddyi_… or EDDYI_…, and what its comment calls private, is nobody's business and left
out. The headers are as clang-format leaves them; what is not understood is an error.
"""
import dataclasses
import glob
import os
import re

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')
# Words of the compiler: nothing to be called.
ATTRIBUTE = r'\b(?:EDDY_(?:\w+_)?API|EDDY_PRINTF\(\d+, \d+\)|static inline|extern|__attribute__\(\(.*?\)\)(?=;|$))\s*'
# The place of a call, which calls leave out: see eddy/base.h.
WHERE = re.compile(r', const char \*where(?=\)$)')
# Fills that in.
FILLS_IN = re.compile(r'#define eddy_(\w+)\(\.\.\.\)[\s\\]+eddyi?_\1\(__VA_ARGS__, EDDY_HERE\)$')
UNLISTED = re.compile(r'EDDYI_|eddyi_|EDDY_(?:\w+_)?API$|EDDY_(?:BEGIN|END)_DECLS$|\w+_H$')
# Where a sentence begins so, the calling task is suspended: the rule that eddy/base.h tells.
SUSPENDS = re.compile(r'(?:^|[.:;)]\s+)(?:Suspends?|May suspend)\b')
# The heading of a group: "---- title ----".
TITLE = re.compile(r'-{3,} (.*?)(?: -{3,})?(?:\n|$)')


class Unclear(Exception):
    pass


@dataclasses.dataclass
class Member:
    """A field of a structure, or a value of an enum; `text` is its C. Without a name: a heading above fields, which is `doc`."""
    name: str
    text: str
    doc: str
    members: list = dataclasses.field(default_factory=list)  # of a structure inside


@dataclasses.dataclass
class Declaration:
    kind: str  # function, inline, macro, constant, struct, union, enum, type, variable
    name: str
    text: str  # one line of C, without attributes and body
    members: list = dataclasses.field(default_factory=list)
    body: str = ''  # of macros and inline functions


@dataclasses.dataclass
class Group:
    section: str  # the heading that it stands under
    about: str  # the text of that heading
    doc: str
    declarations: list
    line: int

    @property
    def suspends(self):
        return bool(SUSPENDS.search(' '.join(self.doc.split())))


@dataclasses.dataclass
class Header:
    layer: str
    name: str  # "io", of eddy/io.h
    summary: str
    doc: str
    includes: list
    groups: list

    @property
    def title(self):
        return f'eddy/{self.name}.h'

    def declarations(self, *kinds):
        return [d for group in self.groups for d in group.declarations if not kinds or d.kind in kinds]


def comment_text(comment):
    """What a comment says, with its lines and their indentation."""
    lines = comment.strip()[2:-2].split('\n')
    lines = [lines[0].strip(), *(re.sub(r'^\s*\*? ?', '', line, count=1) if re.match(r'^\s*\*', line) else line.strip()
                                 for line in lines[1:])]
    return '\n'.join(line.rstrip() for line in lines).strip()


def chunks(text, end=';'):
    """Pairs of kind and text: comment, remark (one behind a declaration), directive, code, blank; and the line of each."""
    at = 0
    begun = None
    depth = 0
    while at < len(text):
        line = text.count('\n', 0, at if begun is None else begun) + 1
        char = text[at]
        if text.startswith('/*', at):
            close = text.index('*/', at) + 2
            if begun is None:
                before = text[text.rfind('\n', 0, at) + 1:at]
                yield ('remark' if before.strip() else 'comment'), text[at:close], line
            at = close
        elif begun is None and char == '#':
            close = re.compile(r'(?<!\\)$', re.M).search(text, at).end()
            if (remark := text.find('/*', at, close)) >= 0:
                close = remark
            yield 'directive', text[at:close], line
            at = close
        elif begun is None and char.isspace():
            blank = re.compile(r'[ \t]*\n[ \t]*\n').match(text, at)
            at = blank.end() - 1 if blank else at + 1
            if blank:
                yield 'blank', '', line
        else:
            begun = at if begun is None else begun
            if char in '"\'':
                at = re.compile(r'(?:\\.|[^\\])*?' + char).match(text, at + 1).end()
                continue
            depth += (char in '({[') - (char in ')}]')
            at += 1
            code = text[begun:at]
            done = depth == 0 and (char == end or char == '}' and re.match(r'[^{]*\)\s*\{', code)
                                   or char == ')' and re.match(r'EDDYI_[A-Z]+\([\w, ]*\)$', code))
            if not done and text.startswith('\n', at) and re.match(r'EDDY_(BEGIN|END)_DECLS$', code):
                done = True
            if done:
                yield 'code', code, line
                begun = None
    if begun is not None and text[begun:].strip():
        # The last value of an enum, without a comma.
        code, _, remark = text[begun:].partition('/*')
        yield 'code', code, text.count('\n', 0, begun) + 1
        if remark:
            yield 'remark', '/*' + remark.rstrip(), text.count('\n', 0, begun) + 1


def without_cpp(text):
    """The header as C has it: a null directive in place of each line that is for C++ alone, and of those that say so."""
    made, kept = [], []  # of each #if: None unless it is about C++
    for line in text.split('\n'):
        directive = re.match(r'#\s*(ifdef|ifndef|if|else|endif)\b\s*(.*)', line)
        about = False
        if directive and directive[1].startswith('if'):
            kept.append(directive[1] == 'ifndef' if directive[2] == '__cplusplus' else None)
            about = kept[-1] is not None
        elif directive and kept:
            about = kept[-1] is not None
            if directive[1] == 'else' and about:
                kept[-1] = not kept[-1]
            elif directive[1] == 'endif':
                kept.pop()
        made.append('#' if about or False in kept else line)
    return '\n'.join(made)


def one_line(code):
    code = re.sub(r'^#$', '', code, flags=re.M)
    code = re.sub(r'/\*.*?\*/', ' ', code, flags=re.S)
    code = re.sub(ATTRIBUTE, '', re.sub(r'\s+', ' ', code))
    return re.sub(r'\( ', '(', code).strip().rstrip(';').strip()


def split_fields(code, doc):
    """A declaration may have several names: `int *a, b`."""
    if '(' in code or '{' in code or ',' not in code:
        yield code, doc
        return
    first, *others = (part.strip() for part in code.split(','))
    base = re.match(r'(.*\w) (\**\w+\S*)$', first)
    for name in (base[2], *others):
        yield f'{base[1]} {name}', doc


def field_name(code):
    match = re.search(r'\(\*(\w+)\)', code) or re.search(r'(\w+)(?:\[[^]]*\])*(?: : \d+)?$', code)
    if not match:
        raise Unclear(f'a field without a name: {code}')
    return match[1]


PRIVATE_FROM_HERE = re.compile(r"from here on private|private from here on|^eddy's own", re.I)


def members(body, kind):
    found, above, fresh, hidden = [], '', 0, False
    for what, text, _ in chunks(body, ',' if kind == 'enum' else ';'):
        if what == 'comment':
            above = comment_text(text)
            hidden = hidden or bool(PRIVATE_FROM_HERE.search(above))
            if (match := TITLE.match(above)) and not hidden:
                found.append(Member('', '', '\n\n'.join(filter(None, (match[1], above[match.end():].strip('\n'))))))
                above = ''
        elif what == 'remark':
            said = comment_text(text)
            hidden = hidden or bool(PRIVATE_FROM_HERE.search(said))
            for member in filter(lambda m: m.name, found[fresh:]):
                member.doc = f'{member.doc} {said}'.strip()
            if hidden:
                del found[fresh:]
        elif what == 'blank':
            above = ''
        elif what == 'code' and not hidden:
            fresh = len(found)
            code = one_line(text).rstrip(',').strip()
            if '{' in text:
                inner = members(text[text.index('{') + 1:text.rindex('}')], 'struct')
                found.append(Member(field_name(code), f'{code.split()[0]} {field_name(code)}', above, inner))
                above = ''
                continue
            for one, doc in split_fields(code, above) if kind != 'enum' else [(code, above)]:
                name = re.match(r'\w+', one)[0] if kind == 'enum' else field_name(one)
                found.append(Member(name, one, doc))
            above = ''
    found = [m for m in found if not re.match(r'private\b', m.doc, re.I)]
    return [m for m, following in zip(found, [*found[1:], None]) if m.name or following and following.name]


def declaration(code, doc):
    """What a piece of code declares; None for what is not to be listed."""
    flat = WHERE.sub('', one_line(code))
    if match := re.match(r'(struct|union|enum) (\w+)(?: \{|$)', flat):
        kind, name = match.groups()
        if UNLISTED.match(name) or '{' not in flat and not doc:
            return None
        made = Declaration(kind, name, f'{kind} {name}')
        if '{' in code:
            made.members = members(code[code.index('{') + 1:code.rindex('}')], kind)
            if doc.startswith('Private'):
                shown = re.findall(r'`(\w+)`', doc.split('.')[0]) if doc.startswith('Private but') else []
                made.members = [m for m in made.members if m.name in shown]
        return made
    if flat.startswith('typedef'):
        return Declaration('type', re.search(r'(\w+)\(', flat)[1], flat[len('typedef '):])
    if match := re.match(r'([\w *]*?\b)(\w+)\((.*?)\)(?: \{(.*)\})?$', flat):
        if UNLISTED.match(match[2]):
            return None
        head = f'{match[1]}{match[2]}({match[3]})'
        return Declaration('inline' if '{' in flat else 'function', match[2], head, body=match[4] or '')
    # A parameter that is a function has parentheses of its own.
    if match := re.match(r'[\w *]*?\b(\w+)\(.*\)$', flat):
        return None if UNLISTED.match(match[1]) else Declaration('function', match[1], flat)
    if match := re.match(r'[\w *]*?(\w+)$', flat):
        return None if UNLISTED.match(match[1]) else Declaration('variable', match[1], flat)
    raise Unclear(f'no declaration that is understood: {flat}')


def macro(text, macros):
    if FILLS_IN.match(text):
        return None
    match = re.match(r'#define (\w+)(?:\(([^)]*)\))?\s*(.*)', text, re.S)
    name, args, body = match.groups()
    body = re.sub(r'\\\n', '\n', body)
    macros[name] = (None if args is None else [a.strip() for a in args.split(',')], body)
    if UNLISTED.match(name):
        return None
    if args is None:
        return Declaration('constant', name, name, body=' '.join(body.split()))
    return Declaration('macro', name, f'{name}({args})', body=body)


def expand(call, macros):
    """The declarations that a call of an X macro makes."""
    name, args = re.match(r'(\w+)\((.*)\)$', call.strip(), re.S).groups()
    params, body = macros[name]
    for param, arg in zip(params, (a.strip() for a in args.split(','))):
        body = re.sub(rf'\b{param}\b', arg, body)
    body = re.sub(r'\s*##\s*', '', body)
    return '\n'.join(expand(line, macros) if re.match(r'\s*EDDYI_\w+\(', line) else line for line in body.split('\n'))


class Reader:
    """Gathers groups from chunks."""

    def __init__(self, macros):
        self.macros = macros
        self.includes, self.groups = [], []
        self.section, self.about, self.doc, self.open = '', '', '', None
        self.titled = False  # does the last comment have a title?
        self.skipping = []  # of each #if: is it what is declared where a feature is left out?

    def comment(self, text):
        said = comment_text(text)
        if match := TITLE.match(said):
            self.section, self.about, said = match[1], '', said[match.end():].strip('\n')
        self.doc, self.open, self.titled = said, None, bool(match)

    def add(self, made, line):
        if not made:
            return
        if not self.open:
            self.open = Group(self.section, self.about, self.doc, [], line)
            self.groups.append(self.open)
        self.open.declarations.append(made)

    def read(self, text):
        for kind, piece, line in chunks(without_cpp(text)):
            if kind == 'comment':
                self.comment(piece)
            elif kind == 'remark':
                if self.open and not self.open.doc:
                    self.open.doc = comment_text(piece)
            elif kind == 'blank':
                # The text of a title that stands apart is that of the whole group.
                if self.titled:
                    self.about = self.doc
                self.doc, self.open, self.titled = '', None, False
            elif kind == 'directive':
                if piece.startswith('#if'):
                    self.skipping.append(bool(re.match(r'#ifdef EDDY_NO_', piece)))
                elif piece.startswith('#else'):
                    self.skipping[-1] = not self.skipping[-1]
                elif piece.startswith('#endif') and self.skipping:
                    self.skipping.pop()
                elif any(self.skipping):
                    pass
                elif match := re.match(r'#include <(.*)>', piece):
                    self.includes.append(match[1])
                elif piece.startswith('#define'):
                    self.add(macro(piece, self.macros), line)
            elif any(self.skipping):
                pass
            elif re.match(r'EDDYI_\w+\(', piece):
                doc = self.doc
                for what, code, _ in chunks(expand(piece, self.macros)):
                    if what == 'code':
                        self.add(declaration(code, doc), line)
            elif not re.match(r'EDDY_(BEGIN|END)_DECLS', piece):
                if not (self.doc.startswith('Private') and not piece.startswith('struct')):
                    self.add(declaration(piece, self.doc), line)


def read_header(path, macros):
    with open(path) as file:
        text = file.read()
    parts = path.split(os.sep)
    layer, name = parts[-4], parts[-1][:-len('.h')]
    try:
        close = text.index('*/') + 2
        head = re.match(rf'eddy/{name}\.h: ?(.*)', comment_text(text[:close]), re.S)
        if not head:
            raise Unclear(f'the comment at the head does not begin with eddy/{name}.h:')
        summary, _, doc = head[1].partition('\n\n')
        reader = Reader(macros)
        # The lines stay those of the file.
        reader.read('\n' * text.count('\n', 0, close) + text[close:])
    except (Unclear, ValueError) as error:
        raise Unclear(f'{path}: {error}') from error
    return Header(layer, name, ' '.join(summary.split()), doc, reader.includes, [g for g in reader.groups if g.declarations])


def read_all(root):
    """The headers of all layers, in the layers' order; those that are private as a whole are left out."""
    macros = {}
    found = [read_header(path, macros) for layer in LAYERS
             for path in sorted(glob.glob(os.path.join(root, layer, 'include', 'eddy', '*.h')), key=lambda p: ('route' not in p, p))]
    found.sort(key=lambda h: (LAYERS.index(h.layer), h.name))
    return [h for h in found if not h.summary.startswith('private')]


def suspending(found):
    """The names of the functions that suspend whoever calls them, and of the macros that call such a one."""
    says = {one.name for header in found for group in header.groups for one in group.declarations if group.suspends}
    macros = {one.name: one.body for header in found for one in header.declarations('macro')}
    return says | {name for name, body in macros.items() if says & set(re.findall(r'\beddy_\w+(?=\()', body))}
