/* sample.h: one target of a cell: what is asked of it, who it is, and what was measured of it so far. */
#ifndef EDDY_BENCH_SAMPLE_H
#define EDDY_BENCH_SAMPLE_H

#include "load.h"
#include "result.h"
#include "server.h"

struct contender {
	struct plan plan;
	struct server server;
	struct target *target;
	struct histogram first_byte, total; /* of all rounds */
	uint64_t reconnects, errors, given_up, due;
	char first_error[OPTIONS_ERROR_SIZE];
};

/* Measure once: open the connections, warm up, measure, close them. Suspends.
 * Return: 0 and one sample more; -errno and a sentence in `error`. */
int sample_take(struct contender *contender, struct result *result, unsigned connections,
		const bool *interrupted, char error[OPTIONS_ERROR_SIZE]);

#endif
