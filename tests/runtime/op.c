#include "core/op.h"
#include "polls.h"
#include "base/feature.h"
#include "base/uapi.h"

#include <eddy/io.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

TASK_TEST(op, completes_once)
{
	struct counted counted = { 0 };
	int fds[2];

	stream_pair(fds);
	start_poll(&counted, fds[0], false);
	expect_turns(3);
	EXPECT_EQ(counted.calls, 0);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	until_ended(&counted);
	EXPECT_EQ(counted.calls, 1);
	EXPECT_EQ(counted.last, POLLIN);
	eddy_op_cancel(&counted.op);
	expect_turns(2);
	EXPECT_EQ(counted.calls, 1);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(op, multishot_poll)
{
	struct counted counted = { 0 };
	int fds[2];
	char byte;

	stream_pair(fds);
	start_poll(&counted, fds[0], true);
	for (int i = 1; i <= 5; i++) {
		EXPECT_EQ(write(fds[1], "x", 1), 1);
		for (int n = 0; n < 100 && counted.calls < i; n++)
			expect_turns(1);
		EXPECT_EQ(counted.calls, i);
		EXPECT_EQ(counted.last, POLLIN);
		EXPECT_EQ(read(fds[0], &byte, 1), 1);
	}
	EXPECT_EQ(counted.ends, 0);
	eddy_op_cancel(&counted.op);
	eddy_op_cancel(&counted.op);
	until_ended(&counted);
	EXPECT_EQ(counted.last, -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(op, multishot_accept)
{
	struct counted counted = { 0 };
	struct sockaddr_in addr;
	struct io_uring_sqe *sqe;
	int listener = tcp_listen(&addr, 8), peers[4];

	sqe = eddy_op_begin(&counted.op, note);
	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
	eddy_op_start(&counted.op, sqe);
	for (int i = 0; i < 4; i++)
		peers[i] = tcp_connect(&addr);
	for (int n = 0; n < 100 && counted.calls < 4; n++)
		expect_turns(1);
	EXPECT_EQ(counted.calls, 4);
	EXPECT_EQ(counted.ends, 0);
	eddy_op_cancel(&counted.op);
	until_ended(&counted);
	EXPECT_EQ(counted.results[4], -ECANCELED);
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(send(peers[i], "x", 1, 0), 1);
		EXPECT_EQ(close(counted.results[i]), 0);
		close(peers[i]);
	}
	close(listener);
	return 0;
}

TASK_TEST(op, cancelled_by_its_own_function)
{
	struct counted counted = { .cancel_first = true };
	int fds[2];

	stream_pair(fds);
	start_poll(&counted, fds[0], true);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	until_ended(&counted);
	EXPECT_EQ(counted.results[0], POLLIN);
	EXPECT_EQ(counted.last, -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(op, cancelled_before_it_reached_the_kernel)
{
	struct counted counted = { 0 };
	int fds[2];

	stream_pair(fds);
	start_poll(&counted, fds[0], false);
	eddy_op_cancel(&counted.op);
	EXPECT_EQ(counted.calls, 0);
	until_ended(&counted);
	EXPECT_EQ(counted.calls, 1);
	EXPECT_EQ(counted.last, -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* The kernel has completed the op, and its cancellation is on its way: the op must not end before
 * the cancellation has been answered, or that would hit whatever comes to lie at its address. */
TASK_TEST(op, does_not_end_before_its_cancel)
{
	struct eddy_loop *loop = eddyi_loop();
	struct counted counted = { 0 };
	int fds[2];

	stream_pair(fds);
	start_poll(&counted, fds[0], false);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	eddyi_loop_enter(loop);
	eddyi_loop_enter(loop);
	EXPECT(io_uring_cq_ready(&loop->ring) > 0);
	eddy_op_cancel(&counted.op);
	/* Sees the op's own completion; the cancellation has not been submitted. */
	loop->running = NULL;
	eddyi_op_dispatch(loop);
	loop->running = eddy_of(loop->root.tasks.next, struct eddy_task, inside);
	EXPECT_EQ(counted.calls, 0);
	EXPECT(eddy_op_is_started(&counted.op));
	until_ended(&counted);
	EXPECT_EQ(counted.calls, 1);
	EXPECT_EQ(counted.last, POLLIN);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* The cancel is behind a gate, and comes to the kernel when the op has long completed; as it ends
 * another one is started at its address. */
TASK_TEST(op, late_cancel_never_hits_a_later_op)
{
	struct counted counted = { .again = true };
	struct io_uring_sqe *gate;
	int fds[2], gates[2];

	stream_pair(fds);
	stream_pair(gates);
	start_poll(&counted, fds[0], false);
	gate = eddyi_op_take_sqe(eddyi_loop());
	io_uring_prep_poll_add(gate, gates[0], POLLIN);
	io_uring_sqe_set_data64(gate, EDDYI_OP_TAG_NOBODY);
	gate->flags |= IOSQE_IO_LINK;
	eddy_op_cancel(&counted.op);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	expect_turns(3);
	EXPECT_EQ(write(gates[1], "x", 1), 1);
	expect_turns(3);
	/* The first one's end, and what the second has to say. */
	EXPECT_EQ(counted.calls, 2);
	EXPECT_EQ(counted.ends, 1);
	EXPECT_EQ(counted.last, POLLIN);
	EXPECT(eddy_op_is_started(&counted.op));
	eddy_op_cancel(&counted.op);
	while (eddy_op_is_started(&counted.op))
		expect_turns(1);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(gates[i]);
	}
	return 0;
}

/* The same address, again and again, with results and cancellations in flight at once. */
TASK_TEST(op, cancelled_and_started_again)
{
	struct eddy_loop *loop = eddyi_loop();
	struct counted counted;
	int fds[2], rounds = IS_SLOW ? 200 : 2000;
	char byte;

	stream_pair(fds);
	for (int i = 0; i < rounds; i++) {
		counted = (struct counted){ 0 };
		start_poll(&counted, fds[0], false);
		if (i % 3 == 0)
			eddyi_loop_enter(loop);
		EXPECT_EQ(write(fds[1], "x", 1), 1);
		if (i % 2)
			eddyi_loop_enter(loop);
		eddy_op_cancel(&counted.op);
		until_ended(&counted);
		EXPECT_EQ(counted.calls, 1);
		EXPECT(counted.last == POLLIN || counted.last == -ECANCELED);
		/* Nobody cancels this one. */
		counted = (struct counted){ 0 };
		start_poll(&counted, fds[0], false);
		until_ended(&counted);
		EXPECT_EQ(counted.last, POLLIN);
		EXPECT_EQ(read(fds[0], &byte, 1), 1);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static int small_queue(__attribute__((unused)) void *arg)
{
	struct counted *counted = calloc(300, sizeof(*counted));
	int fds[2], ended = 0;

	EXPECT(eddyi_loop()->ring.sq.ring_entries < 10);
	stream_pair(fds);
	for (int i = 0; i < 300; i++)
		start_poll(&counted[i], fds[0], i % 2);
	for (int i = 0; i < 200; i++)
		eddy_op_cancel(&counted[i].op);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	expect_turns(20);
	for (int i = 200; i < 300; i++)
		eddy_op_cancel(&counted[i].op);
	expect_turns(20);
	for (int i = 0; i < 300; i++) {
		EXPECT(counted[i].calls >= 1);
		ended += counted[i].ends;
	}
	EXPECT_EQ(ended, 300);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	free(counted);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

Test(op, more_than_the_queues_hold)
{
	expect_run(&(struct eddy_loop_options){ .sq_entries = 4 }, small_queue, NULL);
}

static int await_twice(void *arg)
{
	struct eddy_op op;
	struct io_uring_sqe *sqe = eddy_op_begin_await(&op);

	if (!sqe)
		return -ECANCELED;
	io_uring_prep_poll_add(sqe, *(int *)arg, POLLIN);
	return eddy_op_await(&op, sqe);
}

TASK_TEST(op, awaited)
{
	struct eddy_scope scope;
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	EXPECT_EQ(await_twice(&fds[0]), POLLIN);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(await_twice(&fds[0]), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* The guarantee holds also when the scope is cancelled after the entry was taken. */
TASK_TEST(op, scope_cancelled_between_begin_and_await)
{
	struct eddy_scope scope;
	struct eddy_op op;
	struct io_uring_sqe *sqe;
	int fds[2];

	stream_pair(fds);
	eddy_scope_begin(&scope, NULL);
	sqe = eddy_op_begin_await(&op);
	EXPECT(sqe);
	io_uring_prep_poll_add(sqe, fds[0], POLLIN);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_op_await(&op, sqe), -ECANCELED);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* Any entry, copied each time that it is submitted. The kernel returns what it is told to. */
#define NOP_RETURNS 1

static struct io_uring_sqe nop;

static int call_nop(__attribute__((unused)) void *arg)
{
	return eddy_op_call(&nop);
}

static bool nop_returns(int result)
{
	nop = (struct io_uring_sqe){ 0 };
	io_uring_prep_nop(&nop);
	nop.rw_flags = NOP_RETURNS;
	nop.len = (unsigned)result;
	nop.user_data = 12345;
	return eddy_op_call(&nop) == result;
}

TASK_TEST(op, called)
{
	struct eddy_scope scope;

	/* Since Linux 6.10. */
	if (!nop_returns(7))
		return 0;
	EXPECT(nop_returns(-EPIPE));
	EXPECT_EQ(nop.user_data, 12345);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_op_call(&nop), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	return 0;
}

TASK_TEST(op, interrupted_calls_are_made_again)
{
	struct eddy_scope scope;

	if (!nop_returns(7))
		return 0;
	nop.len = (unsigned)-EINTR;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "interrupted", call_nop, NULL);
	expect_turns(20);
	EXPECT_EQ(scope.running, 1);
	nop.len = (unsigned)-ENOTTY;
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), -ENOTTY);
	/* Until the scope is cancelled. */
	nop.len = (unsigned)-EINTR;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_op_call(&nop), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	return 0;
}

#define ZC_SIZE (64 * 1024)

struct zc {
	int fd, result, flags;
};

static int send_zc(void *arg)
{
	struct zc *zc = arg;
	struct eddy_op op;
	struct io_uring_sqe *sqe = eddy_op_begin_await(&op);
	char bytes[ZC_SIZE];

	memset(bytes, 'z', sizeof(bytes));
	io_uring_prep_rw(IORING_OP_SEND_ZC, sqe, zc->fd, bytes, sizeof(bytes), 0);
	sqe->msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
	zc->result = eddy_op_await(&op, sqe);
	zc->flags = (int)op.flags;
	/* The kernel has let go: what is written here now is sent no more. */
	memset(bytes, '!', sizeof(bytes));
	return 0;
}

TASK_TEST(op, zero_copy_send_is_awaited_until_the_kernel_lets_go)
{
	static char got[ZC_SIZE];
	struct sockaddr_in addr;
	struct eddy_scope scope;
	int listener = tcp_listen(&addr, 1), peer = tcp_connect(&addr);
	struct zc zc = { .fd = accept(listener, NULL, NULL) };
	size_t len = 0;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sender", send_zc, &zc);
	while (len < sizeof(got)) {
		ssize_t r = eddy_recv(peer, got + len, sizeof(got) - len, 0);

		EXPECT(r > 0);
		if (r <= 0)
			break;
		len += (size_t)r;
	}
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(zc.result, ZC_SIZE);
	EXPECT(zc.flags & IORING_CQE_F_NOTIF);
	for (size_t i = 0; i < sizeof(got); i++)
		if (got[i] != 'z') {
			EXPECT_EQ(got[i], 'z');
			break;
		}
	zc.fd = (close(zc.fd), listener);
	EXPECT_EQ(send_zc(&zc), 0);
	EXPECT_EQ(zc.result, -EPIPE);
	close(peer);
	close(listener);
	return 0;
}

/* A completion that the kernel did not think of: a message of the ring to itself. */
#define PASS_FLAGS 2

static void forge(struct eddy_op *op, int result, unsigned flags)
{
	struct io_uring *ring = &eddyi_loop()->ring;
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_msg_ring(sqe, ring->ring_fd, (unsigned)result, (uintptr_t)op, 0);
	sqe->rw_flags = PASS_FLAGS;
	sqe->file_index = flags;
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	expect_turns(4);
}

struct silent {
	struct eddy_op op;
	int result;
	bool returned;
};

/* What is told of this op is what is forged. */
static int await_silence(void *arg)
{
	struct silent *silent = arg;
	struct io_uring_sqe *sqe = eddy_op_begin_await(&silent->op);

	io_uring_prep_nop(sqe);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	silent->result = eddy_op_await(&silent->op, sqe);
	silent->returned = true;
	return 0;
}

/* The bytes are told of first; the call returns after the notification, also when it was cancelled
 * in between, and with the bytes. An error may come with a notification, too. */
TASK_TEST(op, notification_is_awaited_and_not_the_result)
{
	static const int results[] = { 1000, -ECONNRESET, -ECANCELED };

	/* Until then a message has no flags of ours. */
	if (!kernel_is("6.3"))
		return 0;
	for (int i = 0; i < 6; i++) {
		struct silent silent = { .result = 1 };
		struct eddy_scope scope, shield;

		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "silent", await_silence, &silent);
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		expect_turns(2);
		forge(&silent.op, results[i / 2], IORING_CQE_F_MORE);
		EXPECT(!silent.returned);
		if (i % 2) {
			eddy_scope_cancel(&scope);
			expect_turns(3);
			EXPECT(!silent.returned);
		}
		forge(&silent.op, 0, IORING_CQE_F_NOTIF);
		EXPECT(silent.returned);
		EXPECT_EQ(silent.result, results[i / 2]);
		EXPECT_EQ(eddy_scope_end(&shield), 0);
		EXPECT_EQ(eddy_scope_end(&scope), i % 2 ? -ECANCELED : 0);
	}
	return 0;
}
