/* memory.h: the allocator for codec libraries: counts memory, and keeps it for the next stream.
 *
 * Invariants:
 * 1. `taken` is the sum of all `blocks`, used or idle, with their headers.
 * 2. An allocation gets the smallest idle block that fits and is not twice as large as needed.
 * 3. Idle blocks are freed, all at once, only when a new one would make `taken` exceed `enough`.
 */
#ifndef EDDYI_COMPRESS_MEMORY_H
#define EDDYI_COMPRESS_MEMORY_H

#include <stddef.h>

struct eddyi_memory_block;

struct eddyi_memory {
	struct eddyi_memory_block *blocks;
	size_t taken;
	size_t most; /* maximum of `taken` */
	size_t enough;
};

/* Return: NULL on allocation failure. */
void *eddyi_memory_get(struct eddyi_memory *memory, size_t size);

/* NULL is accepted. */
void eddyi_memory_put(void *at);

/* Free all idle blocks. */
void eddyi_memory_trim(struct eddyi_memory *memory);

/* Free all blocks, used ones included. */
void eddyi_memory_drop(struct eddyi_memory *memory);

/* The allocator functions of the libraries; `opaque` is the memory. */
void *eddyi_memory_alloc(void *opaque, size_t size);
void eddyi_memory_free(void *opaque, void *at);

#endif
