#include "h2_inbox.h"

#include <stdlib.h>

#define BLOCK_MIN ((size_t)EDDY_KIB)
#define BLOCK_MAX ((size_t)(64 * EDDY_KIB))

struct eddyi_h2_block {
	struct eddyi_h2_block *next;
	size_t at, len, size;
	char bytes[];
};

/* Blocks of a body that goes on are large: each is a write to its file. */
static struct eddyi_h2_block *grow(struct eddyi_h2_inbox *inbox, size_t need)
{
	size_t size = need < BLOCK_MIN                ? BLOCK_MIN :
		      need > BLOCK_MAX || inbox->last ? BLOCK_MAX :
							need;
	struct eddyi_h2_block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	*block = (struct eddyi_h2_block){ .size = size };
	if (inbox->last)
		inbox->last->next = block;
	else
		inbox->first = block;
	inbox->last = block;
	return block;
}

bool eddyi_h2_inbox_add(struct eddyi_h2_inbox *inbox, struct eddy_str bytes)
{
	while (bytes.len) {
		struct eddyi_h2_block *block = inbox->last;
		size_t step;

		if (!block || block->len == block->size)
			block = grow(inbox, bytes.len);
		if (!block)
			return false;
		step = block->size - block->len;
		if (step > bytes.len)
			step = bytes.len;
		memcpy(block->bytes + block->len, bytes.ptr, step);
		block->len += step;
		inbox->len += step;
		bytes = eddy_str_skip(bytes, step);
	}
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
	if (first->at < first->len)
		return;
	inbox->first = first->next;
	if (!inbox->first)
		inbox->last = NULL;
	free(first);
}

void eddyi_h2_inbox_clear(struct eddyi_h2_inbox *inbox)
{
	while (inbox->len)
		eddyi_h2_inbox_consume(inbox, eddyi_h2_inbox_next(inbox).len);
}
