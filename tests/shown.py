"""Types what README files show, line by line as it stands there, and sees that it works and says what is shown. Prints TAP.

    shown.py ROOT [PAGE…]

The blocks of `console` of a page are one session of a shell. Below a line stands what it says, … being anything. A line that ends
with & is waited for until it says where it listens, and ends with the page, or before the next block that has such a line. What is
changed in the tree, in /usr/local and in /etc is forgotten; home and network are the session's own. ROOT is built already.
"""
# needs: curl openssl
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'e2e', 'helpers'))

import network
from tap import Tap

PAGES = ('README.md', 'docs/install.md', 'examples/README.md', 'trace/README.md', 'auth/README.md', 'compress/README.md')
# Typed in a terminal that it keeps.
KEEPS = ('eddy serve ~/shared',)
ALONE = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', *network.ALONE[2:]]

BEGIN = r"""
set -m
mount --make-rprivate / && mount -t tmpfs tmpfs "$scratch/layer" || exit 77
for place in "$PWD" /usr/local /etc; do
	over=$scratch/layer/$place
	mkdir -p "$over/up" "$over/work"
	mount -t overlay -o "lowerdir=$place,upperdir=$over/up,workdir=$over/work" overlay "$place" || exit 77
done
cd "$PWD"
mount -t proc proc /proc
export HOME=$scratch/layer/home
mkdir ~ ~/shared
head -c 100000 /dev/urandom | tee holiday.mp4 >large.iso
echo silent >~/.curlrc    # as it is of progress on a terminal
sudo() { "$@"; }
fails() { # LINE
	cat "$scratch/layer/$1"
	end
	exit 1
}
listens() { # LINE
	for _ in {1..1500}; do
		! grep -q Listening "$scratch/layer/$1" || return 0
		kill -0 $! 2>/dev/null || break
		sleep 0.02
	done
	fails "$1"
}
end() {
	local job
	for job in $(jobs -p); do kill -- "-$job"; done
	wait
}
exec 2>"$scratch/layer/jobs"    # that they ended
"""


def instead_of(command):
    """What is typed: no package comes from outside, and what runs this is not run by it."""
    if command == 'sudo apt-get install ./debian-12/*.deb':
        return './dev build && sudo meson install -C build && sudo ldconfig'
    return 'true' if command.startswith('sudo apt-get ') or command == './dev test' else command


class Line:
    """One that is typed: the command, what stands behind it, and what it says."""

    def __init__(self, number, text):
        self.number, self.says = number, []
        self.command, _, self.remark = (part.strip() for part in text.partition('   #'))
        self.command = instead_of(self.command)
        self.stays = self.command in KEEPS or self.command.endswith('&')

    def typed(self):
        said = f'>"$scratch/layer/{self.number}" 2>&1'
        if self.stays:
            return f'{self.command.rstrip("&")} {said} &\nlistens {self.number}'
        return f'{{ {self.command}\n}} {said} || fails {self.number}\ncat "$scratch/layer/{self.number}"'

    def wanted(self):
        return '.*'.join(re.escape(part) for part in '\n'.join(self.says).split('…'))


def read(root, path):
    with open(os.path.join(root, path)) as file:
        return file.read()


def blocks_of(text):
    """A list of lines for each block."""
    for block in re.finditer(r'^```console\n(.*?)^```$', text, re.M | re.S):
        first, lines = text.count('\n', 0, block.start(1)) + 1, []
        for at, row in enumerate(block[1].splitlines()):
            if row.startswith('$ '):
                lines.append(Line(first + at, row[2:]))
            else:
                lines[-1].says.append(row)
        yield lines


def program_of(root, page, remark):
    """The source that a page calls app.c, by what it says of it."""
    if includes := re.search(r'app\.c includes (<.*?>)', remark):
        return f'#include {includes[1]}\n\nint main(void)\n{{\n\treturn 0;\n}}\n'
    if other := re.search(r'app\.c: that of \[?(\S+\.md)', remark):
        page = other[1]
    elif 'app.c: the program ' not in remark:
        raise ValueError(f'nothing says what app.c is: {remark}')
    return next(block for block in re.findall(r'^```c\n(.*?)^```$', read(root, page), re.M | re.S) if 'int main(' in block)


def session(root, page, blocks, scratch):
    """The script that types all of it."""
    script = [BEGIN]
    for lines in blocks:
        if any(line.stays for line in lines):
            script.append('end')
        for line in lines:
            script.append(f'echo; echo "<{line.number}>"')
            if ' app.c ' in f'{line.command} ':
                with open(os.path.join(scratch, f'{line.number}.c'), 'w') as file:
                    file.write(program_of(root, page, line.remark))
                script.append(f'cp "$scratch/{line.number}.c" app.c')
            script.append(line.typed())
    return '\n'.join([*script, 'end', 'echo; echo "<end>"'])


def run_page(root, page):
    """Returns what went otherwise."""
    blocks = list(blocks_of(read(root, page)))
    with tempfile.TemporaryDirectory(prefix='eddy-shown-') as scratch:
        os.mkdir(os.path.join(scratch, 'layer'))
        done = subprocess.run([*ALONE, 'bash', '-c', session(root, page, blocks, scratch)], cwd=root, env={**os.environ, 'scratch': scratch},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors='replace', check=False, timeout=280)
    if done.returncode == 77:
        raise unittest.SkipTest(f'needs overlays: {done.stdout}')
    parts = re.split(r'^<(\w+)>\n', done.stdout, flags=re.M)
    said = dict(zip(parts[1::2], parts[2::2]))
    if not blocks or 'end' not in said:
        return f'{page}:{parts[-2] if len(parts) > 1 else 1}: fails\n{parts[-1]}'
    return '\n'.join(f'{page}:{line.number}: says\n{said[str(line.number)]}' for lines in blocks for line in lines
                     if line.says and not re.fullmatch(line.wanted(), said[str(line.number)].strip()))


def needed():
    """Skip where it can't be kept from the machine: for those who are not root, and in a chroot that is no mount."""
    if os.geteuid():
        raise unittest.SkipTest('needs root')
    done = subprocess.run([*ALONE, 'true'], capture_output=True, text=True, check=False)
    if done.returncode:
        raise unittest.SkipTest(f'needs namespaces of its own: {done.stderr}')


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    for page in sys.argv[2:] or PAGES:
        try:
            needed()
            tap.check(page, run_page(root, page))
        except unittest.SkipTest as skipped:
            tap.skip(page, str(skipped))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
