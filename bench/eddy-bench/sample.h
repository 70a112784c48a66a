/* sample.h: one target of a cell: what is asked of it, who it is, and what was measured of it so far. */
#ifndef EDDY_BENCH_SAMPLE_H
#define EDDY_BENCH_SAMPLE_H

#include "load.h"
#include "result.h"
#include "server.h"

/* How long requests took. */
struct measured {
	struct histogram first_byte, total;
};

struct contender {
	struct plan plan;
	struct server server;
	struct target *target;
	struct measured measured; /* in all rounds */
	uint64_t reconnects, given_up, due;
	char first_error[OPTIONS_ERROR_SIZE];
};

/* Measure once: open the connections, warm up, measure, close them. Of cold files each connection
 * asks once, again and again, and all are dropped in between. Suspends.
 * Return: 0 and one sample more; -errno and a sentence in `error`. */
int sample_take(struct contender *contender, struct result *result, unsigned connections,
		const bool *interrupted, char error[OPTIONS_ERROR_SIZE]);

/* Count the system calls of the server for each request, in a short run that is not measured otherwise. Suspends.
 * Return: 0, -errno of calls_open(), or of the load. */
int sample_count_calls(struct contender *contender, unsigned connections, const bool *interrupted,
		       double *ret_each);

#endif
