/* chaos.h: EDDY_CHAOS=SEED[,MODE…] makes a loop unkind, within what the kernel is allowed to do.
 *
 * A loop without chaos has a NULL pointer and tests it. docs/chaos.md says what each mode does and what
 * a seed replays.
 */
#ifndef EDDYI_CHAOS_H
#define EDDYI_CHAOS_H

#include "loop.h"

enum {
	EDDYI_CHAOS_SHUFFLE = 1 << 0, /* completions and ready tasks in any order */
	EDDYI_CHAOS_DELAY = 1 << 1,   /* submissions and completions some turns later */
	EDDYI_CHAOS_SHORT = 1 << 2,   /* shorter reads, writes and splices */
	EDDYI_CHAOS_EINTR = 1 << 3,   /* calls that are interrupted before they did anything */
	EDDYI_CHAOS_NOBUFS = 1 << 4,  /* no provided buffer there */
	EDDYI_CHAOS_ENDS = 1 << 5,    /* multishots that end after their first completion */
	EDDYI_CHAOS_MISSES = 1 << 6,  /* cancels that come back while the op lives */
	EDDYI_CHAOS_ERRORS = 1 << 7,  /* calls that fail */
	EDDYI_CHAOS_BENIGN = EDDYI_CHAOS_ERRORS - 1,
};

/* Read `text` as in the environment. Return: 0; -EINVAL, nothing is written. */
int eddyi_chaos_parse(const char *text, uint64_t *ret_seed, unsigned *ret_modes);

/* What EDDY_CHAOS may be, in a sentence, when it is set and can't be understood; else NULL. */
const char *eddyi_chaos_advice(void);

/* The chaos that the environment asks for; `*ret_chaos` is NULL when it asks for none.
 * Return: 0, -EINVAL (a record says why), -ENOMEM. */
int eddyi_chaos_new(struct eddyi_chaos **ret_chaos);
void eddyi_chaos_free(struct eddyi_chaos *chaos);

/* Derive the loop's numbers from the seed and its id. */
void eddyi_chaos_begin(struct eddy_loop *loop);

/* Put a task that has been made ready anywhere into the queue. */
void eddyi_chaos_ready(struct eddy_loop *loop, struct eddy_node *queued);

/* The op has been started by this entry: change, delay or fail it. */
void eddyi_chaos_start(struct eddy_loop *loop, struct eddy_op *op, struct io_uring_sqe *sqe);

/* The op is about to be cancelled: what was delayed is submitted first. */
void eddyi_chaos_cancel(struct eddy_loop *loop, struct eddy_op *op);

/* A cancel whose user_data is `cancel` is about to be submitted. Return: whether it is not to be, because its
 * completion is going to say that it missed. */
bool eddyi_chaos_misses(struct eddyi_chaos *chaos, uint64_t cancel);

/* Take the completions in, and dispatch those whose turn it is. */
void eddyi_chaos_dispatch(struct eddy_loop *loop);

/* Whether something is held back: then the loop may not sleep. */
bool eddyi_chaos_holds(const struct eddyi_chaos *chaos);

/* How much of `len` bytes a send that does not wait takes; 0 for none. */
size_t eddyi_chaos_try_send(struct eddyi_chaos *chaos, int fd, size_t len);

/* --- between chaos.c, chaos_sqe.c and chaos_cqe.c */

struct eddyi_chaos_held_cqe {
	uint64_t data;
	int result;
	unsigned flags;
	uint64_t due; /* the turn */
};

struct eddyi_chaos_held_sqe {
	struct eddy_op *op;
	struct io_uring_sqe sqe;
	uint64_t due;
};

#define EDDYI_CHAOS_CQES 512
#define EDDYI_CHAOS_SQES 64

struct eddyi_chaos {
	uint64_t seed;
	unsigned modes;
	char text[64];
	uint64_t turn;
	/* One stream of random numbers each, so that when completions come does not decide what
	 * happens to the next submission. */
	uint64_t ready_random, sqe_random, cqe_random;
	bool in_chain; /* the entry before was linked to the next */
	unsigned cqe_count, sqe_count;
	struct eddyi_chaos_held_cqe cqes[EDDYI_CHAOS_CQES]; /* in order of arrival */
	struct eddyi_chaos_held_sqe sqes[EDDYI_CHAOS_SQES]; /* in order of their start */
};

/* The next number of a stream, below `limit`. */
uint64_t eddyi_chaos_below(uint64_t *stream, uint64_t limit);

/* Complete the entry of user_data `data` with `result` in one of the next turns. Return: false when there is no
 * room. */
bool eddyi_chaos_complete(struct eddyi_chaos *chaos, uint64_t data, int result);

/* Submit the entries whose turn it is. */
void eddyi_chaos_release(struct eddy_loop *loop);

#endif
