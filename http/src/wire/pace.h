/* pace.h: the minimum rate of a peer that sends a body or receives a response.
 *
 * Only time in which the server waits for the peer counts. Checks are at intervals; a byte costs
 * nothing. */
#ifndef EDDYI_PACE_H
#define EDDYI_PACE_H

#include <eddy/timer.h>

struct eddyi_clocks;

/* Bytes of one direction. */
struct eddyi_flow {
	bool begun;         /* a check has been made */
	uint64_t waited_ns; /* in finished waits for the peer */
	uint64_t seen_ns;   /* waited_ns at the last check */
	uint64_t seen;      /* bytes at the last check */
	int64_t ahead;      /* bytes more than required */
};

/* Invariant: the timeout is armed, or the next wait arms it. A check without a wait does not. */
struct eddyi_pace {
	struct eddy_timeout timeout; /* the next check */
	struct eddyi_flow *waiting;  /* `body` or `answer`; NULL: not waiting */
	uint64_t since_ns;           /* start of this wait */
	struct eddyi_flow body;
	struct eddyi_flow answer;
	/* Bytes of the body moved by a running transfer; NULL: none. */
	const uint64_t *arriving;
};

/* The minimum rate of a peer. */
struct eddyi_pace_rule {
	uint64_t rate_min; /* bytes a second on average; 0: no minimum */
	uint64_t grace_ns; /* not judged before */
};

enum eddyi_verdict {
	EDDYI_PACE_ENOUGH,
	EDDYI_PACE_SLOW,     /* below the rate since the last check */
	EDDYI_PACE_TOO_SLOW, /* below the rate on average, after the grace period */
};

/* Without progress for this long, a peer has paused. */
#define EDDYI_PAUSE_NS (100 * EDDY_MS)

/* Judge a flow of `bytes` so far. A lead counts for at most twice the grace period. */
enum eddyi_verdict eddyi_pace_judge(struct eddyi_flow *flow, uint64_t waited_ns, uint64_t bytes,
				    const struct eddyi_pace_rule *rule);

/* Begin to wait for the peer: for bytes of a body, or room for those of a response. `flow` is NULL
 * for a wait that is not judged. */
void eddyi_pace_wait(struct eddyi_pace *pace, struct eddyi_flow *flow, struct eddyi_clocks *clocks);

/* End the wait. */
void eddyi_pace_go_on(struct eddyi_pace *pace);

#endif
