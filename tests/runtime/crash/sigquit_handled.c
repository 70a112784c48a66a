/* The program handles SIGQUIT itself.
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
	kill(getpid(), SIGQUIT);
	return eddy_sleep(EDDY_SECOND);
}

int main(void)
{
	signal(SIGQUIT, handle);
	return eddy_run(NULL, root, NULL);
}
