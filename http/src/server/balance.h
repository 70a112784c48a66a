/* balance.h: distributes the connections of an app evenly over its loops.
 *
 * The kernel distributes connections over sockets by a hash: in a fifth of all cases one loop gets
 * 11 of 16. So an accepted connection is handed to the loop with the fewest, before anything is
 * armed, if its own loop has more and would exceed that one by more than an eighth.
 *
 * A loop accepts its last connection itself. While others are on their way to it, it may exceed its
 * limit by one for each listener. */
#ifndef EDDYI_BALANCE_H
#define EDDYI_BALANCE_H

#include "http1/conn.h"

#include <stdatomic.h>

/* Invariants:
 * 1. `coming` is incremented before `open` is checked, and a share is closed before its loop waits
 *    for `coming` to be 0: no message is posted to a loop that has ended. The limit is checked
 *    after the increment, so that no two loops take the same place.
 * 2. A descriptor belongs to its message from the post until the delivery. */
struct eddyi_share {
	struct eddyi_conns *conns;
	struct eddy_loop *loop; /* set while the share is open */
	unsigned max;           /* limit of connections */
	atomic_uint coming;     /* handed over and not yet delivered */
	atomic_bool open;
};

struct eddyi_balance {
	struct eddyi_share *shares; /* one for each loop */
	unsigned count;
	/* Counts addresses over all loops; NULL: no limit by address. */
	struct eddyi_tally *tally;
};

/* Let other loops hand connections to this loop, up to `max`. */
void eddyi_share_open(struct eddyi_share *share, struct eddyi_conns *conns, unsigned max);

/* Close this loop's share, and wait for connections on their way. Suspends; the caller shields
 * it. */
void eddyi_share_close(struct eddyi_share *share);

/* Hand a connection that this loop has accepted at `address` to the loop with the fewest.
 * Return: false if this loop keeps it. */
bool eddyi_balance_hand_over(const struct eddyi_balance *balance, const struct eddyi_share *own,
			     int fd, const struct eddyi_address *address);

#endif
