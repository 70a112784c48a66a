/* ring_confine.h: restricts a ring for a process in a sandbox. */
#ifndef EDDYI_RING_CONFINE_H
#define EDDYI_RING_CONFINE_H

struct io_uring;

/* Permanently restrict a ring that is still disabled, then enable it. Return: 0, -errno. */
int eddyi_ring_confine(struct io_uring *ring);

#endif
