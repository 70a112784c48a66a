/* executor.h: the executor of a loop takes the entries of its submission queue, makes their calls, and posts the
 * completions. Both queues are those of `loop->ring`, in the kernel's memory or in the program's, so ops are
 * prepared and dispatched the same way with each executor.
 *
 * An executor keeps the one guarantee: the memory that an entry names is in use until its last completion is
 * posted. Its functions call none of the program's code, so they may be called wherever an op is begun.
 */
#ifndef EDDYI_EXECUTOR_H
#define EDDYI_EXECUTOR_H

#include <eddy/base.h>

struct eddy_loop;
struct io_uring_buf_reg;

struct eddyi_executor {
	const char *name;
	const char *call; /* the system call that waits, named in error messages */
	bool has_ring;    /* entries may name other rings, to wake their loops */

	/* Set up `loop->ring` with room for `entries` submissions. Return: 0, -errno. */
	int (*begin)(struct eddy_loop *loop, unsigned entries);
	void (*end)(struct eddy_loop *loop);

	/* Submit the queued entries and collect completions, without waiting.
	 * Return: 0 or more; -errno as that of io_uring_enter(2). */
	int (*enter)(struct eddy_loop *loop);

	/* The same, and wait for a completion, at most `timeout_ns`, or EDDY_NEVER. */
	int (*wait)(struct eddy_loop *loop, uint64_t timeout_ns);

	/* Set how many threads may make blocking calls of either kind. Return: 0, -errno. */
	int (*limit_workers)(struct eddy_loop *loop, unsigned max);

	/* Add a group of provided buffers. Return: 0; -EEXIST if the number is in use; -errno. */
	int (*add_buffers)(struct eddy_loop *loop, struct io_uring_buf_reg *group);
	void (*remove_buffers)(struct eddy_loop *loop, int group);
};

/* io_uring: the kernel makes the calls. */
extern const struct eddyi_executor eddyi_executor_ring;

/* System calls: sockets and pipes when epoll says that they are ready, files on the offload pool. */
extern const struct eddyi_executor eddyi_executor_poll;

/* Begin the executor that EDDY_EXECUTOR names, or else io_uring, or if that is refused, system calls.
 * Return: 0; -EINVAL also if the variable is invalid; -errno. */
int eddyi_executor_begin(struct eddy_loop *loop, unsigned entries);

#endif
