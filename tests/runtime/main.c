/* Tests of eddy/main.h. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <eddy/main.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int return_it(void *arg)
{
	return *(int *)arg;
}

/* The next line of stderr, without what ASan says of swapcontext. */
static const char *next_line(void)
{
	static char text[400];
	FILE *err = cr_get_redirected_stderr();

	while (fgets(text, sizeof(text), err))
		if (!strstr(text, "WARNING: ASan "))
			return text;
	return NULL;
}

/* What the program said, its name aside. */
static void expect_said(const char *wanted)
{
	const char *line = next_line(), *said;

	cr_assert(line);
	said = strchr(line, ':');
	cr_assert(said);
	cr_expect_str_eq(said, wanted);
	cr_expect_null(next_line());
}

Test(main, returns_an_exit_status, .init = cr_redirect_stderr)
{
	cr_expect_eq(eddy_main(return_it, &(int){ 0 }), 0);
	cr_expect_eq(eddy_main(return_it, &(int){ 3 }), 3);
	fflush(stderr);
	fclose(stderr);
	cr_expect_null(next_line());
}

Test(main, says_why_it_failed, .init = cr_redirect_stderr)
{
	cr_expect_eq(eddy_main(return_it, &(int){ -ENOSPC }), 1);
	fclose(stderr);
	expect_said(": No space left on device\n");
}

/* Nobody has cancelled it: then it is a failure like another. */
Test(main, cancelled_by_itself_has_failed, .init = cr_redirect_stderr)
{
	cr_expect_eq(eddy_main(return_it, &(int){ -ECANCELED }), 1);
	fclose(stderr);
	expect_said(": Operation canceled\n");
}

Test(main, says_what_to_do_when_it_can_not_start, .init = cr_redirect_stderr)
{
	struct rlimit limit = { 0, 0 }, before;
	int highest = dup(0), status;

	/* One more descriptor is to be had, for the signals, and none for the ring. */
	close(highest);
	getrlimit(RLIMIT_NOFILE, &before);
	limit.rlim_cur = (rlim_t)highest + 1;
	limit.rlim_max = before.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	status = eddy_main(return_it, &(int){ 0 });
	setrlimit(RLIMIT_NOFILE, &before);
	cr_expect_eq(status, 1);
	fclose(stderr);
	expect_said(": can't start: too many open files: raise the limit (`ulimit -n 65536`)\n");
}

static int seen[4];

static int sleeper(void *arg)
{
	(void)arg;
	seen[1] = eddy_sleep(3600 * EDDY_SECOND);
	return seen[1];
}

static bool is_handled(int signo)
{
	struct sigaction action;

	return sigaction(signo, NULL, &action) < 0 || action.sa_handler != SIG_DFL;
}

/* Is ended by the signal `arg` points to, in every scope. */
static int end_by_signal(void *arg)
{
	int signo = *(int *)arg;
	struct eddy_scope scope;

	seen[3] = is_handled(SIGINT) && is_handled(SIGTERM);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sleeper", sleeper, NULL);
	kill(getpid(), signo);
	seen[0] = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	/* Another one would have its usual effect. */
	seen[2] = !is_handled(SIGINT) && !is_handled(SIGTERM);
	return seen[0];
}

Test(main, signals_cancel_the_program)
{
	static const int signos[] = { SIGINT, SIGTERM };

	/* A shell's background jobs ignore it. */
	signal(SIGINT, SIG_DFL);
	for (size_t i = 0; i < 2; i++) {
		memset(seen, 0, sizeof(seen));
		cr_expect_eq(eddy_main(end_by_signal, (void *)&signos[i]), 0);
		cr_expect_eq(seen[0], -ECANCELED);
		cr_expect_eq(seen[1], -ECANCELED);
		cr_expect(seen[2]);
		cr_expect(seen[3]);
		cr_expect(!is_handled(SIGINT));
	}
}

static int fork_and_kill(void *arg)
{
	int status = 0;
	pid_t child = fork();

	(void)arg;
	if (child == 0) {
		pause();
		_exit(1);
	}
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	return eddy_sleep(5 * EDDY_MS) || !WIFSIGNALED(status);
}

/* It has neither the handler nor, with its parent, the descriptor. */
Test(main, a_signal_to_a_child_is_the_childs)
{
	cr_expect_eq(eddy_main(fork_and_kill, NULL), 0);
}

/* What it returns counts: cancelled work may have ended well, or have failed at that very moment. */
static int fail_after_signal(void *arg)
{
	kill(getpid(), SIGTERM);
	eddy_sleep(3600 * EDDY_SECOND);
	return *(int *)arg;
}

Test(main, a_failure_while_it_ends_is_said, .init = cr_redirect_stderr)
{
	cr_expect_eq(eddy_main(fail_after_signal, &(int){ 7 }), 7);
	cr_expect_eq(eddy_main(fail_after_signal, &(int){ -EIO }), 1);
	fclose(stderr);
	expect_said(": Input/output error\n");
}
