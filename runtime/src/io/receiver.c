/* Invariants:
 * 1. As long as it is neither ended nor closing, exactly one of these holds: the op is started, it waits
 *    for a buffer (`starved` is in the group's list), or so much is pending that the task has to take
 *    some first. In the latter two cases it is at rest, and told when its descriptor is closed.
 * 2. Buffers that are pending are linked through the group's arrays, by their numbers, in the order in
 *    which they were filled.
 * 3. A wait that is cancelled takes nothing.
 */
#include <eddy/receiver.h>

#include "buffers.h"
#include "core/loop.h"
#include "core/own.h"
#include "core/wait.h"

#include <errno.h>

#define PENDING_SHARE 8

static void arm(struct eddy_receiver *receiver);

static void again(struct eddy_buffers_waiter *waiter)
{
	struct eddy_receiver *receiver = eddy_of(waiter, struct eddy_receiver, starved);

	receiver->poll_first = true;
	arm(receiver);
}

static void wake(struct eddy_receiver *receiver)
{
	if (receiver->waiter)
		eddyi_wake(receiver->waiter, 0);
}

static void append(struct eddy_receiver *receiver, unsigned flags, int len)
{
	struct eddy_buffers *buffers = receiver->buffers;
	uint16_t number = (uint16_t)(flags >> IORING_CQE_BUFFER_SHIFT);

	buffers->lens[number] = (uint32_t)len;
	if (receiver->pending++)
		buffers->nexts[receiver->last] = number;
	else
		receiver->first = number;
	receiver->last = number;
}

/* Its flags are those of a completion with that buffer. */
static unsigned shift(struct eddy_receiver *receiver)
{
	uint16_t number = receiver->first;

	receiver->first = receiver->buffers->nexts[number];
	receiver->pending--;
	return (unsigned)number << IORING_CQE_BUFFER_SHIFT | IORING_CQE_F_BUFFER;
}

static void rest(struct eddy_receiver *receiver)
{
	eddy_list_append(&eddyi_loop()->at_rest, &receiver->at_rest.node);
}

static void rest_no_more(struct eddy_receiver *receiver)
{
	eddy_buffers_forget(&receiver->starved);
	if (receiver->at_rest.node.next)
		eddy_list_remove(&receiver->at_rest.node);
}

static void closed(struct eddyi_at_rest *at_rest)
{
	struct eddy_receiver *receiver = eddy_of(at_rest, struct eddy_receiver, at_rest);

	rest_no_more(receiver);
	receiver->ended = true;
	receiver->end = -EBADF;
	wake(receiver);
}

/* Its op has ended. */
static void go_on(struct eddy_receiver *receiver, int result)
{
	bool pausing = receiver->pausing;

	receiver->pausing = false;
	if (receiver->closing)
		return;
	if (result == -ENOBUFS) {
		eddy_buffers_wait(receiver->buffers, &receiver->starved);
		rest(receiver);
	} else if (result > 0 || result == -EINTR || (pausing && result == -ECANCELED)) {
		if (receiver->pending < receiver->pending_max)
			arm(receiver);
		else
			rest(receiver);
	} else {
		receiver->ended = true;
		/* Somebody closes the descriptor. */
		receiver->end = result == -ECANCELED ? -EBADF : result;
	}
}

static void received(struct eddy_op *op, int result, unsigned flags)
{
	struct eddy_receiver *receiver = eddy_of(op, struct eddy_receiver, op);

	if (result > 0 && flags & IORING_CQE_F_BUFFER)
		append(receiver, flags, result);
	else
		eddy_buffers_give_back(receiver->buffers, flags);
	if (!(flags & IORING_CQE_F_MORE)) {
		go_on(receiver, result);
		if (receiver->closing || receiver->ended)
			wake(receiver);
	} else if (receiver->pending >= receiver->pending_max) {
		receiver->pausing = true;
		eddy_op_cancel(op);
	}
	if (receiver->pending && !receiver->closing)
		wake(receiver);
}

static void arm(struct eddy_receiver *receiver)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&receiver->op, received);

	rest_no_more(receiver);
	eddy_buffers_prep_recv_multishot(receiver->buffers, sqe, receiver->at_rest.fd);
	if (receiver->poll_first)
		sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
	receiver->poll_first = false;
	eddy_op_start(&receiver->op, sqe);
}

int eddy_receiver_open(struct eddy_receiver *receiver, int fd,
		       const struct eddy_receiver_options *options)
{
	static const struct eddy_receiver_options defaults;
	struct eddy_buffers *buffers;
	int r;

	if (!options)
		options = &defaults;
	buffers = options->buffers;
	if (!buffers) {
		r = eddyi_buffers_lent(&buffers);
		if (r < 0)
			return r;
	}
	*receiver = (struct eddy_receiver){
		.loop = eddyi_loop()->id,
		.buffers = buffers,
		.starved = { .fn = again },
		.at_rest = { .fd = fd, .closed = closed },
		.pending_max = options->pending_max ? options->pending_max :
						      buffers->count / PENDING_SHARE,
	};
	if (!receiver->pending_max)
		receiver->pending_max = 1;
	arm(receiver);
	return 0;
}

static void give_back_lent(struct eddy_receiver *receiver)
{
	eddy_buffers_give_back(receiver->buffers, receiver->lent);
	receiver->lent = 0;
}

static int wait_for(struct eddy_receiver *receiver, const char *what, bool cancellable)
{
	struct eddyi_waiter waiter = {
		.cancel = cancellable ? eddyi_cancel_wait : NULL,
		.what = what,
		.op = &receiver->op,
	};
	int r;

	eddyi_assert(!receiver->waiter, "two tasks use one receiver at a time");
	receiver->waiter = &waiter;
	r = eddyi_wait(&waiter);
	receiver->waiter = NULL;
	return r;
}

ssize_t(eddy_receiver_next)(struct eddy_receiver *receiver, void **ret_bytes, const char *where)
{
	int r;

	eddyi_own(&receiver->loop, "a receiver", where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	give_back_lent(receiver);
	while (!receiver->pending) {
		if (receiver->ended)
			return receiver->end;
		r = wait_for(receiver, "receive", true);
		if (r < 0)
			return r;
	}
	receiver->lent = shift(receiver);
	if (!receiver->ended && !eddy_op_is_started(&receiver->op) &&
	    !receiver->starved.node.next && receiver->pending <= receiver->pending_max / 2)
		arm(receiver);
	*ret_bytes = eddy_buffers_of(receiver->buffers, receiver->lent);
	return receiver->buffers->lens[receiver->lent >> IORING_CQE_BUFFER_SHIFT];
}

void eddyi_receiver_close(struct eddy_receiver *receiver, const char *where)
{
	eddyi_own(&receiver->loop, "a receiver", where);
	receiver->closing = true;
	rest_no_more(receiver);
	if (eddy_op_is_started(&receiver->op)) {
		eddy_op_cancel(&receiver->op);
		while (eddy_op_is_started(&receiver->op))
			wait_for(receiver, "receiver close", false);
	}
	while (receiver->pending)
		eddy_buffers_give_back(receiver->buffers, shift(receiver));
	give_back_lent(receiver);
}

EDDYI_WITHOUT_WHERE(receiver_close, struct eddy_receiver)
