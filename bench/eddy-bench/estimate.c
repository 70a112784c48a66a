#include "estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A value that a median may have, and how probable that is. */
struct weighted {
	double value, weight;
};

struct estimate estimate_unknown(void)
{
	return (struct estimate){ NAN, NAN, NAN, NAN, NAN, 0 };
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory) {
		fputs("eddy-bench: memory is out\n", stderr);
		exit(2);
	}
	return memory;
}

static int by_value(const void *a, const void *b)
{
	double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;

	return (x > y) - (x < y);
}

/* Probability of `least` successes or more in n trials. */
static double binomial_tail(size_t n, double p, size_t least)
{
	double sum = 0;

	if (p >= 1)
		return 1;
	for (size_t k = least; k <= n; k++)
		sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
			   (n - k) * log1p(-p));
	return fmin(sum, 1);
}

/* That the median of n values that are drawn is the `i`th or less; of an even number both in the middle are as good. */
static double median_within(size_t n, size_t i)
{
	double p = (double)i / (double)n;

	if (n % 2)
		return binomial_tail(n, p, n / 2 + 1);
	return (binomial_tail(n, p, n / 2) + binomial_tail(n, p, n / 2 + 1)) / 2;
}

/* The values that are none left out, in order, with their weights. Return: how many; *ret_sorted is to be freed. */
static size_t sort(const double *values, size_t count, struct weighted **ret_sorted)
{
	struct weighted *sorted = allocate(count, sizeof(*sorted));
	double within = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i]))
			sorted[n++].value = values[i];
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < n; i++) {
		double next = median_within(n, i + 1);

		sorted[i].weight = next - within;
		within = next;
	}
	*ret_sorted = sorted;
	return n;
}

static double median(const struct weighted *sorted, size_t n)
{
	return (sorted[(n - 1) / 2].value + sorted[n / 2].value) / 2;
}

/* The value with `tail` of all weight beyond it, from one end on: `step` is 1 from the least, -1 from the greatest. */
static double end_of(const struct weighted *at, size_t n, int step, double tail)
{
	double passed = 0;

	for (size_t i = 0; i < n; i++, at += step) {
		double part = (tail - passed) / at->weight;

		passed += at->weight;
		if (passed < tail)
			continue;
		return i ? at[-step].value + part * (at->value - at[-step].value) : at->value;
	}
	return at[-step].value;
}

struct estimate estimate_of(const double *values, size_t count)
{
	struct estimate estimate = estimate_unknown();
	struct weighted *sorted;
	size_t n = sort(values, count, &sorted);

	if (n) {
		estimate.median = median(sorted, n);
		estimate.min = sorted[0].value;
		estimate.max = sorted[n - 1].value;
		estimate.count = n;
	}
	if (n > 1) {
		estimate.low = end_of(sorted, n, 1, ESTIMATE_TAIL);
		estimate.high = end_of(sorted + n - 1, n, -1, ESTIMATE_TAIL);
	}
	free(sorted);
	return estimate;
}

struct estimate estimate_quotient(const double *over, size_t over_count, const double *under,
				  size_t under_count, double tail)
{
	struct estimate estimate = estimate_unknown();
	struct weighted *above, *below, *all;
	size_t n = sort(over, over_count, &above), m = sort(under, under_count, &below), k = 0;

	if (n && m && below[0].value > 0) {
		estimate.median = median(above, n) / median(below, m);
		estimate.count = n < m ? n : m;
	}
	if (estimate.count > 1) {
		all = allocate(n * m, sizeof(*all));
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < m; j++)
				all[k++] = (struct weighted){ above[i].value / below[j].value,
							      above[i].weight * below[j].weight };
		qsort(all, k, sizeof(*all), by_value);
		estimate.low = end_of(all, k, 1, tail);
		estimate.high = end_of(all + k - 1, k, -1, tail);
		free(all);
	}
	free(above);
	free(below);
	return estimate;
}

bool estimate_has(const struct estimate *estimate, double value)
{
	return estimate->low <= value && value <= estimate->high;
}
