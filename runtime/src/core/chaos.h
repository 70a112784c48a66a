/* chaos.h: fault injection by EDDY_CHAOS=SEED[,MODE…], within what a kernel may do.
 *
 * A loop without chaos has a NULL pointer and tests it. docs/chaos.md describes each mode and which
 * runs a seed reproduces.
 */
#ifndef EDDYI_CHAOS_H
#define EDDYI_CHAOS_H

#include "loop.h"

enum {
	EDDYI_CHAOS_SHUFFLE = 1 << 0, /* dispatch completions and ready tasks in another order */
	EDDYI_CHAOS_DELAY = 1 << 1,   /* delay submissions and completions by some turns */
	EDDYI_CHAOS_SHORT = 1 << 2,   /* shorten reads, writes and splices */
	EDDYI_CHAOS_EINTR = 1 << 3,   /* interrupt calls before they do anything */
	EDDYI_CHAOS_NOBUFS = 1 << 4,  /* pretend that no provided buffer is available */
	EDDYI_CHAOS_ENDS = 1 << 5,    /* end multishots after their first completion */
	EDDYI_CHAOS_MISSES = 1 << 6,  /* let cancels miss an op in progress */
	EDDYI_CHAOS_ERRORS = 1 << 7,  /* let calls fail */
	EDDYI_CHAOS_BENIGN = EDDYI_CHAOS_ERRORS - 1,
};

/* Parse `text` in the variable's syntax. Return: 0; -EINVAL, and nothing is written. */
int eddyi_chaos_parse(const char *text, uint64_t *ret_seed, unsigned *ret_modes);

/* Get a sentence on the valid values of EDDY_CHAOS if it is set and invalid; else NULL. */
const char *eddyi_chaos_advice(void);

/* Create what the environment asks for; `*ret_chaos` is NULL if it asks for none.
 * Return: 0, -EINVAL (with a log record), -ENOMEM. */
int eddyi_chaos_new(struct eddyi_chaos **ret_chaos);
void eddyi_chaos_free(struct eddyi_chaos *chaos);

/* Seed the loop's random streams from the seed and the loop's id. */
void eddyi_chaos_begin(struct eddy_loop *loop);

/* Insert a task that was made ready into the ready queue, at a random position. */
void eddyi_chaos_ready(struct eddy_loop *loop, struct eddy_node *queued);

/* Change, delay or fail the op that this entry starts. */
void eddyi_chaos_start(struct eddy_loop *loop, struct eddy_op *op, struct io_uring_sqe *sqe);

/* Submit a delayed entry of the op, which is about to be cancelled. */
void eddyi_chaos_cancel(struct eddy_loop *loop, struct eddy_op *op);

/* Decide about a cancel with user_data `cancel` before it is submitted. Return: true if it must not
 * be submitted, because an injected completion will say that it missed. */
bool eddyi_chaos_misses(struct eddyi_chaos *chaos, uint64_t cancel);

/* Collect completions, and dispatch those that are due. */
void eddyi_chaos_dispatch(struct eddy_loop *loop);

/* Whether anything is held back. Then the loop must not sleep. */
bool eddyi_chaos_holds(const struct eddyi_chaos *chaos);

/* Get how much of `len` bytes a send without waiting may take; 0 for none. */
size_t eddyi_chaos_try_send(struct eddyi_chaos *chaos, int fd, size_t len);

/* --- shared by chaos.c, chaos_sqe.c and chaos_cqe.c */

struct eddyi_chaos_held_cqe {
	uint64_t data;
	int result;
	unsigned flags;
	uint64_t due; /* turn when it is dispatched */
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
	/* Separate streams: the timing of completions does not affect later submissions. */
	uint64_t ready_random, sqe_random, cqe_random;
	bool in_chain; /* the previous entry was linked to the next */
	unsigned cqe_count, sqe_count;
	struct eddyi_chaos_held_cqe cqes[EDDYI_CHAOS_CQES]; /* in order of arrival */
	struct eddyi_chaos_held_sqe sqes[EDDYI_CHAOS_SQES]; /* in order of their start */
};

/* Get the next number of a stream, below `limit`. */
uint64_t eddyi_chaos_below(uint64_t *stream, uint64_t limit);

/* Inject a completion of the entry `data` in a later turn. Return: false if there is no room. */
bool eddyi_chaos_complete(struct eddyi_chaos *chaos, uint64_t data, int result);

/* Submit the delayed entries that are due. */
void eddyi_chaos_release(struct eddy_loop *loop);

#endif
