/* pipe.h: the loop's pool of pipes for splicing: few, large, and empty. */
#ifndef EDDYI_PIPE_H
#define EDDYI_PIPE_H

#include "core/loop.h"

struct eddyi_pipe {
	struct eddy_node node;
	int read_fd;
	int write_fd;
	size_t wanted; /* requested size in bytes */
	size_t size;   /* what the kernel has granted */
};

/* Take a pipe of .pipe_size (technique.h), or the size that the kernel still grants this user.
 * Never suspends.
 * Return: 0, -EMFILE, -ENFILE, -ENOMEM. */
int eddyi_pipe_take(struct eddyi_pipe **ret_pipe);

/* eddyi_pipe_take() if copying is possible: -EMFILE also while pipes use 1/8 of RLIMIT_NOFILE. */
int eddyi_pipe_take_optional(struct eddyi_pipe **ret_pipe);

/* Return an empty pipe to the pool. */
void eddyi_pipe_put(struct eddyi_pipe *pipe);

/* Close a pipe that may hold bytes, such as after an error. */
void eddyi_pipe_discard(struct eddyi_pipe *pipe);

/* Discard the `len` bytes in the pipe and return it to the pool. Never suspends. */
void eddyi_pipe_drain(struct eddyi_pipe *pipe, size_t len);

/* Reserve the right to keep a pipe while suspended, until eddyi_pipe_release(). The pipe itself is
 * returned or discarded as usual. Return: false if .pipes_held_max are kept. */
bool eddyi_pipe_hold(void);
void eddyi_pipe_release(void);

#endif
