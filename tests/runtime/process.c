#include <eddy/process.h>

#include "expect.h"

#include <eddy/io.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ARGV(...) ((const char *[]){ __VA_ARGS__, NULL })
#define SH(script) ARGV("sh", "-c", script)

/* Valgrind copies the memory that a child should share, and runs the children's programs as well. */
static void skip_under_valgrind(void)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind starts children in its own way");
}

TestSuite(process, .init = skip_under_valgrind);

static struct eddy_process_status status;
static struct eddy_process process;
static struct eddy_process_output output;

/* Start it, wait for it and close it. Return: its exit code, minus its signal, or below -1000: -errno. */
static int outcome(const struct eddy_process_options *options)
{
	int r = eddy_process_start(options, &process);

	if (r < 0)
		return r - 1000;
	r = eddy_process_wait(&process, &status);
	eddy_process_close(&process);
	if (r < 0)
		return r - 1000;
	return status.signo ? -status.signo : status.code;
}

/* Write the whole text to a pipe: a part of it is what a call may move. */
static ssize_t put(int fd, const char *text)
{
	size_t len = strlen(text), at = 0;

	while (at < len) {
		ssize_t r = eddy_write(fd, text + at, len - at, EDDY_OFFSET_NONE);

		if (r < 0)
			return r;
		at += (size_t)r;
	}
	return (ssize_t)len;
}

/* Read until there are `len` bytes. Return: how many there are: fewer at the end. */
static ssize_t take(int fd, char *text, size_t len)
{
	size_t at = 0;
	ssize_t r = 1;

	while (at < len && r > 0) {
		r = eddy_read(fd, text + at, len - at, EDDY_OFFSET_NONE);
		if (r < 0)
			return r;
		at += (size_t)r;
	}
	return (ssize_t)at;
}

/* Run a script. Return: what it wrote to out, without the last newline. */
static const char *output_of(const struct eddy_process_options *options)
{
	static char text[4096];
	int r = eddy_process_run(options, &output);

	snprintf(text, sizeof(text), "error %d", r);
	if (r == 0) {
		snprintf(text, sizeof(text), "%s", output.out);
		text[strcspn(text, "\n")] = 0;
		eddy_process_output_deinit(&output);
	}
	return text;
}

static bool same(const char *have, const char *wanted)
{
	if (strcmp(have, wanted) == 0)
		return true;
	fprintf(stderr, "\"%s\" is not \"%s\"\n", have, wanted);
	return false;
}

/* Whether this process has a child, dead or alive. */
static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

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

/* --- what can't be run */

static int error_of(const char *program, const char *cwd)
{
	return outcome(&(struct eddy_process_options){ .argv = ARGV(program), .cwd = cwd }) + 1000;
}

TASK_TEST(process, what_can_not_be_run_is_an_error)
{
	char folder[] = "/tmp/eddy-process-XXXXXX", path[64];
	int before, fd;

	EXPECT(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/script", folder);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	EXPECT_EQ(write(fd, "echo", 4), 4);
	EXPECT_EQ(error_of("true", NULL), 1000); /* what the first offload opens is open */
	before = open_descriptors();
	EXPECT_EQ(error_of("no-such-program", NULL), -ENOENT);
	EXPECT_EQ(error_of("", NULL), -ENOENT);
	EXPECT_EQ(error_of("/nowhere/true", NULL), -ENOENT);
	EXPECT_EQ(error_of("/bin/true/x", NULL), -ENOTDIR);
	EXPECT_EQ(error_of("true", "/nowhere"), -ENOENT);
	EXPECT_EQ(error_of("./script", folder), -EACCES);
	EXPECT_EQ(fchmod(fd, 0700), 0);
	close(fd);
	EXPECT_EQ(error_of("./script", folder), -ENOEXEC);
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = ARGV("no-such-program"),
							  .in = { EDDY_PROCESS_PIPE, 0 },
							  .out = { EDDY_PROCESS_NULL, 0 },
							  .err = { EDDY_PROCESS_PIPE, 0 } }),
		  -ENOENT - 1000);
	EXPECT_EQ(open_descriptors() + 1, before);
	EXPECT(!has_children());
	unlink(path);
	rmdir(folder);
	return 0;
}

TASK_TEST(process, path_is_searched)
{
	char folder[] = "/tmp/eddy-process-XXXXXX", path[64], search[200];
	const struct eddy_process_options options = { .argv = ARGV("eddy-tool") };
	int fd;

	EXPECT(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/eddy-tool", folder);
	snprintf(search, sizeof(search), "/nowhere:/bin/true:%s:/bin:/usr/bin", folder);
	setenv("PATH", search, 1);
	EXPECT_EQ(outcome(&options), -ENOENT - 1000);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	EXPECT_EQ(write(fd, "#!/bin/sh\nexit 7\n", 17), 17);
	EXPECT_EQ(outcome(&options), -EACCES - 1000);
	fchmod(fd, 0700);
	close(fd);
	EXPECT_EQ(outcome(&options), 7);
	unsetenv("PATH");
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = SH("exit 2") }), 2);
	unlink(path);
	rmdir(folder);
	return 0;
}

TASK_TEST(process, descriptors_that_are_not_open)
{
	const int closed = 987, negative = -1;

	EXPECT_EQ(outcome(&(struct eddy_process_options){
			  .argv = ARGV("true"), .fds = &closed, .fd_count = 1 }),
		  -EBADF - 1000);
	EXPECT_EQ(outcome(&(struct eddy_process_options){
			  .argv = ARGV("true"), .fds = &negative, .fd_count = 1 }),
		  -EBADF - 1000);
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = ARGV("true"),
							  .out = { EDDY_PROCESS_FD, -1 } }),
		  -EBADF - 1000);
	EXPECT(!has_children());
	return 0;
}

/* --- what it is given */

static const char signals_script[] =
	"while read -r key value; do case $key in SigBlk:|SigIgn:) echo -n \"$key$value \";; "
	"esac; done </proc/self/status";

static int signals_of_child(__attribute__((unused)) void *arg)
{
	EXPECT(same(output_of(&(struct eddy_process_options){ .argv = SH(signals_script) }),
		    "SigBlk:0000000000000000 SigIgn:0000000000000000 "));
	return 0;
}

/* eddy_run() ignores SIGPIPE. */
Test(process, nothing_is_blocked_or_ignored)
{
	sigset_t set;

	signal(SIGHUP, SIG_IGN);
	signal(SIGRTMIN, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGRTMAX);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	expect_run(NULL, signals_of_child, NULL);
	/* Ours are as before. */
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	cr_expect(sigismember(&set, SIGTERM));
	cr_expect_eq(signal(SIGHUP, SIG_DFL), SIG_IGN);
}

static const char descriptors_script[] =
	"for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do "
	"[ -e /proc/self/fd/$i ] && echo -n \"$i \"; done";

TASK_TEST(process, has_no_descriptor_but_what_it_is_given)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), leak = dup(null), pass[2];

	EXPECT_EQ(fcntl(leak, F_GETFD), 0);
	EXPECT(same(output_of(&(struct eddy_process_options){ .argv = SH(descriptors_script) }),
		    "0 1 2 "));
	pass[0] = pass[1] = null;
	EXPECT(same(output_of(&(struct eddy_process_options){
			    .argv = SH(descriptors_script), .fds = pass, .fd_count = 2 }),
		    "0 1 2 3 4 "));
	close(null);
	close(leak);
	return 0;
}

static int memory_file(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	EXPECT_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Each of three goes to the place of another. */
TASK_TEST(process, descriptors_that_change_places)
{
	int a = memory_file("a"), b = memory_file("b"), c = memory_file("c"), pass[40];
	char script[100];

	for (int i = 0; i < 40; i++)
		pass[i] = a;
	EXPECT(a > 2 && a < 43 && b > 2 && b < 43 && c > 2 && c < 43);
	pass[a - 3] = b;
	pass[b - 3] = c;
	pass[c - 3] = a;
	snprintf(script, sizeof(script),
		 "cat /proc/self/fd/%d /proc/self/fd/%d /proc/self/fd/%d /proc/self/fd/42", a, b,
		 c);
	EXPECT(same(output_of(&(struct eddy_process_options){
			    .argv = SH(script), .fds = pass, .fd_count = 40 }),
		    "bcaa"));
	EXPECT(fcntl(a, F_GETFD) & FD_CLOEXEC);
	close(a);
	close(b);
	close(c);
	return 0;
}

TASK_TEST(process, environment_and_folder)
{
	setenv("EDDY_INHERITED", "yes", 1);
	EXPECT(same(output_of(&(struct eddy_process_options){
			    .argv = SH("echo $EDDY_INHERITED; pwd") }),
		    "yes"));
	EXPECT(same(output_of(&(struct eddy_process_options){
			    .argv = SH("echo $EDDY_INHERITED-$OWN-$(pwd)"),
			    .env = ARGV("OWN=1", "PATH=/bin:/usr/bin"),
			    .cwd = "/proc" }),
		    "-1-/proc"));
	return 0;
}

TASK_TEST(process, streams_go_where_they_are_sent)
{
	int in = memory_file("from a file"), out = memory_file("");
	char text[16] = "";

	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = ARGV("cat"),
							  .in = { EDDY_PROCESS_FD, in },
							  .out = { EDDY_PROCESS_FD, out },
							  .err = { EDDY_PROCESS_NULL, 0 } }),
		  0);
	EXPECT_EQ(pread(out, text, sizeof(text), 0), 11);
	EXPECT(same(text, "from a file"));
	/* They stay ours. */
	EXPECT(fcntl(in, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(ftruncate(out, 0), 0);
	lseek(out, 0, SEEK_SET);
	EXPECT_EQ(outcome(&(struct eddy_process_options){ .argv = SH("echo 1; echo 2 >&2"),
							  .out = { EDDY_PROCESS_FD, out },
							  .err = { EDDY_PROCESS_MERGE, 0 } }),
		  0);
	EXPECT_EQ(pread(out, text, sizeof(text), 0), 4);
	EXPECT_EQ(memcmp(text, "1\n2\n", 4), 0);
	close(in);
	close(out);
	return 0;
}

TASK_TEST(process, pipes_are_non_blocking_on_our_side_only)
{
	char answer[16] = "";

	EXPECT_EQ(eddy_process_start(
			  &(struct eddy_process_options){
				  .argv = SH("read -r line; echo \"<$line>\"; cat >&2"),
				  .in = { EDDY_PROCESS_PIPE, 0 },
				  .out = { EDDY_PROCESS_PIPE, 0 },
				  .err = { EDDY_PROCESS_PIPE, 0 } },
			  &process),
		  0);
	EXPECT(fcntl(process.in, F_GETFL) & O_NONBLOCK);
	EXPECT(fcntl(process.out, F_GETFL) & O_NONBLOCK);
	/* The script waits in read(2): -EAGAIN would have ended it. */
	expect_turns(2);
	EXPECT_EQ(put(process.in, "hi\n"), 3);
	EXPECT_EQ(take(process.out, answer, 5), 5);
	EXPECT(same(answer, "<hi>\n"));
	EXPECT_EQ(put(process.in, "rest"), 4);
	eddy_close(process.in);
	process.in = -1;
	EXPECT_EQ(take(process.err, answer, sizeof(answer)), 4);
	EXPECT_EQ(eddy_process_wait(&process, &status), 0);
	EXPECT_EQ(status.code, 0);
	eddy_process_close(&process);
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

/* --- run */

TASK_TEST(process, run_collects)
{
	struct eddy_process_options options = {
		.argv = SH("cat; echo oops >&2; exit 6"),
		.input = eddy_str_from("some input"),
	};

	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT(same(output.out, "some input"));
	EXPECT_EQ(output.out_len, 10);
	EXPECT(same(output.err, "oops\n"));
	EXPECT_EQ(output.status.code, 6);
	eddy_process_output_deinit(&output);
	options.argv = SH("cat; echo one; echo two >&2");
	options.input = eddy_str_from("");
	options.err.kind = EDDY_PROCESS_MERGE;
	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT(same(output.out, "one\ntwo\n"));
	EXPECT(!output.err);
	eddy_process_output_deinit(&output);
	return 0;
}

TASK_TEST(process, run_moves_much_both_ways)
{
	size_t len = 3 * EDDY_MIB + 5;
	char *bytes = malloc(len);
	struct eddy_process_options options = {
		.argv = ARGV("cat"),
		.input = { bytes, len },
		.output_max = len,
	};

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)(i * 31 >> 4);
	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT_EQ(output.out_len, len);
	EXPECT_EQ(memcmp(output.out, bytes, len), 0);
	eddy_process_output_deinit(&output);
	options.output_max = len - 1;
	EXPECT_EQ(eddy_process_run(&options, &output), -EMSGSIZE);
	EXPECT(!has_children());
	/* A child that has read enough is no failure. */
	options.argv = ARGV("head", "-c", "3");
	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT_EQ(output.out_len, 3);
	EXPECT_EQ(output.status.code, 0);
	eddy_process_output_deinit(&output);
	free(bytes);
	return 0;
}

TASK_TEST(process, run_ends_what_never_stops_writing)
{
	const struct eddy_process_options options = {
		.argv = SH("while :; do echo x; done >&2"),
		.output_max = 10000,
	};

	EXPECT_EQ(eddy_process_run(&options, &output), -EMSGSIZE);
	EXPECT(!has_children());
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

/* What is closed here is closed there, and not a pipe's other end. */
TASK_TEST(process, closed_standard_input_stays_closed)
{
	struct eddy_process_options options = {
		.argv = SH("test ! -e /proc/self/fd/0"),
		.out = { .kind = EDDY_PROCESS_PIPE },
		.err = { .kind = EDDY_PROCESS_NULL },
	};
	struct eddy_process_status status;
	struct eddy_process process;
	int saved = dup(0);

	close(0);
	EXPECT_EQ(eddy_process_start(&options, &process), 0);
	EXPECT(process.out > 2);
	EXPECT_EQ(eddy_process_wait(&process, &status), 0);
	EXPECT_EQ(status.code, 0);
	eddy_process_close(&process);
	EXPECT_EQ(dup2(saved, 0), 0);
	close(saved);
	return 0;
}
