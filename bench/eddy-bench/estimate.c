#include "estimate.h"
#include "must.h"

#include <math.h>
#include <stdlib.h>

/* Seven rounds lie apart from seven others in one of 1716 cases by chance, six from six in one of 462. */
#define ROUNDS_SURE 7

/* A value that a median may have, and how probable that is. */
struct weighted {
	double value, weight;
};

struct estimate estimate_unknown(void)
{
	return (struct estimate){ NAN, NAN, NAN, NAN, NAN, 0 };
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
	struct weighted *sorted = must(calloc(count + 1, sizeof(*sorted)));
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

/* That a t of Student's with `freedom` lies beyond `t`, at one end (Abramowitz and Stegun, 26.7.3 and 26.7.4). */
static double student_tail(double t, size_t freedom)
{
	double angle = atan(t / sqrt((double)freedom)), cosine = cos(angle);
	double term = freedom % 2 ? cosine : 1, sum = 0;

	for (size_t k = freedom % 2 + 2; k <= freedom; k += 2) {
		sum += term;
		term *= cosine * cosine * (double)(k - 1) / (double)k;
	}
	sum *= sin(angle);
	return 0.5 - (freedom % 2 ? (angle + sum) / M_PI : sum / 2);
}

/* What has `tail` beyond it. */
static double student(double tail, size_t freedom)
{
	double low = 0, high = 1;

	while (student_tail(high, freedom) > tail)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		*(student_tail(middle, freedom) > tail ? &low : &high) = middle;
	}
	return high;
}

/* The variance of the mean, as a share of the median. */
static double doubt(const struct weighted *sorted, size_t n)
{
	double mean = 0, squares = 0, middle = median(sorted, n);

	for (size_t i = 0; i < n; i++)
		mean += sorted[i].value / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (sorted[i].value - mean) * (sorted[i].value - mean);
	return squares / (double)(n - 1) / (double)n / (middle * middle);
}

/* Few rounds lie apart from few others by chance: the interval is then as wide as it is by Student's t, or wider. */
static void widen(struct estimate *estimate, const struct weighted *above, size_t n,
		  const struct weighted *below, size_t m, double tail)
{
	double by = 1 + student(tail, n + m - 2) * sqrt(doubt(above, n) + doubt(below, m));

	/* Of nothing but zeros nothing is said. */
	if (!isfinite(by))
		return;
	estimate->low = fmin(estimate->low, estimate->median / by);
	estimate->high = fmax(estimate->high, estimate->median * by);
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
		all = must(calloc(n * m, sizeof(*all)));
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < m; j++)
				all[k++] = (struct weighted){ above[i].value / below[j].value,
							      above[i].weight * below[j].weight };
		qsort(all, k, sizeof(*all), by_value);
		estimate.low = end_of(all, k, 1, tail);
		estimate.high = end_of(all + k - 1, k, -1, tail);
		free(all);
		if (estimate.count < ROUNDS_SURE)
			widen(&estimate, above, n, below, m, tail);
	}
	free(above);
	free(below);
	return estimate;
}

bool estimate_has(const struct estimate *estimate, double value)
{
	return estimate->low <= value && value <= estimate->high;
}
