#include "client_retry.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>

#define RETRIES_MAX 10
#define TIME_MAX_NS (300 * EDDY_SECOND)
#define DELAY_NS (250 * EDDY_MS)
#define DELAY_MAX_NS (30 * EDDY_SECOND)
/* Bytes that begin a new row of retries: fewer could keep a transfer busy without end. */
#define PROGRESS_MIN (64 * EDDY_KIB)

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

int eddyi_retry_next(struct eddyi_retry *retry, uint64_t bytes, uint64_t after_ns,
		     uint64_t *ret_delay_ns)
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
	if (delay_ns < after_ns)
		delay_ns = after_ns;
	if (delay_ns > left_ns)
		return -ETIME;
	*ret_delay_ns = delay_ns;
	return 0;
}

bool eddyi_retry_is_passing(int error, bool answered)
{
	switch (error) {
	case -ECONNRESET:
	case -EPIPE:
		return true;
	case -EAGAIN: /* of the resolver */
	case -ECONNABORTED:
	case -ECONNREFUSED:
	case -EHOSTDOWN:
	case -EHOSTUNREACH:
	case -ENETDOWN:
	case -ENETUNREACH:
	case -ETIMEDOUT:
		return answered;
	default:
		return false;
	}
}

bool eddyi_retry_is_passing_status(int status)
{
	return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
	       status == 504;
}

int eddyi_retry_error_of(int status)
{
	switch (status) {
	case 401:
	case 403:
	case 407:
		return -EACCES;
	case 404:
	case 410:
		return -ENOENT;
	case 408:
	case 429:
	case 503:
		return -EAGAIN;
	case 413:
		return -EFBIG;
	default:
		return -EREMOTEIO;
	}
}
