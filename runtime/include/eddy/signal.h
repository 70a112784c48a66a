/* eddy/signal.h: wait for signals in a task, instead of handling them in signal handlers.
 *
 *     struct eddy_signals signals;
 *     int r = eddy_signals_open((int[]){ SIGINT, SIGTERM, 0 }, &signals);
 *     …
 *     int signo = eddy_signals_next(&signals);      // in a task
 *
 * Open them in main(), before any thread is made, so that all threads inherit the signal mask. A
 * thread that does not block a signal lets it end the process as usual.
 */
#ifndef EDDY_SIGNAL_H
#define EDDY_SIGNAL_H

#include <eddy/base.h>
#include <signal.h>

EDDY_BEGIN_DECLS

/* Private. */
struct eddy_signals {
	int fd;           /* above 2; 0 or -1 if closed */
	sigset_t blocked; /* those that were not blocked before */
};

/* Block the signals of a list that ends with 0, and collect them from now on. Needs no loop.
 * Return: 0; -EINVAL if one is no signal or can't be blocked; -EMFILE, -ENFILE. */
EDDY_API int eddy_signals_open(const int *signos, struct eddy_signals *ret_signals);

/* Wait for the next signal. Suspends. At most one of each kind is pending: the kernel merges
 * signals that come faster than they are fetched.
 * Return: its number; -ECANCELED; -EBADF if they are closed or were never opened. */
EDDY_API int eddy_signals_next(struct eddy_signals *signals);

/* Drop pending signals, and restore the mask that this thread had before. Call it on the same
 * thread. Does nothing the second time. */
EDDY_API void eddy_signals_close(struct eddy_signals *signals);

/* Unblock every signal and restore its default disposition, between fork(2) and exec(2) in the
 * child. Otherwise the child inherits what eddy blocks and ignores. */
EDDY_API void eddy_signals_reset(void);

EDDY_END_DECLS

#endif
