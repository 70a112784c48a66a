/* op.h: ops (io_uring operations) as the runtime's other files use them. */
#ifndef EDDYI_OP_H
#define EDDYI_OP_H

#include "loop.h"

/* Get a free submission entry. A full queue is submitted first. */
struct io_uring_sqe *eddyi_op_take_sqe(struct eddy_loop *loop);

/* Clamp a length to what read(2) moves at most; an entry holds only 32 bits. */
static inline unsigned eddyi_op_len(size_t len)
{
	return len < 0x7ffff000 ? (unsigned)len : 0x7ffff000;
}

/* eddy_op_call() in the public function `function`, which is named if there is no task. */
int eddyi_op_call_for(const struct io_uring_sqe *prepared, const char *function);
#define eddyi_op_call(prepared) eddyi_op_call_for(prepared, __func__)

/* eddy_op_start() for an op of the runtime itself, neither counted nor reported as a leak. */
void eddyi_op_start_own(struct eddy_op *op, struct io_uring_sqe *sqe);

/* Initialize the repetition of cancels. */
void eddyi_op_init_loop(struct eddy_loop *loop);

/* Repeat the cancels that missed at once, without waiting for the timer. */
void eddyi_op_repeat_cancels(struct eddy_loop *loop);

/* Cancel and await every op of `fd`, and notify the resting ones (struct eddyi_at_rest). No task
 * may be awaiting one. Suspends, and can't be cancelled. */
void eddyi_op_cancel_fd(int fd);

/* Poll `fd` for a call that will use `other` too: closing either meanwhile is a programming error.
 * Suspends. Return: the events; -errno. */
int eddyi_op_poll_first(int fd, unsigned events, int other);

/* Whether an interrupted call of this entry may be repeated. */
bool eddyi_op_may_restart(const struct io_uring_sqe *sqe);

/* Whether the kernel always hands this entry to a worker thread. */
bool eddyi_op_is_worked(const struct io_uring_sqe *sqe);

/* Process the completion queue: call the ops' completion functions. */
void eddyi_op_dispatch(struct eddy_loop *loop);

void eddyi_op_complete(struct eddy_loop *loop, uint64_t data, int result, unsigned flags);

/* Queue a wake-up of another loop. It is sent when this loop next enters the kernel. */
void eddyi_op_wake(struct eddy_loop *loop, struct eddy_loop *other);

/* Tag of an entry that wakes another loop: the three low bits of user_data, below the loop's id. */
#define EDDYI_OP_TAG_WAKE 2

/* The user_data of an entry whose completion is ignored. */
#define EDDYI_OP_TAG_NOBODY 7

#endif
