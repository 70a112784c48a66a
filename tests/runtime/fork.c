#include "../on_tsan.h"
#include "core/loop.h"

#include <criterion/criterion.h>
#include <eddy/loop.h>
#include <eddy/offload.h>
#include <sys/wait.h>
#include <unistd.h>

static int answer(void *arg)
{
	(void)arg;
	return 42;
}

static int offload(void *arg)
{
	return eddy_offload(answer, arg);
}

/* With threads of its own: those of the parent's pool are not there. */
Test(fork, child_between_loops_may_run_its_own)
{
	int status = 0;
	pid_t child;

	need_threads_in_a_child();
	cr_assert_eq(eddy_run(NULL, offload, NULL), 42);
	child = fork();
	if (child == 0) {
		alarm(20);
		_exit(eddy_run(NULL, offload, NULL));
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status), "it ended by signal %d", WTERMSIG(status));
	cr_expect_eq(WEXITSTATUS(status), 42);
	cr_expect_eq(eddy_run(NULL, offload, NULL), 42);
}

static int fork_inside(void *arg)
{
	int status = 1;
	pid_t child = fork();

	(void)arg;
	if (child == 0)
		_exit(eddy_loop_self() || !eddyi_loop_was_forked);
	if (waitpid(child, &status, 0) != child || eddyi_loop_was_forked)
		return -1;
	return status;
}

/* What such a child may not do is in crash/forked_in_task. */
Test(fork, child_of_a_task_has_no_loop)
{
	cr_expect_eq(eddy_run(NULL, fork_inside, NULL), 0);
	cr_expect_eq(eddy_run(NULL, fork_inside, NULL), 0);
}
