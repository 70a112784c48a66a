/* A loop at rest goes on by a signal of eddy_main(), and has work of its own to do: what waits for that on
 * another loop is in no deadlock; nor while the loop has not noticed the signal, as it gets little of a busy processor.
 * expect: exit 0
 * expect: stderr ^$
 */
#include <eddy/event.h>
#include <eddy/loops.h>
#include <eddy/main.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LONG (60 * EDDY_MS)

static struct eddy_shared_event cleaned_up;

static void stay_on_first_processor(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
}

static void keep_first_processor_busy(void)
{
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stay_on_first_processor();
	for (;;)
		;
}

static int each(void *arg)
{
	struct eddy_scope shield;

	(void)arg;
	if (eddy_loops_index() == 0) {
		struct eddy_event never;

		stay_on_first_processor();
		sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 });
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
	for (int i = 0; i < 20; i++)
		keep_first_processor_busy();
	eddy_shared_event_init(&cleaned_up);
	return eddy_main(run, NULL);
}
