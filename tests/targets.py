"""Prints what has to be built before Meson tests can run, a line each; nothing where they need nothing.

    targets.py BUILD TEST…

That is what a test says that it depends on. One that says nothing needs all that is for tests, unless it is not even told of
the build folder. Those of PEOPLE run what is built by default as well.
"""
import json
import os
import sys

PEOPLE = {'e2e', 'e2e-h2', 'cells', 'installed'}


def read(build, name):
    with open(os.path.join(build, 'meson-info', f'intro-{name}.json'), encoding='utf-8') as file:
        return json.load(file)


def needs(test, build, files):
    told = (os.path.normpath(word) for word in [*test['cmd'], *test['env'].values()])
    if test['depends']:
        needed = {files[target] for target in test['depends']}
    else:
        needed = {'all-tests'} if any(build in word for word in told) else set()
    return needed | {'all'} if test['name'] in PEOPLE else needed


def targets(build, names):
    files = {target['id']: os.path.relpath(target['filename'][0], build) for target in read(build, 'targets')}
    return set().union(*(needs(test, build, files) for test in read(build, 'tests') if test['name'] in names))


if __name__ == '__main__':
    for name in sorted(targets(os.path.abspath(sys.argv[1]), set(sys.argv[2:]))):
        print(name)
