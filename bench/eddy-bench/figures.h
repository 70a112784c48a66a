/* figures.h: what is derived from the samples of a result.
 *
 * "throughput", "cpu", "system_calls" and "switches" are for each GiB, or in GB/s, where bodies have 64 KiB or more, and
 * for each request, or in requests a second, where they are smaller.
 */
#ifndef EDDY_BENCH_FIGURES_H
#define EDDY_BENCH_FIGURES_H

#include "estimate.h"
#include "result.h"

#define FIGURES_BIG_SIZE (64 << 10)
#define FIGURES_CLIENT_BUSY 0.95 /* of a processor: the client was saturated */

enum unit {
	UNIT_BY_SIZE,       /* of a figure that has one only in a cell */
	UNIT_GB_PER_SECOND, /* 10^9 bytes */
	UNIT_REQUESTS_PER_SECOND,
	UNIT_SECONDS_PER_GIB,
	UNIT_MICROSECONDS,
	UNIT_PER_GIB,
	UNIT_PER_REQUEST,
	UNIT_BYTES,
	UNIT_COUNT,
	UNIT_SHARE, /* 1 is all */
};

struct figure {
	const char *name; /* in goals, and in the file */
	const char *title;
	enum unit unit;
	bool more_is_better;
	bool is_clients;    /* a saturated client spoils it */
	bool is_difference; /* held against another target it is what there is more, else the ratio */
	double (*of)(const struct cell *cell, const struct target *target,
		     const struct sample *sample);
};

/* All, in the order in which they are shown; the last has no name. */
extern const struct figure figures[];

/* Find by name. Return: NULL where there is none. */
const struct figure *figure_find(const char *name);

/* The unit that it has in a cell; never UNIT_BY_SIZE. */
enum unit figure_unit(const struct figure *figure, const struct cell *cell);

/* The figure itself, of all rounds. */
struct estimate figure_estimate(const struct figure *figure, const struct cell *cell,
				const struct target *target);

/* Held against another target of the cell, round by round: in each both were measured in turn, and what else the
 * machine did hit both. */
struct estimate figure_against(const struct figure *figure, const struct cell *cell,
			       const struct target *target, const struct target *against);

/* Whether the client was saturated: throughput and latency are then its own, and CPU time is not. */
bool figure_is_clients(const struct figure *figure, const struct cell *cell,
		       const struct target *target);

/* The values that these two are estimates of; `against` may be NULL. NAN where a round has none.
 * Return: how many, RESULT_SAMPLES_MAX at most. */
size_t figure_values(const struct figure *figure, const struct cell *cell,
		     const struct target *target, const struct target *against,
		     double values[RESULT_SAMPLES_MAX]);

#endif
