/* blocks.h: large blocks of memory that the connections of a loop share. The allocator would give
 * the pages of each back to the system, and page faults take longer than copies. */
#ifndef EDDYI_BLOCKS_H
#define EDDYI_BLOCKS_H

#include <eddy/base.h>

#define EDDYI_BLOCK_SIZE ((size_t)(260 * EDDY_KIB))

struct eddyi_block;

/* Blocks that are not in use. Zeroed, there are none. */
struct eddyi_blocks {
	struct eddyi_block *first;
	unsigned count;
};

/* Get a block of EDDYI_BLOCK_SIZE; NULL on allocation failure. */
void *eddyi_blocks_take(struct eddyi_blocks *blocks);

/* Keep it for the next that takes one, or free it if 2 MiB are kept. */
void eddyi_blocks_give_back(struct eddyi_blocks *blocks, void *block);

void eddyi_blocks_free(struct eddyi_blocks *blocks);

#endif
