/* client_retry.h: when a transfer is tried again, and the reports of how far it is. */
#ifndef EDDYI_CLIENT_RETRY_H
#define EDDYI_CLIENT_RETRY_H

#include <eddy/client_transfer.h>
#include <eddy/scope.h>

/* Invariant: `scope` has a task that reports, from begin to end. */
struct eddyi_report {
	eddy_client_progress_fn *progress; /* NULL: none */
	void *progress_data;
	/* Fill in how far the transfer is. */
	void (*fill)(void *arg, struct eddy_client_progress *progress);
	void *arg;
	unsigned retries;
	const char *waits_for; /* of the last wait that has not ended */
	uint64_t wait_until_ns;
	struct eddy_scope scope;
};

/* Report now, and then ten times a second. */
void eddyi_report_begin(struct eddyi_report *report);

/* Report for the last time. Suspends. */
void eddyi_report_end(struct eddyi_report *report);

/* The tries of a transfer, or of one of its connections. Invariant: `count` failures in a row, the
 * first at `since_ns`, when `bytes` had been moved. */
struct eddyi_retry {
	struct eddy_client *client;
	const struct eddy_client_retry *options;
	unsigned count;
	uint64_t since_ns;
	uint64_t bytes;
	/* Of the last failure: */
	bool is_passing;
	uint64_t after_ns; /* the delay that the server asks for; 0: none */
	char problem[256]; /* its description during the wait */
};

/* Note that a call has failed with `error`. Before the first response (`answered`), connection
 * errors are final. Return: `error`. */
int eddyi_retry_fail(struct eddyi_retry *retry, int error, bool answered);

/* Note a response that is no success, and describe it. Return: its error. */
int eddyi_retry_fail_status(struct eddyi_retry *retry, const struct eddy_response *response);

/* Count a failure, when the transfer has moved `bytes`.
 * Return: 0, and the delay before the next try; -ETIME if there is none. */
int eddyi_retry_next(struct eddyi_retry *retry, uint64_t bytes, uint64_t *ret_delay_ns);

/* Wait before the next try after `failure`, as the report shows. Suspends.
 * Return: 0; `failure` if it is not passing or there is no further try; -ECANCELED. */
int eddyi_retry_wait(struct eddyi_retry *retry, struct eddyi_report *report, uint64_t bytes,
		     int failure);

#endif
