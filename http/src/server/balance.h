/* balance.h: the loops of an app have equal shares of its connections.
 *
 * The kernel shares connections out among sockets by a hash: 11 of 16 are one loop's in a fifth of all cases.
 * So a loop that has accepted one hands it over, before anything is armed, while it has more than the loop that
 * has the least, and would have more than 1 + 1/8 of that one's.
 *
 * Nobody hands over to a loop what would bring it to its limit: the last place is for one that it accepts itself. It
 * goes beyond by what it accepts while others are on their way to it: one for each of its listeners.
 */
#ifndef EDDYI_BALANCE_H
#define EDDYI_BALANCE_H

#include "conn.h"

#include <stdatomic.h>

/* Invariants:
 * 1. Whoever hands over counts it in `coming` before it looks whether the share is open, and who closes a share
 *    looks at `coming` after: nothing is posted to a loop that has ended. Only then does he look whether
 *    there is room, for all that are coming: several loops do not take the same place.
 * 2. A descriptor belongs to its message from the post until it is delivered.
 */
struct eddyi_share {
	struct eddyi_conns *conns;
	struct eddy_loop *loop; /* set while it is open */
	unsigned max;           /* connections that it may have */
	atomic_uint coming;     /* handed over to it, and not there yet */
	atomic_bool open;
};

struct eddyi_balance {
	struct eddyi_share *shares; /* one for each loop */
	unsigned count;
	struct eddyi_tally
		*tally; /* of the addresses on all loops; NULL: an address may have any number */
};

/* From now on others may hand over to this loop, which may have `max` connections. */
void eddyi_share_open(struct eddyi_share *share, struct eddyi_conns *conns, unsigned max);

/* Nobody may any more; those that are on their way are here when this returns. Suspends; shielded by the
 * caller. */
void eddyi_share_close(struct eddyi_share *share);

/* Give a connection that this loop has accepted at `address` to the loop that has least of them.
 * Return: false: it stays. */
bool eddyi_balance_hand_over(const struct eddyi_balance *balance, const struct eddyi_share *own,
			     int fd, const struct eddyi_address *address);

#endif
