/* Tests of http/src/wire/pace.h: rates are judged by the clock of the test. */
#include "wire/pace.h"

#include "wire/clocks.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/runtime.h>

static const struct eddyi_pace_rule rule = { .rate_min = 500, .grace_ns = 20 * EDDY_SECOND };

static enum eddyi_verdict at(struct eddyi_flow *flow, unsigned ms, uint64_t bytes)
{
	return eddyi_pace_judge(flow, ms * EDDY_MS, bytes, &rule);
}

Test(pace, nothing_comes)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned ms = 500; ms < 20000; ms += 500)
		cr_expect(eq(int, at(&flow, ms, 0), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 20000, 0), EDDYI_PACE_TOO_SLOW));
}

Test(pace, just_enough)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned ms = 500; ms < 600000; ms += 500)
		cr_expect(eq(int, at(&flow, ms, ms / 2), EDDYI_PACE_ENOUGH));
}

Test(pace, just_too_little)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned ms = 500; ms < 20000; ms += 500)
		cr_expect(ne(int, at(&flow, ms, ms * 49 / 100), EDDYI_PACE_TOO_SLOW));
	cr_expect(eq(int, at(&flow, 20000, 9800), EDDYI_PACE_TOO_SLOW));
}

/* On average: in pieces that are far between. */
Test(pace, bursts)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned s = 1; s < 600; s++)
		cr_expect(ne(int, at(&flow, s * 1000, (s + 15) / 15 * 7500), EDDYI_PACE_TOO_SLOW));
}

Test(pace, a_late_beginning)
{
	struct eddyi_flow flow = { 0 };

	cr_expect(eq(int, at(&flow, 19000, 0), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 19500, 10000), EDDYI_PACE_ENOUGH));
	cr_expect(eq(int, at(&flow, 20000, 10000), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 20500, 10000), EDDYI_PACE_TOO_SLOW));
}

/* A megabyte at the beginning buys no half an hour. */
Test(pace, far_ahead)
{
	struct eddyi_flow flow = { 0 };

	cr_expect(eq(int, at(&flow, 500, 1 << 20), EDDYI_PACE_ENOUGH));
	for (unsigned ms = 1000; ms <= 40500; ms += 500)
		cr_expect(eq(int, at(&flow, ms, 1 << 20), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 41000, 1 << 20), EDDYI_PACE_TOO_SLOW));
}

static unsigned looks;

static void look(struct eddy_timeout *timeout)
{
	(void)timeout;
	looks++;
}

static int wait_twice(void *arg)
{
	struct eddyi_pace pace = { .timeout.expire = look };
	struct eddyi_clocks clocks;

	(void)arg;
	eddyi_clocks_init(&clocks, &(struct eddy_server_options){ .rate_grace_ns = 800 * EDDY_MS },
			  0);
	/* Valgrind's first sleep takes longer than the first timeout. */
	eddy_sleep(EDDY_MS);
	eddyi_pace_wait(&pace, &pace.body, &clocks);
	cr_expect(pace.waiting == &pace.body);
	eddy_sleep(5 * EDDY_MS);
	eddyi_pace_go_on(&pace);
	cr_expect(pace.waiting == NULL);
	cr_expect(pace.body.waited_ns >= 5 * EDDY_MS);
	cr_expect(eq(u64, pace.answer.waited_ns, 0));
	/* Not judged, but the timeout of the first wait goes on. */
	eddyi_pace_wait(&pace, NULL, &clocks);
	eddy_sleep(200 * EDDY_MS);
	eddyi_pace_go_on(&pace);
	cr_expect(eq(u64, pace.answer.waited_ns, 0));
	cr_expect(eq(uint, looks, 1));
	eddyi_clocks_deinit(&clocks);
	return 0;
}

Test(pace, counts_the_time_of_waits)
{
	cr_assert(eq(int, eddy_run(NULL, wait_twice, NULL), 0));
}
