/* Invariants:
 * 1. A relay that waits for bytes holds no pipe.
 * 2. A relay that waits for space holds a pipe if fewer than .pipes_held_max are held. Otherwise it
 *    copies the bytes out and returns the pipe first: a user may own 64 MiB of pipes, which slow
 *    readers must not exhaust.
 * 3. A pipe returns to the pool empty, or is closed.
 */
#include <eddy/internal/outside.h>
#include <eddy/transfer.h>

#include <eddy/io.h>
#include <eddy/scope.h>

#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* Moved in one turn, and the most that is kept for a slow reader. */
#define PIECE (256 * EDDY_KIB)

static void progressed(struct eddy_relay *relay, size_t bytes)
{
	relay->moved += bytes;
	if (relay->progress)
		eddy_timeout_touch(relay->progress);
}

static ssize_t splice_now(int from, int to, size_t len)
{
	ssize_t r;

	do
		r = eddyi_splice_now(from, NULL, to, NULL, len, SPLICE_F_NONBLOCK);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

static int read_pipe(struct eddyi_pipe *pipe, char *buf, size_t len)
{
	while (len) {
		ssize_t r = eddyi_read_now(pipe->read_fd, buf, len);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? -errno : -EIO;
		buf += r;
		len -= (size_t)r;
	}
	return 0;
}

/* Deliver the last `len` bytes of a pipe through memory. Takes ownership of the pipe. */
static int copy_rest(struct eddy_relay *relay, struct eddyi_pipe *pipe, size_t len)
{
	char *buf = malloc(len);
	int r = buf ? read_pipe(pipe, buf, len) : -ENOMEM;

	if (r < 0)
		eddyi_pipe_discard(pipe);
	else
		eddyi_pipe_put(pipe);
	for (size_t at = 0; r == 0 && at < len;) {
		ssize_t sent = eddy_send(relay->to, buf + at, len - at, 0);

		if (sent < 0) {
			r = (int)sent;
			break;
		}
		at += (size_t)sent;
		progressed(relay, (size_t)sent);
		eddyi_count(eddyi_loop()->transfer_stats.copied_between, (uint64_t)sent);
	}
	free(buf);
	return r;
}

/* Wait until the peer accepts bytes. Return: 0, or the error that ends the relay. */
static int await_room(struct eddy_relay *relay)
{
	int r = eddy_poll(relay->to, POLLOUT);

	eddyi_pipe_release();
	return r < 0 ? r : 0;
}

/* Deliver the bytes in the pipe. Takes ownership of it. */
static int deliver(struct eddy_relay *relay, struct eddyi_pipe *pipe, size_t len)
{
	while (len) {
		ssize_t r = splice_now(pipe->read_fd, relay->to, len);

		if (r > 0) {
			len -= (size_t)r;
			progressed(relay, (size_t)r);
			eddyi_count(eddyi_loop()->transfer_stats.spliced_between, (uint64_t)r);
			continue;
		}
		if (r == -EAGAIN) {
			eddyi_count(eddyi_loop()->transfer_stats.stalls, 1);
			if (!eddyi_pipe_hold())
				return copy_rest(relay, pipe, len);
			r = await_room(relay);
		} else if (r == 0) {
			r = -EPIPE;
		}
		if (r < 0) {
			eddyi_pipe_discard(pipe);
			return (int)r;
		}
	}
	eddyi_pipe_put(pipe);
	return 0;
}

/* Move up to a piece. Return: above 0: bytes; 0: end of the stream; -EAGAIN: no bytes; -errno. */
static ssize_t move_piece(struct eddy_relay *relay)
{
	struct eddyi_pipe *pipe;
	int r = eddyi_pipe_take(&pipe);
	ssize_t len;

	if (r < 0)
		return r;
	len = splice_now(relay->from, pipe->write_fd, PIECE);
	if (len <= 0) {
		eddyi_pipe_put(pipe);
		return len;
	}
	r = deliver(relay, pipe, (size_t)len);
	return r < 0 ? r : len;
}

int eddy_transfer_between(struct eddy_relay *relay)
{
	relay->moved = 0;
	if (eddy_is_cancelled())
		return -ECANCELED;
	for (;;) {
		ssize_t r = move_piece(relay);

		if (r == 0)
			return 0;
		/* After a full piece there may be more: continue after other tasks. */
		if (r == (ssize_t)PIECE)
			r = eddy_yield();
		else if (r > 0 || r == -EAGAIN)
			r = eddy_poll(relay->from, POLLIN);
		if (r < 0)
			return (int)r;
	}
}
