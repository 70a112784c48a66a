#include "run.h"

#include "cached.h"
#include "limit.h"
#include "machine.h"
#include "progress.h"
#include "sample.h"
#include "secure.h"

#include <eddy/process.h>
#include <eddy/scope.h>
#include <eddy/signal.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	const struct options *options;
	struct result *result;
	struct progress progress;
	struct eddy_signals signals;
	struct body body;
	struct secure *secure; /* NULL: no target is of https:// */
	bool interrupted;
	bool looped;          /* a target is on this machine */
	bool counted;         /* system calls, at least once */
	char unmeasured[256]; /* the titles of cells without samples, as the run ended early */
	unsigned unnamed;     /* how many more there are */
	char *error;
};

/* ---- names */

static void add_name(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_name(char *text, size_t size, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, size - len, format, args);
	va_end(args);
}

/* "get-4k-16" and "GET 4 KiB × 16" */
static void name_cell(struct run *run, uint64_t size, unsigned connections, char name[128],
		      char title[128])
{
	const struct options *options = run->options;
	char text[24];

	*name = *title = 0;
	add_name(name, 128, "%s", options->work_name);
	add_name(title, 128, "%s",
		 options->work == WORK_PUT ? "PUT" :
		 options->method           ? options->method :
					     "GET");
	if (size != PLAN_SIZE_NONE) {
		size_t len = url_size(size, text);
		bool unit = text[len - 1] > '9';

		add_name(name, 128, "-%s", text);
		add_name(title, 128, " %.*s %s", (int)(len - unit), text,
			 !unit                ? "B" :
			 text[len - 1] == 'k' ? "KiB" :
			 text[len - 1] == 'm' ? "MiB" :
						"GiB");
	}
	add_name(name, 128, "-%u", connections);
	add_name(title, 128, " × %u", connections);
	if (options->http2) {
		add_name(name, 128, "-http2");
		add_name(title, 128, ", HTTP/2");
	}
	if (options->depth > 1) {
		add_name(name, 128, options->http2 ? "-streams%u" : "-deep%u", options->depth);
		add_name(title, 128, options->http2 ? ", %u streams" : ", pipelined %u deep",
			 options->depth);
	}
	if (options->rate > 0) {
		add_name(name, 128, "-rate%g", options->rate);
		add_name(title, 128, ", %g requests/s", options->rate);
	}
	if (options->cold) {
		add_name(name, 128, "-cold");
		add_name(title, 128, ", cold");
	}
}

/* ---- remarks */

__attribute__((format(printf, 3, 4))) static void remark(struct run *run, struct cell *cell,
							 const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cell_add_remark(run->result, cell, text);
}

static void remark_on(struct run *run, struct cell *cell, const struct contender *contender)
{
	const char *name = contender->target->name;

	if (*contender->first_error)
		remark(run, cell, "%s: the first failure: %s", name, contender->first_error);
	if (contender->reconnects)
		remark(run, cell,
		       "%s: %llu connections were closed by the server and opened again, which is "
		       "included in the time",
		       name, (unsigned long long)contender->reconnects);
	if (contender->given_up)
		remark(run, cell,
		       "%s: too slow for this rate: %llu of %llu requests were never sent; they "
		       "are counted with the time that they waited",
		       name, (unsigned long long)contender->given_up,
		       (unsigned long long)contender->due);
	if (!contender->server.count)
		remark(run, cell,
		       "%s: the server's process was not found, so CPU time and memory are "
		       "unknown: it runs on another machine, in another network namespace or as "
		       "another user (run eddy-bench as root, or use --pid)",
		       name);
}

/* ---- a cell */

static void make_target(struct run *run, struct cell *cell, struct contender *contender,
			unsigned connections)
{
	const struct plan *plan = &contender->plan;
	struct target *target = cell_add_target(run->result, cell, plan->url->name);
	char text[2 * URL_PATH_SIZE];

	contender->target = target;
	snprintf(text, sizeof(text), "%.*s%s",
		 (int)(strlen(plan->url->text) - strlen(plan->url->path)), plan->url->text,
		 plan->path);
	target->url = result_text(run->result, text);
	target->connections = connections;
	if (contender->server.count) {
		target->server.pid = contender->server.pids[0];
		target->server.command = result_text(run->result, contender->server.command);
	}
	if (contender->server.count && plan->address.addr.any.sa_family != AF_UNIX)
		run->looped = true;
	if (contender->server.cpu >= 0)
		run->result->settings.server_cpu = contender->server.cpu;
}

static void save_histogram(struct run *run, struct buckets *buckets,
			   const struct histogram *histogram)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (histogram->counts[i])
			buckets_add(run->result, buckets, (double)histogram_bucket_end(i) / 1e3,
				    (double)histogram->counts[i]);
}

/* What the user wants to be done before each sample. */
static int run_between(struct run *run, const struct contender *contender)
{
	const char *command = run->options->between;
	char target[256];
	struct eddy_process_output output;
	int r;

	if (!command)
		return 0;
	snprintf(target, sizeof(target), "TARGET=%s", contender->plan.url->name);
	r = eddy_process_run(&(struct eddy_process_options){ .argv = EDDY_LIST("env", target, "sh",
									       "-c", command) },
			     &output);
	if (r == 0 && output.status.code != 0) {
		snprintf(run->error, OPTIONS_ERROR_SIZE,
			 "--between: \"%.100s\" ended with %d: %.300s", command, output.status.code,
			 output.err);
		r = -ECHILD;
	} else if (r < 0) {
		snprintf(run->error, OPTIONS_ERROR_SIZE, "--between: %s", strerror(-r));
	}
	eddy_process_output_deinit(&output);
	return r;
}

static int play_rounds(struct run *run, struct cell *cell, struct contender *contenders)
{
	size_t count = run->options->url_count;
	unsigned connections = (unsigned)cell->connections;

	for (unsigned round = 0; round < run->options->rounds; round++) {
		for (size_t turn = 0; turn < count; turn++) {
			/* Each is the first one as often as the others. */
			struct contender *contender = &contenders[(round + turn) % count];
			int r;

			if (run->interrupted)
				return -EINTR;
			progress_show(&run->progress, "%s: %s, round %u of %u", cell->title,
				      contender->target->name, round + 1, run->options->rounds);
			r = run_between(run, contender);
			if (r == 0)
				r = sample_take(contender, run->result, connections,
						&run->interrupted, run->error);
			if (r < 0)
				return r;
			progress_step(&run->progress);
		}
	}
	return 0;
}

/* How many system calls a request takes does not depend on how quick it is. */
static void count_calls(struct run *run, struct cell *cell, struct contender *contender)
{
	double each;
	int r;

	if (run->options->no_calls || run->options->cold || !contender->server.count)
		return;
	r = sample_count_calls(contender, (unsigned)cell->connections, &run->interrupted, &each);
	for (size_t i = 0; r == 0 && i < contender->target->sample_count; i++) {
		struct sample *sample = contender->target->samples[i];

		sample->system_calls = round(each * sample->requests);
	}
	if (r == 0)
		run->counted = true;
	else if (r != -ECANCELED)
		remark(run, cell, "%s: its system calls could not be counted: %s",
		       contender->target->name,
		       r == -ENOENT ? "tracefs is not accessible; run eddy-bench as root" :
		       r == -EACCES || r == -EPERM ? "only root may" :
						     strerror(-r));
}

/* Are the files in memory, as one supposes? */
static int look_at_cache(struct run *run, struct cell *cell)
{
	struct cached cached;
	int r;

	if (!run->options->files || run->options->cold)
		return 0;
	r = cached_look(run->options->files, &cached, run->error);
	if (r == 0 && cached.here < cached.all)
		remark(run, cell, "the files were not all in the page cache: %.0f %% of %s",
		       100.0 * (double)cached.here / (double)cached.all, run->options->files);
	return r;
}

/* An unfinished round would be held against nothing. */
static void drop_unfinished(struct cell *cell)
{
	size_t least = cell->targets[0]->sample_count;

	for (size_t i = 1; i < cell->target_count; i++)
		if (cell->targets[i]->sample_count < least)
			least = cell->targets[i]->sample_count;
	for (size_t i = 0; i < cell->target_count; i++)
		cell->targets[i]->sample_count = least;
}

static int play_cell(struct run *run, uint64_t size, unsigned connections,
		     struct contender *contenders)
{
	const struct options *options = run->options;
	char name[128], title[128];
	struct cell *cell;
	int r = 0;

	name_cell(run, size, connections, name, title);
	cell = result_add_cell(run->result, name);
	cell->title = result_text(run->result, title);
	cell->group = size == PLAN_SIZE_NONE ? "Requests" : "Files";
	cell->work = options->work_name;
	if (size != PLAN_SIZE_NONE)
		cell->size = (double)size;
	cell->connections = connections;
	cell->http2 = options->http2;
	cell->depth = options->depth;
	if (options->rate > 0)
		cell->rate = options->rate;
	cell->cold = options->cold;
	cell->verified = options->verify;
	cell->against = result_text(run->result,
				    options->against ? options->against : options->urls[0].name);
	for (size_t i = 0; i < options->url_count && r == 0; i++) {
		struct contender *contender = &contenders[i];

		*contender = (struct contender){ 0 };
		r = plan_init(&contender->plan, options, run->secure, &options->urls[i], size,
			      run->body.fd > 0 ? &run->body : NULL, run->error);
		if (r == 0)
			server_find(&contender->plan.address, (pid_t)options->pid,
				    &contender->server);
		make_target(run, cell, contender, connections);
	}
	if (r == 0)
		r = play_rounds(run, cell, contenders);
	if (r == 0)
		r = look_at_cache(run, cell);
	for (size_t i = 0; r == 0 && i < options->url_count && !run->interrupted; i++)
		count_calls(run, cell, &contenders[i]);
	drop_unfinished(cell);
	for (size_t i = 0; i < cell->target_count; i++) {
		save_histogram(run, &cell->targets[i]->histogram.first_byte,
			       &contenders[i].measured.first_byte);
		save_histogram(run, &cell->targets[i]->histogram.total,
			       &contenders[i].measured.total);
		if (cell->targets[i]->sample_count)
			remark_on(run, cell, &contenders[i]);
	}
	return r;
}

/* ---- all of them */

static void note_unmeasured(struct run *run, uint64_t size, unsigned connections)
{
	struct result *result = run->result;
	struct cell *last = result->cell_count ? result->cells[result->cell_count - 1] : NULL;
	char name[128], title[128];

	name_cell(run, size, connections, name, title);
	/* The one that was being measured may have whole rounds. */
	if (last && strcmp(last->name, name) == 0 && last->target_count &&
	    last->targets[0]->sample_count)
		return;
	/* Never a part of a title, which would cut a character. */
	if (run->unnamed || strlen(run->unmeasured) + strlen(title) + 3 > sizeof(run->unmeasured))
		run->unnamed++;
	else
		add_name(run->unmeasured, sizeof(run->unmeasured), "%s%s",
			 *run->unmeasured ? ", " : "", title);
}

static int make_body(struct run *run, uint64_t size)
{
	body_close(&run->body);
	if (run->options->body_file)
		return body_open(run->options->body_file, &run->body, run->error);
	if (run->options->work == WORK_PUT)
		return body_make(size, &run->body, run->error);
	return 0;
}

static int play_sizes(struct run *run, struct contender *contenders)
{
	const struct options *options = run->options;
	size_t sizes = options->size_count ? options->size_count : 1;
	int r = 0;

	for (size_t i = 0; i < sizes; i++) {
		uint64_t size = options->size_count ? options->sizes[i] : PLAN_SIZE_NONE;

		if (r == 0)
			r = make_body(run, size);
		if (options->work == WORK_PUT && options->body_file)
			size = run->body.size;
		for (size_t j = 0; j < options->connection_count; j++) {
			if (r == 0)
				r = play_cell(run, size, options->connections[j], contenders);
			if (r < 0)
				note_unmeasured(run, size, options->connections[j]);
		}
	}
	return r;
}

static int await_signal(void *arg)
{
	struct run *run = arg;

	if (eddy_signals_next(&run->signals) < 0)
		return 0;
	run->interrupted = true;
	/* The second one ends the process. */
	eddy_signals_close(&run->signals);
	return 0;
}

static unsigned most_connections(const struct options *options)
{
	unsigned most = 0;

	for (size_t i = 0; i < options->connection_count; i++)
		if (options->connections[i] > most)
			most = options->connections[i];
	return most;
}

/* Whether the machine's TCP paces its segments. */
static bool is_paced(void)
{
	char name[16] = "";
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_congestion_control", "r");

	if (file && !fgets(name, sizeof(name), file))
		name[0] = 0;
	if (file)
		fclose(file);
	return strncmp(name, "bbr", 3) == 0;
}

static void describe(struct run *run)
{
	const struct options *options = run->options;
	struct settings *settings = &run->result->settings;
	size_t sizes = options->size_count ? options->size_count : 1;
	size_t samples = sizes * options->connection_count * options->url_count * options->rounds;

	machine_read(run->result);
	settings->rounds = options->rounds;
	settings->seconds = options->seconds;
	settings->warmup = options->warmup;
	settings->client_cpu = machine_own_cpu();
	progress_begin(&run->progress, options->progress, (unsigned)samples,
		       options->seconds + options->warmup);
}

int run(const struct options *options, struct result *result, char error[OPTIONS_ERROR_SIZE])
{
	struct contender *contenders = calloc(options->url_count, sizeof(*contenders));
	struct run run = { .options = options, .result = result, .error = error };
	struct cached cached;
	struct eddy_scope scope;
	int r = contenders ? limit_raise(most_connections(options), error) : -ENOMEM;

	if (r == 0)
		r = eddy_signals_open((int[]){ SIGINT, SIGTERM, 0 }, &run.signals);
	if (r < 0) {
		free(contenders);
		return r;
	}
	describe(&run);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "signals", await_signal, &run);
	if (options->files)
		r = cached_look(options->files, &cached, error);
	if (r == 0)
		r = secure_open(options, &run.secure, error);
	if (r == 0)
		r = play_sizes(&run, contenders);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	eddy_signals_close(&run.signals);
	if (*run.unmeasured) {
		char text[sizeof(run.unmeasured) + 64] = "not measured: ";

		add_name(text, sizeof(text), "%s", run.unmeasured);
		if (run.unnamed)
			add_name(text, sizeof(text), " and %u more", run.unnamed);
		result_add_remark(result, text);
	}
	if (run.looped)
		result_add_remark(result,
				  "server and client are on one machine: the loopback copies even "
				  "zero-copy sends (SEND_ZC)");
	if (run.looped && is_paced())
		result_add_remark(
			result,
			"TCP congestion control is bbr, whose pacing decides how fast large bodies "
			"pass the loopback: sysctl net.ipv4.tcp_congestion_control=cubic");
	for (size_t i = 0; i < options->url_count; i++)
		secure_remark(&contenders[i].plan, result);
	if (run.counted)
		result_add_remark(
			result,
			"system calls were counted in separate runs: the number for one request, "
			"times the requests of each sample");
	progress_end(&run.progress);
	body_close(&run.body);
	secure_close(run.secure);
	free(contenders);
	return run.interrupted ? -EINTR : r;
}
