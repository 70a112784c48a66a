/* buckets.h: token buckets by key, in a table of fixed size that all loops share. */
#ifndef EDDYI_BUCKETS_H
#define EDDYI_BUCKETS_H

#include <eddy/str.h>
#include <pthread.h>

/* A bucket is one number (the generic cell rate algorithm): the time at which it will be full again.
 * Each request moves that on by `step_ns`, and it may be at most `depth_ns` ahead of now.
 *
 * Invariants:
 * 1. A key lives in the one row of 8 buckets that its hash picks; a bucket whose time is not after now is
 *    full, which is as good as none, and may be taken by any key.
 * 2. Where all 8 are in use the fullest is taken: what its key gains by that is the least that there is.
 * 3. Keys are hashed with a secret: nobody can pick keys that share a row.
 */
#define EDDYI_BUCKETS_ROW 8

struct eddyi_bucket {
	uint64_t hash;
	uint64_t full_ns;
};

struct eddyi_buckets {
	pthread_mutex_t
		*locks; /* one for many rows; held for no longer than it takes to look at one */
	struct eddyi_bucket *buckets;
	uint64_t row_mask;
	uint64_t secret[2];
	uint64_t step_ns;
	uint64_t depth_ns;
};

#define EDDYI_BUCKETS_LOCKS 64

/* Prepare buckets for at least `keys` keys, in memory that the caller has zeroed and keeps: `locks` of
 * EDDYI_BUCKETS_LOCKS, and as many buckets as eddyi_buckets_count() says. */
void eddyi_buckets_init(struct eddyi_buckets *buckets, pthread_mutex_t *locks,
			struct eddyi_bucket *memory, size_t keys, const uint64_t secret[2]);

/* The buckets for at least `keys` keys: a power of two. */
size_t eddyi_buckets_count(size_t keys);

/* Take one request out of the bucket of a key; those of one kind have nothing to do with those of another.
 * Any thread.
 * Return: 0, or the time in nanoseconds after which there will be one. */
uint64_t eddyi_buckets_take(struct eddyi_buckets *buckets, unsigned kind, struct eddy_str key,
			    uint64_t now);

#endif
