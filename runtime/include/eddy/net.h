/* eddy/net.h: parse and resolve addresses, listen on them, and connect to them.
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
 * unix:PATH, or unix:@NAME for a socket without a file (unix(7), "abstract"). "localhost" is always
 * 127.0.0.1 and ::1; no resolver is asked.
 *
 * A task that resolves a name suspends while the offload pool (worker threads for blocking calls)
 * asks the resolver; on a thread without a loop the call blocks. eddy_dial() always needs a task,
 * and suspends. Other functions never suspend.
 */
#ifndef EDDY_NET_H
#define EDDY_NET_H

#include <eddy/str.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

EDDY_BEGIN_DECLS

/* A socket address, of any family. */
struct eddy_sockaddr {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} addr;
	socklen_t len;
};

/* An address, parsed and not resolved. */
struct eddy_address {
	struct eddy_str host; /* without brackets; empty for unix:PATH; borrowed */
	struct eddy_str path; /* of a unix socket, or @NAME; else empty; borrowed */
	uint16_t port;
};

/* The most addresses of one name. */
#define EDDY_ADDRESSES_MAX 16

/* Size of any text of eddy_sockaddr_format(), its NUL included. */
#define EDDY_SOCKADDR_TEXT_MAX 128

/* Parse an address. PORT is 0 to 65535 in decimal, without a sign or leading zeros. `*ret_address`
 * points into `text`.
 * Return: 0; -EINVAL if it is no address; -ENAMETOOLONG if a path has more than 107 bytes. */
EDDY_API int eddy_address_parse(const char *text, struct eddy_address *ret_address);

/* Resolve the host of an address. Suspends if it is a name.
 * Return: the number of addresses, at least 1; -EINVAL if it is neither a name nor an IP address;
 * -ENXIO if no such name exists; -EAGAIN if the resolver failed for now, or the offload pool's
 * queue is full; -E2BIG if there are more than EDDY_ADDRESSES_MAX; -ENOMEM; -ECANCELED. */
EDDY_API int eddy_resolve(const struct eddy_address *address,
			  struct eddy_sockaddr ret_addrs[EDDY_ADDRESSES_MAX]);

/* Format an address, such as "[::1]:80" or "unix:/path", with a NUL. Return: its length. */
EDDY_API size_t eddy_sockaddr_format(const struct sockaddr *addr, socklen_t len,
				     char ret_text[EDDY_SOCKADDR_TEXT_MAX]);

/* Explain why an address can't be parsed, resolved or bound, better than strerror(3). */
EDDY_API const char *eddy_net_strerror(int error);

struct eddy_listen_options {
	/* Connections that wait to be accepted; default 4096; limited by net.core.somaxconn. */
	int backlog;
	/* Allow eddy_listeners_clone() to open more sockets on the same addresses; default: no. */
	bool reuse_port;
	/* Mode of a unix socket's file, set before clients can connect; needs /proc. Default: what
	 * umask(2) leaves of 0777. */
	mode_t mode;
};

/* Listening sockets, one for each address of a name. */
struct eddy_listeners {
	int fds[EDDY_ADDRESSES_MAX];
	size_t count;
	uint16_t port;  /* the bound port, the same for all; 0 for a unix socket */
	char name[280]; /* as typed, with the bound port */
	int backlog;    /* private */
	/* The file of a unix socket, opened with O_PATH, that eddy_listeners_close() removes. A
	 * process that passes the sockets on passes it on as well, and clears `has_file`. */
	bool has_file;
	int file;
};

/* Listen on every address of `text`. Suspends if it has a name to resolve.
 *    - Sockets are non-blocking and close-on-exec. Connections accepted from them have TCP_NODELAY.
 *    - An IPv6 socket accepts IPv6 only. Port 0 takes a port that is free on all addresses.
 *    - Addresses that this machine lacks are skipped, with a DEBUG record, as long as one remains.
 *    - A unix socket's file on which nothing listens any more is replaced, also if several
 *      processes start at once: its folder is locked (flock(2)) meanwhile.
 * Return: 0; the errors of eddy_address_parse() and eddy_resolve(); -EADDRINUSE, also if other
 * sockets with SO_REUSEPORT exist; -EADDRNOTAVAIL if this machine has none of the addresses;
 * -EEXIST if the path is a file other than a socket; -EACCES, -ENOENT, -EMFILE. */
EDDY_API int eddy_listen(const char *text, const struct eddy_listen_options *options,
			 struct eddy_listeners *ret_listeners);

/* Open as many sockets on the same addresses again, for another loop. `listeners` must have been
 * opened with `reuse_port` and still listen. A unix socket is shared instead.
 * Return: 0; -EMFILE, -ENFILE, -EADDRINUSE. */
EDDY_API int eddy_listeners_clone(const struct eddy_listeners *listeners,
				  struct eddy_listeners *ret_listeners);

/* Close the sockets, and remove the file of a unix socket unless this is a clone. If the
 * descriptors were passed on, set `count` to 0 first. Does nothing the second time. */
EDDY_API void eddy_listeners_close(struct eddy_listeners *listeners);

struct eddy_dial_options {
	/* Head start of each address on the next one; default 250 ms, at least 10 ms. */
	uint64_t attempt_delay_ns;
	uint64_t attempt_timeout_ns; /* for one address; default: the kernel's, about 2 minutes */
	uint64_t timeout_ns;         /* for the whole call; default: that of the enclosing scopes */
	/* Local address of the connection, such as "192.0.2.7:0" or "[2001:db8::7]:0". Not a name;
	 * only addresses of the same family are tried. Default: chosen by the kernel. Borrowed. */
	const char *bind;
};

/* Connect to a host or a unix socket. Suspends. The addresses of a name are tried by RFC 8305
 * ("happy eyeballs"), once the resolver has answered completely:
 *    - the families take turns, beginning with that of the resolver's first address;
 *    - the next address is tried when an attempt has failed or its head start is over;
 *    - the first address that answers wins, and other attempts are closed;
 *    - of a name with more than EDDY_ADDRESSES_MAX addresses the first ones are tried.
 * Return: a descriptor, non-blocking and close-on-exec, with TCP_NODELAY; the errors of
 * eddy_address_parse() and eddy_resolve(); -ETIMEDOUT; -EAFNOSUPPORT if no address is of the family
 * of `bind`; -EAGAIN if the queue of a unix socket is full; -ECANCELED; else the most specific
 * error of the attempts: -ECONNREFUSED rather than -ENETUNREACH or -EHOSTUNREACH. */
EDDY_API int eddy_dial(const char *text, const struct eddy_dial_options *options);

EDDY_END_DECLS

#endif
