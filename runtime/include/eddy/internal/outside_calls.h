/* eddy/internal/outside_calls.h: the system calls of outside.h, which includes this list once, and
 * runtime/src/record/calls.c, which defines how each is recorded.
 *
 * NOW(type, call, parameters, arguments, issued, learned). `issued` says what the call hands to the
 * system, `learned` what the system writes if the call succeeds:
 *    - NUM(x) a number, TEXT(s) a string or NULL, BYTES(p, n) memory, PARTS(iov, n), MESSAGE(msg)
 *    - INTO(p, n) memory that the call may write while other threads run
 *    - OUT(p, n) memory, OUT_PARTS(iov, n), where `r` is the result; ROOM(len) before, and
 *      OUT_SOME(p, len) after, for calls that update the length
 * SYSCALL has, after the arguments, those of syscall(2). BY_HAND ends with the arguments:
 * record/calls.c has a function for it. OTHER is a call that eddy does not make, and programs may.
 */

#ifdef NOW
#ifndef OTHER
#define OTHER(...)
#endif

/* clang-format off */

/* Sockets. */
NOW(int, socket, (int family, int type, int protocol), (family, type, protocol),
    NUM(family) NUM(type) NUM(protocol), )
NOW(int, bind, (int fd, const struct sockaddr *addr, socklen_t len), (fd, addr, len),
    NUM(fd) BYTES(addr, len), )
NOW(int, listen, (int fd, int backlog), (fd, backlog), NUM(fd) NUM(backlog), )
NOW(int, connect, (int fd, const struct sockaddr *addr, socklen_t len), (fd, addr, len),
    NUM(fd) BYTES(addr, len), )
NOW(int, accept4, (int fd, struct sockaddr *addr, socklen_t *len, int flags), (fd, addr, len, flags),
    NUM(fd) ROOM(len) NUM(flags), OUT_SOME(addr, len))
NOW(int, getsockname, (int fd, struct sockaddr *addr, socklen_t *len), (fd, addr, len),
    NUM(fd) ROOM(len), OUT_SOME(addr, len))
NOW(int, getpeername, (int fd, struct sockaddr *addr, socklen_t *len), (fd, addr, len),
    NUM(fd) ROOM(len), OUT_SOME(addr, len))
NOW(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len),
    (fd, level, name, value, len),
    NUM(fd) NUM(level) NUM(name) ROOM(len), OUT_SOME(value, len))
NOW(int, shutdown, (int fd, int how), (fd, how), NUM(fd) NUM(how), )
NOW(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
    (fd, level, name, value, len),
    NUM(fd) NUM(level) NUM(name) BYTES(value, len), )
NOW(ssize_t, recv, (int fd, void *buf, size_t len, int flags), (fd, buf, len, flags),
    NUM(fd) NUM(len) NUM(flags) INTO(buf, len), OUT(buf, (size_t)r < len ? (size_t)r : len))
NOW(ssize_t, send, (int fd, const void *buf, size_t len, int flags), (fd, buf, len, flags),
    NUM(fd) BYTES(buf, len) NUM(flags), )
NOW(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags),
    NUM(fd) MESSAGE(msg) NUM(flags), )
NOW(ssize_t, sendfile, (int out, int in, off_t *offset, size_t len), (out, in, offset, len),
    NUM(out) NUM(in) NUM(offset ? *offset : -1) NUM(len), OUT(offset, sizeof(*offset)))
BY_HAND(int, getaddrinfo, (const char *host, const char *port, const struct addrinfo *hints,
	struct addrinfo **ret_found), (host, port, hints, ret_found))

/* Descriptors. */
NOW(int, close, (int fd), (fd), NUM(fd), )
NOW(int, fcntl, (int fd, int cmd, int value), (fd, cmd, value),
    NUM(fd) NUM(cmd) NUM(cmd == F_GETFL || cmd == F_GETFD ? 0 : value), )
NOW(int, ioctl, (int fd, unsigned long request, int *value), (fd, request, value),
    NUM(fd) NUM(request), OUT(value, sizeof(*value)))
NOW(int, poll, (struct pollfd *fds, nfds_t count, int timeout_ms), (fds, count, timeout_ms),
    NUM(count) NUM(timeout_ms), OUT(fds, count * sizeof(*fds)))
NOW(int, eventfd, (unsigned count, int flags), (count, flags), NUM(count) NUM(flags), )
NOW(int, memfd_create, (const char *name, unsigned flags), (name, flags), TEXT(name) NUM(flags), )
NOW(int, pipe, (int fds[2]), (fds), , OUT(fds, 2 * sizeof(fds[0])))
NOW(int, pipe2, (int fds[2], int flags), (fds, flags), NUM(flags), OUT(fds, 2 * sizeof(fds[0])))
NOW(ssize_t, read, (int fd, void *buf, size_t len), (fd, buf, len), NUM(fd) NUM(len) INTO(buf, len),
    OUT(buf, r))
BY_HAND(ssize_t, write, (int fd, const void *buf, size_t len), (fd, buf, len))
NOW(ssize_t, pread, (int fd, void *buf, size_t len, off_t offset), (fd, buf, len, offset),
    NUM(fd) NUM(len) NUM(offset), OUT(buf, r))
NOW(ssize_t, pwrite, (int fd, const void *buf, size_t len, off_t offset), (fd, buf, len, offset),
    NUM(fd) BYTES(buf, len) NUM(offset), )
NOW(ssize_t, preadv2, (int fd, const struct iovec *iov, int count, off_t offset, int flags),
    (fd, iov, count, offset, flags),
    NUM(fd) NUM(count) NUM(offset) NUM(flags), OUT_PARTS(iov, count))
NOW(ssize_t, readv, (int fd, const struct iovec *iov, int count), (fd, iov, count),
    NUM(fd) NUM(count), OUT_PARTS(iov, count))
NOW(ssize_t, writev, (int fd, const struct iovec *iov, int count), (fd, iov, count),
    NUM(fd) PARTS(iov, count), )
NOW(off_t, lseek, (int fd, off_t offset, int from), (fd, offset, from),
    NUM(fd) NUM(offset) NUM(from), )
NOW(int, dup, (int fd), (fd), NUM(fd), )
NOW(int, dup2, (int from, int to), (from, to), NUM(from) NUM(to), )
NOW(int, isatty, (int fd), (fd), NUM(fd), )
NOW(ssize_t, vmsplice, (int out, const struct iovec *iov, size_t count, unsigned flags),
    (out, iov, count, flags), NUM(out) NUM(count) NUM(flags), )
NOW(ssize_t, splice, (int in, off64_t *in_offset, int out, off64_t *out_offset, size_t len,
    unsigned flags), (in, in_offset, out, out_offset, len, flags),
    NUM(in) NUM(in_offset ? *in_offset : -1) NUM(out) NUM(out_offset ? *out_offset : -1) NUM(len)
    NUM(flags), OUT(in_offset, sizeof(*in_offset)) OUT(out_offset, sizeof(*out_offset)))

/* Files. */
NOW(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode),
    TEXT(path) NUM(flags) NUM(flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0), )
NOW(int, openat, (int dir, const char *path, int flags, mode_t mode), (dir, path, flags, mode),
    NUM(dir) TEXT(path) NUM(flags) NUM(flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0), )
NOW(int, access, (const char *path, int mode), (path, mode), TEXT(path) NUM(mode), )
NOW(int, faccessat, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags),
    NUM(dir) TEXT(path) NUM(mode) NUM(flags), )
NOW(ssize_t, readlink, (const char *path, char *buf, size_t size), (path, buf, size),
    TEXT(path) NUM(size), OUT(buf, r))
NOW(int, fdatasync, (int fd), (fd), NUM(fd), )
BY_HAND(char *, realpath, (const char *path, char *ret_path), (path, ret_path))
NOW(int, stat, (const char *path, struct stat *ret_st), (path, ret_st),
    TEXT(path), OUT(ret_st, sizeof(*ret_st)))
NOW(int, lstat, (const char *path, struct stat *ret_st), (path, ret_st),
    TEXT(path), OUT(ret_st, sizeof(*ret_st)))
NOW(int, fstat, (int fd, struct stat *ret_st), (fd, ret_st),
    NUM(fd), OUT(ret_st, sizeof(*ret_st)))
NOW(int, fstatat, (int dir, const char *path, struct stat *ret_st, int flags),
    (dir, path, ret_st, flags),
    NUM(dir) TEXT(path) NUM(flags), OUT(ret_st, sizeof(*ret_st)))
NOW(int, statx, (int dir, const char *path, int flags, unsigned mask, struct statx *ret_st),
    (dir, path, flags, mask, ret_st),
    NUM(dir) TEXT(path) NUM(flags) NUM(mask), OUT(ret_st, sizeof(*ret_st)))
NOW(int, fstatfs, (int fd, struct statfs *ret_fs), (fd, ret_fs),
    NUM(fd), OUT(ret_fs, sizeof(*ret_fs)))
NOW(int, chmod, (const char *path, mode_t mode), (path, mode), TEXT(path) NUM(mode), )
NOW(ssize_t, fgetxattr, (int fd, const char *name, void *value, size_t size),
    (fd, name, value, size), NUM(fd) TEXT(name) NUM(size), OUT(value, size ? r : 0))
NOW(int, fsetxattr, (int fd, const char *name, const void *value, size_t size, int flags),
    (fd, name, value, size, flags), NUM(fd) TEXT(name) BYTES(value, size) NUM(flags), )
NOW(int, flock, (int fd, int how), (fd, how), NUM(fd) NUM(how), )
NOW(int, fsync, (int fd), (fd), NUM(fd), )
NOW(int, ftruncate, (int fd, off_t len), (fd, len), NUM(fd) NUM(len), )
NOW(int, dup3, (int from, int to, int flags), (from, to, flags), NUM(from) NUM(to) NUM(flags), )
NOW(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode),
    NUM(dir) TEXT(path) NUM(mode), )
NOW(int, linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
    (from_dir, from, to_dir, to, flags),
    NUM(from_dir) TEXT(from) NUM(to_dir) TEXT(to) NUM(flags), )
NOW(int, renameat2, (int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
    (from_dir, from, to_dir, to, flags),
    NUM(from_dir) TEXT(from) NUM(to_dir) TEXT(to) NUM(flags), )
NOW(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags),
    NUM(dir) TEXT(path) NUM(flags), )
NOW(int, unlink, (const char *path), (path), TEXT(path), )
BY_HAND(void *, mmap, (void *at, size_t len, int access, int flags, int fd, off_t offset),
	(at, len, access, flags, fd, offset))
BY_HAND(DIR *, opendir, (const char *path), (path))
BY_HAND(DIR *, fdopendir, (int fd), (fd))
BY_HAND(struct dirent *, readdir, (DIR *dir), (dir))
BY_HAND(int, closedir, (DIR *dir), (dir))

/* The process and its machine. */
NOW(pid_t, getpid, (void), (), , )
NOW(pid_t, getppid, (void), (), , )
NOW(uid_t, getuid, (void), (), , )
NOW(uid_t, geteuid, (void), (), , )
NOW(int, getrlimit, (__typeof__(RLIMIT_AS) resource, struct rlimit *ret_limit),
    (resource, ret_limit), NUM(resource), OUT(ret_limit, sizeof(*ret_limit)))
NOW(int, setrlimit, (__typeof__(RLIMIT_AS) resource, const struct rlimit *limit),
    (resource, limit), NUM(resource) BYTES(limit, sizeof(*limit)), )
NOW(int, gethostname, (char *name, size_t size), (name, size), NUM(size), OUT(name, size))
NOW(long, sysconf, (int name), (name), NUM(name), )
NOW(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *ret_cpus),
    (pid, size, ret_cpus), NUM(pid) NUM(size), OUT(ret_cpus, size))
NOW(int, mincore, (void *at, size_t len, unsigned char *ret_pages), (at, len, ret_pages),
    NUM(len), OUT(ret_pages, (len + PAGE - 1) / PAGE))
NOW(int, kill, (pid_t pid, int signo), (pid, signo), NUM(pid) NUM(signo), )
NOW(int, waitid, (idtype_t kind, id_t id, siginfo_t *ret_info, int options),
    (kind, id, ret_info, options),
    NUM(kind) NUM(id) NUM(options), OUT(ret_info, sizeof(*ret_info)))

NOW(int, sched_yield, (void), (), , )
BY_HAND(int, nanosleep, (const struct timespec *time, struct timespec *ret_left), (time, ret_left))

/* Calls that the C library does not have. */
SYSCALL(int, openat2, (int dir, const char *path, const void *how, size_t size),
	(dir, path, how, size), (SYS_openat2, dir, path, how, size),
	NUM(dir) TEXT(path) BYTES(how, size), )
SYSCALL(int, cachestat, (int fd, const void *range, void *ret_stat), (fd, range, ret_stat),
	(SYS_cachestat, fd, range, ret_stat, 0),
	NUM(fd) BYTES(range, 16), OUT(ret_stat, 40))
SYSCALL(int, pidfd_send_signal, (int pidfd, int signo), (pidfd, signo),
	(SYS_pidfd_send_signal, pidfd, signo, NULL, 0), NUM(pidfd) NUM(signo), )

/* Calls of programs. */
OTHER(int, accept, (int fd, struct sockaddr *addr, socklen_t *len), (fd, addr, len),
    NUM(fd) ROOM(len), OUT_SOME(addr, len))
OTHER(int, socketpair, (int family, int type, int protocol, int fds[2]), (family, type, protocol, fds),
    NUM(family) NUM(type) NUM(protocol), OUT(fds, 2 * sizeof(fds[0])))
OTHER(ssize_t, sendto, (int fd, const void *buf, size_t len, int flags, const struct sockaddr *addr,
    socklen_t addr_len), (fd, buf, len, flags, addr, addr_len),
    NUM(fd) BYTES(buf, len) NUM(flags) BYTES(addr, addr_len), )
OTHER(ssize_t, recvfrom, (int fd, void *buf, size_t len, int flags, struct sockaddr *addr,
    socklen_t *addr_len), (fd, buf, len, flags, addr, addr_len),
    NUM(fd) NUM(len) NUM(flags) ROOM(addr_len) INTO(buf, len),
    OUT(buf, (size_t)r < len ? (size_t)r : len) OUT_SOME(addr, addr_len))
OTHER(int, select, (int count, fd_set *reads, fd_set *writes, fd_set *errors, struct timeval *time),
    (count, reads, writes, errors, time), NUM(count),
    OUT(reads, sizeof(*reads)) OUT(writes, sizeof(*writes)) OUT(errors, sizeof(*errors))
    OUT(time, sizeof(*time)))
OTHER(int, ppoll, (struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *mask),
    (fds, count, time, mask), NUM(count), OUT(fds, count * sizeof(*fds)))
OTHER(ssize_t, preadv, (int fd, const struct iovec *iov, int count, off_t offset), (fd, iov, count, offset),
    NUM(fd) NUM(count) NUM(offset), OUT_PARTS(iov, count))
OTHER(ssize_t, pwritev, (int fd, const struct iovec *iov, int count, off_t offset), (fd, iov, count, offset),
    NUM(fd) PARTS(iov, count) NUM(offset), )
OTHER(int, inotify_init, (void), (), , )
OTHER(int, inotify_init1, (int flags), (flags), NUM(flags), )
OTHER(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), (fd, path, mask),
    NUM(fd) TEXT(path) NUM(mask), )
OTHER(int, inotify_rm_watch, (int fd, int watch), (fd, watch), NUM(fd) NUM(watch), )
OTHER(int, timerfd_create, (int clock, int flags), (clock, flags), NUM(clock) NUM(flags), )
OTHER(int, timerfd_settime, (int fd, int flags, const struct itimerspec *time, struct itimerspec *ret_old),
    (fd, flags, time, ret_old),
    NUM(fd) NUM(flags) BYTES(time, sizeof(*time)), OUT(ret_old, sizeof(*ret_old)))
OTHER(int, mkdir, (const char *path, mode_t mode), (path, mode), TEXT(path) NUM(mode), )
OTHER(int, rmdir, (const char *path), (path), TEXT(path), )
OTHER(int, remove, (const char *path), (path), TEXT(path), )
OTHER(int, rename, (const char *from, const char *to), (from, to), TEXT(from) TEXT(to), )
OTHER(int, renameat, (int from_dir, const char *from, int to_dir, const char *to),
    (from_dir, from, to_dir, to), NUM(from_dir) TEXT(from) NUM(to_dir) TEXT(to), )
OTHER(int, link, (const char *from, const char *to), (from, to), TEXT(from) TEXT(to), )
OTHER(int, symlink, (const char *target, const char *path), (target, path), TEXT(target) TEXT(path), )
OTHER(int, truncate, (const char *path, off_t len), (path, len), TEXT(path) NUM(len), )
OTHER(int, fchmod, (int fd, mode_t mode), (fd, mode), NUM(fd) NUM(mode), )
OTHER(int, utimensat, (int dir, const char *path, const struct timespec times[2], int flags),
    (dir, path, times, flags),
    NUM(dir) TEXT(path) BYTES(times, times ? 2 * sizeof(times[0]) : 0) NUM(flags), )
OTHER(int, futimens, (int fd, const struct timespec times[2]), (fd, times),
    NUM(fd) BYTES(times, times ? 2 * sizeof(times[0]) : 0), )
OTHER(int, statfs, (const char *path, struct statfs *ret_fs), (path, ret_fs),
    TEXT(path), OUT(ret_fs, sizeof(*ret_fs)))
OTHER(int, chdir, (const char *path), (path), TEXT(path), )
OTHER(int, mkstemp, (char *path), (path), TEXT(path), OUT(path, strlen(path) + 1))
OTHER(int, system, (const char *command), (command), TEXT(command), )
OTHER(gid_t, getgid, (void), (), , )
OTHER(gid_t, getegid, (void), (), , )
OTHER(pid_t, gettid, (void), (), , )
OTHER(int, uname, (struct utsname *ret_names), (ret_names), , OUT(ret_names, sizeof(*ret_names)))

/* clang-format on */

#undef OTHER
#else
struct eddyi_track; /* the header alone has nothing */
#endif
