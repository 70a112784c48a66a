/* Cases of a select that are operations on the ring, ready to use. */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include <eddy/select.h>
#include <liburing.h>

static inline struct eddy_case case_accept(int fd)
{
	struct eddy_case one = eddy_case_op();

	io_uring_prep_accept(&one.sqe, fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return one;
}

static inline struct eddy_case case_recv(int fd, void *buf, size_t len)
{
	struct eddy_case one = eddy_case_op();

	io_uring_prep_recv(&one.sqe, fd, buf, len, 0);
	return one;
}

static inline struct eddy_case case_poll(int fd, unsigned events)
{
	struct eddy_case one = eddy_case_op();

	io_uring_prep_poll_add(&one.sqe, fd, events);
	return one;
}

#endif
