#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>

#define DESCRIPTORS_OF_ONE 2
/* Optional pipes use at most this share of RLIMIT_NOFILE. */
#define SHARE 8

static atomic_uint pipes_open;

struct eddyi_pipes {
	struct eddyi_at_end at_end;
	struct eddy_node spare;
	unsigned spare_count;
	unsigned held;
	int null_fd; /* /dev/null, for discarded bytes */
};

static void free_pipes(struct eddyi_at_end *at_end)
{
	struct eddyi_pipes *pipes = eddy_of(at_end, struct eddyi_pipes, at_end);
	struct eddy_node *node;

	while ((node = eddy_list_shift(&pipes->spare)))
		eddyi_pipe_discard(eddy_of(node, struct eddyi_pipe, node));
	if (pipes->null_fd >= 0)
		eddyi_close_now(pipes->null_fd);
	free(pipes);
}

static struct eddyi_pipes *pipes_of(struct eddy_loop *loop)
{
	struct eddyi_pipes *pipes = loop->pipes;

	if (pipes)
		return pipes;
	pipes = malloc(sizeof(*pipes));
	if (!pipes)
		return NULL;
	eddy_list_init(&pipes->spare);
	pipes->spare_count = 0;
	pipes->held = 0;
	pipes->null_fd = eddyi_open_now("/dev/null", O_WRONLY | O_CLOEXEC, 0);
	loop->pipes = pipes;
	eddyi_loop_at_end(&pipes->at_end, free_pipes);
	return pipes;
}

/* Without privilege, a user may own 64 MiB of pipe buffers; larger sizes then fail with EPERM. */
static size_t resize(int fd, size_t wanted)
{
	const size_t sizes[] = { wanted, 256 * EDDY_KIB, 64 * EDDY_KIB };
	int granted;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] <= wanted && eddyi_fcntl_now(fd, F_SETPIPE_SZ, (int)sizes[i]) > 0)
			break;
	granted = eddyi_fcntl_now(fd, F_GETPIPE_SZ, 0);
	return granted > 0 ? (size_t)granted : 0;
}

/* Take a kept pipe of the current size. */
static struct eddyi_pipe *take_spare(struct eddyi_pipes *pipes)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(&pipes->spare))) {
		struct eddyi_pipe *pipe = eddy_of(node, struct eddyi_pipe, node);

		pipes->spare_count--;
		if (pipe->wanted == eddy_transfer_options()->pipe_size)
			return pipe;
		eddyi_pipe_discard(pipe);
	}
	return NULL;
}

int eddyi_pipe_take(struct eddyi_pipe **ret_pipe)
{
	struct eddyi_pipes *pipes = pipes_of(eddyi_loop());
	struct eddyi_pipe *pipe;
	int fds[2];

	if (!pipes)
		return -ENOMEM;
	pipe = take_spare(pipes);
	if (pipe) {
		*ret_pipe = pipe;
		return 0;
	}
	pipe = malloc(sizeof(*pipe));
	if (!pipe)
		return -ENOMEM;
	if (eddyi_pipe2_now(fds, O_CLOEXEC) < 0) {
		int error = errno;

		free(pipe);
		return -error;
	}
	*pipe = (struct eddyi_pipe){
		.read_fd = fds[0],
		.write_fd = fds[1],
		.wanted = eddy_transfer_options()->pipe_size,
	};
	pipe->size = resize(fds[1], pipe->wanted);
	atomic_fetch_add_explicit(&pipes_open, 1, memory_order_relaxed);
	*ret_pipe = pipe;
	return 0;
}

int eddyi_pipe_take_optional(struct eddyi_pipe **ret_pipe)
{
	struct eddyi_pipes *pipes = eddyi_loop()->pipes;
	uint64_t taken = atomic_load_explicit(&pipes_open, memory_order_relaxed);
	struct rlimit limit;

	if ((!pipes || !pipes->spare_count) && eddyi_getrlimit_now(RLIMIT_NOFILE, &limit) == 0 &&
	    taken * DESCRIPTORS_OF_ONE >= limit.rlim_cur / SHARE)
		return -EMFILE;
	return eddyi_pipe_take(ret_pipe);
}

void eddyi_pipe_put(struct eddyi_pipe *pipe)
{
	struct eddyi_pipes *pipes = eddyi_loop()->pipes;

	if (pipes->spare_count >= eddy_transfer_options()->pipes_kept) {
		eddyi_pipe_discard(pipe);
		return;
	}
	eddy_list_prepend(&pipes->spare, &pipe->node);
	pipes->spare_count++;
}

void eddyi_pipe_discard(struct eddyi_pipe *pipe)
{
	eddyi_close_now(pipe->read_fd);
	eddyi_close_now(pipe->write_fd);
	free(pipe);
	atomic_fetch_sub_explicit(&pipes_open, 1, memory_order_relaxed);
}

void eddyi_pipe_drain(struct eddyi_pipe *pipe, size_t len)
{
	int null_fd = eddyi_loop()->pipes->null_fd;

	while (len) {
		ssize_t r = eddyi_splice_now(pipe->read_fd, NULL, null_fd, NULL, len,
					     SPLICE_F_NONBLOCK);

		if (r <= 0) {
			eddyi_pipe_discard(pipe);
			return;
		}
		len -= (size_t)r;
	}
	eddyi_pipe_put(pipe);
}

bool eddyi_pipe_hold(void)
{
	struct eddyi_pipes *pipes = pipes_of(eddyi_loop());

	if (!pipes || pipes->held >= eddy_transfer_options()->pipes_held_max)
		return false;
	pipes->held++;
	return true;
}

void eddyi_pipe_release(void)
{
	struct eddyi_pipes *pipes = eddyi_loop()->pipes;

	pipes->held--;
}
