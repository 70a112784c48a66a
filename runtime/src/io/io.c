#include <eddy/io.h>

#include "acceptor.h"
#include "core/guest.h"
#include "base/feature.h"
#include "core/loop.h"
#include "core/op.h"
#include "base/uapi.h"
#include "base/written.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/outside.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* The result of a system call as a negated errno. */
static int plain(int r)
{
	return r < 0 ? -errno : r;
}

int eddy_socket(int family, int type, int protocol)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_socket(&sqe, family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol, 0);
	return eddyi_opened(eddyi_op_call(&sqe));
}

int eddy_accept(int fd, struct sockaddr *ret_addr, socklen_t *len)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_accept(&sqe, fd, ret_addr, len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return eddyi_opened(eddyi_op_call(&sqe));
}

/* Wait for a connection attempt, which continues after an interruption. */
static int await_connection(int fd)
{
	int error = 0, r = eddy_poll(fd, POLLOUT);
	socklen_t len = sizeof(error);

	if (r < 0)
		return r;
	if (eddyi_getsockopt_now(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return -errno;
	return -error;
}

int eddy_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct io_uring_sqe sqe = { 0 };
	bool interrupted = false;
	int r;

	io_uring_prep_connect(&sqe, fd, addr, len);
	while ((r = eddyi_op_call(&sqe)) == -EINTR)
		interrupted = true;
	if (interrupted && r == -EALREADY)
		return await_connection(fd);
	return interrupted && r == -EISCONN ? 0 : r;
}

ssize_t eddy_recv(int fd, void *buf, size_t len, int flags)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_recv(&sqe, fd, buf, eddyi_op_len(len), flags);
	return eddyi_written(buf, eddyi_op_call(&sqe));
}

ssize_t eddy_send(int fd, const void *buf, size_t len, int flags)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_send(&sqe, fd, buf, eddyi_op_len(len), flags | MSG_NOSIGNAL);
	return eddyi_op_call(&sqe);
}

ssize_t eddy_try_send(int fd, const void *buf, size_t len, int flags)
{
	struct eddy_loop *loop = eddyi_loop();
	ssize_t r;

	if (eddyi_is_hooked(loop, try_send)) {
		const size_t wanted = len;

		eddyi_tell(loop, try_send, fd, &len);
		if (!len && wanted)
			return -EAGAIN;
	}
	do
		r = eddyi_send_now(fd, buf, len, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

int eddy_send_all(int fd, const void *buf, size_t len, int flags)
{
	const char *at = buf;

	eddyi_task();
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
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_sendmsg(&sqe, fd, msg, (unsigned)flags | MSG_NOSIGNAL);
	return eddyi_op_call(&sqe);
}

ssize_t eddy_recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_recvmsg(&sqe, fd, msg, (unsigned)flags);
	return eddyi_written_parts(msg->msg_iov, msg->msg_iovlen, eddyi_op_call(&sqe));
}

ssize_t eddy_send_zc(int fd, const void *buf, size_t len, int flags)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_send_zc(&sqe, fd, buf, eddyi_op_len(len), flags | MSG_NOSIGNAL, 0);
	return eddyi_op_call(&sqe);
}

int eddy_shutdown(int fd, int how)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_shutdown(&sqe, fd, how);
	return eddyi_op_call(&sqe);
}

ssize_t eddy_read(int fd, void *buf, size_t len, uint64_t offset)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_read(&sqe, fd, buf, eddyi_op_len(len), offset);
	return eddyi_written(buf, eddyi_op_call(&sqe));
}

ssize_t eddy_write(int fd, const void *buf, size_t len, uint64_t offset)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_write(&sqe, fd, buf, eddyi_op_len(len), offset);
	return eddyi_op_call(&sqe);
}

int eddy_write_all(int fd, const void *buf, size_t len, uint64_t offset)
{
	const char *at = buf;

	eddyi_task();
	while (len) {
		ssize_t r = eddy_write(fd, at, len, offset);

		if (r <= 0)
			return r < 0 ? (int)r : -EIO;
		at += r;
		len -= (size_t)r;
		if (offset != EDDY_OFFSET_NONE)
			offset += (uint64_t)r;
	}
	return 0;
}

/* The two descriptors of a call that moves bytes. */
struct ends {
	int in, out;
	/* Events assumed for an end with an offset, which is a file and always ready; its poll(2)
	 * can wait for a FUSE daemon. 0 without an offset: poll(2) is called. */
	unsigned in_events, out_events;
};

/* Poll both ends without waiting. Return: whether both descriptors are open. */
static bool look_at(const struct ends *ends, unsigned *ret_in, unsigned *ret_out)
{
	struct pollfd fds[] = { { .fd = ends->in_events ? -1 : ends->in, .events = POLLIN },
				{ .fd = ends->out_events ? -1 : ends->out, .events = POLLOUT } };

	eddyi_poll_now(fds, 2, 0);
	*ret_in = ends->in_events | (unsigned)fds[0].revents;
	*ret_out = ends->out_events | (unsigned)fds[1].revents;
	return !((*ret_in | *ret_out) & POLLNVAL);
}

/* Whether the kernel allows the call: a splice needs at least one pipe. */
static bool has_pipe(const struct ends *ends)
{
	return eddyi_fcntl_now(ends->in, F_GETPIPE_SZ, 0) > 0 ||
	       eddyi_fcntl_now(ends->out, F_GETPIPE_SZ, 0) > 0;
}

/* Make a call that moves bytes between two descriptors once both are ready. The kernel hands it to
 * one of its few workers, which must not wait for a peer: the entry has SPLICE_F_NONBLOCK and is
 * submitted when the descriptors are ready. Without `waits`, returns -EAGAIN if they are not. */
static ssize_t call_when_ready(const struct io_uring_sqe *sqe, const struct ends *ends, bool waits)
{
	ssize_t r = 0;

	if (ends->in < 0 || ends->out < 0)
		return -EBADF;
	if (eddy_is_cancelled())
		return -ECANCELED;
	while (r >= 0) {
		unsigned in, out;
		bool ended;

		if (!look_at(ends, &in, &out))
			return -EBADF;
		/* The end of the stream needs no room. */
		ended = (in & (POLLIN | POLLHUP)) == POLLHUP;
		if (ended || (in && out) || !sqe->len)
			r = eddyi_op_call_for(sqe, "eddy_splice");
		else
			r = has_pipe(ends) ? -EAGAIN : -EINVAL;
		if (r != -EAGAIN || !waits)
			return r;
		if (!in)
			r = eddyi_op_poll_first(ends->in, POLLIN, ends->out);
		else if (!out)
			r = eddyi_op_poll_first(ends->out, POLLOUT, ends->in);
		else if (in & POLLIN && out & POLLOUT)
			r = 0; /* another reader or writer was faster */
		else
			return r; /* e.g. a socket's error queue keeps it ready */
	}
	return r;
}

ssize_t eddy_splice(int fd_in, uint64_t offset_in, int fd_out, uint64_t offset_out, size_t len,
		    unsigned flags)
{
	struct io_uring_sqe sqe = { 0 };
	struct ends ends = {
		.in = fd_in,
		.out = fd_out,
		.in_events = offset_in == EDDY_OFFSET_NONE ? 0 : POLLIN,
		.out_events = offset_out == EDDY_OFFSET_NONE ? 0 : POLLOUT,
	};

	io_uring_prep_splice(&sqe, fd_in, (int64_t)offset_in, fd_out, (int64_t)offset_out,
			     eddyi_op_len(len), flags | SPLICE_F_NONBLOCK);
	return call_when_ready(&sqe, &ends, !(flags & SPLICE_F_NONBLOCK));
}

int eddy_pipe(int ret_fds[2], int flags)
{
	struct io_uring_sqe sqe = { 0 };
	int fds[2], r;

	flags |= O_CLOEXEC;
	if (eddyi_feature_is_there(EDDYI_FEATURE_PIPE)) {
		io_uring_prep_rw(EDDYI_OP_PIPE, &sqe, 0, fds, 0, 0);
		sqe.rw_flags = flags;
		r = eddyi_op_call(&sqe);
	} else {
		r = eddy_is_cancelled() ? -ECANCELED : plain(eddyi_pipe2_now(fds, flags));
	}
	if (r < 0)
		return r;
	eddyi_written(fds, sizeof(fds));
	ret_fds[0] = eddyi_opened(fds[0]);
	ret_fds[1] = eddyi_opened(fds[1]);
	return 0;
}

int eddy_poll(int fd, unsigned events)
{
	struct io_uring_sqe sqe = { 0 };

	io_uring_prep_poll_add(&sqe, fd, events);
	return eddyi_op_call(&sqe);
}

int eddy_close(int fd)
{
	struct eddy_scope shield;
	struct eddy_op op;
	struct io_uring_sqe *sqe;
	int r;

	/* Ops without a descriptor are listed under negative numbers. */
	if (fd < 0)
		return -EBADF;
	eddyi_task();
	eddyi_opened_forget(fd);
	eddyi_op_cancel_fd(fd);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	sqe = eddy_op_begin_await(&op);
	io_uring_prep_close(sqe, fd);
	r = eddy_op_await(&op, sqe);
	eddy_scope_end(&shield);
	if (!eddy_list_is_empty(&eddyi_loop()->paused_acceptors))
		eddyi_acceptors_resume(eddyi_loop());
	/* It is closed despite -EINTR, and the number may be in use again. */
	return r == -EINTR ? 0 : r;
}
