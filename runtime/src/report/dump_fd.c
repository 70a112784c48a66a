/* Descriptions of descriptors for dumps. */
#include "dump.h"

#include <eddy/net.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define LINK_MAX_SHOWN 128

static void name_end(struct eddyi_out *out, const struct eddy_sockaddr *addr, const char *before)
{
	char text[EDDY_SOCKADDR_TEXT_MAX];

	/* The address of an unnamed unix socket is only a family. */
	if (addr->len <= sizeof(sa_family_t))
		return;
	eddy_sockaddr_format(&addr->addr.any, addr->len, text);
	eddyi_out(out, "%s", before);
	eddyi_out_name(out, text);
}

static const char *protocol(int fd, int family)
{
	int type = 0;
	socklen_t len = sizeof(type);

	if (family == AF_UNIX)
		return "unix socket";
	if (family != AF_INET && family != AF_INET6)
		return "socket";
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	return type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "socket";
}

/* Return: false if `fd` is no socket. */
static bool name_socket(struct eddyi_out *out, int fd)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };

	if (getsockname(fd, &addr.addr.any, &addr.len) < 0)
		return false;
	eddyi_out(out, " (%s", protocol(fd, addr.addr.any.sa_family));
	name_end(out, &addr, " ");
	addr.len = sizeof(addr.addr);
	if (getpeername(fd, &addr.addr.any, &addr.len) == 0)
		name_end(out, &addr, " with ");
	eddyi_out(out, ")");
	return true;
}

void eddyi_dump_fd(struct eddyi_out *out, int fd)
{
	char path[32], target[LINK_MAX_SHOWN];
	ssize_t len;

	if (fd == AT_FDCWD) {
		eddyi_out(out, "the current folder");
		return;
	}
	eddyi_out(out, "%d", fd);
	if (name_socket(out, fd))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return;
	target[len] = '\0';
	eddyi_out(out, " (");
	eddyi_out_name(out, target);
	eddyi_out(out, ")");
}
