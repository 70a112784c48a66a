/* freed.h: what is in memory at the moment that it is freed. The test program is linked so that whatever eddy's objects
 * free comes by here first (--wrap). */
#ifndef EDDY_TESTS_FREED_H
#define EDDY_TESTS_FREED_H

#include <eddy/str.h>

/* Look for `secret` in the memory at `at` when that is freed; NULL: in all that is. */
void freed_watch(const void *at, struct eddy_str secret);

extern int freed_count;        /* how often that memory was freed */
extern bool freed_with_secret; /* it was still there */

#endif
