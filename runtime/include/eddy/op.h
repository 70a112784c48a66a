/* eddy/op.h: one entry on the ring, and a function that is called when it completes.
 *
 * This is the form beneath eddy/io.h, for what has no task: parked connections, multishot accept
 * and receive. Completion functions run on the loop's own stack and never suspend. Entries are filled by
 * the functions of <liburing.h>, which this header leaves to be included by those who fill some; that
 * one wants _GNU_SOURCE, which -std=c11 leaves undefined.
 *
 *     struct io_uring_sqe *sqe = eddy_op_begin(&op, done);
 *
 *     io_uring_prep_recv(sqe, fd, buf, len, 0);
 *     eddy_op_start(&op, sqe);
 *
 * The op and all that its entry points to stay alive until `done` is called without
 * IORING_CQE_F_MORE in `flags`: that call is the last, the kernel has let go, and the op may be
 * freed or used again from inside it.
 */
#ifndef EDDY_OP_H
#define EDDY_OP_H

#include <eddy/base.h>
#include <linux/time_types.h>
#include <liburing/io_uring.h>

EDDY_BEGIN_DECLS

struct eddy_op;
struct eddyi_waiter;

/* Take note of a completion: `result` is what the kernel returned, a count or -errno, `flags` those of
 * the completion (IORING_CQE_F_*). Called on the loop's own stack; must not suspend. */
typedef void eddy_op_fn(struct eddy_op *op, int result, unsigned flags);

/* Private. */
struct eddy_op {
	eddy_op_fn *done;
	struct eddyi_waiter *waiter; /* of the task that awaits it; NULL where `done` is called */
	struct eddy_node node;       /* in the loop's ops by descriptor; .next is NULL when idle */
	struct eddy_node node2;      /* in the loop's ops of two descriptors, if it is one */
	struct eddy_node missed; /* in the loop's ops whose cancel missed; set once cancelling */
	uint64_t since_ns;
	int fd;  /* -1 for none */
	int fd2; /* the input of a splice, the second folder of a rename; -1 for none */
	int result;
	unsigned flags;
	uint8_t opcode;
	uint8_t pending; /* completions that are still owed: the op's own, and a cancel's, or its repeat's */
	bool cancelling;
	bool own : 1;      /* the runtime's: no concern of its users */
	bool worked : 1;   /* by one of the kernel's worker threads, whatever it is about */
	bool restarts : 1; /* its user makes the call again that was interrupted */
	bool repeats : 1;  /* its cancel has missed once */
	bool sent : 1;     /* by a zero-copy send, of which only the notification is owed */
	uint32_t len;      /* of the entry, whatever it means there */
	unsigned loop;     /* on which it was begun */
};

/* Private: whoever is going to start an op of a descriptor again. */
struct eddyi_at_rest {
	struct eddy_node node; /* in the loop's list; .next is NULL when in none */
	int fd;
	void (*closed)(struct eddyi_at_rest *at_rest); /* it is in no list any more */
};

/* Take a submission entry for `op`, to be filled by one io_uring_prep_* call. Never NULL: a full
 * queue is submitted first. */
EDDY_API struct io_uring_sqe *eddy_op_begin(struct eddy_op *op, eddy_op_fn *done);

/* Queue the filled entry. It reaches the kernel when the loop next enters it. */
EDDY_API void eddy_op_start(struct eddy_op *op, struct io_uring_sqe *sqe, const char *where);

/* Ask the kernel to cancel a started op, and again for as long as its cancels miss the op. `done` is still
 * called, with -ECANCELED or with the result that was faster. Does nothing when the op is idle or is being
 * cancelled already. */
EDDY_API void eddy_op_cancel(struct eddy_op *op);

/* Whether the op is on its way: started, its last completion not yet seen. */
static inline bool eddy_op_is_started(const struct eddy_op *op)
{
	return op->node.next != NULL;
}

/* Submit a copy of the entry `prepared` and wait until it has completed. Suspends. This is how any
 * operation of the kernel's that eddy/io.h and eddy/file.h lack is used:
 *
 *     struct io_uring_sqe sqe = { 0 };
 *
 *     io_uring_prep_epoll_ctl(&sqe, epoll, fd, EPOLL_CTL_ADD, &event);
 *     return eddy_op_call(&sqe);
 *
 * The entry is of one shot, and its `user_data` is not looked at. A splice or a tee that waits, like whatever waits
 * in a worker of the kernel's, keeps one of the loop's few workers for as long. A zero-copy send's notification is
 * awaited, too. What was interrupted before anything came of it is submitted again.
 * Return: the completion's result; -ECANCELED when the scope was cancelled and the kernel had
 * nothing to show yet; -EINTR for a CONNECT, which goes on by itself, and where the entry is linked. */
EDDY_API int eddy_op_call(const struct io_uring_sqe *prepared);

/* The same in two steps, for who wants to see the completion's flags, in `op->flags`, or can't spare the
 * copy. Take an entry, to be filled by one io_uring_prep_* call.
 * Return: NULL when the current scope is cancelled. */
EDDY_API struct io_uring_sqe *eddy_op_begin_await(struct eddy_op *op);

/* Queue the filled entry and wait until it has completed. Suspends.
 * Return: as eddy_op_call(). */
EDDY_API int eddy_op_await(struct eddy_op *op, struct io_uring_sqe *sqe);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_op_cancel(struct eddy_op *op, const char *where);
#define eddy_op_start(...) eddy_op_start(__VA_ARGS__, EDDY_HERE)
#define eddy_op_cancel(...) eddyi_op_cancel(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
