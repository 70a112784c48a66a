/* eddy/serve.h: a server loop: run a task for each connection.
 *
 *     static int echo(int fd, void *arg)
 *     {
 *             …eddy_recv(fd, …)…
 *     }
 *
 *     r = eddy_listen("localhost:7878", NULL, &listeners);
 *     if (r == 0)
 *             r = eddy_serve(&listeners, NULL, echo, NULL);
 *     eddy_listeners_close(&listeners);
 *
 * It is the loop of eddy_accept() and eddy_scope_spawn() that every server has, for every address
 * of a name, with a connection limit, and for a process that may run out of descriptors.
 */
#ifndef EDDY_SERVE_H
#define EDDY_SERVE_H

#include <eddy/net.h>

EDDY_BEGIN_DECLS

/* Serve one connection, in a task of its own. Its failure affects no other connection. `fd` is
 * closed when this has returned, which resets the connection and may lose what was sent last if
 * bytes have not been received: eddy_shutdown() and receive up to the end first. `arg` is that of
 * eddy_serve(). */
typedef int eddy_serve_fn(int fd, void *arg);

struct eddy_serve_options {
	const char *name; /* of the tasks; default "connection"; borrowed */
	/* Connections served at a time; default 10,000. Beyond it, some tens of connections for
	 * each address are accepted and wait; the rest stays in the backlog. */
	size_t connections_max;
};

/* Accept connections and run `fn(fd, arg)` as a task for each, until the current scope is
 * cancelled. Suspends. The tasks are then cancelled and awaited. Without a free descriptor or
 * memory, accepting resumes when a descriptor is closed, or after 100 ms.
 * Return: -ECANCELED; -EINVAL, -ENOTSOCK, -EBADF or -EOPNOTSUPP if a socket does not listen;
 * -ENOMEM if not even one task for each listener can be started. */
EDDY_API int eddy_serve(const struct eddy_listeners *listeners,
			const struct eddy_serve_options *options, eddy_serve_fn *fn, void *arg);

EDDY_END_DECLS

#endif
