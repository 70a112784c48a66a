#include "histogram.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct histogram *new_histogram(void)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));

	cr_assert(histogram);
	return histogram;
}

Test(histogram, is_less_than_a_hundredth_off)
{
	for (uint64_t ns = 1; ns < UINT64_C(1000) * 1000 * 1000 * 1000; ns = ns * 21 / 20 + 1) {
		struct histogram *histogram = new_histogram();
		uint64_t found;

		histogram_record(histogram, ns);
		/* Not cut by the longest. */
		histogram_record(histogram, UINT64_C(1) << 40);
		found = histogram_quantile(histogram, 0.5);
		if (found < ns || (double)(found - ns) > (double)ns / 100)
			cr_assert(false, "%llu became %llu", (unsigned long long)ns,
				  (unsigned long long)found);
		free(histogram);
	}
}

Test(histogram, quantiles_of_a_hundred)
{
	struct histogram *histogram = new_histogram();

	for (uint64_t ns = 1; ns <= 100; ns++)
		histogram_record(histogram, ns);
	cr_expect_eq(histogram_quantile(histogram, 0), 1);
	cr_expect_eq(histogram_quantile(histogram, 0.5), 50);
	cr_expect_eq(histogram_quantile(histogram, 0.901), 91);
	cr_expect_eq(histogram_quantile(histogram, 0.99), 99);
	cr_expect_eq(histogram_quantile(histogram, 0.999), 100);
	cr_expect_eq(histogram_quantile(histogram, 1), 100);
	free(histogram);
}

Test(histogram, an_empty_one_has_none)
{
	struct histogram *histogram = new_histogram();

	cr_expect_eq(histogram_quantile(histogram, 0.5), 0);
	free(histogram);
}

Test(histogram, the_longest_is_exact)
{
	struct histogram *histogram = new_histogram();

	histogram_record(histogram, 5);
	histogram_record(histogram, 1234567891);
	cr_expect_eq(histogram->max, 1234567891);
	cr_expect_eq(histogram_quantile(histogram, 1), 1234567891);
	free(histogram);
}

Test(histogram, beyond_its_end_nothing_is_lost)
{
	struct histogram *histogram = new_histogram();

	histogram_record(histogram, UINT64_MAX);
	cr_expect_eq(histogram->count, 1);
	cr_expect_eq(histogram->counts[HISTOGRAM_BUCKETS - 1], 1);
	cr_expect_eq(histogram_quantile(histogram, 0.5), UINT64_MAX);
	free(histogram);
}

Test(histogram, buckets_follow_each_other)
{
	for (size_t i = 1; i < HISTOGRAM_BUCKETS; i++) {
		struct histogram *histogram;

		if (histogram_bucket_end(i) <= histogram_bucket_end(i - 1))
			cr_assert(false, "bucket %zu", i);
		if (i % 97)
			continue;
		/* What is one more than the end of the last belongs to this one. */
		histogram = new_histogram();
		histogram_record(histogram, histogram_bucket_end(i - 1) + 1);
		histogram_record(histogram, histogram_bucket_end(i));
		cr_assert_eq(histogram->counts[i], 2, "bucket %zu", i);
		free(histogram);
	}
}

Test(histogram, two_become_one)
{
	struct histogram *a = new_histogram(), *b = new_histogram();

	histogram_record(a, 10);
	histogram_record(b, 20);
	histogram_record(b, 30);
	histogram_add(a, b);
	cr_expect_eq(a->count, 3);
	cr_expect_eq(a->max, 30);
	cr_expect_eq(histogram_quantile(a, 0.5), 20);
	free(a);
	free(b);
}
