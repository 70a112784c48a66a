/* eddy/signal.h: signals as values that a task waits for, instead of handlers.
 *
 *     struct eddy_signals signals;
 *     int r = eddy_signals_open((int[]){ SIGINT, SIGTERM, 0 }, &signals);
 *     …
 *     int signo = eddy_signals_next(&signals);      // in a task
 *
 * Open them in main(), before any thread is made: threads inherit that these signals are blocked,
 * and one thread that does not block a signal is enough for it to end the process as ever.
 */
#ifndef EDDY_SIGNAL_H
#define EDDY_SIGNAL_H

#include <eddy/base.h>
#include <signal.h>

EDDY_BEGIN_DECLS

/* Private. */
struct eddy_signals {
	int fd;           /* -1 once closed */
	sigset_t blocked; /* those that the thread let through before */
};

/* Block the signals of a list that ends with 0, and collect them from now on. Needs no loop.
 * Return: 0; -EINVAL for what is no signal or can't be blocked; -EMFILE, -ENFILE. */
EDDY_API int eddy_signals_open(const int *signos, struct eddy_signals *ret_signals);

/* Wait for the next signal. Suspends. One of each kind waits at a time: the kernel merges those that
 * come faster than they are fetched.
 * Return: its number; -ECANCELED; -EBADF, they are closed. */
EDDY_API int eddy_signals_next(struct eddy_signals *signals);

/* Drop what was not fetched, and let this thread receive signals as before _open. To be called on the
 * same thread. Does nothing the second time. */
EDDY_API void eddy_signals_close(struct eddy_signals *signals);

/* Between fork(2) and exec(2), in the child: let every signal through, with the disposition that it
 * has by default. A child would inherit what eddy blocks and ignores. */
EDDY_API void eddy_signals_reset(void);

EDDY_END_DECLS

#endif
