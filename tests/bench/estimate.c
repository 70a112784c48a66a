/* Tests of bench/eddy-bench/estimate.h. */
#include "estimate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define OF(...)                                                                                    \
	estimate_of((const double[]){ __VA_ARGS__ },                                               \
		    sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static void expect_near(double is, double expected)
{
	cr_expect(fabs(is - expected) < 1e-6, "%.9f, not %.9f", is, expected);
}

Test(estimate, has_a_median_and_a_range)
{
	struct estimate odd = OF(3, 1, 2), even = OF(4, 1, 3, 2);

	cr_expect_eq(odd.median, 2);
	cr_expect_eq(odd.min, 1);
	cr_expect_eq(odd.max, 3);
	cr_expect_eq(odd.count, 3);
	cr_expect_eq(even.median, 2.5);
	cr_expect_eq(even.count, 4);
}

Test(estimate, leaves_out_what_is_not_known)
{
	struct estimate some = OF(NAN, 5, INFINITY, 7, NAN), none = OF(NAN, NAN), one = OF(NAN, 5);

	cr_expect_eq(some.median, 6);
	cr_expect_eq(some.count, 2);
	cr_expect_eq(some.low, 5);
	cr_expect_eq(some.high, 7);
	cr_expect(isnan(none.median) && isnan(none.low) && isnan(none.high) && isnan(none.min) &&
		  isnan(none.max) && none.count == 0);
	cr_expect_eq(one.median, 5);
	cr_expect_eq(one.min, 5);
	cr_expect(isnan(one.low) && isnan(one.high));
	cr_expect_eq(estimate_of(NULL, 0).count, 0);
}

Test(estimate, has_an_interval_that_is_known_exactly)
{
	struct estimate five = OF(1, 2, 3, 4, 100), seven = OF(7, 1, 6, 2, 5, 3, 4);
	struct estimate same = OF(2, 2, 2, 2, 2, 2, 2);
	/* That the median of seven is the least, or one of the two least: at least four of seven draws are. */
	double first = 0.01015005, second = 0.10827364;

	/* The median of five that are drawn is the least of them in 58 of 1000 cases: the range. */
	cr_expect_eq(five.low, 1);
	cr_expect_eq(five.high, 100);
	cr_expect(fabs(seven.low - (1 + (0.025 - first) / (second - first))) < 1e-4, "%f",
		  seven.low);
	expect_near(seven.high, 8 - seven.low);
	cr_expect_eq(same.low, 2);
	cr_expect_eq(same.high, 2);
}

/* Drawn anew and anew, medians lie within it in 95 of 100 cases, or some more. */
Test(estimate, has_the_interval_that_drawing_gives)
{
	double values[31], drawn[31];
	unsigned short state[3] = { 1, 2, 3 };
	struct estimate estimate;
	size_t within = 0, draws = 4000;

	for (size_t i = 0; i < 31; i++)
		values[i] = exp(3 * erand48(state));
	estimate = estimate_of(values, 31);
	for (size_t draw = 0; draw < draws; draw++) {
		for (size_t i = 0; i < 31; i++)
			drawn[i] = values[(size_t)(31 * erand48(state))];
		within += estimate_has(&estimate, estimate_of(drawn, 31).median);
	}
	cr_expect_geq(within, draws * 94 / 100, "%zu", within);
	cr_expect_leq(within, draws * 98 / 100, "%zu", within);
	cr_expect_lt(estimate.high, estimate.max);
	cr_expect_gt(estimate.low, estimate.min);
}

Test(estimate, divides_what_are_no_pairs)
{
	static const double over[] = { 20, 22, 21 }, under[] = { 10, 10, 10, 10 }, one[] = { 7 },
			    zero[] = { 0, 0 }, seven[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct estimate estimate = estimate_quotient(over, 3, under, 4, ESTIMATE_TAIL), narrow,
			wide;

	cr_expect_eq(estimate.median, 2.1);
	/* Student's t of five degrees of freedom has 0.025 beyond 2.570582. */
	expect_near(estimate.low, 2.1 / (1 + 2.5705818 / 21 / sqrt(3)));
	expect_near(estimate.high, 2.1 * (1 + 2.5705818 / 21 / sqrt(3)));
	cr_expect_eq(estimate.count, 3);
	/* Both move: what it has of each end adds up. */
	estimate = estimate_quotient(over, 3, over, 3, ESTIMATE_TAIL);
	cr_expect_eq(estimate.median, 1);
	cr_expect_lt(estimate.low, 1);
	expect_near(estimate.low, 1 / (1 + 2.7764451 * sqrt(2.0 / 3) / 21));
	cr_expect_gt(estimate.high, 1);
	/* The surer, the wider. */
	narrow = estimate_quotient(seven, 7, seven, 7, ESTIMATE_TAIL);
	wide = estimate_quotient(seven, 7, seven, 7, 0.0005);
	cr_expect_lt(wide.low, narrow.low);
	cr_expect_gt(wide.high, narrow.high);
	estimate = estimate_quotient(over, 3, one, 1, ESTIMATE_TAIL);
	cr_expect_eq(estimate.median, 3);
	cr_expect(isnan(estimate.low));
	cr_expect(isnan(estimate_quotient(over, 3, zero, 2, ESTIMATE_TAIL).median));
	cr_expect(isnan(estimate_quotient(over, 0, under, 4, ESTIMATE_TAIL).median));
}

/* Three lie apart from three others in one of ten cases, whatever is measured. */
Test(estimate, does_not_take_few_rounds_for_a_difference)
{
	unsigned short state[3] = { 3, 2, 1 };
	size_t apart[8] = { 0 }, draws = 4000;

	for (size_t rounds = 2; rounds < 8; rounds++)
		for (size_t draw = 0; draw < draws; draw++) {
			double a[7], b[7];
			struct estimate estimate;

			for (size_t i = 0; i < rounds; i++) {
				a[i] = 10 + erand48(state) + erand48(state) + erand48(state);
				b[i] = 10 + erand48(state) + erand48(state) + erand48(state);
			}
			estimate = estimate_quotient(a, rounds, b, rounds, 0.0005);
			apart[rounds] += !estimate_has(&estimate, 1);
		}
	for (size_t rounds = 2; rounds < 8; rounds++)
		cr_expect_leq(apart[rounds], draws / 250, "%zu rounds: %zu", rounds, apart[rounds]);
}

Test(estimate, knows_few_rounds_that_are_far_apart)
{
	static const double slow[] = { 20, 20.1, 20.2 }, quick[] = { 10, 10.1, 10.2 },
			    same[] = { 5, 5, 5 };
	struct estimate estimate = estimate_quotient(slow, 3, quick, 3, 0.0005);

	cr_expect_gt(estimate.low, 1.5);
	cr_expect_lt(estimate.high, 2.5);
	/* What is the same each time is known. */
	estimate = estimate_quotient(quick, 3, same, 3, 0.0005);
	cr_expect_gt(estimate.low, 1.8);
	estimate = estimate_quotient(same, 3, same, 3, 0.0005);
	cr_expect(estimate.low == 1 && estimate.high == 1);
}

Test(estimate, knows_what_is_within)
{
	struct estimate estimate = OF(1, 2, 3), one = OF(1);

	cr_expect(estimate_has(&estimate, 1));
	cr_expect(estimate_has(&estimate, 3));
	cr_expect_not(estimate_has(&estimate, 3.1));
	cr_expect_not(estimate_has(&one, 1));
}
