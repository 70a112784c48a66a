/* After its loop SIGQUIT ends the process as ever.
 * expect: signal QUIT
 * expect: stderr ^$
 */
#include <eddy/task.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static int root(void *arg)
{
	(void)arg;
	return eddy_yield();
}

int main(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	if (eddy_run(NULL, root, NULL) < 0)
		return 1;
	kill(getpid(), SIGQUIT);
	pause();
	return 0;
}
