#include "buckets.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/siphash.h>

size_t eddyi_buckets_count(size_t keys)
{
	size_t count = EDDYI_BUCKETS_ROW;

	while (count < keys)
		count *= 2;
	return count;
}

void eddyi_buckets_init(struct eddyi_buckets *buckets, pthread_mutex_t *locks,
			struct eddyi_bucket *memory, size_t keys, const uint64_t secret[2])
{
	buckets->locks = locks;
	buckets->buckets = memory;
	buckets->row_mask = eddyi_buckets_count(keys) / EDDYI_BUCKETS_ROW - 1;
	memcpy(buckets->secret, secret, sizeof(buckets->secret));
	for (int i = 0; i < EDDYI_BUCKETS_LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
}

/* Find the key's bucket, or else take the fullest. */
static struct eddyi_bucket *find(struct eddyi_bucket *row, uint64_t hash)
{
	struct eddyi_bucket *fullest = row;

	for (struct eddyi_bucket *bucket = row; bucket < row + EDDYI_BUCKETS_ROW; bucket++) {
		if (bucket->hash == hash)
			return bucket;
		if (bucket->full_ns < fullest->full_ns)
			fullest = bucket;
	}
	*fullest = (struct eddyi_bucket){ .hash = hash };
	return fullest;
}

static uint64_t take(const struct eddyi_buckets *buckets, struct eddyi_bucket *bucket, uint64_t now)
{
	uint64_t full = bucket->full_ns > now ? bucket->full_ns : now;

	if (full + buckets->step_ns > now + buckets->depth_ns)
		return full + buckets->step_ns - now - buckets->depth_ns;
	bucket->full_ns = full + buckets->step_ns;
	return 0;
}

uint64_t eddyi_buckets_take(struct eddyi_buckets *buckets, unsigned kind, struct eddy_str key,
			    uint64_t now)
{
	const uint64_t secret[2] = { buckets->secret[0] ^ kind, buckets->secret[1] };
	uint64_t hash = eddyi_siphash(key, secret), row = hash & buckets->row_mask, wait;
	pthread_mutex_t *lock = &buckets->locks[row % EDDYI_BUCKETS_LOCKS];

	pthread_mutex_lock(lock);
	wait = take(buckets, find(&buckets->buckets[row * EDDYI_BUCKETS_ROW], hash), now);
	pthread_mutex_unlock(lock);
	return wait;
}
