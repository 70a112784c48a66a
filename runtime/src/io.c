#include <eddy/io.h>

#include "config.h"
#include "loop.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#if EDDYI_HAVE_VALGRIND
#include <valgrind/memcheck.h>
#endif

/* Declare `op` and `sqe` for one awaited entry, or return -ECANCELED. */
#define BEGIN(op, sqe)                                                                             \
	struct eddy_op op;                                                                         \
	struct io_uring_sqe *sqe = eddy_op_begin_await(&op);                                       \
	if (!sqe)                                                                                  \
	return -ECANCELED

/* A ring entry holds 32 bits of length, and read(2) moves no more than this at once. */
#define LEN_MAX 0x7ffff000

static unsigned clamp(size_t len)
{
	return len < LEN_MAX ? (unsigned)len : LEN_MAX;
}

/* Valgrind sees nothing of what the ring writes. */
static ssize_t written(const void *buf, ssize_t len)
{
#if EDDYI_HAVE_VALGRIND
	if (len > 0)
		VALGRIND_MAKE_MEM_DEFINED(buf, len);
#else
	(void)buf;
#endif
	return len;
}

static ssize_t written_parts(const struct msghdr *msg, ssize_t len)
{
	ssize_t left = len;

	for (size_t i = 0; i < msg->msg_iovlen && left > 0; i++) {
		ssize_t part = (ssize_t)msg->msg_iov[i].iov_len;

		written(msg->msg_iov[i].iov_base, part < left ? part : left);
		left -= part;
	}
	return len;
}

int eddy_accept(int fd, struct sockaddr *ret_addr, socklen_t *len)
{
	BEGIN(op, sqe);
	io_uring_prep_accept(sqe, fd, ret_addr, len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return eddy_op_await(&op, sqe);
}

int eddy_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	BEGIN(op, sqe);
	io_uring_prep_connect(sqe, fd, addr, len);
	return eddy_op_await(&op, sqe);
}

ssize_t eddy_recv(int fd, void *buf, size_t len, int flags)
{
	BEGIN(op, sqe);
	io_uring_prep_recv(sqe, fd, buf, clamp(len), flags);
	return written(buf, eddy_op_await(&op, sqe));
}

ssize_t eddy_send(int fd, const void *buf, size_t len, int flags)
{
	BEGIN(op, sqe);
	io_uring_prep_send(sqe, fd, buf, clamp(len), flags | MSG_NOSIGNAL);
	return eddy_op_await(&op, sqe);
}

int eddy_send_all(int fd, const void *buf, size_t len, int flags)
{
	const char *at = buf;

	while (len) {
		ssize_t r = eddy_send(fd, at, len, flags);

		if (r < 0)
			return (int)r;
		at += r;
		len -= (size_t)r;
	}
	return 0;
}

ssize_t eddy_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	BEGIN(op, sqe);
	io_uring_prep_sendmsg(sqe, fd, msg, (unsigned)flags | MSG_NOSIGNAL);
	return eddy_op_await(&op, sqe);
}

ssize_t eddy_recvmsg(int fd, struct msghdr *msg, int flags)
{
	BEGIN(op, sqe);
	io_uring_prep_recvmsg(sqe, fd, msg, (unsigned)flags);
	return written_parts(msg, eddy_op_await(&op, sqe));
}

ssize_t eddy_read(int fd, void *buf, size_t len, uint64_t offset)
{
	BEGIN(op, sqe);
	io_uring_prep_read(sqe, fd, buf, clamp(len), offset);
	return written(buf, eddy_op_await(&op, sqe));
}

ssize_t eddy_write(int fd, const void *buf, size_t len, uint64_t offset)
{
	BEGIN(op, sqe);
	io_uring_prep_write(sqe, fd, buf, clamp(len), offset);
	return eddy_op_await(&op, sqe);
}

ssize_t eddy_splice(int fd_in, uint64_t offset_in, int fd_out, uint64_t offset_out, size_t len,
		    unsigned flags)
{
	BEGIN(op, sqe);
	io_uring_prep_splice(sqe, fd_in, (int64_t)offset_in, fd_out, (int64_t)offset_out,
			     clamp(len), flags);
	return eddy_op_await(&op, sqe);
}

int eddy_poll(int fd, unsigned events)
{
	BEGIN(op, sqe);
	io_uring_prep_poll_add(sqe, fd, events);
	return eddy_op_await(&op, sqe);
}

/* Ask for what the path cache holds; it is refused for whatever changes the tree. */
static int open_cached(int dir, const char *path, const struct open_how *how)
{
	struct open_how cached = *how;
	long fd;

	if (how->flags & (O_CREAT | O_TRUNC | __O_TMPFILE))
		return -EAGAIN;
	cached.resolve |= RESOLVE_CACHED;
	/* As the ring does it: a FIFO or a device must not hold the loop until somebody comes. */
	if (!(how->flags & O_PATH))
		cached.flags |= O_NONBLOCK;
	fd = syscall(SYS_openat2, dir, path, &cached, sizeof(cached));
	if (fd < 0)
		return -errno;
	if (cached.flags != how->flags)
		fcntl((int)fd, F_SETFL, (int)how->flags);
	return (int)fd;
}

int eddy_openat2(int dir, const char *path, const struct open_how *how)
{
	struct open_how ours = *how;
	int fd;

	ours.flags |= O_CLOEXEC;
	if (eddy_is_cancelled())
		return -ECANCELED;
	fd = open_cached(dir, path, &ours);
	/* A filter of system calls, or valgrind, may know no openat2; the ring does. */
	if (fd != -EAGAIN && fd != -ENOSYS)
		return fd;
	BEGIN(op, sqe);
	io_uring_prep_openat2(sqe, dir, path, &ours);
	return eddy_op_await(&op, sqe);
}

int eddy_close(int fd)
{
	struct eddy_scope shield;
	struct eddy_op op;
	struct io_uring_sqe *sqe;
	int r;

	/* Ops that have no descriptor stand under such numbers. */
	if (fd < 0)
		return -EBADF;
	eddyi_op_cancel_fd(fd);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	sqe = eddy_op_begin_await(&op);
	io_uring_prep_close(sqe, fd);
	r = eddy_op_await(&op, sqe);
	eddy_scope_end(&shield);
	return r;
}

int eddy_shutdown(int fd, int how)
{
	BEGIN(op, sqe);
	io_uring_prep_shutdown(sqe, fd, how);
	return eddy_op_await(&op, sqe);
}

int eddy_statx(int dir, const char *path, int flags, unsigned mask, struct statx *ret_statx)
{
	int r;

	BEGIN(op, sqe);
	io_uring_prep_statx(sqe, dir, path, flags, mask, ret_statx);
	r = eddy_op_await(&op, sqe);
	if (r == 0)
		written(ret_statx, sizeof(*ret_statx));
	return r;
}

int eddy_fsync(int fd, bool data_only)
{
	BEGIN(op, sqe);
	io_uring_prep_fsync(sqe, fd, data_only ? IORING_FSYNC_DATASYNC : 0);
	return eddy_op_await(&op, sqe);
}

int eddy_fallocate(int fd, int mode, uint64_t offset, uint64_t len)
{
	BEGIN(op, sqe);
	io_uring_prep_fallocate(sqe, fd, mode, (off_t)offset, (off_t)len);
	return eddy_op_await(&op, sqe);
}

int eddy_renameat(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	BEGIN(op, sqe);
	io_uring_prep_renameat(sqe, from_dir, from, to_dir, to, flags);
	return eddy_op_await(&op, sqe);
}

int eddy_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	BEGIN(op, sqe);
	io_uring_prep_linkat(sqe, from_dir, from, to_dir, to, flags);
	return eddy_op_await(&op, sqe);
}

int eddy_unlinkat(int dir, const char *path, int flags)
{
	BEGIN(op, sqe);
	io_uring_prep_unlinkat(sqe, dir, path, flags);
	return eddy_op_await(&op, sqe);
}

int eddy_mkdirat(int dir, const char *path, mode_t mode)
{
	BEGIN(op, sqe);
	io_uring_prep_mkdirat(sqe, dir, path, mode);
	return eddy_op_await(&op, sqe);
}
