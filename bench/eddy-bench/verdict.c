#include "verdict.h"

#include <math.h>

static enum verdict judge(const struct estimate *estimate, bool is_good, double limit)
{
	/* Of one round nothing is known of noise. */
	if (isnan(estimate->low) ||
	    (estimate_has(estimate, limit) && estimate->low < estimate->high))
		return is_good ? VERDICT_MET_IN_NOISE : VERDICT_MISSED_IN_NOISE;
	return is_good ? VERDICT_MET : VERDICT_MISSED;
}

static void worst(enum verdict *verdict, enum verdict other)
{
	if (*verdict > other)
		*verdict = other;
}

/* Which way the aim lies is said by the limit. */
static bool reaches(const struct goal *goal, double value)
{
	return isnan(goal->at_least) ? value <= goal->aim : value >= goal->aim;
}

struct outcome goal_outcome(const struct cell *cell, const struct goal *goal)
{
	struct outcome outcome = { .estimate = estimate_unknown() };
	const struct target *target = cell_target(cell, goal->target), *against = NULL;
	double median;

	outcome.figure = figure_find(goal->figure);
	if (goal->against)
		against = cell_target(cell, goal->against);
	if (!outcome.figure)
		outcome.why = "there is no figure of this name";
	else if (!target)
		outcome.why = "the target was not measured";
	else if (goal->against && !against)
		outcome.why = "the other target was not measured";
	if (outcome.why)
		return outcome;
	outcome.estimate = figure_against(outcome.figure, cell, target, against);
	median = outcome.estimate.median;
	if (isnan(median)) {
		outcome.why = "the figure was not measured";
		return outcome;
	}
	outcome.verdict = VERDICT_MET;
	if (!isnan(goal->at_least))
		worst(&outcome.verdict,
		      judge(&outcome.estimate, median >= goal->at_least, goal->at_least));
	if (!isnan(goal->at_most))
		worst(&outcome.verdict,
		      judge(&outcome.estimate, median <= goal->at_most, goal->at_most));
	outcome.is_clients = figure_is_clients(outcome.figure, cell, target) ||
			     (against && figure_is_clients(outcome.figure, cell, against));
	outcome.has_aim = !isnan(goal->aim);
	outcome.reaches_aim = outcome.has_aim && reaches(goal, median);
	return outcome;
}

const char *verdict_title(enum verdict verdict)
{
	static const char *const titles[VERDICTS] = {
		[VERDICT_UNKNOWN] = "not measured",
		[VERDICT_MISSED] = "missed",
		[VERDICT_MISSED_IN_NOISE] = "missed, within noise",
		[VERDICT_MET_IN_NOISE] = "met, within noise",
		[VERDICT_MET] = "met",
	};

	return titles[verdict];
}
