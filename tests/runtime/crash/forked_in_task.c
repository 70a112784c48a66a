/* Children that are forked while a loop runs: none may use it, come back to it, or run one of its own, and the
 * parent's goes on.
 * expect: exit 3
 * expect: stderr suspends: 6\n
 * expect: stderr comes back: 6\n
 * expect: stderr runs: 6\n
 * expect: stderr a child of fork\(\) has no loop, as loops run in the parent only: call exec or _exit\(\)
 * expect: stderr eddy_run\(\) in a child of fork\(\), whose parent was running a loop: fork before eddy_run\(\)
 */
#include <eddy/scope.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static int suspends(void *arg)
{
	(void)arg;
	return fork() ? 0 : eddy_sleep(0);
}

static int comes_back(void *arg)
{
	(void)arg;
	fork();
	return 0;
}

static int runs(void *arg)
{
	(void)arg;
	if (fork() == 0)
		_exit(eddy_run(NULL, nothing, NULL));
	return 0;
}

static void try(const char *name, eddy_task_fn *fn)
{
	struct eddy_scope scope;
	int status = 0;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, name, fn, NULL);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	wait(&status);
	fprintf(stderr, "%s: %d\n", name, WIFSIGNALED(status) ? WTERMSIG(status) : -status);
}

static int root(void *arg)
{
	(void)arg;
	try("suspends", suspends);
	try("comes back", comes_back);
	try("runs", runs);
	return eddy_sleep(EDDY_MS) == 0 ? 3 : 4;
}

int main(void)
{
	alarm(30);
	return eddy_run(NULL, root, NULL);
}
