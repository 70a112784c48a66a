/* h2_inbox.h: the bytes of a stream's body that have arrived and are not yet read. */
#ifndef EDDYI_H2_INBOX_H
#define EDDYI_H2_INBOX_H

#include <eddy/str.h>

struct eddyi_blocks;
struct eddyi_h2_block;

/* Zeroed but for `spare`, it is empty. */
struct eddyi_h2_inbox {
	struct eddyi_blocks *spare; /* of the loop, for large blocks */
	struct eddyi_h2_block *first, *last;
	size_t len;
	uint64_t began; /* bytes that have been consumed */
	bool complete;  /* nothing follows */
};

/* Append a copy. Return: false on allocation failure: nothing is appended. */
bool eddyi_h2_inbox_add(struct eddyi_h2_inbox *inbox, struct eddy_str bytes);

/* Get the first bytes, which stay in place until they are consumed. .len 0: there are none. */
struct eddy_str eddyi_h2_inbox_next(const struct eddyi_h2_inbox *inbox);
void eddyi_h2_inbox_consume(struct eddyi_h2_inbox *inbox, size_t len);

void eddyi_h2_inbox_clear(struct eddyi_h2_inbox *inbox);

#endif
