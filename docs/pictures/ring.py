#!/usr/bin/env python3
"""Draws ring.svg: tasks that read and write as if they were alone, one thread, and the ring between them and the kernel.

    ring.py > ring.svg
"""
import math

from drawing import Drawing

TASKS = (('GET /hello', 'runs', 'deep'), ('GET /film.mp4', 'awaits its socket', ''), ('PUT /notes.txt', 'awaits the next bytes', ''),
         ('GET /slow', 'sleeps', ''))
KERNEL = (('sockets', 'receive, send'), ('files', 'open, read'), ('timers', 'deadlines'))


def draw():
    picture = Drawing(322, 'Tasks, the ring, the kernel',
                      'On one thread each request is a task with a stack of its own. One runs; the others are suspended in a call that they have made, each of which '
                      'is an entry on an io_uring. When the kernel has completed it, the task goes on behind the call.')
    picture.text(83, 18, 'one thread', 'bold', 'middle')
    picture.text(357, 18, 'the kernel', 'bold', 'middle')
    for number, (name, said, _) in enumerate(TASKS):
        top = 30 + number * 54
        picture.box(8, top, 150, 46, 'violet', [(name, 'bold'), (said, 'small')])
        if number == 0:
            picture.parts.append(f'<rect class="deep" x="8" y="{top}" width="5" height="46" rx="2"/>')
    picture.box(8, 246, 150, 42, 'green', ['the loop', 'resumes who is ready'])
    for number, lines in enumerate(KERNEL):
        picture.box(302, 48 + number * 72, 110, 46, 'plain', lines)
    x, y, radius = 230, 143, 38
    picture.parts.append(f'<circle class="ring" cx="{x}" cy="{y}" r="{radius}"/>')
    picture.text(x, y - 2, 'the ring', 'small bold', 'middle')
    picture.text(x, y + 13, 'io_uring', 'small quiet', 'middle')
    picture.arrow((158, 98), (222, 98), (222, y - radius), kind='heat')
    picture.text(164, 92, 'a call', 'small hot')
    picture.arrow((222, y + radius), (222, 267), (158, 267))
    picture.text(164, 284, 'completions', 'small quiet')
    for number in range(3):
        edge = 71 + number * 72
        length = math.hypot(302 - x, edge - y)
        picture.line((round(x + (302 - x) * radius / length, 1), round(y + (edge - y) * radius / length, 1)), (302, edge), kind='')
    picture.text(8, 311, 'A call suspends its task; another runs while the kernel works.', 'small quiet')
    return picture.svg()


if __name__ == '__main__':
    print(draw(), end='')
