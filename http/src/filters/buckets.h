/* buckets.h: token buckets by key, in a table of fixed size for all loops. */
#ifndef EDDYI_BUCKETS_H
#define EDDYI_BUCKETS_H

#include <eddy/str.h>
#include <pthread.h>

/* A bucket is one number (generic cell rate algorithm): the time at which it will be full again.
 * Each request advances it by `step_ns`, and it may be at most `depth_ns` in the future.
 *
 * Invariants:
 * 1. The hash of a key selects a row of 8 buckets. A bucket whose time has passed is full, so
 *    another key may take it.
 * 2. If all 8 are in use, the fullest is taken, from which the key gains least.
 * 3. Keys are hashed with a secret, so that no one can choose keys of one row. */
#define EDDYI_BUCKETS_ROW 8

struct eddyi_bucket {
	uint64_t hash;
	uint64_t full_ns;
};

struct eddyi_buckets {
	/* One for many rows, held only while a row is examined. */
	pthread_mutex_t *locks;
	struct eddyi_bucket *buckets;
	uint64_t row_mask;
	uint64_t secret[2];
	uint64_t step_ns;
	uint64_t depth_ns;
};

#define EDDYI_BUCKETS_LOCKS 64

/* Initialize buckets for at least `keys` keys in the caller's zeroed memory: EDDYI_BUCKETS_LOCKS
 * and eddyi_buckets_count(). */
void eddyi_buckets_init(struct eddyi_buckets *buckets, pthread_mutex_t *locks,
			struct eddyi_bucket *memory, size_t keys, const uint64_t secret[2]);

/* Get the number of buckets for at least `keys` keys, a power of two. */
size_t eddyi_buckets_count(size_t keys);

/* Take one request from the bucket of a key; keys of different kinds are independent. Any thread
 * may call it. Return: 0; nanoseconds until the bucket has a request. */
uint64_t eddyi_buckets_take(struct eddyi_buckets *buckets, unsigned kind, struct eddy_str key,
			    uint64_t now);

#endif
