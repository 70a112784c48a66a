/* The program has a handler of its own for SIGSEGV.
 * expect: exit 3
 * expect: stderr ^$
 */
#include <eddy/task.h>
#include <signal.h>
#include <unistd.h>

static void handle(int signo)
{
	(void)signo;
	_exit(3);
}

static int root(void *arg)
{
	(void)arg;
	raise(SIGSEGV);
	return 0;
}

int main(void)
{
	signal(SIGSEGV, handle);
	return eddy_run(NULL, root, NULL);
}
