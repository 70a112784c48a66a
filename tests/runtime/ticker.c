#include <eddy/ticker.h>

#include "expect.h"

#include <eddy/select.h>
#include <string.h>

TASK_TEST(ticker, never_early_and_never_drifts)
{
	uint64_t start = eddy_now(), ticks = 0;
	struct eddy_ticker ticker;

	eddy_ticker_init(&ticker, EDDY_MS);
	EXPECT(ticker.next_ns >= start + EDDY_MS);
	start = ticker.next_ns - EDDY_MS;
	while (ticks < 20) {
		int64_t n = eddy_ticker_next(&ticker);

		EXPECT(n >= 1);
		ticks += (uint64_t)n;
		/* As many as there have been periods, neither more nor fewer. */
		EXPECT(eddy_now() >= start + ticks * EDDY_MS);
		EXPECT_EQ(ticker.next_ns, start + (ticks + 1) * EDDY_MS);
	}
	return 0;
}

static int counts(void *arg)
{
	return ++*(int *)arg, 0;
}

TASK_TEST(ticker, says_how_many_were_missed)
{
	struct eddy_ticker ticker;
	struct eddy_scope scope;
	int ran = 0;
	int64_t n;

	eddy_ticker_init(&ticker, EDDY_SECOND);
	/* As if seven and a half periods had gone by. */
	ticker.next_ns -= 8 * EDDY_SECOND - EDDY_SECOND / 2;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "counts", counts, &ran);
	n = eddy_ticker_next(&ticker);
	EXPECT_EQ(n, 7);
	EXPECT_EQ(ran, 1);
	EXPECT(ticker.next_ns > eddy_now());
	EXPECT(ticker.next_ns <= eddy_now() + EDDY_SECOND);
	return eddy_scope_end(&scope);
}

static int ticks(void *arg)
{
	return (int)eddy_ticker_next(arg);
}

TASK_TEST(ticker, cancelled)
{
	struct eddy_ticker ticker;
	struct eddy_scope scope;
	struct eddyi_waiter *waiter;
	uint64_t next;

	eddy_ticker_init(&ticker, 100 * EDDY_SECOND);
	next = ticker.next_ns;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "ticks", ticks, &ticker);
	expect_turns(1);
	waiter = eddy_of(scope.tasks.next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "ticker"), 0);
	EXPECT(waiter->on == &ticker);
	eddy_scope_cancel(&scope);
	ticker.next_ns = 1;
	EXPECT_EQ(eddy_ticker_next(&ticker), -ECANCELED);
	EXPECT_EQ(ticker.next_ns, 1);
	ticker.next_ns = next;
	EXPECT_EQ(eddy_ticker_next(&ticker), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(ticker.next_ns, next);
	return 0;
}

TASK_TEST(ticker, in_a_select)
{
	struct eddy_ticker ticker;
	struct eddy_case one;

	eddy_ticker_init(&ticker, EDDY_MS);
	one = eddy_case_at(ticker.next_ns);
	EXPECT_EQ(eddy_select(&one, 1), 1);
	EXPECT(eddy_now() >= ticker.next_ns);
	EXPECT(eddy_ticker_next(&ticker) >= 1);
	return 0;
}
