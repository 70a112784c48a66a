/* deadlock.h: the end of a process in which no task can ever run again. */
#ifndef EDDYI_DEADLOCK_H
#define EDDYI_DEADLOCK_H

#include <eddy/base.h>

struct eddy_loop;

/* A loop without ops of its users' is about to sleep. Reports a deadlock and aborts when there is one.
 * Return: when to call this again unless something happens before; EDDY_NEVER when the loop has other
 * reasons to wake. */
uint64_t eddyi_deadlock_look(struct eddy_loop *loop);

#endif
