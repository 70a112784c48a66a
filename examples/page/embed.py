#!/usr/bin/env python3
"""Write files into a C source as the table that page.h declares: embed.py OUTPUT INPUT...

The first input is the page itself. Each file becomes one string literal a line of it, so that the
result can be read and any compiler for any target takes it."""

import os
import re
import sys

TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
}


def literal(line):
    # Three octal digits never swallow the character after them, as hexadecimal would.
    return '"' + ''.join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f'\\{b:03o}' for b in line) + '"'


def main(output, *inputs):
    arrays, rows = [], []
    for path in inputs:
        name = os.path.basename(path)
        symbol = 'file_' + re.sub(r'\W', '_', name)
        with open(path, 'rb') as f:
            lines = [literal(line) for line in f.read().splitlines(keepends=True)] or ['""']
        arrays.append('static const char %s[] =\n\t%s;\n' % (symbol, '\n\t'.join(lines)))
        rows.append('\t{ "%s", "%s", %s, sizeof(%s) - 1 },\n'
                    % (name, TYPES[os.path.splitext(name)[1]], symbol, symbol))
    with open(output, 'w', encoding='ascii') as f:
        f.write('/* Made by embed.py. */\n#include "page.h"\n\n')
        f.write('#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n')
        f.write('\n'.join(arrays))
        f.write('\nconst struct page_file page_files[] = {\n%s};\n' % ''.join(rows))
        f.write('const size_t page_files_count = %d;\n' % len(rows))


if __name__ == '__main__':
    main(*sys.argv[1:])
