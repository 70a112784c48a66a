/* eddy/io.h: system calls on sockets, pipes and other descriptors, which suspend the task and not
 * the thread. Those on paths and files are in eddy/file.h.
 *
 *     fd = eddy_accept(listener, NULL, NULL);
 *     while ((r = eddy_recv(fd, buf, sizeof(buf), 0)) > 0)
 *             eddy_send_all(fd, buf, (size_t)r, 0);
 *     eddy_close(fd);
 *
 * Rules of every call:
 *    - It returns what the kernel returned: a count, a descriptor or 0, or -errno.
 *    - It returns only when the kernel no longer uses its arguments, cancelled or not. Buffers,
 *      paths and structures may be on the caller's stack.
 *    - It returns -ECANCELED if the current scope is cancelled, unless it has a result: bytes moved
 *      and descriptors opened are returned, and the next call returns -ECANCELED.
 *    - It never returns -EINTR: a call interrupted before it had an effect is made again. (The
 *      kernel interrupts its workers for a SIGSTOP or a debugger.)
 *
 * Sockets that eddy opens are non-blocking and close-on-exec. Make others non-blocking
 * to splice them. eddy_op_call() of eddy/op.h submits operations of the kernel that have no call here.
 */
#ifndef EDDY_IO_H
#define EDDY_IO_H

#include <eddy/base.h>
#include <sys/socket.h>

EDDY_BEGIN_DECLS

/* The `offset` of sockets and pipes, and of files at their current position. */
#define EDDY_OFFSET_NONE UINT64_MAX

/* --- sockets */

/* Open a socket by socket(2), with SOCK_NONBLOCK | SOCK_CLOEXEC. Suspends. */
EDDY_API int eddy_socket(int family, int type, int protocol);

/* Accept a connection by accept4(2), with SOCK_NONBLOCK | SOCK_CLOEXEC. Suspends. Servers use
 * eddy/serve.h. */
EDDY_API int eddy_accept(int fd, struct sockaddr *ret_addr, socklen_t *len);

/* Connect a socket by connect(2). Suspends. */
EDDY_API int eddy_connect(int fd, const struct sockaddr *addr, socklen_t len);

/* Receive bytes by recv(2). Suspends. With MSG_WAITALL, bytes received before a cancellation or an
 * error are still returned.
 * Return: bytes; 0 at the end of the stream; -errno. */
EDDY_API ssize_t eddy_recv(int fd, void *buf, size_t len, int flags);

/* Send bytes by send(2). Suspends. May send fewer than asked: see eddy_send_all(). */
EDDY_API ssize_t eddy_send(int fd, const void *buf, size_t len, int flags);

/* Send the bytes that the socket accepts now, by a plain system call. Never suspends, and
 * ignores cancellation.
 * Return: bytes, perhaps fewer than asked; -EAGAIN if the socket accepts none now; -errno. */
EDDY_API ssize_t eddy_try_send(int fd, const void *buf, size_t len, int flags);

/* Send all `len` bytes. Suspends. Return: 0; -errno, after which some bytes may have been sent. */
EDDY_API int eddy_send_all(int fd, const void *buf, size_t len, int flags);

/* Call sendmsg(2) or recvmsg(2). Suspend. */
EDDY_API ssize_t eddy_sendmsg(int fd, const struct msghdr *msg, int flags);
EDDY_API ssize_t eddy_recvmsg(int fd, struct msghdr *msg, int flags);

/* Send bytes without copying them into the kernel. Suspends until the network no longer uses them:
 * with TCP until the peer has acknowledged all, which it may delay (often by 40 ms), or the
 * connection has ended. Cancellation ends the sending, not that wait: limit it by TCP_USER_TIMEOUT.
 * Worthwhile for large sends over a real network; over loopback everything is copied.
 * Return: bytes; -EOPNOTSUPP if the socket can't, such as a unix socket; -errno. */
EDDY_API ssize_t eddy_send_zc(int fd, const void *buf, size_t len, int flags);

/* Shut down a connection by shutdown(2). Suspends. */
EDDY_API int eddy_shutdown(int fd, int how);

/* --- any descriptor */

/* Read or write by pread(2) or pwrite(2); with EDDY_OFFSET_NONE by read(2) or write(2). Suspend.
 * May move fewer bytes than asked: see eddy_write_all(). */
EDDY_API ssize_t eddy_read(int fd, void *buf, size_t len, uint64_t offset);
EDDY_API ssize_t eddy_write(int fd, const void *buf, size_t len, uint64_t offset);

/* Write all `len` bytes, from `offset` on. Suspends. Return: 0; -errno, after which some bytes may
 * have been written; -EIO if the kernel writes none and gives no reason. */
EDDY_API int eddy_write_all(int fd, const void *buf, size_t len, uint64_t offset);

/* Move bytes between a pipe and another descriptor by splice(2). Suspends until `fd_in` has bytes
 * and `fd_out` has room, even if a descriptor is non-blocking; with SPLICE_F_NONBLOCK it returns
 * -EAGAIN instead. A kernel worker makes the call once both are ready, so a waiting splice holds no
 * worker. To move whole files and bodies use eddy/transfer.h, which is faster.
 *    - A file is always ready. Pass its offset: asking a FUSE file whether it is ready waits
 *      for its daemon.
 *    - A socket with an unread error queue also gives -EAGAIN, if it has no bytes or no room.
 *    - No other task may close a descriptor before the call returns. eddy_close() misses a call
 *      in the turn in which its descriptor became ready, and the call then uses whatever has
 *      the number next. */
EDDY_API ssize_t eddy_splice(int fd_in, uint64_t offset_in, int fd_out, uint64_t offset_out,
			     size_t len, unsigned flags);

/* Open a pipe by pipe2(2), with O_CLOEXEC added. Suspends on Linux 6.16 and later; before, it is a
 * plain system call, which does not block. Return: 0; -EMFILE, -ENFILE, -EINVAL. */
EDDY_API int eddy_pipe(int ret_fds[2], int flags);

/* Wait once for events of a descriptor by poll(2). Suspends. Return: the events; -errno. */
EDDY_API int eddy_poll(int fd, unsigned events);

/* Close a descriptor by close(2). Suspends, and is not cancelled. Every op of this loop that still
 * uses `fd`, also as one end of a splice, is cancelled and awaited first. No other task may be
 * waiting on `fd`. */
EDDY_API int eddy_close(int fd);

EDDY_END_DECLS

#endif
