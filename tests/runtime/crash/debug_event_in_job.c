/* Sets an event, which no loop has used yet, in a function of the offload pool: a data race, which EDDY_DEBUG finds.
 * expect: signal ABRT
 * expect: stderr debug_event_in_job.c:15: an event is used in a job of eddy_offload\(\): use it in the task, when eddy_offload\(\) has returned
 */
#include <eddy/event.h>
#include <eddy/offload.h>
#include <eddy/task.h>
#include <stdlib.h>

static struct eddy_event event;

static int job(void *arg)
{
	(void)arg;
	eddy_event_set(&event);
	return 0;
}

static int root(void *arg)
{
	eddy_event_init(&event);
	return eddy_offload(job, arg);
}

int main(void)
{
	setenv("EDDY_DEBUG", "1", 1);
	return eddy_run(NULL, root, NULL);
}
