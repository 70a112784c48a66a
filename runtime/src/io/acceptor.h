/* acceptor.h: connections accepted by one multishot entry on the ring. eddy_serve() is built on it.
 *
 * Every descriptor that the kernel made is returned by eddyi_acceptor_next() or closed by eddyi_acceptor_close(). An acceptor
 * that finds no descriptor or memory left pauses until eddy_close() has freed one, or for 100 ms.
 */
#ifndef EDDYI_ACCEPTOR_H
#define EDDYI_ACCEPTOR_H

#include <eddy/op.h>
#include <eddy/timer.h>

struct eddy_loop;

struct eddyi_acceptor {
	struct eddy_op op;
	struct eddy_timer retry;
	struct eddy_node paused; /* in the loop's list, until a descriptor is closed */
	struct eddyi_at_rest at_rest;
	struct eddyi_waiter *waiter; /* the task in _next or _stop */
	int *fds;                    /* a ring buffer of accepted descriptors */
	unsigned first, pending, room, pending_max;
	uint64_t pauses; /* how often no descriptor or memory was left */
	int end;         /* the error that ended it */
	bool ended, pausing, stopping;
};

/* Begin to accept from `fd`, a non-blocking listening socket. Once `pending_max` connections wait for the task (0: 64), the
 * others stay in the backlog; those that the backlog held at that moment may be accepted as well. Never suspends.
 * Return: 0, -ENOMEM. */
int eddyi_acceptor_open(struct eddyi_acceptor *acceptor, int fd, unsigned pending_max);

/* Wait for a connection, which is non-blocking and close-on-exec. Suspends. One task at a time.
 * Return: its descriptor; -ECANCELED, nothing is lost; -ESHUTDOWN after eddyi_acceptor_stop(), if none is left; -EBADF if
 * `fd` was closed by eddy_close(); -EINVAL, -ENOTSOCK, -EOPNOTSUPP if `fd` does not listen. */
int eddyi_acceptor_next(struct eddyi_acceptor *acceptor);

/* Stop accepting. Connections that the kernel has completed so far, those in the backlog included, are still returned by
 * eddyi_acceptor_next(): closing a listening socket would reset them. Suspends, and is not cancelled. */
void eddyi_acceptor_stop(struct eddyi_acceptor *acceptor);

/* Stop, and close the connections that were not taken. `fd` stays open. Suspends, and is not cancelled. */
void eddyi_acceptor_close(struct eddyi_acceptor *acceptor);

/* Have paused acceptors try again: a descriptor has been closed. */
void eddyi_acceptors_resume(struct eddy_loop *loop);

#endif
