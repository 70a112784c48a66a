/* coldness.h: whether reading a piece of a file now would wait for a disk. */
#ifndef EDDYI_COLDNESS_H
#define EDDYI_COLDNESS_H

#include <eddy/base.h>

enum eddyi_coldness {
	EDDYI_ALWAYS_WARM, /* the file system has no disk */
	EDDYI_CACHESTAT,   /* the kernel can say of each page */
	EDDYI_PROBE,       /* reading with RWF_NOWAIT says of a byte */
	EDDYI_UNKNOWN,     /* nobody can say: take it for cold */
};

/* How to find out for the file system that `fd` lies on; `device` is its st_dev, or 0. Never suspends. */
enum eddyi_coldness eddyi_coldness_of(int fd, uint64_t device);

/* Whether every page of the piece is in the page cache. Never suspends, never waits for a disk. */
bool eddyi_coldness_is_warm(enum eddyi_coldness how, int fd, uint64_t offset, uint64_t len);

#endif
