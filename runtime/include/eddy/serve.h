/* eddy/serve.h: a task for each connection that comes.
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
 * It is the loop of eddy_acceptor_next() and eddy_scope_spawn() that every server has, with what is easily
 * forgotten in it: every address of a name, a limit, a process that has no descriptor left.
 */
#ifndef EDDY_SERVE_H
#define EDDY_SERVE_H

#include <eddy/net.h>

EDDY_BEGIN_DECLS

/* Serve one connection, in a task of its own. Its failure concerns nobody else. `fd` is closed when this
 * has returned; `arg` is what eddy_serve() got. */
typedef int eddy_serve_fn(int fd, void *arg);

struct eddy_serve_options {
	const char *name; /* of the tasks; default "connection"; borrowed */
	/* Served at a time; default 10,000. Of the others some tens for each address are accepted and wait,
	 * and the rest is in the backlog. */
	size_t connections_max;
};

/* Accept connections and run `fn(fd, arg)` as a task for each, until the current scope is cancelled: so
 * are those tasks then, and they are awaited. Without a free descriptor or memory it waits until one is
 * closed, or 100 ms, and goes on. Suspends.
 * Return: -ECANCELED; -EINVAL, -ENOTSOCK, -EBADF, -EOPNOTSUPP for what does not listen; -ENOMEM when not
 * even one task can be had for each listener. */
EDDY_API int eddy_serve(const struct eddy_listeners *listeners,
			const struct eddy_serve_options *options, eddy_serve_fn *fn, void *arg);

EDDY_END_DECLS

#endif
