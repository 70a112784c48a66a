/* eddy/ticker.h: do something in a task at equal intervals.
 *
 *     struct eddy_ticker ticker;
 *
 *     eddy_ticker_init(&ticker, EDDY_SECOND);
 *     while (eddy_ticker_next(&ticker) > 0)
 *             report();
 *
 * Ticks come at fixed times, one each period from eddy_ticker_init() on. Work between them does not
 * delay them, and they never drift. A ticker is a plain value and needs no clean-up.
 */
#ifndef EDDY_TICKER_H
#define EDDY_TICKER_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_ticker {
	uint64_t period_ns; /* read-only */
	uint64_t next_ns;   /* read-only: when the next tick is due; for eddy_case_at() */
	unsigned loop;      /* private: the owning loop; 0 before the first use */
};

/* Start a ticker, whose first tick is due one period from now. The period is at least 1 ns. */
EDDY_API void eddy_ticker_init(struct eddy_ticker *ticker, uint64_t period_ns);

/* Wait for the next tick. Suspends; if it is due already, only to let other tasks run.
 * Return: the number of ticks since the last call, at least 1, more if the caller took longer than
 * a period; -ECANCELED, and no ticks are lost to the next call. */
EDDY_API int64_t eddy_ticker_next(struct eddy_ticker *ticker, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_ticker_next(...) eddy_ticker_next(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
