#include "remarks.h"
#include "figures.h"
#include "format.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TEXT_SIZE 160
#define LOAD_BUSY 0.5
#define ROUNDS_FEW 6 /* fewer have no interval of 95 % */
#define WIDE 1.25    /* the interval's ends, one by the other */

static bool has(const char *const *remarks, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(remarks[i], text) == 0)
			return true;
	return false;
}

static void remark(struct result *result, struct cell *cell, const char *text)
{
	if (has(cell->remarks, cell->remark_count, text) || cell->remark_count == RESULT_LINES_MAX)
		return;
	cell_add_remark(result, cell, text);
	cell->derived_count++;
}

static void remark_all(struct result *result, const char *text)
{
	if (has(result->remarks, result->remark_count, text) ||
	    result->remark_count == RESULT_LINES_MAX)
		return;
	result_add_remark(result, text);
	result->derived_count++;
}

typedef bool is_so_fn(const struct cell *cell, const struct target *target);

/* Say it of all targets that it is so of: "eddy, nginx: what". */
static void remark_of(struct result *result, struct cell *cell, is_so_fn *is_so, const char *what)
{
	char text[RESULT_TEXT_MAX], name[FORMAT_LINE_SIZE];
	size_t used = 0, count = 0;

	for (size_t i = 0; i < cell->target_count; i++)
		count += is_so(cell, cell->targets[i]);
	if (count > 2 && count == cell->target_count) {
		snprintf(text, sizeof(text), "all targets: %s", what);
		remark(result, cell, text);
		return;
	}

	for (size_t i = 0; i < cell->target_count && used < sizeof(text) / 2; i++)
		if (is_so(cell, cell->targets[i]))
			used += snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
					 format_cut(name, cell->targets[i]->name, 40));
	if (!used)
		return;
	snprintf(text + used, sizeof(text) - used, ": %s", what);
	remark(result, cell, text);
}

static double median_of(const char *figure, const struct cell *cell, const struct target *target)
{
	return figure_estimate(figure_find(figure), cell, target).median;
}

static bool kept_client_busy(const struct cell *cell, const struct target *target)
{
	return figure_is_clients(figure_find("throughput"), cell, target);
}

static void say_errors(struct result *result, struct cell *cell, const struct target *target)
{
	char text[RESULT_TEXT_MAX], name[FORMAT_LINE_SIZE];
	double errors = 0, requests = 0;

	for (size_t i = 0; i < target->sample_count; i++) {
		errors += target->samples[i]->errors;
		requests += target->samples[i]->requests;
	}
	/* NAN: idle connections have no requests. */
	if (!(errors > 0))
		return;
	snprintf(text, sizeof(text),
		 "%s: %.0f of %.0f requests failed; the figures are those of the others",
		 format_cut(name, target->name, 40), errors, errors + requests);
	remark(result, cell, text);
}

static void say_long(struct result *result, struct cell *cell)
{
	char text[TEXT_SIZE];
	double longest = 0;

	for (size_t i = 0; i < cell->target_count; i++)
		for (size_t j = 0; j < cell->targets[i]->sample_count; j++)
			longest = fmax(longest, cell->targets[i]->samples[j]->seconds);
	if (!(longest > 2 * result->settings.seconds))
		return;
	snprintf(text, sizeof(text),
		 "samples lasted up to %.1f s, as each ends with the requests that it has begun",
		 longest);
	remark(result, cell, text);
}

static bool had_retransmits(const struct cell *cell, const struct target *target)
{
	return median_of("retransmits", cell, target) > 0;
}

/* p99 is then one of the slowest, or the slowest itself. */
static bool had_few_requests(const struct cell *cell, const struct target *target)
{
	struct estimate p99 = figure_estimate(figure_find("p99"), cell, target);
	double fewest = INFINITY;

	for (size_t i = 0; i < target->sample_count; i++)
		fewest = fmin(fewest, target->samples[i]->requests);
	return p99.count && fewest < 100;
}

static bool was_unsteady(const struct cell *cell, const struct target *target)
{
	struct estimate estimate = figure_estimate(figure_find("throughput"), cell, target);

	return estimate.low > 0 && estimate.high > WIDE * estimate.low;
}

/* A server and a client that wait for each other use about one processor between them. */
static bool was_idle(const struct cell *cell, const struct target *target)
{
	double seconds = 0, used = 0;

	for (size_t i = 0; i < target->sample_count; i++) {
		const struct sample *sample = target->samples[i];

		seconds += sample->seconds;
		used += sample->cpu_seconds + sample->client_cpu_seconds;
	}
	return isnan(cell->rate) && !cell->cold && used < 0.5 * seconds;
}

static bool fell_behind(const struct cell *cell, const struct target *target)
{
	return !kept_client_busy(cell, target) &&
	       median_of("requests_rate", cell, target) < 0.98 * cell->rate;
}

static size_t fewest_rounds(const struct cell *cell)
{
	size_t fewest = cell->target_count ? SIZE_MAX : 0;

	for (size_t i = 0; i < cell->target_count; i++)
		if (cell->targets[i]->sample_count < fewest)
			fewest = cell->targets[i]->sample_count;
	return fewest;
}

static bool are_few(size_t rounds)
{
	return rounds && rounds < ROUNDS_FEW;
}

static void say_few(char text[TEXT_SIZE], size_t rounds)
{
	if (rounds == 1)
		snprintf(text, TEXT_SIZE, "one round only: there is no confidence interval");
	else
		snprintf(text, TEXT_SIZE,
			 "%zu rounds only: the interval is their range, and covers less than 95 %%",
			 rounds);
}

/* What all cells have in common is said once. Return: their rounds; 0 where they differ. */
static size_t common_rounds(const struct result *result)
{
	size_t common = 0;

	for (size_t i = 0; i < result->cell_count; i++) {
		size_t rounds = fewest_rounds(result->cells[i]);

		if (rounds && common && rounds != common)
			return 0;
		common = rounds ? rounds : common;
	}
	return result->cell_count > 1 ? common : 0;
}

static void derive_of_cell(struct result *result, struct cell *cell, size_t common)
{
	size_t rounds = fewest_rounds(cell);
	char text[TEXT_SIZE];

	for (size_t i = 0; i < cell->target_count; i++)
		say_errors(result, cell, cell->targets[i]);
	remark_of(result, cell, kept_client_busy,
		  "the client was saturated; judge by CPU time, not by throughput or latency");
	remark_of(result, cell, was_idle,
		  "server and client used less than half a processor together, so something else "
		  "was the limit");
	remark_of(result, cell, fell_behind, "the server did not keep up with the rate");
	remark_of(result, cell, had_few_requests,
		  "a round had fewer than 100 requests, so p99 is the slowest of them");
	say_long(result, cell);
	remark_of(result, cell, was_unsteady,
		  "throughput was unsteady: the ends of its interval are more than 25 % apart");
	remark_of(result, cell, had_retransmits, "TCP segments were retransmitted");
	if (are_few(rounds) && !common) {
		say_few(text, rounds);
		remark(result, cell, text);
	}
	if (cell->cold)
		remark(result, cell, "nothing was in the page cache before a request");
}

void remarks_derive(struct result *result)
{
	char text[TEXT_SIZE], load[FORMAT_SIZE];
	size_t common = common_rounds(result);

	for (size_t i = 0; i < result->cell_count; i++)
		derive_of_cell(result, result->cells[i], common);
	if (are_few(common)) {
		say_few(text, common);
		remark_all(result, text);
	}
	if (result->machine.load_before > LOAD_BUSY) {
		snprintf(load, sizeof(load), "%.1f", result->machine.load_before);
		snprintf(text, sizeof(text),
			 "the machine was busy before the measurement (load %s), which affects "
			 "throughput and latency",
			 load);
		remark_all(result, text);
	}
	if (result->cell_count && isnan(result->settings.server_cpu) &&
	    isnan(result->settings.client_cpu))
		remark_all(result, "server and client had no processors of their own");
}
