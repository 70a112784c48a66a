#include "tables.h"
#include "format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tables_is_of(const struct cell *cell, const char *group)
{
	return group == cell->group || (group && cell->group && strcmp(group, cell->group) == 0);
}

bool tables_next_group(const struct result *result, size_t *at, const char **ret_group)
{
	while (*at < result->cell_count) {
		const char *group = result->cells[(*at)++]->group;
		size_t i = 0;

		while (!tables_is_of(result->cells[i], group))
			i++;
		if (i + 1 == *at) {
			*ret_group = group;
			return true;
		}
	}
	return false;
}

/* --- goals */

static const char *const verdict_marks[VERDICTS] = {
	[VERDICT_UNKNOWN] = "unknown",
	[VERDICT_MISSED] = "missed",
	[VERDICT_MISSED_IN_NOISE] = "nearly",
	[VERDICT_MET_IN_NOISE] = "barely",
	[VERDICT_MET] = "met",
};

static void add_goal(struct table *table, const struct cell *cell, const struct goal *goal)
{
	struct outcome outcome = goal_outcome(cell, goal);
	char line[FORMAT_LINE_SIZE], value[FORMAT_SIZE];
	const struct figure *figure = outcome.figure;

	table_add(table, format_cut(line, cell->title, 80));
	table_add(table, format_cut(line, goal->target, 40));
	table_add(table, format_goal(line, cell, goal));
	if (figure && goal->against)
		format_against(value, figure, cell, outcome.estimate.median);
	else
		format_value(value, figure ? figure_unit(figure, cell) : UNIT_COUNT,
			     outcome.estimate.median);
	table_add(table, value);
	if (figure)
		format_interval(line, figure, cell, goal->against, &outcome.estimate);
	table_add(table, figure ? line : "–");
	if (outcome.why)
		table_addf(table, "%s: %s", verdict_title(outcome.verdict), outcome.why);
	else
		table_addf(table, "%s%s%s", verdict_title(outcome.verdict),
			   !outcome.has_aim    ? "" :
			   outcome.reaches_aim ? ", and the aim" :
						 ", not the aim",
			   outcome.is_clients ? "; the client was saturated" : "");
	table_mark(table, verdict_marks[outcome.verdict]);
}

struct table *tables_goals(const struct result *result)
{
	size_t counts[VERDICTS];
	struct table *table;

	if (!tables_count(result, counts))
		return NULL;
	table = table_new();
	table_add_column(table, "what", TABLE_LEFT);
	table_add_column(table, "target", TABLE_LEFT);
	table_add_column(table, "goal", TABLE_LEFT);
	table_add_column(table, "value", TABLE_RIGHT);
	table_add_column(table, "95 % interval", TABLE_RIGHT);
	table_add_column(table, "verdict", TABLE_LEFT);
	for (size_t i = 0; i < result->cell_count; i++)
		for (size_t j = 0; j < result->cells[i]->goal_count; j++)
			add_goal(table, result->cells[i], result->cells[i]->goals[j]);
	return table;
}

size_t tables_count(const struct result *result, size_t counts[VERDICTS])
{
	size_t all = 0;

	memset(counts, 0, VERDICTS * sizeof(counts[0]));
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct cell *cell = result->cells[i];

		for (size_t j = 0; j < cell->goal_count; j++)
			counts[goal_outcome(cell, cell->goals[j]).verdict]++;
		all += cell->goal_count;
	}
	return all;
}

/* --- figures */

static double median_of(const char *name, const struct cell *cell, const struct target *target)
{
	return figure_estimate(figure_find(name), cell, target).median;
}

static void add_value(struct table *table, const char *name, const struct cell *cell,
		      const struct target *target)
{
	const struct figure *figure = figure_find(name);
	char value[FORMAT_SIZE];

	table_add(table,
		  format_value(value, figure_unit(figure, cell), median_of(name, cell, target)));
}

/* Of cells that are about memory: of others, it is what a few connections grew by, and noise. */
static void add_memory(struct table *table, const char *name, const struct cell *cell,
		       const struct target *target)
{
	if (isnan(median_of("throughput", cell, target)))
		add_value(table, name, cell, target);
	else
		table_add(table, "–");
}

/* "1.05 (1.01–1.19)", for what is not the other itself. */
static void add_against(struct table *table, const char *name, const struct cell *cell,
			const struct target *target)
{
	const struct target *other = cell->against ? cell_target(cell, cell->against) : NULL;
	const struct figure *figure = figure_find(name);
	char value[FORMAT_SIZE], interval[FORMAT_LINE_SIZE];
	struct estimate estimate;

	if (!other || other == target) {
		table_add(table, "");
		return;
	}
	estimate = figure_against(figure, cell, target, other);
	format_ratio(value, estimate.median);
	if (isnan(estimate.low))
		table_add(table, value);
	else
		table_addf(table, "%s (%s)", value,
			   format_interval(interval, figure, cell, true, &estimate));
}

static void add_range(struct table *table, const char *name, const struct cell *cell,
		      const struct target *target)
{
	const struct figure *figure = figure_find(name);
	struct estimate estimate = figure_estimate(figure, cell, target);
	enum unit unit = figure_unit(figure, cell);
	char low[FORMAT_SIZE], high[FORMAT_SIZE];

	if (estimate.count < 2)
		table_add(table, "–");
	else
		table_addf(table, "%s–%s", format_value(low, unit, estimate.min),
			   format_value(high, unit, estimate.max));
}

/* A figure that every report has, or only the whole table. */
struct column {
	const char *title, *figure;
	void (*add)(struct table *table, const char *name, const struct cell *cell,
		    const struct target *target);
	bool only_all;
};

/* clang-format off */
static const struct column columns[] = {
	{ "throughput", "throughput", add_value, false },
	{ "min–max", "throughput", add_range, true },
	{ "×", "throughput", add_against, false },
	{ "CPU time", "cpu", add_value, false },
	{ "min–max", "cpu", add_range, true },
	{ "×", "cpu", add_against, false },
	{ "first byte p50", "first_byte_p50", add_value, true },
	{ "first byte p90", "first_byte_p90", add_value, true },
	{ "first byte p99", "first_byte_p99", add_value, true },
	{ "first byte p99.9", "first_byte_p999", add_value, true },
	{ "p50", "p50", add_value, false },
	{ "p90", "p90", add_value, true },
	{ "p99", "p99", add_value, false },
	{ "p99.9", "p999", add_value, true },
	{ "slowest", "max", add_value, true },
	{ "system calls", "system_calls", add_value, true },
	{ "context switches", "switches", add_value, true },
	{ "memory each", "resident_each", add_memory, false },
	{ "memory", "resident", add_value, true },
	{ "threads", "threads", add_value, true },
	{ "sent again", "retransmits", add_value, true },
	{ "errors", "errors", add_value, true },
	{ "client's processor", "client_busy", add_value, true },
};
/* clang-format on */

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* One name for all cells of the group, else it is said that they differ. */
static const char *common_other(const struct result *result, const char *group)
{
	const char *name = NULL;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct cell *cell = result->cells[i];

		if (!tables_is_of(cell, group) || !cell->against ||
		    !cell_target(cell, cell->against))
			continue;
		if (name && strcmp(name, cell->against) != 0)
			return "the other";
		name = cell->against;
	}
	return name ? name : "";
}

struct table *tables_figures(const struct result *result, const char *group, bool all)
{
	struct table *table = table_new();
	char title[FORMAT_LINE_SIZE + 8], name[FORMAT_LINE_SIZE];
	bool is_against;

	table_add_column(table, "what", TABLE_LEFT);
	table_add_column(table, "target", TABLE_LEFT);
	format_cut(name, common_other(result, group), 40);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (columns[i].only_all && !all)
			continue;
		is_against = columns[i].add == add_against;
		snprintf(title, sizeof(title), "%s%s", is_against ? "× " : "",
			 is_against ? name : columns[i].title);
		table_add_column(table, title, TABLE_RIGHT);
	}
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct cell *cell = result->cells[i];

		if (!tables_is_of(cell, group))
			continue;
		for (size_t j = 0; j < cell->target_count; j++) {
			table_add(table, format_cut(title, cell->title, 80));
			table_add(table, format_cut(title, cell->targets[j]->name, 40));
			for (size_t k = 0; k < COLUMNS; k++)
				if (all || !columns[k].only_all)
					columns[k].add(table, columns[k].figure, cell,
						       cell->targets[j]);
		}
	}
	return table;
}
