/* clocks.h: the times that all connections of a loop share. */
#ifndef EDDYI_CLOCKS_H
#define EDDYI_CLOCKS_H

#include "text/date.h"

#include "pace.h"

#include <eddy/app.h>
#include <eddy/timer.h>

/* So often within the write time it is seen whether the peer takes anything. A socket tells that it has
 * room only when a third of its buffer is empty: a slow reader may need minutes for that. */
#define EDDYI_WRITE_LOOKS 4

#define EDDYI_OWN_LINES "\r\nserver: eddy\r\ndate: "
#define EDDYI_OWN_LINES_SIZE (sizeof(EDDYI_OWN_LINES) + EDDYI_DATE_LEN + 2)

struct eddyi_clocks {
	struct eddy_timeout_queue idle; /* between two requests */
	struct eddy_timeout_queue head; /* until a head is there */
	struct eddy_timeout_queue handshake;
	struct eddy_timeout_queue body;  /* without a byte of a body */
	struct eddy_timeout_queue write; /* until the next look at what the peer has taken */
	struct eddy_timeout_queue pace; /* until the next look at the progress that the peer makes */
	time_t date_at;
	char own[EDDYI_OWN_LINES_SIZE];
};

/* `handshake_ns` 0 is the time of a head. */
void eddyi_clocks_init(struct eddyi_clocks *clocks, const struct eddy_server_options *options,
		       uint64_t handshake_ns);

/* No timeout is armed any more. */
void eddyi_clocks_deinit(struct eddyi_clocks *clocks);

/* What stands in every head behind its status: the line's end, and the fields server and date of now. */
struct eddy_str eddyi_clocks_own_lines(struct eddyi_clocks *clocks);

#endif
