/* Suspends on the loop's stack.
 * expect: signal ABRT
 * expect: stderr ^eddy: eddy_yield\(\): this call suspends or needs a task, but is made outside a task
 */
#include <eddy/task.h>

static void suspend(void *arg)
{
	*(int *)arg = eddy_yield();
}

static int root(void *arg)
{
	eddy_on_loop_stack(suspend, arg);
	return 0;
}

int main(void)
{
	int result;

	return eddy_run(NULL, root, &result);
}
