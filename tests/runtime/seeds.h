/* seeds.h: runs under EDDY_CHAOS. */
#ifndef EDDY_TESTS_SEEDS_H
#define EDDY_TESTS_SEEDS_H

#include "expect.h"

#include <stdlib.h>

static inline void run_under(const char *chaos, eddy_task_fn *fn, void *arg)
{
	setenv("EDDY_CHAOS", chaos, 1);
	expect_run(NULL, fn, arg);
}

static inline void run_under_seeds(int seeds, const char *modes, eddy_task_fn *fn, void *arg)
{
	char text[64];

	for (int seed = 1; seed <= seeds; seed++) {
		snprintf(text, sizeof(text), "%d,%s", seed, modes);
		run_under(text, fn, arg);
	}
}

#endif
