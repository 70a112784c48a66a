#!/usr/bin/env python3
"""Draws layers.svg: the folders, who stands on whom, and the libraries that each needs.

    layers.py > layers.svg
"""
from drawing import Drawing

UPPER = (('compress', 'zstd, br, gzip', 'libzstd, libbrotli,', 'zlib', 'filters'),
         ('trace', 'spans, metrics', 'no library', '', 'requests'),
         ('auth', 'tokens, keys', 'wolfSSL, jansson', '', 'guards'))


def draw():
    picture = Drawing(416, 'The layers of eddy', 'A program includes the layers it wants. compress, trace and auth stand on runtime; one part of each stands on http. '
                      'http stands on runtime, runtime on the kernel. No arrow goes up, and the upper three do not know one another.')
    picture.box(26, 10, 384, 42, 'violet', ['your program', ('includes what it wants of these; runtime alone will do', 'small quiet')])
    for number, (name, what, needs, more, meets) in enumerate(UPPER):
        x = 26 + number * 132
        picture.box(x, 76, 120, 82, 'blue', [name, what, (needs, 'small quiet'), *([(more, 'small quiet')] if more else [])])
        picture.arrow((x + 60, 52), (x + 60, 76))
        picture.line((x + 24, 158), (x + 24, 182), kind='')
        picture.arrow((x + 76, 158), (x + 76, 210), kind='dashed')
        picture.text(x + 80, 201, meets, 'small quiet')
    picture.line((50, 182), (314, 182), kind='')
    picture.arrow((50, 182), (14, 182), (14, 314), (26, 314))
    picture.box(38, 210, 372, 54, 'blue', ['http', 'server and client of HTTP/1.1', ('llhttp, wolfSSL, jansson, toml++', 'small quiet')])
    picture.arrow((224, 264), (224, 288))
    picture.box(26, 288, 384, 54, 'green', ['runtime', 'loops, tasks, scopes, system calls, transfers', ('liburing', 'small quiet')])
    picture.arrow((224, 342), (224, 364))
    picture.box(26, 364, 384, 42, 'plain', ['Linux 6.1 or newer', ('io_uring, splice', 'small quiet')])
    return picture.svg()


if __name__ == '__main__':
    print(draw(), end='')
