/* signals.h: whether a signal handler is eddy's. */
#ifndef EDDYI_SIGNALS_H
#define EDDYI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Whether this is the handler of eddy/signal.h. */
bool eddyi_signal_is_handler(const struct sigaction *action);

#endif
