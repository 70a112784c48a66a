#include <eddy/buffers.h>

#include "expect.h"
#include "base/feature.h"

#include <eddy/io.h>
#include <string.h>

#define COUNT 128 /* of the loop's group */

struct receiver {
	struct eddy_op op;
	struct eddy_buffers *group; /* NULL: the loop's own */
	int fds[2];
	int calls, result;
	unsigned flags;
	bool keep;
	char bytes[16];
};

static struct receiver receivers[COUNT + 2];

static void received(struct eddy_op *op, int result, unsigned flags)
{
	struct receiver *receiver = eddy_of(op, struct receiver, op);
	void *buf = eddy_buffers_of(receiver->group, flags);

	receiver->calls++;
	receiver->result = result;
	receiver->flags = flags;
	EXPECT_EQ(buf != NULL, (flags & IORING_CQE_F_BUFFER) != 0);
	if (result > 0 && buf)
		memcpy(receiver->bytes, buf, (size_t)result < 16 ? (size_t)result : 16);
	if (!receiver->keep)
		eddy_buffers_give_back(NULL, flags);
}

static void arm(struct receiver *receiver)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&receiver->op, received);

	eddy_buffers_prep_recv(NULL, sqe, receiver->fds[0]);
	eddy_op_start(&receiver->op, sqe);
}

static void received_some(struct eddy_op *op, int result, unsigned flags)
{
	eddy_of(op, struct receiver, op)->result += result;
	eddy_buffers_give_back(NULL, flags);
}

static void until_called(struct receiver *receiver, int calls)
{
	for (int i = 0; i < 1000 && receiver->calls < calls; i++)
		expect_turns(1);
	EXPECT_EQ(receiver->calls, calls);
}

static void drop(struct receiver *receiver)
{
	close(receiver->fds[0]);
	close(receiver->fds[1]);
}

TASK_TEST(buffers, are_used_again)
{
	struct receiver *receiver = &receivers[0];

	EXPECT_EQ(eddy_buffers_prepare(), 0);
	EXPECT_EQ(eddy_buffers_prepare(), 0);
	stream_pair(receiver->fds);
	for (int i = 1; i <= 3 * COUNT; i++) {
		char text[16];
		int len = snprintf(text, sizeof(text), "bytes %d", i);

		arm(receiver);
		EXPECT_EQ(write(receiver->fds[1], text, (size_t)len), len);
		until_called(receiver, i);
		EXPECT_EQ(receiver->result, len);
		EXPECT_EQ(memcmp(receiver->bytes, text, (size_t)len), 0);
	}
	drop(receiver);
	return 0;
}

TASK_TEST(buffers, run_out_and_come_back)
{
	struct receiver *late = &receivers[COUNT];

	EXPECT_EQ(eddy_buffers_prepare(), 0);
	for (int i = 0; i <= COUNT; i++) {
		stream_pair(receivers[i].fds);
		receivers[i].keep = true;
		EXPECT_EQ(write(receivers[i].fds[1], "x", 1), 1);
		arm(&receivers[i]);
	}
	for (int i = 0; i <= COUNT; i++)
		until_called(&receivers[i], 1);
	for (int i = 0; i < COUNT; i++) {
		EXPECT_EQ(receivers[i].result, 1);
		EXPECT(receivers[i].flags & IORING_CQE_F_BUFFER);
		for (int n = 0; n < i; n++)
			if (eddy_buffers_of(NULL, receivers[n].flags) ==
			    eddy_buffers_of(NULL, receivers[i].flags))
				EXPECT_EQ(n, i);
	}
	EXPECT_EQ(late->result, -ENOBUFS);
	EXPECT(!(late->flags & IORING_CQE_F_BUFFER));
	/* The bytes are still there, once a buffer is. */
	eddy_buffers_give_back(NULL, receivers[7].flags);
	arm(late);
	until_called(late, 2);
	EXPECT_EQ(late->result, 1);
	EXPECT_EQ(eddy_buffers_of(NULL, late->flags), eddy_buffers_of(NULL, receivers[7].flags));
	for (int i = 0; i <= COUNT; i++)
		drop(&receivers[i]);
	return 0;
}

/* Return: the bytes that one arming for `limit` bytes brought, of 64 KiB that were there. */
static int receive_some(struct receiver *receiver, uint32_t limit)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&receiver->op, received_some);

	receiver->result = 0;
	eddy_buffers_prep_recv_some(NULL, sqe, receiver->fds[0], limit);
	eddy_op_start(&receiver->op, sqe);
	for (int i = 0; i < 1000 && eddy_op_is_started(&receiver->op); i++)
		expect_turns(1);
	EXPECT(!eddy_op_is_started(&receiver->op));
	return receiver->result;
}

TASK_TEST(buffers, receive_some_and_no_more)
{
	bool has = eddyi_feature_is_there(EDDYI_FEATURE_RECV_LIMIT);
	struct receiver *receiver = &receivers[0];
	static const char bytes[64 * EDDY_KIB];

	EXPECT_EQ(eddy_buffers_prepare(), 0);
	stream_pair(receiver->fds);
	EXPECT_EQ(write(receiver->fds[1], bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
	EXPECT_EQ(receive_some(receiver, 1), 8 * EDDY_KIB);
	EXPECT_EQ(receive_some(receiver, 8 * EDDY_KIB), 8 * EDDY_KIB);
	EXPECT_EQ(receive_some(receiver, 8 * EDDY_KIB + 1), has ? 16 * EDDY_KIB : 8 * EDDY_KIB);
	eddyi_feature_set(EDDYI_FEATURE_RECV_LIMIT, false);
	EXPECT_EQ(receive_some(receiver, 16 * EDDY_KIB), 8 * EDDY_KIB);
	eddyi_feature_set(EDDYI_FEATURE_RECV_LIMIT, has);
	drop(receiver);
	return 0;
}

/* An end of stream, a reset and a cancelled wait lose no buffer. */
TASK_TEST(buffers, none_is_lost)
{
	struct receiver *receiver = &receivers[0];

	EXPECT_EQ(eddy_buffers_prepare(), 0);
	for (int i = 0; i < COUNT + 10; i++) {
		*receiver = (struct receiver){ 0 };
		stream_pair(receiver->fds);
		arm(receiver);
		expect_turns(1);
		if (i % 3 == 0) {
			shutdown(receiver->fds[1], SHUT_WR);
			until_called(receiver, 1);
			EXPECT_EQ(receiver->result, 0);
		} else if (i % 3 == 1) {
			eddy_op_cancel(&receiver->op);
			until_called(receiver, 1);
			EXPECT_EQ(receiver->result, -ECANCELED);
		} else {
			/* It has its bytes when the cancellation comes. */
			EXPECT_EQ(write(receiver->fds[1], "bytes", 5), 5);
			eddyi_loop_enter(eddyi_loop());
			eddy_op_cancel(&receiver->op);
			until_called(receiver, 1);
			EXPECT_EQ(receiver->result, 5);
			EXPECT_EQ(memcmp(receiver->bytes, "bytes", 5), 0);
		}
		drop(receiver);
	}
	for (int i = 0; i < COUNT; i++) {
		receivers[i] = (struct receiver){ .keep = true };
		stream_pair(receivers[i].fds);
		EXPECT_EQ(write(receivers[i].fds[1], "x", 1), 1);
		arm(&receivers[i]);
	}
	for (int i = 0; i < COUNT; i++) {
		until_called(&receivers[i], 1);
		EXPECT_EQ(receivers[i].result, 1);
		drop(&receivers[i]);
	}
	return 0;
}

TASK_TEST(buffers, groups_of_ones_own)
{
	struct eddy_buffers_options options = { .count = 5, .size = 100 };
	struct eddy_buffers groups[3], refused;

	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(eddy_buffers_open(&groups[i], &options), 0);
		EXPECT_EQ(groups[i].count, 8);
		for (int n = 0; n < i; n++)
			EXPECT(groups[n].group != groups[i].group);
	}
	/* The one in the middle is used while the others exist. */
	for (int i = 0; i < 40; i++) {
		struct receiver *receiver = &receivers[0];
		struct io_uring_sqe *sqe = eddy_op_begin(&receiver->op, received);
		char much[150] = "";

		*receiver = (struct receiver){ .keep = true, .op = receiver->op };
		stream_pair(receiver->fds);
		memset(much, 'a' + i % 26, sizeof(much));
		EXPECT_EQ(write(receiver->fds[1], much, sizeof(much)), 150);
		eddy_buffers_prep_recv(&groups[1], sqe, receiver->fds[0]);
		eddy_op_start(&receiver->op, sqe);
		receiver->group = &groups[1];
		until_called(receiver, 1);
		EXPECT_EQ(receiver->result, 100);
		EXPECT_EQ(receiver->bytes[15], 'a' + i % 26);
		eddy_buffers_give_back(&groups[1], receiver->flags);
		drop(receiver);
	}
	for (int i = 0; i < 3; i++)
		eddy_buffers_close(&groups[i]);
	options.count = 32769;
	EXPECT_EQ(eddy_buffers_open(&refused, &options), -EINVAL);
	options = (struct eddy_buffers_options){ .size = 2 * EDDY_GIB };
	EXPECT_EQ(eddy_buffers_open(&refused, &options), -EINVAL);
	return 0;
}

struct in_line {
	struct eddy_buffers_waiter waiter;
	int at;
};

static int told;

static void tell(struct eddy_buffers_waiter *waiter)
{
	eddy_of(waiter, struct in_line, waiter)->at = ++told;
}

TASK_TEST(buffers, who_waits_is_told_in_order)
{
	struct in_line line[4] = { 0 };
	struct receiver *receiver = &receivers[0];

	EXPECT_EQ(eddy_buffers_prepare(), 0);
	*receiver = (struct receiver){ .keep = true };
	stream_pair(receiver->fds);
	EXPECT_EQ(write(receiver->fds[1], "x", 1), 1);
	arm(receiver);
	until_called(receiver, 1);
	for (int i = 0; i < 4; i++) {
		line[i].waiter.fn = tell;
		eddy_buffers_wait(NULL, &line[i].waiter);
	}
	eddy_buffers_forget(&line[2].waiter);
	eddy_buffers_forget(&line[2].waiter);
	/* A completion without a buffer brings none back. */
	eddy_buffers_give_back(NULL, 0);
	EXPECT_EQ(told, 0);
	eddy_buffers_give_back(NULL, receiver->flags);
	EXPECT_EQ(line[0].at, eddyi_feature_completes_in_order() ? 1 : 3);
	EXPECT_EQ(line[1].at, 2);
	EXPECT_EQ(line[2].at, 0);
	EXPECT_EQ(line[3].at, eddyi_feature_completes_in_order() ? 3 : 1);
	drop(receiver);
	return 0;
}

/* A timer that is left behind wakes a loop that has nothing to do. */
TASK_TEST(buffers, the_last_to_leave_takes_the_timer_along)
{
	struct in_line line[2] = { 0 };
	struct eddy_buffers group;

	EXPECT_EQ(eddy_buffers_open(&group, NULL), 0);
	for (int i = 0; i < 2; i++)
		eddy_buffers_wait(&group, &line[i].waiter);
	eddy_buffers_forget(&line[0].waiter);
	EXPECT(eddy_timer_is_armed(&group.again));
	eddy_buffers_forget(&line[1].waiter);
	EXPECT(!eddy_timer_is_armed(&group.again));
	eddy_buffers_forget(&line[1].waiter);
	eddy_buffers_close(&group);
	return 0;
}
