/* Tests of ops that are cancelled at the moment at which the kernel tries them again: a cancel then misses, and the op
 * has to end all the same.
 *
 * EDDY_CANCEL_ROUNDS is how often each kind of op is cancelled while a thread makes its descriptor ready and takes
 * that back; `./dev test cancels` sets it to a million. */
#include "chaos/chaos.h"
#include "core/op.h"
#include "polls.h"
#include "seeds.h"

#include <eddy/io.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#define AT_ONCE 4
/* Longer than any delay between two cancels, on a machine that is busy. */
#define PATIENCE (20 * EDDY_SECOND)

struct rig;

struct kind {
	const char *name;
	void (*open)(struct rig *rig);
	void (*prep)(struct rig *rig, struct io_uring_sqe *sqe);
	void (*disturb)(struct rig *rig); /* by another thread, over and over */
};

struct rig {
	const struct kind *kind;
	int fds[2]; /* the op's, and its peer */
	struct sockaddr_un addr;
	socklen_t addr_len;
	struct sockaddr_in inet;
	int sink; /* /dev/null */
	atomic_bool paused, stop;
	struct cancelled {
		struct eddy_op op;
		struct rig *rig;
		bool ended;
		char bytes[64];
		struct iovec vec;
		struct msghdr msg;
	} ops[AT_ONCE];
	struct cancelled *preparing;
	long ended;
};

/* --- what the ops wait for */

static void name_unix(struct rig *rig)
{
	rig->addr_len = sizeof(rig->addr);
	rig->addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	EXPECT_EQ(bind(rig->fds[0], (struct sockaddr *)&rig->addr, sizeof(sa_family_t)), 0);
	EXPECT_EQ(getsockname(rig->fds[0], (struct sockaddr *)&rig->addr, &rig->addr_len), 0);
}

static void open_listener(struct rig *rig)
{
	rig->fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	rig->fds[1] = -1;
	name_unix(rig);
	EXPECT_EQ(listen(rig->fds[0], 16), 0);
}

static void open_tcp_listener(struct rig *rig)
{
	rig->fds[0] = tcp_listen(&rig->inet, 64);
	rig->fds[1] = -1;
}

static void open_stream(struct rig *rig)
{
	stream_pair(rig->fds);
}

static void open_tcp(struct rig *rig)
{
	tcp_pair(rig->fds);
}

static void fill(int fd)
{
	static const char bytes[4096];

	while (write(fd, bytes, sizeof(bytes)) > 0 || write(fd, bytes, 1) > 0)
		;
}

static void open_full_stream(struct rig *rig)
{
	stream_pair(rig->fds);
	fill(rig->fds[0]);
}

static void open_pipe(struct rig *rig)
{
	EXPECT_EQ(pipe2(rig->fds, O_NONBLOCK | O_CLOEXEC), 0);
}

static void open_full_pipe(struct rig *rig)
{
	int fds[2];

	EXPECT_EQ(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	rig->fds[0] = fds[1];
	rig->fds[1] = fds[0];
	fill(fds[1]);
}

static void open_eventfd(struct rig *rig)
{
	rig->fds[0] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rig->fds[1] = -1;
}

/* The kernel tries an op again and again, a hundred times, then leaves it to a worker, who waits. */
static void open_troubled(struct rig *rig)
{
	tcp_pair(rig->fds);
	queue_error(rig->fds[0]);
	/* A worker is to wait, and not to be told -EAGAIN. */
	EXPECT_EQ(fcntl(rig->fds[0], F_SETFL, 0), 0);
}

static void open_troubled_full(struct rig *rig)
{
	open_troubled(rig);
	fcntl(rig->fds[0], F_SETFL, O_NONBLOCK);
	fill(rig->fds[0]);
	fcntl(rig->fds[0], F_SETFL, 0);
}

/* A socket of UNIX that is not connected is ready to be written to, as polling has it. */
static void open_full_listener(struct rig *rig)
{
	rig->fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	name_unix(rig);
	EXPECT_EQ(listen(rig->fds[0], 0), 0);
	rig->fds[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EXPECT_EQ(connect(rig->fds[1], (struct sockaddr *)&rig->addr, rig->addr_len), 0);
}

/* --- the ops */

/* Else ports of TCP run out. */
static void reset_at_close(int fd)
{
	const struct linger at_once = { .l_onoff = 1 };

	EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
}

static void prep_accept(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_accept(sqe, rig->fds[0], NULL, NULL, SOCK_CLOEXEC);
}

static void prep_multishot_accept(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_multishot_accept(sqe, rig->fds[0], NULL, NULL, SOCK_CLOEXEC);
}

static void prep_recv(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_recv(sqe, rig->fds[0], rig->preparing->bytes, 1, 0);
}

static void prep_worker_recv(struct rig *rig, struct io_uring_sqe *sqe)
{
	prep_recv(rig, sqe);
	sqe->flags |= IOSQE_ASYNC;
}

static void prep_recvmsg(struct rig *rig, struct io_uring_sqe *sqe)
{
	struct cancelled *cancelled = rig->preparing;

	cancelled->vec = (struct iovec){ cancelled->bytes, 1 };
	cancelled->msg = (struct msghdr){ .msg_iov = &cancelled->vec, .msg_iovlen = 1 };
	io_uring_prep_recvmsg(sqe, rig->fds[0], &cancelled->msg, 0);
}

static void prep_send(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_send(sqe, rig->fds[0], rig->preparing->bytes, 1, 0);
}

static void prep_sendmsg(struct rig *rig, struct io_uring_sqe *sqe)
{
	struct cancelled *cancelled = rig->preparing;

	cancelled->vec = (struct iovec){ cancelled->bytes, 1 };
	cancelled->msg = (struct msghdr){ .msg_iov = &cancelled->vec, .msg_iovlen = 1 };
	io_uring_prep_sendmsg(sqe, rig->fds[0], &cancelled->msg, 0);
}

static void prep_read(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_read(sqe, rig->fds[0], rig->preparing->bytes, 8, 0);
}

static void prep_write(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_write(sqe, rig->fds[0], rig->preparing->bytes, 1, 0);
}

static void prep_splice(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_splice(sqe, rig->fds[0], -1, rig->sink, -1, 1, 0);
}

static void prep_poll_in(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_poll_add(sqe, rig->fds[0], POLLIN);
}

static void prep_multishot_poll(struct rig *rig, struct io_uring_sqe *sqe)
{
	io_uring_prep_poll_multishot(sqe, rig->fds[0], POLLIN);
}

static void prep_connect(struct rig *rig, struct io_uring_sqe *sqe)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	io_uring_prep_connect(sqe, fd, (struct sockaddr *)&rig->addr, rig->addr_len);
}

static void prep_tcp_connect(struct rig *rig, struct io_uring_sqe *sqe)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	reset_at_close(fd);
	io_uring_prep_connect(sqe, fd, (struct sockaddr *)&rig->inet, sizeof(rig->inet));
}

/* --- what the other thread does */

static void take_connection(struct rig *rig, int family, const void *addr, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), other;

	connect(fd, addr, len);
	other = accept4(rig->fds[0], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	reset_at_close(fd);
	close(fd);
	if (other >= 0)
		close(other);
}

static void take_unix(struct rig *rig)
{
	take_connection(rig, AF_UNIX, &rig->addr, rig->addr_len);
}

static void take_tcp(struct rig *rig)
{
	take_connection(rig, AF_INET, &rig->inet, sizeof(rig->inet));
}

/* Bytes come, and go to somebody else. */
static void take_byte(struct rig *rig)
{
	char bytes[8];

	(void)!write(rig->fds[1], "x", 1);
	(void)!read(rig->fds[0], bytes, 1);
}

static void take_count(struct rig *rig)
{
	uint64_t count = 1;

	(void)!write(rig->fds[0], &count, sizeof(count));
	(void)!read(rig->fds[0], &count, sizeof(count));
}

/* Connections are made, and are at once somebody else's. */
static void take_all(struct rig *rig)
{
	int fd = accept4(rig->fds[0], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		close(fd);
}

/* Room comes, and is taken by somebody else. */
static void take_room(struct rig *rig)
{
	char bytes[16384];

	(void)!read(rig->fds[1], bytes, sizeof(bytes));
	fill(rig->fds[0]);
}

/* --- the rounds */

static void note_end(struct eddy_op *op, int result, unsigned flags)
{
	struct cancelled *cancelled = eddy_of(op, struct cancelled, op);

	if (result >= 0 && op->opcode == IORING_OP_ACCEPT)
		close(result);
	if (flags & IORING_CQE_F_MORE)
		return;
	if (op->opcode == IORING_OP_CONNECT)
		close(op->fd);
	cancelled->ended = true;
	cancelled->rig->ended++;
}

static bool all_ended(const struct rig *rig)
{
	for (int i = 0; i < AT_ONCE; i++)
		if (!rig->ops[i].ended)
			return false;
	return true;
}

/* Return: whether all ended. */
static bool cancel_some(struct rig *rig, unsigned turns)
{
	uint64_t until;

	for (int i = 0; i < AT_ONCE; i++) {
		struct cancelled *cancelled = &rig->ops[i];
		struct io_uring_sqe *sqe = eddy_op_begin(&cancelled->op, note_end);

		cancelled->rig = rig;
		cancelled->ended = false;
		rig->preparing = cancelled;
		rig->kind->prep(rig, sqe);
		eddy_op_start(&cancelled->op, sqe);
	}
	atomic_store_explicit(&rig->paused, false, memory_order_relaxed);
	expect_turns((int)turns);
	for (int i = 0; i < AT_ONCE; i++)
		eddy_op_cancel(&rig->ops[i].op);
	/* The cancels are submitted. What comes later would end an op that they have missed. */
	expect_turns(1);
	atomic_store_explicit(&rig->paused, true, memory_order_relaxed);
	until = eddy_now() + PATIENCE;
	while (!all_ended(rig) && eddy_now() < until)
		expect_turns(1);
	return all_ended(rig);
}

static void *disturb(void *arg)
{
	struct rig *rig = arg;

	while (!atomic_load_explicit(&rig->stop, memory_order_relaxed))
		if (atomic_load_explicit(&rig->paused, memory_order_relaxed))
			sched_yield();
		else
			rig->kind->disturb(rig);
	return NULL;
}

static long rounds;

static int cancel_over_and_over(void *arg)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	pthread_t thread;

	rig->kind = arg;
	rig->kind->open(rig);
	rig->sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (rig->kind->disturb)
		EXPECT_EQ(pthread_create(&thread, NULL, disturb, rig), 0);
	for (long round = 0; round < rounds; round++)
		if (!cancel_some(rig, (unsigned)round % 3)) {
			/* The loop could not end either. */
			fprintf(stderr, "%s: round %ld: an op does not end\n", rig->kind->name,
				round);
			abort();
		}
	atomic_store(&rig->stop, true);
	if (rig->kind->disturb)
		pthread_join(thread, NULL);
	EXPECT_EQ(rig->ended, rounds * AT_ONCE);
	EXPECT(eddy_list_is_empty(&eddyi_loop()->missed));
	EXPECT(!eddy_timer_is_armed(&eddyi_loop()->repeat_timer));
	close(rig->sink);
	close(rig->fds[0]);
	if (rig->fds[1] >= 0)
		close(rig->fds[1]);
	free(rig);
	return 0;
}

static long rounds_or(long few)
{
	const char *text = getenv("EDDY_CANCEL_ROUNDS");

	return text ? atol(text) : few;
}

static void cancel_rounds(struct kind kind, long count)
{
	rounds = count;
	expect_run(NULL, cancel_over_and_over, &kind);
}

/* Others take what these ops wait for. */
#define WHILE_OTHERS_TAKE(name, open, prep, disturb)                                               \
	Test(op_cancel, name##_while_others_take)                                                  \
	{                                                                                          \
		cancel_rounds((struct kind){ #name, open, prep, disturb },                         \
			      rounds_or(IS_SLOW ? 50 : 500));                                      \
	}

WHILE_OTHERS_TAKE(accept, open_listener, prep_accept, take_unix)
WHILE_OTHERS_TAKE(tcp_accept, open_tcp_listener, prep_accept, take_tcp)
WHILE_OTHERS_TAKE(multishot_accept, open_listener, prep_multishot_accept, take_unix)
WHILE_OTHERS_TAKE(recv, open_stream, prep_recv, take_byte)
WHILE_OTHERS_TAKE(tcp_recv, open_tcp, prep_recv, take_byte)
WHILE_OTHERS_TAKE(worker_recv, open_stream, prep_worker_recv, take_byte)
WHILE_OTHERS_TAKE(recvmsg, open_stream, prep_recvmsg, take_byte)
WHILE_OTHERS_TAKE(send, open_full_stream, prep_send, take_room)
WHILE_OTHERS_TAKE(sendmsg, open_full_stream, prep_sendmsg, take_room)
WHILE_OTHERS_TAKE(tcp_connect, open_tcp_listener, prep_tcp_connect, take_all)
WHILE_OTHERS_TAKE(poll, open_stream, prep_poll_in, take_byte)
WHILE_OTHERS_TAKE(multishot_poll, open_stream, prep_multishot_poll, take_byte)
WHILE_OTHERS_TAKE(pipe_read, open_pipe, prep_read, take_byte)
WHILE_OTHERS_TAKE(pipe_write, open_full_pipe, prep_write, take_room)
WHILE_OTHERS_TAKE(pipe_splice, open_pipe, prep_splice, take_byte)
WHILE_OTHERS_TAKE(eventfd_read, open_eventfd, prep_read, take_count)

/* No other thread is wanted: the kernel tries these again by itself. */
#define TRIED_AGAIN(name, open, prep)                                                              \
	Test(op_cancel, name##_tried_again_and_again)                                              \
	{                                                                                          \
		cancel_rounds((struct kind){ #name, open, prep, NULL }, IS_SLOW ? 2 : 10);         \
	}

TRIED_AGAIN(recv, open_troubled, prep_recv)
TRIED_AGAIN(recvmsg, open_troubled, prep_recvmsg)
TRIED_AGAIN(read, open_troubled, prep_read)
TRIED_AGAIN(send, open_troubled_full, prep_send)
TRIED_AGAIN(sendmsg, open_troubled_full, prep_sendmsg)
TRIED_AGAIN(write, open_troubled_full, prep_write)
TRIED_AGAIN(connect, open_full_listener, prep_connect)

/* --- under chaos, where one cancel in four misses */

#define POLLS 40

static int cancel_polls(__attribute__((unused)) void *arg)
{
	struct counted *counted = calloc(POLLS, sizeof(*counted));
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < POLLS; i++)
		start_poll(&counted[i], fds[0], i % 2);
	expect_turns(1);
	for (int i = 0; i < POLLS; i++)
		eddy_op_cancel(&counted[i].op);
	for (int i = 0; i < POLLS; i++) {
		until_ended(&counted[i]);
		EXPECT_EQ(counted[i].last, -ECANCELED);
	}
	EXPECT_EQ(eddyi_loop()->stats.ops_cancelled, POLLS);
	close(fds[0]);
	close(fds[1]);
	free(counted);
	return 0;
}

Test(op_cancel, cancels_that_miss_are_repeated)
{
	run_under_seeds(5, "misses", cancel_polls, NULL);
}

static int close_what_is_polled(__attribute__((unused)) void *arg)
{
	struct counted counted = { 0 };
	int fds[2];

	for (int i = 0; i < POLLS; i++) {
		stream_pair(fds);
		counted = (struct counted){ 0 };
		start_poll(&counted, fds[0], true);
		EXPECT_EQ(eddy_close(fds[0]), 0);
		EXPECT_EQ(counted.ends, 1);
		close(fds[1]);
	}
	return 0;
}

Test(op_cancel, closing_awaits_cancels_that_miss)
{
	run_under_seeds(5, "misses", close_what_is_polled, NULL);
}

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

Test(op_cancel, a_loop_ends_though_cancels_of_its_own_miss)
{
	run_under_seeds(20, "misses", nothing, NULL);
}

/* --- and where the kernel does not let go of an op for a while */

/* An entry that is linked behind another is found by no cancel before that one has completed. */
TASK_TEST(op_cancel, asks_ever_more_rarely)
{
	struct counted first = { 0 }, second = { 0 }, other = { 0 };
	struct eddy_loop *loop = eddyi_loop();
	struct io_uring_sqe *sqe;
	uint64_t turns, delay;
	int fds[2];

	stream_pair(fds);
	sqe = eddy_op_begin(&first.op, note);
	io_uring_prep_poll_add(sqe, fds[0], POLLIN);
	sqe->flags |= IOSQE_IO_LINK;
	eddy_op_start(&first.op, sqe);
	start_poll(&second, fds[1], false);
	expect_turns(1);
	turns = loop->stats.turns;
	eddy_op_cancel(&second.op);
	EXPECT_EQ(eddy_sleep(100 * EDDY_MS), 0);
	/* After 0, 1, 3, 7, 15, 31, 63 ms, and its answer each time. */
	EXPECT(eddyi_chaos_is_on(loop) || RUNNING_ON_VALGRIND || loop->stats.turns - turns < 40);
	EXPECT_EQ(second.calls, 0);
	/* A cancel that finds its op changes nothing about that. */
	while (!eddyi_chaos_is_on(loop) && loop->repeat_ns < 16 * EDDY_MS)
		EXPECT_EQ(eddy_sleep(EDDY_MS), 0);
	delay = loop->repeat_ns;
	start_poll(&other, fds[1], false);
	eddy_op_cancel(&other.op);
	until_ended(&other);
	EXPECT(eddyi_chaos_is_on(loop) || loop->repeat_ns >= delay);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	until_ended(&first);
	EXPECT_EQ(first.last, POLLIN);
	until_ended(&second);
	EXPECT_EQ(second.last, -ECANCELED);
	EXPECT(!eddy_timer_is_armed(&loop->repeat_timer));
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* The bytes stay in the sender's queue for as long as the peer has no room. */
TASK_TEST(op_cancel, asks_once_for_a_send_that_waits_for_its_notification)
{
	static char bytes[4096], in[65536];
	const int small = 65536, large = 4 * small;
	struct counted counted = { 0 };
	struct io_uring_sqe *sqe;
	uint64_t until = eddy_now() + 5 * EDDY_SECOND;
	int fds[2];

	tcp_pair(fds);
	EXPECT_EQ(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	fill(fds[0]);
	EXPECT_EQ(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &large, sizeof(large)), 0);
	sqe = eddy_op_begin(&counted.op, note);
	io_uring_prep_send_zc(sqe, fds[0], bytes, sizeof(bytes), 0, 0);
	eddy_op_start(&counted.op, sqe);
	while (!counted.calls && eddy_now() < until)
		expect_turns(1);
	EXPECT_EQ(counted.calls, 1);
	EXPECT(counted.last > 0);
	eddy_op_cancel(&counted.op);
	EXPECT_EQ(counted.op.pending, 2);
	while (counted.op.pending > 1 && eddy_now() < until)
		expect_turns(1);
	EXPECT_EQ(counted.op.pending, 1);
	EXPECT_EQ(counted.ends, 0);
	until = eddy_now() + PATIENCE;
	while (!counted.ends && eddy_now() < until) {
		(void)!read(fds[1], in, sizeof(in));
		expect_turns(1);
	}
	EXPECT_EQ(counted.ends, 1);
	EXPECT_EQ(counted.calls, 2);
	close(fds[0]);
	close(fds[1]);
	return 0;
}
