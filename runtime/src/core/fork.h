/* fork.h: detaches a child of fork(2) from its parent's loop. Code with threads, locks or files of
 * its own registers its own pthread_atfork() handler. */
#ifndef EDDYI_FORK_H
#define EDDYI_FORK_H

/* Register the fork handler. Called by every loop before it creates its ring. */
void eddyi_fork_watch(void);

#endif
