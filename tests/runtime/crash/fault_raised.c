/* Somebody sends SIGSEGV: no fault is to be repeated, and the process dies all the same.
 * expect: signal SEGV
 * expect: stderr ^$
 */
#include <eddy/task.h>
#include <signal.h>

static int root(void *arg)
{
	(void)arg;
	raise(SIGSEGV);
	return 0;
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
