/* Tests of bench/eddy-bench/verdict.h. */
#include "verdict.h"

#include <criterion/criterion.h>
#include <math.h>

/* eddy needs these shares of nginx's time, in rounds of one second. */
static struct cell *cell_of(struct result *result, const double *shares, size_t count)
{
	struct cell *cell = result_add_cell(result, "a");
	struct target *eddy = cell_add_target(result, cell, "eddy");
	struct target *nginx = cell_add_target(result, cell, "nginx");

	for (size_t i = 0; i < count; i++) {
		struct sample *ours = target_add_sample(result, eddy);
		struct sample *theirs = target_add_sample(result, nginx);

		ours->requests = theirs->requests = 1000;
		theirs->cpu_seconds = 1;
		ours->cpu_seconds = shares[i];
	}
	return cell;
}

static struct outcome outcome_of(const double *shares, size_t count, double at_least,
				 double at_most, double aim)
{
	struct result *result = result_new();
	struct cell *cell = cell_of(result, shares, count);
	struct goal goal = { "eddy", "nginx", "cpu", at_least, at_most, aim };
	struct outcome outcome = goal_outcome(cell, &goal);

	result_free(result);
	return outcome;
}

#define VERDICT(at_least, at_most, ...)                                                            \
	outcome_of((const double[]){ __VA_ARGS__ },                                                \
		   sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), at_least, at_most,    \
		   NAN)                                                                            \
		.verdict

Test(verdict, knows_noise_from_more)
{
	cr_expect_eq(VERDICT(NAN, 0.8, 0.6, 0.7, 0.75), VERDICT_MET);
	cr_expect_eq(VERDICT(NAN, 0.8, 0.6, 0.7, 0.85), VERDICT_MET_IN_NOISE);
	cr_expect_eq(VERDICT(NAN, 0.8, 0.7, 0.85, 0.9), VERDICT_MISSED_IN_NOISE);
	cr_expect_eq(VERDICT(NAN, 0.8, 0.81, 0.85, 0.9), VERDICT_MISSED);
	cr_expect_eq(VERDICT(0.8, NAN, 0.81, 0.85, 0.9), VERDICT_MET);
	cr_expect_eq(VERDICT(0.8, NAN, 0.7, 0.85, 0.9), VERDICT_MET_IN_NOISE);
	cr_expect_eq(VERDICT(0.8, NAN, 0.6, 0.7, 0.85), VERDICT_MISSED_IN_NOISE);
	cr_expect_eq(VERDICT(0.8, NAN, 0.6, 0.7, 0.75), VERDICT_MISSED);
}

Test(verdict, takes_the_limit_itself_for_met)
{
	cr_expect_eq(VERDICT(NAN, 0.5, 0.5, 0.5, 0.5), VERDICT_MET);
	cr_expect_eq(VERDICT(0.5, NAN, 0.5, 0.5, 0.5), VERDICT_MET);
	cr_expect_eq(VERDICT(NAN, 0.5, 0.5), VERDICT_MET_IN_NOISE);
}

Test(verdict, is_never_sure_of_one_round)
{
	cr_expect_eq(VERDICT(NAN, 0.5, 0.25), VERDICT_MET_IN_NOISE);
	cr_expect_eq(VERDICT(NAN, 0.5, 0.75), VERDICT_MISSED_IN_NOISE);
}

Test(verdict, counts_the_worst_of_two_limits)
{
	cr_expect_eq(VERDICT(0.5, 0.8, 0.6, 0.7, 0.75), VERDICT_MET);
	cr_expect_eq(VERDICT(0.5, 0.8, 0.6, 0.7, 0.85), VERDICT_MET_IN_NOISE);
	cr_expect_eq(VERDICT(0.9, 0.8, 0.6, 0.7, 0.75), VERDICT_MISSED);
}

Test(verdict, sees_whether_the_aim_is_reached)
{
	static const double shares[] = { 0.5, 0.6, 0.7 };
	struct outcome outcome = outcome_of(shares, 3, NAN, 0.8, 0.6);

	cr_expect(outcome.has_aim && outcome.reaches_aim);
	cr_expect_eq(outcome.estimate.median, 0.6);
	outcome = outcome_of(shares, 3, NAN, 0.8, 0.55);
	cr_expect(outcome.has_aim && !outcome.reaches_aim);
	outcome = outcome_of(shares, 3, 0.5, NAN, 0.65);
	cr_expect(outcome.has_aim && !outcome.reaches_aim);
	outcome = outcome_of(shares, 3, 0.5, NAN, 0.6);
	cr_expect(outcome.reaches_aim);
	outcome = outcome_of(shares, 3, 0.5, NAN, NAN);
	cr_expect(!outcome.has_aim && !outcome.reaches_aim);
}

Test(verdict, says_why_there_is_none)
{
	static const double shares[] = { 0.5, 0.6, 0.7 };
	static const struct {
		struct goal goal;
		const char *why;
	} rows[] = {
		{ { "eddy", "lwan", "cpu", NAN, 1, NAN }, "the other target was not measured" },
		{ { "lwan", "nginx", "cpu", NAN, 1, NAN }, "the target was not measured" },
		{ { "eddy", "nginx", "speed", NAN, 1, NAN }, "there is no figure of this name" },
		{ { "eddy", "nginx", "p99", NAN, 1, NAN }, "the figure was not measured" },
	};
	struct result *result = result_new();
	struct cell *cell = cell_of(result, shares, 3);
	struct goal itself = { "eddy", NULL, "cpu", NAN, 650, NAN };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome outcome = goal_outcome(cell, &rows[i].goal);

		cr_expect_eq(outcome.verdict, VERDICT_UNKNOWN);
		cr_expect_str_eq(outcome.why, rows[i].why);
	}
	cr_expect_eq(goal_outcome(cell, &itself).estimate.median, 600);
	cr_expect_eq(goal_outcome(cell, &itself).verdict, VERDICT_MET_IN_NOISE);
	cr_expect_eq(goal_outcome(cell, &itself).why, NULL);
	cr_expect_str_eq(verdict_title(VERDICT_MET_IN_NOISE), "met, within noise");
	result_free(result);
}

Test(verdict, says_when_it_is_the_clients)
{
	static const double shares[] = { 0.5, 0.6, 0.7 };
	struct result *result = result_new();
	struct cell *cell = cell_of(result, shares, 3);
	struct goal rate = { "eddy", "nginx", "throughput", 1, NAN, NAN };
	struct goal cpu = { "eddy", "nginx", "cpu", NAN, 1, NAN };

	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 2; j++) {
			cell->targets[j]->samples[i]->seconds = 1;
			cell->targets[j]->samples[i]->client_cpu_seconds = 0.94;
		}
	}
	cr_expect_not(goal_outcome(cell, &rate).is_clients);
	for (int i = 0; i < 3; i++)
		cell->targets[1]->samples[i]->client_cpu_seconds = 0.95;
	cr_expect(goal_outcome(cell, &rate).is_clients);
	cr_expect_not(goal_outcome(cell, &cpu).is_clients);
	result_free(result);
}
