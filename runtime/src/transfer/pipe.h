/* pipe.h: the loop's pool of pipes for splicing: few, big, and empty. */
#ifndef EDDYI_PIPE_H
#define EDDYI_PIPE_H

#include "core/loop.h"

struct eddyi_pipe {
	struct eddy_node node;
	int read_fd;
	int write_fd;
	size_t wanted; /* bytes that were asked for */
	size_t size;   /* bytes that it holds at most, when every page is full */
};

/* Take a pipe of .pipe_size (technique.h), or of what the kernel still gives this user. Never suspends.
 * Return: 0, -EMFILE, -ENFILE, -ENOMEM. */
int eddyi_pipe_take(struct eddyi_pipe **ret_pipe);

/* As eddyi_pipe_take(), for callers that can copy instead; also -EMFILE while pipes hold an eighth of RLIMIT_NOFILE. */
int eddyi_pipe_take_optional(struct eddyi_pipe **ret_pipe);

/* Give back an empty pipe. */
void eddyi_pipe_put(struct eddyi_pipe *pipe);

/* Close a pipe that may hold bytes: after an error it is never used again. */
void eddyi_pipe_discard(struct eddyi_pipe *pipe);

/* Throw away the `len` bytes that the pipe holds and give it back. Never suspends. */
void eddyi_pipe_drain(struct eddyi_pipe *pipe, size_t len);

/* Ask to keep a pipe across a suspend, after which eddyi_pipe_release() is called; the pipe itself is
 * given back or discarded as ever. Return: false when .pipes_held_max are. */
bool eddyi_pipe_hold(void);
void eddyi_pipe_release(void);

#endif
