/* Tests of eddy_close() of eddy/io.h: whatever uses the descriptor ends before it. */
#include "polls.h"
#include "base/uapi.h"
#include "core/executor.h"

#include "base/feature.h"
#include <eddy/io.h>
#include <fcntl.h>
#include <string.h>

TASK_TEST(op_close, cancels_and_awaits_what_uses_the_descriptor)
{
	struct counted polls[3] = { 0 }, other = { 0 };
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), peer = tcp_connect(&addr);
	int fd = accept(listener, NULL, NULL);
	char byte;

	start_poll(&other, listener, true);
	for (int i = 0; i < 3; i++)
		start_poll(&polls[i], fd, true);
	expect_turns(1);
	EXPECT_EQ(eddy_close(fd), 0);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(polls[i].ends, 1);
		EXPECT_EQ(polls[i].last, -ECANCELED);
	}
	EXPECT_EQ(other.ends, 0);
	/* The peer sees the end. */
	EXPECT_EQ(recv(peer, &byte, 1, 0), 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), -1);
	EXPECT_EQ(eddy_close(listener), 0);
	EXPECT_EQ(other.ends, 1);
	close(peer);
	return 0;
}

TASK_TEST(op_close, cancels_what_is_started_again_meanwhile)
{
	struct counted counted = { .again = true };
	int fds[2];

	stream_pair(fds);
	start_poll(&counted, fds[0], true);
	expect_turns(1);
	EXPECT_EQ(eddy_close(fds[0]), 0);
	EXPECT_EQ(counted.ends, 2);
	close(fds[1]);
	return 0;
}

/* A splice has two descriptors, and so has a tee. */
TASK_TEST(op_close, finds_either_end_of_a_splice)
{
	for (int i = 0; i < 4; i++) {
		struct counted counted = { 0 }, other = { 0 };
		struct io_uring_sqe *sqe;
		int from[2], to[2];

		EXPECT_EQ(pipe(from), 0);
		EXPECT_EQ(pipe(to), 0);
		start_poll(&other, to[0], false);
		sqe = eddy_op_begin(&counted.op, note);
		if (i < 2)
			io_uring_prep_splice(sqe, from[0], -1, to[1], -1, 100, 0);
		else
			io_uring_prep_tee(sqe, from[0], to[1], 100, 0);
		eddy_op_start(&counted.op, sqe);
		expect_turns(1);
		EXPECT_EQ(counted.calls, 0);
		EXPECT_EQ(eddy_close(i % 2 ? from[0] : to[1]), 0);
		EXPECT_EQ(counted.ends, 1);
		if (counted.ends != 1)
			return 0;
		EXPECT_EQ(counted.last, -ECANCELED);
		/* epoll may have told it already that the pipe's other end is closed. */
		EXPECT(!other.calls || (i % 2 == 0 && other.last & POLLHUP &&
					eddyi_loop()->executor == &eddyi_executor_poll));
		EXPECT(eddy_list_is_empty(&eddyi_loop()->ops_of_two));
		eddy_op_cancel(&other.op);
		until_ended(&other);
		close(i % 2 ? to[1] : from[0]);
		close(from[1]);
		close(to[0]);
	}
	return 0;
}

/* Where others have a descriptor these have a family, flags or a process. */
TASK_TEST(op_close, leaves_alone_what_only_looks_like_a_descriptor)
{
	const int flags = 2 | 128; /* a word of 32 bits, of this process alone */
	struct counted counted = { 0 }, made = { 0 };
	struct io_uring_sqe *sqe = eddy_op_begin(&made.op, note);
	uint32_t word = 0;

	io_uring_prep_socket(sqe, AF_INET, SOCK_STREAM, 0, 0);
	eddy_op_start(&made.op, sqe);
	EXPECT_EQ(made.op.fd, -1);
	until_ended(&made);
	EXPECT_EQ(close(made.last), 0);
	made = (struct counted){ 0 };
	sqe = eddy_op_begin(&made.op, note);
	io_uring_prep_getxattr(sqe, "user.none", NULL, "/", 0);
	eddy_op_start(&made.op, sqe);
	EXPECT_EQ(made.op.fd, -1);
	/* A thread of the kernel's does it. */
	while (!made.ends)
		eddy_sleep(EDDY_MS / 10);
	if (!eddyi_feature_is_there(EDDYI_FEATURE_FUTEX))
		return 0;
	sqe = eddy_op_begin(&counted.op, note);
	io_uring_prep_rw(EDDYI_OP_FUTEX_WAIT, sqe, flags, &word, 0, 0);
	sqe->addr3 = UINT32_MAX;
	eddy_op_start(&counted.op, sqe);
	expect_turns(1);
	EXPECT_EQ(dup2(0, flags), flags);
	EXPECT_EQ(eddy_close(flags), 0);
	EXPECT_EQ(counted.calls, 0);
	eddy_op_cancel(&counted.op);
	until_ended(&counted);
	EXPECT_EQ(counted.last, -ECANCELED);
	return 0;
}

TASK_TEST(op_close, of_nothing_leaves_other_ops_alone)
{
	struct counted counted = { 0 };
	struct io_uring_sqe *sqe = eddy_op_begin(&counted.op, note);
	struct __kernel_timespec minute = { .tv_sec = 60 };

	io_uring_prep_timeout(sqe, &minute, 0, 0);
	eddy_op_start(&counted.op, sqe);
	expect_turns(1);
	EXPECT_EQ(eddy_close(-1), -EBADF);
	EXPECT_EQ(counted.calls, 0);
	eddy_op_cancel(&counted.op);
	until_ended(&counted);
	return 0;
}
