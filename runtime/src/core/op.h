/* op.h: what the files of the runtime ask of ops. */
#ifndef EDDYI_OP_H
#define EDDYI_OP_H

#include "loop.h"

/* A free entry; a full queue is submitted first. */
struct io_uring_sqe *eddyi_op_take_sqe(struct eddy_loop *loop);

/* A length for an entry, which holds 32 bits; read(2) moves no more than this at once. */
static inline unsigned eddyi_op_len(size_t len)
{
	return len < 0x7ffff000 ? (unsigned)len : 0x7ffff000;
}

/* eddy_op_start() for an op of the runtime's own: it counts neither as anybody's nor as a leak. */
void eddyi_op_start_own(struct eddy_op *op, struct io_uring_sqe *sqe);

/* Prepare the repeating of cancels. */
void eddyi_op_init_loop(struct eddy_loop *loop);

/* Repeat the cancels that have missed now, and not when their timer fires. */
void eddyi_op_repeat_cancels(struct eddy_loop *loop);

/* Cancel and await every op of `fd`, and tell those at rest; no task may be awaiting one. Suspends, and is
 * not cancelled. */
void eddyi_op_cancel_fd(int fd);

/* Poll `fd` for a call that is going to use `other` too: nobody may close that one meanwhile either. Suspends.
 * Return: the events that came, -errno. */
int eddyi_op_poll_first(int fd, unsigned events, int other);

/* Whether the call of an entry that was interrupted is made again. */
bool eddyi_op_may_restart(const struct io_uring_sqe *sqe);

/* Whether the kernel leaves this entry to a worker thread whatever happens. */
bool eddyi_op_is_worked(const struct io_uring_sqe *sqe);

/* Call the completion functions of what has completed. */
void eddyi_op_dispatch(struct eddy_loop *loop);

/* Take note of one completion. */
void eddyi_op_complete(struct eddy_loop *loop, uint64_t data, int result, unsigned flags);

/* Queue a wake-up of another loop; it leaves when this one next enters the kernel. */
void eddyi_op_wake(struct eddy_loop *loop, struct eddy_loop *other);

/* The user_data of an entry that wakes another loop: the loop's id, and in the three low bits this. */
#define EDDYI_OP_TAG_WAKE 2

/* The user_data of an entry whose completion nobody waits for. */
#define EDDYI_OP_TAG_NOBODY 7

#endif
