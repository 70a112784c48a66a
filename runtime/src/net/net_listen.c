/* Listening sockets. */
#include "net.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- unix sockets, and the removal of stale files ---- */

/* Other processes hold the lock only while they bind. */
#define LOCK_TRIES 100
#define LOCK_AGAIN_NS 1000000

static int open_unix(void)
{
	int fd = eddyi_socket_now(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
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
		eddyi_nanosleep_now(&pause, NULL);
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
	return eddyi_chmod_now(path, mode) < 0 ? -errno : 0;
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

/* Remove the socket's file unless another one has replaced it. */
static void unlink_unix(struct eddy_listeners *listeners)
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
		unlink_unix(listeners);
	return r;
}

/* Listen on a unix socket. The name of `listeners` must be set. */
static int listen_unix(struct eddy_str path, const struct eddy_listen_options *options,
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

/* ---- sockets at an address, or at all addresses of a name ---- */

#define BACKLOG_DEFAULT 4096
/* A port that is free on the first address may be in use on another. */
#define PORT_TRIES 64

static int set_option(int fd, int level, int option)
{
	int on = 1;

	return eddyi_setsockopt_now(fd, level, option, &on, sizeof(on)) < 0 ? -errno : 0;
}

static void set_port(struct eddy_sockaddr *addr, uint16_t port)
{
	/* Both families have the port at the same offset. */
	addr->addr.in.sin_port = htons(port);
}

static int get_port(int fd, uint16_t *ret_port)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };

	if (eddyi_getsockname_now(fd, &addr.addr.any, &addr.len) < 0)
		return -errno;
	*ret_port = ntohs(addr.addr.in.sin_port);
	return 0;
}

/* Set SO_REUSEPORT only after bind, except for clones. So a second server on the same port is an
 * error, instead of silently getting half of the connections. */
static int bind_tcp(int fd, const struct eddy_sockaddr *addr, bool reuse_port, bool clone)
{
	int r = set_option(fd, SOL_SOCKET, SO_REUSEADDR);

	if (r == 0 && addr->addr.any.sa_family == AF_INET6)
		r = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY);
	if (r == 0)
		r = set_option(fd, IPPROTO_TCP, TCP_NODELAY);
	if (r == 0 && clone)
		r = set_option(fd, SOL_SOCKET, SO_REUSEPORT);
	if (r == 0 && eddyi_bind_now(fd, &addr->addr.any, addr->len) < 0)
		r = -errno;
	if (r == 0 && reuse_port && !clone)
		r = set_option(fd, SOL_SOCKET, SO_REUSEPORT);
	return r;
}

static int open_tcp(const struct eddy_sockaddr *addr, bool reuse_port, bool clone, int backlog)
{
	int fd = eddyi_socket_now(addr->addr.any.sa_family,
				  SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = bind_tcp(fd, addr, reuse_port, clone);
	if (r == 0 && eddyi_listen_now(fd, backlog) < 0)
		r = -errno;
	if (r < 0) {
		eddyi_close_now(fd);
		return r;
	}
	return fd;
}

static void close_all(struct eddy_listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++)
		eddyi_close_now(listeners->fds[i]);
	listeners->count = 0;
}

static void note_absent(const struct eddy_sockaddr *addr, int error)
{
	char text[EDDY_SOCKADDR_TEXT_MAX];

	eddy_sockaddr_format(&addr->addr.any, addr->len, text);
	eddy_debug("eddy::net", "not listening on %s: %s", text, strerror(-error));
}

/* Try once to listen on all addresses. With port 0, the others get the first one's port. */
static int try_listen(struct eddy_sockaddr *addrs, int count,
		      const struct eddy_listen_options *options, struct eddy_listeners *listeners)
{
	uint16_t port = ntohs(addrs[0].addr.in.sin_port);
	int r = -EADDRNOTAVAIL;

	for (int i = 0; i < count; i++) {
		int fd;

		set_port(&addrs[i], port);
		fd = open_tcp(&addrs[i], options->reuse_port, false, options->backlog);
		if (fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT) {
			note_absent(&addrs[i], fd);
			continue;
		}
		if (fd >= 0) {
			listeners->fds[listeners->count++] = fd;
			r = get_port(fd, &port);
		} else {
			r = fd;
		}
		if (r < 0) {
			close_all(listeners);
			return r;
		}
	}
	listeners->port = port;
	return r;
}

static int listen_tcp(const struct eddy_address *address, const struct eddy_listen_options *options,
		      struct eddy_listeners *listeners)
{
	struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
	int tries = address->port ? 1 : PORT_TRIES;
	int count = eddy_resolve(address, addrs), r;

	if (count < 0)
		return count;
	do {
		set_port(&addrs[0], address->port);
		r = try_listen(addrs, count, options, listeners);
	} while (r == -EADDRINUSE && --tries);
	return r;
}

/* Compose the name: the text up to the port as given, then the port. */
static void set_name(struct eddy_listeners *listeners, const char *text,
		     const struct eddy_address *address)
{
	if (address->path.len)
		snprintf(listeners->name, sizeof(listeners->name), "%s", text);
	else
		snprintf(listeners->name, sizeof(listeners->name), "%.*s:%u",
			 (int)(strrchr(text, ':') - text), text, listeners->port);
}

int eddy_listen(const char *text, const struct eddy_listen_options *options,
		struct eddy_listeners *ret_listeners)
{
	struct eddy_listen_options ours = { 0 };
	struct eddy_listeners listeners = { 0 };
	struct eddy_address address;
	int r;

	if (options)
		ours = *options;
	if (!ours.backlog)
		ours.backlog = BACKLOG_DEFAULT;
	listeners.backlog = ours.backlog;
	r = eddy_address_parse(text, &address);
	if (r < 0)
		return r;
	if (address.path.len) {
		set_name(&listeners, text, &address);
		r = listen_unix(address.path, &ours, &listeners);
	} else {
		r = listen_tcp(&address, &ours, &listeners);
		if (r == 0)
			set_name(&listeners, text, &address);
	}
	if (r == 0)
		*ret_listeners = listeners;
	return r;
}

static int clone_one(int fd, int backlog)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	int r;

	if (eddyi_getsockname_now(fd, &addr.addr.any, &addr.len) < 0)
		return -errno;
	if (addr.addr.any.sa_family != AF_UNIX)
		return open_tcp(&addr, true, true, backlog);
	r = eddyi_fcntl_now(fd, F_DUPFD_CLOEXEC, 0);
	return r < 0 ? -errno : r;
}

int eddy_listeners_clone(const struct eddy_listeners *listeners,
			 struct eddy_listeners *ret_listeners)
{
	struct eddy_listeners clone = *listeners;

	clone.has_file = false;
	clone.count = 0;
	for (size_t i = 0; i < listeners->count; i++) {
		int fd = clone_one(listeners->fds[i], listeners->backlog);

		if (fd < 0) {
			close_all(&clone);
			return fd;
		}
		clone.fds[clone.count++] = fd;
	}
	*ret_listeners = clone;
	return 0;
}

void eddy_listeners_close(struct eddy_listeners *listeners)
{
	unlink_unix(listeners);
	close_all(listeners);
}
