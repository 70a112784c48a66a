/* SIGQUIT shows all loops and ends nothing; children begin with its default.
 * expect: exit 0
 * expect: stderr ^eddy: loop 1 "quit" .*\n└─ #1 "quit" .*\n
 * expect: stderr └─ #3 "asks" .*: sleep, for [0-9]+ [mu]s\n
 * expect: stderr \neddy: loop 2 "quit" .*\n└─ #1 "quit" .*: (shared event 0x|ready)
 */
#include <eddy/loops.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct eddy_shared_event end;

static bool is_handled(void)
{
	struct sigaction action;

	return sigaction(SIGQUIT, NULL, &action) < 0 || action.sa_handler != SIG_DFL;
}

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

static int asks(void *arg)
{
	int status = 1;
	pid_t child;

	(void)arg;
	check(is_handled(), "handled while a loop runs");
	kill(getpid(), SIGQUIT);
	eddy_sleep(100 * EDDY_MS);
	kill(getpid(), SIGQUIT);
	eddy_sleep(100 * EDDY_MS);
	child = fork();
	if (child == 0)
		_exit(is_handled());
	check(waitpid(child, &status, 0) == child && status == 0, "not handled in a child");
	eddy_shared_event_set(&end);
	/* Comes while the loops end: shown or dropped. */
	kill(getpid(), SIGQUIT);
	return 0;
}

static int each(void *arg)
{
	struct eddy_scope scope;

	if (eddy_loops_index())
		return eddy_shared_event_wait(&end);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "asks", asks, arg);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(void)
{
	struct eddy_loops_options options = { .count = 2, .loop = { .name = "quit" } };

	eddy_shared_event_init(&end);
	/* The second time as well as the first. */
	for (int i = 0; i < 2; i++) {
		end.is_set = false;
		check(eddy_loops_run_blocking(&options, each, NULL) == 0, "runs");
		check(!is_handled(), "not handled when no loop runs");
	}
	return 0;
}
