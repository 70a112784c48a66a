/* eddy/signal.h: wait for signals in a task, instead of handling them in signal handlers.
 *
 *     struct eddy_signals signals;
 *     int r = eddy_signals_open((int[]){ SIGINT, SIGTERM, 0 }, &signals);
 *     …
 *     int signo = eddy_signals_next(&signals);      // in a task
 */
#ifndef EDDY_SIGNAL_H
#define EDDY_SIGNAL_H

#include <eddy/base.h>
#include <signal.h>

EDDY_BEGIN_DECLS

/* Private. Keep it at its address while it is open. */
struct eddy_signals {
	int fd; /* above 2; 0 or -1 if closed */
	sigset_t set;
	struct eddy_signals *older;
};

/* Collect the signals of a list that ends with 0, whichever thread gets them, from now on. If
 * several collect the same signal, the newest gets it. Unblocks them on this thread. Children of
 * fork(2) have the dispositions from before. Needs no loop.
 *
 * The handler has SA_RESTART. If a SIGINT or SIGTERM has not been fetched for a second, as when a
 * task holds the loop, the next one ends the process.
 * Return: 0; -EINVAL if one is no signal or can't be handled; -EMFILE, -ENFILE. */
EDDY_API int eddy_signals_open(const int *signos, struct eddy_signals *ret_signals);

/* Wait for the next signal. Suspends. At most one of each kind is pending: signals that come faster
 * than they are fetched are merged.
 * Return: its number; -ECANCELED; -EBADF if they are closed or were never opened. */
EDDY_API int eddy_signals_next(struct eddy_signals *signals);

/* Stop collecting. Pending signals go to an older collector, or are dropped; without one, the
 * dispositions and this thread's mask are restored. Call it on the same thread. Does nothing the
 * second time. */
EDDY_API void eddy_signals_close(struct eddy_signals *signals);

/* Unblock every signal and restore its default disposition, between fork(2) and exec(2) in the
 * child. Otherwise the child inherits what the program blocks and eddy ignores. */
EDDY_API void eddy_signals_reset(void);

EDDY_END_DECLS

#endif
