/* machine.h: what it is that a benchmark runs on. */
#ifndef EDDY_BENCH_MACHINE_H
#define EDDY_BENCH_MACHINE_H

#include "result.h"

/* Fill in result->machine and result->when. */
void machine_read(struct result *result);

/* The one processor that this process may run on; NAN when there are more. */
double machine_own_cpu(void);

#endif
