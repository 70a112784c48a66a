/* deadlock.h: detects that no task of the process can ever run again. */
#ifndef EDDYI_DEADLOCK_H
#define EDDYI_DEADLOCK_H

#include <eddy/base.h>

struct eddy_loop;

/* Check for a deadlock when a loop without ops of the program is about to sleep. Reports one and
 * aborts.
 * Return: when to call this again if nothing happens before; EDDY_NEVER if the loop can be woken
 * otherwise. */
uint64_t eddyi_deadlock_look(struct eddy_loop *loop);

#endif
