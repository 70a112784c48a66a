/* coldness.h: whether a read from a file would wait for a disk now. */
#ifndef EDDYI_COLDNESS_H
#define EDDYI_COLDNESS_H

#include <eddy/base.h>

enum eddyi_coldness {
	EDDYI_ALWAYS_WARM, /* the file system has no disk */
	EDDYI_CACHESTAT,   /* cachestat(2) tells for each page */
	EDDYI_PROBE,       /* a read with RWF_NOWAIT tells for a byte */
	EDDYI_UNKNOWN,     /* no way to tell: treat as cold */
};

/* Get the method for the file system of `fd`; `device` is its st_dev, or 0. Never suspends. */
enum eddyi_coldness eddyi_coldness_of(int fd, uint64_t device);

/* Whether all pages of the range are in the page cache. Never suspends, never waits for a disk. */
bool eddyi_coldness_is_warm(enum eddyi_coldness how, int fd, uint64_t offset, uint64_t len);

#endif
