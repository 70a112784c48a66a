/* Unix sockets: addresses, and removal of stale files. */
#include "net.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Other processes hold the lock only while they bind. */
#define LOCK_TRIES 100
#define LOCK_AGAIN_NS 1000000

static int open_unix(void)
{
	int fd = eddyi_socket_now(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

struct eddy_sockaddr eddyi_net_unix_address(struct eddy_str path)
{
	struct eddy_sockaddr addr = { .addr.un.sun_family = AF_UNIX, .len = sizeof(addr.addr.un) };

	memcpy(addr.addr.un.sun_path, path.ptr, path.len);
	if (path.ptr[0] == '@') {
		/* Each byte counts in an abstract name, so there is no NUL at its end. */
		addr.addr.un.sun_path[0] = 0;
		addr.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.len);
	}
	return addr;
}

static bool is_abstract(const struct sockaddr_un *addr)
{
	return !addr->sun_path[0];
}

/* Lock the socket's folder from bind to listen, because a socket that is bound but not yet
 * listening looks like a stale one. If it can't be locked, go on without.
 * Return: a descriptor to close, or -1; -EADDRINUSE if another process keeps the lock. */
static int lock_folder(const struct sockaddr_un *addr)
{
	const struct timespec pause = { .tv_nsec = LOCK_AGAIN_NS };
	char folder[sizeof(addr->sun_path) + 1];
	char *slash;
	int fd, r, tries = LOCK_TRIES;

	if (is_abstract(addr))
		return -1;
	snprintf(folder, sizeof(folder), "%s", addr->sun_path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = 0;
	fd = eddyi_open_now(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	while ((r = eddyi_flock_now(fd, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK && --tries)
		nanosleep(&pause, NULL);
	if (r == 0 || errno != EWOULDBLOCK)
		return fd;
	eddyi_close_now(fd);
	return -EADDRINUSE;
}

/* Check whether the existing file is a socket on which no process listens. Return: 0 if so. */
static int check_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd, r;

	if (eddyi_lstat_now(addr->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = open_unix();
	if (fd < 0)
		return fd;
	r = eddyi_connect_now(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ? -errno : 0;
	eddyi_close_now(fd);
	/* -EAGAIN is a full queue: a process listens. */
	return r == -ECONNREFUSED || r == -ENOENT ? 0 : r == -EACCES ? r : -EADDRINUSE;
}

static int bind_unix(int fd, const struct eddy_sockaddr *addr)
{
	int r;

	if (eddyi_bind_now(fd, &addr->addr.any, addr->len) == 0)
		return 0;
	if (errno != EADDRINUSE || is_abstract(&addr->addr.un))
		return -errno;
	r = check_stale(&addr->addr.un);
	if (r < 0)
		return r;
	if (eddyi_unlink_now(addr->addr.un.sun_path) < 0 && errno != ENOENT)
		return -errno;
	return eddyi_bind_now(fd, &addr->addr.any, addr->len) < 0 ? -errno : 0;
}

/* By descriptor: another process may have replaced the file at this path. */
static int set_mode(int file, mode_t mode)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return chmod(path, mode) < 0 ? -errno : 0;
}

/* Open the new file with O_PATH. This keeps its inode number from being reused, so that the file
 * can be recognized by it. */
static int open_file(const struct sockaddr_un *addr, mode_t mode, struct eddy_listeners *listeners)
{
	if (is_abstract(addr))
		return 0;
	listeners->file = eddyi_open_now(addr->sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	if (listeners->file < 0) {
		int r = -errno;

		eddyi_unlink_now(addr->sun_path);
		return r;
	}
	listeners->has_file = true;
	return mode ? set_mode(listeners->file, mode) : 0;
}

static int bind_and_listen(int fd, const struct eddy_sockaddr *addr,
			   const struct eddy_listen_options *options,
			   struct eddy_listeners *listeners)
{
	int r = bind_unix(fd, addr);

	if (r < 0)
		return r;
	/* In time: no client can connect before listen(). */
	r = open_file(&addr->addr.un, options->mode, listeners);
	if (r == 0 && eddyi_listen_now(fd, options->backlog) < 0)
		r = -errno;
	if (r < 0)
		eddyi_net_unlink(listeners);
	return r;
}

int eddyi_net_listen_unix(struct eddy_str path, const struct eddy_listen_options *options,
			  struct eddy_listeners *listeners)
{
	struct eddy_sockaddr addr = eddyi_net_unix_address(path);
	int fd = open_unix(), lock, r;

	if (fd < 0)
		return fd;
	lock = lock_folder(&addr.addr.un);
	r = lock == -EADDRINUSE ? lock : bind_and_listen(fd, &addr, options, listeners);
	if (lock >= 0)
		eddyi_close_now(lock);
	if (r < 0) {
		eddyi_close_now(fd);
		return r;
	}
	listeners->fds[listeners->count++] = fd;
	return 0;
}

void eddyi_net_unlink(struct eddy_listeners *listeners)
{
	const char *path = listeners->name + strlen("unix:");
	struct stat ours, theirs;

	if (!listeners->has_file)
		return;
	/* Another process may have replaced the file. */
	if (eddyi_fstat_now(listeners->file, &ours) == 0 && eddyi_lstat_now(path, &theirs) == 0 &&
	    ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		eddyi_unlink_now(path);
	eddyi_close_now(listeners->file);
	listeners->has_file = false;
}
