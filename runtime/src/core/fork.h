/* fork.h: what a child of fork(2) has of its parent's runtime: no loop, and no threads. */
#ifndef EDDYI_FORK_H
#define EDDYI_FORK_H

#include <stdbool.h>

/* See to it that children know what they are. Called by every loop, before its ring is made. */
void eddyi_fork_watch(void);

/* Whether a loop ran in the parent as this process was forked: what is left of that one stands in the
 * way of a loop of its own. */
bool eddyi_fork_was_inside(void);

#endif
