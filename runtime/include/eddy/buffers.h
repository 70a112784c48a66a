/* eddy/buffers.h: receive buffers that the kernel picks from when bytes arrive.
 *
 * Ten thousand connections that wait for bytes need no buffer each: an op that is armed with
 * eddy_buffers_prep_recv() gets one of the group's at the moment of its completion, and whoever was
 * told gives it back.
 *
 *     static void received(struct eddy_op *op, int result, unsigned flags)
 *     {
 *             if (result > 0)
 *                     look_at(eddy_buffers_of(&group, flags), (size_t)result);
 *             eddy_buffers_give_back(&group, flags);
 *     }
 *
 * A completion may have a buffer whatever its result is, also when the op was cancelled: give back by
 * its flags, always. Each loop has a group of its own, which http uses: NULL means that one; its buffers
 * must be given back from inside the completion function, the bytes copied out, since one that were kept
 * would starve the connections that keep none. Tasks that read a stream want eddy/receiver.h.
 */
#ifndef EDDY_BUFFERS_H
#define EDDY_BUFFERS_H

#include <eddy/timer.h>

EDDY_BEGIN_DECLS

struct io_uring_buf_ring;
struct io_uring_sqe;

struct eddy_buffers_options {
	unsigned count; /* of buffers, rounded up to a power of two; default 128; at most 32,768 */
	size_t size;    /* of each, in bytes; default 8 KiB; at most 1 GiB */
};

/* Private: a group, of one loop. */
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

/* Make the loop's own group unless it is there already. Return: 0, -ENOMEM, -EINVAL. */
EDDY_API int eddy_buffers_prepare(void);

/* Make a group of this loop. Return: 0, -ENOMEM, -EINVAL for options out of their limits. */
EDDY_API int eddy_buffers_open(struct eddy_buffers *buffers,
			       const struct eddy_buffers_options *options);

/* End the group. No op uses it any more, and no bytes in its buffers are looked at. */
EDDY_API void eddy_buffers_close(struct eddy_buffers *buffers);

/* Fill `sqe` for one receive from `fd` into a buffer of the group. The completion's result is
 * the number of bytes, 0 at the end of the stream, -ENOBUFS when the group was empty, or -errno. */
EDDY_API void eddy_buffers_prep_recv(struct eddy_buffers *buffers, struct io_uring_sqe *sqe, int fd,
				     const char *where);

/* Fill `sqe` for receives from `fd` until some `limit` bytes have come: of the last receive up to a buffer's size less one more,
 * so that it is known how much there may be of it before anybody looks. Kernels before 6.17 receive once:
 * the first completion may be the last. */
EDDY_API void eddy_buffers_prep_recv_some(struct eddy_buffers *buffers, struct io_uring_sqe *sqe,
					  int fd, uint32_t limit, const char *where);

/* The buffer that a completion with these `flags` came with; NULL when it came with none. */
EDDY_API void *eddy_buffers_of(struct eddy_buffers *buffers, unsigned flags);

/* Give the buffer of that completion back, if there was one. */
EDDY_API void eddy_buffers_give_back(struct eddy_buffers *buffers, unsigned flags,
				     const char *where);

/* Who got -ENOBUFS, and how to tell that a buffer has come back. Private but for `fn`. */
struct eddy_buffers_waiter {
	struct eddy_node node;
	void (*fn)(struct eddy_buffers_waiter *waiter);
};

/* Call `waiter->fn` once, as soon as a buffer is given back: after those who wait for longer, or before them
 * where the kernel completes the last first (6.1), so that they are served in that order; and after 10 ms
 * anyway, since the last one may have come back before the completion was looked at. It arms its receive
 * again, which may end with -ENOBUFS again; with IORING_RECVSEND_POLL_FIRST in `sqe->ioprio` it contends
 * for a buffer only when there are bytes. */
EDDY_API void eddy_buffers_wait(struct eddy_buffers *buffers, struct eddy_buffers_waiter *waiter,
				const char *where);

/* Take the waiter out, whether it waits or not. */
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
