/* pool.h: encoders and decoders that rest between two streams, a pool for each loop. */
#ifndef EDDYI_POOL_H
#define EDDYI_POOL_H

#include <stddef.h>

/* All that rests in one pool, in bytes. */
#define EDDYI_POOL_MAX (16 * EDDY_MIB)

/* The first member of what rests. */
struct eddyi_pooled {
	struct eddyi_pooled *next;
	const void *kind; /* what is compared when one is taken */
	size_t size;
	void (*end)(struct eddyi_pooled *pooled);
};

/* Take one of this kind from this loop's pool, the last that came. NULL: there is none, or no loop. */
struct eddyi_pooled *eddyi_pool_take(const void *kind);

/* Let it rest in this loop's pool, its fields set; who came first makes room. It is ended where no loop
 * is. */
void eddyi_pool_put(struct eddyi_pooled *pooled);

#endif
