/* deadlock.h: detects that no task of the process can ever run again. */
#ifndef EDDYI_DEADLOCK_H
#define EDDYI_DEADLOCK_H

#include <eddy/base.h>

struct eddy_loop;

/* Check for a deadlock, and abort if there is one. Called if a loop without ops of the program is
 * about to sleep.
 * Return: when to call this again if nothing happens; EDDY_NEVER if the loop can be woken. */
uint64_t eddyi_deadlock_look(struct eddy_loop *loop);

#endif
