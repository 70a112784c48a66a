/* thread.h: threads of the library's own, whose business no signal is. */
#ifndef EDDYI_THREAD_H
#define EDDYI_THREAD_H

#include <pthread.h>
#include <signal.h>

/* All signals but those that a thread raises by its own fault. */
void eddyi_thread_signals(sigset_t *ret_set);

/* Start a thread to which none of these comes. Return: 0, -errno: -EAGAIN when there are too many. */
int eddyi_thread_start(pthread_t *ret_thread, void *(*fn)(void *));

#endif
