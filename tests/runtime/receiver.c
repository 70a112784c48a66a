#include <eddy/receiver.h>

#include "moved.h"

#include <eddy/io.h>
#include <stdlib.h>
#include <string.h>

/* All buffers of a group are with the kernel: as many bytes can be received at once as it has. */
static void expect_none_lost(struct eddy_buffers *buffers)
{
	struct eddy_receiver receiver;
	unsigned count = buffers->count;
	void *bytes;
	int fds[2];

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	for (unsigned i = 0; i < count; i++)
		EXPECT_EQ(write(fds[1], "x", 1), 1);
	EXPECT_EQ(eddy_receiver_open(&receiver, fds[0],
				     &(struct eddy_receiver_options){ .buffers = buffers,
								      .pending_max = count }),
		  0);
	for (int i = 0; i < 1000 && receiver.pending < count; i++)
		expect_turns(1);
	EXPECT_EQ(receiver.pending, count);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 1);
	eddy_receiver_close(&receiver);
	close(fds[0]);
	close(fds[1]);
}

TASK_TEST(receiver, a_stream_and_its_end)
{
	struct eddy_receiver receiver;
	void *bytes;
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(eddy_receiver_open(&receiver, fds[0], NULL), 0);
	for (int i = 0; i < 1000; i++) {
		char text[16];
		int len = snprintf(text, sizeof(text), "bytes %d", i);

		EXPECT_EQ(write(fds[1], text, (size_t)len), len);
		EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), len);
		EXPECT_EQ(memcmp(bytes, text, (size_t)len), 0);
	}
	EXPECT_EQ(write(fds[1], "last", 4), 4);
	EXPECT_EQ(shutdown(fds[1], SHUT_WR), 0);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 4);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 0);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 0);
	eddy_receiver_close(&receiver);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	expect_none_lost(receiver.buffers);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* Much faster than it is taken: no more than a few buffers are held, and the bytes stay in order. */
TASK_TEST(receiver, slow_task_is_waited_for)
{
	struct eddy_receiver_options options = { .pending_max = 3 };
	struct eddy_buffers buffers;
	struct eddy_receiver receiver;
	struct peer sender = { .most = 4 * EDDY_MIB };
	struct eddy_scope scope;
	size_t got = 0;
	bool same = true;
	int fds[2];

	EXPECT_EQ(eddy_buffers_open(&buffers,
				    &(struct eddy_buffers_options){ .count = 256, .size = 1000 }),
		  0);
	options.buffers = &buffers;
	stream_pair(fds);
	sender.fd = fds[1];
	EXPECT_EQ(eddy_receiver_open(&receiver, fds[0], &options), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sender", write_all, &sender);
	while (got < sender.most) {
		void *bytes;
		ssize_t r = eddy_receiver_next(&receiver, &bytes);

		EXPECT(r > 0);
		if (r <= 0)
			break;
		if (got % 7 == 0)
			expect_turns(2);
		/* As much as one turn brings comes on top. */
		EXPECT(receiver.pending <= (kernel_is("6.8") ? 128 : 256));
		for (size_t i = 0; i < (size_t)r; i++)
			same &= ((unsigned char *)bytes)[i] == byte_at(got + i);
		got += (size_t)r;
	}
	EXPECT(same);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	eddy_receiver_close(&receiver);
	expect_none_lost(&buffers);
	eddy_buffers_close(&buffers);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static int wait_next(void *arg)
{
	void *bytes;

	return (int)eddy_receiver_next(arg, &bytes);
}

TASK_TEST(receiver, cancellation_loses_nothing)
{
	struct eddy_receiver receiver;
	struct eddy_scope scope;
	void *bytes;
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(eddy_receiver_open(&receiver, fds[0], NULL), 0);
	for (int i = 0; i < 300; i++) {
		eddy_scope_begin(&scope, NULL);
		eddy_scope_spawn(&scope, "next", wait_next, &receiver);
		expect_turns(1);
		if (i % 2) {
			/* The kernel has received them, and nobody has looked. */
			EXPECT_EQ(write(fds[1], "early", 5), 5);
			eddyi_loop_enter(eddyi_loop());
		}
		eddy_scope_cancel(&scope);
		EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
		if (i % 2 == 0)
			EXPECT_EQ(write(fds[1], "later", 5), 5);
		EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 5);
		EXPECT_EQ(memcmp(bytes, i % 2 ? "early" : "later", 5), 0);
	}
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), -ECANCELED);
	/* Closing is not cancelled. */
	eddy_receiver_close(&receiver);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	expect_none_lost(receiver.buffers);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* Whatever has come and was not taken goes back with it. */
TASK_TEST(receiver, close_gives_all_buffers_back)
{
	struct eddy_receiver_options options = { .pending_max = 64 };
	struct eddy_receiver receiver;
	void *bytes;
	int fds[2];

	for (int i = 0; i < 40; i++) {
		EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
				     fds),
			  0);
		EXPECT_EQ(eddy_receiver_open(&receiver, fds[0], &options), 0);
		for (int n = 0; n < 10; n++)
			EXPECT_EQ(write(fds[1], "x", 1), 1);
		if (i % 4)
			EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 1);
		if (i % 3 == 0)
			close(fds[1]);
		eddy_receiver_close(&receiver);
		if (i % 3)
			close(fds[1]);
		close(fds[0]);
	}
	expect_none_lost(receiver.buffers);
	return 0;
}

/* A bare close would leave the receive armed, and the peer without an end. */
TASK_TEST(receiver, closed_descriptor_ends_it)
{
	struct eddy_receiver receiver;
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), peer = tcp_connect(&addr);
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	void *bytes;
	char byte;

	EXPECT_EQ(eddy_receiver_open(&receiver, fd, NULL), 0);
	EXPECT_EQ(send(peer, "x", 1, 0), 1);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 1);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(recv(peer, &byte, 1, 0), 0);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), -EBADF);
	eddy_receiver_close(&receiver);
	EXPECT_EQ(eddy_receiver_open(&receiver, fd, NULL), 0);
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), -EBADF);
	eddy_receiver_close(&receiver);
	close(peer);
	close(listener);
	return 0;
}

/* One buffer for many streams: each has its turn, without a timer. */
#define STREAMS 5

static struct eddy_buffers one;
static int order[STREAMS], turns;

struct stream {
	struct eddy_receiver receiver;
	int fds[2], number;
};

static int take_one(void *arg)
{
	struct stream *stream = arg;
	void *bytes;
	ssize_t r = eddy_receiver_next(&stream->receiver, &bytes);

	EXPECT_EQ(r, 1);
	order[turns++] = stream->number;
	return 0;
}

TASK_TEST(receiver, streams_without_a_buffer_wait_in_line)
{
	struct stream streams[STREAMS];
	struct eddy_scope scope;

	EXPECT_EQ(eddy_buffers_open(&one, &(struct eddy_buffers_options){ .count = 1 }), 0);
	for (int i = 0; i < STREAMS; i++) {
		streams[i].number = i;
		stream_pair(streams[i].fds);
		EXPECT_EQ(write(streams[i].fds[1], "x", 1), 1);
		EXPECT_EQ(eddy_receiver_open(&streams[i].receiver, streams[i].fds[0],
					     &(struct eddy_receiver_options){ .buffers = &one }),
			  0);
	}
	expect_turns(3);
	EXPECT_EQ(streams[0].receiver.pending, 1);
	for (int i = 1; i < STREAMS; i++)
		EXPECT(streams[i].receiver.starved.node.next);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < STREAMS; i++)
		eddy_scope_spawn(&scope, "take", take_one, &streams[i]);
	for (int i = 0; i < STREAMS; i++) {
		for (int n = 0; n < 1000 && turns <= i; n++)
			expect_turns(1);
		EXPECT_EQ(turns, i + 1);
		/* It is still looking at it, until it closes. */
		eddy_receiver_close(&streams[order[i]].receiver);
	}
	for (int i = 0; i < STREAMS; i++) {
		EXPECT_EQ(order[i], i);
		close(streams[i].fds[0]);
		close(streams[i].fds[1]);
	}
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT(!eddyi_loop()->timers.top || eddyi_loop()->timers.top == &eddyi_loop()->trim_timer);
	expect_none_lost(&one);
	eddy_buffers_close(&one);
	return 0;
}

/* Who is in front and has no bytes must not keep the buffer from those behind. */
TASK_TEST(receiver, idle_streams_do_not_hold_up_the_line)
{
	struct eddy_receiver holder, idle, busy;
	struct eddy_receiver_options options;
	int fds[3][2];
	void *bytes;

	EXPECT_EQ(eddy_buffers_open(&one, &(struct eddy_buffers_options){ .count = 1 }), 0);
	options = (struct eddy_receiver_options){ .buffers = &one };
	for (int i = 0; i < 3; i++)
		stream_pair(fds[i]);
	EXPECT_EQ(write(fds[0][1], "x", 1), 1);
	EXPECT_EQ(eddy_receiver_open(&holder, fds[0][0], &options), 0);
	EXPECT_EQ(eddy_receiver_next(&holder, &bytes), 1);
	EXPECT_EQ(eddy_receiver_open(&idle, fds[1][0], &options), 0);
	EXPECT_EQ(eddy_receiver_open(&busy, fds[2][0], &options), 0);
	EXPECT_EQ(write(fds[2][1], "y", 1), 1);
	expect_turns(3);
	eddy_receiver_close(&holder);
	EXPECT_EQ(eddy_receiver_next(&busy, &bytes), 1);
	eddy_receiver_close(&busy);
	eddy_receiver_close(&idle);
	eddy_buffers_close(&one);
	for (int i = 0; i < 3; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	return 0;
}

struct borrower {
	struct eddy_op op;
	struct eddy_buffers *buffers;
	int calls;
};

static void borrowed(struct eddy_op *op, int result, unsigned flags)
{
	struct borrower *borrower = eddy_of(op, struct borrower, op);

	EXPECT_EQ(result, 1);
	eddy_buffers_give_back(borrower->buffers, flags);
	borrower->calls++;
}

/* Its completion says that there was no buffer; the one that was out came back before it was looked at. */
TASK_TEST(receiver, buffer_that_came_back_too_soon)
{
	struct eddy_buffers buffers;
	struct borrower borrower = { .buffers = &buffers };
	struct eddy_receiver receiver;
	struct eddy_scope scope;
	struct io_uring_sqe *sqe;
	int mine[2], other[2];
	void *bytes;

	stream_pair(mine);
	stream_pair(other);
	EXPECT_EQ(write(mine[1], "x", 1), 1);
	EXPECT_EQ(write(other[1], "x", 1), 1);
	EXPECT_EQ(eddy_buffers_open(&buffers, &(struct eddy_buffers_options){ .count = 1 }), 0);
	sqe = eddy_op_begin(&borrower.op, borrowed);
	eddy_buffers_prep_recv(&buffers, sqe, other[0]);
	eddy_op_start(&borrower.op, sqe);
	EXPECT_EQ(eddy_receiver_open(&receiver, mine[0],
				     &(struct eddy_receiver_options){ .buffers = &buffers }),
		  0);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_SECOND });
	EXPECT_EQ(eddy_receiver_next(&receiver, &bytes), 1);
	eddy_scope_end(&scope);
	EXPECT_EQ(borrower.calls, 1);
	eddy_receiver_close(&receiver);
	eddy_buffers_close(&buffers);
	for (int i = 0; i < 2; i++) {
		close(mine[i]);
		close(other[i]);
	}
	return 0;
}

/* Its descriptor is closed while nothing is armed, and the number goes to another stream. */
static void expect_hands_off(struct eddy_receiver *receiver, int fds[2])
{
	int next[2], number = fds[0];
	void *bytes;
	char byte = 0;

	EXPECT(!eddy_op_is_started(&receiver->op));
	EXPECT_EQ(eddy_close(fds[0]), 0);
	stream_pair(next);
	EXPECT_EQ(next[0], number);
	EXPECT_EQ(write(next[1], "y", 1), 1);
	while (receiver->pending)
		EXPECT_EQ(eddy_receiver_next(receiver, &bytes), 1);
	EXPECT_EQ(eddy_receiver_next(receiver, &bytes), -EBADF);
	EXPECT_EQ(read(next[0], &byte, 1), 1);
	EXPECT_EQ(byte, 'y');
	eddy_receiver_close(receiver);
	close(fds[1]);
	close(next[0]);
	close(next[1]);
}

TASK_TEST(receiver, closed_descriptor_ends_it_at_rest)
{
	struct eddy_receiver_options options = { .pending_max = 1 };
	struct eddy_receiver receiver;
	int fds[2];

	stream_pair(fds);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	EXPECT_EQ(eddy_receiver_open(&receiver, fds[0], &options), 0);
	for (int i = 0; i < 100 && (!receiver.pending || eddy_op_is_started(&receiver.op)); i++)
		expect_turns(1);
	expect_hands_off(&receiver, fds);
	return 0;
}

TASK_TEST(receiver, closed_descriptor_ends_it_without_a_buffer)
{
	struct eddy_buffers buffers;
	struct eddy_receiver_options options = { .buffers = &buffers };
	struct eddy_receiver holder, starved;
	int held[2], fds[2];
	void *bytes;

	EXPECT_EQ(eddy_buffers_open(&buffers, &(struct eddy_buffers_options){ .count = 1 }), 0);
	stream_pair(held);
	stream_pair(fds);
	EXPECT_EQ(write(held[1], "x", 1), 1);
	EXPECT_EQ(eddy_receiver_open(&holder, held[0], &options), 0);
	EXPECT_EQ(eddy_receiver_next(&holder, &bytes), 1);
	EXPECT_EQ(write(fds[1], "x", 1), 1);
	EXPECT_EQ(eddy_receiver_open(&starved, fds[0], &options), 0);
	for (int i = 0; i < 100 && eddy_op_is_started(&starved.op); i++)
		expect_turns(1);
	expect_hands_off(&starved, fds);
	eddy_receiver_close(&holder);
	eddy_buffers_close(&buffers);
	close(held[0]);
	close(held[1]);
	return 0;
}
