#!/usr/bin/env python3
"""Writes migrations as a table of C: embed.py OUTPUT FILE.sql…"""
import os
import sys

with open(sys.argv[1], 'w') as out:
    out.write('#include <eddy_pg_migrate.h>\n\nconst struct eddy_pg_migration migrations[] = {\n')
    for path in sys.argv[2:]:
        with open(path) as file:
            lines = [line.replace('\\', r'\\').replace('"', r'\"') for line in file.read().splitlines()]
        name = os.path.splitext(os.path.basename(path))[0]
        out.write(f'\t{{ "{name}",\n' + ''.join(f'\t  "{line}\\n"\n' for line in lines) + '\t},\n')
    out.write('\t{ 0 },\n};\n')
