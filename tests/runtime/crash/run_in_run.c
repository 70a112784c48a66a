/* Runs a loop inside a loop.
 * expect: signal ABRT
 * expect: stderr eddy_run\(\) inside eddy_run\(\)
 */
#include <eddy/task.h>

static int root(void *arg)
{
	return eddy_run(NULL, root, arg);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
