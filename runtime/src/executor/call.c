#include "call.h"

#include "base/uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum eddyi_call_kind eddyi_call_kind(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_NOP:
	case IORING_OP_SHUTDOWN:
	case IORING_OP_SOCKET:
	case IORING_OP_EPOLL_CTL:
	case EDDYI_OP_PIPE:
		return EDDYI_CALL_QUICK;
	case IORING_OP_CLOSE:
	case IORING_OP_OPENAT:
	case IORING_OP_OPENAT2:
	case IORING_OP_STATX:
	case IORING_OP_RENAMEAT:
	case IORING_OP_LINKAT:
	case IORING_OP_SYMLINKAT:
	case IORING_OP_UNLINKAT:
	case IORING_OP_MKDIRAT:
	case IORING_OP_FSYNC:
	case IORING_OP_SYNC_FILE_RANGE:
	case IORING_OP_FALLOCATE:
	case IORING_OP_FADVISE:
	case IORING_OP_MADVISE:
	case IORING_OP_SETXATTR:
	case IORING_OP_GETXATTR:
	case IORING_OP_FSETXATTR:
	case IORING_OP_FGETXATTR:
	case EDDYI_OP_FTRUNCATE:
		return EDDYI_CALL_FILE;
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
	case IORING_OP_SEND:
	case IORING_OP_SENDMSG:
	case IORING_OP_SEND_ZC:
	case IORING_OP_SENDMSG_ZC:
	case IORING_OP_ACCEPT:
	case IORING_OP_CONNECT:
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		return EDDYI_CALL_STREAM;
	case IORING_OP_POLL_ADD:
	case IORING_OP_POLL_REMOVE:
	case IORING_OP_TIMEOUT:
	case IORING_OP_TIMEOUT_REMOVE:
	case IORING_OP_LINK_TIMEOUT:
	case IORING_OP_ASYNC_CANCEL:
		return EDDYI_CALL_OWN;
	}
	return EDDYI_CALL_UNKNOWN;
}

static void *pointer(uint64_t value)
{
	return (void *)(uintptr_t)value;
}

/* The result of a system call as that of an operation. */
static int result(long r)
{
	return r < 0 ? -errno : (int)r;
}

/* The bytes of a read or write. */
struct parts {
	struct iovec one;
	const struct iovec *all;
	int count;
};

static void parts_of(const struct io_uring_sqe *sqe, struct parts *ret_parts)
{
	ret_parts->one = (struct iovec){ pointer(sqe->addr), sqe->len };
	ret_parts->all = &ret_parts->one;
	ret_parts->count = 1;
	if (sqe->opcode == IORING_OP_READV || sqe->opcode == IORING_OP_WRITEV) {
		ret_parts->all = pointer(sqe->addr);
		ret_parts->count = (int)sqe->len;
	}
}

static int read_or_write(const struct io_uring_sqe *sqe, int flags)
{
	bool writes = sqe->opcode == IORING_OP_WRITE || sqe->opcode == IORING_OP_WRITEV;
	off_t offset = (off_t)sqe->off;
	struct parts parts;
	ssize_t r;

	parts_of(sqe, &parts);
	flags |= (int)sqe->rw_flags;
	do {
		if (!flags && offset == -1)
			r = writes ? writev(sqe->fd, parts.all, parts.count) :
				     readv(sqe->fd, parts.all, parts.count);
		else
			r = writes ? pwritev2(sqe->fd, parts.all, parts.count, offset, flags) :
				     preadv2(sqe->fd, parts.all, parts.count, offset, flags);
		/* A ring ignores the offset where there is no position. */
		if (r >= 0 || errno != ESPIPE || offset == -1)
			return result(r);
		offset = -1;
	} while (true);
}

int eddyi_call_without_waiting(const struct io_uring_sqe *sqe)
{
	int r = read_or_write(sqe, RWF_NOWAIT);

	/* Before Linux 4.14, in some sandboxes, or for a flag of a newer kernel. */
	return r == -ENOSYS || r == -EPERM ? -EOPNOTSUPP : r;
}

static int open_file(const struct io_uring_sqe *sqe)
{
	if (sqe->file_index)
		return -EINVAL;
	if (sqe->opcode == IORING_OP_OPENAT2)
		return result(syscall(SYS_openat2, sqe->fd, pointer(sqe->addr), pointer(sqe->off),
				      (size_t)sqe->len));
	return result(openat(sqe->fd, pointer(sqe->addr), (int)sqe->open_flags, (mode_t)sqe->len));
}

static int move(const struct io_uring_sqe *sqe)
{
	loff_t in = (loff_t)sqe->splice_off_in, out = (loff_t)sqe->off;

	if (sqe->splice_flags & SPLICE_F_FD_IN_FIXED)
		return -EBADF;
	if (sqe->opcode == IORING_OP_TEE)
		return result(tee(sqe->splice_fd_in, sqe->fd, sqe->len, sqe->splice_flags));
	return result(splice(sqe->splice_fd_in, in == -1 ? NULL : &in, sqe->fd,
			     out == -1 ? NULL : &out, sqe->len, sqe->splice_flags));
}

int eddyi_call(const struct io_uring_sqe *sqe)
{
	int fd = sqe->fd, flags = (int)sqe->rw_flags;
	void *first = pointer(sqe->addr), *second = pointer(sqe->addr2);

	switch (sqe->opcode) {
	case IORING_OP_NOP:
		return 0;
	case IORING_OP_SHUTDOWN:
		return result(shutdown(fd, (int)sqe->len));
	case IORING_OP_SOCKET:
		return sqe->file_index ? -EINVAL : result(socket(fd, (int)sqe->off, (int)sqe->len));
	case IORING_OP_EPOLL_CTL:
		return result(epoll_ctl(fd, (int)sqe->len, (int)sqe->off, first));
	case EDDYI_OP_PIPE:
		return result(pipe2(first, flags));
	case IORING_OP_CLOSE:
		return sqe->file_index ? -EINVAL : result(close(fd));
	case IORING_OP_OPENAT:
	case IORING_OP_OPENAT2:
		return open_file(sqe);
	case IORING_OP_STATX:
		return result(syscall(SYS_statx, fd, first, flags, sqe->len, second));
	case IORING_OP_RENAMEAT:
		return result(syscall(SYS_renameat2, fd, first, (int)sqe->len, second, flags));
	case IORING_OP_LINKAT:
		return result(linkat(fd, first, (int)sqe->len, second, flags));
	case IORING_OP_SYMLINKAT:
		return result(symlinkat(first, fd, second));
	case IORING_OP_UNLINKAT:
		return result(unlinkat(fd, first, flags));
	case IORING_OP_MKDIRAT:
		return result(mkdirat(fd, first, (mode_t)sqe->len));
	case IORING_OP_FSYNC:
		return result(flags & IORING_FSYNC_DATASYNC ? fdatasync(fd) : fsync(fd));
	case IORING_OP_SYNC_FILE_RANGE:
		return result(sync_file_range(fd, (off_t)sqe->off, sqe->len, (unsigned)flags));
	case IORING_OP_FALLOCATE:
		return result(fallocate(fd, (int)sqe->len, (off_t)sqe->off, (off_t)sqe->addr));
	case IORING_OP_FADVISE:
		return -posix_fadvise(fd, (off_t)sqe->off, sqe->len, flags);
	case IORING_OP_MADVISE:
		return result(madvise(first, sqe->len, flags));
	case IORING_OP_SETXATTR:
		return result(setxattr(pointer(sqe->addr3), first, second, sqe->len, flags));
	case IORING_OP_GETXATTR:
		return result(getxattr(pointer(sqe->addr3), first, second, sqe->len));
	case IORING_OP_FSETXATTR:
		return result(fsetxattr(fd, first, second, sqe->len, flags));
	case IORING_OP_FGETXATTR:
		return result(fgetxattr(fd, first, second, sqe->len));
	case EDDYI_OP_FTRUNCATE:
		return result(ftruncate(fd, (off_t)sqe->off));
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
		return read_or_write(sqe, 0);
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		return move(sqe);
	}
	return -EINVAL;
}
