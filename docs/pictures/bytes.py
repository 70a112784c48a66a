#!/usr/bin/env python3
"""Draws bytes.svg: a download and an upload as their bytes go, and how they go where a program reads and writes.

    bytes.py > bytes.svg
"""
from drawing import Drawing

BOX, LEFT = 108, 8
AT = [LEFT + number * (BOX + 40) for number in range(3)]


def panel(picture, top, name, program, boxes, notes, labels=412):
    """Return: where the middles of program and kernel are."""
    picture.text(LEFT, top + 14, name, 'bold')
    picture.box(LEFT, top + 24, 404, 34, 'violet', [(program, 'code')] if program else [])
    picture.line((0, top + 74), (420, top + 74), kind='line dashed')
    picture.text(labels, top + 70, 'your program', 'small quiet', 'end')
    picture.text(labels, top + 88, 'the kernel', 'small quiet', 'end')
    for x, lines in zip(AT, boxes):
        if lines:
            picture.box(x, top + 98, BOX, 46, 'green', lines)
    picture.lines(LEFT, top + 164, notes, 'small quiet')
    return top + 121


def draw():
    picture = Drawing(576, 'The way of the bytes',
                      'A download goes from the page cache through a pipe to the socket, an upload from the socket through a pipe to the page cache: splice(2) moves '
                      'references to pages within the kernel, called on the thread of the loop, and no byte passes through the program. '
                      'A program that reads and sends copies each byte twice.')
    middle = panel(picture, 6, 'a download', 'return eddy_res_file_at(res, dir, name);',
                   (('page cache', 'the file'), ('pipe', 'of a pool, 1 MiB'), ('socket', 'the client')),
                   ('splice(2) moves references to pages. What is not in the cache is', 'read in through the ring first: no loop waits for a disk. While the',
                    'socket is full nothing is held, no pipe and no thread.'))
    picture.arrow((AT[0] + BOX, middle), (AT[1], middle), kind='way')
    picture.arrow((AT[1] + BOX, middle), (AT[2], middle), kind='way')

    middle = panel(picture, 212, 'an upload', 'r = eddy_req_save_at(req, dir, name, NULL, &saved);',
                   (('page cache', 'an unnamed file'), ('pipe', 'of a pool, 1 MiB'), ('socket', 'the client')),
                   ('When all has come the file gets its name, at once. What is broken', 'off, too large or killed leaves nothing behind. A disk that is slow',
                    'is written by workers of the kernel.'))
    picture.arrow((AT[2], middle), (AT[1] + BOX, middle), kind='way')
    picture.arrow((AT[1], middle), (AT[0] + BOX, middle), kind='way')

    middle = panel(picture, 418, 'a download by read and send', '', (('page cache', 'the file'), (), ('socket', 'the client')), (), labels=252)
    picture.box(AT[1], 446, BOX, 26, 'amber', [('a buffer', 'bold')])
    picture.arrow((AT[0] + BOX / 2, 516), (AT[0] + BOX / 2, 459), (AT[1], 459), kind='heat')
    picture.arrow((AT[1] + BOX, 459), (AT[2] + BOX / 2, 459), (AT[2] + BOX / 2, 516), kind='heat')
    picture.text(AT[0] + BOX / 2 + 8, 510, 'copied', 'small hot')
    picture.text(AT[2] + BOX / 2 - 8, 510, 'copied', 'small hot', 'end')
    return picture.svg()


if __name__ == '__main__':
    print(draw(), end='')
