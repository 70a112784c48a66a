"""A release of the tree: EDDY_RELEASE is the folder that `./dev release` has made."""
import hashlib
import os
import unittest

FOLDER = os.environ.get('EDDY_RELEASE', '')


def path(*parts):
    """A file of the release; its name begins with the release's."""
    if not FOLDER:
        raise unittest.SkipTest('needs a release, which ./dev test release makes')
    found = os.path.join(FOLDER, *parts)
    if not os.path.exists(found):
        raise AssertionError(f'the release has no {os.path.join(*parts)}')
    return found


def files():
    """All files of the release, by their path in it."""
    top = path()
    return sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names)


def checksum(name):
    with open(path(name), 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()
