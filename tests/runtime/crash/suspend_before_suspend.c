/* Suspends in what is called right before its task suspends.
 * expect: signal ABRT
 * expect: stderr task "main" suspends inside a function of eddyi_task_before_suspend\(\)
 */
#include <eddy/internal/loop.h>
#include <eddy/task.h>

static void rest(void *arg)
{
	(void)arg;
	eddy_yield();
}

static int root(void *arg)
{
	eddyi_task_before_suspend(rest, arg);
	return eddy_sleep(EDDY_MS);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
