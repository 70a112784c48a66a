/* Awaiting an op in a task.
 *
 * Invariant: no task sees -EINTR. An interrupted call has done nothing and is repeated, unless its
 * cancellation interrupted it. Calls that must not be repeated (eddyi_op_may_restart()) are handled
 * by their caller.
 */
#include "loop.h"
#include "wait.h"
#include "op.h"

#include <errno.h>

struct op_waiter {
	struct eddyi_waiter waiter;
	struct eddy_op *op;
};

static void cancel_awaited(struct eddyi_waiter *waiter)
{
	eddy_op_cancel(eddy_of(waiter, struct op_waiter, waiter)->op);
}

static struct io_uring_sqe *begin_await(struct eddy_op *op, const char *function)
{
	if (eddyi_task_for(NULL, function)->scope->cancelled)
		return NULL;
	return eddy_op_begin(op, NULL);
}

struct io_uring_sqe *eddy_op_begin_await(struct eddy_op *op)
{
	return begin_await(op, __func__);
}

/* Queue the entry and wait for its completion, whatever the result. */
static int await(struct eddy_op *op, struct io_uring_sqe *sqe)
{
	struct op_waiter waiter = {
		.waiter = { .cancel = cancel_awaited, .what = "op", .op = op },
		.op = op,
	};

	op->waiter = &waiter.waiter;
	eddy_op_start(op, sqe);
	if (eddyi_loop()->running->scope->cancelled) {
		/* Cancelled after the entry was taken: the kernel's completion is still owed. */
		eddy_op_cancel(op);
		waiter.waiter.cancel = NULL;
	}
	return eddyi_wait(&waiter.waiter);
}

/* An interrupted close has closed, a connect continues, and links of an entry hold only once. */
bool eddyi_op_may_restart(const struct io_uring_sqe *sqe)
{
	return sqe->opcode != IORING_OP_CLOSE && sqe->opcode != IORING_OP_CONNECT &&
	       !(sqe->flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK));
}

static int await_uninterrupted(struct eddy_op *op, struct io_uring_sqe *sqe,
			       const struct io_uring_sqe *entry)
{
	int r;

	while ((r = await(op, sqe)) == -EINTR && eddyi_op_may_restart(entry)) {
		sqe = eddy_op_begin_await(op);
		if (!sqe)
			return -ECANCELED;
		*sqe = *entry;
	}
	return r;
}

int eddy_op_await(struct eddy_op *op, struct io_uring_sqe *sqe)
{
	const struct io_uring_sqe entry = *sqe;

	return await_uninterrupted(op, sqe, &entry);
}

int eddyi_op_call_for(const struct io_uring_sqe *prepared, const char *function)
{
	struct eddy_op op;
	struct io_uring_sqe *sqe = begin_await(&op, function);

	if (!sqe)
		return -ECANCELED;
	*sqe = *prepared;
	return await_uninterrupted(&op, sqe, prepared);
}

int eddy_op_call(const struct io_uring_sqe *prepared)
{
	return eddyi_op_call(prepared);
}

int eddyi_op_poll_first(int fd, unsigned events, int other)
{
	struct eddy_op op;
	int r;

	do {
		struct io_uring_sqe *sqe = eddy_op_begin_await(&op);

		if (!sqe)
			return -ECANCELED;
		io_uring_prep_poll_add(sqe, fd, events);
		op.fd2 = other;
		r = await(&op, sqe);
	} while (r == -EINTR);
	return r;
}
