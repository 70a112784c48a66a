#include "client_report.h"

#include <eddy/loop.h>
#include <eddy/task.h>

#define REPORT_NS (100 * EDDY_MS)

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

int eddyi_report_wait(struct eddyi_report *report, const char *problem, uint64_t delay_ns)
{
	int r;

	report->retries++;
	report->waits_for = problem;
	report->wait_until_ns = eddy_now() + delay_ns;
	report_now(report);
	r = eddy_sleep(delay_ns);
	if (report->waits_for == problem)
		report->waits_for = NULL;
	return r;
}
