/* A loop at rest goes on by a signal of eddy_main(), and has work of its own to do: what waits for that on
 * another loop is in no deadlock.
 * expect: exit 0
 * expect: stderr ^$
 */
#include <eddy/event.h>
#include <eddy/loops.h>
#include <eddy/main.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <signal.h>
#include <unistd.h>

#define LONG (60 * EDDY_MS)

static struct eddy_shared_event cleaned_up;

static int each(void *arg)
{
	struct eddy_scope shield;

	(void)arg;
	if (eddy_loops_index() == 0) {
		struct eddy_event never;

		eddy_event_init(&never);
		eddy_event_wait(&never);
	} else {
		eddy_sleep(LONG);
		kill(getpid(), SIGTERM);
	}
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	if (eddy_loops_index() == 0) {
		eddy_sleep(LONG);
		eddy_shared_event_set(&cleaned_up);
	} else {
		eddy_shared_event_wait(&cleaned_up);
	}
	return eddy_scope_end(&shield);
}

static int run(void *arg)
{
	return eddy_loops_run(&(struct eddy_loops_options){ .count = 2 }, each, arg);
}

int main(void)
{
	eddy_shared_event_init(&cleaned_up);
	return eddy_main(run, NULL);
}
