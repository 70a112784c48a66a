/* A deadlock is the fault of no call, also with eddy in a shared library.
 * expect: signal ABRT
 * expect: stderr \neddy: deadlock, see above\n$
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
	return eddy_run(NULL, root, NULL);
}
