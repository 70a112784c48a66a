/* eddy/select.h: wait for the first of several channels, events, times and io_uring operations.
 *
 *     struct eddy_case cases[] = {
 *             eddy_case_chan_recv(&jobs, &job),
 *             eddy_case_op(),
 *             eddy_case_after(5 * EDDY_SECOND),
 *     };
 *     int r;
 *
 *     io_uring_prep_accept(&cases[1].sqe, listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
 *     r = eddy_select(cases, 3);
 *     if (r < 0)
 *             return r;
 *     if (cases[0].ready && cases[0].result == 0)
 *             work_on(&job);
 *     if (cases[1].ready && cases[1].result >= 0)
 *             greet(cases[1].result);
 *     if (cases[2].ready)
 *             puts("nothing for five seconds");
 *
 * Check every case: as with poll(2), several may be ready. No result is ever lost:
 *   1. At most one channel, event or time is marked ready, and only that one has had an effect: no
 *      item is taken from or put into another channel.
 *   2. When something is ready, operations in flight are cancelled and awaited. An operation that
 *      the kernel has completed by then, in part or in whole, is ready as well, with its result: an
 *      accepted connection, the number of bytes received.
 *   3. An operation that is not ready has had no effect.
 *   4. A result takes precedence over cancellation: eddy_select() returns it, and the next call
 *      returns -ECANCELED.
 *   5. When eddy_select() returns, the kernel no longer uses what the cases point to.
 *
 * If several channels, events or times could be taken, one is chosen at random, so that none
 * starves. The same cases may be passed again; each call overwrites their results.
 */
#ifndef EDDY_SELECT_H
#define EDDY_SELECT_H

#include <eddy/chan.h>
#include <eddy/event.h>
#include <eddy/op.h>
#include <eddy/timer.h>

EDDY_BEGIN_DECLS

struct eddyi_select;

/* Private. One task's place in one queue. */
struct eddyi_entry {
	struct eddy_node node; /* .next is NULL while it is in none */
	struct eddyi_waiter *waiter;
	/* Called instead of waking the task; NULL: wake it. */
	void (*served)(struct eddyi_entry *entry, int result);
	void *item; /* where to write a channel's item to, or read it from */
};

/* The kernel's struct ends with an array of no size, which ISO C++ does not allow. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

/* One of the things that eddy_select() waits for. A case of zeros is never ready. */
struct eddy_case {
	bool ready;              /* set by eddy_select() */
	int result;              /* if ready: what the plain call would have returned */
	struct io_uring_sqe sqe; /* for eddy_case_op(): filled by the caller */

	int kind; /* from here on private */
	void *on; /* a channel, an event */
	struct eddyi_entry entry;
	struct eddy_timer timer;
	struct eddy_op op;
	struct eddyi_select *select;
};

#pragma GCC diagnostic pop

/* Make a case that receives from or sends to a channel, as eddy_chan_recv() and eddy_chan_send()
 * do. Its result is 0 or -EPIPE. */
EDDY_API struct eddy_case eddy_case_chan_recv(struct eddy_chan *chan, void *ret_item);
EDDY_API struct eddy_case eddy_case_chan_send(struct eddy_chan *chan, const void *item);

/* Make a case that waits for an event, as eddy_event_wait() does. Its result is 0. */
EDDY_API struct eddy_case eddy_case_event(struct eddy_event *event);

/* Make a case that is ready at `at_ns` of the monotonic clock, or `duration_ns` after this call.
 * Its result is 0. */
EDDY_API struct eddy_case eddy_case_at(uint64_t at_ns);
EDDY_API struct eddy_case eddy_case_after(uint64_t duration_ns);

/* Make a case for any operation that completes once (no multishot). Once the case is in its array,
 * fill its `sqe` with one io_uring_prep_* call of <liburing.h>. Its result is that of the
 * completion; -ECANCELED if eddy_close() closes the descriptor meanwhile. */
EDDY_API struct eddy_case eddy_case_op(void);

/* Wait until at least one case is ready. Suspends unless a channel, an event or a time is
 * ready at once.
 * Return: the number of ready cases, at least 1; -ECANCELED: none is ready. */
EDDY_API int eddy_select(struct eddy_case *cases, size_t count, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_select(...) eddy_select(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
