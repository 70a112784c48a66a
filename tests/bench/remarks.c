/* Tests of bench/eddy-bench/remarks.h. */
#include "remarks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

/* Seven steady rounds of two targets, of which there is nothing to remark. */
static struct cell *add_cell(struct result *result)
{
	struct cell *cell = result_add_cell(result, "a");

	result->settings.server_cpu = 0;
	result->settings.client_cpu = 1;
	result->machine.load_before = 0.5;
	for (int i = 0; i < 2; i++) {
		struct target *target = cell_add_target(result, cell, i ? "nginx" : "eddy");

		for (int round = 0; round < 7; round++) {
			struct sample *sample = target_add_sample(result, target);

			sample->seconds = 1;
			sample->requests = 100 + round;
			sample->errors = 0;
			sample->retransmits = 0;
			sample->client_cpu_seconds = 0.9;
			sample->total_us.p99 = 10;
		}
	}
	return cell;
}

static const char *only_remark(struct result *result, const struct cell *cell)
{
	remarks_derive(result);
	remarks_derive(result);
	cr_expect_eq(cell->remark_count, 1, "%zu", cell->remark_count);
	return cell->remark_count ? cell->remarks[0] : "";
}

Test(remarks, are_none_where_all_is_well)
{
	struct result *result = result_new();
	struct cell *cell = add_cell(result);

	remarks_derive(result);
	cr_expect_eq(cell->remark_count, 0, "%s", cell->remark_count ? cell->remarks[0] : "");
	cr_expect_eq(result->remark_count, 0);
	result_free(result);
}

Test(remarks, are_none_of_requests_where_there_are_none)
{
	struct result *result = result_new();
	struct cell *cell = add_cell(result);

	for (int i = 0; i < 7; i++) {
		struct sample *sample = cell->targets[0]->samples[i];

		sample->requests = sample->errors = NAN;
	}
	remarks_derive(result);
	for (size_t i = 0; i < cell->remark_count; i++)
		cr_expect(!strstr(cell->remarks[i], "failed"), "%s", cell->remarks[i]);
	result_free(result);
}

Test(remarks, name_whom_they_are_of)
{
	struct result *result = result_new();
	struct cell *cell = add_cell(result);

	for (int i = 0; i < 4; i++)
		cell->targets[1]->samples[i]->client_cpu_seconds = 0.96;
	cr_expect_str_eq(
		only_remark(result, cell),
		"nginx: the client was saturated; judge by CPU time, not by throughput or latency");
	result_free(result);

	result = result_new();
	cell = add_cell(result);
	for (int i = 0; i < 7; i++)
		cell->targets[1]->samples[i]->requests = 100;
	cell->targets[1]->samples[0]->errors = 2;
	cell->targets[1]->samples[6]->errors = 1;
	cr_expect_str_eq(only_remark(result, cell),
			 "nginx: 3 of 703 requests failed; the figures are those of the others");
	result_free(result);
}

/* Runs `spoil` on the first target's samples. */
#define REMARK_OF(spoil)                                                                           \
	({                                                                                         \
		static char text[256];                                                             \
		struct result *result = result_new();                                              \
		struct cell *cell = add_cell(result);                                              \
                                                                                                   \
		for (int i = 0; i < 7; i++) {                                                      \
			struct sample *sample = cell->targets[0]->samples[i];                      \
                                                                                                   \
			spoil;                                                                     \
		}                                                                                  \
		snprintf(text, sizeof(text), "%s", only_remark(result, cell));                     \
		result_free(result);                                                               \
		text;                                                                              \
	})

Test(remarks, say_what_spoils_a_figure)
{
	cr_expect_str_eq(
		REMARK_OF(sample->requests -= 10),
		"eddy: a round had fewer than 100 requests, so p99 is the slowest of them");
	cr_expect_str_eq(
		REMARK_OF(sample->requests = 100 + 20 * i),
		"eddy: throughput was unsteady: the ends of its interval are more than 25 % apart");
	cr_expect_str_eq(
		REMARK_OF(result->settings.seconds = 0.4; sample->requests *= sample->seconds),
		"samples lasted up to 1.0 s, as each ends with the requests that it has begun");
	cr_expect_str_eq(REMARK_OF(sample->retransmits = 1),
			 "eddy: TCP segments were retransmitted");
	cr_expect_str_eq(REMARK_OF(sample->cpu_seconds = 0.1; sample->client_cpu_seconds = 0.2),
			 "eddy: server and client used less than half a processor together, so "
			 "something else was the limit");
	cr_expect_str_eq(REMARK_OF((void)sample; cell->rate = 106),
			 "eddy, nginx: the server did not keep up with the rate");
	/* It was the client that did not. */
	cr_expect_str_eq(
		REMARK_OF(sample->client_cpu_seconds =
				  cell->targets[1]->samples[i]->client_cpu_seconds = 0.96;
			  cell->rate = 106),
		"eddy, nginx: the client was saturated; judge by CPU time, not by throughput or latency");
	cr_expect_str_eq(REMARK_OF((void)sample; cell->cold = true),
			 "nothing was in the page cache before a request");
	cr_expect_str_eq(REMARK_OF((void)sample; cell->targets[0]->sample_count = 1),
			 "one round only: there is no confidence interval");
	cr_expect_str_eq(REMARK_OF((void)sample; cell->targets[1]->sample_count = 5),
			 "5 rounds only: the interval is their range, and covers less than 95 %");
}

Test(remarks, of_few_rounds_are_said_once)
{
	struct result *result = result_new();
	struct cell *one = add_cell(result), *two = add_cell(result);

	for (int i = 0; i < 2; i++)
		one->targets[i]->sample_count = two->targets[i]->sample_count = 5;
	remarks_derive(result);
	cr_expect_eq(one->remark_count + two->remark_count, 0);
	cr_assert_eq(result->remark_count, 1);
	cr_expect_str_eq(result->remarks[0],
			 "5 rounds only: the interval is their range, and covers less than 95 %");
	result_free(result);

	result = result_new();
	one = add_cell(result);
	two = add_cell(result);
	two->targets[1]->sample_count = 5;
	cr_expect_str_eq(only_remark(result, two),
			 "5 rounds only: the interval is their range, and covers less than 95 %");
	cr_expect_eq(one->remark_count, 0);
	cr_expect_eq(result->remark_count, 0);
	result_free(result);
}

Test(remarks, are_of_the_machine_as_well)
{
	struct result *result = result_new();

	add_cell(result);
	result->machine.load_before = 1.26;
	result->settings.server_cpu = result->settings.client_cpu = NAN;
	remarks_derive(result);
	remarks_derive(result);
	cr_assert_eq(result->remark_count, 2);
	cr_expect_str_eq(
		result->remarks[0],
		"the machine was busy before the measurement (load 1.3), which affects throughput "
		"and latency");
	cr_expect_str_eq(result->remarks[1], "server and client had no processors of their own");
	result_free(result);
}

Test(remarks, keep_to_the_limit)
{
	struct result *result = result_new();
	struct cell *cell = add_cell(result);
	char text[16];

	for (int i = 0; i < RESULT_LINES_MAX; i++) {
		snprintf(text, sizeof(text), "%d", i);
		cell_add_remark(result, cell, text);
	}
	cell->cold = true;
	remarks_derive(result);
	cr_expect_eq(cell->remark_count, RESULT_LINES_MAX);
	result_free(result);
}
