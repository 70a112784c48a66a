#include "state.h"

#include <stdbool.h>
#include <stdlib.h>

struct eddyi_memory_block {
	struct eddyi_memory_block *next;
	size_t size; /* with this header */
	bool is_used;
	_Alignas(max_align_t) char bytes[];
};

static void release(struct eddyi_memory *memory, bool used_too)
{
	struct eddyi_memory_block **at = &memory->blocks, *block;

	while ((block = *at)) {
		if (block->is_used && !used_too) {
			at = &block->next;
			continue;
		}
		*at = block->next;
		memory->taken -= block->size;
		free(block);
	}
}

void eddyi_memory_trim(struct eddyi_memory *memory)
{
	release(memory, false);
}

void eddyi_memory_drop(struct eddyi_memory *memory)
{
	release(memory, true);
}

static struct eddyi_memory_block *find_idle(const struct eddyi_memory *memory, size_t size)
{
	struct eddyi_memory_block *best = NULL;

	for (struct eddyi_memory_block *block = memory->blocks; block; block = block->next)
		if (!block->is_used && block->size >= size && block->size / 2 <= size &&
		    (!best || block->size < best->size))
			best = block;
	return best;
}

void *eddyi_memory_get(struct eddyi_memory *memory, size_t size)
{
	struct eddyi_memory_block *block;

	if (__builtin_add_overflow(size, sizeof(*block), &size))
		return NULL;
	block = find_idle(memory, size);
	if (block) {
		block->is_used = true;
		return block->bytes;
	}
	if (memory->taken + size > memory->enough)
		eddyi_memory_trim(memory);
	block = malloc(size);
	if (!block)
		return NULL;
	block->size = size;
	block->is_used = true;
	block->next = memory->blocks;
	memory->blocks = block;
	memory->taken += size;
	if (memory->taken > memory->most)
		memory->most = memory->taken;
	return block->bytes;
}

void eddyi_memory_put(void *at)
{
	struct eddyi_memory_block *block;

	if (!at)
		return;
	block = (void *)((char *)at - offsetof(struct eddyi_memory_block, bytes));
	block->is_used = false;
}

void *eddyi_memory_alloc(void *opaque, size_t size)
{
	return eddyi_memory_get(opaque, size);
}

void eddyi_memory_free(__attribute__((unused)) void *opaque, void *at)
{
	eddyi_memory_put(at);
}
