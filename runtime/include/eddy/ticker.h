/* eddy/ticker.h: a task that does something at equal intervals.
 *
 *     struct eddy_ticker ticker;
 *
 *     eddy_ticker_init(&ticker, EDDY_SECOND);
 *     while (eddy_ticker_next(&ticker) > 0)
 *             report();
 *
 * Ticks come at fixed times, period after period from eddy_ticker_init() on: whatever is done in between
 * takes nothing away and never makes them drift. A ticker is a plain value and needs no clean-up.
 */
#ifndef EDDY_TICKER_H
#define EDDY_TICKER_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_ticker {
	uint64_t period_ns; /* read-only */
	uint64_t next_ns;   /* read-only: when the next tick is due; for eddy_case_at() */
	unsigned loop;      /* private: the loop that it belongs to; 0: none yet */
};

/* Begin to tick: first in one period from now. The period is at least 1 ns. */
EDDY_API void eddy_ticker_init(struct eddy_ticker *ticker, uint64_t period_ns);

/* Wait for the next tick. Suspends; when it is due already, only to let others run first.
 * Return: how many ticks have passed since the last call, at least 1: more when the caller took longer
 * than a period; -ECANCELED: none of them is lost to the next call. */
EDDY_API int64_t eddy_ticker_next(struct eddy_ticker *ticker, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_ticker_next(...) eddy_ticker_next(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
