/* Invariants:
 * 1. The user_data of an entry is the address of its op, with the kind of completion in the three
 *    low bits. An entry whose completion is ignored has a small integer instead.
 * 2. An op ends (`done` without F_MORE, or the task's return) only when the kernel owes no
 *    completion that names it, neither its own nor its cancel's. So its memory can be reused at
 *    once, and a late cancel never hits a later op at the same address.
 * 3. A started op is in ops_by_fd once, and also in `ops_of_two` if it, or the call that it is part
 *    of, uses a second descriptor. So closing either finds it.
 * 4. An op that is being cancelled has an unanswered cancel in flight, or was found by its cancel
 *    (the kernel then completes it), or is in `missed`, or is `sent`. A cancel misses a live op
 *    (-ENOENT, -EALREADY) if the kernel is about to retry the op or a worker has it, so one cancel
 *    is not enough; see docs/decisions/0035. No cancel finds a zero-copy send whose result has
 *    arrived: its notification comes when the peer has the bytes.
 * 5. An op in `missed` counts its repeated cancel in `pending` before that is submitted, and leaves
 *    the list when its own completion comes. `repeat_timer` is armed while the list is not empty.
 */
#include "op.h"

#include "guest.h"
#include "own.h"
#include "wait.h"

#include "base/uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum tag {
	TAG_OP = 0,
	TAG_CANCEL = 1,
	TAG_WAKE = EDDYI_OP_TAG_WAKE, /* another loop's wake-up, or a failure of ours */
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
	struct eddy_loop *loop = eddyi_loop();

	op->done = done;
	op->waiter = NULL;
	op->pending = 1;
	op->cancelling = false;
	op->own = op->restarts = op->sent = op->watched = false;
	op->fd2 = -1;
	op->result = 0;
	op->flags = 0;
	op->node.next = NULL;
	op->loop = loop->id;
	return eddyi_op_take_sqe(loop);
}

#define REPEAT_MIN EDDY_MS
#define REPEAT_MAX (128 * EDDY_MS)

#define BIT(opcode) ((uint64_t)1 << ((opcode)&63))

/* Ops whose field for the descriptor has another meaning: a family, a process, flags. */
#define WITHOUT_FD                                                                                 \
	(BIT(IORING_OP_SOCKET) | BIT(IORING_OP_GETXATTR) | BIT(IORING_OP_SETXATTR) |               \
	 BIT(IORING_OP_PROVIDE_BUFFERS) | BIT(IORING_OP_REMOVE_BUFFERS) | BIT(EDDYI_OP_WAITID) |   \
	 BIT(EDDYI_OP_FUTEX_WAIT) | BIT(EDDYI_OP_FUTEX_WAKE) | BIT(EDDYI_OP_FUTEX_WAITV) |         \
	 BIT(EDDYI_OP_PIPE))
#define WITH_TWO                                                                                   \
	(BIT(IORING_OP_SPLICE) | BIT(IORING_OP_TEE) | BIT(IORING_OP_RENAMEAT) |                    \
	 BIT(IORING_OP_LINKAT))

#define ZERO_COPY (BIT(IORING_OP_SEND_ZC) | BIT(IORING_OP_SENDMSG_ZC))

/* Ops that the kernel hands to a worker thread without trying them first, as its tracepoint
 * io_uring_queue_async_work shows. */
#define ON_WORKER                                                                                  \
	(BIT(IORING_OP_FSYNC) | BIT(IORING_OP_SYNC_FILE_RANGE) | BIT(IORING_OP_FALLOCATE) |        \
	 BIT(IORING_OP_STATX) | BIT(IORING_OP_MADVISE) | BIT(IORING_OP_SPLICE) |                   \
	 BIT(IORING_OP_TEE) | BIT(IORING_OP_SHUTDOWN) | BIT(IORING_OP_RENAMEAT) |                  \
	 BIT(IORING_OP_UNLINKAT) | BIT(IORING_OP_MKDIRAT) | BIT(IORING_OP_SYMLINKAT) |             \
	 BIT(IORING_OP_LINKAT) | BIT(IORING_OP_FSETXATTR) | BIT(IORING_OP_SETXATTR) |              \
	 BIT(IORING_OP_FGETXATTR) | BIT(IORING_OP_GETXATTR) | BIT(EDDYI_OP_FTRUNCATE))

static bool makes_a_file(const struct io_uring_sqe *sqe)
{
	const struct open_how *how = (const struct open_how *)(uintptr_t)sqe->off;
	uint64_t flags = sqe->opcode == IORING_OP_OPENAT ? sqe->open_flags : how->flags;

	return flags & (O_CREAT | O_TRUNC | __O_TMPFILE);
}

bool eddyi_op_is_worked(const struct io_uring_sqe *sqe)
{
	if (BIT(sqe->opcode) & ON_WORKER || sqe->flags & IOSQE_ASYNC)
		return true;
	return BIT(sqe->opcode) & (BIT(IORING_OP_OPENAT) | BIT(IORING_OP_OPENAT2)) &&
	       makes_a_file(sqe);
}

static int first_fd(const struct io_uring_sqe *sqe)
{
	/* The fd of a registered file is an index. */
	if (sqe->flags & IOSQE_FIXED_FILE || BIT(sqe->opcode) & WITHOUT_FD)
		return -1;
	return sqe->fd;
}

static int second_fd(const struct io_uring_sqe *sqe)
{
	if (sqe->opcode == IORING_OP_RENAMEAT || sqe->opcode == IORING_OP_LINKAT)
		return (int)sqe->len;
	return sqe->splice_flags & SPLICE_F_FD_IN_FIXED ? -1 : sqe->splice_fd_in;
}

void(eddy_op_start)(struct eddy_op *op, struct io_uring_sqe *sqe, const char *where)
{
	struct eddy_loop *loop;

	eddyi_own(&op->loop, "an op", where);
	loop = eddyi_loop_at(where);
	io_uring_sqe_set_data64(sqe, (uintptr_t)op | TAG_OP);
	op->fd = first_fd(sqe);
	if (BIT(sqe->opcode) & WITH_TWO)
		op->fd2 = second_fd(sqe);
	op->opcode = sqe->opcode;
	if (__builtin_expect(op->fd2 >= 0, 0))
		eddy_list_append(&loop->ops_of_two, &op->node2);
	op->len = sqe->len;
	op->since_ns = loop->now_ns;
	eddy_list_append(&loop->ops_by_fd[(unsigned)op->fd % EDDYI_OP_BUCKETS], &op->node);
	loop->ops++;
	eddyi_count(loop->stats.ops_started, 1);
	op->worked = eddyi_op_is_worked(sqe);
	if (__builtin_expect(op->worked, 0))
		eddyi_count(loop->stats.ops_worked, 1);
	EDDYI_USDT(op__submit, loop->id, op, op->opcode, op->fd, op->len);
	eddyi_tell(loop, start, op, sqe);
}

void eddyi_op_start_own(struct eddy_op *op, struct io_uring_sqe *sqe)
{
	op->own = true;
	eddyi_loop()->own_ops++;
	eddy_op_start(op, sqe);
}

/* Submit a cancel. The caller has counted its completion in `pending`. */
static void submit_cancel(struct eddy_loop *loop, struct eddy_op *op)
{
	uint64_t data = (uintptr_t)op | TAG_CANCEL;
	struct io_uring_sqe *sqe;

	if (eddyi_ask(loop, miss, data))
		return;
	sqe = eddyi_op_take_sqe(loop);
	io_uring_prep_cancel64(sqe, (uintptr_t)op | TAG_OP, 0);
	io_uring_sqe_set_data64(sqe, data);
}

static void repeat_cancels(struct eddy_timer *timer)
{
	struct eddy_loop *loop = eddy_of(timer, struct eddy_loop, repeat_timer);
	struct eddy_node *node;

	loop->repeat_ns *= 2;
	if (loop->repeat_ns < REPEAT_MIN)
		loop->repeat_ns = REPEAT_MIN;
	if (loop->repeat_ns > REPEAT_MAX)
		loop->repeat_ns = REPEAT_MAX;
	while ((node = eddy_list_shift(&loop->missed)))
		submit_cancel(loop, eddy_of(node, struct eddy_op, missed));
}

void eddyi_op_repeat_cancels(struct eddy_loop *loop)
{
	eddy_timer_disarm(&loop->repeat_timer);
	repeat_cancels(&loop->repeat_timer);
}

void eddyi_op_init_loop(struct eddy_loop *loop)
{
	eddy_list_init(&loop->missed);
	loop->repeat_timer.fire = repeat_cancels;
}

/* The cancel missed, and the op has not completed yet. Most ops end one turn later. Further repeats
 * have growing delays, because a worker may take long. */
static __attribute__((cold, noinline)) void cancel_missed(struct eddy_loop *loop,
							  struct eddy_op *op)
{
	uint64_t at;

	/* The first repeat of an op is immediate. */
	if (!op->repeats)
		loop->repeat_ns = 0;
	op->repeats = true;
	at = eddy_loop_now() + loop->repeat_ns;
	eddy_list_append(&loop->missed, &op->missed);
	if (eddy_timer_is_armed(&loop->repeat_timer) && loop->repeat_timer.at_ns <= at)
		return;
	eddy_timer_disarm(&loop->repeat_timer);
	eddy_timer_arm(&loop->repeat_timer, at);
}

void eddyi_op_cancel(struct eddy_op *op, const char *where)
{
	struct eddy_loop *loop;

	if (!eddy_op_is_started(op) || op->cancelling)
		return;
	eddyi_own(&op->loop, "an op", where);
	loop = eddyi_loop_at(where);
	eddyi_tell(loop, cancel, op);
	op->cancelling = true;
	op->repeats = false;
	op->missed.next = NULL;
	op->pending++;
	eddyi_count(loop->stats.ops_cancelled, 1);
	submit_cancel(loop, op);
}

EDDYI_WITHOUT_WHERE(op_cancel, struct eddy_op)

/* A task in close that waits for the ops of its descriptor. */
struct closer {
	struct eddyi_waiter waiter;
	struct eddy_node node;
	int fd;
};

static void wake_closers(struct eddy_loop *loop, int fd, int fd2)
{
	struct eddy_node *node;

	for (node = loop->closing.next; node != &loop->closing; node = node->next) {
		struct closer *closer = eddy_of(node, struct closer, node);

		if (closer->fd == fd || closer->fd == fd2)
			eddyi_wake(&closer->waiter, 0);
	}
}

static void cancel_op_of(struct eddy_op *op, int fd)
{
	eddyi_assert(!op->waiter, "descriptor %d is closed while task \"%s\" waits for it", fd,
		     op->waiter->task->name);
	eddy_op_cancel(op);
}

/* Cancel all ops of `fd`. Return: false if there are none. */
static bool cancel_ops(struct eddy_loop *loop, int fd)
{
	struct eddy_node *head = &loop->ops_by_fd[(unsigned)fd % EDDYI_OP_BUCKETS], *node;
	bool any = false;

	for (node = head->next; node != head; node = node->next) {
		struct eddy_op *op = eddy_of(node, struct eddy_op, node);

		/* A close under way is of an earlier file with this number. */
		if (op->fd != fd || op->opcode == IORING_OP_CLOSE)
			continue;
		cancel_op_of(op, fd);
		any = true;
	}
	for (node = loop->ops_of_two.next; node != &loop->ops_of_two; node = node->next) {
		struct eddy_op *op = eddy_of(node, struct eddy_op, node2);

		if (op->fd2 != fd)
			continue;
		cancel_op_of(op, fd);
		any = true;
	}
	return any;
}

/* Notify resting objects, before the descriptor's number is reused. */
static void end_those_at_rest(struct eddy_loop *loop, int fd)
{
	struct eddy_node *node = loop->at_rest.next;

	while (node != &loop->at_rest) {
		struct eddyi_at_rest *at_rest = eddy_of(node, struct eddyi_at_rest, node);

		node = node->next;
		if (at_rest->fd != fd)
			continue;
		eddy_list_remove(&at_rest->node);
		at_rest->closed(at_rest);
	}
}

void eddyi_op_cancel_fd(int fd)
{
	struct eddy_loop *loop = eddyi_loop();
	struct closer closer = { .waiter = { .what = "close" }, .fd = fd };

	/* Loop, since a completion function may have restarted its op. */
	while (cancel_ops(loop, fd)) {
		eddy_list_append(&loop->closing, &closer.node);
		eddyi_wait(&closer.waiter);
		eddy_list_remove(&closer.node);
	}
	end_those_at_rest(loop, fd);
}

/* Cancelling a kernel worker may end its op with -EINTR or, with splice, with one of the kernel's
 * internal restart codes. */
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

static inline void tell_completing(struct eddy_loop *loop, const struct eddy_op *op, int result,
				   unsigned flags)
{
	EDDYI_USDT(op__complete, loop->id, op, op->opcode, op->fd, result, flags);
	eddyi_tell(loop, completing, op, result, flags);
}

/* End the op: no completion is owed any more. */
static void finish(struct eddy_loop *loop, struct eddy_op *op)
{
	int fd = op->fd, fd2 = op->fd2;

	op->result = translate(op->result, op->cancelling);
	eddy_list_remove(&op->node);
	if (__builtin_expect(fd2 >= 0, 0))
		eddy_list_remove(&op->node2);
	loop->ops--;
	loop->own_ops -= op->own;
	eddyi_count(loop->stats.ops_completed, 1);
	tell_completing(loop, op, op->result, op->flags);
	if (op->waiter)
		eddyi_wake(op->waiter, op->result);
	else
		op->done(op, op->result, op->flags);
	eddyi_tell(loop, completed);
	if (!eddy_list_is_empty(&loop->closing))
		wake_closers(loop, fd, fd2);
}

/* The op's own completion came before its cancel was repeated: no cancel is needed. */
static __attribute__((cold, noinline)) void finish_missed(struct eddy_loop *loop,
							  struct eddy_op *op)
{
	eddy_list_remove(&op->missed);
	if (eddy_list_is_empty(&loop->missed))
		eddy_timer_disarm(&loop->repeat_timer);
	op->pending = 0;
	finish(loop, op);
}

static void complete(struct eddy_loop *loop, struct eddy_op *op, int result, unsigned flags)
{
	if (flags & IORING_CQE_F_MORE) {
		op->sent = BIT(op->opcode) & ZERO_COPY;
		/* A waiting task gets the first result; SEND_ZC sends its notification after it. */
		tell_completing(loop, op, result, flags);
		if (op->waiter)
			op->result = result;
		else
			op->done(op, result, flags);
		eddyi_tell(loop, completed);
		return;
	}
	if (!(flags & IORING_CQE_F_NOTIF) || !op->waiter)
		op->result = result;
	op->flags = flags;
	if (--op->pending == 0)
		finish(loop, op);
	else if (op->missed.next)
		finish_missed(loop, op);
}

void eddyi_op_wake(struct eddy_loop *loop, struct eddy_loop *other)
{
	struct io_uring_sqe *sqe = eddyi_op_take_sqe(loop);

	io_uring_prep_msg_ring(sqe, other->ring.ring_fd, 0, TAG_WAKE, 0);
	io_uring_sqe_set_data64(sqe, (uint64_t)other->id << 3 | TAG_WAKE);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

/* Wake the loop through its eventfd. Only errors that mean no support switch the ring off: others
 * are temporary, or the loop has ended. */
static void wake_failed(struct eddy_loop *loop, unsigned id, int error)
{
	switch (error) {
	case -EINVAL:
	case -EOPNOTSUPP:
	case -ENOSYS:
	case -EPERM:
	case -EACCES:
		loop->by_ring = false;
	}
	eddyi_registry_wake(id);
}

void eddyi_op_complete(struct eddy_loop *loop, uint64_t data, int result, unsigned flags)
{
	struct eddy_op *op = (struct eddy_op *)(uintptr_t)(data & ~(uint64_t)TAG_MASK);

	switch (data & TAG_MASK) {
	case TAG_OP:
		complete(loop, op, result, flags);
		break;
	case TAG_CANCEL:
		if (result < 0 && op->pending > 1 && !op->sent)
			cancel_missed(loop, op);
		else if (--op->pending == 0)
			finish(loop, op);
		break;
	case TAG_WAKE:
		if (result < 0)
			wake_failed(loop, (unsigned)(data >> 3), result);
		break;
	case TAG_NOBODY:
		break;
	default:
		eddyi_panic("a completion of unknown kind: %#llx", (unsigned long long)data);
	}
}

void eddyi_op_dispatch(struct eddy_loop *loop)
{
	unsigned head, tail;

	if (io_uring_cq_has_overflow(&loop->ring))
		eddyi_count(loop->stats.cq_overflows, 1);
	if (eddyi_ask(loop, dispatch))
		return;
	/* Not those that come meanwhile: a completion function may have entries submitted. */
	head = *loop->ring.cq.khead;
	tail = io_uring_smp_load_acquire(loop->ring.cq.ktail);
	for (unsigned at = head; at != tail; at++) {
		const struct io_uring_cqe *cqe = &loop->ring.cq.cqes[at & loop->ring.cq.ring_mask];

		eddyi_op_complete(loop, cqe->user_data, cqe->res, cqe->flags);
	}
	io_uring_cq_advance(&loop->ring, tail - head);
}

/* ---- awaiting an op in a task ----
 *
 * Invariant: no task sees -EINTR. An interrupted call has done nothing and is repeated, unless its
 * cancellation interrupted it. Calls that must not be repeated (eddyi_op_may_restart()) are handled
 * by their caller. */

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
