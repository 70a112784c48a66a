/* run.h: why a loop could not be made. */
#ifndef EDDYI_RUN_H
#define EDDYI_RUN_H

#include <eddy/loop.h>

/* Explain `error` of eddy_run(), and what to do. Return: static memory. */
const char *eddyi_run_advice(const struct eddy_loop_options *options, int error);

#endif
