/* Techniques from a file to a socket inside the kernel, and the table of all. */
#include "transfer_state.h"

#include <eddy/internal/outside.h>
#include <eddy/io.h>

#include "core/loop.h"
#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- splice ---- */

/* Move the bytes in the pipe to the socket, by splice(2) or through the ring. Takes ownership of
 * the pipe; bytes that the socket does not accept are discarded. Return: bytes, -errno. */
static ssize_t empty_pipe(struct eddyi_sending *sending, struct eddyi_pipe *pipe, size_t in_pipe,
			  bool by_ring)
{
	int socket = sending->transfer->socket;
	size_t moved = 0;

	while (moved < in_pipe) {
		size_t left = in_pipe - moved;
		ssize_t r;

		if (by_ring) {
			r = eddy_splice(pipe->read_fd, EDDY_OFFSET_NONE, socket, EDDY_OFFSET_NONE,
					left, SPLICE_F_NONBLOCK);
		} else {
			r = eddyi_splice_now(pipe->read_fd, NULL, socket, NULL, left,
					     SPLICE_F_NONBLOCK);
			r = r < 0 ? -errno : r;
		}
		if (r == -EINTR)
			continue;
		if (r == -EAGAIN) {
			eddyi_pipe_drain(pipe, left);
			sending->full = true;
			return (ssize_t)moved;
		}
		if (r <= 0) {
			eddyi_pipe_discard(pipe);
			/* The bytes sent count. The next push gets the error. */
			if (moved)
				return (ssize_t)moved;
			return r < 0 ? r : -EPIPE;
		}
		moved += (size_t)r;
	}
	eddyi_pipe_put(pipe);
	return (ssize_t)moved;
}

/* Pass on `r` bytes in the pipe, or the file's error. Return: bytes that were sent; -errno. */
static ssize_t filled(struct eddyi_sending *sending, struct eddyi_pipe *pipe, ssize_t r,
		      bool by_ring, uint64_t *counter)
{
	if (r <= 0) {
		eddyi_pipe_discard(pipe);
		return r < 0 ? r : -ENODATA;
	}
	r = empty_pipe(sending, pipe, (size_t)r, by_ring);
	if (r > 0)
		eddyi_count(*counter, (uint64_t)r);
	return r;
}

static ssize_t push_spliced(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	loff_t from = (loff_t)offset;
	struct eddyi_pipe *pipe;
	ssize_t r;

	/* Out of descriptors. */
	if (eddyi_pipe_take_optional(&pipe) < 0)
		return eddyi_push_read(sending, offset, len);
	do
		r = eddyi_splice_now(sending->transfer->file, &from, pipe->write_fd, NULL, len,
				     SPLICE_F_NONBLOCK);
	while (r < 0 && errno == EINTR);
	return filled(sending, pipe, r < 0 ? -errno : r, false,
		      &eddyi_loop()->transfer_stats.spliced_out);
}

static ssize_t push_ring_spliced(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	struct eddyi_pipe *pipe;
	ssize_t r;

	if (eddyi_pipe_take_optional(&pipe) < 0)
		return eddyi_push_read(sending, offset, len);
	if (!eddyi_pipe_hold()) {
		eddyi_pipe_put(pipe);
		return push_spliced(sending, offset, len);
	}
	do
		r = eddy_splice(sending->transfer->file, offset, pipe->write_fd, EDDY_OFFSET_NONE,
				len, 0);
	while (r == -EINTR);
	r = filled(sending, pipe, r, true, &eddyi_loop()->transfer_stats.ring_spliced_out);
	eddyi_pipe_release();
	return r;
}

/* ---- the others ---- */

static ssize_t push_sendfile(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	off_t from = (off_t)offset;
	ssize_t r =
		eddyi_sendfile_now(sending->transfer->socket, sending->transfer->file, &from, len);

	if (r == 0)
		return -ENODATA;
	return eddyi_push_taken(sending, r, len, &eddyi_loop()->transfer_stats.sendfile_out);
}

const struct eddyi_technique_out *eddyi_technique_out(enum eddy_technique technique)
{
	static const struct eddyi_technique_out splices = { .push = push_spliced,
							    .waits_for_disk = true };
	static const struct eddyi_technique_out ring_splices = { .push = push_ring_spliced };
	static const struct eddyi_technique_out sends_file = { .push = push_sendfile,
							       .waits_for_disk = true };
	static const struct eddyi_technique_out reads = { .push = eddyi_push_read,
							  .waits_for_disk = true };
	static const struct eddyi_technique_out maps = { .push = eddyi_push_mapped,
							 .waits_for_disk = true };
	static const struct eddyi_technique_out *const rows[EDDY_TECHNIQUES] = {
		[EDDY_TECHNIQUE_AUTO] = &splices,
		[EDDY_TECHNIQUE_SPLICE] = &splices,
		[EDDY_TECHNIQUE_RING_SPLICE] = &ring_splices,
		[EDDY_TECHNIQUE_SENDFILE] = &sends_file,
		[EDDY_TECHNIQUE_READ_SEND] = &reads,
		[EDDY_TECHNIQUE_MMAP] = &maps,
		[EDDY_TECHNIQUE_SEND_ZC] = &eddyi_send_zc,
	};

	return (unsigned)technique < EDDY_TECHNIQUES ? rows[technique] : NULL;
}
