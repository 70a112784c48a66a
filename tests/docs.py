"""Checks that the guide shows what the examples are, and prints TAP.

    docs.py ROOT

- every C block of docs/guide/ is a run of lines of one file below examples/
- every console block is what the comment at the head of such a file shows, which the tests run; it may stop early
- the table of examples/README.md has a line for every step of the ladder, in order
- links to files of the tree lead somewhere
"""
import glob
import os
import re
import sys

from tap import Tap


def blocks(text, language):
    """Pairs of a line's number and the block that begins behind it."""
    for match in re.finditer(rf'^```{language}\n(.*?)^```$', text, re.M | re.S):
        yield text.count('\n', 0, match.start()) + 1, match.group(1)


def shown(source):
    """The commands and their output in the comment at the head of a file, a line each."""
    head = source.split('*/')[0]
    return '\n' + ''.join(line + '\n' for line in re.findall(r'^ \* {5}(.*)$', head, re.M))


def check_links(root, path, text):
    wrong = []
    for link in re.findall(r'\]\(([^)#]+)(?:#[^)]*)?\)', text):
        if '://' not in link and not os.path.exists(os.path.join(root, os.path.dirname(path), link)):
            wrong.append(f'{path}: {link} leads nowhere')
    return wrong


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    sources = {}
    for path in glob.glob(os.path.join(root, 'examples', '**', '*.c'), recursive=True):
        with open(path) as file:
            sources[os.path.relpath(path, root)] = file.read()

    pages = sorted(glob.glob(os.path.join(root, 'docs', 'guide', '*.md')))
    pieces = 0
    for page in pages:
        path = os.path.relpath(page, root)
        with open(page) as file:
            text = file.read()
        wrong = check_links(root, path, text)
        for line, block in blocks(text, 'c'):
            pieces += 1
            if not any('\n' + block in source for source in sources.values()):
                wrong.append(f'{path}:{line}: no file below examples/ has these lines')
        for line, block in blocks(text, 'console'):
            pieces += 1
            if not any('\n' + block in shown(source) for source in sources.values()):
                wrong.append(f'{path}:{line}: no example shows this at its head')
        tap.check(path, '\n'.join(wrong))
    tap.check('the guide has code', '' if pieces else 'no block was found in docs/guide/')

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
