/* Bucket b below 2 * STEPS holds the value b alone. From there on STEPS buckets share a power of two: a value v with
 * n bits is shifted right by p = n - 8, and lies in bucket p * STEPS + (v >> p), whose second part is from STEPS to
 * 2 * STEPS - 1.
 */
#include "histogram.h"

void histogram_record(struct histogram *histogram, uint64_t ns)
{
	unsigned power = ns < HISTOGRAM_STEPS ? 0 : 63 - 7 - (unsigned)__builtin_clzll(ns);
	uint64_t bucket = power * HISTOGRAM_STEPS + (ns >> power);

	histogram->counts[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
	histogram->count++;
	if (ns > histogram->max)
		histogram->max = ns;
}

void histogram_add(struct histogram *histogram, const struct histogram *other)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->counts[i] += other->counts[i];
	histogram->count += other->count;
	if (other->max > histogram->max)
		histogram->max = other->max;
}

uint64_t histogram_bucket_end(size_t bucket)
{
	size_t power;

	if (bucket < 2 * HISTOGRAM_STEPS)
		return bucket;
	power = bucket / HISTOGRAM_STEPS - 1;
	return ((bucket - power * HISTOGRAM_STEPS + 1) << power) - 1;
}

uint64_t histogram_quantile(const struct histogram *histogram, double part)
{
	double exact = (double)histogram->count * part;
	uint64_t wanted = (uint64_t)exact, seen = 0, end;
	size_t bucket = 0;

	if (!histogram->count)
		return 0;
	if ((double)wanted < exact || !wanted)
		wanted++;
	while (bucket < HISTOGRAM_BUCKETS - 1 && (seen += histogram->counts[bucket]) < wanted)
		bucket++;
	end = histogram_bucket_end(bucket);
	/* The last bucket holds whatever is longer. */
	return end < histogram->max && bucket < HISTOGRAM_BUCKETS - 1 ? end : histogram->max;
}
