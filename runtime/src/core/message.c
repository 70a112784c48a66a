/* Messages between threads: a lock-free stack, which the receiving loop reverses.
 *
 * Invariants:
 * 1. Messages of one thread are delivered in the order they were posted.
 * 2. `sleeping` is true from before the loop's last look at the stack until its wait has returned.
 *    A thread that finds it true after pushing must wake the loop; one that finds it false need
 *    not.
 * 3. `posting` counts the threads inside eddy_loop_post(): the loop's memory outlives them.
 */
#include "base/feature.h"
#include "executor.h"
#include "loop.h"
#include "op.h"

#include <eddy/internal/outside.h>

static void deliver(struct eddy_loop *loop, struct eddy_message *message)
{
	struct eddyi_track *track = eddyi_track;

	/* A replay has no messages of threads without a track. */
	if (EDDYI_HAS_TRACK && !message->is_recorded)
		eddyi_track = NULL;
	else
		eddyi_count(loop->stats.messages, 1);
	message->deliver(message);
	eddyi_track = track;
}

void eddyi_message_deliver_all(struct eddy_loop *loop)
{
	struct eddy_message *newest, *oldest = NULL;

	eddyi_loop_unstick(loop);
	newest = atomic_exchange(&loop->messages, NULL);
	while (newest) {
		struct eddy_message *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	while (oldest) {
		struct eddy_message *next = oldest->next;

		deliver(loop, oldest);
		oldest = next;
	}
}

void eddy_loop_post(struct eddy_loop *loop, struct eddy_message *message)
{
	struct eddy_message *head = atomic_load_explicit(&loop->messages, memory_order_relaxed);

	message->is_recorded = EDDYI_HAS_TRACK;
	atomic_fetch_add(&loop->posting, 1);
	do
		message->next = head;
	while (!atomic_compare_exchange_weak(&loop->messages, &head, message));
	if (atomic_exchange(&loop->sleeping, false)) {
		/* A signal handler on a sleeping loop's thread must not touch the ring. */
		if (eddyi_this_loop && eddyi_this_loop != loop && eddyi_this_loop->by_ring &&
		    loop->executor->has_ring)
			eddyi_op_wake(eddyi_this_loop, loop);
		else
			eddyi_loop_wake(loop);
	}
	atomic_fetch_sub(&loop->posting, 1);
}

static void arm_wake(struct eddy_loop *loop);

static void woken(struct eddy_op *op, int result, unsigned flags)
{
	(void)result;
	(void)flags;
	/* At the loop's end, a message may arrive before the cancellation. */
	if (!op->cancelling)
		arm_wake(eddy_of(op, struct eddy_loop, wake_op));
}

static void arm_wake(struct eddy_loop *loop)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&loop->wake_op, woken);

	io_uring_prep_read(sqe, loop->wake_fd, &loop->wake_count, sizeof(loop->wake_count), 0);
	eddyi_op_start_own(&loop->wake_op, sqe);
}

/* Require Linux 6.7 (which has futexes on the ring): older kernels have MSG_RING, but it did not
 * always wake rings that defer their work. */
static bool can_wake_by_ring(void)
{
	return eddyi_feature_is_there(EDDYI_FEATURE_MSG_RING) &&
	       eddyi_feature_is_there(EDDYI_FEATURE_FUTEX);
}

void eddyi_message_begin(struct eddy_loop *loop)
{
	loop->by_ring = loop->executor->has_ring && can_wake_by_ring();
	arm_wake(loop);
}
