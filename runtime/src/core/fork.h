/* fork.h: a child of fork(2) has no loop of its parent's. Whoever has threads, locks or files of its own begins anew there
 * by a pthread_atfork() of its own. */
#ifndef EDDYI_FORK_H
#define EDDYI_FORK_H

#include <stdbool.h>

/* See to it that children know what they are. Called by every loop, before its ring is made. */
void eddyi_fork_watch(void);

/* Whether a loop ran in the parent as this process was forked: what is left of that one stands in the
 * way of a loop of its own. */
bool eddyi_fork_was_inside(void);

#endif
