/* Invariants:
 * 1. The user_data of an entry is the address of its op, with what kind of completion it is in the
 *    three low bits. An entry whose completion nobody waits for carries a small integer instead.
 * 2. An op ends (`done` without F_MORE, or the task's return) only when the kernel owes no completion
 *    that names it: neither its own nor its cancel's. So its memory can be used again at once, and a
 *    late cancel never hits a later op at the same address.
 * 3. A started op is in ops_by_fd, once.
 * 4. No task sees -EINTR: a call that was interrupted has done nothing and is made again, unless its
 *    cancellation is what interrupted it.
 */
#include "chaos.h"
#include "loop.h"
#include "registry.h"

#include <errno.h>
#include <unistd.h>

enum tag {
	TAG_OP = 0,
	TAG_CANCEL = 1,
	TAG_WAKE =
		2, /* another loop's wake-up; or, failed, what came of ours: the loop's id is above it */
	TAG_NOBODY = EDDYI_OP_TAG_NOBODY,
	TAG_MASK = 7,
};

struct io_uring_sqe *eddyi_op_take_sqe(struct eddy_loop *loop)
{
	struct io_uring_sqe *sqe;

	while (!(sqe = io_uring_get_sqe(&loop->ring)))
		eddyi_loop_enter(loop);
	return sqe;
}

struct io_uring_sqe *eddy_op_begin(struct eddy_op *op, eddy_op_fn *done)
{
	op->done = done;
	op->waiter = NULL;
	op->pending = 1;
	op->cancelling = false;
	op->own = false;
	op->result = 0;
	op->flags = 0;
	op->node.next = NULL;
	return eddyi_op_take_sqe(eddyi_loop());
}

void eddy_op_start(struct eddy_op *op, struct io_uring_sqe *sqe)
{
	struct eddy_loop *loop = eddyi_loop();

	io_uring_sqe_set_data64(sqe, (uintptr_t)op | TAG_OP);
	op->fd = sqe->fd;
	op->opcode = sqe->opcode;
	op->since_ns = loop->now_ns;
	eddy_list_append(&loop->ops_by_fd[(unsigned)op->fd % EDDYI_OP_BUCKETS], &op->node);
	loop->ops++;
	eddyi_count(loop->stats.ops_started, 1);
	if (__builtin_expect(loop->chaos != NULL, 0))
		eddyi_chaos_start(loop, op, sqe);
}

void eddyi_op_start_own(struct eddy_op *op, struct io_uring_sqe *sqe)
{
	op->own = true;
	eddyi_loop()->own_ops++;
	eddy_op_start(op, sqe);
}

void eddy_op_cancel(struct eddy_op *op)
{
	struct eddy_loop *loop = eddyi_loop();
	struct io_uring_sqe *sqe;

	if (!eddy_op_is_started(op) || op->cancelling)
		return;
	if (__builtin_expect(loop->chaos != NULL, 0))
		eddyi_chaos_cancel(loop, op);
	op->cancelling = true;
	op->pending++;
	eddyi_count(loop->stats.ops_cancelled, 1);
	sqe = eddyi_op_take_sqe(loop);
	io_uring_prep_cancel64(sqe, (uintptr_t)op | TAG_OP, 0);
	io_uring_sqe_set_data64(sqe, (uintptr_t)op | TAG_CANCEL);
}

/* A task that closes a descriptor and waits for the ops that use it. */
struct closer {
	struct eddyi_waiter waiter;
	struct eddy_node node;
	int fd;
};

static void wake_closers(struct eddy_loop *loop, int fd)
{
	struct eddy_node *node;

	for (node = loop->closing.next; node != &loop->closing; node = node->next) {
		struct closer *closer = eddy_of(node, struct closer, node);

		if (closer->fd == fd)
			eddyi_wake(&closer->waiter, 0);
	}
}

/* Return: whether there is any. */
static bool cancel_ops(struct eddy_loop *loop, int fd)
{
	struct eddy_node *head = &loop->ops_by_fd[(unsigned)fd % EDDYI_OP_BUCKETS];
	bool any = false;

	for (struct eddy_node *node = head->next; node != head; node = node->next) {
		struct eddy_op *op = eddy_of(node, struct eddy_op, node);

		/* A close in progress is of an older file that had this number. */
		if (op->fd != fd || op->opcode == IORING_OP_CLOSE)
			continue;
		eddyi_assert(!op->waiter, "descriptor %d is closed while task \"%s\" waits for it",
			     fd, op->waiter->task->name);
		eddy_op_cancel(op);
		any = true;
	}
	return any;
}

void eddyi_op_cancel_fd(int fd)
{
	struct eddy_loop *loop = eddyi_loop();
	struct closer closer = { .waiter = { .what = "close" }, .fd = fd };

	/* A completion function that was faster may have started its op again. */
	while (cancel_ops(loop, fd)) {
		eddy_list_append(&loop->closing, &closer.node);
		eddyi_wait(&closer.waiter);
		eddy_list_remove(&closer.node);
	}
}

/* A worker of the kernel's that a cancellation interrupts may end its op with -EINTR, or (splice
 * does) with one of the numbers by which the kernel tells itself to restart a call. */
static int translate(int result, bool cancelling)
{
	enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };

	switch (result) {
	case -EINTR:
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		return cancelling ? -ECANCELED : -EINTR;
	}
	return result;
}

/* Nothing more is owed. */
static void finish(struct eddy_loop *loop, struct eddy_op *op)
{
	int fd = op->fd;

	op->result = translate(op->result, op->cancelling);
	eddy_list_remove(&op->node);
	loop->ops--;
	loop->own_ops -= op->own;
	eddyi_count(loop->stats.ops_completed, 1);
	if (op->waiter)
		eddyi_wake(op->waiter, op->result);
	else
		op->done(op, op->result, op->flags);
	if (!eddy_list_is_empty(&loop->closing))
		wake_closers(loop, fd);
}

static void complete(struct eddy_loop *loop, struct eddy_op *op, int result, unsigned flags)
{
	if (flags & IORING_CQE_F_MORE) {
		/* A waiting task gets the first result (SEND_ZC sends its notification after it). */
		if (op->waiter)
			op->result = result;
		else
			op->done(op, result, flags);
		return;
	}
	if (!(flags & IORING_CQE_F_NOTIF) || !op->waiter)
		op->result = result;
	op->flags = flags;
	if (--op->pending == 0)
		finish(loop, op);
}

void eddyi_op_wake(struct eddy_loop *loop, struct eddy_loop *other)
{
	struct io_uring_sqe *sqe = eddyi_op_take_sqe(loop);

	io_uring_prep_msg_ring(sqe, other->ring.ring_fd, 0, TAG_WAKE, 0);
	io_uring_sqe_set_data64(sqe, (uint64_t)other->id << 3 | TAG_WAKE);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

void eddyi_op_complete(struct eddy_loop *loop, uint64_t data, int result, unsigned flags)
{
	struct eddy_op *op = (struct eddy_op *)(uintptr_t)(data & ~(uint64_t)TAG_MASK);

	switch (data & TAG_MASK) {
	case TAG_OP:
		complete(loop, op, result, flags);
		break;
	case TAG_CANCEL:
		if (--op->pending == 0)
			finish(loop, op);
		break;
	case TAG_WAKE:
		if (result < 0) {
			loop->by_ring = false;
			eddyi_registry_wake((unsigned)(data >> 3));
		}
		break;
	case TAG_NOBODY:
		break;
	default:
		eddyi_panic(__FILE__, __LINE__, "a completion of unknown kind: %#llx",
			    (unsigned long long)data);
	}
}

void eddyi_op_dispatch(struct eddy_loop *loop)
{
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;

	if (io_uring_cq_has_overflow(&loop->ring))
		eddyi_count(loop->stats.cq_overflows, 1);
	if (__builtin_expect(loop->chaos != NULL, 0)) {
		eddyi_chaos_dispatch(loop);
		return;
	}
	io_uring_for_each_cqe(&loop->ring, head, cqe) {
		count++;
		eddyi_op_complete(loop, cqe->user_data, cqe->res, cqe->flags);
	}
	io_uring_cq_advance(&loop->ring, count);
}

struct op_waiter {
	struct eddyi_waiter waiter;
	struct eddy_op *op;
};

static void cancel_awaited(struct eddyi_waiter *waiter)
{
	eddy_op_cancel(eddy_of(waiter, struct op_waiter, waiter)->op);
}

struct io_uring_sqe *eddy_op_begin_await(struct eddy_op *op)
{
	struct eddy_loop *loop = eddyi_loop();

	eddyi_assert(loop->running, "a call that suspends was made outside of a task");
	if (loop->running->scope->cancelled)
		return NULL;
	return eddy_op_begin(op, NULL);
}

/* Queue the entry and wait for its completion, whatever that is. */
static int await(struct eddy_op *op, struct io_uring_sqe *sqe)
{
	struct op_waiter waiter = {
		.waiter = { .cancel = cancel_awaited, .what = "op", .op = op },
		.op = op,
	};

	op->waiter = &waiter.waiter;
	eddy_op_start(op, sqe);
	if (eddyi_loop()->running->scope->cancelled) {
		/* Since the entry was taken: the kernel still has to let go. */
		eddy_op_cancel(op);
		waiter.waiter.cancel = NULL;
	}
	return eddyi_wait(&waiter.waiter);
}

/* A close that was interrupted has closed; a link was for once. */
static bool may_restart(const struct io_uring_sqe *sqe)
{
	return sqe->opcode != IORING_OP_CLOSE &&
	       !(sqe->flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK));
}

int eddy_op_await(struct eddy_op *op, struct io_uring_sqe *sqe)
{
	const struct io_uring_sqe entry = *sqe;
	int r;

	while ((r = await(op, sqe)) == -EINTR && may_restart(&entry)) {
		sqe = eddy_op_begin_await(op);
		if (!sqe)
			return -ECANCELED;
		*sqe = entry;
	}
	return r;
}
