/* cached.h: which of a folder's files are in the page cache, and how they get out of it. */
#ifndef EDDY_BENCH_CACHED_H
#define EDDY_BENCH_CACHED_H

#include "options.h"

#include <stdint.h>

/* Bytes of the regular files in a folder, and in those below it. */
struct cached {
	uint64_t all;
	uint64_t here; /* in the page cache, rounded up to pages */
};

/* Look. Blocks. Return: 0; -errno and a sentence in `error`. */
int cached_look(const char *folder, struct cached *ret_cached, char error[OPTIONS_ERROR_SIZE]);

/* Drop them all, and make sure that they are gone. Blocks. Return: as cached_look(); -EBUSY where they stay. */
int cached_drop(const char *folder, char error[OPTIONS_ERROR_SIZE]);

#endif
