/* Tests of buckets.h. */
#include "filters/buckets.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/base.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t locks[EDDYI_BUCKETS_LOCKS];

/* `burst` at once, one each second. */
static struct eddyi_buckets make(size_t keys, unsigned burst)
{
	static const uint64_t secret[2] = { 1, 2 };
	struct eddyi_buckets buckets = { .step_ns = EDDY_SECOND, .depth_ns = burst * EDDY_SECOND };

	eddyi_buckets_init(&buckets, locks,
			   calloc(eddyi_buckets_count(keys), sizeof(struct eddyi_bucket)), keys,
			   secret);
	return buckets;
}

/* In milliseconds. */
static uint64_t take(struct eddyi_buckets *buckets, const char *key, double seconds)
{
	return eddyi_buckets_take(buckets, 0, eddy_str_from(key), (uint64_t)(seconds * 1e9)) /
	       1000000;
}

#define TAKE(key, seconds) take(&buckets, key, seconds)

Test(buckets, burst_and_rate)
{
	struct eddyi_buckets buckets = make(100, 3);

	for (int i = 0; i < 3; i++)
		cr_expect(eq(u64, TAKE("a", 1000), 0));
	cr_expect(eq(u64, TAKE("a", 1000), 1000));
	cr_expect(eq(u64, TAKE("a", 1000.25), 750));
	cr_expect(eq(u64, TAKE("b", 1000), 0), "each key has its own");
	cr_expect(eq(u64, TAKE("a", 1001), 0), "one a second");
	cr_expect(eq(u64, TAKE("a", 1001), 1000));
	/* It fills to its brim and no further. */
	for (int i = 0; i < 3; i++)
		cr_expect(eq(u64, TAKE("a", 5000), 0));
	cr_expect(eq(u64, TAKE("a", 5000), 1000));
	free(buckets.buckets);
}

/* However many keys there are, somebody who has used up his own gets little by their number. */
Test(buckets, full_ones_make_room)
{
	struct eddyi_buckets buckets = make(64, 100);
	unsigned let_through = 0;
	char key[16];

	cr_expect(eq(sz, eddyi_buckets_count(64), 64));
	cr_expect(eq(sz, eddyi_buckets_count(65), 128));
	for (int i = 0; i < 100; i++)
		TAKE("greedy", 1000);
	for (int i = 0; i < 10000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		cr_expect(eq(u64, TAKE(key, 1000), 0));
		let_through += TAKE("greedy", 1000) == 0;
	}
	cr_expect(eq(uint, let_through, 0));
	free(buckets.buckets);
}
