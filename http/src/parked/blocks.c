#include "blocks.h"

#include <stdlib.h>

#define KEPT_MAX 8

struct eddyi_block {
	struct eddyi_block *next;
};

void *eddyi_blocks_take(struct eddyi_blocks *blocks)
{
	struct eddyi_block *block = blocks->first;

	if (!block)
		return malloc(EDDYI_BLOCK_SIZE);
	blocks->first = block->next;
	blocks->count--;
	return block;
}

void eddyi_blocks_give_back(struct eddyi_blocks *blocks, void *memory)
{
	struct eddyi_block *block = memory;

	if (blocks->count == KEPT_MAX) {
		free(memory);
		return;
	}
	block->next = blocks->first;
	blocks->first = block;
	blocks->count++;
}

void eddyi_blocks_free(struct eddyi_blocks *blocks)
{
	while (blocks->count)
		free(eddyi_blocks_take(blocks));
}
