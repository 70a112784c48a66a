/* File pieces copied through the program's memory, because they are small or are processed. */
#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/transfer.h>

#include <eddy/io.h>
#include <eddy/scope.h>

#include "coldness.h"
#include "core/loop.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

/* Writing this much to memory takes some hundred microseconds at most. */
#define QUICK_WRITE EDDY_MIB

int eddyi_transfer_read(int file, void *buf, size_t len, uint64_t offset)
{
	char *at = buf;

	while (len) {
		struct iovec iov = { at, len };
		ssize_t r = eddyi_preadv2_now(file, &iov, 1, (off_t)offset, RWF_NOWAIT);

		if (r < 0 && (errno == EAGAIN || errno == EOPNOTSUPP))
			r = eddy_read(file, at, len, offset);
		else if (r < 0)
			r = -errno;
		if (r <= 0)
			return r < 0 ? (int)r : -ENODATA;
		eddyi_count(eddyi_loop()->transfer_stats.copied_out, (uint64_t)r);
		at += r;
		len -= (size_t)r;
		offset += (uint64_t)r;
	}
	return 0;
}

int eddy_transfer_write(int file, const void *buf, size_t len, uint64_t offset)
{
	/* The ring would use a worker, which costs more than the copy. */
	bool in_memory = eddyi_coldness_of(file, 0) == EDDYI_ALWAYS_WARM;
	const char *at = buf;

	while (len) {
		ssize_t r;

		if (in_memory && len <= QUICK_WRITE && !eddy_is_cancelled()) {
			r = eddyi_pwrite_now(file, at, len, (off_t)offset);
			r = r < 0 ? -errno : r;
		} else {
			r = eddy_write(file, at, len, offset);
		}
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? (int)r : -EIO;
		eddyi_count(eddyi_loop()->transfer_stats.copied_in, (uint64_t)r);
		at += r;
		len -= (size_t)r;
		offset += (uint64_t)r;
	}
	return 0;
}
