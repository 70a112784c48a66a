/* eddy/internal/signal.h: the handler of collected signals; for eddy's own layers. */
#ifndef EDDY_INTERNAL_SIGNAL_H
#define EDDY_INTERNAL_SIGNAL_H

#include <eddy/signal.h>
#include <stdbool.h>

EDDY_BEGIN_DECLS

struct sigaction;

/* Whether this is the handler of eddy/signal.h. */
EDDY_API bool eddyi_signal_is_handler(const struct sigaction *action);

/* Whether a signal waits for its handler, or to be taken from any collector. */
bool eddyi_signal_is_pending(void);

/* Take a pending signal when the descriptor is readable. Return: its number; -EAGAIN. */
int eddyi_signals_take(const struct eddy_signals *signals);

EDDY_END_DECLS

#endif
