/* eddy/select.h: wait for the first of several things: channels, events, a time, operations on the ring.
 *
 *     struct eddy_case cases[] = {
 *             eddy_case_chan_recv(&jobs, &job),
 *             eddy_case_accept(listener),
 *             eddy_case_after(5 * EDDY_SECOND),
 *     };
 *     int r = eddy_select(cases, 3);
 *
 *     if (r < 0)
 *             return r;
 *     if (cases[0].ready && cases[0].result == 0)
 *             work_on(&job);
 *     if (cases[1].ready && cases[1].result >= 0)
 *             greet(cases[1].result);
 *     if (cases[2].ready)
 *             puts("nothing for five seconds");
 *
 * Look at every case: as with poll(2), several may be ready. What has a result is never dropped:
 *   1. Of channels, events and times at most one becomes ready; the others are as if they had not been
 *      asked. No item is taken from or put into another channel.
 *   2. When something is ready, operations that are still on their way are cancelled and awaited. One
 *      that the kernel had completed by then, in part or in whole, is ready too, with its result: the
 *      connection that was accepted, the count of bytes that have been received.
 *   3. An operation that is not ready has had no effect.
 *   4. A result beats cancellation: then eddy_select() returns it, and the next call -ECANCELED.
 *   5. When it returns, the kernel has let go of what every case points to.
 *
 * Which case is served when several are ready at once is drawn by lot, so that none starves. Cases can
 * be used again, in a loop, and their results are good until then.
 */
#ifndef EDDY_SELECT_H
#define EDDY_SELECT_H

#include <eddy/chan.h>
#include <eddy/event.h>
#include <eddy/op.h>
#include <eddy/timer.h>

EDDY_BEGIN_DECLS

struct eddyi_select;

/* Private: one task's place in one queue. */
struct eddyi_entry {
	struct eddy_node node; /* .next is NULL while it is in none */
	struct eddyi_waiter *waiter;
	/* What to do in place of waking the task; NULL: wake it. */
	void (*served)(struct eddyi_entry *entry, int result);
	void *item; /* of a channel: where it is to be written to or read from */
};

/* The kernel's struct ends with an array of no size, which ISO C++ does not know. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

/* One of the things that eddy_select() waits for. One of zeros is never ready. */
struct eddy_case {
	bool ready;              /* set by eddy_select() */
	int result;              /* of one that is ready: what the plain call would have returned */
	struct io_uring_sqe sqe; /* of eddy_case_op(): to be filled */

	int kind; /* from here on private */
	void *on; /* a channel, an event */
	struct eddyi_entry entry;
	struct eddy_timer timer;
	struct eddy_op op;
	struct eddyi_select *select;
};

#pragma GCC diagnostic pop

/* As eddy_chan_recv() and eddy_chan_send(): the result is 0 or -EPIPE. */
EDDY_API struct eddy_case eddy_case_chan_recv(struct eddy_chan *chan, void *ret_item);
EDDY_API struct eddy_case eddy_case_chan_send(struct eddy_chan *chan, const void *item);

/* As eddy_event_wait(): the result is 0. */
EDDY_API struct eddy_case eddy_case_event(struct eddy_event *event);

/* Ready from `at_ns` of the monotonic clock on, or `duration_ns` after this call; the result is 0. */
EDDY_API struct eddy_case eddy_case_at(uint64_t at_ns);
EDDY_API struct eddy_case eddy_case_after(uint64_t duration_ns);

/* Any operation that completes once (no multishot): fill `sqe` of the case, in the array where it is,
 * by one io_uring_prep_* call. The result is that of the completion. A descriptor that is closed
 * meanwhile by eddy_close() makes it -ECANCELED. */
EDDY_API struct eddy_case eddy_case_op(void);

/* As the calls of eddy/io.h that have these names. The peer's address of what is accepted is had by
 * getpeername(2). */
EDDY_API struct eddy_case eddy_case_accept(int fd);
EDDY_API struct eddy_case eddy_case_recv(int fd, void *buf, size_t len, int flags);
EDDY_API struct eddy_case eddy_case_read(int fd, void *buf, size_t len, uint64_t offset);
EDDY_API struct eddy_case eddy_case_poll(int fd, unsigned events);

/* Wait until at least one case is ready. Suspends, unless a channel, an event or a time is ready at once.
 * Return: how many are ready, at least 1; -ECANCELED: none is. */
EDDY_API int eddy_select(struct eddy_case *cases, size_t count, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_select(...) eddy_select(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
