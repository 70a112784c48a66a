/* Invariants:
 * 1. Each buffer of a group is either the kernel's (in the ring, or used by a completion not yet
 *    seen) or named by the flags of one completion that has not been given back.
 * 2. While receives wait, no buffer has been given back since the last of them began to wait. All
 *    are notified at once, in order of arrival, and those that find no buffer wait again in that
 *    order. Notifying only one would be wrong: it may find no bytes, keep no buffer and so give
 *    none back.
 * 3. `again` is armed exactly while receives wait: all buffers may return between the completion
 *    that found none and its dispatch, and then no further one is given back.
 */
#include <eddy/internal/loop.h>
#include <eddy/buffers.h>

#include "base/feature.h"
#include "core/executor.h"
#include "core/loop.h"
#include "core/own.h"
#include "core/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define COUNT_DEFAULT 128
#define COUNT_MAX 32768
#define SIZE_DEFAULT (8 * EDDY_KIB)
#define SIZE_MAX_EACH EDDY_GIB
#define GROUP_MAX (UINT16_MAX - 1)
#define AGAIN_NS (10 * EDDY_MS)

/* The loop's own group. */
struct eddyi_buffers {
	struct eddyi_at_end at_end;
	struct eddy_buffers group;
};

static struct eddy_buffers *or_own(struct eddy_buffers *buffers, const char *where)
{
	return buffers ? buffers : &eddyi_loop_at(where)->buffers->group;
}

static struct eddy_buffers *own(struct eddy_buffers *buffers, const char *where)
{
	buffers = or_own(buffers, where);
	eddyi_own_made(&buffers->loop, &buffers->waiting, "a buffer group", "eddy_buffers_open",
		       where);
	return buffers;
}

/* The ring precedes the buffers and takes whole pages. */
static size_t front_of(unsigned count)
{
	size_t page = 4 * EDDY_KIB;

	return (count * sizeof(struct io_uring_buf) + page - 1) & ~(page - 1);
}

static void free_memory(struct eddy_buffers *buffers)
{
	munmap(buffers->ring, front_of(buffers->count) + buffers->count * buffers->size);
}

static int get_memory(struct eddy_buffers *buffers)
{
	unsigned count = buffers->count;
	size_t front = front_of(count);
	char *memory = mmap(NULL, front + count * buffers->size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	buffers->ring = (struct io_uring_buf_ring *)memory;
	buffers->own = memory + front;
	return 0;
}

/* Find a free group number. */
static int register_group(struct eddy_buffers *buffers)
{
	struct eddy_loop *loop = eddyi_loop();
	int r = -EEXIST;

	for (unsigned i = 0; i < GROUP_MAX && r == -EEXIST; i++) {
		struct io_uring_buf_reg reg = {
			.ring_addr = (uintptr_t)buffers->ring,
			.ring_entries = buffers->count,
		};

		loop->last_group = loop->last_group % GROUP_MAX + 1;
		reg.bgid = buffers->group = (uint16_t)loop->last_group;
		r = loop->executor->add_buffers(loop, &reg);
	}
	return r;
}

static void tell_all(struct eddy_buffers *buffers)
{
	struct eddy_node *waiting = &buffers->waiting;

	eddy_timer_disarm(&buffers->again);
	while (!eddy_list_is_empty(waiting)) {
		/* Each first looks for bytes, and those that find some resume in order. */
		struct eddy_node *node = eddyi_feature_completes_in_order() ? waiting->next :
									      waiting->prev;
		struct eddy_buffers_waiter *waiter =
			eddy_of(node, struct eddy_buffers_waiter, node);

		eddy_list_remove(node);
		waiter->fn(waiter);
	}
}

static void tell_again(struct eddy_timer *timer)
{
	tell_all(eddy_of(timer, struct eddy_buffers, again));
}

int eddy_buffers_open(struct eddy_buffers *buffers, const struct eddy_buffers_options *options)
{
	struct eddy_buffers ours = {
		.count = 1,
		.size = SIZE_DEFAULT,
		.again = { .fire = tell_again },
		.loop = eddyi_loop()->id,
	};
	unsigned count = options && options->count ? options->count : COUNT_DEFAULT;
	int r;

	if (options && options->size)
		ours.size = options->size;
	if (count > COUNT_MAX || ours.size > SIZE_MAX_EACH)
		return -EINVAL;
	while (ours.count < count)
		ours.count *= 2;
	r = get_memory(&ours);
	if (r < 0)
		return r;
	r = register_group(&ours);
	if (r < 0) {
		free_memory(&ours);
		return r;
	}
	io_uring_buf_ring_init(ours.ring);
	for (unsigned i = 0; i < ours.count; i++)
		io_uring_buf_ring_add(ours.ring, ours.own + i * ours.size, (unsigned)ours.size,
				      (unsigned short)i, io_uring_buf_ring_mask(ours.count),
				      (int)i);
	io_uring_buf_ring_advance(ours.ring, (int)ours.count);
	*buffers = ours;
	eddy_list_init(&buffers->waiting);
	return 0;
}

void eddyi_buffers_close(struct eddy_buffers *buffers, const char *where)
{
	struct eddy_loop *loop;

	if (!buffers->ring)
		return;
	eddyi_own(&buffers->loop, "a buffer group", where);
	eddyi_assert_at(where, eddy_list_is_empty(&buffers->waiting),
			"a buffer group is closed while a task waits for a buffer");
	eddy_timer_disarm(&buffers->again);
	loop = eddyi_loop_at(where);
	loop->executor->remove_buffers(loop, buffers->group);
	free_memory(buffers);
	buffers->ring = NULL;
}

EDDYI_WITHOUT_WHERE(buffers_close, struct eddy_buffers)

static void free_own(struct eddyi_at_end *at_end)
{
	struct eddyi_buffers *own = eddy_of(at_end, struct eddyi_buffers, at_end);

	eddy_buffers_close(&own->group);
	free(own);
}

static int prepare(struct eddyi_buffers **slot)
{
	struct eddyi_buffers *own;
	int r;

	if (*slot)
		return 0;
	own = malloc(sizeof(*own));
	if (!own)
		return -ENOMEM;
	r = eddy_buffers_open(&own->group, NULL);
	if (r < 0) {
		free(own);
		return r;
	}
	*slot = own;
	eddyi_loop_at_end(&own->at_end, free_own);
	return 0;
}

int eddy_buffers_prepare(void)
{
	return prepare(&eddyi_loop()->buffers);
}

void(eddy_buffers_prep_recv)(struct eddy_buffers *buffers, struct io_uring_sqe *sqe, int fd,
			     const char *where)
{
	buffers = own(buffers, where);
	io_uring_prep_recv(sqe, fd, NULL, buffers->size, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = buffers->group;
}

void(eddy_buffers_prep_recv_some)(struct eddy_buffers *buffers, struct io_uring_sqe *sqe, int fd,
				  uint32_t limit, const char *where)
{
	if (!eddyi_feature_is_there(EDDYI_FEATURE_RECV_LIMIT)) {
		(eddy_buffers_prep_recv)(buffers, sqe, fd, where);
		return;
	}
	io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = own(buffers, where)->group;
	/* Newer headers name this field optlen. */
	sqe->file_index = limit;
}

void *eddy_buffers_of(struct eddy_buffers *buffers, unsigned flags)
{
	if (!(flags & IORING_CQE_F_BUFFER))
		return NULL;
	buffers = or_own(buffers, NULL);
	return buffers->own + (flags >> IORING_CQE_BUFFER_SHIFT) * buffers->size;
}

void(eddy_buffers_give_back)(struct eddy_buffers *buffers, unsigned flags, const char *where)
{
	if (!(flags & IORING_CQE_F_BUFFER))
		return;
	buffers = own(buffers, where);
	io_uring_buf_ring_add(buffers->ring, eddy_buffers_of(buffers, flags),
			      (unsigned)buffers->size,
			      (unsigned short)(flags >> IORING_CQE_BUFFER_SHIFT),
			      io_uring_buf_ring_mask(buffers->count), 0);
	io_uring_buf_ring_advance(buffers->ring, 1);
	if (__builtin_expect(!eddy_list_is_empty(&buffers->waiting), 0))
		tell_all(buffers);
}

void(eddy_buffers_wait)(struct eddy_buffers *buffers, struct eddy_buffers_waiter *waiter,
			const char *where)
{
	buffers = own(buffers, where);
	eddy_list_append(&buffers->waiting, &waiter->node);
	if (!eddy_timer_is_armed(&buffers->again))
		eddy_timer_arm(&buffers->again, eddyi_time_after(eddy_loop_now(), AGAIN_NS));
}

void eddy_buffers_forget(struct eddy_buffers_waiter *waiter)
{
	struct eddy_node *next = waiter->node.next;
	bool last = next && next == waiter->node.prev;

	if (next)
		eddy_list_remove(&waiter->node);
	/* Only the list's head is left. */
	if (last)
		eddy_timer_disarm(&eddy_of(next, struct eddy_buffers, waiting)->again);
}
