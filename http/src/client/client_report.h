/* client_report.h: reports of how far a transfer is, and the waits between its tries. */
#ifndef EDDYI_CLIENT_REPORT_H
#define EDDYI_CLIENT_REPORT_H

#include "client_retry.h"

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

/* Wait before the next try. `problem` is static for the time. Suspends. Return: 0, -ECANCELED. */
int eddyi_report_wait(struct eddyi_report *report, const char *problem, uint64_t delay_ns);

#endif
