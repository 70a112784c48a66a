/* micro.h: what one sample is. A program does one thing over and over for a while, on processor time
 * rather than on the wall's, which other work of the machine bends, and prints what it cost.
 *
 *     struct micro micro = micro_begin(seconds);
 *
 *     do {
 *             for (int i = 0; i < 1000; i++)
 *                     the_thing();
 *     } while (micro_goes_on(&micro, 1000));
 *     micro_print(&micro);
 *
 * Nothing of it suspends; it may be used inside a task.
 */
#ifndef EDDY_BENCH_MICRO_H
#define EDDY_BENCH_MICRO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct micro {
	double seconds; /* of processor time that are enough */
	uint64_t begun_cpu_ns;
	uint64_t begun_wall_ns;
	uint64_t cpu_ns;
	uint64_t wall_ns;
	uint64_t count;
	bool warm;
};

static inline uint64_t micro_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static inline void micro_restart(struct micro *micro)
{
	micro->count = 0;
	micro->begun_wall_ns = micro_clock(CLOCK_MONOTONIC);
	micro->begun_cpu_ns = micro_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static inline struct micro micro_begin(double seconds)
{
	struct micro micro = { .seconds = seconds };

	micro_restart(&micro);
	return micro;
}

/* `count` more have been done. The first tenth of the time is warm-up and does not count. Return:
 * whether to go on. */
static inline bool micro_goes_on(struct micro *micro, uint64_t count)
{
	double enough = micro->seconds * 1e9;

	micro->count += count;
	micro->cpu_ns = micro_clock(CLOCK_PROCESS_CPUTIME_ID) - micro->begun_cpu_ns;
	micro->wall_ns = micro_clock(CLOCK_MONOTONIC) - micro->begun_wall_ns;
	if (!micro->warm && ((double)micro->cpu_ns > enough / 10 || enough == 0)) {
		micro->warm = true;
		micro_restart(micro);
		return true;
	}
	/* What mostly waits is not measured for ever. */
	return (double)micro->cpu_ns < enough && (double)micro->wall_ns < 5 * enough;
}

static inline void micro_print(const struct micro *micro)
{
	printf("{\"cpu_ns\": %.3f, \"wall_ns\": %.3f, \"count\": %llu}\n",
	       (double)micro->cpu_ns / (double)micro->count,
	       (double)micro->wall_ns / (double)micro->count, (unsigned long long)micro->count);
	fflush(stdout);
}

static inline void micro_die(const char *what)
{
	perror(what);
	exit(1);
}

#endif
