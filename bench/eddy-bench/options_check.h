/* options_check.h: what options say together. */
#ifndef EDDY_BENCH_OPTIONS_CHECK_H
#define EDDY_BENCH_OPTIONS_CHECK_H

#include "options.h"

/* Look for what must not come together, or not alone. Return: 0; -EINVAL and a sentence in `error`. */
int options_check(const struct options *options, char error[OPTIONS_ERROR_SIZE]);

/* Write the sentence. Return: -EINVAL. */
int options_wrong(char error[OPTIONS_ERROR_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
