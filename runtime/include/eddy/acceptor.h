/* eddy/acceptor.h: connections as they come, by one entry on the ring for all of them.
 *
 *     struct eddy_acceptor acceptor;
 *     int fd;
 *
 *     eddy_acceptor_open(&acceptor, listener, NULL);
 *     while ((fd = eddy_acceptor_next(&acceptor)) >= 0)
 *             eddy_scope_spawn(&scope, "connection", serve, (void *)(intptr_t)fd);
 *     eddy_acceptor_close(&acceptor);
 *
 * Every descriptor that the kernel made is handed out by _next or closed by _close. For a task for each
 * connection, with a limit, see eddy/serve.h.
 */
#ifndef EDDY_ACCEPTOR_H
#define EDDY_ACCEPTOR_H

#include <eddy/op.h>
#include <eddy/timer.h>

EDDY_BEGIN_DECLS

struct eddy_acceptor_options {
	/* Connections that wait for the task, before the others are left in the backlog; default 64. What
	 * the backlog held at that moment may come on top of it. */
	unsigned pending_max;
};

/* Private but for `pauses`. */
struct eddy_acceptor {
	struct eddy_op op;
	struct eddy_timer retry;
	struct eddy_node paused; /* in the loop's list, until a descriptor is closed */
	struct eddyi_at_rest at_rest;
	struct eddyi_waiter *waiter; /* the task in _next or _stop */
	int *fds;                    /* a ring of those that wait */
	unsigned first, pending, room, pending_max;
	uint64_t pauses; /* read-only: times that there was no descriptor or memory left */
	int end;         /* what ended it */
	unsigned loop;   /* the loop it was opened on */
	bool ended, pausing, stopping;
};

/* Begin to accept from `fd`, a listening socket that is non-blocking. Never suspends. Return: 0,
 * -ENOMEM. */
EDDY_API int eddy_acceptor_open(struct eddy_acceptor *acceptor, int fd,
				const struct eddy_acceptor_options *options);

/* Wait for a connection; it is non-blocking and close-on-exec. Suspends. When the process has no
 * descriptor or the kernel no memory left it goes on as soon as eddy_close() has freed one, or after 100
 * ms. One task at a time.
 * Return: its descriptor; -ECANCELED, nothing is lost; -ESHUTDOWN after eddy_acceptor_stop(), when none
 * is left; -EBADF when `fd` was closed by eddy_close(); -EINVAL, -ENOTSOCK, -EOPNOTSUPP for what does not
 * listen. */
EDDY_API int eddy_acceptor_next(struct eddy_acceptor *acceptor, const char *where);

/* Accept no more. Those that the kernel has taken until now, in the backlog too, are still handed
 * out: to close a listening socket resets who waits there. Suspends, and is not cancelled. */
EDDY_API void eddy_acceptor_stop(struct eddy_acceptor *acceptor);

/* Stop, and close the connections that nobody took. `fd` stays open. Suspends, and is not cancelled. */
EDDY_API void eddy_acceptor_close(struct eddy_acceptor *acceptor);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_acceptor_stop(struct eddy_acceptor *acceptor, const char *where);
EDDY_API void eddyi_acceptor_close(struct eddy_acceptor *acceptor, const char *where);
#define eddy_acceptor_next(...) eddy_acceptor_next(__VA_ARGS__, EDDY_HERE)
#define eddy_acceptor_stop(...) eddyi_acceptor_stop(__VA_ARGS__, EDDY_HERE)
#define eddy_acceptor_close(...) eddyi_acceptor_close(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
