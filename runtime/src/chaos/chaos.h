/* chaos.h: fault injection by EDDY_CHAOS=SEED[,MODE…], within what a kernel may do.
 *
 * Chaos is a guest of a loop that decides. docs/chaos.md describes each mode and which runs a seed
 * reproduces.
 */
#ifndef EDDYI_CHAOS_H
#define EDDYI_CHAOS_H

#include <eddy/loop.h>

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

/* Maximum number of completions that a loop holds back. */
#define EDDYI_CHAOS_CQES 512

/* Parse `text` in the variable's syntax. Return: 0; -EINVAL, and nothing is written. */
int eddyi_chaos_parse(const char *text, uint64_t *ret_seed, unsigned *ret_modes);

/* Get a sentence on the valid values of EDDY_CHAOS if it is set and invalid; else NULL. */
const char *eddyi_chaos_advice(void);

/* Attach what the environment asks for to a loop that begins.
 * Return: 0, also if it asks for nothing; -EINVAL (with a log record), -ENOMEM. */
int eddyi_chaos_attach(struct eddy_loop *loop);

/* Detach and free it, if there is any. */
void eddyi_chaos_detach(struct eddy_loop *loop);

/* Seed the loop's random streams from the seed and the loop's id. */
void eddyi_chaos_begin(struct eddy_loop *loop);

/* Whether the loop has chaos. */
bool eddyi_chaos_is_on(const struct eddy_loop *loop);

#endif
