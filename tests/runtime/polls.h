/* polls.h: ops that wait for a descriptor, and count how often they are told. */
#ifndef EDDY_TESTS_POLLS_H
#define EDDY_TESTS_POLLS_H

#include "expect.h"

#include <eddy/op.h>
#include <poll.h>

/* An op that counts what it is told. */
struct counted {
	struct eddy_op op;
	int calls, ends, last;
	int results[8];
	bool cancel_first, again;
};

static inline void start_poll(struct counted *counted, int fd, bool multishot);

static inline void note(struct eddy_op *op, int result, unsigned flags)
{
	struct counted *counted = eddy_of(op, struct counted, op);

	EXPECT(!eddy_task_self());
	if (counted->calls < 8)
		counted->results[counted->calls] = result;
	counted->calls++;
	counted->last = result;
	if (!(flags & IORING_CQE_F_MORE)) {
		counted->ends++;
		EXPECT(!eddy_op_is_started(op));
		if (counted->again) {
			counted->again = false;
			start_poll(counted, op->fd, true);
		}
	} else if (counted->cancel_first) {
		eddy_op_cancel(op);
	}
}

static inline void start_poll(struct counted *counted, int fd, bool multishot)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&counted->op, note);

	EXPECT(!eddy_op_is_started(&counted->op));
	if (multishot)
		io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, fd, POLLIN);
	eddy_op_start(&counted->op, sqe);
	EXPECT(eddy_op_is_started(&counted->op));
}

static inline void until_ended(struct counted *counted)
{
	/* By the clock: a cancel that missed is repeated after some ms. */
	uint64_t until = eddy_now() + 10 * EDDY_SECOND;

	while (!counted->ends && eddy_now() < until)
		expect_turns(1);
	EXPECT_EQ(counted->ends, 1);
}

#endif
