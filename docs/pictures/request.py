#!/usr/bin/env python3
"""Draws request.svg: the life of a request: what happens on which stack, where it may suspend, and who owns which memory how long.

    request.py > request.svg
"""
from drawing import Drawing

LEFT, ROOM = 40, 288
MIDDLE = LEFT + ROOM / 2


def draw():
    picture = Drawing(640, 'The life of a request',
                      'A parked connection has a receive on the ring and no stack. Bytes are parsed on the stack of the loop; a complete head takes a task '
                      'from the pool, on whose stack filters and the handler are ordinary calls, which may suspend. The answer is sent at once, held, or spliced; '
                      'then the next request is served by the same task, or the connection is parked again. The arena of the request lives from its first byte '
                      'until it is answered, the stack from the complete head until then, the connection all the time.')
    for x, kind, name in ((8, 'plain', 'in the kernel'), (126, 'blue', "the loop's stack"), (258, 'violet', "the task's stack")):
        picture.box(x, 10, 16, 14, kind)
        picture.text(x + 22, 22, name, 'small')

    def step(top, height, kind, *lines):
        picture.box(LEFT, top, ROOM, height, kind, lines)

    step(44, 46, 'plain', 'parked', 'a receive is armed; no task, no stack')
    picture.arrow((MIDDLE, 90), (MIDDLE, 110))
    step(110, 46, 'plain', 'bytes come', 'into a buffer that all connections share')
    picture.arrow((MIDDLE, 156), (MIDDLE, 176))
    step(176, 62, 'blue', 'the head is read by llhttp', 'as it comes: who sends it slowly', 'costs no task and no stack')
    picture.arrow((MIDDLE, 238), (MIDDLE, 262))
    picture.text(MIDDLE + 8, 254, 'it is complete', 'small quiet')
    step(262, 62, 'violet', 'a task from the pool', 'route, filters, handler:', 'ordinary calls on one stack')
    picture.text(MIDDLE, 341, 'a body, a file, a database: suspended,', 'small hot', 'middle')
    picture.text(MIDDLE, 357, 'other tasks run meanwhile', 'small hot', 'middle')
    picture.arrow((LEFT + 14, 324), (LEFT + 14, 366))
    step(366, 30, 'violet', 'the answer')
    for number, (name, said) in enumerate((('small:', ('sent at once, or held while', 'the next head is here already')),
                                           ('file:', ('spliced behind its head,', '1 MiB a turn')),
                                           ('stream:', ('each write lasts until', 'the socket has taken it')))):
        top = 396 + number * 38
        picture.box(LEFT, top, ROOM, 38, 'violet')
        picture.text(LEFT + 10, top + 16, name, 'small bold')
        picture.lines(LEFT + 72, top + 16, said, 'small')
    picture.text(MIDDLE, 527, 'the socket is full: suspended', 'small hot', 'middle')
    picture.arrow((LEFT + 14, 510), (LEFT + 14, 536))
    step(536, 46, 'violet', 'over', 'is the next head here?')
    picture.arrow((LEFT, 552), (26, 552), (26, 207), (LEFT, 207))
    picture.arrow((LEFT, 572), (10, 572), (10, 67), (LEFT, 67))
    picture.text(LEFT, 602, 'yes: the same task reads it, on its own stack', 'small quiet')
    picture.text(LEFT, 620, 'no: parked again; the stack goes back', 'small quiet')
    picture.line((26, 582), (26, 598), (36, 598), kind='line')
    picture.line((10, 582), (10, 616), (36, 616), kind='line')

    for name, x, top, bottom, kind in (('the connection', 344, 44, 582, 'plain'), ("the request's arena", 370, 110, 582, 'amber'),
                                       ("the task's stack", 396, 262, 582, 'violet')):
        picture.box(x, top, 18, bottom - top, kind)
        picture.upright(x + 13, (top + bottom) / 2, name)
    picture.text(414, 602, 'memory', 'small quiet', 'end')
    return picture.svg()


if __name__ == '__main__':
    print(draw(), end='')
