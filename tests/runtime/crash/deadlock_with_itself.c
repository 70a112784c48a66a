/* A task waits for an event that nobody sets.
 * expect: signal ABRT
 * expect: stderr ^eddy: deadlock: .*\neddy: loop 1 "alone" .*\n└─ #1 "alone" .*: event 0x[0-9a-f]+, for [0-9]+ ms\n
 */
#include <eddy/event.h>
#include <eddy/task.h>

static int root(void *arg)
{
	struct eddy_event event;

	(void)arg;
	eddy_event_init(&event);
	return eddy_event_wait(&event);
}

int main(void)
{
	return eddy_run(&(struct eddy_loop_options){ .name = "alone" }, root, NULL);
}
