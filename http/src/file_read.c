#include "file_read.h"

#include <eddy/io.h>
#include <errno.h>
#include <sys/uio.h>

int eddyi_file_read(int fd, char *buf, size_t len, uint64_t offset)
{
	while (len) {
		struct iovec iov = { buf, len };
		ssize_t r = preadv2(fd, &iov, 1, (off_t)offset, RWF_NOWAIT);

		if (r < 0 && (errno == EAGAIN || errno == EOPNOTSUPP))
			r = eddy_read(fd, buf, len, offset);
		else if (r < 0)
			r = -errno;
		if (r <= 0)
			return r < 0 ? (int)r : -ENODATA;
		buf += r;
		len -= (size_t)r;
		offset += (uint64_t)r;
	}
	return 0;
}
