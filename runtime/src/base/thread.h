/* thread.h: starts the library's own threads, with signals blocked. */
#ifndef EDDYI_THREAD_H
#define EDDYI_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Get all signals except those that a thread raises by a fault of its own. */
void eddyi_thread_signals(sigset_t *ret_set);

/* Start a thread with these signals blocked. Return: 0, -errno: -EAGAIN if there are too many. */
int eddyi_thread_start(pthread_t *ret_thread, void *(*fn)(void *arg), void *arg);

/* Let other threads run, as sched_yield() does. A recording does not see it. */
void eddyi_thread_yield(void);

#endif
