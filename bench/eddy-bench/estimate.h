/* estimate.h: what some rounds say of a figure: their median, and how sure that is.
 *
 * The interval is of the bootstrap of the median, percentiles 2.5 and 97.5. Nothing is drawn for it: how probable each
 * value is as the median of rounds that are drawn anew is known exactly (Maritz and Jarrett, 1978), so the same rounds
 * have the same interval on any day. Between two values it is interpolated, to the outside of what drawing would give:
 * up to six rounds it goes from the least to the greatest.
 */
#ifndef EDDY_BENCH_ESTIMATE_H
#define EDDY_BENCH_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

/* What a 95 % interval leaves out at either end. */
#define ESTIMATE_TAIL 0.025

/* All NAN where nothing was measured. */
struct estimate {
	double median;
	double low, high; /* 95 % interval; NAN of a single round */
	double min, max;
	size_t count; /* rounds that it is made of */
};

/* One where nothing is known. */
struct estimate estimate_unknown(void);

/* Of values in any order; those that are NAN do not count. */
struct estimate estimate_of(const double *values, size_t count);

/* Of the quotient of two medians whose rounds are no pairs: `over` and `under` were measured at different times. Its
 * interval leaves `tail` out at either end; of fewer than seven rounds, which lie apart by chance too often, it is as
 * wide as Student's t has it, or wider. `min` and `max` stay NAN, `count` is the smaller of the two. */
struct estimate estimate_quotient(const double *over, size_t over_count, const double *under,
				  size_t under_count, double tail);

/* Whether `value` is within the interval. false where there is none. */
bool estimate_has(const struct estimate *estimate, double value);

#endif
