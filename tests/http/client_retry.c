/* Tests of http/src/client/client_retry.c. */
#include "client/client.h"
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
		cr_assert(eq(int, eddyi_retry_next(&retry, 0, &delay), 0));
		cr_expect(delay <= most && delay >= most / 2, "%u: %lu", i, (unsigned long)delay);
		shortened += delay < most;
		most = most * 2 < 30 * EDDY_SECOND ? most * 2 : 30 * EDDY_SECOND;
	}
	cr_expect(shortened > 6);
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, &delay), -ETIME));
}

/* So many bytes begin a new row; fewer would let a server keep a client busy. */
Test(client_retry, counts_failures_in_a_row)
{
	const struct eddy_client_retry options = { .max = 2 };
	struct eddyi_retry retry = { .options = &options };
	uint64_t bytes = 0, delay;

	for (unsigned i = 0; i < 20; i++, bytes += 64 * EDDY_KIB) {
		cr_expect(eq(int, eddyi_retry_next(&retry, bytes, &delay), 0));
		cr_expect(delay <= 250 * EDDY_MS);
	}
	cr_expect(eq(int, eddyi_retry_next(&retry, bytes - 1, &delay), 0));
	cr_expect(eq(int, eddyi_retry_next(&retry, bytes - 1, &delay), -ETIME));
}

Test(client_retry, limits_time)
{
	const struct eddy_client_retry options = { .time_max_ns = 20 * EDDY_MS, .delay_ns = 1 };
	const struct eddy_client_retry none = { .none = true };
	struct eddyi_retry retry = { .options = &options };
	uint64_t delay;

	retry.after_ns = 10 * EDDY_MS;
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, &delay), 0));
	cr_expect(eq(u64, delay, 10 * EDDY_MS));
	retry.after_ns = 21 * EDDY_MS;
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, &delay), -ETIME));
	retry.after_ns = 0;
	usleep(30000);
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, &delay), -ETIME));
	retry = (struct eddyi_retry){ .options = &none };
	cr_expect(eq(int, eddyi_retry_next(&retry, 0, &delay), -ETIME));
}

/* Whether a server is there at all is not known before it has answered. */
Test(client_retry, knows_what_passes)
{
	static const struct {
		int error;
		bool at_first, later;
	} rows[] = { { -ECONNRESET, true, true },
		     { -EPIPE, true, true },
		     { -ECONNREFUSED, false, true },
		     { -ETIMEDOUT, false, true },
		     { -ENOSPC, false, false } };
	struct eddyi_retry retry = { .after_ns = 1 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_expect(eq(int, eddyi_retry_fail(&retry, rows[i].error, false), rows[i].error));
		cr_expect(retry.is_passing == rows[i].at_first, "%zu", i);
		eddyi_retry_fail(&retry, rows[i].error, true);
		cr_expect(retry.is_passing == rows[i].later, "%zu", i);
	}
	cr_expect(eq(u64, retry.after_ns, 0));
}

Test(client_retry, maps_statuses)
{
	static const struct {
		int status, error;
		bool is_passing;
	} rows[] = { { 401, -EACCES, false },   { 410, -ENOENT, false },
		     { 413, -EFBIG, false },    { 408, -EAGAIN, true },
		     { 500, -EREMOTEIO, true }, { 501, -EREMOTEIO, false },
		     { 504, -EREMOTEIO, true }, { 302, -EREMOTEIO, false } };
	struct eddy_client client = { 0 };
	struct eddyi_retry retry = { .client = &client };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct eddy_response response = { .head.status = rows[i].status };

		cr_expect(eq(int, eddyi_retry_fail_status(&retry, &response), rows[i].error));
		cr_expect(retry.is_passing == rows[i].is_passing, "%zu", i);
		cr_expect(strstr(client.error, "the server answered ") != NULL);
	}
}
