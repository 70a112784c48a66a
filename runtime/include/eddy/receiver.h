/* eddy/receiver.h: a stream that is received all the time, into buffers that the kernel picks.
 *
 *     struct eddy_receiver receiver;
 *     void *bytes;
 *     ssize_t r;
 *
 *     eddy_receiver_open(&receiver, fd, NULL);
 *     while ((r = eddy_receiver_next(&receiver, &bytes)) > 0)
 *             look_at(bytes, (size_t)r);
 *     eddy_receiver_close(&receiver);
 *     eddy_close(fd);
 *
 * One entry on the ring serves many receives. A task that waits owns no buffer; one that is slow
 * holds a few at most, then its stream is not received until it has gone on. Bytes are never lost by a
 * cancellation: they are there for the next call. Nobody else receives from `fd` meanwhile.
 */
#ifndef EDDY_RECEIVER_H
#define EDDY_RECEIVER_H

#include <eddy/buffers.h>
#include <eddy/op.h>

EDDY_BEGIN_DECLS

struct eddy_receiver_options {
	/* The group to receive into, which outlives the receiver; default: one of the loop's own. */
	struct eddy_buffers *buffers;
	/* Buffers that wait for the task until no more are asked for; default an eighth of the group. What
	 * the kernel takes from the stream in one go (up to 32; before Linux 6.8 all that there are) may come
	 * on top. */
	unsigned pending_max;
};

/* Private. */
struct eddy_receiver {
	struct eddy_op op;
	struct eddy_buffers *buffers;
	struct eddy_buffers_waiter starved;
	struct eddyi_at_rest at_rest;
	struct eddyi_waiter *waiter; /* the task in _next or _close */
	unsigned pending, pending_max;
	unsigned lent; /* flags of the completion whose buffer the task looks at; 0 for none */
	uint16_t first, last;
	int end;       /* what ended it: 0 or -errno */
	unsigned loop; /* the loop it was opened on */
	bool ended, pausing, closing, poll_first;
};

/* Begin to receive from the stream socket `fd`. Never suspends. Return: 0, -ENOMEM, -EINVAL. */
EDDY_API int eddy_receiver_open(struct eddy_receiver *receiver, int fd,
				const struct eddy_receiver_options *options);

/* Wait for bytes. Suspends. They stay until the next call with this receiver. One task at a time.
 * Return: how many; 0 at the end of the stream; -ECANCELED, nothing is lost; -EBADF when `fd` was closed
 * by eddy_close(); -ECONNRESET, -errno. */
EDDY_API ssize_t eddy_receiver_next(struct eddy_receiver *receiver, void **ret_bytes,
				    const char *where);

/* Stop receiving, and give all buffers back. Bytes that were not taken are gone. Suspends, and is not
 * cancelled. `fd` stays open. */
EDDY_API void eddy_receiver_close(struct eddy_receiver *receiver);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_receiver_close(struct eddy_receiver *receiver, const char *where);
#define eddy_receiver_next(...) eddy_receiver_next(__VA_ARGS__, EDDY_HERE)
#define eddy_receiver_close(...) eddyi_receiver_close(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
