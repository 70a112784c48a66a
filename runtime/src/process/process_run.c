/* Running a child from start to end: writing its input, collecting its output. */
#include <eddy/process.h>

#include "core/loop.h"

#include <eddy/io.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdlib.h>

#define OUTPUT_MAX_DEFAULT EDDY_MIB
#define OUTPUT_MAX_LIMIT (SIZE_MAX / 4)
#define COLLECT_FIRST (4 * EDDY_KIB)

struct feeder {
	struct eddy_process *process;
	struct eddy_str input;
};

static int feed(void *arg)
{
	struct feeder *feeder = arg;
	int r = eddy_write_all(feeder->process->in, feeder->input.ptr, feeder->input.len,
			       EDDY_OFFSET_NONE);

	if (r == -ECANCELED)
		return r;
	/* Close the input. A child that stops reading early is no failure. */
	eddy_close(feeder->process->in);
	feeder->process->in = -1;
	return r == -EPIPE ? 0 : r;
}

struct collector {
	int fd;
	size_t max;
	char *bytes;
	size_t len;
	size_t size; /* of `bytes`, including a NUL */
	bool done;   /* the stream has ended */
};

static int grow(struct collector *collector)
{
	size_t size = collector->size ? 2 * collector->size : COLLECT_FIRST;
	char *bytes;

	/* One byte beyond the limit detects excess output; another is for the NUL. */
	if (size > collector->max + 2)
		size = collector->max + 2;
	bytes = realloc(collector->bytes, size);
	if (!bytes)
		return -ENOMEM;
	collector->bytes = bytes;
	collector->size = size;
	return 0;
}

static int collect(void *arg)
{
	struct collector *collector = arg;

	for (;;) {
		int r = collector->len + 1 >= collector->size ? grow(collector) : 0;
		ssize_t len;

		if (r < 0)
			return r;
		len = eddy_read(collector->fd, collector->bytes + collector->len,
				collector->size - collector->len - 1, EDDY_OFFSET_NONE);
		if (len < 0)
			return (int)len;
		if (!len)
			break;
		collector->len += (size_t)len;
		if (collector->len > collector->max)
			return -EMSGSIZE;
	}
	collector->bytes[collector->len] = 0;
	collector->done = true;
	return 0;
}

/* Fill in eddy_process_run()'s defaults for streams. */
static struct eddy_process_options complete(const struct eddy_process_options *options)
{
	struct eddy_process_options ours = *options;

	if (ours.in.kind == EDDY_PROCESS_DEFAULT)
		ours.in.kind = ours.input.len ? EDDY_PROCESS_PIPE : EDDY_PROCESS_NULL;
	else
		eddyi_assert(ours.in.kind != EDDY_PROCESS_PIPE && !ours.input.len,
			     "`in` must not be set: the call writes `input` to it");
	if (ours.out.kind == EDDY_PROCESS_DEFAULT)
		ours.out.kind = EDDY_PROCESS_PIPE;
	if (ours.err.kind == EDDY_PROCESS_DEFAULT)
		ours.err.kind = EDDY_PROCESS_PIPE;
	if (!ours.output_max)
		ours.output_max = OUTPUT_MAX_DEFAULT;
	if (ours.output_max > OUTPUT_MAX_LIMIT)
		ours.output_max = OUTPUT_MAX_LIMIT;
	return ours;
}

static int spawn_for(struct eddy_scope *scope, const char *name, eddy_task_fn *fn, void *arg,
		     int fd)
{
	return fd < 0 ? 0 : eddy_scope_spawn(scope, name, fn, arg);
}

static bool is_done(const struct collector *collector)
{
	return collector->fd < 0 || collector->done;
}

static int run(struct eddy_process *process, struct feeder *feeder, struct collector collectors[2],
	       struct eddy_process_status *ret_status)
{
	struct eddy_scope scope;
	int r, failure;
	bool ended;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = true });
	r = spawn_for(&scope, "process input", feed, feeder, process->in);
	if (r == 0)
		r = spawn_for(&scope, "process out", collect, &collectors[0], process->out);
	if (r == 0)
		r = spawn_for(&scope, "process err", collect, &collectors[1], process->err);
	if (r == 0)
		r = eddy_process_wait(process, ret_status);
	ended = r == 0;
	if (r == 0)
		r = eddy_scope_join(&scope);
	failure = eddy_scope_end(&scope);
	if (failure < 0 && failure != -ECANCELED)
		return failure;
	/* A complete result takes precedence over cancellation. */
	if (ended && is_done(&collectors[0]) && is_done(&collectors[1]))
		return 0;
	return failure < 0 ? failure : r;
}

int eddy_process_run(const struct eddy_process_options *options,
		     struct eddy_process_output *ret_output)
{
	struct eddy_process_options ours = complete(options);
	struct eddy_process process;
	struct collector collectors[2];
	struct eddy_process_output output = { 0 };
	int r;

	eddyi_task();
	r = eddy_process_start(&ours, &process);
	if (r < 0)
		return r;
	collectors[0] = (struct collector){ .fd = process.out, .max = ours.output_max };
	collectors[1] = (struct collector){ .fd = process.err, .max = ours.output_max };
	r = run(&process, &(struct feeder){ &process, ours.input }, collectors, &output.status);
	eddy_process_close(&process);
	output.out = collectors[0].bytes;
	output.out_len = collectors[0].len;
	output.err = collectors[1].bytes;
	output.err_len = collectors[1].len;
	if (r < 0)
		eddy_process_output_deinit(&output);
	else
		*ret_output = output;
	return r;
}

void eddy_process_output_deinit(struct eddy_process_output *output)
{
	free(output->out);
	free(output->err);
	output->out = output->err = NULL;
	output->out_len = output->err_len = 0;
}
