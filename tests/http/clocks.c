/* Tests of http/src/wire/clocks.h. */
#include "wire/clocks.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <time.h>

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
