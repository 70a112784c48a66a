/* eddy/io.h: the system calls on sockets, pipes and whatever is open, as calls that suspend the task
 * and not the thread. Those on paths and files are in eddy/file.h.
 *
 *     fd = eddy_accept(listener, NULL, NULL);
 *     while ((r = eddy_recv(fd, buf, sizeof(buf), 0)) > 0)
 *             eddy_send_all(fd, buf, (size_t)r, 0);
 *     eddy_close(fd);
 *
 * Each returns what the kernel returned: a count, a descriptor or 0, or -errno. Each returns only
 * once the kernel has let go of what it was given, cancelled or not: buffers, paths and structures
 * may live on the caller's stack. Each returns -ECANCELED when the current scope is cancelled,
 * unless its result was there first: bytes that moved and descriptors that were opened are returned,
 * and the next call is the one that says -ECANCELED. None returns -EINTR: what was interrupted before
 * anything came of it (the kernel stops its workers for a SIGSTOP or a debugger) is asked again.
 *
 * Sockets are non-blocking and close-on-exec, as eddy makes them; foreign ones must be non-blocking
 * where they are spliced.
 */
#ifndef EDDY_IO_H
#define EDDY_IO_H

#include <eddy/base.h>
#include <sys/socket.h>

EDDY_BEGIN_DECLS

/* `offset` of a file that has a position of its own, of a socket and of a pipe. */
#define EDDY_OFFSET_NONE UINT64_MAX

/* --- sockets */

/* socket(2) with SOCK_NONBLOCK | SOCK_CLOEXEC. Suspends. Return: a descriptor, -errno. */
EDDY_API int eddy_socket(int family, int type, int protocol);

/* accept4(2) with SOCK_NONBLOCK | SOCK_CLOEXEC. Suspends. Servers want eddy/serve.h, or
 * eddy/acceptor.h. */
EDDY_API int eddy_accept(int fd, struct sockaddr *ret_addr, socklen_t *len);

/* connect(2). Suspends. */
EDDY_API int eddy_connect(int fd, const struct sockaddr *addr, socklen_t len);

/* recv(2). Suspends. Many streams that are idle want eddy/receiver.h. With MSG_WAITALL what came before
 * a cancellation or an error is still returned.
 * Return: bytes, 0 at the end of the stream, -errno. */
EDDY_API ssize_t eddy_recv(int fd, void *buf, size_t len, int flags);

/* send(2). Suspends. May send less than asked; see eddy_send_all(). */
EDDY_API ssize_t eddy_send(int fd, const void *buf, size_t len, int flags);

/* send(2) of what the socket takes now, by a plain system call. Never suspends, and ignores cancellation.
 * Return: bytes, perhaps fewer than asked; -EAGAIN when it takes none now; -errno. */
EDDY_API ssize_t eddy_try_send(int fd, const void *buf, size_t len, int flags);

/* Send every byte. Suspends. Return: 0, -errno (some bytes may have been sent). */
EDDY_API int eddy_send_all(int fd, const void *buf, size_t len, int flags);

/* sendmsg(2), recvmsg(2). Suspend. */
EDDY_API ssize_t eddy_sendmsg(int fd, const struct msghdr *msg, int flags);
EDDY_API ssize_t eddy_recvmsg(int fd, struct msghdr *msg, int flags);

/* Send without copying the bytes, as eddy_send() does otherwise. Suspends, until
 * the network has let go of them: of TCP that is when the peer has acknowledged all, which it may
 * put off (40 ms are usual), or when the connection has ended; a cancellation ends no more than the
 * sending, so bound it by TCP_USER_TIMEOUT. It pays for large sends on a real network; over the
 * loopback everything is copied.
 * Return: bytes; -EOPNOTSUPP for sockets that can't (of Unix, say); -errno. */
EDDY_API ssize_t eddy_send_zc(int fd, const void *buf, size_t len, int flags);

/* shutdown(2). Suspends. */
EDDY_API int eddy_shutdown(int fd, int how);

/* --- whatever is open */

/* pread(2), pwrite(2), or read and write with EDDY_OFFSET_NONE. Suspend. May move less than asked; see
 * eddy_write_all(). */
EDDY_API ssize_t eddy_read(int fd, void *buf, size_t len, uint64_t offset);
EDDY_API ssize_t eddy_write(int fd, const void *buf, size_t len, uint64_t offset);

/* Write every byte, at `offset` and on from there. Suspends. Return: 0, -errno (some bytes may have been
 * written); -EIO where the kernel takes none and does not say why. */
EDDY_API int eddy_write_all(int fd, const void *buf, size_t len, uint64_t offset);

/* splice(2). Suspends until `fd_in` has bytes and `fd_out` has room, also where a descriptor is non-blocking; with
 * SPLICE_F_NONBLOCK it is -EAGAIN when they are not ready. A worker thread of the kernel's makes the call once both are
 * ready, so that a waiting splice holds no worker. A file is ready at any time; give its offset, because asking a file
 * of FUSE whether it is ready waits for its daemon. -EAGAIN comes from a socket whose error queue nobody reads, when it
 * has no bytes or no room. No other task may close a descriptor before the call returns: eddy_close() does not notice a
 * call in the turn in which its descriptor became ready, and the call then uses whatever has the number next. For moving
 * whole files and bodies see eddy/transfer.h, which does better. */
EDDY_API ssize_t eddy_splice(int fd_in, uint64_t offset_in, int fd_out, uint64_t offset_out,
			     size_t len, unsigned flags);

/* pipe2(2); O_CLOEXEC is added. Suspends where the ring has it (Linux 6.16); else a plain call, which
 * doesn't block. Return: 0, -EMFILE, -ENFILE, -EINVAL. */
EDDY_API int eddy_pipe(int ret_fds[2], int flags);

/* poll(2) of one descriptor, once. Suspends. Return: the events that came. */
EDDY_API int eddy_poll(int fd, unsigned events);

/* close(2). Suspends, and is not cancelled: every op of this loop that still uses `fd`, on either side
 * of a splice too, is cancelled and awaited first. No other task may be waiting for `fd`. */
EDDY_API int eddy_close(int fd);

EDDY_END_DECLS

#endif
