/* clocks.h: the times that all connections of a loop share. */
#ifndef EDDYI_CLOCKS_H
#define EDDYI_CLOCKS_H

#include "date.h"

#include <eddy/app.h>
#include <eddy/timer.h>

/* So often within the write time it is seen whether the peer takes anything. A socket tells that it has
 * room only when a third of its buffer is empty: a slow reader may need minutes for that. */
#define EDDYI_WRITE_LOOKS 4

struct eddyi_clocks {
	struct eddy_timeout_queue idle; /* between two requests */
	struct eddy_timeout_queue head; /* until a head is there */
	struct eddy_timeout_queue handshake;
	struct eddy_timeout_queue body;  /* without a byte of a body */
	struct eddy_timeout_queue write; /* until the next look at what the peer has taken */
	time_t date_at;
	char date[EDDYI_DATE_LEN + 1];
};

/* `handshake_ns` 0 is the time of a head. */
void eddyi_clocks_init(struct eddyi_clocks *clocks, const struct eddy_server_options *options,
		       uint64_t handshake_ns);

/* No timeout is armed any more. */
void eddyi_clocks_deinit(struct eddyi_clocks *clocks);

/* The value of a date field, for now. */
struct eddy_str eddyi_clocks_date(struct eddyi_clocks *clocks);

#endif
