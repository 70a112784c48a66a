/* Touches what is not there in code that a task runs on its loop's stack.
 * expect: signal SEGV
 * expect: stderr in task "main" \(#1, spawned at eddy_run\(\)\), on its loop's stack\n$
 */
#include <eddy/task.h>

static void touch(void *address)
{
	__asm__ volatile("" : "+r"(address));
	*(volatile char *)address = 1;
}

static int root(void *arg)
{
	(void)arg;
	eddy_on_loop_stack(touch, (void *)16);
	return 0;
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
