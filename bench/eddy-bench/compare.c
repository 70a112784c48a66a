#include "compare.h"
#include "must.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a change in which is worth an alarm. */
static const char *const compared[] = { "throughput", "cpu", "p50", "p99", "resident_each" };

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool is_same_machine(const struct machine *a, const struct machine *b)
{
	return is_same_text(a->cpu, b->cpu) && is_same_number(a->processors, b->processors) &&
	       is_same_text(a->kernel, b->kernel) && is_same_text(a->virtual, b->virtual);
}

/* One name may stand for something else in another run. */
static bool is_same_work(const struct cell *a, const struct cell *b)
{
	return is_same_text(a->work, b->work) && is_same_number(a->size, b->size) &&
	       is_same_number(a->connections, b->connections) &&
	       is_same_number(a->depth, b->depth) && is_same_number(a->rate, b->rate) &&
	       a->http2 == b->http2 && a->cold == b->cold;
}

static struct change *add_change(struct comparison *comparison)
{
	if (comparison->count == comparison->room) {
		comparison->room = comparison->room ? 2 * comparison->room : 64;
		comparison->changes = must(realloc(
			comparison->changes, comparison->room * sizeof(*comparison->changes)));
	}
	return &comparison->changes[comparison->count++];
}

static enum change_kind judge(const struct change *change, double tolerance)
{
	const struct estimate *quotient = &change->quotient;
	/* Turned so that more is worse. */
	double by = change->figure->more_is_better ? 1 / quotient->median : quotient->median;
	bool is_sure = quotient->low > 1 || quotient->high < 1;

	if (!is_sure || (by < 1 + tolerance && by > 1 / (1 + tolerance)))
		return CHANGE_NONE;
	return by > 1 ? CHANGE_WORSE : CHANGE_BETTER;
}

/* Memory of a connection is of interest where nothing else was asked for. */
static bool is_beside_the_point(const struct figure *figure, const struct cell *cell,
				const struct target *target)
{
	return strcmp(figure->name, "resident_each") == 0 &&
	       figure_estimate(figure_find("throughput"), cell, target).count;
}

/* The two cells, and the target in each. */
struct sides {
	const struct cell *old_cell, *new_cell;
	const struct target *old_target, *new_target;
};

static const struct target *peer_of(const struct cell *cell, const char *name,
				    const struct target *target)
{
	const struct target *peer = name ? cell_target(cell, name) : NULL;

	return peer == target ? NULL : peer;
}

static void compare_figure(struct comparison *comparison, const struct sides *sides,
			   const struct figure *figure, double tolerance)
{
	const char *against = sides->new_cell->against;
	const struct target *old_peer = peer_of(sides->old_cell, against, sides->old_target);
	const struct target *new_peer = peer_of(sides->new_cell, against, sides->new_target);
	bool has_peer =
		old_peer && new_peer &&
		figure_against(figure, sides->old_cell, sides->old_target, old_peer).count &&
		figure_against(figure, sides->new_cell, sides->new_target, new_peer).count;
	double before[RESULT_SAMPLES_MAX], after[RESULT_SAMPLES_MAX];
	size_t before_count = figure_values(figure, sides->old_cell, sides->old_target,
					    has_peer ? old_peer : NULL, before);
	size_t after_count = figure_values(figure, sides->new_cell, sides->new_target,
					   has_peer ? new_peer : NULL, after);
	struct change change = { .cell = sides->new_cell,
				 .target = sides->new_target,
				 .figure = figure,
				 .against = has_peer ? against : NULL };

	change.before = estimate_of(before, before_count).median;
	change.after = estimate_of(after, after_count).median;
	if (isnan(change.before) || isnan(change.after) ||
	    is_beside_the_point(figure, sides->new_cell, sides->new_target))
		return;
	change.quotient = estimate_quotient(after, after_count, before, before_count, COMPARE_TAIL);
	if (!is_same_work(sides->old_cell, sides->new_cell))
		change.why = "not the same work";
	else if (comparison->is_other_machine && !has_peer)
		change.why = "another machine";
	else if (isnan(change.quotient.median))
		change.why = "the old value is zero";
	else if (isnan(change.quotient.low))
		change.why = "one round only";
	else
		change.kind = judge(&change, tolerance);
	*add_change(comparison) = change;
}

/* The target that others are held against: where the ratios to it are as they were, all have changed alike, which is
 * the machine's doing; where one has changed the other way, it is this one's. */
static void judge_yardstick(const struct comparison *comparison, size_t first,
			    struct change *change)
{
	bool has_others = false;

	if (change->against || (change->kind != CHANGE_WORSE && change->kind != CHANGE_BETTER))
		return;
	for (size_t i = first; i < comparison->count; i++) {
		const struct change *other = &comparison->changes[i];

		if (other->figure != change->figure || !other->against ||
		    strcmp(other->against, change->target->name) != 0)
			continue;
		has_others = true;
		if (other->kind == (change->kind == CHANGE_WORSE ? CHANGE_BETTER : CHANGE_WORSE))
			return;
	}
	if (!has_others)
		return;
	change->kind = CHANGE_NOT_JUDGED;
	change->why = "the other targets changed as much, so it is the machine";
}

struct comparison *compare_results(const struct result *before, const struct result *after,
				   double tolerance)
{
	struct comparison *comparison = must(calloc(1, sizeof(*comparison)));

	comparison->is_other_machine = !is_same_machine(&before->machine, &after->machine);
	for (size_t i = 0; i < after->cell_count; i++) {
		struct sides sides = { .new_cell = after->cells[i] };
		size_t first = comparison->count;

		sides.old_cell = result_cell(before, sides.new_cell->name);
		for (size_t j = 0; sides.old_cell && j < sides.new_cell->target_count; j++) {
			sides.new_target = sides.new_cell->targets[j];
			sides.old_target = cell_target(sides.old_cell, sides.new_target->name);
			for (size_t k = 0;
			     sides.old_target && k < sizeof(compared) / sizeof(compared[0]); k++)
				compare_figure(comparison, &sides, figure_find(compared[k]),
					       tolerance);
		}
		for (size_t j = first; j < comparison->count; j++)
			judge_yardstick(comparison, first, &comparison->changes[j]);
	}
	return comparison;
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	free(comparison->changes);
	free(comparison);
}
