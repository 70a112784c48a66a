/* clocks.h: the timeouts that all connections of a loop share. */
#ifndef EDDYI_CLOCKS_H
#define EDDYI_CLOCKS_H

#include "text/date.h"

#include <eddy/app.h>
#include <eddy/internal/outside.h>
#include <eddy/timer.h>

/* Checks of the peer's progress within the write timeout. A socket reports room only once a third
 * of its buffer is free, which may take a slow reader minutes. */
#define EDDYI_WRITE_LOOKS 4

/* Interval between checks of the rate. */
#define EDDYI_PACE_LOOK_NS (500 * EDDY_MS)

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

/* Get the value of the date field. */
static inline struct eddy_str eddyi_clocks_date(struct eddyi_clocks *clocks)
{
	const char *lines = eddyi_clocks_own_lines(clocks).ptr;

	return eddy_str(lines + sizeof(EDDYI_OWN_LINES) - 1, EDDYI_DATE_LEN);
}

#endif
