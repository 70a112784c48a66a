/* ring_confine.h: what a ring refuses to do for a process in a sandbox. */
#ifndef EDDYI_RING_CONFINE_H
#define EDDYI_RING_CONFINE_H

struct io_uring;

/* Have a ring that is still disabled refuse it for good, and enable it. Return: 0, -errno. */
int eddyi_ring_confine(struct io_uring *ring);

#endif
