/* limit.h: as many open files as a benchmark needs. */
#ifndef EDDY_BENCH_LIMIT_H
#define EDDY_BENCH_LIMIT_H

#include "options.h"

/* Raise this process's limit as far as it goes. Return: 0; -EMFILE and a sentence where that is too few. */
int limit_raise(unsigned connections, char error[OPTIONS_ERROR_SIZE]);

#endif
