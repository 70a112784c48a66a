#include "measure.h"

#include "calls.h"
#include "options.h"
#include "result.h"
#include "run.h"

#include <eddy/loop.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a task's stack: a connection's needs little, and there may be many. */
#define STACK (128 * EDDY_KIB)
/* Room for the command line, as it was typed. */
#define COMMAND_MAX 4000

struct measurement {
	const struct options *options;
	struct result *result;
	char error[OPTIONS_ERROR_SIZE];
};

static int measure(void *arg)
{
	struct measurement *measurement = arg;

	return run(measurement->options, measurement->result, measurement->error);
}

static void print_target(const struct cell *cell, const struct target *target)
{
	double requests = 0, bytes = 0, seconds = 0, cpu = 0, client = 0, p50 = 0, p99 = 0;
	double count = (double)target->sample_count;

	for (size_t i = 0; i < target->sample_count; i++) {
		const struct sample *sample = target->samples[i];

		requests += sample->requests;
		bytes += sample->bytes;
		seconds += sample->seconds;
		cpu += sample->cpu_seconds;
		client += sample->client_cpu_seconds;
		p50 += sample->total_us.p50 / count;
		p99 += sample->total_us.p99 / count;
	}
	printf("%-20s %-16s %10.0f %8.3f %9.2f %9.3f %9.2f %8.2f %9.0f %9.0f\n", cell->name,
	       target->name, requests / seconds, bytes / seconds / 1e9, cpu * 1e6 / requests,
	       cpu / (bytes / (double)EDDY_GIB), client * 1e6 / requests, client / seconds, p50,
	       p99);
}

static void print_result(const struct result *result)
{
	printf("%-20s %-16s %10s %8s %9s %9s %9s %8s %9s %9s\n", "cell", "target", "requests/s",
	       "GB/s", "us/req", "s/GiB", "client us", "client", "p50 us", "p99 us");
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct cell *cell = result->cells[i];

		for (size_t j = 0; j < cell->target_count; j++)
			if (cell->targets[j]->sample_count)
				print_target(cell, cell->targets[j]);
		for (size_t j = 0; j < cell->remark_count; j++)
			printf("  - %s\n", cell->remarks[j]);
	}
}

static bool has_samples(const struct result *result)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (result->cells[i]->target_count && result->cells[i]->targets[0]->sample_count)
			return true;
	return false;
}

static void add_command(struct result *result, int argc, char **argv)
{
	char text[COMMAND_MAX] = "eddy-bench";
	size_t len = strlen(text);

	for (int i = 1; i < argc && len < sizeof(text); i++) {
		bool plain = argv[i][strcspn(argv[i], " '\"$\\&;|<>()*?`!")] == 0 && *argv[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, plain ? " %s" : " '%s'",
					argv[i]);
	}
	result->command = result_text(result, text);
}

static int finish(const struct options *options, struct result *result, int r)
{
	char error[RESULT_ERROR_SIZE];

	if (!has_samples(result))
		return r;
	print_result(result);
	if (options->json && result_save(result, options->json, error) < 0) {
		fprintf(stderr, "eddy-bench: %s\n", error);
		return r ? r : 1;
	}
	return r;
}

int measure_main(int argc, char **argv)
{
	struct measurement measurement = { .error = "" };
	struct options options;
	int r;

	measurement.result = result_new();
	/* To parse it is to put it in order. */
	add_command(measurement.result, argc, argv);
	r = options_parse(argc, argv, &options, measurement.error);
	if (r < 0) {
		fprintf(stderr, "eddy-bench: %s\n",
			r == -EINVAL ? measurement.error : strerror(-r));
		result_free(measurement.result);
		return 2;
	}
	measurement.options = &options;
	calls_prepare();
	r = eddy_run(&(struct eddy_loop_options){ .stack_size = STACK }, measure, &measurement);
	if (r < 0 && r != -EINTR) {
		const char *why = *measurement.error          ? measurement.error :
				  r == -EPERM || r == -ENOSYS ? eddy_ring_advice(r) :
								strerror(-r);

		fprintf(stderr, "eddy-bench: %s\n", why);
	}
	r = finish(&options, measurement.result, r == -EINTR ? 130 : r < 0 ? 1 : 0);
	result_free(measurement.result);
	options_deinit(&options);
	return r;
}
