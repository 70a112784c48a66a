#include "figures.h"

#include <math.h>
#include <string.h>

#define GIB 1073741824.0

static bool is_big(const struct cell *cell)
{
	return cell->size >= FIGURES_BIG_SIZE;
}

/* NAN where there is nothing to divide by. */
static double each(double what, double of)
{
	return of > 0 ? what / of : NAN;
}

static double per_unit(const struct cell *cell, const struct sample *sample, double what)
{
	return is_big(cell) ? each(what, sample->bytes / GIB) : each(what, sample->requests);
}

#define FIGURE(name)                                                                               \
	static double name(const struct cell *cell __attribute__((unused)),                        \
			   const struct target *target __attribute__((unused)),                    \
			   const struct sample *sample)

/* A sample of a server that was lost says nothing. */
static bool is_lost(const struct sample *sample)
{
	return !sample->requests && sample->errors > 0;
}

FIGURE(bytes_rate)
{
	return is_lost(sample) ? NAN : each(sample->bytes / 1e9, sample->seconds);
}

FIGURE(requests_rate)
{
	return is_lost(sample) ? NAN : each(sample->requests, sample->seconds);
}

FIGURE(throughput)
{
	return is_big(cell) ? bytes_rate(cell, target, sample) :
			      requests_rate(cell, target, sample);
}

FIGURE(cpu_gib)
{
	return each(sample->cpu_seconds, sample->bytes / GIB);
}

FIGURE(cpu_request)
{
	return each(sample->cpu_seconds * 1e6, sample->requests);
}

FIGURE(cpu)
{
	return is_big(cell) ? cpu_gib(cell, target, sample) : cpu_request(cell, target, sample);
}

FIGURE(system_calls)
{
	return per_unit(cell, sample, sample->system_calls);
}

FIGURE(switches)
{
	return per_unit(cell, sample, sample->voluntary_switches + sample->involuntary_switches);
}

FIGURE(resident_each)
{
	double connections = isnan(target->connections) ? cell->connections : target->connections;

	return each(fmax(sample->resident_bytes - sample->resident_bytes_before, 0), connections);
}

FIGURE(resident)
{
	return sample->resident_bytes;
}

FIGURE(threads)
{
	return sample->threads;
}

FIGURE(client_busy)
{
	return each(sample->client_cpu_seconds, sample->seconds);
}

#define MEMBER(name, member)                                                                       \
	FIGURE(name)                                                                               \
	{                                                                                          \
		return sample->member;                                                             \
	}

MEMBER(first_byte_p50, first_byte_us.p50)
MEMBER(first_byte_p90, first_byte_us.p90)
MEMBER(first_byte_p99, first_byte_us.p99)
MEMBER(first_byte_p999, first_byte_us.p999)
MEMBER(p50, total_us.p50)
MEMBER(p90, total_us.p90)
MEMBER(p99, total_us.p99)
MEMBER(p999, total_us.p999)
MEMBER(slowest, total_us.max)
MEMBER(retransmits, retransmits)
MEMBER(errors, errors)

/* clang-format off */
const struct figure figures[] = {
	{ "throughput", "throughput", UNIT_BY_SIZE, true, true, false, throughput },
	{ "bytes_rate", "bytes", UNIT_GB_PER_SECOND, true, true, false, bytes_rate },
	{ "requests_rate", "requests", UNIT_REQUESTS_PER_SECOND, true, true, false, requests_rate },
	{ "cpu", "CPU time", UNIT_BY_SIZE, false, false, false, cpu },
	{ "cpu_gib", "CPU time for each GiB", UNIT_SECONDS_PER_GIB, false, false, false, cpu_gib },
	{ "cpu_request", "CPU time for each request", UNIT_MICROSECONDS, false, false, false, cpu_request },
	{ "system_calls", "system calls", UNIT_BY_SIZE, false, false, false, system_calls },
	{ "switches", "context switches", UNIT_BY_SIZE, false, false, false, switches },
	{ "first_byte_p50", "first byte p50", UNIT_MICROSECONDS, false, true, false, first_byte_p50 },
	{ "first_byte_p90", "first byte p90", UNIT_MICROSECONDS, false, true, false, first_byte_p90 },
	{ "first_byte_p99", "first byte p99", UNIT_MICROSECONDS, false, true, false, first_byte_p99 },
	{ "first_byte_p999", "first byte p99.9", UNIT_MICROSECONDS, false, true, false, first_byte_p999 },
	{ "p50", "p50", UNIT_MICROSECONDS, false, true, false, p50 },
	{ "p90", "p90", UNIT_MICROSECONDS, false, true, false, p90 },
	{ "p99", "p99", UNIT_MICROSECONDS, false, true, false, p99 },
	{ "p999", "p99.9", UNIT_MICROSECONDS, false, true, false, p999 },
	{ "max", "slowest", UNIT_MICROSECONDS, false, true, false, slowest },
	{ "resident_each", "memory for each connection", UNIT_BYTES, false, false, false, resident_each },
	{ "resident", "resident memory", UNIT_BYTES, false, false, false, resident },
	{ "threads", "threads", UNIT_COUNT, false, false, false, threads },
	{ "threads_more", "threads", UNIT_COUNT, false, false, true, threads },
	{ "retransmits", "retransmits", UNIT_COUNT, false, false, false, retransmits },
	{ "errors", "errors", UNIT_COUNT, false, false, false, errors },
	{ "client_busy", "client's processor", UNIT_SHARE, false, false, false, client_busy },
	{ 0 },
};
/* clang-format on */

const struct figure *figure_find(const char *name)
{
	for (const struct figure *figure = figures; figure->name; figure++)
		if (strcmp(figure->name, name) == 0)
			return figure;
	return NULL;
}

enum unit figure_unit(const struct figure *figure, const struct cell *cell)
{
	if (figure->unit != UNIT_BY_SIZE)
		return figure->unit;
	if (figure->of == throughput)
		return is_big(cell) ? UNIT_GB_PER_SECOND : UNIT_REQUESTS_PER_SECOND;
	if (figure->of == cpu)
		return is_big(cell) ? UNIT_SECONDS_PER_GIB : UNIT_MICROSECONDS;
	return is_big(cell) ? UNIT_PER_GIB : UNIT_PER_REQUEST;
}

size_t figure_values(const struct figure *figure, const struct cell *cell,
		     const struct target *target, const struct target *against,
		     double values[RESULT_SAMPLES_MAX])
{
	size_t count = target->sample_count;

	if (against && against->sample_count < count)
		count = against->sample_count;
	if (count > RESULT_SAMPLES_MAX)
		count = RESULT_SAMPLES_MAX;
	for (size_t i = 0; i < count; i++) {
		values[i] = figure->of(cell, target, target->samples[i]);
		if (against) {
			double other = figure->of(cell, against, against->samples[i]);

			values[i] = figure->is_difference ? values[i] - other :
							    each(values[i], other);
		}
	}
	return count;
}

struct estimate figure_estimate(const struct figure *figure, const struct cell *cell,
				const struct target *target)
{
	return figure_against(figure, cell, target, NULL);
}

struct estimate figure_against(const struct figure *figure, const struct cell *cell,
			       const struct target *target, const struct target *against)
{
	double values[RESULT_SAMPLES_MAX];
	size_t count = figure_values(figure, cell, target, against, values);

	return estimate_of(values, count);
}

bool figure_is_clients(const struct figure *figure, const struct cell *cell,
		       const struct target *target)
{
	const struct figure *busy = figure_find("client_busy");

	return figure->is_clients &&
	       figure_estimate(busy, cell, target).median >= FIGURES_CLIENT_BUSY;
}
