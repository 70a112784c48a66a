/* fork.h: a child of fork(2) has no loop of its parent's. Whoever has threads, locks or files of its own begins anew there
 * by a pthread_atfork() of its own. */
#ifndef EDDYI_FORK_H
#define EDDYI_FORK_H

/* See to it that children know what they are. Called by every loop, before its ring is made. */
void eddyi_fork_watch(void);

#endif
