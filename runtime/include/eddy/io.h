/* eddy/io.h: system calls on sockets, pipes and other descriptors, which suspend the task and not
 * the thread. Calls on paths, such as open and rename, are in eddy/file.h.
 *
 *     fd = eddy_accept(listener, NULL, NULL);
 *     if (fd < 0)
 *             return fd;
 *     while ((r = eddy_recv(fd, buf, sizeof(buf), 0)) > 0)
 *             if (eddy_send_all(fd, buf, (size_t)r, 0) < 0)
 *                     break;
 *     eddy_close(fd);
 *
 * Rules of every call:
 *    - It returns what the kernel returned: a count, a descriptor or 0, or -errno.
 *    - It returns only when the kernel no longer uses its arguments, cancelled or not. Buffers,
 *      paths and structures may be on the caller's stack.
 *    - It returns -ECANCELED if the current scope is cancelled, unless it has a result: bytes moved
 *      and descriptors opened are returned, and the next call returns -ECANCELED.
 *    - It never returns -EINTR: a call interrupted before it had an effect is made again.
 *
 * Sockets that eddy opens are non-blocking and close-on-exec. Make other sockets non-blocking
 * before you splice them: a splice to or from a blocking one may occupy a kernel worker (a thread
 * of io_uring, of which a loop has few) until the peer reads or writes. Without io_uring such a
 * socket has O_NONBLOCK during the call, which others that share it may see. eddy_op_call() of
 * eddy/op.h submits io_uring operations that have no call here.
 */
#ifndef EDDY_IO_H
#define EDDY_IO_H

#include <eddy/base.h>
#include <sys/socket.h>

EDDY_BEGIN_DECLS

/* Pass this as `offset` for sockets and pipes, or to use the current position of a file. */
#define EDDY_OFFSET_NONE UINT64_MAX

/* --- sockets */

/* Open a socket with socket(2) and SOCK_NONBLOCK | SOCK_CLOEXEC. Suspends. */
EDDY_API int eddy_socket(int family, int type, int protocol);

/* Accept a connection with accept4(2) and SOCK_NONBLOCK | SOCK_CLOEXEC. Suspends. For a server,
 * eddy/serve.h is easier. */
EDDY_API int eddy_accept(int fd, struct sockaddr *ret_addr, socklen_t *len);

/* Connect a socket with connect(2). Suspends. */
EDDY_API int eddy_connect(int fd, const struct sockaddr *addr, socklen_t len);

/* Receive bytes with recv(2). Suspends. With MSG_WAITALL, bytes received before a cancellation or
 * an error are still returned.
 * Return: bytes; 0 at the end of the stream; -errno. */
EDDY_API ssize_t eddy_recv(int fd, void *buf, size_t len, int flags);

/* Send bytes with send(2). Suspends. May send fewer than asked: see eddy_send_all(). */
EDDY_API ssize_t eddy_send(int fd, const void *buf, size_t len, int flags);

/* Send the bytes that the socket accepts now, with a plain system call. Never suspends, and ignores
 * cancellation.
 * Return: bytes, perhaps fewer than asked; -EAGAIN if the socket accepts none now; -errno. */
EDDY_API ssize_t eddy_try_send(int fd, const void *buf, size_t len, int flags);

/* Send all `len` bytes. Suspends. Return: 0; -errno, after which some bytes may have been sent. */
EDDY_API int eddy_send_all(int fd, const void *buf, size_t len, int flags);

/* Call sendmsg(2) or recvmsg(2). Suspend. */
EDDY_API ssize_t eddy_sendmsg(int fd, const struct msghdr *msg, int flags);
EDDY_API ssize_t eddy_recvmsg(int fd, struct msghdr *msg, int flags);

/* Send bytes without copying them into the kernel. Suspends until the kernel no longer uses them:
 * over TCP, until the peer has acknowledged them (often 40 ms later) or the connection has ended.
 * Cancellation stops the sending, but not this wait, which TCP_USER_TIMEOUT limits. Worthwhile for
 * large sends over a real network; over loopback everything is copied.
 * Return: bytes; -EOPNOTSUPP if the socket can't, such as a unix socket; -errno. */
EDDY_API ssize_t eddy_send_zc(int fd, const void *buf, size_t len, int flags);

/* Shut down a connection with shutdown(2). Suspends. */
EDDY_API int eddy_shutdown(int fd, int how);

/* --- any descriptor */

/* Read or write with pread(2) or pwrite(2), or with read(2) or write(2) if the offset is
 * EDDY_OFFSET_NONE. Suspend. May move fewer bytes than asked: see eddy_write_all(). */
EDDY_API ssize_t eddy_read(int fd, void *buf, size_t len, uint64_t offset);
EDDY_API ssize_t eddy_write(int fd, const void *buf, size_t len, uint64_t offset);

/* Write all `len` bytes, from `offset` on. Suspends. Return: 0; -errno, after which some bytes may
 * have been written; -EIO if the kernel writes none and gives no reason. */
EDDY_API int eddy_write_all(int fd, const void *buf, size_t len, uint64_t offset);

/* Move bytes between a pipe and another descriptor with splice(2). Suspends until `fd_in` has bytes
 * and `fd_out` has room, even if a descriptor is non-blocking; with SPLICE_F_NONBLOCK it returns
 * -EAGAIN instead. To move whole files and bodies use eddy/transfer.h, which is faster.
 *    - For a file that may be on FUSE, pass an offset. Without one, eddy polls the file, which
 *      blocks the thread until the daemon answers.
 *    - A socket without bytes or room, but with an unread error queue, gives -EAGAIN, even without
 *      SPLICE_F_NONBLOCK.
 *    - No other task may close a descriptor before the call returns. eddy_close() does not see a
 *      splice whose descriptor has just become ready; the splice would then move bytes of the file
 *      that is opened next under the same number. */
EDDY_API ssize_t eddy_splice(int fd_in, uint64_t offset_in, int fd_out, uint64_t offset_out,
			     size_t len, unsigned flags);

/* Open a pipe with pipe2(2) and O_CLOEXEC. Suspends on Linux 6.16 and later; before, it is a plain
 * system call, which does not block. Return: 0; -EMFILE, -ENFILE, -EINVAL. */
EDDY_API int eddy_pipe(int ret_fds[2], int flags);

/* Wait once for events of a descriptor with poll(2). Suspends. Return: the events; -errno. */
EDDY_API int eddy_poll(int fd, unsigned events);

/* Close a descriptor with close(2). Suspends, even in a cancelled scope. If another task of this
 * loop waits for `fd`, aborts with that task's name. Ops of eddy_op_start() and cases of
 * eddy_select() on `fd` in this loop are cancelled and awaited first. */
EDDY_API int eddy_close(int fd);

EDDY_END_DECLS

#endif
