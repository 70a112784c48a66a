"""Checks that the pictures of the documents are what their scripts make, and prints TAP.

    pictures.py ROOT

- every script of docs/pictures/ says at its head how it is run: `NAME.py [WORD] > NAME.svg`; that gives the picture beside it
- every picture is made by one of them, and shown by a page, with words for those who do not see it
- a picture brings all that it needs, says what it shows, and reads on dark pages
"""
import glob
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

from tap import Tap

# Of runs: timeline.py draws them differently each time. test_timeline.py has it draw.
RECORDED = {'timeline.svg', 'recording.svg'}


def commands(path):
    with open(path, encoding='utf-8') as file:
        head = file.read().split('"""')[1]
    name = re.escape(os.path.basename(path))
    return [(words.split(), picture) for words, picture in re.findall(rf'^    {name}([ \w]*) > (\S+\.svg)', head, re.M)]


def check_picture(text):
    wrong = []
    tree = xml.etree.ElementTree.fromstring(text)
    if not [e for e in tree if e.tag.endswith('}title') and e.text] or not [e for e in tree if e.tag.endswith('}desc') and e.text]:
        wrong.append('it has no title, or no description')
    if 'viewBox' not in tree.attrib:
        wrong.append('without a viewBox it does not become smaller')
    if not re.search(r'@media screen and \(prefers-color-scheme: dark\)', text):
        wrong.append('it has no dark colours, or has them on paper as well')
    if re.search(r'url\(|@import|@font-face|href=|<script|<image', text):
        wrong.append('it needs something from elsewhere')
    return wrong


def pages(root):
    for folder, folders, files in os.walk(root):
        # Not looked into: a build folder can have very many files.
        folders[:] = [name for name in folders if not name.startswith('build') and name not in ('.git', 'node_modules')]
        yield from (os.path.join(folder, name) for name in files if name.endswith('.md'))


def shown(root):
    """Pictures and the words in place of each, by who shows them."""
    for path in pages(root):
        with open(path, encoding='utf-8') as file:
            for words, target in re.findall(r'!\[([^\]]*)\]\(([^)]+\.svg)\)', file.read()):
                yield os.path.relpath(path, root), words, os.path.normpath(os.path.join(os.path.dirname(path), target))


def main():
    root = os.path.abspath(sys.argv[1])
    folder = os.path.join(root, 'docs', 'pictures')
    tap = Tap()
    made = {}
    for path in sorted(glob.glob(os.path.join(folder, '*.py'))):
        for words, picture in commands(path):
            if picture not in RECORDED:
                made[picture] = [sys.executable, path, *words]
    there = sorted(name for name in os.listdir(folder) if name.endswith('.svg'))
    seen = list(shown(root))
    for name in there:
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            text = file.read()
        wrong = check_picture(text)
        if name in made:
            done = subprocess.run(made[name], capture_output=True, text=True, check=False)
            if done.returncode or done.stdout != text:
                wrong.append(done.stderr or f'it is not what {" ".join(made[name][1:])} makes')
        elif name not in RECORDED:
            wrong.append('no script says at its head that it makes it')
        pages = [(page, words) for page, words, target in seen if target == os.path.join(folder, name)]
        if not pages:
            wrong.append('no page shows it')
        wrong += [f'{page} has no words for those who do not see it' for page, words in pages if len(words) < 10]
        tap.check(name, '\n'.join(wrong))
    tap.check('all that is made is there', '' if made and set(made) <= set(there) else f'not there: {sorted(set(made) - set(there))}')
    return tap.end()


sys.exit(main())
