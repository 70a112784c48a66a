/* Tests of http/src/client/client_retry.c. */
#include "client/client_retry.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <unistd.h>

Test(client_retry, doubles_delays)
{
	const struct eddy_client_retry options = { .max = 12, .time_max_ns = 1000 * EDDY_SECOND };
	struct eddyi_retry retry = { .options = &options };
	uint64_t most = 250 * EDDY_MS, delay, shortened = 0;

	for (unsigned i = 0; i < 12; i++) {
		cr_assert(eq(int, eddyi_retry_next(&retry, 0, 0, &delay), 0));
		cr_expect(delay <= most && delay >= most / 2, "%u: %lu", i, (unsigned long)delay);
		shortened += delay < most;
		most = most * 2 < 30 * EDDY_SECOND ? most * 2 : 30 * EDDY_SECOND;
	}
	cr_expect(shortened > 6);
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, 0, &delay), -ETIME));
}

/* So many bytes begin a new row; fewer would let a server keep a client busy. */
Test(client_retry, counts_failures_in_a_row)
{
	const struct eddy_client_retry options = { .max = 2 };
	struct eddyi_retry retry = { .options = &options };
	uint64_t bytes = 0, delay;

	for (unsigned i = 0; i < 20; i++, bytes += 64 * EDDY_KIB) {
		cr_expect(eq(int, eddyi_retry_next(&retry, bytes, 0, &delay), 0));
		cr_expect(delay <= 250 * EDDY_MS);
	}
	cr_expect(eq(int, eddyi_retry_next(&retry, bytes - 1, 0, &delay), 0));
	cr_expect(eq(int, eddyi_retry_next(&retry, bytes - 1, 0, &delay), -ETIME));
}

Test(client_retry, limits_time)
{
	const struct eddy_client_retry options = { .time_max_ns = 20 * EDDY_MS, .delay_ns = 1 };
	const struct eddy_client_retry none = { .none = true };
	struct eddyi_retry retry = { .options = &options };
	uint64_t delay;

	cr_expect(eq(int, eddyi_retry_next(&retry, 0, 10 * EDDY_MS, &delay), 0));
	cr_expect(eq(u64, delay, 10 * EDDY_MS));
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, 21 * EDDY_MS, &delay), -ETIME));
	usleep(30000);
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, 0, &delay), -ETIME));
	retry = (struct eddyi_retry){ .options = &none };
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, 0, &delay), -ETIME));
}

Test(client_retry, knows_what_passes)
{
	cr_expect(eddyi_retry_is_passing(-ECONNRESET, false));
	cr_expect(eddyi_retry_is_passing(-ECONNREFUSED, true));
	cr_expect(eddyi_retry_is_passing(-ECONNREFUSED, false) == false);
	cr_expect(eddyi_retry_is_passing(-ENOSPC, true) == false);
	cr_expect(eddyi_retry_is_passing_status(503));
	cr_expect(eddyi_retry_is_passing_status(501) == false);
}
