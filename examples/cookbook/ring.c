/* ring: io_uring operations that eddy has no call for, awaited by a task or with a callback.
 *
 *     $ ring
 *     the library has something to do
 *     the bell has rung 3 times
 */
#include <eddy/runtime.h>
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* Stands for a library with its own epoll: the ring adds a descriptor, and a task waits for it. */
static int watch(void *arg)
{
	const int *fd = arg;
	struct epoll_event event = { .events = EPOLLIN };
	struct io_uring_sqe sqe = { 0 };
	int epoll = epoll_create1(EPOLL_CLOEXEC), r;

	if (epoll < 0)
		return -ENOMEM;
	io_uring_prep_epoll_ctl(&sqe, epoll, *fd, EPOLL_CTL_ADD, &event);
	r = eddy_op_call(&sqe);
	if (r == 0)
		r = eddy_poll(epoll, POLLIN);
	if (r > 0)
		puts("the library has something to do");
	eddy_close(epoll);
	return r;
}

struct bell {
	struct eddy_op op;
	struct eddy_event enough, over;
	unsigned rung;
	int fd;
};

/* Called for each completion, on the loop's own stack: it must not suspend. */
static void rings(struct eddy_op *op, int result, unsigned flags)
{
	struct bell *bell = eddy_of(op, struct bell, op);
	eventfd_t times;

	if (result > 0 && eventfd_read(bell->fd, &times) == 0)
		bell->rung += (unsigned)times;
	if (bell->rung >= 3)
		eddy_event_set(&bell->enough);
	if (!(flags & IORING_CQE_F_MORE))
		eddy_event_set(&bell->over); /* the kernel no longer uses the op */
}

/* Runs on a thread of the offload pool. */
static int ring_thrice(void *arg)
{
	const int *fd = arg;

	for (int i = 0; i < 3; i++)
		eventfd_write(*fd, 1);
	return 0;
}

static int count(struct bell *bell)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&bell->op, rings);
	struct eddy_scope shield;

	io_uring_prep_poll_multishot(sqe, bell->fd, POLLIN);
	eddy_op_start(&bell->op, sqe);
	eddy_offload(ring_thrice, &bell->fd);
	eddy_event_wait(&bell->enough);
	/* The op is on this stack: wait for its end in any case. */
	eddy_op_cancel(&bell->op);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_event_wait(&bell->over);
	eddy_scope_end(&shield);
	printf("the bell has rung %u times\n", bell->rung);
	return 0;
}

static int run(void *arg)
{
	struct bell bell = { .fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC) };
	int r = watch(&bell.fd);
	eventfd_t times;

	if (r < 0)
		return r;
	eventfd_read(bell.fd, &times);
	eddy_event_init(&bell.enough);
	eddy_event_init(&bell.over);
	r = count(&bell);
	eddy_close(bell.fd);
	return r;
}

int main(void)
{
	return eddy_main(run, NULL);
}
