#!/usr/bin/env python3
"""Makes the documentation: a site of plain HTML, or manual pages.

    build.py html ROOT OUT             OUT/index.html and what it leads to
    build.py man ROOT OUT [DEPFILE]    OUT/man1, OUT/man3, OUT/man7; what they are made of, for Ninja

Both come from the same sources: the headers of the layers, and the Markdown of the tree. What Sphinx warns of is an error.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402
import stage  # noqa: E402


def version(root):
    with open(os.path.join(root, 'meson.build')) as file:
        return re.search(r"version: '([^']*)'", file.read())[1]


def sphinx(builder, root, source, out):
    tool = [sys.executable, '-m', 'sphinx']
    if not all(map(importlib.util.find_spec, ('sphinx', 'myst_parser'))):
        # That of another Python.
        tool = [shutil.which('sphinx-build')]
    if not tool[0]:
        raise stage.Broken('needs sphinx-build; on Debian: apt-get install python3-sphinx python3-myst-parser')
    here = os.path.dirname(os.path.abspath(__file__))
    # The search index lists pages in the order in which they are written, which differs if several are written at once. The order of
    # sets depends on the hashes of strings.
    jobs = '1' if 'SOURCE_DATE_EPOCH' in os.environ else 'auto'
    done = subprocess.run([*tool, '-q', '-W', '--keep-going', '-j', jobs, '-b', builder, '-c', here, '-d', f'{source}.trees',
                           '-D', f'version={version(root)}', '-D', f'release={version(root)}', source, out],
                          check=False, env={**os.environ, 'PYTHONHASHSEED': '0'})
    if done.returncode:
        raise stage.Broken(f'sphinx-build: exit status {done.returncode}')


def make_html(root, out):
    work = stage.Stage(root, f'{out}.work')
    work.html()
    if work.wrong:
        raise stage.Broken('\n'.join(work.wrong))
    sphinx('html', root, work.out, out)


def make_man(root, out, depfile=None):
    work = stage.Stage(root, f'{out}.work')
    work.man()
    for section in ('man1', 'man3', 'man7'):
        shutil.rmtree(os.path.join(out, section), ignore_errors=True)
    sphinx('man', root, work.out, out)
    for name, page in work.aliases().items():
        with open(os.path.join(out, 'man3', f'{name}.3'), 'w') as file:
            file.write(f'.so man3/{page}.3\n')
    if depfile:
        with open(depfile, 'w') as file:
            file.write(f'{os.path.relpath(out)}/man1: {" ".join(work.sources())}\n')


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ('html', 'man'):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        {'html': make_html, 'man': make_man}[sys.argv[1]](os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]),
                                                              *sys.argv[4:])
    except (stage.Broken, headers.Unclear) as error:
        print(f'{sys.argv[0]}: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
