#include "h2_inbox.h"

#include "parked/blocks.h"

#include <stdlib.h>

#define PAGE ((size_t)(4 * EDDY_KIB))
/* The least sizes of the first block and of others. */
#define BLOCK_FIRST ((size_t)EDDY_KIB)
#define BLOCK_NEXT ((size_t)(248 * EDDY_KIB))

struct eddyi_h2_block {
	struct eddyi_h2_block *next;
	size_t at, len, size;
	char bytes[];
};

/* Whether a block is one of the loop's. */
static bool is_shared(size_t size)
{
	return size >= BLOCK_NEXT && sizeof(struct eddyi_h2_block) + size <= EDDYI_BLOCK_SIZE;
}

/* Return: NULL on allocation failure. */
static struct eddyi_h2_block *block_new(struct eddyi_blocks *spare, size_t size)
{
	struct eddyi_h2_block *block = is_shared(size) ? eddyi_blocks_take(spare) :
							 malloc(sizeof(*block) + size);

	if (block)
		*block = (struct eddyi_h2_block){ .size = size };
	return block;
}

static void block_free(struct eddyi_blocks *spare, struct eddyi_h2_block *block)
{
	if (is_shared(block->size))
		eddyi_blocks_give_back(spare, block);
	else
		free(block);
}

/* Append a block for `need` bytes, behind `fits` that go into the last one. Blocks of a body that
 * goes on are large: each is a write to its file. */
static bool grow(struct eddyi_h2_inbox *inbox, size_t fits, size_t need)
{
	size_t least = inbox->last ? BLOCK_NEXT : BLOCK_FIRST;
	/* It ends at a page of the body. */
	size_t size = (need < least ? least : need) + PAGE - 1;
	struct eddyi_h2_block *block;

	size -= (inbox->began + inbox->len + fits + size) % PAGE;
	block = block_new(inbox->spare, size);
	if (!block)
		return false;
	if (inbox->last)
		inbox->last->next = block;
	else
		inbox->first = block;
	inbox->last = block;
	return true;
}

static void append(struct eddyi_h2_inbox *inbox, struct eddyi_h2_block *block,
		   struct eddy_str bytes)
{
	memcpy(block->bytes + block->len, bytes.ptr, bytes.len);
	block->len += bytes.len;
	inbox->len += bytes.len;
}

bool eddyi_h2_inbox_add(struct eddyi_h2_inbox *inbox, struct eddy_str bytes)
{
	struct eddyi_h2_block *last = inbox->last;
	size_t fits = last ? last->size - last->len : 0;

	if (fits > bytes.len)
		fits = bytes.len;
	if (fits < bytes.len && !grow(inbox, fits, bytes.len - fits))
		return false;
	if (fits)
		append(inbox, last, eddy_str(bytes.ptr, fits));
	if (fits < bytes.len)
		append(inbox, inbox->last, eddy_str_skip(bytes, fits));
	return true;
}

struct eddy_str eddyi_h2_inbox_next(const struct eddyi_h2_inbox *inbox)
{
	const struct eddyi_h2_block *first = inbox->first;

	return first ? eddy_str(first->bytes + first->at, first->len - first->at) : EDDY_STR("");
}

void eddyi_h2_inbox_consume(struct eddyi_h2_inbox *inbox, size_t len)
{
	struct eddyi_h2_block *first = inbox->first;

	first->at += len;
	inbox->len -= len;
	inbox->began += len;
	if (first->at < first->len)
		return;
	inbox->first = first->next;
	if (!inbox->first)
		inbox->last = NULL;
	block_free(inbox->spare, first);
}

void eddyi_h2_inbox_clear(struct eddyi_h2_inbox *inbox)
{
	while (inbox->len)
		eddyi_h2_inbox_consume(inbox, eddyi_h2_inbox_next(inbox).len);
}
