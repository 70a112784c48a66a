/* pool.h: a pool of idle encoders and decoders for each loop. */
#ifndef EDDYI_POOL_H
#define EDDYI_POOL_H

#include <stddef.h>

/* The most bytes in a pool. */
#define EDDYI_POOL_MAX (16 * EDDY_MIB)

/* The first member of pooled objects. */
struct eddyi_pooled {
	struct eddyi_pooled *next;
	const void *kind; /* compared by eddyi_pool_take() */
	size_t size;
	void (*end)(struct eddyi_pooled *pooled);
};

/* Take the newest object of this kind from the loop's pool. Return: NULL if there is none. */
struct eddyi_pooled *eddyi_pool_take(const void *kind);

/* Take an object from the pool, or make a zeroed one of this size. Return: NULL on allocation
 * failure. */
void *eddyi_pool_get(const void *kind, size_t size, void (*end)(struct eddyi_pooled *pooled));

/* Put an object into the loop's pool, its fields set; the oldest are ended to make room. Off the
 * loop it is ended. */
void eddyi_pool_put(struct eddyi_pooled *pooled);

#endif
