/* acceptor.h: accepts connections by one multishot entry on the ring. eddy_serve() uses it.
 *
 * Every accepted descriptor is returned by eddyi_acceptor_next() or closed by
 * eddyi_acceptor_close(). If there is no descriptor or memory left, the acceptor pauses until
 * eddy_close() has freed a descriptor, or for 100 ms.
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
	uint64_t pauses; /* for lack of descriptors or memory */
	int end;         /* the error that ended it */
	bool ended, pausing, stopping;
};

/* Start to accept from `fd`, a non-blocking listening socket. Once `pending_max` (0: 64)
 * connections wait for the task, new ones stay in the backlog; those already there may still be
 * accepted. Never suspends.
 * Return: 0, -ENOMEM. */
int eddyi_acceptor_open(struct eddyi_acceptor *acceptor, int fd, unsigned pending_max);

/* Wait for a connection. Its descriptor is non-blocking and close-on-exec. Suspends. One task at a
 * time.
 * Return: the descriptor; -ECANCELED, without losing a connection; -ESHUTDOWN after
 * eddyi_acceptor_stop(), if none is left; -EBADF if `fd` was closed by eddy_close(); -EINVAL,
 * -ENOTSOCK, -EOPNOTSUPP if `fd` is not a listening socket. */
int eddyi_acceptor_next(struct eddyi_acceptor *acceptor);

/* Stop accepting. eddyi_acceptor_next() still returns the connections that the kernel has
 * completed, including those in the backlog, because closing a listening socket would reset them.
 * Suspends, and can't be cancelled. */
void eddyi_acceptor_stop(struct eddyi_acceptor *acceptor);

/* Stop, and close connections not taken; `fd` stays open. Suspends, and can't be cancelled. */
void eddyi_acceptor_close(struct eddyi_acceptor *acceptor);

/* Restart paused acceptors, after a descriptor was closed. */
void eddyi_acceptors_resume(struct eddy_loop *loop);

#endif
