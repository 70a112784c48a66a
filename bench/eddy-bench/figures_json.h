/* figures_json.h: figures beside the samples in a result's file, for those who read it without eddy-bench. */
#ifndef EDDY_BENCH_FIGURES_JSON_H
#define EDDY_BENCH_FIGURES_JSON_H

#include "result.h"

#include <jansson.h>

/* What is known of a target: an object with a member for each figure: median, low and high of the interval, min, max,
 * unit; "against" holds it against the cell's other. Return: a new reference; NULL where memory is out. */
json_t *figures_json(const struct cell *cell, const struct target *target);

/* What became of a goal: value, low, high, verdict. */
json_t *outcome_json(const struct cell *cell, const struct goal *goal);

#endif
