/* Tests of http/src/wire/clocks.h: rates are judged by the clock of the test. */
#include "wire/clocks.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <time.h>

static const struct eddyi_pace_rule rule = { .rate_min = 500, .grace_ns = 20 * EDDY_SECOND };

static enum eddyi_verdict at(struct eddyi_flow *flow, unsigned ms, uint64_t bytes)
{
	return eddyi_pace_judge(flow, ms * EDDY_MS, bytes, &rule);
}

Test(clocks, nothing_comes)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned ms = 500; ms < 20000; ms += 500)
		cr_expect(eq(int, at(&flow, ms, 0), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 20000, 0), EDDYI_PACE_TOO_SLOW));
}

Test(clocks, just_enough)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned ms = 500; ms < 600000; ms += 500)
		cr_expect(eq(int, at(&flow, ms, ms / 2), EDDYI_PACE_ENOUGH));
}

Test(clocks, just_too_little)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned ms = 500; ms < 20000; ms += 500)
		cr_expect(ne(int, at(&flow, ms, ms * 49 / 100), EDDYI_PACE_TOO_SLOW));
	cr_expect(eq(int, at(&flow, 20000, 9800), EDDYI_PACE_TOO_SLOW));
}

/* On average: in pieces that are far between. */
Test(clocks, bursts)
{
	struct eddyi_flow flow = { 0 };

	for (unsigned s = 1; s < 600; s++)
		cr_expect(ne(int, at(&flow, s * 1000, (s + 15) / 15 * 7500), EDDYI_PACE_TOO_SLOW));
}

Test(clocks, a_late_beginning)
{
	struct eddyi_flow flow = { 0 };

	cr_expect(eq(int, at(&flow, 19000, 0), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 19500, 10000), EDDYI_PACE_ENOUGH));
	cr_expect(eq(int, at(&flow, 20000, 10000), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 20500, 10000), EDDYI_PACE_TOO_SLOW));
}

/* A megabyte at the beginning buys no half an hour. */
Test(clocks, far_ahead)
{
	struct eddyi_flow flow = { 0 };

	cr_expect(eq(int, at(&flow, 500, 1 << 20), EDDYI_PACE_ENOUGH));
	for (unsigned ms = 1000; ms <= 40500; ms += 500)
		cr_expect(eq(int, at(&flow, ms, 1 << 20), EDDYI_PACE_SLOW));
	cr_expect(eq(int, at(&flow, 41000, 1 << 20), EDDYI_PACE_TOO_SLOW));
}

/* ---- timeouts, and the lines of every head ---- */

Test(clocks, checks_follow_the_options)
{
	struct eddyi_clocks clocks;

	eddyi_clocks_init(&clocks,
			  &(struct eddy_server_options){
				  .head_timeout_ns = 7 * EDDY_SECOND,
				  .write_timeout_ns = 20 * EDDY_SECOND,
				  .rate_grace_ns = EDDY_SECOND,
			  },
			  0);
	cr_expect(eq(u64, clocks.handshake.duration_ns, 7 * EDDY_SECOND));
	cr_expect(eq(u64, clocks.write.duration_ns, 5 * EDDY_SECOND));
	cr_expect(eq(u64, clocks.pace.duration_ns, EDDY_SECOND / 8));
	eddyi_clocks_init(&clocks,
			  &(struct eddy_server_options){ .rate_grace_ns = 60 * EDDY_SECOND },
			  EDDY_SECOND);
	cr_expect(eq(u64, clocks.handshake.duration_ns, EDDY_SECOND));
	cr_expect(eq(u64, clocks.pace.duration_ns, EDDYI_PACE_LOOK_NS));
}

Test(clocks, own_lines_have_the_date_of_this_second)
{
	struct eddyi_clocks clocks;
	struct eddy_str lines, date;
	time_t before = time(NULL), when = 0;

	eddyi_clocks_init(&clocks, &(struct eddy_server_options){ 0 }, 0);
	for (int i = 0; i < 2; i++) {
		lines = eddyi_clocks_own_lines(&clocks);
		cr_assert(eddy_str_starts(lines, EDDY_STR(EDDYI_OWN_LINES)));
		date = eddy_str_skip(lines, sizeof(EDDYI_OWN_LINES) - 1);
		cr_assert(eq(sz, date.len, EDDYI_DATE_LEN + 2));
		cr_expect_arr_eq(date.ptr + EDDYI_DATE_LEN, "\r\n", 2);
		date.len = EDDYI_DATE_LEN;
		cr_assert_eq(eddyi_date_parse(date, before, &when), 0);
		cr_expect(ge(i64, when, before));
		cr_expect(le(i64, when, time(NULL)));
		/* Lines of an earlier second are written anew. */
		clocks.date_at = before - 1;
		memset(clocks.own, 'x', sizeof(clocks.own));
	}
}
