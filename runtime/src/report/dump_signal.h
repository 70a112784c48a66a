/* dump_signal.h: SIGQUIT, answered by a dump of all loops. */
#ifndef EDDYI_DUMP_SIGNAL_H
#define EDDYI_DUMP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

struct eddy_loop;

/* Answer SIGQUIT on this loop, unless another one does, or the program has a use for the signal: handles,
 * ignores or blocks it. */
void eddyi_dump_signal_begin(struct eddy_loop *loop);

/* Cancel the op that waits for it; the signal is as before when that has completed. On the loop that
 * does not answer it: does nothing. */
void eddyi_dump_signal_cancel(struct eddy_loop *loop);

/* Whether this is how SIGQUIT is passed on from threads that are no loop's. */
bool eddyi_dump_signal_is_handler(const struct sigaction *action);

/* Let SIGQUIT end the process again, as before. Its op has completed. */
void eddyi_dump_signal_end(struct eddy_loop *loop);

#endif
