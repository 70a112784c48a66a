/* memory.h: what a codec's library allocates: counted, and kept for the next stream of a pooled codec.
 *
 * Invariants:
 *   1. `taken` is the sum of `blocks`, used or idle, their heads included.
 *   2. Who asks gets the smallest idle block that fits and is not twice as large as needed.
 *   3. Nothing is returned to the system while it is idle, but when a new block would make `taken` pass
 *      `enough`: then all that is idle goes first.
 */
#ifndef EDDYI_COMPRESS_MEMORY_H
#define EDDYI_COMPRESS_MEMORY_H

#include <stddef.h>

struct eddyi_memory_block;

struct eddyi_memory {
	struct eddyi_memory_block *blocks;
	size_t taken;
	size_t most; /* that `taken` has been */
	size_t enough;
};

/* NULL: no memory. */
void *eddyi_memory_get(struct eddyi_memory *memory, size_t size);

/* NULL is fine. */
void eddyi_memory_put(void *at);

/* Return all that is idle to the system. */
void eddyi_memory_trim(struct eddyi_memory *memory);

/* Return everything, whoever uses it. */
void eddyi_memory_drop(struct eddyi_memory *memory);

/* The same as the libraries want it: `opaque` is the memory. */
void *eddyi_memory_alloc(void *opaque, size_t size);
void eddyi_memory_free(void *opaque, void *at);

#endif
