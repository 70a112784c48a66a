#include "memory.h"

#include <stdlib.h>

struct eddyi_memory_block {
	struct eddyi_memory_block *next;
	size_t size; /* with this head */
	_Alignas(max_align_t) char bytes[];
};

void eddyi_memory_trim(struct eddyi_memory *memory)
{
	while (memory->idle) {
		struct eddyi_memory_block *block = memory->idle;

		memory->idle = block->next;
		memory->taken -= block->size;
		free(block);
	}
}

/* The smallest idle block that fits, taken out of its list. NULL: there is none. */
static struct eddyi_memory_block *take_idle(struct eddyi_memory *memory, size_t size)
{
	struct eddyi_memory_block **best = NULL, *block;

	for (struct eddyi_memory_block **at = &memory->idle; *at; at = &(*at)->next)
		if ((*at)->size >= size && (*at)->size / 2 <= size &&
		    (!best || (*at)->size < (*best)->size))
			best = at;
	if (!best)
		return NULL;
	block = *best;
	*best = block->next;
	return block;
}

void *eddyi_memory_get(struct eddyi_memory *memory, size_t size)
{
	struct eddyi_memory_block *block;

	if (__builtin_add_overflow(size, sizeof(*block), &size))
		return NULL;
	block = take_idle(memory, size);
	if (block)
		return block->bytes;
	if (memory->taken + size > memory->enough)
		eddyi_memory_trim(memory);
	block = malloc(size);
	if (!block)
		return NULL;
	block->size = size;
	memory->taken += size;
	if (memory->taken > memory->most)
		memory->most = memory->taken;
	return block->bytes;
}

void eddyi_memory_put(struct eddyi_memory *memory, void *at)
{
	struct eddyi_memory_block *block;

	if (!at)
		return;
	block = (void *)((char *)at - offsetof(struct eddyi_memory_block, bytes));
	block->next = memory->idle;
	memory->idle = block;
}

void *eddyi_memory_alloc(void *opaque, size_t size)
{
	return eddyi_memory_get(opaque, size);
}

void eddyi_memory_free(void *opaque, void *at)
{
	eddyi_memory_put(opaque, at);
}
