#include "measure.h"

#include "calls.h"
#include "options.h"
#include "report.h"
#include "result.h"
#include "run.h"

#include <eddy/loop.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Of a task's stack: a connection's needs little, and there may be many. */
#define STACK (128 * EDDY_KIB)
/* Room for the command line, as it was typed. */
#define COMMAND_MAX 4000
/* The exit status, as a shell has it of SIGINT. */
#define INTERRUPTED 130

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

/* Who reads the report later does not see stderr. */
static void add_end(struct result *result, const char *why)
{
	char text[OPTIONS_ERROR_SIZE + 64];

	snprintf(text, sizeof(text), "it ended early; the results until then: %s", why);
	result_add_remark(result, text);
}

/* One that goes there is alone there. */
static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static struct report_files files_of(const struct options *options)
{
	struct report_files files = {
		.json = options->json,
		.html = options->html,
		.markdown = options->markdown,
	};

	if (!is_stdout(files.json) && !is_stdout(files.html) && !is_stdout(files.markdown))
		files.text = "-";
	return files;
}

static int finish(const struct options *options, struct result *result, int r)
{
	struct report_files files = files_of(options);
	char error[RESULT_ERROR_SIZE];

	if (!has_samples(result)) {
		if (r == INTERRUPTED)
			fputs("eddy-bench: interrupted before anything was measured\n", stderr);
		return r;
	}
	if (report_write(result, &files, error) == 0)
		return r;
	fprintf(stderr, "eddy-bench: %s\n", error);
	return r ? r : 1;
}

/* Return: 0; 2 and a sentence on stderr. */
static int prepare(int argc, char **argv, struct options *ret_options)
{
	char error[OPTIONS_ERROR_SIZE > RESULT_ERROR_SIZE ? OPTIONS_ERROR_SIZE : RESULT_ERROR_SIZE];
	struct report_files files;
	int r = options_parse(argc, argv, ret_options, error);

	if (r == 0) {
		files = files_of(ret_options);
		if (report_check(&files, error) == 0)
			return 0;
		options_deinit(ret_options);
		r = -EINVAL;
	}
	fprintf(stderr, "eddy-bench: %s\n", r == -EINVAL ? error : strerror(-r));
	return 2;
}

int measure_main(int argc, char **argv)
{
	struct measurement measurement = { .error = "" };
	struct options options;
	int r;

	measurement.result = result_new();
	/* To parse it is to put it in order. */
	add_command(measurement.result, argc, argv);
	r = prepare(argc, argv, &options);
	if (r) {
		result_free(measurement.result);
		return r;
	}
	measurement.options = &options;
	calls_prepare();
	/* An open loop wakes when a request is due, not 50 us later. */
	prctl(PR_SET_TIMERSLACK, 1);
	r = eddy_run(&(struct eddy_loop_options){ .stack_size = STACK }, measure, &measurement);
	if (r < 0) {
		const char *why = r == -EINTR                 ? "interrupted" :
				  *measurement.error          ? measurement.error :
				  r == -EPERM || r == -ENOSYS ? eddy_ring_advice(r) :
								strerror(-r);

		if (r != -EINTR)
			fprintf(stderr, "eddy-bench: %s\n", why);
		add_end(measurement.result, why);
	}
	r = finish(&options, measurement.result, r == -EINTR ? INTERRUPTED : r < 0 ? 1 : 0);
	result_free(measurement.result);
	options_deinit(&options);
	return r;
}
