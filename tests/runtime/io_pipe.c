/* Tests of eddy/io.h: pipes, and what is neither a socket nor a file. */
#include <eddy/io.h>
#include <eddy/op.h>

#include "expect.h"
#include "base/feature.h"

#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

TASK_TEST(io_pipe, splice_and_poll)
{
	int from[2], to[2];
	char bytes[8] = "";

	EXPECT_EQ(pipe(from), 0);
	EXPECT_EQ(pipe(to), 0);
	EXPECT_EQ(write(from[1], "bytes", 5), 5);
	EXPECT_EQ(eddy_poll(from[0], POLLIN), POLLIN);
	EXPECT_EQ(eddy_poll(to[1], POLLIN | POLLOUT), POLLOUT);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 100, 0), 5);
	EXPECT_EQ(read(to[0], bytes, sizeof(bytes)), 5);
	close(to[0]);
	EXPECT(eddy_poll(to[1], 0) & POLLERR);
	close(to[1]);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 100, 0), -EBADF);
	EXPECT_EQ(eddy_poll(to[1], POLLIN), -EBADF);
	close(from[0]);
	close(from[1]);
	return 0;
}

struct moving {
	int from, to;
	ssize_t result;
};

static int move_bytes(void *arg)
{
	struct moving *moving = arg;

	moving->result =
		eddy_splice(moving->from, EDDY_OFFSET_NONE, moving->to, EDDY_OFFSET_NONE, 100, 0);
	return 0;
}

/* Whichever is ready first; non-blocking sockets are waited for as well. */
TASK_TEST(io_pipe, splice_waits_for_both_ends)
{
	for (int i = 0; i < 2; i++) {
		struct eddy_scope scope;
		struct moving moving;
		int pipe_fds[2], fds[2];
		char bytes[65536] = "";

		EXPECT_EQ(pipe(pipe_fds), 0);
		EXPECT_EQ(fcntl(pipe_fds[1], F_SETPIPE_SZ, sizeof(bytes)), sizeof(bytes));
		EXPECT_EQ(write(pipe_fds[1], bytes, sizeof(bytes)), sizeof(bytes));
		stream_pair(fds);
		moving = (struct moving){ .from = fds[0], .to = pipe_fds[1], .result = 1 };
		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "moving", move_bytes, &moving);
		expect_turns(2);
		for (int k = 0; k < 2; k++) {
			EXPECT_EQ(scope.running, 1);
			if (i == k)
				EXPECT_EQ(write(fds[1], "bytes", 5), 5);
			else
				EXPECT_EQ(read(pipe_fds[0], bytes, sizeof(bytes)), sizeof(bytes));
			expect_turns(2);
		}
		eddy_scope_join(&scope);
		eddy_scope_end(&scope);
		EXPECT_EQ(moving.result, 5);
		for (int k = 0; k < 2; k++) {
			close(pipe_fds[k]);
			close(fds[k]);
		}
	}
	return 0;
}

TASK_TEST(io_pipe, splice_that_may_not_wait_says_so)
{
	int from[2], to[2];

	EXPECT_EQ(pipe(from), 0);
	EXPECT_EQ(pipe(to), 0);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 1,
			      SPLICE_F_NONBLOCK),
		  -EAGAIN);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 0, 0), 0);
	EXPECT_EQ(eddy_splice(-1, EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 1, 0), -EBADF);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, -1, EDDY_OFFSET_NONE, 1, 0), -EBADF);
	close(from[1]);
	EXPECT_EQ(eddy_splice(from[0], EDDY_OFFSET_NONE, to[1], EDDY_OFFSET_NONE, 1, 0), 0);
	close(from[0]);
	close(to[0]);
	close(to[1]);
	return 0;
}

struct taking {
	int fd;
	size_t came;
	bool in_order;
};

static int take_all(void *arg)
{
	struct taking *taking = arg;
	unsigned char bytes[5000];
	ssize_t r;

	while ((r = eddy_read(taking->fd, bytes, sizeof(bytes), EDDY_OFFSET_NONE)) > 0)
		for (ssize_t i = 0; i < r; i++)
			taking->in_order &= bytes[i] == taking->came++ % 251;
	return (int)r;
}

/* More than a pipe holds, into one that is never waited for otherwise. */
TASK_TEST(io_pipe, write_all_waits_for_room)
{
	static unsigned char bytes[300000];
	struct taking taking = { .in_order = true };
	struct eddy_scope scope;
	int fds[2];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i % 251;
	EXPECT_EQ(pipe2(fds, O_NONBLOCK), 0);
	taking.fd = fds[0];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "take", take_all, &taking);
	EXPECT_EQ(eddy_write_all(fds[1], bytes, sizeof(bytes), EDDY_OFFSET_NONE), 0);
	EXPECT_EQ(eddy_close(fds[1]), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(taking.came, sizeof(bytes));
	EXPECT(taking.in_order);
	EXPECT_EQ(eddy_close(fds[0]), 0);
	return 0;
}

TASK_TEST(io_pipe, write_all_says_who_has_left)
{
	int fds[2];

	EXPECT_EQ(pipe2(fds, O_NONBLOCK), 0);
	close(fds[0]);
	EXPECT_EQ(eddy_write_all(fds[1], "bytes", 5, EDDY_OFFSET_NONE), -EPIPE);
	EXPECT_EQ(eddy_write_all(fds[1], "", 0, EDDY_OFFSET_NONE), 0);
	close(fds[1]);
	return 0;
}

/* Descriptors of this kind wait by poll on the ring, and not on one of the kernel's threads. */
TASK_TEST(io_pipe, inotify_is_read_like_a_pipe)
{
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[] = "/tmp/eddy-io-XXXXXX";
	struct inotify_event event = { 0 };
	int fd = mkostemp(path, O_CLOEXEC);
	struct eddy_scope scope;

	EXPECT_EQ(inotify_add_watch(watch, path, IN_MODIFY), 1);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_read(watch, &event, sizeof(event), EDDY_OFFSET_NONE), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT_EQ(write(fd, "x", 1), 1);
	EXPECT_EQ(eddy_read(watch, &event, sizeof(event), EDDY_OFFSET_NONE), sizeof(event));
	EXPECT_EQ(event.mask, IN_MODIFY);
	unlink(path);
	EXPECT_EQ(eddy_close(watch), 0);
	EXPECT_EQ(eddy_close(fd), 0);
	return 0;
}

/* --- interrupted */

/* The kernel stops its own threads as well, and what they do ends as interrupted. */
static bool is_blocked_in_worker(pid_t pid)
{
	char path[300], line[512];
	struct dirent *entry;
	bool blocked = false;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && !blocked && (entry = readdir(threads))) {
		FILE *in;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, entry->d_name);
		in = fopen(path, "r");
		if (!in)
			continue;
		blocked = fgets(line, sizeof(line), in) && strstr(line, "(iou-wrk-") &&
			  strstr(line, ") S ");
		fclose(in);
	}
	if (threads)
		closedir(threads);
	return blocked;
}

static int splice_all(void *arg)
{
	struct io_uring_sqe sqe = { 0 };
	int *fds = arg;

	/* Not eddy_splice(), which does not wait in a worker. */
	io_uring_prep_splice(&sqe, fds[0], -1, fds[3], -1, 100, 0);
	return eddy_op_call(&sqe);
}

Test(io_pipe, stopped_process_sees_no_eintr)
{
	int fds[4], status = 0;
	pid_t child;

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(pipe(fds + 2), 0);
	child = fork();
	if (child == 0)
		_exit(eddy_run(NULL, splice_all, fds) == 5 ? 0 : 1);
	while (!is_blocked_in_worker(child) && waitpid(child, &status, WNOHANG) == 0)
		usleep(100);
	for (int i = 0; i < 3; i++) {
		kill(child, SIGSTOP);
		cr_assert_eq(waitpid(child, &status, WUNTRACED), child);
		cr_assert(WIFSTOPPED(status), "it ended with %x", status);
		kill(child, SIGCONT);
		cr_assert_eq(waitpid(child, &status, WCONTINUED), child);
		while (!is_blocked_in_worker(child) && waitpid(child, &status, WNOHANG) == 0)
			usleep(100);
	}
	cr_assert_eq(write(fds[1], "bytes", 5), 5);
	waitpid(child, &status, 0);
	cr_expect_eq(status, 0, "the splice did not return 5: %x", status);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
}
