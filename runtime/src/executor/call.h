/* call.h: an entry of the submission queue as the system call that it stands for. */
#ifndef EDDYI_CALL_H
#define EDDYI_CALL_H

#include <liburing.h>
#include <stdbool.h>
#include <sys/types.h>

/* How poll.c makes the call of an entry. */
enum eddyi_call_kind {
	EDDYI_CALL_UNKNOWN,
	EDDYI_CALL_QUICK,  /* at once: it never waits */
	EDDYI_CALL_FILE,   /* on a thread of the offload pool: it may wait for a disk */
	EDDYI_CALL_STREAM, /* at once if the descriptor is ready, else when epoll says so */
	EDDYI_CALL_OWN,    /* no call of the kernel: timeouts, cancels, polls */
};

enum eddyi_call_kind eddyi_call_kind(const struct io_uring_sqe *sqe);

/* Make the call. It may block, but for that of EDDYI_CALL_QUICK. Any thread may call it. Return: the result of
 * the operation: a count or descriptor, -errno. */
int eddyi_call(const struct io_uring_sqe *sqe);

/* Make a read or write that does not wait. Return: as eddyi_call(); -EAGAIN if it would wait; -EOPNOTSUPP if that
 * is not known, because the kernel or the file has no such calls. */
int eddyi_call_without_waiting(const struct io_uring_sqe *sqe);

#endif
