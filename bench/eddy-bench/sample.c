#include "sample.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <eddy/loop.h>

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

static void read_moment(const struct contender *contender, const struct load *load, bool memory,
			struct moment *ret_moment)
{
	ret_moment->own_cpu = own_cpu();
	ret_moment->retransmits = load_retransmits(load);
	server_read(&contender->server, memory, &ret_moment->use);
}

static void fill(struct sample *sample, const struct load *load, const struct moment *before,
		 const struct moment *after)
{
	const struct tally *tally = load->tally;

	sample->seconds = (double)load->elapsed_ns / 1e9;
	sample->requests = (double)tally->requests;
	sample->bytes = (double)tally->bytes;
	sample->errors = (double)tally->errors;
	sample->client_cpu_seconds = after->own_cpu - before->own_cpu;
	sample->cpu_seconds = more(before->use.cpu_seconds, after->use.cpu_seconds);
	sample->voluntary_switches = more(before->use.voluntary, after->use.voluntary);
	sample->involuntary_switches = more(before->use.involuntary, after->use.involuntary);
	sample->threads = after->use.threads;
	sample->resident_bytes = after->use.resident_bytes;
	sample->retransmits = (double)(after->retransmits - before->retransmits);
	sample->first_byte_us = quantiles(&tally->first_byte);
	sample->total_us = quantiles(&tally->total);
}

static void keep(struct contender *contender, const struct load *load)
{
	const struct tally *tally = load->tally;

	histogram_add(&contender->first_byte, &tally->first_byte);
	histogram_add(&contender->total, &tally->total);
	contender->reconnects += tally->reconnects;
	contender->errors += tally->errors;
	contender->due += load->due;
	contender->given_up += load->given_up;
	if (!*contender->first_error)
		memcpy(contender->first_error, tally->error, sizeof(tally->error));
}

/* The load is open, and warm. */
static int measure(struct contender *contender, struct load *load, struct result *result,
		   double resident_before)
{
	const struct options *options = contender->plan.options;
	struct moment before, after;
	struct sample *sample;
	int r;

	read_moment(contender, load, false, &before);
	/* To read it has cost some. */
	before.own_cpu = own_cpu();
	r = load_play(load, (uint64_t)(options->seconds * 1e9));
	if (r < 0)
		return r;
	read_moment(contender, load, true, &after);
	if (*load->interrupted)
		return -EINTR;
	sample = target_add_sample(result, contender->target);
	fill(sample, load, &before, &after);
	sample->resident_bytes_before = resident_before;
	keep(contender, load);
	return 0;
}

int sample_take(struct contender *contender, struct result *result, unsigned connections,
		const bool *interrupted, char error[OPTIONS_ERROR_SIZE])
{
	const struct options *options = contender->plan.options;
	struct server_use before;
	struct load load;
	int r;

	server_read(&contender->server, true, &before);
	r = load_open(&load, &contender->plan, connections, interrupted, error);
	if (r < 0)
		return *interrupted ? -EINTR : r;
	if (options->warmup > 0)
		r = load_play(&load, (uint64_t)(options->warmup * 1e9));
	if (r == 0)
		r = measure(contender, &load, result, before.resident_bytes);
	if (r < 0)
		snprintf(error, OPTIONS_ERROR_SIZE, "%s: %s", contender->plan.url->name,
			 strerror(-r));
	load_close(&load);
	return r;
}
