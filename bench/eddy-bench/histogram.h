/* histogram.h: how long requests took, counted in buckets that are less than 1 % wide.
 *
 *     histogram_record(&histogram, ns);
 *     p99 = histogram_quantile(&histogram, 0.99);
 *
 * High dynamic range: each power of two has 128 buckets, from one nanosecond to half an hour. To record costs some
 * instructions and touches no more than one line of the cache.
 */
#ifndef EDDY_BENCH_HISTOGRAM_H
#define EDDY_BENCH_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_STEPS 128 /* of a power of two */
#define HISTOGRAM_POWERS 35
#define HISTOGRAM_BUCKETS ((HISTOGRAM_POWERS + 1) * HISTOGRAM_STEPS)

/* All zero is an empty one. */
struct histogram {
	uint64_t count;
	uint64_t max; /* exactly */
	uint64_t counts[HISTOGRAM_BUCKETS];
};

/* Count one more. What is beyond the last bucket counts there. */
void histogram_record(struct histogram *histogram, uint64_t ns);

/* Count all that `other` has counted. */
void histogram_add(struct histogram *histogram, const struct histogram *other);

/* The time that `part` (0 to 1) of all took at most: the end of a bucket, but never more than the longest.
 * Return: 0 of an empty one. */
uint64_t histogram_quantile(const struct histogram *histogram, double part);

/* The longest time, in nanoseconds, that is counted in a bucket. */
uint64_t histogram_bucket_end(size_t bucket);

#endif
