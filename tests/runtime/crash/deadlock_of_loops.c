/* Three loops wake each other for a while by messages, and then all wait.
 * expect: signal ABRT
 * expect: stderr ^eddy: deadlock: .*\neddy: loop 1 "main" .*
 * expect: stderr \neddy: loop 2 "main" .*
 * expect: stderr \neddy: loop 3 "main" .*
 */
#include <eddy/loops.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>

static struct eddy_shared_event never;

static int nothing(void *arg)
{
	(void)arg;
	return eddy_yield();
}

static int each(void *arg)
{
	unsigned next = (eddy_loops_index() + 1) % eddy_loops_count();

	(void)arg;
	for (int i = 0; i < 1000; i++)
		eddy_loops_call(eddy_loops_at(next), "call", nothing, NULL);
	return eddy_shared_event_wait(&never);
}

int main(void)
{
	eddy_shared_event_init(&never);
	return eddy_loops_run_blocking(
		&(struct eddy_loops_options){ .count = 3, .loop = { .name = "main" } }, each, NULL);
}
