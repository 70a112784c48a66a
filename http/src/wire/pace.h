/* pace.h: whether a peer makes the progress that it must, with a body that it sends or an answer that it takes.
 *
 * Only the time in which the server waits for the peer counts. It is looked at now and then: a byte that comes or
 * goes costs nothing.
 */
#ifndef EDDYI_PACE_H
#define EDDYI_PACE_H

#include <eddy/timer.h>

struct eddyi_wire;

/* Between two looks. */
#define EDDYI_PACE_LOOK_NS (500 * EDDY_MS)

/* The bytes of one direction. */
struct eddyi_flow {
	bool begun;         /* somebody has looked */
	uint64_t waited_ns; /* for the peer, waits that are over */
	uint64_t seen_ns;   /* waited at the last look, */
	uint64_t seen;      /* and bytes then */
	int64_t ahead;      /* bytes that came beyond those that had to */
};

/* Invariant: the timeout is armed, or is armed again by the next wait: a look that finds no wait goes on at no cost. */
struct eddyi_pace {
	struct eddy_timeout timeout; /* the next look */
	struct eddyi_wire *wire;
	struct eddyi_flow *waiting; /* of `body` or `answer`; NULL: nobody waits */
	uint64_t since_ns;          /* since when */
	struct eddyi_flow body;
	struct eddyi_flow answer;
	const uint64_t
		*arriving; /* bytes of a body that a transfer has moved so far; NULL: none does */
};

/* The minimum that a peer must keep up. */
struct eddyi_pace_rule {
	uint64_t rate_min; /* bytes a second on average; 0: anything is enough */
	uint64_t grace_ns; /* not looked at before */
};

enum eddyi_verdict {
	EDDYI_PACE_ENOUGH,
	EDDYI_PACE_SLOW,     /* since the last look */
	EDDYI_PACE_TOO_SLOW, /* on average, after the grace */
};

/* Judge a flow of which `bytes` have come or gone; what is far ahead counts for twice the grace. */
enum eddyi_verdict eddyi_pace_judge(struct eddyi_flow *flow, uint64_t waited_ns, uint64_t bytes,
				    const struct eddyi_pace_rule *rule);

#endif
