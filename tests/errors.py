"""Holds docs/errors against what sources and headers say, and prints TAP.

    errors.py ROOT

- docs/errors.md has a row for every code that a public header or one of examples/pg speaks of, and no other; its statuses are
  those of http/src/message/status.c
- docs/errors/problems.md has the titles and details of http/src/message/status.c
- every sentence that a source of a layer, an example or ./dev can say stands on a page below docs/errors/, and
  what stands there is said. Placeholders are capitals there: `can't listen on "ADDRESS": REASON`
- docs/log.md has every INFO record of the layers
"""
import glob
import math
import os
import re
import sys

from tap import Tap

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')

# Sources whose sentences are no errors, those of LOUD calls aside, and why.
OTHERS = {
    'runtime/src/command/doctor.c': 'eddy-doctor, which says the remedy itself',
    'runtime/src/base/feature.c': 'eddy-doctor as well',
    'http/src/command/doctor_tls.c': 'eddy-doctor as well',
    'runtime/src/report/dump.c': 'dumps',
    'runtime/src/report/dump_all.c': 'dumps',
    'runtime/src/report/dump_fd.c': 'dumps',
    'runtime/src/core/switch.c': 'assembly',
    'http/src/message/status.c': 'titles and details, which are compared in full',
    'runtime/src/command/eddy.c': 'what its commands are, but for what begins with its name',
    'http/src/wire/clocks.h': 'fields of responses',
    'http/src/text/mime.c': 'media types',
    'http/src/message/method.c': 'names of methods',
    'http/src/config/config_key.c': 'what the value of a key must be',
    'http/src/config/config_transfer.c': 'what the value of a key must be',
    'examples/beside.c': 'what has been done',
    'examples/files_html.c': 'pages',
    'examples/files_plain.c': 'the page',
    'examples/files_start.c': 'who may do what',
    'examples/compress.c': 'what has been done',
}
# Calls that are given sentences which are no errors, and calls of which every word is one.
QUIET = {'eddy_info', 'eddy_debug', 'eddy_trace', 'eddyi_notify', 'static_assert', '_Static_assert', '__asm__', 'asm'}
LOUD = {'eddy_error', 'eddy_warn', 'eddy_app_mistake', 'blame', 'eddyi_assert', 'eddyi_assert_at', 'eddyi_panic', 'eddyi_panic_at',
        'eddyi_panic_of', 'eddyi_log_failure', 'refuse', 'eddy_res_error',
        'eddyi_head_refuse', 'eddyi_req_fail', 'eddyi_require_task'}
# What a value must be, as messages and docs/config.md put it; help texts of metrics; fields.
NO_SENTENCE = re.compile(r'^(an? (array|empty array|string|integer|address|absolute|number|text)\b|absolute |scopes, |strings that |text of |"header"|true or false)'
                         r"|^[A-Z].*\.$|'self'|Max-Age=|HTTP/1\.1 \d|^usage: |  --\w")
PLACE = '\0'
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|#include[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|\s+|.', re.S)
CONVERSION = re.compile(r'%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|L|j|z|t)?[a-zA-Z]')


def read(root, path):
    with open(os.path.join(root, path)) as file:
        return file.read()


# ---- codes ----

def check_codes(tap, root):
    spoken = set()
    for path in glob.glob(os.path.join(root, '*', 'include', 'eddy', '*.h')) + glob.glob(os.path.join(root, 'examples', 'pg', '*.h')):
        with open(path) as file:
            spoken |= set(re.findall(r'-(E[A-Z0-9]{2,})\b', file.read()))
    rows = dict(re.findall(r'^\| `-(E\w+)` \|.*\| ([^|]*) \|$', read(root, 'docs/errors.md'), re.M))
    tap.check('codes', '' if set(rows) == spoken else
              f'headers alone: {sorted(spoken - set(rows))}, docs/errors.md alone: {sorted(set(rows) - spoken)}')

    body = read(root, 'http/src/message/status.c').partition('int eddyi_status_of(')[2].partition('\n}\n')[0]
    statuses = {name: status for cases, status in re.findall(r'((?:\tcase E\w+:\n)+)\t\treturn (\d+);', body)
                for name in re.findall(r'E\w+', cases)}
    wrong = [f'-{name}: {said} on the page, {statuses.get(name, "500")} in the source' for name, said in rows.items()
             if said != statuses.get(name, '500')]
    tap.check('statuses of codes', '\n'.join(wrong) if statuses else 'http/src/message/status.c: there is no such table')


def check_problems(tap, root):
    text = read(root, 'http/src/message/status.c')
    said = {(status, title) for status, title in re.findall(r'case (\d+): return "(.*?)";', text.partition('eddyi_status_detail')[0])}
    details = set(re.findall(r'case (\d+): return "(.*?)";', text.partition('eddyi_status_detail')[2]))
    rows = re.findall(r'^\| (\d+) ([^|]+?) \| `([^|`]*)` \|', read(root, 'docs/errors/problems.md'), re.M)
    wrong = [f'{row[0]} has no title {row[1]}' for row in rows if row[:2] not in said]
    wrong += [f'{row[0]} has not the detail {row[2]}' for row in rows
              if row[0] in dict(details) and dict(details)[row[0]] != row[2]]
    wrong += [f'no row for {status}' for status in sorted(set(dict(details)) - {row[0] for row in rows})]
    tap.check('titles and details', '\n'.join(wrong) if details else 'http/src/message/status.c: there are none')


# ---- messages ----

def words_that_count(calls, before):
    if QUIET & set(calls):
        return math.inf
    return 1 if LOUD & set(calls) else 2 if before == 'return' else 3


def literals(text):
    """Line, how many words make it a sentence, and the literal; a macro between two pieces stands for what is put in."""
    calls, word, line, piece = [], '', 1, None
    for match in TOKEN.finditer(text):
        token = match[0]
        if token[0] == '"':
            if piece is None:
                piece = [line, words_that_count(calls, word), '', '']
            piece[2] += piece[3] + token[1:-1]
            piece[3] = ''
        elif piece and re.fullmatch(r'[A-Z]\w+', token):
            piece[3] = PLACE
        elif not token.isspace() and not token.startswith(('/*', '//')):
            if piece:
                yield piece[:3]
                piece = None
            if token == '(':
                calls.append(word)
            elif token == ')' and calls:
                calls.pop()
        if not token.isspace():
            word = token
        line += token.count('\n')


def plain(text):
    """What a person reads, with marks where something is put in."""
    text = text.replace('\\"', '"').replace('\\\\', '\\').replace('%%', '\1')
    text = CONVERSION.sub(PLACE, text).replace('\1', '%').replace('%' + PLACE, PLACE)
    return re.sub(r'\\r|\\n', ' ', text).strip()


def count_words(text):
    return len(re.findall(r"(?<![\w./-])[A-Za-z][a-z']+(?![\w/=])", text))


def said_anywhere(root):
    """Where something is said, what, and whether it is a sentence that people are to be told of."""
    paths = [path for layer in LAYERS for kind in ('c', 'cc', 'h')
             for path in glob.glob(os.path.join(root, layer, 'src', '**', f'*.{kind}'), recursive=True)]
    for path in sorted(paths + glob.glob(os.path.join(root, 'examples', '*.c'))):
        name = os.path.relpath(path, root)
        with open(path) as file:
            text = file.read()
        for line, words_min, literal in literals(text):
            said = plain(literal)
            yield f'{name}:{line}', said, (' ' in said and count_words(said) >= words_min and not NO_SENTENCE.search(said)
                                           and (name not in OTHERS or words_min == 1 or said.startswith('eddy: ')))
    for line, text in enumerate(read(root, 'dev').split('\n'), 1):
        for verb, said in re.findall(r'\b(die|say|apt_failed "\$log") "((?:\\.|[^"\\])*)"', text):
            said = re.sub(r'\$\{[^}]*\}|\$\([^)]*\)|\$\w+', PLACE, said)
            yield f'dev:{line}', said, verb != 'say' and count_words(said) >= 3


def listed(root):
    for path in sorted(glob.glob(os.path.join(root, 'docs', 'errors', '*.md'))):
        with open(path) as file:
            for line, text in enumerate(file, 1):
                first = text.split(' | ')[0]
                if first.startswith('| '):
                    for _, said in re.findall(r'(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)', first):
                        yield f'{os.path.relpath(path, root)}:{line}', said.strip().replace('\\|', '|')


def pattern(said):
    """Of what a page has for it. What is put in at the end, without a blank before it, may be nothing."""
    said, last = (said[:-1], True) if re.search(rf'\w{PLACE}$', said) else (said, False)
    one = r'(?:%[a-z]|%?[A-Z][A-Z_]*(?: [A-Z_]+)*)'
    return re.compile(one.join(re.escape(part) for part in said.split(PLACE)) + (f'{one}?' if last else ''))


def check_messages(tap, root):
    rows = list(listed(root))
    known = {text for _, text in rows}
    said = [(place, text, needed, pattern(text)) for place, text, needed in said_anywhere(root) if re.search('[a-z]{2}', text)]
    lacking = [f'{place}: no page has: {text.replace(PLACE, "…")}' for place, text, needed, shape in said
               if needed and not any(shape.fullmatch(row) for row in known)]
    stale = [f'{place}: nothing says: {row}' for place, row in rows if not any(shape.fullmatch(row) for *_, shape in said)]
    tap.check('messages are listed', '\n'.join(lacking) if said else 'no source says anything')
    tap.check('what is listed is said', '\n'.join(stale) if rows else 'no page lists anything')


def infos(root):
    """Where an INFO record is emitted, and the words of its message between what is put in."""
    for layer in LAYERS:
        for path in sorted(glob.glob(os.path.join(root, layer, 'src', '**', '*.c'), recursive=True)):
            text = read(root, path)
            for match in re.finditer(r'eddy_info\(\s*(?:TARGET|"[^"]*"),\s*((?:"(?:\\.|[^"\\])*"\s*)+)', text):
                said = plain(''.join(re.findall(r'"((?:\\.|[^"\\])*)"', match[1])))
                yield os.path.relpath(path, root), said.replace(PLACE, '…'), [part.strip(' /:') for part in said.split(PLACE)]


def check_infos(tap, root):
    page, found = read(root, 'docs/log.md'), list(infos(root))
    lacking = [f'docs/log.md lacks {said} of {path}' for path, said, parts in found if not all(part in page for part in parts)]
    tap.check('INFO records are listed', '\n'.join(lacking) if found else 'there are none')


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_codes(tap, root)
    check_problems(tap, root)
    check_messages(tap, root)
    check_infos(tap, root)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
