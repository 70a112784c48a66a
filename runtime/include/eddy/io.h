/* eddy/io.h: the system calls, as calls that suspend the task and not the thread.
 *
 * Each returns what the kernel returned: a count, a descriptor or 0, or -errno. Each returns only
 * once the kernel has let go of what it was given, cancelled or not: buffers, paths and structures
 * may live on the caller's stack. Each returns -ECANCELED when the current scope is cancelled,
 * unless its result was there first.
 *
 * Sockets are non-blocking and close-on-exec, as eddy makes them; foreign ones must be non-blocking
 * where they are spliced.
 */
#ifndef EDDY_IO_H
#define EDDY_IO_H

#include <eddy/base.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

EDDY_BEGIN_DECLS

struct statx;

/* `offset` of a file that has a position of its own, of a socket and of a pipe. */
#define EDDY_OFFSET_NONE UINT64_MAX

/* accept4(2) with SOCK_NONBLOCK | SOCK_CLOEXEC. Suspends. */
EDDY_API int eddy_accept(int fd, struct sockaddr *ret_addr, socklen_t *len);

/* connect(2). Suspends. */
EDDY_API int eddy_connect(int fd, const struct sockaddr *addr, socklen_t len);

/* recv(2). Suspends. Return: bytes, 0 at the end of the stream, -errno. */
EDDY_API ssize_t eddy_recv(int fd, void *buf, size_t len, int flags);

/* send(2). Suspends. May send less than asked; see eddy_send_all(). */
EDDY_API ssize_t eddy_send(int fd, const void *buf, size_t len, int flags);

/* Send every byte. Suspends. Return: 0, -errno (some bytes may have been sent). */
EDDY_API int eddy_send_all(int fd, const void *buf, size_t len, int flags);

/* sendmsg(2), recvmsg(2). Suspend. */
EDDY_API ssize_t eddy_sendmsg(int fd, const struct msghdr *msg, int flags);
EDDY_API ssize_t eddy_recvmsg(int fd, struct msghdr *msg, int flags);

/* pread(2), pwrite(2), or read and write with EDDY_OFFSET_NONE. Suspend. */
EDDY_API ssize_t eddy_read(int fd, void *buf, size_t len, uint64_t offset);
EDDY_API ssize_t eddy_write(int fd, const void *buf, size_t len, uint64_t offset);

/* splice(2) on a worker thread of the kernel's. Suspends. For moving whole files and bodies see
 * eddy/transfer.h, which does better. */
EDDY_API ssize_t eddy_splice(int fd_in, uint64_t offset_in, int fd_out, uint64_t offset_out,
			     size_t len, unsigned flags);

/* poll(2) of one descriptor, once. Suspends. Return: the events that came. */
EDDY_API int eddy_poll(int fd, unsigned events);

/* openat2(2); O_CLOEXEC is added. A path whose every part is cached is opened at once, without
 * suspending; else it suspends. Return: a descriptor, -errno. */
EDDY_API int eddy_openat2(int dir, const char *path, const struct open_how *how);

/* close(2). Suspends, and is not cancelled: every op of this loop that still uses `fd` is cancelled and
 * awaited first. No other task may be waiting for `fd`. */
EDDY_API int eddy_close(int fd);

/* shutdown(2). Suspends. */
EDDY_API int eddy_shutdown(int fd, int how);

/* statx(2). Suspends; fstat(2) on an open descriptor is quicker where it is local. */
EDDY_API int eddy_statx(int dir, const char *path, int flags, unsigned mask,
			struct statx *ret_statx);

/* fsync(2), or fdatasync(2) with `data_only`. Suspends. */
EDDY_API int eddy_fsync(int fd, bool data_only);

/* fallocate(2). Suspends. */
EDDY_API int eddy_fallocate(int fd, int mode, uint64_t offset, uint64_t len);

/* renameat2(2), linkat(2), unlinkat(2), mkdirat(2). Suspend. */
EDDY_API int eddy_renameat(int from_dir, const char *from, int to_dir, const char *to,
			   unsigned flags);
EDDY_API int eddy_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
EDDY_API int eddy_unlinkat(int dir, const char *path, int flags);
EDDY_API int eddy_mkdirat(int dir, const char *path, mode_t mode);

EDDY_END_DECLS

#endif
