/* written.h: tells valgrind about memory that the ring writes. */
#ifndef EDDYI_WRITTEN_H
#define EDDYI_WRITTEN_H

#include "config.h"

#include <sys/types.h>
#include <sys/uio.h>
#if EDDYI_HAVE_VALGRIND
#include <valgrind/memcheck.h>
#endif

/* Note that `len` bytes were written, if above 0. Return: `len`. */
static inline ssize_t eddyi_written(const void *buf, ssize_t len)
{
#if EDDYI_HAVE_VALGRIND
	if (len > 0)
		VALGRIND_MAKE_MEM_DEFINED(buf, len);
#else
	(void)buf;
#endif
	return len;
}

static inline ssize_t eddyi_written_parts(const struct iovec *parts, size_t count, ssize_t len)
{
	ssize_t left = len;

	for (size_t i = 0; i < count && left > 0; i++) {
		ssize_t part = (ssize_t)parts[i].iov_len;

		eddyi_written(parts[i].iov_base, part < left ? part : left);
		left -= part;
	}
	return len;
}

#endif
