/* holding.h: what the requests of one address hold of shared resources. An address may hold as much
 * as it leaves free: the first gets at most half, a second one a third, and so on. */
#ifndef EDDYI_HOLDING_H
#define EDDYI_HOLDING_H

#include <stdbool.h>
#include <stdint.h>

/* Of one address on one loop. */
struct eddyi_holding {
	uint64_t body_memory; /* bytes */
	unsigned files;       /* of uploads */
};

/* The connection of a request. */
struct eddyi_party {
	struct eddyi_holding *holding; /* of its address; NULL: not counted */
};

#endif
