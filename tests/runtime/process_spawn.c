#include "children.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

TestSuite(process_spawn, .init = skip_under_valgrind);

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

/* --- what can't be run */

static int error_of(const char *program, const char *cwd)
{
	return outcome(&(struct eddy_process_options){ .argv = ARGV(program), .cwd = cwd }) + 1000;
}

TASK_TEST(process_spawn, what_can_not_be_run_is_an_error)
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

TASK_TEST(process_spawn, path_is_searched)
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

TASK_TEST(process_spawn, descriptors_that_are_not_open)
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
Test(process_spawn, nothing_is_blocked_or_ignored)
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

TASK_TEST(process_spawn, has_no_descriptor_but_what_it_is_given)
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
TASK_TEST(process_spawn, descriptors_that_change_places)
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

TASK_TEST(process_spawn, environment_and_folder)
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

TASK_TEST(process_spawn, streams_go_where_they_are_sent)
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

TASK_TEST(process_spawn, pipes_are_non_blocking_on_our_side_only)
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

/* What is closed here is closed there, and not a pipe's other end. */
TASK_TEST(process_spawn, closed_standard_input_stays_closed)
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
