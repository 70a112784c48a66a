#!/usr/bin/env python3
"""Draws scopes.svg: who is cancelled when the time of a scope is up, and who awaits whom.

    scopes.py > scopes.svg
"""
from drawing import Drawing


def task(picture, x, y, width, name, said, kind='violet'):
    picture.box(x, y, width, 46, kind, [name, said])


def draw():
    picture = Drawing(500, 'Scopes and cancellation',
                      'Two tasks await a scope each. The time of one scope is up: every call that suspends within it, in its tasks and in scopes '
                      'within them, returns -ECANCELED; the tasks return; a shielded clean-up goes on until its own time is up; the scope ends when the last of them has ended. '
                      'Tasks outside of it go on.')
    picture.box(8, 10, 288, 46, 'violet', ['task "serve"', 'awaits in eddy_scope_end()'])
    picture.arrow((152, 56), (152, 72))
    picture.box(308, 10, 104, 46, 'violet', ['task', 'awaits'])
    picture.arrow((360, 56), (360, 72))
    picture.box(8, 72, 288, 330, 'frame', [])
    picture.text(18, 92, 'a scope, timeout 5 s', 'bold')
    picture.number(280, 88, 1)
    task(picture, 20, 104, 264, 'task "left"', 'eddy_recv() returns -ECANCELED', 'amber')
    picture.box(20, 162, 264, 182, 'amber', [])
    picture.text(152, 180, 'task "right"', 'bold', 'middle')
    picture.text(152, 196, 'awaits the tasks of its own scope', 'small', 'middle')
    picture.box(30, 206, 244, 74, 'frame')
    picture.text(40, 222, 'a scope', 'small bold')
    task(picture, 40, 228, 224, 'task "inner"', 'eddy_read() returns -ECANCELED', 'amber')
    picture.box(30, 288, 244, 48, 'frame dashed')
    picture.text(40, 304, 'shielded, timeout 1 s', 'small bold')
    picture.text(40, 324, 'eddy_unlinkat() does its work', 'small')
    picture.text(20, 366, 'ends when all of them have ended:', 'small')
    picture.text(20, 384, 'eddy_scope_end() says -ETIMEDOUT', 'small')
    picture.box(308, 72, 104, 330, 'frame')
    picture.text(318, 92, 'a scope', 'bold')
    picture.box(318, 104, 84, 46, 'green', ['task', 'goes on'])
    picture.box(318, 162, 84, 46, 'green', ['task', 'goes on'])
    for number, y in ((2, 127), (3, 251), (4, 312), (5, 370)):
        picture.number(284, y, number)
    picture.lines(8, 424, ('1 The time is up: the scope is cancelled, from outside in.', '2, 3 Calls return when the kernel has let go; then tasks do.',
                           '4 A clean-up that may take its time is shielded.', '5 Nobody outlives the scope: whoever ends it awaits them.'), 'small quiet', step=18)
    return picture.svg()


if __name__ == '__main__':
    print(draw(), end='')
