/* The option leaves SIGQUIT as it is: it ends the process.
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
	kill(getpid(), SIGQUIT);
	return eddy_sleep(EDDY_SECOND);
}

int main(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	return eddy_run(&(struct eddy_loop_options){ .no_dump_signal = true }, root, NULL);
}
