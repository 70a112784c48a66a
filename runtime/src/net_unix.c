#include "net.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_unix(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Whether the file that is in the way is a socket that nobody listens on. */
static int check_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd, r;

	if (lstat(addr->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = open_unix();
	if (fd < 0)
		return fd;
	r = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ? -errno : 0;
	close(fd);
	/* A full queue is -EAGAIN: somebody is there. */
	return r == -ECONNREFUSED || r == -ENOENT ? 0 : r == -EACCES ? r : -EADDRINUSE;
}

static int bind_unix(int fd, const struct sockaddr_un *addr)
{
	int r;

	if (bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	r = check_stale(addr);
	if (r < 0)
		return r;
	if (unlink(addr->sun_path) < 0 && errno != ENOENT)
		return -errno;
	return bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ? -errno : 0;
}

static struct sockaddr_un address_of(struct eddy_str path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	memcpy(addr.sun_path, path.ptr, path.len);
	return addr;
}

int eddyi_net_listen_unix(struct eddy_str path, int backlog, struct eddy_listeners *listeners)
{
	struct sockaddr_un addr = address_of(path);
	int fd = open_unix(), r;

	if (fd < 0)
		return fd;
	r = bind_unix(fd, &addr);
	if (r == 0 && listen(fd, backlog) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	/* It keeps the file's inode number from being used again, so that the file is known by it. */
	listeners->file = open(addr.sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	listeners->has_file = listeners->file >= 0;
	listeners->fds[listeners->count++] = fd;
	return 0;
}

void eddyi_net_unlink(struct eddy_listeners *listeners)
{
	const char *path = listeners->name + strlen("unix:");
	struct stat ours, theirs;

	if (!listeners->has_file)
		return;
	/* Somebody else may have put another one there. */
	if (fstat(listeners->file, &ours) == 0 && lstat(path, &theirs) == 0 &&
	    ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		unlink(path);
	close(listeners->file);
	listeners->has_file = false;
}
