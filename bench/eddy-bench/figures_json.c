#include "figures_json.h"
#include "format.h"

#include <math.h>

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static bool add(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) == 0;
}

static bool add_interval(json_t *object, const struct estimate *estimate)
{
	return add(object, "low", number(estimate->low)) &&
	       add(object, "high", number(estimate->high));
}

static bool add_against(json_t *object, const struct figure *figure, const struct cell *cell,
			const struct target *target)
{
	const struct target *other = cell->against ? cell_target(cell, cell->against) : NULL;
	struct estimate estimate;
	json_t *ratio;

	if (!other || other == target)
		return true;
	estimate = figure_against(figure, cell, target, other);
	if (!estimate.count)
		return true;
	ratio = json_object();
	/* It is the object's at once, so nothing is left over where this ends early. */
	return add(object, "against", ratio) && add(ratio, "target", json_string(other->name)) &&
	       add(ratio, figure->is_difference ? "difference" : "ratio",
		   number(estimate.median)) &&
	       add_interval(ratio, &estimate);
}

static bool add_figure(json_t *all, const struct figure *figure, const struct cell *cell,
		       const struct target *target)
{
	struct estimate estimate = figure_estimate(figure, cell, target);
	json_t *object;

	if (!estimate.count)
		return true;
	object = json_object();
	return add(all, figure->name, object) &&
	       add(object, "unit", json_string(unit_title(figure_unit(figure, cell)))) &&
	       add(object, "median", number(estimate.median)) && add_interval(object, &estimate) &&
	       add(object, "min", number(estimate.min)) &&
	       add(object, "max", number(estimate.max)) &&
	       add_against(object, figure, cell, target);
}

json_t *figures_json(const struct cell *cell, const struct target *target)
{
	json_t *all = json_object();

	for (const struct figure *figure = figures; figure->name; figure++) {
		if (!add_figure(all, figure, cell, target)) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

json_t *outcome_json(const struct cell *cell, const struct goal *goal)
{
	struct outcome outcome = goal_outcome(cell, goal);
	json_t *object = json_object();

	if (add(object, "value", number(outcome.estimate.median)) &&
	    add_interval(object, &outcome.estimate) &&
	    add(object, "verdict", json_string(verdict_title(outcome.verdict))))
		return object;
	json_decref(object);
	return NULL;
}
