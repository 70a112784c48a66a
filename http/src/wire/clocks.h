/* clocks.h: the timeouts that all connections of a loop share, and the minimum rate of a peer. */
#ifndef EDDYI_CLOCKS_H
#define EDDYI_CLOCKS_H

#include "text/date.h"

#include <eddy/app.h>
#include <eddy/internal/outside.h>
#include <eddy/timer.h>

struct eddyi_wire;

/* Checks of the peer's progress within the write timeout. A socket reports room only once a third
 * of its buffer is free, which may take a slow reader minutes. */
#define EDDYI_WRITE_LOOKS 4

#define EDDYI_OWN_LINES "\r\nserver: eddy\r\ndate: "
#define EDDYI_OWN_LINES_SIZE (sizeof(EDDYI_OWN_LINES) + EDDYI_DATE_LEN + 2)

struct eddyi_clocks {
	struct eddy_timeout_queue idle; /* between two requests */
	struct eddy_timeout_queue head; /* until a head is complete */
	struct eddy_timeout_queue handshake;
	struct eddy_timeout_queue body;  /* without progress of a body */
	struct eddy_timeout_queue write; /* until the next check of the acknowledged bytes */
	struct eddy_timeout_queue pace;  /* until the next check of the rate */
	time_t date_at;
	char own[EDDYI_OWN_LINES_SIZE];
};

/* If `handshake_ns` is 0, handshakes have the timeout of a head. */
void eddyi_clocks_init(struct eddyi_clocks *clocks, const struct eddy_server_options *options,
		       uint64_t handshake_ns);

/* No timeout may be armed. */
void eddyi_clocks_deinit(struct eddyi_clocks *clocks);

/* Write the lines of eddyi_clocks_own_lines() for this second. */
void eddyi_clocks_set_date(struct eddyi_clocks *clocks, time_t now);

/* Get what follows the status in every head: CRLF, and the server and date fields. */
static inline struct eddy_str eddyi_clocks_own_lines(struct eddyi_clocks *clocks)
{
	time_t now = eddyi_clock_seconds();

	if (now != clocks->date_at)
		eddyi_clocks_set_date(clocks, now);
	return eddy_str(clocks->own, sizeof(EDDYI_OWN_LINES) - 1 + EDDYI_DATE_LEN + 2);
}

/* ---- the minimum rate of a peer that sends a body or receives a response ---- */

/* Only time in which the server waits for the peer counts. Checks are at intervals; a byte costs
 * nothing. */

/* Interval between checks. */
#define EDDYI_PACE_LOOK_NS (500 * EDDY_MS)

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
	struct eddyi_wire *wire;
	struct eddyi_flow *waiting; /* `body` or `answer`; NULL: not waiting */
	uint64_t since_ns;          /* start of this wait */
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

/* Judge a flow of `bytes` so far. A lead counts for at most twice the grace period. */
enum eddyi_verdict eddyi_pace_judge(struct eddyi_flow *flow, uint64_t waited_ns, uint64_t bytes,
				    const struct eddyi_pace_rule *rule);

#endif
