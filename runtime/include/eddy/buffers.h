/* eddy/buffers.h: receive buffers that the kernel picks from when bytes arrive, one group a loop.
 *
 * Ten thousand connections that wait for bytes need no buffer each: an op that is armed with
 * eddy_buffers_prep_recv() gets one of the group's at the moment of its completion. The buffer must
 * be given back from inside the completion function, its bytes copied out: one that were kept
 * would starve the connections that keep none.
 */
#ifndef EDDY_BUFFERS_H
#define EDDY_BUFFERS_H

#include <eddy/base.h>
#include <liburing.h>

EDDY_BEGIN_DECLS

struct eddyi_buffers;

/* Make the loop's group unless it is there already. Return: 0, -ENOMEM, -EINVAL. */
EDDY_API int eddy_buffers_prepare(void);

/* Fill `sqe` for one receive from `fd` into a buffer of the loop's group. The completion's result is
 * the number of bytes, 0 at the end of the stream, -ENOBUFS when the group was empty (arm it again),
 * or -errno. */
EDDY_API void eddy_buffers_prep_recv(struct io_uring_sqe *sqe, int fd);

/* The buffer that a completion with these `flags` came with; NULL when it came with none. */
EDDY_API void *eddy_buffers_of(unsigned flags);

/* Give the buffer of that completion back, if there was one. */
EDDY_API void eddy_buffers_give_back(unsigned flags);

EDDY_END_DECLS

#endif
