/* eddy/op.h: an op: one io_uring operation, and the function that is called when it completes.
 *
 * This is the layer below eddy/io.h, for code without a task: idle connections, multishot accept
 * and receive. Completion functions run on the loop's own stack and never suspend. To fill entries,
 * include <liburing.h>, which needs _GNU_SOURCE (-std=c11 leaves it undefined).
 *
 *     struct io_uring_sqe *sqe = eddy_op_begin(&op, done);
 *
 *     io_uring_prep_recv(sqe, fd, buf, len, 0);
 *     eddy_op_start(&op, sqe);
 *
 * The op and all that its entry points to must stay valid until `done` is called without
 * IORING_CQE_F_MORE in `flags`. That call is the last: the kernel no longer uses them, and the op
 * may be freed or used again from inside it.
 */
#ifndef EDDY_OP_H
#define EDDY_OP_H

#include <eddy/base.h>
#include <linux/time_types.h>
#include <liburing/io_uring.h>

EDDY_BEGIN_DECLS

struct eddy_op;
struct eddyi_waiter;

/* Handle a completion. `result` is the kernel's, a count or -errno; `flags` are those of the
 * completion (IORING_CQE_F_*). Called on the loop's own stack; must not suspend. */
typedef void eddy_op_fn(struct eddy_op *op, int result, unsigned flags);

/* Private. */
struct eddy_op {
	eddy_op_fn *done;
	struct eddyi_waiter *waiter; /* of the task that awaits it; NULL if `done` is called */
	struct eddy_node node;       /* in the loop's ops by descriptor; .next is NULL when idle */
	struct eddy_node node2;      /* in the loop's ops of two descriptors, if it is one */
	struct eddy_node missed; /* in the loop's ops whose cancel missed; set once cancelling */
	uint64_t since_ns;
	int fd;  /* -1 for none */
	int fd2; /* a splice's input, a rename's second folder; -1 for none */
	int result;
	unsigned flags;
	uint8_t opcode;
	uint8_t pending; /* completions to come: its own, and a cancel's or repeated cancel's */
	bool cancelling;
	bool own : 1;      /* of the runtime, not of its users */
	bool worked : 1;   /* runs in a kernel worker, whatever it does */
	bool restarts : 1; /* its user repeats the call if interrupted */
	bool repeats : 1;  /* its cancel has missed once */
	bool sent : 1;     /* zero-copy send, of which only the notification is to come */
	bool watched : 1;  /* multishot, and a task waits for the next completion */
	uint32_t len;      /* `len` of the entry */
	unsigned loop;     /* on which it was begun */
};

/* Private. An op of a descriptor that is paused and will be started again. */
struct eddyi_at_rest {
	struct eddy_node node; /* in the loop's list; .next is NULL when in none */
	int fd;
	void (*closed)(struct eddyi_at_rest *at_rest); /* called when it is in no list any more */
};

/* Take a submission entry for `op`, to be filled with one io_uring_prep_* call. Never returns NULL:
 * a full queue is submitted first. */
EDDY_API struct io_uring_sqe *eddy_op_begin(struct eddy_op *op, eddy_op_fn *done);

/* Queue the filled entry, which reaches the kernel when the loop next enters it. */
EDDY_API void eddy_op_start(struct eddy_op *op, struct io_uring_sqe *sqe, const char *where);

/* Ask the kernel to cancel a started op, repeatedly if it does not find the op. `done` is still
 * called, with -ECANCELED or, if the op completed first, with its result. Does nothing if the op is
 * idle or being cancelled already. */
EDDY_API void eddy_op_cancel(struct eddy_op *op);

/* Check whether the op is in flight: started, and its last completion not yet handled. */
static inline bool eddy_op_is_started(const struct eddy_op *op)
{
	return op->node.next != NULL;
}

/* Submit a copy of the entry `prepared` and wait until it has completed. Suspends. For io_uring
 * operations that eddy/io.h and eddy/file.h lack:
 *
 *     struct io_uring_sqe sqe = { 0 };
 *
 *     io_uring_prep_epoll_ctl(&sqe, epoll, fd, EPOLL_CTL_ADD, &event);
 *     return eddy_op_call(&sqe);
 *
 * The entry must complete once (no multishot); its `user_data` is ignored. A waiting splice or tee,
 * like every operation that waits in a kernel worker, occupies one of the loop's few. The
 * notification of a zero-copy send is awaited, too. An operation that was interrupted before it had
 * an effect is submitted again.
 * Return: the completion's result; -ECANCELED if the scope was cancelled and the kernel had no
 * result yet; -EINTR for a CONNECT, which continues by itself, and for linked entries. */
EDDY_API int eddy_op_call(const struct io_uring_sqe *prepared);

/* Take an entry for eddy_op_await(), to be filled with one io_uring_prep_* call. The two functions
 * do what eddy_op_call() does, without the copy, and leave the completion's flags in `op->flags`.
 * Return: NULL if the current scope is cancelled. */
EDDY_API struct io_uring_sqe *eddy_op_begin_await(struct eddy_op *op);

/* Queue the filled entry and wait until it has completed. Suspends. Return: as eddy_op_call(). */
EDDY_API int eddy_op_await(struct eddy_op *op, struct io_uring_sqe *sqe);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_op_cancel(struct eddy_op *op, const char *where);
#define eddy_op_start(...) eddy_op_start(__VA_ARGS__, EDDY_HERE)
#define eddy_op_cancel(...) eddyi_op_cancel(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
