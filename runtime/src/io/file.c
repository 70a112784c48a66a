#include "base/feature.h"
#include "base/uapi.h"
#include "base/written.h"
#include "core/op.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/offload.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open a file whose path is in the path cache. The kernel does not allow this with flags that may
 * create or change files. */
static int open_cached(int dir, const char *path, const struct open_how *how)
{
	struct open_how cached = *how;
	int fd;

	if (how->flags & (O_CREAT | O_TRUNC | __O_TMPFILE))
		return -EAGAIN;
	cached.resolve |= RESOLVE_CACHED;
	/* Like the ring, don't let a FIFO or device block the loop. */
	if (!(how->flags & O_PATH))
		cached.flags |= O_NONBLOCK;
	fd = eddyi_openat2_now(dir, path, &cached, sizeof(cached));
	if (fd < 0)
		return -errno;
	if (cached.flags != how->flags)
		eddyi_fcntl_now(fd, F_SETFL, (int)how->flags);
	return fd;
}

static int open_as_asked(int dir, const char *path, struct open_how *how)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_openat2(&sqe, dir, path, how);
	return eddyi_op_call_for(&sqe, "eddy_openat");
}

/* Open by the ring. A FIFO must not block a kernel worker until its other end is opened. */
static int open_by_ring(int dir, const char *path, struct open_how *how)
{
	struct open_how at_once = *how;
	int fd;

	if (!(how->flags & O_PATH))
		at_once.flags |= O_NONBLOCK;
	fd = open_as_asked(dir, path, &at_once);
	/* Another process has a lease on the file, which the kernel breaks in time. */
	if (fd == -EAGAIN && at_once.flags != how->flags)
		return open_as_asked(dir, path, how);
	if (fd >= 0 && at_once.flags != how->flags)
		eddyi_fcntl_now(fd, F_SETFL, (int)how->flags);
	return fd;
}

int eddy_openat2(int dir, const char *path, const struct open_how *how)
{
	struct open_how ours = *how;
	int fd;

	ours.flags |= O_CLOEXEC;
	if (eddy_is_cancelled())
		return -ECANCELED;
	fd = open_cached(dir, path, &ours);
	/* A seccomp filter or valgrind may not know openat2; the ring does. */
	if (fd != -EAGAIN && fd != -ENOSYS && fd != -EINTR)
		return eddyi_opened(fd);
	return eddyi_opened(open_by_ring(dir, path, &ours));
}

int eddy_openat(int dir, const char *path, int flags, mode_t mode)
{
	struct open_how how = { .flags = (unsigned)flags };

	/* openat2(2) rejects an unused mode. */
	if (flags & (O_CREAT | __O_TMPFILE))
		how.mode = mode;
	return eddy_openat2(dir, path, &how);
}

int eddy_statx(int dir, const char *path, int flags, unsigned mask, struct statx *ret_statx)
{
	struct io_uring_sqe sqe = { 0 };
	int r;

	io_uring_prep_statx(&sqe, dir, path, flags, mask, ret_statx);
	r = eddyi_op_call(&sqe);
	if (r == 0)
		eddyi_written(ret_statx, sizeof(*ret_statx));
	return r;
}

int eddy_renameat(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_renameat(&sqe, from_dir, from, to_dir, to, flags);
	return eddyi_op_call(&sqe);
}

int eddy_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_linkat(&sqe, from_dir, from, to_dir, to, flags);
	return eddyi_op_call(&sqe);
}

int eddy_unlinkat(int dir, const char *path, int flags)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_unlinkat(&sqe, dir, path, flags);
	return eddyi_op_call(&sqe);
}

int eddy_mkdirat(int dir, const char *path, mode_t mode)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_mkdirat(&sqe, dir, path, mode);
	return eddyi_op_call(&sqe);
}

int eddy_fsync(int fd, bool data_only)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_fsync(&sqe, fd, data_only ? IORING_FSYNC_DATASYNC : 0);
	return eddyi_op_call(&sqe);
}

int eddy_fallocate(int fd, int mode, uint64_t offset, uint64_t len)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_fallocate(&sqe, fd, mode, (off_t)offset, (off_t)len);
	return eddyi_op_call(&sqe);
}

struct truncation {
	int fd;
	uint64_t len;
};

static int truncate_in_pool(void *arg)
{
	struct truncation *truncation = arg;
	int r;

	do
		r = eddyi_ftruncate_now(truncation->fd, (off_t)truncation->len);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

int eddy_ftruncate(int fd, uint64_t len)
{
	struct io_uring_sqe sqe = { 0 };

	if (!eddyi_feature_is_there(EDDYI_FEATURE_FTRUNCATE)) {
		if (eddy_is_cancelled())
			return -ECANCELED;
		return eddy_offload(truncate_in_pool, &(struct truncation){ .fd = fd, .len = len });
	}
	io_uring_prep_rw(EDDYI_OP_FTRUNCATE, &sqe, fd, NULL, 0, len);
	return eddyi_op_call(&sqe);
}

/* ---- a whole file, by blocking calls ---- */

/* Return: the length, more than `max` if the file is longer; -errno. */
static ssize_t read_all(int fd, size_t max, char *bytes)
{
	size_t len = 0;
	ssize_t r;

	do {
		r = eddyi_read_now(fd, bytes + len, max + 1 - len);
		if (r > 0)
			len += (size_t)r;
	} while ((r > 0 && len <= max) || (r < 0 && errno == EINTR));
	return r < 0 ? -errno : (ssize_t)len;
}

static ssize_t load(int fd, size_t max, char **ret_bytes)
{
	struct stat st;
	char *bytes;
	ssize_t r;

	if (eddyi_fstat_now(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	bytes = malloc(max + 1);
	if (!bytes)
		return -ENOMEM;
	r = read_all(fd, max, bytes);
	if (r >= 0 && (size_t)r <= max) {
		bytes[r] = 0;
		*ret_bytes = bytes;
		return r;
	}
	/* It may contain a secret. */
	explicit_bzero(bytes, max + 1);
	free(bytes);
	return r < 0 ? r : -EFBIG;
}

ssize_t eddy_file_load(const char *path, size_t max, char **ret_bytes)
{
	/* Don't wait for a FIFO's writer, nor make a terminal the controlling one. */
	int fd = eddyi_open_now(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	ssize_t r;

	if (fd < 0)
		return -errno;
	r = load(fd, max, ret_bytes);
	eddyi_close_now(fd);
	return r;
}
