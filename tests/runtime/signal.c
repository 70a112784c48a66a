#include "../on_valgrind.h"

#include <criterion/criterion.h>
#include <eddy/scope.h>
#include <eddy/signal.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct eddy_signals signals;
static int seen[4];

static void open_signals(void)
{
	cr_assert_eq(eddy_signals_open((int[]){ SIGUSR1, SIGTERM, 0 }, &signals), 0);
}

static int killer(void *arg)
{
	(void)arg;
	eddy_sleep(2 * EDDY_MS);
	return kill(getpid(), SIGTERM);
}

static int two(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	kill(getpid(), SIGUSR1);
	seen[0] = eddy_signals_next(&signals);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "killer", killer, NULL);
	seen[1] = eddy_signals_next(&signals);
	return eddy_scope_end(&scope);
}

Test(signal, comes_as_a_value)
{
	open_signals();
	cr_expect_eq(eddy_run(NULL, two, NULL), 0);
	cr_expect_eq(seen[0], SIGUSR1);
	cr_expect_eq(seen[1], SIGTERM);
	eddy_signals_close(&signals);
	eddy_signals_close(&signals);
}

static void *other_thread(void *arg)
{
	usleep(2000);
	kill(getpid(), SIGTERM);
	return arg;
}

static int wait_for_one(void *arg)
{
	(void)arg;
	return eddy_signals_next(&signals);
}

/* For tests that raise a signal after a loop of this thread has ended. */
static void skip_on_valgrind(void)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test(
			"valgrind delivers signals on the stack that an ended loop had for them");
}

Test(signal, is_seen_whichever_thread_raised_it)
{
	pthread_t thread;

	skip_on_valgrind();
	open_signals();
	cr_assert_eq(pthread_create(&thread, NULL, other_thread, NULL), 0);
	cr_expect_eq(eddy_run(NULL, wait_for_one, NULL), SIGTERM);
	pthread_join(thread, NULL);
	/* Also what was sent to this thread alone. */
	pthread_kill(pthread_self(), SIGUSR1);
	cr_expect_eq(eddy_run(NULL, wait_for_one, NULL), SIGUSR1);
}

static int wait_in_vain(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 2 * EDDY_MS });
	seen[0] = eddy_signals_next(&signals);
	return eddy_scope_end(&scope);
}

static int many(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		int r;

		kill(getpid(), i % 2 ? SIGUSR1 : SIGTERM);
		r = eddy_signals_next(&signals);
		if (r != (i % 2 ? SIGUSR1 : SIGTERM))
			return r;
	}
	return 0;
}

/* One wait in 32 fails there. */
Test(signal, comes_though_waits_fail)
{
	setenv("EDDY_CHAOS", "1,errors", 1);
	open_signals();
	cr_expect_eq(eddy_run(NULL, many, NULL), 0);
	eddy_signals_close(&signals);
	cr_expect_eq(eddy_run(NULL, wait_for_one, NULL), -EBADF);
}

Test(signal, waiting_is_cancelled)
{
	open_signals();
	cr_expect_eq(eddy_run(NULL, wait_in_vain, NULL), -ETIMEDOUT);
	cr_expect_eq(seen[0], -ECANCELED);
}

static void handle(int signo)
{
	seen[0] = signo;
}

Test(signal, closing_drops_what_waits_and_restores_mask_and_handlers)
{
	sigset_t set, before;

	signal(SIGUSR1, handle);
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	sigaddset(&before, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &before, NULL);
	open_signals();
	kill(getpid(), SIGTERM);
	kill(getpid(), SIGUSR1);
	eddy_signals_close(&signals);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	cr_expect_eq(sigismember(&set, SIGTERM), 0);
	cr_expect_eq(sigismember(&set, SIGUSR1), 1);
	cr_expect_eq(sigismember(&set, SIGHUP), 1);
	cr_expect_eq(seen[0], 0);
	pthread_sigmask(SIG_UNBLOCK, &before, NULL);
	raise(SIGUSR1);
	cr_expect_eq(seen[0], SIGUSR1);
}

/* A handler that the program installs meanwhile stays. */
Test(signal, closing_leaves_a_later_handler)
{
	open_signals();
	signal(SIGUSR1, handle);
	eddy_signals_close(&signals);
	raise(SIGUSR1);
	cr_expect_eq(seen[0], SIGUSR1);
}

static struct eddy_signals inner;

static int wait_for_inner(void *arg)
{
	(void)arg;
	raise(SIGTERM);
	raise(SIGUSR1);
	seen[0] = eddy_signals_next(&inner);
	seen[1] = eddy_signals_next(&signals);
	return 0;
}

static int wait_for_outer(void *arg)
{
	(void)arg;
	raise(SIGTERM);
	return eddy_signals_next(&signals);
}

Test(signal, the_newest_collector_gets_it)
{
	open_signals();
	cr_assert_eq(eddy_signals_open((int[]){ SIGTERM, 0 }, &inner), 0);
	cr_expect_eq(eddy_run(NULL, wait_for_inner, NULL), 0);
	cr_expect_eq(seen[0], SIGTERM);
	cr_expect_eq(seen[1], SIGUSR1);
	eddy_signals_close(&inner);
	cr_expect_eq(eddy_run(NULL, wait_for_outer, NULL), SIGTERM);
	eddy_signals_close(&signals);
}

Test(signal, collectors_close_in_any_order)
{
	open_signals();
	cr_assert_eq(eddy_signals_open((int[]){ SIGTERM, SIGUSR1, 0 }, &inner), 0);
	eddy_signals_close(&signals);
	signals = inner;
	cr_expect_eq(eddy_run(NULL, wait_for_outer, NULL), SIGTERM);
	eddy_signals_close(&inner);
}

static int wait_for_pending(void *arg)
{
	struct eddy_signals *collector = arg;

	return eddy_signals_next(collector);
}

Test(signal, that_is_pending_is_handed_on)
{
	skip_on_valgrind();
	open_signals();
	raise(SIGTERM);
	cr_assert_eq(eddy_signals_open((int[]){ SIGTERM, 0 }, &inner), 0);
	cr_expect_eq(eddy_run(NULL, wait_for_pending, &inner), SIGTERM);
	raise(SIGTERM);
	eddy_signals_close(&inner);
	cr_expect_eq(eddy_run(NULL, wait_for_pending, &signals), SIGTERM);
	cr_expect_eq(eddy_run(NULL, wait_in_vain, NULL), -ETIMEDOUT);
	eddy_signals_close(&signals);
}

Test(signal, kills_a_forked_child_as_usual)
{
	pid_t child;
	int status;

	open_signals();
	child = fork();
	if (child == 0) {
		raise(SIGTERM);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	cr_expect_eq(eddy_run(NULL, wait_in_vain, NULL), -ETIMEDOUT);
	eddy_signals_close(&signals);
}

#define FLOOD_NS (200 * EDDY_MS)

static void *flood(void *arg)
{
	uint64_t end = eddy_now() + FLOOD_NS;

	while (eddy_now() < end)
		kill(getpid(), SIGTERM);
	return arg;
}

static int fetch_all(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 2 * FLOOD_NS });
	while (eddy_signals_next(&signals) == SIGTERM)
		;
	return eddy_scope_end(&scope);
}

/* Handlers of several threads at once. */
Test(signal, many_at_once_end_no_process)
{
	pthread_t threads[3];

	open_signals();
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, flood, NULL), 0);
	cr_expect_eq(eddy_run(NULL, fetch_all, NULL), -ETIMEDOUT);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	eddy_signals_close(&signals);
}

Test(signal, refuses_what_can_not_be_handled)
{
	cr_expect_eq(eddy_signals_open((int[]){ SIGKILL, 0 }, &signals), -EINVAL);
	cr_expect_eq(eddy_signals_open((int[]){ SIGTERM, 12345, 0 }, &signals), -EINVAL);
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* Whether a program that a child executes has inherited nothing of a line of its status. Grep itself looks: a
 * shell would begin by clearing its mask. */
static bool child_has_none(const char *line, bool reset)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (reset)
			eddy_signals_reset();
		execlp("grep", "grep", "-q", line, "/proc/self/status", (char *)NULL);
		_exit(127);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
	return WEXITSTATUS(status) == 0;
}

Test(signal, children_start_with_nothing_blocked_or_ignored)
{
	static const char blocked[] = "^SigBlk:\\s*0*$", ignored[] = "^SigIgn:\\s*0*$";

	sigset_t set;

	open_signals();
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	cr_assert_eq(eddy_run(NULL, nothing, NULL), 0); /* ignores SIGPIPE */
	cr_expect(child_has_none(blocked, true));
	cr_expect(child_has_none(ignored, true));
	/* The check sees it. */
	cr_expect(!child_has_none(blocked, false));
	cr_expect(!child_has_none(ignored, false));
}
