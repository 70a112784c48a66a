#include <eddy/ticker.h>

#include "core/own.h"
#include "core/wait.h"

#include <errno.h>

struct tick {
	struct eddyi_waiter waiter;
	struct eddy_timer timer;
};

void eddy_ticker_init(struct eddy_ticker *ticker, uint64_t period_ns)
{
	eddyi_assert(period_ns, "the period of a ticker must not be 0");
	ticker->period_ns = period_ns;
	ticker->next_ns = eddyi_time_after(eddy_now(), period_ns);
	ticker->loop = 0;
}

static void fire(struct eddy_timer *timer)
{
	eddyi_wake(&eddy_of(timer, struct tick, timer)->waiter, 0);
}

static int wait_until(struct eddy_ticker *ticker)
{
	struct tick tick = {
		.waiter = { .cancel = eddyi_cancel_wait, .what = "ticker", .on = ticker },
		.timer = { .fire = fire },
	};
	int r;

	eddy_timer_arm(&tick.timer, ticker->next_ns);
	r = eddyi_wait(&tick.waiter);
	eddy_timer_disarm(&tick.timer);
	return r;
}

int64_t(eddy_ticker_next)(struct eddy_ticker *ticker, const char *where)
{
	uint64_t count;
	int r;

	eddyi_own(&ticker->loop, "a ticker", where);
	if (!ticker->period_ns)
		eddyi_own_not_made("a ticker", "eddy_ticker_init", where);
	eddyi_task_at(where);
	r = eddy_now() < ticker->next_ns ? wait_until(ticker) : eddy_yield();
	if (r < 0)
		return r;
	count = (eddy_now() - ticker->next_ns) / ticker->period_ns + 1;
	ticker->next_ns = eddyi_time_after(ticker->next_ns, count * ticker->period_ns);
	return (int64_t)count;
}
