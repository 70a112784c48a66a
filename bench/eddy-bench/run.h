/* run.h: all cells of a command line, in rounds in which the targets take turns. */
#ifndef EDDY_BENCH_RUN_H
#define EDDY_BENCH_RUN_H

#include "options.h"
#include "result.h"

/* Measure, and fill in `result`, which has what was measured also where it failed in the end, or SIGINT ended it. In a
 * task. Suspends. Return: 0; -EINTR after a SIGINT; -errno, and a sentence in `error`. */
int run(const struct options *options, struct result *result, char error[OPTIONS_ERROR_SIZE]);

#endif
