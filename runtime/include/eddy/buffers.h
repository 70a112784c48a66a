/* eddy/buffers.h: receive buffers that the kernel picks as bytes arrive.
 *
 * Idle connections need no buffer each: an op prepared with eddy_buffers_prep_recv() gets a buffer
 * from a group when it completes, and its completion function gives the buffer back.
 *
 *     static void received(struct eddy_op *op, int result, unsigned flags)
 *     {
 *             if (result > 0)
 *                     look_at(eddy_buffers_of(&group, flags), (size_t)result);
 *             eddy_buffers_give_back(&group, flags);
 *     }
 *
 * A completion may have a buffer whatever its result, also if the op was cancelled: always call
 * eddy_buffers_give_back(). NULL means the loop's own group, which http uses. Copy bytes out of it
 * and give its buffers back inside the completion function: a buffer that is kept starves
 * connections that keep none.
 */
#ifndef EDDY_BUFFERS_H
#define EDDY_BUFFERS_H

#include <eddy/timer.h>

EDDY_BEGIN_DECLS

struct io_uring_buf_ring;
struct io_uring_sqe;

struct eddy_buffers_options {
	unsigned count; /* buffers, rounded up to a power of two; default 128, at most 32,768 */
	size_t size;    /* bytes of each; default 8 KiB, at most 1 GiB */
};

/* Private fields. A group of buffers of one loop. */
struct eddy_buffers {
	struct io_uring_buf_ring *ring;
	char *own; /* own[i * size] is buffer i */
	struct eddy_node waiting;
	struct eddy_timer again;
	size_t size;
	unsigned count;
	uint16_t group;
	unsigned loop;
};

/* Make the loop's own group of buffers, which NULL means, unless it exists. Return: 0;
 * -ENOMEM; -EINVAL. */
EDDY_API int eddy_buffers_prepare(void);

/* Make a group of buffers for this loop. Return: 0; -ENOMEM; -EINVAL beyond the limits. */
EDDY_API int eddy_buffers_open(struct eddy_buffers *buffers,
			       const struct eddy_buffers_options *options);

/* Free a group of buffers. No op may use it any more, and pointers into its buffers become
 * invalid. */
EDDY_API void eddy_buffers_close(struct eddy_buffers *buffers);

/* Fill `sqe` with one receive from `fd` into a buffer of the group. The result of the completion is
 * the number of bytes, 0 at the end of the stream, -ENOBUFS if the group was empty, or -errno. */
EDDY_API void eddy_buffers_prep_recv(struct eddy_buffers *buffers, struct io_uring_sqe *sqe, int fd,
				     const char *where);

/* Fill `sqe` with a multishot receive from `fd` that ends after about `limit` bytes. The last
 * receive may exceed the limit by up to a buffer's size less one byte, so the total is bounded
 * before any completion is handled. Before Linux 6.17 it receives once: the first completion
 * may be the last. */
EDDY_API void eddy_buffers_prep_recv_some(struct eddy_buffers *buffers, struct io_uring_sqe *sqe,
					  int fd, uint32_t limit, const char *where);

/* Get the buffer of a completion by its `flags`. Return: NULL if it has none. */
EDDY_API void *eddy_buffers_of(struct eddy_buffers *buffers, unsigned flags);

/* Give the buffer of the completion with these `flags`, if it has one, back to the group. */
EDDY_API void eddy_buffers_give_back(struct eddy_buffers *buffers, unsigned flags,
				     const char *where);

/* A receive that got -ENOBUFS and waits for a buffer. Private but for `fn`. */
struct eddy_buffers_waiter {
	struct eddy_node node;
	void (*fn)(struct eddy_buffers_waiter *waiter);
};

/* Call `waiter->fn` once, when a buffer is given back, or after 10 ms. `fn` arms its receive again,
 * which may end with -ENOBUFS again; with IORING_RECVSEND_POLL_FIRST in `sqe->ioprio` it takes a
 * buffer only when there are bytes. Waiters are called in the order that makes the kernel serve the
 * oldest first: in reverse where it completes the last one first (Linux 6.1). The 10 ms are needed
 * because the last buffer may have been given back before the completion was handled. */
EDDY_API void eddy_buffers_wait(struct eddy_buffers *buffers, struct eddy_buffers_waiter *waiter,
				const char *where);

/* Remove the waiter from its group. Does nothing if it does not wait. */
EDDY_API void eddy_buffers_forget(struct eddy_buffers_waiter *waiter);

/* `where` is filled in: see eddy/base.h. */
EDDY_API void eddyi_buffers_close(struct eddy_buffers *buffers, const char *where);
#define eddy_buffers_close(...) eddyi_buffers_close(__VA_ARGS__, EDDY_HERE)
#define eddy_buffers_prep_recv(...) eddy_buffers_prep_recv(__VA_ARGS__, EDDY_HERE)
#define eddy_buffers_prep_recv_some(...) eddy_buffers_prep_recv_some(__VA_ARGS__, EDDY_HERE)
#define eddy_buffers_give_back(...) eddy_buffers_give_back(__VA_ARGS__, EDDY_HERE)
#define eddy_buffers_wait(...) eddy_buffers_wait(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
