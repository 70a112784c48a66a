/* eddy/net.h: addresses as people write them, the sockets that listen on them, and connections to them.
 *
 *     struct eddy_listeners listeners;
 *     int r = eddy_listen("localhost:7878", NULL, &listeners);
 *
 *     if (r < 0)
 *             eddy_error("app", "cannot listen on \"%s\": %s", address, eddy_net_strerror(r));
 *
 *     int fd = eddy_dial("example.com:80", NULL);      // a connection, or -errno
 *
 * An address is HOST:PORT, where HOST is an IPv4 address, an IPv6 address in brackets or a name, or
 * unix:PATH, or unix:@NAME for a socket without a file (unix(7), "abstract"). "localhost" is 127.0.0.1
 * and ::1 by definition, no resolver is asked.
 *
 * What asks a resolver suspends a task, off the loop, for as long as that takes; on a thread without
 * a loop it blocks. eddy_dial() is for tasks, and suspends; all else never does.
 */
#ifndef EDDY_NET_H
#define EDDY_NET_H

#include <eddy/str.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

EDDY_BEGIN_DECLS

/* The address of a socket, of any family. */
struct eddy_sockaddr {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} addr;
	socklen_t len;
};

/* An address as written, taken apart and not resolved. */
struct eddy_address {
	struct eddy_str host; /* without brackets; empty for unix:PATH; borrowed */
	struct eddy_str path; /* of a unix socket, or @NAME; else empty; borrowed */
	uint16_t port;
};

/* How many addresses one name may have. */
#define EDDY_ADDRESSES_MAX 16

/* Space for any address that eddy_sockaddr_format() writes, its NUL included. */
#define EDDY_SOCKADDR_TEXT_MAX 128

/* Take an address apart. A PORT is 0 to 65535 in decimal, without a sign or leading zeros.
 * Return: 0; -EINVAL when it is not an address; -ENAMETOOLONG for a path of over 107 bytes. */
EDDY_API int eddy_address_parse(const char *text, struct eddy_address *ret_address);

/* Find the addresses of a host. Suspends when it is a name.
 * Return: how many, at least 1; -EINVAL when it is neither a name nor an IP address; -ENXIO when
 * nothing has that name; -EAGAIN when the resolver failed for now, or the offload pool's queue is full;
 * -E2BIG when there are more than EDDY_ADDRESSES_MAX; -ENOMEM, -ECANCELED. */
EDDY_API int eddy_resolve(const struct eddy_address *address,
			  struct eddy_sockaddr ret_addrs[EDDY_ADDRESSES_MAX]);

/* Write "127.0.0.1:80", "[::1]:80" or "unix:/path" and a NUL.
 * Return: its length. */
EDDY_API size_t eddy_sockaddr_format(const struct sockaddr *addr, socklen_t len,
				     char ret_text[EDDY_SOCKADDR_TEXT_MAX]);

/* Say why an address could not be parsed, resolved or bound: strerror(3) in better words. */
EDDY_API const char *eddy_net_strerror(int error);

struct eddy_listen_options {
	/* Connections that wait to be accepted; default 4096; the kernel's limit is net.core.somaxconn. */
	int backlog;
	/* More sockets will be opened on the same addresses, by eddy_listeners_clone(); default: they
	 * will not. */
	bool reuse_port;
	/* Of a unix socket's file, before anybody can connect; needs /proc. Default: what umask(2) leaves
	 * of 0777. */
	mode_t mode;
};

/* Sockets that listen: one for each address that a name has. */
struct eddy_listeners {
	int fds[EDDY_ADDRESSES_MAX];
	size_t count;
	uint16_t port;  /* the real one, the same for all; 0 of a unix socket */
	char name[280]; /* as typed, with the real port */
	int backlog;    /* private */
	/* Of a unix socket, the file that will be removed, open as a mere place (O_PATH). Who hands the
	 * sockets on to another process hands it on, too, and has no file any more. */
	bool has_file;
	int file;
};

/* Listen on every address that `text` means. Sockets are non-blocking and close-on-exec; connections
 * accepted from them have TCP_NODELAY. An IPv6 socket takes IPv6 alone. Addresses that this machine
 * lacks are left out, with a DEBUG record, as long as one is there. Port 0 takes a port that is free
 * for all of them. A unix socket's file that nobody listens on any more is replaced, also when several
 * start at once: the folder is locked (flock(2)) meanwhile. Suspends when a name is resolved.
 * Return: 0; those of eddy_address_parse() and eddy_resolve(); -EADDRINUSE, also when other sockets
 * with SO_REUSEPORT are there; -EADDRNOTAVAIL when this machine has none of the addresses;
 * -EEXIST when a file that is no socket has the path; -EACCES, -ENOENT, -EMFILE. */
EDDY_API int eddy_listen(const char *text, const struct eddy_listen_options *options,
			 struct eddy_listeners *ret_listeners);

/* Open as many sockets on the same addresses once more, for another loop; those of `listeners` were
 * opened with `reuse_port` and still listen. A unix socket is shared instead.
 * Return: 0, -EMFILE, -ENFILE, -EADDRINUSE. */
EDDY_API int eddy_listeners_clone(const struct eddy_listeners *listeners,
				  struct eddy_listeners *ret_listeners);

/* Remove the file of a unix socket, unless a clone is what is closed, and close the sockets. Who has
 * handed the descriptors on sets `count` to 0 before. Does nothing the second time. */
EDDY_API void eddy_listeners_close(struct eddy_listeners *listeners);

struct eddy_dial_options {
	/* The head start of each address on the next one; default 250 ms, at least 10 ms. */
	uint64_t attempt_delay_ns;
	uint64_t attempt_timeout_ns; /* for one address; default: what the kernel does, about 2 minutes */
	uint64_t timeout_ns;         /* for everything; default: that of the scopes around it */
	/* Where the connection comes from: "192.0.2.7:0", "[2001:db8::7]:0". No name; only addresses of
	 * the same family are tried. Default: what the kernel chooses. Borrowed. */
	const char *bind;
};

/* Connect to a host, or to a unix socket. Suspends. The addresses of a name are tried by RFC 8305
 * ("happy eyeballs"), except that the resolver's answer is awaited as a whole: the families take turns,
 * beginning with that of the resolver's first address; the next one is tried when one has failed or its
 * head start is over; the first that answers wins, and the others are closed. Of a name with more than
 * EDDY_ADDRESSES_MAX addresses the first ones are tried.
 * Return: a descriptor, non-blocking and close-on-exec, with TCP_NODELAY; those of
 * eddy_address_parse() and eddy_resolve(); -ETIMEDOUT; -EAFNOSUPPORT when no address is of the family of
 * `bind`; -EAGAIN when the queue of a unix socket is full; -ECANCELED; else of what the attempts have
 * failed with that which says most: -ECONNREFUSED of one that was reached rather than -ENETUNREACH or
 * -EHOSTUNREACH. */
EDDY_API int eddy_dial(const char *text, const struct eddy_dial_options *options);

EDDY_END_DECLS

#endif
