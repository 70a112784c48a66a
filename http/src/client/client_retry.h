/* client_retry.h: when a transfer is tried again. */
#ifndef EDDYI_CLIENT_RETRY_H
#define EDDYI_CLIENT_RETRY_H

#include <eddy/client_transfer.h>

/* Invariant: `count` failures in a row, the first at `since_ns`, when `bytes` had been moved. */
struct eddyi_retry {
	const struct eddy_client_retry *options;
	unsigned count;
	uint64_t since_ns;
	uint64_t bytes;
};

/* Note a failure, when `bytes` have been moved by the transfer. `after_ns` is the delay that the
 * server asks for, or 0.
 * Return: 0, and the delay before the next try; -ETIME if there is none. */
int eddyi_retry_next(struct eddyi_retry *retry, uint64_t bytes, uint64_t after_ns,
		     uint64_t *ret_delay_ns);

/* Whether a call that failed with `error` may succeed later. Whether a server is there at all is
 * not known before it has `answered`. */
bool eddyi_retry_is_passing(int error, bool answered);

/* The same of a status. */
bool eddyi_retry_is_passing_status(int status);

/* Map a status that is no success to an error. */
int eddyi_retry_error_of(int status);

#endif
