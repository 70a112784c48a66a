/* Tests of blocks.h. */
#include "parked/blocks.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(blocks, the_last_one_given_back_is_taken_first)
{
	struct eddyi_blocks blocks = { 0 };
	void *a = eddyi_blocks_take(&blocks), *b = eddyi_blocks_take(&blocks);

	cr_assert(a && b && a != b);
	memset(a, 'a', EDDYI_BLOCK_SIZE);
	memset(b, 'b', EDDYI_BLOCK_SIZE);
	eddyi_blocks_give_back(&blocks, a);
	eddyi_blocks_give_back(&blocks, b);
	cr_expect(eddyi_blocks_take(&blocks) == b);
	cr_expect(eddyi_blocks_take(&blocks) == a);
	eddyi_blocks_give_back(&blocks, b);
	eddyi_blocks_give_back(&blocks, a);
	eddyi_blocks_free(&blocks);
	cr_expect(blocks.count == 0 && !blocks.first);
}

Test(blocks, two_mib_are_kept)
{
	struct eddyi_blocks blocks = { 0 };
	void *taken[12];

	for (size_t i = 0; i < 12; i++)
		taken[i] = eddyi_blocks_take(&blocks);
	for (size_t i = 0; i < 12; i++)
		eddyi_blocks_give_back(&blocks, taken[i]);
	cr_expect(eq(sz, blocks.count, 8));
	eddyi_blocks_free(&blocks);
}
