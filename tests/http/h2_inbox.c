/* Tests of h2_inbox.h. */
#include "h2/h2_inbox.h"

#include "parked/blocks.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

/* Get the byte at this place of what is added. */
static char byte_at(size_t at)
{
	return (char)(at * 7 + at / 251);
}

static void add(struct eddyi_h2_inbox *inbox, size_t *at, size_t len)
{
	char *bytes = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_at(*at + i);
	cr_assert(eddyi_h2_inbox_add(inbox, eddy_str(bytes, len)));
	*at += len;
	free(bytes);
}

static void take(struct eddyi_h2_inbox *inbox, size_t *at, size_t most)
{
	struct eddy_str next = eddyi_h2_inbox_next(inbox);

	if (next.len > most)
		next.len = most;
	for (size_t i = 0; i < next.len; i++)
		cr_assert(next.ptr[i] == byte_at(*at + i), "%zu", *at + i);
	*at += next.len;
	eddyi_h2_inbox_consume(inbox, next.len);
}

Test(h2_inbox, gives_back_what_is_added)
{
	static const size_t sizes[] = { 1, 1000, 1023, 1024, 1025, 16384, 65536, 65537, 300000 };

	struct eddyi_blocks blocks = { 0 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (size_t step = 1; step < 100000; step = step * 9 + 5) {
			struct eddyi_h2_inbox inbox = { .spare = &blocks };
			size_t added = 0, taken = 0;

			for (int j = 0; j < 4; j++) {
				add(&inbox, &added, sizes[i]);
				take(&inbox, &taken, step);
				cr_assert(eq(sz, inbox.len, added - taken));
			}
			while (inbox.len)
				take(&inbox, &taken, step);
			cr_assert(eq(sz, added, taken));
			cr_assert(inbox.first == NULL && inbox.last == NULL);
		}
	}
	eddyi_blocks_free(&blocks);
}

Test(h2_inbox, bytes_stay_where_they_are)
{
	struct eddyi_blocks blocks = { 0 };
	struct eddyi_h2_inbox inbox = { .spare = &blocks };
	size_t added = 0;
	struct eddy_str before;

	add(&inbox, &added, 100);
	before = eddyi_h2_inbox_next(&inbox);
	add(&inbox, &added, 200000);
	cr_expect(eddyi_h2_inbox_next(&inbox).ptr == before.ptr);
	for (size_t i = 0; i < before.len; i++)
		cr_assert(before.ptr[i] == byte_at(i));
	eddyi_h2_inbox_clear(&inbox);
	cr_expect(eq(sz, inbox.len, 0));
	cr_expect(eddyi_h2_inbox_next(&inbox).len == 0);
	eddyi_blocks_free(&blocks);
}

Test(h2_inbox, large_blocks_serve_the_next_body)
{
	struct eddyi_blocks blocks = { 0 };
	struct eddyi_h2_inbox inbox = { .spare = &blocks };
	size_t added = 0;
	struct eddyi_block *spare;

	add(&inbox, &added, 10);
	add(&inbox, &added, 200000);
	eddyi_h2_inbox_clear(&inbox);
	cr_assert(eq(sz, blocks.count, 1));
	spare = blocks.first;
	add(&inbox, &added, 10);
	add(&inbox, &added, 200000);
	cr_expect(eq(sz, blocks.count, 0));
	eddyi_h2_inbox_clear(&inbox);
	cr_expect(blocks.first == spare);
	eddyi_blocks_free(&blocks);
}
