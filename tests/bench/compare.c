/* Tests of bench/eddy-bench/compare.h. */
#include "compare.h"

#include <criterion/criterion.h>
#include <math.h>

#define ROUNDS 7

/* eddy and its peer, each a little less steady than nothing. */
static struct result *result_of(double requests, double cpu)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");

	cell->against = "nginx";
	for (int i = 0; i < 2; i++) {
		struct target *target = cell_add_target(result, cell, i ? "nginx" : "eddy");

		for (int round = 0; round < ROUNDS; round++) {
			struct sample *sample = target_add_sample(result, target);

			sample->seconds = 1;
			sample->requests = (i ? 1000 : requests) + round;
			sample->cpu_seconds = i ? 1 : cpu;
			sample->resident_bytes = sample->resident_bytes_before = 1000;
		}
	}
	return result;
}

static const struct change *change_of(const struct comparison *comparison, const char *target,
				      const char *figure)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (strcmp(comparison->changes[i].target->name, target) == 0 &&
		    strcmp(comparison->changes[i].figure->name, figure) == 0)
			return &comparison->changes[i];
	return NULL;
}

static enum change_kind kind_of(double requests, double cpu, const char *figure)
{
	struct result *before = result_of(1000, 1), *after = result_of(requests, cpu);
	struct comparison *comparison = compare_results(before, after, COMPARE_TOLERANCE);
	const struct change *change = change_of(comparison, "eddy", figure);
	enum change_kind kind = change ? change->kind : CHANGE_KINDS;

	comparison_free(comparison);
	result_free(before);
	result_free(after);
	return kind;
}

Test(compare, knows_which_way_is_worse)
{
	cr_expect_eq(kind_of(1000, 1, "throughput"), CHANGE_NONE);
	cr_expect_eq(kind_of(900, 1, "throughput"), CHANGE_WORSE);
	cr_expect_eq(kind_of(1100, 1, "throughput"), CHANGE_BETTER);
	cr_expect_eq(kind_of(1000, 1.1, "cpu"), CHANGE_WORSE);
	cr_expect_eq(kind_of(1000, 0.9, "cpu"), CHANGE_BETTER);
}

Test(compare, takes_little_for_nothing)
{
	/* All rounds are apart, and it is sure: but it is less than three percent. */
	cr_expect_eq(kind_of(1000, 1.02, "cpu"), CHANGE_NONE);
	cr_expect_eq(kind_of(1000, 0.98, "cpu"), CHANGE_NONE);
	cr_expect_eq(kind_of(1000, 1.05, "cpu"), CHANGE_WORSE);
}

Test(compare, takes_the_ratio_where_there_is_a_peer)
{
	struct result *before = result_of(1000, 1), *after = result_of(1000, 1);
	struct comparison *comparison;
	const struct change *change;

	for (int i = 0; i < ROUNDS; i++)
		for (int j = 0; j < 2; j++)
			after->cells[0]->targets[j]->samples[i]->cpu_seconds *= 2;
	comparison = compare_results(before, after, COMPARE_TOLERANCE);
	/* The machine is slower by half: eddy is as quick as it was. */
	change = change_of(comparison, "eddy", "cpu");
	cr_expect_str_eq(change->against, "nginx");
	cr_expect_eq(change->kind, CHANGE_NONE);
	cr_expect_eq(change->before, 1);
	change = change_of(comparison, "nginx", "cpu");
	cr_expect_eq(change->against, NULL);
	cr_expect_eq(change->kind, CHANGE_NOT_JUDGED);
	cr_expect_str_eq(change->why, "the other targets changed as much, so it is the machine");
	cr_expect_not(comparison->is_other_machine);
	comparison_free(comparison);

	after->machine.kernel = "6.18";
	comparison = compare_results(before, after, COMPARE_TOLERANCE);
	cr_expect(comparison->is_other_machine);
	cr_expect_eq(change_of(comparison, "eddy", "cpu")->kind, CHANGE_NONE);
	change = change_of(comparison, "nginx", "cpu");
	cr_expect_eq(change->kind, CHANGE_NOT_JUDGED);
	cr_expect_str_eq(change->why, "another machine");
	comparison_free(comparison);
	result_free(before);
	result_free(after);
}

/* The one that others are held against may be the one that matters. */
Test(compare, knows_a_yardstick_that_has_changed)
{
	struct result *before = result_of(1000, 1), *after = result_of(1000, 1);
	struct comparison *comparison;

	for (int i = 0; i < ROUNDS; i++)
		after->cells[0]->targets[1]->samples[i]->cpu_seconds *= 2;
	comparison = compare_results(before, after, COMPARE_TOLERANCE);
	cr_expect_eq(change_of(comparison, "nginx", "cpu")->kind, CHANGE_WORSE);
	cr_expect_eq(change_of(comparison, "eddy", "cpu")->kind, CHANGE_BETTER);
	comparison_free(comparison);
	comparison = compare_results(after, before, COMPARE_TOLERANCE);
	cr_expect_eq(change_of(comparison, "nginx", "cpu")->kind, CHANGE_BETTER);
	cr_expect_eq(change_of(comparison, "eddy", "cpu")->kind, CHANGE_WORSE);
	comparison_free(comparison);
	result_free(before);
	result_free(after);
}

Test(compare, leaves_memory_to_those_at_rest)
{
	cr_expect_eq(kind_of(1000, 1, "resident_each"), CHANGE_KINDS);
	cr_expect_eq(kind_of(1000, 1, "p99"), CHANGE_KINDS);
}

Test(compare, is_freed_when_there_is_none)
{
	comparison_free(NULL);
}
