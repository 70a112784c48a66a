/* Stops the timeline in the subscriber, as a record says that the file is full: the thread that tells it would wait for itself.
 * expect: signal ABRT
 * expect: stderr eddy_trace_stop\(\) is called in a log subscriber
 */
#include <eddy/log.h>
#include <eddy/timeline.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void stop(const struct eddy_record *record, __attribute__((unused)) void *arg)
{
	if (strcmp(record->target, "eddy::timeline") == 0)
		eddy_trace_stop();
}

int main(void)
{
	struct eddy_trace_options options = { .file_max = 64 * EDDY_KIB };
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd_create("timeline", 0));
	options.path = path;
	if (eddy_log_subscribe(stop, NULL) < 0 || eddy_trace_start(&options) < 0)
		return 1;
	for (;;)
		eddy_trace_span(eddy_str_from("one of many"), 1, 2, NULL);
}
