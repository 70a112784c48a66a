/* holding.h: what the requests of one address hold together of what there is for all. An address takes no more than it leaves free:
 * one that takes all it can has half, a second one a third, and the next one who comes still finds some. */
#ifndef EDDYI_HOLDING_H
#define EDDYI_HOLDING_H

#include <stdbool.h>
#include <stdint.h>

/* Of one loop. */
struct eddyi_holding {
	uint64_t body_memory; /* bytes */
	unsigned files;       /* of uploads */
};

/* The connection that a request came on. */
struct eddyi_party {
	struct eddyi_holding *holding; /* of its address; NULL: that is not counted */
};

#endif
