/* Tests of eddy/io.h and eddy/file.h: calls that wait for a peer hold back no others. The kernel has few workers for a
 * loop, and one that waited would be missing. */
#include "expect.h"

#include <eddy/internal/loop.h>
#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/op.h>
#include <eddy/stats.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/stat.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* More than there are workers of both kinds. */
#define WAITING 24

/* What the call of one task waits for. */
struct wait {
	ssize_t (*call)(struct wait *wait);
	int empty[2]; /* a pipe */
	int full[2];  /* a pipe */
	int pair[2];  /* of sockets; nobody sends */
	int file;
	ssize_t result;
	char buf[64];
};

static char fifo[64];

static void fill(int fd)
{
	static const char bytes[65536];
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

static void open_wait(struct wait *wait, ssize_t (*call)(struct wait *wait), int socket_flags)
{
	*wait = (struct wait){ .call = call, .file = memfd_create("file", MFD_CLOEXEC) };
	EXPECT_EQ(pipe2(wait->empty, O_CLOEXEC), 0);
	EXPECT_EQ(pipe2(wait->full, O_CLOEXEC), 0);
	fill(wait->full[1]);
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | socket_flags, 0, wait->pair), 0);
}

static void close_wait(struct wait *wait)
{
	for (int i = 0; i < 2; i++) {
		close(wait->empty[i]);
		close(wait->full[i]);
		close(wait->pair[i]);
	}
	close(wait->file);
}

/* ---- the calls ---- */

static ssize_t splice_bytes(int from, int to)
{
	return eddy_splice(from, EDDY_OFFSET_NONE, to, EDDY_OFFSET_NONE, 100, 0);
}

static ssize_t splice_pipe_to_file(struct wait *wait)
{
	return eddy_splice(wait->empty[0], EDDY_OFFSET_NONE, wait->file, 0, 100, 0);
}

static ssize_t splice_pipe_to_socket(struct wait *wait)
{
	return splice_bytes(wait->empty[0], wait->pair[0]);
}

static ssize_t splice_socket_to_pipe(struct wait *wait)
{
	return splice_bytes(wait->pair[0], wait->empty[1]);
}

static ssize_t splice_to_full_pipe(struct wait *wait)
{
	EXPECT_EQ(pwrite(wait->file, "x", 1, 0), 1);
	return eddy_splice(wait->file, 0, wait->full[1], EDDY_OFFSET_NONE, 1, 0);
}

static ssize_t splice_to_full_socket(struct wait *wait)
{
	fill(wait->pair[0]);
	return splice_bytes(wait->full[0], wait->pair[0]);
}

static ssize_t read_pipe(struct wait *wait)
{
	return eddy_read(wait->empty[0], wait->buf, sizeof(wait->buf), EDDY_OFFSET_NONE);
}

static ssize_t write_pipe(struct wait *wait)
{
	return eddy_write(wait->full[1], wait->buf, sizeof(wait->buf), EDDY_OFFSET_NONE);
}

static ssize_t receive(struct wait *wait)
{
	return eddy_recv(wait->pair[0], wait->buf, sizeof(wait->buf), 0);
}

static ssize_t receive_all(struct wait *wait)
{
	return eddy_recv(wait->pair[0], wait->buf, sizeof(wait->buf), MSG_WAITALL);
}

static ssize_t read_socket(struct wait *wait)
{
	return eddy_read(wait->pair[0], wait->buf, sizeof(wait->buf), EDDY_OFFSET_NONE);
}

static ssize_t send_bytes(struct wait *wait)
{
	fill(wait->pair[0]);
	return eddy_send(wait->pair[0], wait->buf, sizeof(wait->buf), 0);
}

static ssize_t accept_one(struct wait *wait)
{
	struct sockaddr_in addr;
	ssize_t r;

	close(wait->pair[0]);
	wait->pair[0] = tcp_listen(&addr, 1);
	fcntl(wait->pair[0], F_SETFL, 0);
	r = eddy_accept(wait->pair[0], NULL, NULL);
	return r;
}

static ssize_t poll_pipe(struct wait *wait)
{
	return eddy_poll(wait->empty[0], POLLIN);
}

static ssize_t read_eventfd(struct wait *wait)
{
	close(wait->file);
	wait->file = eventfd(0, EFD_CLOEXEC);
	return eddy_read(wait->file, wait->buf, 8, EDDY_OFFSET_NONE);
}

static ssize_t read_timer(struct wait *wait)
{
	close(wait->file);
	wait->file = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return eddy_read(wait->file, wait->buf, 8, EDDY_OFFSET_NONE);
}

static ssize_t read_terminal(struct wait *wait)
{
	close(wait->file);
	wait->file = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	unlockpt(wait->file);
	close(wait->pair[0]);
	wait->pair[0] = open(ptsname(wait->file), O_RDWR | O_NOCTTY | O_CLOEXEC);
	return eddy_read(wait->pair[0], wait->buf, 8, EDDY_OFFSET_NONE);
}

/* Nobody opens its other end. A creating one is left to a worker. */
static ssize_t open_fifo(struct wait *wait)
{
	int fd = eddy_openat(AT_FDCWD, fifo, O_RDONLY | O_CREAT, 0600);

	/* Others may have gone on before a worker was there for it. */
	EXPECT(fd >= 0 || fd == -ECANCELED);
	if (fd < 0)
		return fd;
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
	return read_pipe(wait);
}

static const struct {
	const char *name;
	ssize_t (*call)(struct wait *wait);
} calls[] = {
	{ "splice from a pipe to a file", splice_pipe_to_file },
	{ "splice from a pipe to a socket", splice_pipe_to_socket },
	{ "splice from a socket to a pipe", splice_socket_to_pipe },
	{ "splice to a full pipe", splice_to_full_pipe },
	{ "splice to a full socket", splice_to_full_socket },
	{ "read of a pipe", read_pipe },
	{ "write to a pipe", write_pipe },
	{ "recv", receive },
	{ "recv of all", receive_all },
	{ "read of a socket", read_socket },
	{ "send", send_bytes },
	{ "accept", accept_one },
	{ "poll", poll_pipe },
	{ "read of an eventfd", read_eventfd },
	{ "read of a timer", read_timer },
	{ "read of a terminal", read_terminal },
	{ "open of a FIFO", open_fifo },
};

/* ---- calls that need not wait ---- */

static int go_on(__attribute__((unused)) void *arg)
{
	int from[2], to[2], file = memfd_create("ready", MFD_CLOEXEC);
	struct statx st;

	EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
	EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
	EXPECT_EQ(write(from[1], "bytes", 5), 5);
	EXPECT_EQ(splice_bytes(from[0], to[1]), 5);
	EXPECT_EQ(eddy_splice(to[0], EDDY_OFFSET_NONE, file, 0, 100, 0), 5);
	EXPECT_EQ(eddy_fsync(file, false), 0);
	EXPECT_EQ(eddy_statx(file, "", AT_EMPTY_PATH, STATX_SIZE, &st), 0);
	EXPECT_EQ(st.stx_size, 5);
	for (int i = 0; i < 2; i++) {
		close(from[i]);
		close(to[i]);
	}
	close(file);
	return 0;
}

static int wait_for_peer(void *arg)
{
	struct wait *wait = arg;

	wait->result = wait->call(wait);
	return 0;
}

/* Return: whether others went on. */
static bool others_go_on(ssize_t (*call)(struct wait *wait), int socket_flags)
{
	static struct wait waits[WAITING];
	struct eddy_scope waiting, going;

	eddy_scope_begin(&waiting, NULL);
	for (int i = 0; i < WAITING; i++) {
		open_wait(&waits[i], call, socket_flags);
		eddy_scope_spawn(&waiting, "waiting", wait_for_peer, &waits[i]);
	}
	expect_turns(2);
	eddy_scope_begin(&going, &(struct eddy_scope_options){ .timeout_ns = 20 * EDDY_SECOND });
	eddy_scope_spawn(&going, "going on", go_on, NULL);
	eddy_scope_join(&going);
	eddy_scope_end(&going);
	eddy_scope_end(&waiting);
	for (int i = 0; i < WAITING; i++) {
		EXPECT_EQ(waits[i].result, -ECANCELED);
		close_wait(&waits[i]);
	}
	return expect_failed == 0;
}

static int hold_back_nobody(__attribute__((unused)) void *arg)
{
	for (size_t i = 0; i < 2 * COUNT(calls); i++)
		if (!others_go_on(calls[i / 2].call, i % 2 ? SOCK_NONBLOCK : 0)) {
			expect_note(__LINE__, calls[i / 2].name, (long long)i % 2);
			break;
		}
	return 0;
}

Test(io_wait, those_who_wait_for_a_peer_hold_back_nobody)
{
	snprintf(fifo, sizeof(fifo), "/tmp/eddy-io-wait-%d", getpid());
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	expect_run(NULL, hold_back_nobody, NULL);
	unlink(fifo);
}

/* ---- ends that are not waited for ---- */

static ssize_t splice_soon(int from, uint64_t offset_in, int to, uint64_t offset_out)
{
	struct eddy_scope scope;
	ssize_t r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_SECOND });
	r = eddy_splice(from, offset_in, to, offset_out, 100, 0);
	eddy_scope_end(&scope);
	return r;
}

/* They poll as ready, and would again. */
TASK_TEST(io_wait, a_splice_is_not_made_again_for_an_error_queue)
{
	struct wait wait;
	ssize_t r;
	int tries = 0;

	open_wait(&wait, NULL, 0);
	close(wait.pair[0]);
	close(wait.pair[1]);
	tcp_pair(wait.pair);
	queue_error(wait.pair[0]);
	EXPECT_EQ(splice_soon(wait.pair[0], EDDY_OFFSET_NONE, wait.empty[1], EDDY_OFFSET_NONE),
		  -EAGAIN);
	/* An acknowledgement that comes after the last write makes room. */
	do {
		fill(wait.pair[0]);
		r = splice_soon(wait.full[0], EDDY_OFFSET_NONE, wait.pair[0], EDDY_OFFSET_NONE);
	} while (r > 0 && ++tries < 100);
	EXPECT_EQ(r, -EAGAIN);
	close_wait(&wait);
	return 0;
}

TASK_TEST(io_wait, the_end_of_a_pipe_needs_no_room)
{
	struct wait wait;

	open_wait(&wait, NULL, SOCK_NONBLOCK);
	fill(wait.pair[0]);
	close(wait.empty[1]);
	EXPECT_EQ(splice_soon(wait.empty[0], EDDY_OFFSET_NONE, wait.pair[0], EDDY_OFFSET_NONE), 0);
	wait.empty[1] = dup(wait.empty[0]);
	close_wait(&wait);
	return 0;
}

static int close_later(void *arg)
{
	int *fd = arg;

	expect_turns(2);
	close(*fd);
	return 0;
}

TASK_TEST(io_wait, the_end_of_a_pipe_that_comes_later_needs_no_room)
{
	struct eddy_scope scope;
	struct wait wait;

	open_wait(&wait, NULL, SOCK_NONBLOCK);
	fill(wait.pair[0]);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "closing", close_later, &wait.empty[1]);
	EXPECT_EQ(splice_soon(wait.empty[0], EDDY_OFFSET_NONE, wait.pair[0], EDDY_OFFSET_NONE), 0);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	wait.empty[1] = dup(wait.empty[0]);
	close_wait(&wait);
	return 0;
}

TASK_TEST(io_wait, calls_without_their_pipes_do_not_wait)
{
	struct wait wait;

	open_wait(&wait, NULL, 0);
	EXPECT_EQ(splice_soon(wait.pair[0], EDDY_OFFSET_NONE, wait.pair[1], EDDY_OFFSET_NONE),
		  -EINVAL);
	EXPECT_EQ(eddy_splice(wait.pair[0], EDDY_OFFSET_NONE, wait.file, 0, 1, SPLICE_F_NONBLOCK),
		  -EINVAL);
	close_wait(&wait);
	return 0;
}

/* poll(2) of a file of FUSE would wait for its daemon. What the kernel says of an offset into a pipe shows that nobody asked
 * whether the pipe is ready. */
TASK_TEST(io_wait, an_end_with_an_offset_is_ready)
{
	struct wait wait;

	open_wait(&wait, NULL, 0);
	EXPECT_EQ(splice_soon(wait.empty[0], 0, wait.empty[1], EDDY_OFFSET_NONE), -ESPIPE);
	EXPECT_EQ(splice_soon(wait.full[0], EDDY_OFFSET_NONE, wait.full[1], 0), -ESPIPE);
	close_wait(&wait);
	return 0;
}

/* ---- the limit ---- */

/* Not eddy_splice(): this waits in a worker. */
static ssize_t splice_in_worker(struct wait *wait)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_splice(&sqe, wait->empty[0], -1, wait->full[1], -1, 1, 0);
	return eddy_op_call(&sqe);
}

static void expect_workers(unsigned count)
{
	static struct wait waits[4 * WAITING];
	struct eddy_scope scope;
	size_t begun = 0;

	EXPECT_EQ(eddy_loop_stats(NULL).io_workers_max, 2 * count);
	EXPECT_EQ(eddy_stats().loop.io_workers_max, 2 * count);
	eddy_scope_begin(&scope, NULL);
	/* The kernel gives up when it fails to make a worker, until there is more to do. */
	while (begun < WAITING || (eddyi_stats_io_workers() < count && begun < COUNT(waits))) {
		open_wait(&waits[begun], splice_in_worker, 0);
		eddy_scope_spawn(&scope, "waiting", wait_for_peer, &waits[begun++]);
		for (int i = 0; i < 50 && begun >= WAITING && eddyi_stats_io_workers() < count; i++)
			eddy_sleep(EDDY_MS);
	}
	expect_turns(100);
	EXPECT_EQ(eddyi_stats_io_workers(), count);
	eddy_scope_end(&scope);
	while (begun)
		close_wait(&waits[--begun]);
}

static int wait_in_workers(__attribute__((unused)) void *arg)
{
	expect_workers(2);
	EXPECT_EQ(eddyi_loop_set_io_workers_max(1025), -EINVAL);
	EXPECT_EQ(eddyi_loop_set_io_workers_max(5), 0);
	expect_workers(5);
	EXPECT_EQ(eddyi_loop_set_io_workers_max(0), 0);
	expect_workers(8);
	return 0;
}

Test(io_wait, there_are_as_many_workers_as_the_option_says)
{
	cr_expect_eq(eddy_run(&(struct eddy_loop_options){ .io_workers_max = 1025 },
			      wait_in_workers, NULL),
		     -EINVAL);
	expect_run(&(struct eddy_loop_options){ .io_workers_max = 2 }, wait_in_workers, NULL);
}
