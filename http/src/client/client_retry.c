#include "client_retry.h"

#include "client.h"
#include "message/status.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <eddy/task.h>
#include <errno.h>
#include <stdio.h>

#define REPORT_NS (100 * EDDY_MS)
#define RETRIES_MAX 10
#define TIME_MAX_NS (300 * EDDY_SECOND)
#define DELAY_NS (250 * EDDY_MS)
#define DELAY_MAX_NS (30 * EDDY_SECOND)
/* Bytes that begin a new row of retries: fewer could keep a transfer busy without end. */
#define PROGRESS_MIN (64 * EDDY_KIB)

/* ---- reports ---- */

static void report_now(struct eddyi_report *report)
{
	struct eddy_client_progress progress = { .total = UINT64_MAX, .retries = report->retries };
	uint64_t now_ns = eddy_now();

	if (!report->progress)
		return;
	report->fill(report->arg, &progress);
	progress.waits_for = report->waits_for;
	if (report->waits_for && report->wait_until_ns > now_ns)
		progress.wait_ns = report->wait_until_ns - now_ns;
	report->progress(report->progress_data, &progress);
}

static int report_on(void *arg)
{
	struct eddyi_report *report = arg;

	while (eddy_sleep(REPORT_NS) == 0)
		report_now(report);
	return 0;
}

void eddyi_report_begin(struct eddyi_report *report)
{
	eddy_scope_begin(&report->scope, NULL);
	report_now(report);
	/* On allocation failure there are fewer reports. */
	if (report->progress)
		eddy_scope_spawn(&report->scope, "report", report_on, report);
}

void eddyi_report_end(struct eddyi_report *report)
{
	report->waits_for = NULL;
	report_now(report);
	eddy_scope_end(&report->scope);
}

/* ---- failures ---- */

int eddyi_retry_fail(struct eddyi_retry *retry, int error, bool answered)
{
	retry->after_ns = 0;
	switch (error) {
	case -ECONNRESET:
	case -EPIPE:
		retry->is_passing = true;
		break;
	case -EAGAIN: /* of the resolver */
	case -ECONNABORTED:
	case -ECONNREFUSED:
	case -EHOSTDOWN:
	case -EHOSTUNREACH:
	case -ENETDOWN:
	case -ENETUNREACH:
	case -ETIMEDOUT:
		retry->is_passing = answered;
		break;
	default:
		retry->is_passing = false;
	}
	return error;
}

int eddyi_retry_fail_status(struct eddyi_retry *retry, const struct eddy_response *response)
{
	static const struct {
		int status, error;
		bool is_passing;
	} rows[] = {
		{ 401, -EACCES, false },   { 403, -EACCES, false }, { 404, -ENOENT, false },
		{ 407, -EACCES, false },   { 408, -EAGAIN, true },  { 410, -ENOENT, false },
		{ 413, -EFBIG, false },    { 429, -EAGAIN, true },  { 500, -EREMOTEIO, true },
		{ 502, -EREMOTEIO, true }, { 503, -EAGAIN, true },  { 504, -EREMOTEIO, true },
	};
	int status = eddy_response_status(response), error = -EREMOTEIO;

	retry->is_passing = false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].status == status) {
			error = rows[i].error;
			retry->is_passing = rows[i].is_passing;
		}
	retry->after_ns = 0;
	eddy_response_retry_after(response, &retry->after_ns);
	return eddyi_client_fail(retry->client, error, "the server answered %d %s", status,
				 eddyi_status_phrase(status));
}

/* ---- the next try ---- */

static uint64_t value_or(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

/* Double the delay with each failure, and shorten it at random, so that clients of a server that
 * was away do not come back together. */
static uint64_t back_off(const struct eddyi_retry *retry)
{
	uint64_t delay_ns = value_or(retry->options->delay_ns, DELAY_NS), random = 0;

	for (unsigned i = 1; i < retry->count && delay_ns < DELAY_MAX_NS; i++)
		delay_ns *= 2;
	if (delay_ns > DELAY_MAX_NS)
		delay_ns = DELAY_MAX_NS;
	eddyi_random(&random, sizeof(random), GRND_NONBLOCK);
	return delay_ns - random % (delay_ns / 2 + 1);
}

int eddyi_retry_next(struct eddyi_retry *retry, uint64_t bytes, uint64_t *ret_delay_ns)
{
	const struct eddy_client_retry *options = retry->options;
	uint64_t now_ns = eddy_now(), delay_ns, left_ns;

	if (!retry->count || bytes - retry->bytes >= PROGRESS_MIN) {
		retry->count = 0;
		retry->since_ns = now_ns;
		retry->bytes = bytes;
	}
	if (options->none || retry->count++ >= (options->max ? options->max : RETRIES_MAX))
		return -ETIME;
	left_ns = value_or(options->time_max_ns, TIME_MAX_NS);
	if (now_ns - retry->since_ns >= left_ns)
		return -ETIME;
	left_ns -= now_ns - retry->since_ns;
	delay_ns = back_off(retry);
	if (delay_ns < retry->after_ns)
		delay_ns = retry->after_ns;
	if (delay_ns > left_ns)
		return -ETIME;
	*ret_delay_ns = delay_ns;
	return 0;
}

int eddyi_retry_wait(struct eddyi_retry *retry, struct eddyi_report *report, uint64_t bytes,
		     int failure)
{
	uint64_t delay_ns;
	int r;

	if (!retry->is_passing || eddyi_retry_next(retry, bytes, &delay_ns) < 0)
		return failure;
	snprintf(retry->problem, sizeof(retry->problem), "%s", eddy_client_error(retry->client));
	report->retries++;
	report->waits_for = retry->problem;
	report->wait_until_ns = eddy_now() + delay_ns;
	report_now(report);
	r = eddy_sleep(delay_ns);
	if (report->waits_for == retry->problem)
		report->waits_for = NULL;
	return r;
}
