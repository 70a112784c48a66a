#include "../on_tsan.h"
#include "children.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

TestSuite(process, .init = skip_under_valgrind);

/* --- how it ends */

TASK_TEST(process, exit_codes_and_signals)
{
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = ARGV("true") }), 0);
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = SH("exit 3") }), 3);
	EXPECT_EQ(status.signo, 0);
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = SH("exit 255") }), 255);
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = SH("kill -TERM $$") }), -SIGTERM);
	EXPECT_EQ(status.code, -1);
	EXPECT(!status.core_dumped);
	EXPECT(!has_children());
	return 0;
}

TASK_TEST(process, the_status_may_be_asked_for_again)
{
	const struct eddy_process_options options = { .argv = SH("exit 4") };

	EXPECT_EQ(eddy_process_start(&options, &process), 0);
	EXPECT_EQ(eddy_process_wait(&process, NULL), 0);
	EXPECT_EQ(eddy_process_wait(&process, &status), 0);
	EXPECT_EQ(status.code, 4);
	EXPECT_EQ(eddy_process_kill(&process, SIGTERM), -ESRCH);
	eddy_process_close(&process);
	eddy_process_close(&process);
	return 0;
}

static int wait_task(void *arg)
{
	struct eddy_process_status mine = { 0 };

	EXPECT_EQ(eddy_process_wait(arg, &mine), 0);
	EXPECT_EQ(mine.signo, SIGUSR1);
	return 0;
}

TASK_TEST(process, several_tasks_wait)
{
	struct eddy_scope scope;

	EXPECT_EQ(eddy_process_start(&(struct eddy_process_options){ .argv = ARGV("sleep", "100") },
				     &process),
		  0);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 5; i++)
		eddy_scope_spawn(&scope, "waiter", wait_task, &process);
	expect_turns(2);
	EXPECT_EQ(eddy_process_kill(&process, SIGUSR1), 0);
	eddy_scope_join(&scope);
	eddy_process_close(&process);
	return eddy_scope_end(&scope);
}

TASK_TEST(process, a_status_that_somebody_else_took_is_an_error)
{
	EXPECT_EQ(eddy_process_start(&(struct eddy_process_options){ .argv = ARGV("true") },
				     &process),
		  0);
	EXPECT_EQ(waitpid(process.pid, NULL, 0), process.pid);
	EXPECT_EQ(eddy_process_wait(&process, &status), -ECHILD);
	EXPECT_EQ(eddy_process_wait(&process, &status), -ECHILD);
	EXPECT_EQ(eddy_process_kill(&process, SIGTERM), -ESRCH);
	eddy_process_close(&process);
	return 0;
}

/* It is not killed: it reads the end of its input, and ends by itself. */
TASK_TEST(process, one_that_is_released_goes_on)
{
	int wait_status, before = open_descriptors();

	EXPECT_EQ(
		eddy_process_start(
			&(struct eddy_process_options){ .argv = SH("read line; sleep 0.1; exit 7"),
							.in = { .kind = EDDY_PROCESS_PIPE } },
			&process),
		0);
	eddy_process_release(&process);
	eddy_process_release(&process);
	eddy_process_close(&process);
	EXPECT_EQ(open_descriptors(), before);
	EXPECT_EQ(waitpid(process.pid, &wait_status, 0), process.pid);
	EXPECT(WIFEXITED(wait_status));
	EXPECT_EQ(WEXITSTATUS(wait_status), 7);
	return 0;
}

/* --- cancellation and closing */

TASK_TEST(process, a_cancelled_wait_leaves_the_child_running)
{
	struct eddy_scope scope;

	EXPECT_EQ(eddy_process_start(&(struct eddy_process_options){ .argv = ARGV("sleep", "100") },
				     &process),
		  0);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_process_wait(&process, &status), -ECANCELED);
	EXPECT_EQ(kill(process.pid, 0), 0);
	EXPECT(has_children());
	/* Closing works in a cancelled scope. */
	eddy_process_close(&process);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT_EQ(process.status.signo, SIGKILL);
	EXPECT(!has_children());
	return 0;
}

TASK_TEST(process, nothing_starts_in_a_cancelled_scope)
{
	struct eddy_scope scope;
	int before = open_descriptors();

	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(
		eddy_process_start(&(struct eddy_process_options){ .argv = ARGV("true"),
								   .in = { EDDY_PROCESS_PIPE, 0 } },
				   &process),
		-ECANCELED);
	eddy_scope_end(&scope);
	EXPECT_EQ(open_descriptors(), before);
	EXPECT(!has_children());
	return 0;
}

/* Start one that says "ready" once its trap is set. */
static void start_trap(const char *script, uint64_t grace_ns)
{
	char text[8];

	EXPECT_EQ(
		eddy_process_start(&(struct eddy_process_options){ .argv = SH(script),
								   .out = { EDDY_PROCESS_PIPE, 0 },
								   .grace_ns = grace_ns },
				   &process),
		0);
	EXPECT_EQ(take(process.out, text, 6), 6);
}

TASK_TEST(process, closing_asks_first_when_there_is_grace)
{
	start_trap("trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done",
		   20 * EDDY_SECOND);
	eddy_process_close(&process);
	EXPECT_EQ(process.status.code, 9);
	start_trap("trap '' TERM; echo ready; while :; do sleep 0.01; done", 5 * EDDY_MS);
	eddy_process_close(&process);
	EXPECT_EQ(process.status.signo, SIGKILL);
	EXPECT(!has_children());
	return 0;
}

/* A group whose leader has ended: the number of the one that is left comes through the pipe. */
static pid_t start_group(bool group, int *ret_out)
{
	char text[16] = "";
	size_t len = 0;

	EXPECT_EQ(eddy_process_start(
			  &(struct eddy_process_options){ .argv = SH("sleep 100 & echo $!"),
							  .out = { EDDY_PROCESS_PIPE, 0 },
							  .group = group },
			  &process),
		  0);
	while (len < sizeof(text) - 1 && take(process.out, text + len, 1) == 1 &&
	       text[len++] != '\n')
		;
	EXPECT(len > 1);
	EXPECT_EQ(eddy_process_wait(&process, &status), 0);
	EXPECT_EQ(status.code, 0);
	*ret_out = process.out;
	process.out = -1;
	return atoi(text);
}

TASK_TEST(process, closing_ends_the_whole_group)
{
	char c;
	int out;
	pid_t pid = start_group(true, &out);

	EXPECT_EQ(getpgid(pid), process.pid);
	/* The number of the group is taken as long as we have it. */
	EXPECT_EQ(eddy_process_kill(&process, 0), 0);
	eddy_process_close(&process);
	/* Nobody holds the pipe any more. */
	EXPECT_EQ(eddy_read(out, &c, 1, EDDY_OFFSET_NONE), 0);
	eddy_close(out);
	EXPECT(!has_children());
	pid = start_group(false, &out);
	EXPECT_EQ(getpgid(pid), getpgid(0));
	eddy_process_close(&process);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	eddy_close(out);
	return 0;
}

TASK_TEST(process, a_deadline_ends_it)
{
	const struct eddy_process_options options = { .argv = ARGV("sleep", "100") };
	int before = open_descriptors();
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 20 * EDDY_MS });
	EXPECT_EQ(eddy_process_run(&options, &output), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT(!has_children());
	EXPECT_EQ(open_descriptors(), before);
	return 0;
}

static int one_of_many(void *arg)
{
	char script[32], wanted[16];
	int number = (int)(intptr_t)arg, r;
	struct eddy_process_output mine;

	snprintf(script, sizeof(script), "echo %d; exit %d", number, number);
	snprintf(wanted, sizeof(wanted), "%d\n", number);
	r = eddy_process_run(&(struct eddy_process_options){ .argv = SH(script) }, &mine);
	EXPECT_EQ(r, 0);
	if (r < 0)
		return r;
	EXPECT_EQ(mine.status.code, number);
	EXPECT(same(mine.out, wanted));
	eddy_process_output_deinit(&mine);
	return 0;
}

TASK_TEST(process, two_hundred_at_once)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 200; i++)
		EXPECT_EQ(eddy_scope_spawn(&scope, "child", one_of_many, (void *)(intptr_t)i), 0);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT(!has_children());
	return 0;
}

/* Cancelled at any moment of its life, it leaves nothing behind. */
TASK_TEST(process, cancelled_at_every_moment)
{
	struct eddy_process_output mine;
	struct eddy_scope scope;
	int r = eddy_process_run(&(struct eddy_process_options){ .argv = ARGV("true") }, &mine);
	int before = open_descriptors();

	EXPECT_EQ(r, 0);
	eddy_process_output_deinit(&mine);
	for (uint64_t i = 0; i < 60; i++) {
		eddy_scope_begin(
			&scope, &(struct eddy_scope_options){ .timeout_ns = 1 + i * 50 * EDDY_US });
		r = eddy_process_run(&(struct eddy_process_options){ .argv = ARGV("true") }, &mine);
		eddy_scope_end(&scope);
		EXPECT(r == 0 || r == -ECANCELED);
		if (r == 0)
			eddy_process_output_deinit(&mine);
	}
	EXPECT(!has_children());
	EXPECT_EQ(open_descriptors(), before);
	return 0;
}

/* Whatever fails on the way, a child that was closed is gone. */
static int close_often(__attribute__((unused)) void *arg)
{
	for (int i = 0; i < 200; i++) {
		struct eddy_process process;
		int r = eddy_process_start(
			&(struct eddy_process_options){ .argv = ARGV("sleep", "1000") }, &process);

		EXPECT_EQ(r, 0);
		if (r == 0)
			eddy_process_close(&process);
	}
	EXPECT(!has_children());
	return 0;
}

Test(process, closing_reaps_whatever_fails)
{
	setenv("EDDY_CHAOS", "1,errors", 1);
	expect_run(NULL, close_often, NULL);
}

/* --- one that another process is told of */

/* Run the task in a process between this one and what it starts: the runner of the tests knows its children. */
static void run_between(eddy_task_fn *fn)
{
	int wait_status, result = -1;
	pid_t middle, ended;

	need_threads_in_a_child();
	middle = fork();
	if (middle == 0) {
		int r = eddy_run(NULL, fn, NULL);

		for (int i = 0; i < expect_failed && i < EXPECT_NOTES; i++)
			fprintf(stderr, "%s\n", expect_text[i]);
		_exit(r || expect_failed);
	}
	while ((ended = wait(&wait_status)) > 0)
		result = ended == middle ? wait_status : result;
	cr_expect_eq(result, 0);
}

static int wait_for_sibling(__attribute__((unused)) void *arg)
{
	struct eddy_process_options options = {
		.argv = SH("echo $PPID; read line"),
		.in = { .kind = EDDY_PROCESS_PIPE },
		.out = { .kind = EDDY_PROCESS_PIPE },
		.sibling = true,
	};
	char text[32] = "";

	EXPECT_EQ(eddy_process_start(&options, &process), 0);
	EXPECT(eddy_read(process.out, text, sizeof(text) - 1, EDDY_OFFSET_NONE) > 0);
	EXPECT_EQ(atoi(text), getppid());
	EXPECT(!has_children());
	EXPECT_EQ(eddy_process_kill(&process, 0), 0);
	/* The end of its input is its end. */
	eddy_close(process.in);
	process.in = -1;
	EXPECT_EQ(eddy_process_wait(&process, &status), -ECHILD);
	EXPECT_EQ(eddy_process_wait(&process, &status), -ECHILD);
	EXPECT_EQ(eddy_process_kill(&process, SIGTERM), -ESRCH);
	eddy_process_close(&process);
	options.argv = ARGV("/nowhere");
	EXPECT_EQ(eddy_process_start(&options, &process), -ENOENT);
	return 0;
}

Test(process, a_sibling_is_a_child_of_the_parent)
{
	run_between(wait_for_sibling);
}

static int close_sibling(__attribute__((unused)) void *arg)
{
	int pidfd;

	EXPECT_EQ(eddy_process_start(&(struct eddy_process_options){ .argv = ARGV("sleep", "100"),
								     .sibling = true },
				     &process),
		  0);
	pidfd = dup(process.pidfd);
	EXPECT_EQ(poll(&(struct pollfd){ pidfd, POLLIN, 0 }, 1, 0), 0);
	eddy_process_close(&process);
	EXPECT_EQ(poll(&(struct pollfd){ pidfd, POLLIN, 0 }, 1, 0), 1);
	close(pidfd);
	return 0;
}

Test(process, closing_ends_a_sibling)
{
	run_between(close_sibling);
}
