/* The effect of chaos on completions.
 *
 * Invariants:
 * 1. Nothing happens that the kernel could not do. Completions of different user_data come in any
 *    order and with any delay; those of one user_data keep their order. So a multishot's
 *    completions stay in order, a notification comes after its first completion, and a cancel's
 *    before or after its op's.
 * 2. A held completion is still owed to its op (op.c, 2): an op never ends, and its memory is never
 *    reused, while one of its completions is held. A held buffer is as if it were in the completion
 *    queue.
 * 3. While anything is held the loop does not sleep, and each turn brings it nearer.
 * 4. Internal ops of the loop are shuffled and delayed, and their cancels may miss (op.c, 4).
 *    Nothing else is done to them.
 */
#include "chaos.h"
#include "op.h"

#include <string.h>

/* Maximum number of turns that a completion is held. */
#define CQE_TURNS 4

bool eddyi_chaos_holds(const struct eddyi_chaos *chaos)
{
	return chaos->cqe_count || chaos->sqe_count;
}

static void hold(struct eddyi_chaos *chaos, uint64_t data, int result, unsigned flags, uint64_t due)
{
	chaos->cqes[chaos->cqe_count++] = (struct eddyi_chaos_held_cqe){
		.data = data,
		.result = result,
		.flags = flags,
		.due = due,
	};
}

bool eddyi_chaos_complete(struct eddyi_chaos *chaos, uint64_t data, int result)
{
	if (chaos->cqe_count == EDDYI_CHAOS_CQES)
		return false;
	/* Not in this turn, which would never end if the op is restarted each time. */
	hold(chaos, data, result, 0, chaos->turn + 1);
	return true;
}

/* Collect completions. Return: true if they may not all have fit. */
static bool collect(struct eddy_loop *loop)
{
	struct eddyi_chaos *chaos = loop->chaos;
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;

	io_uring_for_each_cqe(&loop->ring, head, cqe) {
		uint64_t due = chaos->turn;

		if (chaos->cqe_count == EDDYI_CHAOS_CQES)
			break;
		if (chaos->modes & EDDYI_CHAOS_DELAY && !eddyi_chaos_below(&chaos->cqe_random, 4))
			due += 1 + eddyi_chaos_below(&chaos->cqe_random, CQE_TURNS);
		hold(chaos, cqe->user_data, cqe->res, cqe->flags, due);
		count++;
	}
	io_uring_cq_advance(&loop->ring, count);
	return chaos->cqe_count == EDDYI_CHAOS_CQES;
}

/* Remove one that is due, or with `all` any. Return: false if there is none. */
static bool take(struct eddyi_chaos *chaos, bool all, struct eddyi_chaos_held_cqe *ret_cqe)
{
	unsigned due = 0, at, chosen;

	for (at = 0; at < chaos->cqe_count; at++)
		due += all || chaos->cqes[at].due <= chaos->turn;
	if (!due)
		return false;
	chosen = chaos->modes & EDDYI_CHAOS_SHUFFLE ?
			 (unsigned)eddyi_chaos_below(&chaos->cqe_random, due) :
			 0;
	for (at = 0;; at++)
		if ((all || chaos->cqes[at].due <= chaos->turn) && !chosen--)
			break;
	/* Keep the order of one op's completions. */
	for (unsigned earlier = 0; earlier < at; earlier++)
		if (chaos->cqes[earlier].data == chaos->cqes[at].data)
			at = earlier;
	*ret_cqe = chaos->cqes[at];
	chaos->cqe_count--;
	memmove(&chaos->cqes[at], &chaos->cqes[at + 1],
		(chaos->cqe_count - at) * sizeof(chaos->cqes[0]));
	return true;
}

void eddyi_chaos_dispatch(struct eddy_loop *loop)
{
	struct eddyi_chaos_held_cqe cqe;
	bool full;

	loop->chaos->turn++;
	eddyi_chaos_release(loop);
	do {
		full = collect(loop);
		/* Completions injected by these are not due in this turn. */
		while (take(loop->chaos, full, &cqe))
			eddyi_op_complete(loop, cqe.data, cqe.result, cqe.flags);
	} while (full);
}
