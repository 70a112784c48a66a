/* remarks.h: what a reader of a cell has to know before he believes it. */
#ifndef EDDY_BENCH_REMARKS_H
#define EDDY_BENCH_REMARKS_H

#include "result.h"

/* Add to each cell, and to the result, what its samples say themselves: the client was saturated, there were errors,
 * rounds are few. What is there already is not said again. */
void remarks_derive(struct result *result);

#endif
