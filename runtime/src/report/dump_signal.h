/* dump_signal.h: a thread that dumps all loops on SIGQUIT. */
#ifndef EDDYI_DUMP_SIGNAL_H
#define EDDYI_DUMP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

struct eddy_loop;

/* Answer SIGQUIT on this loop, unless another loop or the program uses it, or it is blocked. */
void eddyi_dump_signal_begin(struct eddy_loop *loop);

/* Whether this is the handler of SIGQUIT. */
bool eddyi_dump_signal_is_handler(const struct sigaction *action);

/* Restore the default action of SIGQUIT, if this loop answers it. */
void eddyi_dump_signal_end(const struct eddy_loop *loop);

#endif
