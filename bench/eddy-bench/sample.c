#include "sample.h"

#include "cached.h"
#include "calls.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <eddy/loop.h>

/* To drop files may take so many times as long as to get them again. */
#define DROPPING 5
/* System calls are counted so long. */
#define COUNTING_NS (200 * EDDY_MS)

static double own_cpu(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct quantiles quantiles(const struct histogram *histogram)
{
	if (!histogram->count)
		return (struct quantiles){ NAN, NAN, NAN, NAN, NAN };
	return (struct quantiles){
		.p50 = (double)histogram_quantile(histogram, 0.5) / 1e3,
		.p90 = (double)histogram_quantile(histogram, 0.9) / 1e3,
		.p99 = (double)histogram_quantile(histogram, 0.99) / 1e3,
		.p999 = (double)histogram_quantile(histogram, 0.999) / 1e3,
		.max = (double)histogram->max / 1e3,
	};
}

/* Threads that have ended take their switches along. */
static double more(double before, double after)
{
	return after >= before ? after - before : NAN;
}

/* What is read around that which is measured. */
struct moment {
	struct server_use use;
	double own_cpu;
	uint64_t retransmits;
};

static void read_moment(const struct contender *contender, const struct load *load,
			struct moment *ret_moment)
{
	ret_moment->retransmits = load_retransmits(load);
	server_read(&contender->server, false, &ret_moment->use);
}

/* Add what one play has used. */
static void add(struct sample *sample, const struct load *load, const struct moment *before,
		const struct moment *after)
{
	const struct tally *tally = load->tally;

	sample->seconds += (double)load->elapsed_ns / 1e9;
	sample->requests += (double)tally->requests;
	sample->bytes += (double)tally->bytes;
	sample->errors += (double)tally->errors;
	sample->client_cpu_seconds += after->own_cpu - before->own_cpu;
	sample->cpu_seconds += more(before->use.cpu_seconds, after->use.cpu_seconds);
	sample->voluntary_switches += more(before->use.voluntary, after->use.voluntary);
	sample->involuntary_switches += more(before->use.involuntary, after->use.involuntary);
	sample->retransmits += (double)(after->retransmits - before->retransmits);
	sample->threads = after->use.threads;
}

static void keep(struct contender *contender, const struct load *load)
{
	const struct tally *tally = load->tally;

	contender->reconnects += tally->reconnects;
	contender->due += load->due;
	contender->given_up += load->given_up;
	if (!*contender->first_error)
		memcpy(contender->first_error, tally->error, sizeof(tally->error));
}

/* Workers come and go, and a server may be another one in each round. One that came while it was measured has used all
 * that it has used for that; one that is gone has taken along what it had used.
 * Return: whether all that were there still are. */
static bool find_again(struct contender *contender)
{
	struct server *server = &contender->server, now;
	size_t kept = 0;
	bool all;

	if (!server->count || contender->plan.options->pid)
		return true;
	server_find(&contender->plan.address, 0, &now);
	for (size_t i = 0, j = 0; i < server->count; i++) {
		while (j < now.count && now.pids[j] < server->pids[i])
			j++;
		kept += j < now.count && now.pids[j] == server->pids[i];
	}
	all = kept == server->count;
	if (now.count)
		*server = now;
	return all;
}

/* Play once, between two looks at the server. */
static int play(struct contender *contender, struct load *load, uint64_t duration_ns,
		struct sample *sample, struct measured *measured)
{
	struct moment before, after;
	bool all;
	int r;

	find_again(contender);
	read_moment(contender, load, &before);
	/* To look at others costs much where there are many, and is no part of it. */
	before.own_cpu = own_cpu();
	r = load_play(load, duration_ns);
	after.own_cpu = own_cpu();
	if (r < 0)
		return r;
	all = find_again(contender);
	read_moment(contender, load, &after);
	if (!all)
		after.use.cpu_seconds = after.use.voluntary = after.use.involuntary = NAN;
	add(sample, load, &before, &after);
	histogram_add(&measured->first_byte, &load->tally->first_byte);
	histogram_add(&measured->total, &load->tally->total);
	keep(contender, load);
	return *load->interrupted ? -EINTR : 0;
}

/* Each connection asks for a file that is on the disk alone, again and again. */
static int play_cold(struct contender *contender, struct load *load, struct sample *sample,
		     struct measured *measured, char error[OPTIONS_ERROR_SIZE])
{
	const struct options *options = contender->plan.options;
	uint64_t until_ns = eddy_now() + (uint64_t)(DROPPING * options->seconds * 1e9);
	int r = 0;

	do {
		r = cached_drop(options->files, error);
		if (r == 0)
			r = play(contender, load, 0, sample, measured);
	} while (r == 0 && sample->seconds < options->seconds && eddy_now() < until_ns);
	return r;
}

/* The load is open, and warm. */
static int measure(struct contender *contender, struct load *load, struct result *result,
		   double resident_before, char error[OPTIONS_ERROR_SIZE])
{
	const struct options *options = contender->plan.options;
	struct measured *measured = calloc(1, sizeof(*measured));
	struct sample sums = { .seconds = 0 };
	struct server_use use;
	int r;

	if (!measured)
		return -ENOMEM;
	if (options->cold)
		r = play_cold(contender, load, &sums, measured, error);
	else
		r = play(contender, load, (uint64_t)(options->seconds * 1e9), &sums, measured);
	if (r == 0) {
		server_read(&contender->server, true, &use);
		sums.resident_bytes = use.resident_bytes;
		sums.resident_bytes_before = resident_before;
		sums.system_calls = NAN;
		sums.first_byte_us = quantiles(&measured->first_byte);
		sums.total_us = quantiles(&measured->total);
		histogram_add(&contender->measured.first_byte, &measured->first_byte);
		histogram_add(&contender->measured.total, &measured->total);
		*target_add_sample(result, contender->target) = sums;
	}
	free(measured);
	return r;
}

/* See that what was sent is there: each connection asks for what it has left. */
static int read_back(struct contender *contender, unsigned connections, const bool *interrupted,
		     char error[OPTIONS_ERROR_SIZE])
{
	struct plan plan;
	struct load load;
	int r = plan_read_back(&contender->plan, &plan, error);

	if (r == 0)
		r = load_open(&load, &plan, connections, interrupted, error);
	if (r < 0)
		return *interrupted ? -EINTR : r;
	load_close(&load);
	return 0;
}

int sample_take(struct contender *contender, struct result *result, unsigned connections,
		const bool *interrupted, char error[OPTIONS_ERROR_SIZE])
{
	const struct options *options = contender->plan.options;
	struct server_use before;
	struct load load;
	int r;

	find_again(contender);
	server_read(&contender->server, true, &before);
	r = load_open(&load, &contender->plan, connections, interrupted, error);
	if (r < 0)
		return *interrupted ? -EINTR : r;
	*error = 0;
	if (options->warmup > 0 && !options->cold)
		r = load_play(&load, (uint64_t)(options->warmup * 1e9));
	if (r == 0)
		r = measure(contender, &load, result, before.resident_bytes, error);
	if (r < 0 && !*error)
		snprintf(error, OPTIONS_ERROR_SIZE, "%s: %s", contender->plan.url->name,
			 strerror(-r));
	load_close(&load);
	if (r == 0 && options->verify && options->work == WORK_PUT)
		r = read_back(contender, connections, interrupted, error);
	return r;
}

int sample_count_calls(struct contender *contender, unsigned connections, const bool *interrupted,
		       double *ret_each)
{
	char error[OPTIONS_ERROR_SIZE];
	struct calls calls;
	struct load load;
	uint64_t requests = 0;
	int r = load_open(&load, &contender->plan, connections, interrupted, error);

	if (r < 0)
		return r;
	r = calls_open(&calls, &contender->server);
	if (r == 0)
		r = load_play(&load, COUNTING_NS);
	if (r == 0)
		requests = load.tally->requests;
	if (requests)
		*ret_each = (double)calls_read(&calls) / (double)requests;
	else if (r == 0)
		r = -ENODATA;
	calls_close(&calls);
	load_close(&load);
	return r;
}
