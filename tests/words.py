"""Looks for phrases that readers stumble over, in documents and in the comments of the libraries, and prints TAP.

    words.py ROOT

What is read: README.md and the other Markdown files, without code; the comments of LAYER/include and LAYER/src. ALLOWED has the
few places where such a phrase is right.
"""
import glob
import os
import re
import sys

from tap import Tap

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')
BEGIN = r'(?:^|[.!?:;] |/\* |\* )'
# What is wrong, and what to write instead.
PHRASES = (
    (BEGIN + r'(?:Who|Whoever|Whom) (?!is it)', 'begin with a noun: the client, the caller, a task'),
    (BEGIN + r'That of ', 'repeat the noun'),
    (r'\b(?:[Nn]obody|[Ss]omebody|whoever|whomever)\b', 'name the actor, or use the passive'),
    (r'\b(?:he|she|those) who\b|\bwho (?:asks|comes|waits|goes|sends|wants)\b', 'a client that, a task that'),
    (r'\b[Mm]emory (?:is|was|runs) out\b', 'on allocation failure'),
    (r'\blets? go of\b|\bis let go\b', 'releases, is closed'),
    (r'\b(?:is|are) told (?:of|that|so)\b', 'receives, is notified, logs'),
    (r'\bcomes? back with\b', 'returns'),
    (r'\bfinds? no room\b', 'is dropped, is rejected'),
    (r'\bwhat (?:comes|goes|stands|lies) (?:in|out|behind|before|there)\b', 'name the thing'),
    (r'\bas ever\b', 'as before'),
    (r'\bsays a word\b|\bwithout a word\b', 'prints, logs; silently'),
)
# File and phrase, as they stand.
ALLOWED = set()


def prose(path, text):
    """The text with code blanked out, so that line numbers stay."""
    blank = lambda match: re.sub(r'[^\n]', ' ', match[0])  # noqa: E731
    if path.endswith('.md'):
        return re.sub(r'`[^`\n]+`', blank, re.sub(r'^```.*?^```$', blank, text, flags=re.M | re.S))
    parts = re.split(r'(/\*.*?\*/)', text, flags=re.S)
    return ''.join(re.sub(r'`[^`\n]+`', blank, part) if part.startswith('/*') else re.sub(r'[^\n]', ' ', part) for part in parts)


def found(path, text):
    for pattern, instead in PHRASES:
        for match in re.finditer(pattern, text, re.M):
            phrase = match[0].strip(' .!?:;/*')
            if (path, phrase) not in ALLOWED:
                yield f'{path}:{text.count(chr(10), 0, match.start()) + 1}: "{phrase}": {instead}'


def main():
    root = os.path.abspath(sys.argv[1])
    files = glob.glob(os.path.join(root, '*.md')) + glob.glob(os.path.join(root, '*', 'README.md'))
    files += glob.glob(os.path.join(root, 'docs', '**', '*.md'), recursive=True)
    for layer in LAYERS:
        for folder in ('include', 'src'):
            for kind in ('c', 'h'):
                files += glob.glob(os.path.join(root, layer, folder, '**', f'*.{kind}'), recursive=True)
    tap, wrong = Tap(), []
    for path in sorted(set(files)):
        with open(path, errors='replace') as file:
            name = os.path.relpath(path, root)
            wrong += found(name, prose(name, file.read()))
    tap.check('plain words', '\n'.join(wrong))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
