/* eddy/internal/outside.h: what a loop learns from outside other than by completions of its ring
 * and by messages; for eddy's own layers.
 *
 * Clocks, random bytes, direct system calls, facts of the process and values that other threads
 * decide pass one of these functions, on the thread that uses them. A recorder then needs hooks
 * only here, in eddyi_op_dispatch() and in eddyi_message_deliver_all(). Without one, each function
 * is the plain call. `./dev test style` finds these calls elsewhere in the libraries, and lists
 * the places that may make them. docs/decisions/0045 says why.
 *
 * Any thread may call these functions; none suspends.
 */
#ifndef EDDY_INTERNAL_OUTSIDE_H
#define EDDY_INTERNAL_OUTSIDE_H

#include <eddy/base.h>

/* Learn a value that other threads decide or change, such as the result of a job or a count that
 * loops share. `what` names it. Return: the value. */
static inline int64_t eddyi_outside_value(const char *what, int64_t value)
{
	(void)what;
	return value;
}

/* The system's headers declare some of the calls with _GNU_SOURCE only. */
#ifdef _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* Read a clock in nanoseconds. */
static inline uint64_t eddyi_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * EDDY_SECOND + (uint64_t)now.tv_nsec;
}

/* Read the time in seconds since 1970. Faster than eddyi_clock(), and may lag by a tick. */
static inline time_t eddyi_clock_seconds(void)
{
	return time(NULL);
}

/* Fill memory with random bytes. `flags` are those of getrandom(2). Return: 0, -errno. */
static inline int eddyi_random(void *bytes, size_t len, unsigned flags)
{
	size_t done = 0;

	while (done < len) {
		ssize_t r = getrandom((char *)bytes + done, len - done, flags);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0)
			done += (size_t)r;
	}
	return 0;
}

/* Define eddyi_CALL_now(), which makes the call of that name at once and directly, not through the
 * ring. It returns what the call returns, and sets errno. */
#define EDDYI_NOW(type, call, params, args)                                                        \
	static inline __attribute__((always_inline)) type eddyi_##call##_now params                \
	{                                                                                          \
		return call args;                                                                  \
	}

/* clang-format off */

/* Sockets. */
EDDYI_NOW(int, socket, (int family, int type, int protocol), (family, type, protocol))
EDDYI_NOW(int, bind, (int fd, const struct sockaddr *addr, socklen_t len), (fd, addr, len))
EDDYI_NOW(int, listen, (int fd, int backlog), (fd, backlog))
EDDYI_NOW(int, connect, (int fd, const struct sockaddr *addr, socklen_t len), (fd, addr, len))
EDDYI_NOW(int, accept4, (int fd, struct sockaddr *addr, socklen_t *len, int flags),
	  (fd, addr, len, flags))
EDDYI_NOW(int, getsockname, (int fd, struct sockaddr *addr, socklen_t *len), (fd, addr, len))
EDDYI_NOW(int, getpeername, (int fd, struct sockaddr *addr, socklen_t *len), (fd, addr, len))
EDDYI_NOW(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len),
	  (fd, level, name, value, len))
EDDYI_NOW(int, shutdown, (int fd, int how), (fd, how))
EDDYI_NOW(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
	  (fd, level, name, value, len))
EDDYI_NOW(ssize_t, recv, (int fd, void *buf, size_t len, int flags), (fd, buf, len, flags))
EDDYI_NOW(ssize_t, send, (int fd, const void *buf, size_t len, int flags), (fd, buf, len, flags))
EDDYI_NOW(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags))
EDDYI_NOW(ssize_t, sendfile, (int out, int in, off_t *offset, size_t len), (out, in, offset, len))
EDDYI_NOW(int, getaddrinfo, (const char *host, const char *port, const struct addrinfo *hints,
	  struct addrinfo **ret_found), (host, port, hints, ret_found))

/* Descriptors. */
EDDYI_NOW(int, close, (int fd), (fd))
EDDYI_NOW(int, fcntl, (int fd, int cmd, int value), (fd, cmd, value))
EDDYI_NOW(int, ioctl, (int fd, unsigned long request, int *value), (fd, request, value))
EDDYI_NOW(int, poll, (struct pollfd *fds, nfds_t count, int timeout_ms), (fds, count, timeout_ms))
EDDYI_NOW(int, eventfd, (unsigned count, int flags), (count, flags))
EDDYI_NOW(int, memfd_create, (const char *name, unsigned flags), (name, flags))
EDDYI_NOW(int, pipe2, (int fds[2], int flags), (fds, flags))
EDDYI_NOW(ssize_t, read, (int fd, void *buf, size_t len), (fd, buf, len))
EDDYI_NOW(ssize_t, write, (int fd, const void *buf, size_t len), (fd, buf, len))
EDDYI_NOW(ssize_t, pread, (int fd, void *buf, size_t len, off_t offset), (fd, buf, len, offset))
EDDYI_NOW(ssize_t, pwrite, (int fd, const void *buf, size_t len, off_t offset),
	  (fd, buf, len, offset))
EDDYI_NOW(ssize_t, preadv2, (int fd, const struct iovec *iov, int count, off_t offset, int flags),
	  (fd, iov, count, offset, flags))
EDDYI_NOW(ssize_t, vmsplice, (int out, const struct iovec *iov, size_t count, unsigned flags),
	  (out, iov, count, flags))
EDDYI_NOW(ssize_t, splice, (int in, off64_t *in_offset, int out, off64_t *out_offset, size_t len,
	  unsigned flags), (in, in_offset, out, out_offset, len, flags))

/* Files. */
EDDYI_NOW(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode))
EDDYI_NOW(int, openat, (int dir, const char *path, int flags, mode_t mode),
	  (dir, path, flags, mode))
EDDYI_NOW(int, access, (const char *path, int mode), (path, mode))
EDDYI_NOW(char *, realpath, (const char *path, char *ret_path), (path, ret_path))
EDDYI_NOW(int, stat, (const char *path, struct stat *ret_st), (path, ret_st))
EDDYI_NOW(int, lstat, (const char *path, struct stat *ret_st), (path, ret_st))
EDDYI_NOW(int, fstat, (int fd, struct stat *ret_st), (fd, ret_st))
EDDYI_NOW(int, fstatat, (int dir, const char *path, struct stat *ret_st, int flags),
	  (dir, path, ret_st, flags))
EDDYI_NOW(int, statx,
	  (int dir, const char *path, int flags, unsigned mask, struct statx *ret_st),
	  (dir, path, flags, mask, ret_st))
EDDYI_NOW(int, fstatfs, (int fd, struct statfs *ret_fs), (fd, ret_fs))
EDDYI_NOW(int, chmod, (const char *path, mode_t mode), (path, mode))
EDDYI_NOW(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size),
	  (fd, name, value, size))
EDDYI_NOW(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
	  (fd, name, value, size, flags))
EDDYI_NOW(int, flock, (int fd, int how), (fd, how))
EDDYI_NOW(int, fsync, (int fd), (fd))
EDDYI_NOW(int, ftruncate, (int fd, off_t len), (fd, len))
EDDYI_NOW(int, dup3, (int from, int to, int flags), (from, to, flags))
EDDYI_NOW(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
EDDYI_NOW(int, linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
	  (from_dir, from, to_dir, to, flags))
EDDYI_NOW(int, renameat2, (int from_dir, const char *from, int to_dir, const char *to,
	  unsigned flags), (from_dir, from, to_dir, to, flags))
EDDYI_NOW(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
EDDYI_NOW(int, unlink, (const char *path), (path))
EDDYI_NOW(DIR *, opendir, (const char *path), (path))
EDDYI_NOW(DIR *, fdopendir, (int fd), (fd))
EDDYI_NOW(struct dirent *, readdir, (DIR *dir), (dir))
EDDYI_NOW(int, closedir, (DIR *dir), (dir))

/* The process and its machine. */
EDDYI_NOW(char *, getenv, (const char *name), (name))
EDDYI_NOW(pid_t, getpid, (void), ())
EDDYI_NOW(pid_t, getppid, (void), ())
EDDYI_NOW(int, getrlimit, (__typeof__(RLIMIT_AS) resource, struct rlimit *ret_limit),
	  (resource, ret_limit))
EDDYI_NOW(int, setrlimit, (__typeof__(RLIMIT_AS) resource, const struct rlimit *limit),
	  (resource, limit))
EDDYI_NOW(int, gethostname, (char *name, size_t size), (name, size))
EDDYI_NOW(long, sysconf, (int name), (name))
EDDYI_NOW(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *ret_cpus),
	  (pid, size, ret_cpus))
EDDYI_NOW(int, mincore, (void *at, size_t len, unsigned char *ret_pages), (at, len, ret_pages))
EDDYI_NOW(int, kill, (pid_t pid, int signo), (pid, signo))
EDDYI_NOW(int, waitid, (idtype_t kind, id_t id, siginfo_t *ret_info, int options),
	  (kind, id, ret_info, options))

/* clang-format on */

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* Linux 6.5 */
#endif

/* As EDDYI_NOW() does, for calls that the C library does not have. */
static inline int eddyi_openat2_now(int dir, const char *path, const void *how, size_t size)
{
	return (int)syscall(SYS_openat2, dir, path, how, size);
}

static inline int eddyi_cachestat_now(int fd, const void *range, void *ret_stat)
{
	return (int)syscall(SYS_cachestat, fd, range, ret_stat, 0);
}

static inline int eddyi_pidfd_send_signal_now(int pidfd, int signo)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0);
}

#endif

#endif
