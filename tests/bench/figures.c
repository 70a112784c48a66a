/* Tests of bench/eddy-bench/figures.h. */
#include "figures.h"
#include "figures_json.h"

#include <criterion/criterion.h>
#include <math.h>

static void expect_near(double is, double expected)
{
	cr_expect(fabs(is - expected) <= 1e-9 * fabs(expected), "%.9f, not %.9f", is, expected);
}

static double median_of(const char *name, const struct cell *cell, const struct target *target)
{
	return figure_estimate(figure_find(name), cell, target).median;
}

static enum unit unit_of(const char *name, const struct cell *cell)
{
	return figure_unit(figure_find(name), cell);
}

/* Half a second, 1000 requests, 2 GiB. */
static struct sample *add_sample(struct result *result, struct target *target)
{
	struct sample *sample = target_add_sample(result, target);

	sample->seconds = 0.5;
	sample->requests = 1000;
	sample->bytes = 2147483648;
	sample->cpu_seconds = 0.25;
	sample->client_cpu_seconds = 0.4;
	sample->voluntary_switches = 30;
	sample->involuntary_switches = 10;
	sample->system_calls = 4000;
	sample->resident_bytes = 9000;
	sample->resident_bytes_before = 1000;
	sample->threads = 3;
	sample->first_byte_us.p99 = 20;
	sample->total_us.p50 = 50;
	sample->total_us.max = 99;
	return sample;
}

/* Its server was gone before anything was answered. */
Test(figures, leave_out_a_sample_of_a_lost_server)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");
	struct target *target = cell_add_target(result, cell, "eddy");
	struct sample *lost;

	add_sample(result, target);
	lost = add_sample(result, target);
	lost->requests = lost->bytes = 0;
	lost->errors = 120;
	cell->connections = 4;
	cell->size = 2147483;
	expect_near(median_of("throughput", cell, target), 4.294967296);
	cell->size = FIGURES_BIG_SIZE - 1;
	expect_near(median_of("throughput", cell, target), 2000);
	/* A server that answered nothing in time is slow, not gone. */
	lost->errors = 0;
	expect_near(median_of("throughput", cell, target), 1000);
	result_free(result);
}

Test(figures, are_derived_from_a_sample)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");
	struct target *target = cell_add_target(result, cell, "eddy");

	add_sample(result, target);
	cell->connections = 4;
	cell->size = 2147483;
	expect_near(median_of("throughput", cell, target), 4.294967296);
	expect_near(median_of("cpu", cell, target), 0.125);
	expect_near(median_of("system_calls", cell, target), 2000);
	expect_near(median_of("switches", cell, target), 20);
	cr_expect_eq(unit_of("throughput", cell), UNIT_GB_PER_SECOND);
	cr_expect_eq(unit_of("cpu", cell), UNIT_SECONDS_PER_GIB);
	cr_expect_eq(unit_of("switches", cell), UNIT_PER_GIB);

	cell->size = FIGURES_BIG_SIZE - 1;
	expect_near(median_of("throughput", cell, target), 2000);
	expect_near(median_of("cpu", cell, target), 250);
	expect_near(median_of("system_calls", cell, target), 4);
	expect_near(median_of("switches", cell, target), 0.04);
	cr_expect_eq(unit_of("throughput", cell), UNIT_REQUESTS_PER_SECOND);
	cr_expect_eq(unit_of("cpu", cell), UNIT_MICROSECONDS);
	cr_expect_eq(unit_of("system_calls", cell), UNIT_PER_REQUEST);

	/* Whatever the size is. */
	expect_near(median_of("bytes_rate", cell, target), 4.294967296);
	expect_near(median_of("requests_rate", cell, target), 2000);
	expect_near(median_of("cpu_gib", cell, target), 0.125);
	expect_near(median_of("cpu_request", cell, target), 250);
	expect_near(median_of("resident_each", cell, target), 2000);
	expect_near(median_of("resident", cell, target), 9000);
	expect_near(median_of("client_busy", cell, target), 0.8);
	expect_near(median_of("threads", cell, target), 3);
	expect_near(median_of("first_byte_p99", cell, target), 20);
	expect_near(median_of("p50", cell, target), 50);
	expect_near(median_of("max", cell, target), 99);
	target->connections = 8;
	expect_near(median_of("resident_each", cell, target), 1000);
	result_free(result);
}

Test(figures, of_a_cell_without_a_size_are_of_requests)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "hello");

	cr_expect_eq(unit_of("throughput", cell), UNIT_REQUESTS_PER_SECOND);
	cell->size = FIGURES_BIG_SIZE;
	cr_expect_eq(unit_of("throughput", cell), UNIT_GB_PER_SECOND);
	result_free(result);
}

Test(figures, are_not_known_without_what_they_are_made_of)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");
	struct target *target = cell_add_target(result, cell, "eddy");
	struct sample *sample = target_add_sample(result, target);

	for (const struct figure *figure = figures; figure->name; figure++)
		cr_expect_eq(figure_estimate(figure, cell, target).count, 0, "%s", figure->name);
	/* A server that answered nothing: no division by zero. */
	*sample = *add_sample(result, target);
	sample->requests = sample->bytes = sample->seconds = 0;
	cr_expect_eq(figure_estimate(figure_find("throughput"), cell, target).count, 1);
	cr_expect_eq(figure_estimate(figure_find("cpu"), cell, target).count, 1);
	/* Less memory than before is none. */
	cell->connections = 1;
	for (size_t i = 0; i < 2; i++)
		target->samples[i]->resident_bytes = 1;
	cr_expect_eq(median_of("resident_each", cell, target), 0);
	result_free(result);
}

Test(figures, are_held_against_others_round_by_round)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");
	struct target *eddy = cell_add_target(result, cell, "eddy");
	struct target *nginx = cell_add_target(result, cell, "nginx");
	struct estimate estimate;

	/* Rounds grow slower, both alike: the ratio is 2 in each but the last. */
	for (int i = 1; i <= 5; i++) {
		add_sample(result, eddy)->requests = i == 5 ? 100 : 2000 / i;
		add_sample(result, nginx)->requests = 1000 / i;
		nginx->samples[i - 1]->threads = 2;
	}
	/* It stands alone, and is left out. */
	add_sample(result, eddy)->requests = 77777;
	for (int i = 0; i < 5; i++) /* 666 by 333 */
		nginx->samples[i]->requests = eddy->samples[i]->requests / 2;
	nginx->samples[4]->requests = 200;
	estimate = figure_against(figure_find("throughput"), cell, eddy, nginx);
	cr_expect_eq(estimate.count, 5);
	cr_expect_eq(estimate.median, 2);
	cr_expect_eq(estimate.low, 0.5);
	cr_expect_eq(estimate.high, 2);
	cr_expect_eq(figure_against(figure_find("threads"), cell, eddy, nginx).median, 1.5);
	cr_expect_eq(figure_against(figure_find("threads_more"), cell, eddy, nginx).median, 1);
	result_free(result);
}

Test(figures, are_saved_beside_the_samples)
{
	struct result *result = result_new();
	struct cell *cell = result_add_cell(result, "a");
	struct target *eddy = cell_add_target(result, cell, "eddy");
	struct target *nginx = cell_add_target(result, cell, "nginx");
	json_t *json;
	const char *unit;
	double median, ratio;

	cell->against = "nginx";
	for (int i = 0; i < 3; i++) {
		add_sample(result, eddy)->requests = 1500;
		add_sample(result, nginx);
	}
	json = figures_json(cell, eddy);
	cr_assert_eq(json_unpack(json, "{s:{s:s,s:F,s:{s:F}}}", "throughput", "unit", &unit,
				 "median", &median, "against", "ratio", &ratio),
		     0);
	cr_expect_str_eq(unit, "requests/s");
	cr_expect_eq(median, 3000);
	cr_expect_eq(ratio, 1.5);
	cr_expect_eq(json_object_get(json, "errors"), NULL);
	json_decref(json);
	json = figures_json(cell, nginx);
	cr_expect_eq(json_object_get(json_object_get(json, "throughput"), "against"), NULL);
	json_decref(json);
	result_free(result);
}

Test(figures, are_found_by_their_name)
{
	for (const struct figure *figure = figures; figure->name; figure++)
		cr_expect_eq(figure_find(figure->name), figure);
	cr_expect_eq(figure_find("speed"), NULL);
	cr_expect_eq(figure_find(""), NULL);
}
