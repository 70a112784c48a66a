#include <eddy/buffers.h>

#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define COUNT 128 /* a power of two */
#define SIZE (8 * EDDY_KIB)
#define GROUP 1

struct eddyi_buffers {
	struct eddyi_at_end at_end;
	struct io_uring_buf_ring *ring;
	char *memory;
	char *own; /* bytes[i * SIZE] is buffer i */
};

#define RING_SIZE (COUNT * sizeof(struct io_uring_buf))

static void free_buffers(struct eddyi_at_end *at_end)
{
	struct eddyi_buffers *buffers = eddy_of(at_end, struct eddyi_buffers, at_end);

	io_uring_unregister_buf_ring(&eddyi_loop()->ring, GROUP);
	munmap(buffers->memory, RING_SIZE + COUNT * SIZE);
	free(buffers);
}

int eddy_buffers_prepare(void)
{
	struct eddy_loop *loop = eddyi_loop();
	struct io_uring_buf_reg reg = { .ring_entries = COUNT, .bgid = GROUP };
	struct eddyi_buffers *buffers;
	int r;

	if (loop->buffers)
		return 0;
	buffers = malloc(sizeof(*buffers));
	if (!buffers)
		return -ENOMEM;
	buffers->memory = mmap(NULL, RING_SIZE + COUNT * SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffers->memory == MAP_FAILED) {
		free(buffers);
		return -ENOMEM;
	}
	buffers->ring = (struct io_uring_buf_ring *)buffers->memory;
	buffers->own = buffers->memory + RING_SIZE;
	reg.ring_addr = (uintptr_t)buffers->ring;
	r = io_uring_register_buf_ring(&loop->ring, &reg, 0);
	if (r < 0) {
		munmap(buffers->memory, RING_SIZE + COUNT * SIZE);
		free(buffers);
		return r;
	}
	io_uring_buf_ring_init(buffers->ring);
	for (unsigned short i = 0; i < COUNT; i++)
		io_uring_buf_ring_add(buffers->ring, buffers->own + i * SIZE, SIZE, i,
				      io_uring_buf_ring_mask(COUNT), i);
	io_uring_buf_ring_advance(buffers->ring, COUNT);
	loop->buffers = buffers;
	eddyi_loop_at_end(loop, &buffers->at_end, free_buffers);
	return 0;
}

void eddy_buffers_prep_recv(struct io_uring_sqe *sqe, int fd)
{
	io_uring_prep_recv(sqe, fd, NULL, SIZE, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
}

void *eddy_buffers_of(unsigned flags)
{
	if (!(flags & IORING_CQE_F_BUFFER))
		return NULL;
	return eddyi_loop()->buffers->own + (flags >> IORING_CQE_BUFFER_SHIFT) * SIZE;
}

void eddy_buffers_give_back(unsigned flags)
{
	struct eddyi_buffers *buffers = eddyi_loop()->buffers;

	if (!(flags & IORING_CQE_F_BUFFER))
		return;
	io_uring_buf_ring_add(buffers->ring, eddy_buffers_of(flags), SIZE,
			      (unsigned short)(flags >> IORING_CQE_BUFFER_SHIFT),
			      io_uring_buf_ring_mask(COUNT), 0);
	io_uring_buf_ring_advance(buffers->ring, 1);
}
