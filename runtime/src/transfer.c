/* Invariants:
 * 1. To a socket: no pipe is held while the task suspends. What the socket would not take is read
 *    from the file again.
 * 2. To a file: a pipe is held while the task suspends only when the kernel's workers write it out.
 * 3. A pipe goes back to the pool empty, or is closed.
 */
#include <eddy/transfer.h>

#include <eddy/io.h>

#include "coldness.h"
#include "pipe.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* One turn's work: a quick peer is not served for longer while others wait. */
#define CHUNK EDDY_MIB
/* Below this a body travels with its head in few segments without a cork's two system calls. */
#define CORK_FROM (64 * EDDY_KIB)
/* A write of a MiB that takes longer than this is the disk's; the workers do the next ones. */
#define SLOW_WRITE_NS (2 * EDDY_MS)
/* So many quick writes by the workers and the loop dares to write itself again. */
#define QUICK_WRITES 4

struct eddy_transfer_stats eddy_transfer_stats(void)
{
	return eddyi_loop()->transfer_stats;
}

static int await_peer(struct eddy_transfer *transfer, unsigned events)
{
	int r;

	eddyi_count(eddyi_loop()->transfer_stats.stalls, 1);
	r = eddy_poll(transfer->socket, events);
	return r < 0 ? r : 0;
}

static void progressed(struct eddy_transfer *transfer, size_t bytes)
{
	transfer->moved += bytes;
	if (transfer->progress)
		eddy_timeout_touch(transfer->progress);
}

static void set_cork(int fd, int on)
{
	/* Refused where the socket is not TCP; then there is nothing to cork. */
	setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
}

static int send_head(struct eddy_transfer *transfer, int flags)
{
	struct eddy_str head = transfer->head;
	ssize_t r;

	if (!head.len)
		return 0;
	/* Sent at once, so that it stands in front of what is spliced. */
	r = send(transfer->socket, head.ptr, head.len, MSG_DONTWAIT | MSG_NOSIGNAL | flags);
	if (r < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (r > 0)
		head = eddy_str_skip(head, (size_t)r);
	if (!head.len)
		return 0;
	return eddy_send_all(transfer->socket, head.ptr, head.len, flags);
}

/* Read the piece into the page cache through the ring. What is read is thrown away: the loop's one
 * scratch buffer serves all. */
static int warm(struct eddy_transfer *transfer, uint64_t offset, size_t len)
{
	struct eddy_loop *loop = eddyi_loop();
	ssize_t r;

	if (!loop->scratch)
		loop->scratch = malloc(CHUNK);
	if (!loop->scratch)
		return -ENOMEM;
	while (len) {
		r = eddy_read(transfer->file, loop->scratch, len, offset);
		if (r < 0)
			return (int)r;
		if (r == 0)
			return 0;
		eddyi_count(loop->transfer_stats.warmed, (uint64_t)r);
		offset += (uint64_t)r;
		len -= (size_t)r;
	}
	return 0;
}

/* Move up to `len` bytes from the file, as many as the socket takes and one pipe holds;
 * `*ret_full` says that it was the socket. Return: bytes moved, -errno. */
static ssize_t push(struct eddy_transfer *transfer, uint64_t offset, size_t len, bool *ret_full)
{
	loff_t from = (loff_t)offset;
	struct eddyi_pipe *pipe;
	size_t in_pipe, moved = 0;
	ssize_t r;
	int error;

	error = eddyi_pipe_take(&pipe);
	if (error < 0)
		return error;
	*ret_full = false;
	do
		r = splice(transfer->file, &from, pipe->write_fd, NULL, len, SPLICE_F_NONBLOCK);
	while (r < 0 && errno == EINTR);
	if (r <= 0) {
		error = r < 0 ? -errno : -ENODATA;
		eddyi_pipe_discard(pipe);
		return error;
	}
	in_pipe = (size_t)r;
	while (moved < in_pipe) {
		r = splice(pipe->read_fd, NULL, transfer->socket, NULL, in_pipe - moved,
			   SPLICE_F_NONBLOCK);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN) {
			eddyi_pipe_drain(pipe, in_pipe - moved);
			*ret_full = true;
			return (ssize_t)moved;
		}
		if (r <= 0) {
			error = r < 0 ? -errno : -EPIPE;
			eddyi_pipe_discard(pipe);
			return error;
		}
		moved += (size_t)r;
	}
	eddyi_pipe_put(pipe);
	return (ssize_t)moved;
}

static int send_body(struct eddy_transfer *transfer)
{
	enum eddyi_coldness how = eddyi_coldness_of(transfer->file);
	uint64_t warm_to = 0;

	while (transfer->moved < transfer->len) {
		uint64_t offset = transfer->offset + transfer->moved;
		uint64_t left = transfer->len - transfer->moved;
		size_t len = left < CHUNK ? (size_t)left : CHUNK;
		bool full;
		ssize_t r;

		/* Asked once for each piece, not again for what the socket did not take of it. */
		if (offset + len > warm_to) {
			if (!eddyi_coldness_is_warm(how, transfer->file, offset, len)) {
				int error = warm(transfer, offset, len);

				if (error < 0)
					return error;
			}
			warm_to = offset + len;
		}
		r = push(transfer, offset, len, &full);
		if (r < 0)
			return (int)r;
		if (r > 0)
			progressed(transfer, (size_t)r);
		eddyi_count(eddyi_loop()->transfer_stats.spliced_out, (uint64_t)r);
		if (transfer->moved == transfer->len)
			break;
		r = full ? await_peer(transfer, POLLOUT) : eddy_yield();
		if (r < 0)
			return (int)r;
	}
	return 0;
}

int eddy_transfer_to_socket(struct eddy_transfer *transfer)
{
	bool cork = transfer->len > CORK_FROM;
	int r;

	transfer->moved = 0;
	if (cork)
		set_cork(transfer->socket, 1);
	r = send_head(transfer, !cork && transfer->len ? MSG_MORE : 0);
	if (r == 0)
		r = send_body(transfer);
	if (cork)
		set_cork(transfer->socket, 0);
	/* The end of the file is under way: now others have their turn. */
	if (r == 0)
		eddy_yield();
	return r;
}

/* How this transfer writes. */
struct writer {
	bool by_ring;
	unsigned quick; /* quick writes in a row */
};

/* Move what is in the pipe into the file. Return: bytes, 0 for none, -errno. */
static ssize_t write_out(struct eddy_transfer *transfer, struct writer *writer,
			 struct eddyi_pipe *pipe, size_t len)
{
	uint64_t offset = transfer->offset + transfer->moved, started = eddy_now();
	loff_t to = (loff_t)offset;
	ssize_t r;

	if (writer->by_ring) {
		r = eddy_splice(pipe->read_fd, EDDY_OFFSET_NONE, transfer->file, offset, len, 0);
		if (r > 0)
			eddyi_count(eddyi_loop()->transfer_stats.written_by_ring, (uint64_t)r);
	} else {
		r = splice(pipe->read_fd, NULL, transfer->file, &to, len, 0);
		if (r < 0)
			r = -errno;
	}
	if (eddy_now() - started > SLOW_WRITE_NS) {
		writer->by_ring = true;
		writer->quick = 0;
	} else if (++writer->quick >= QUICK_WRITES) {
		writer->by_ring = false;
	}
	return r;
}

/* Move up to `len` bytes into the file, as many as the socket has now.
 * Return: above 0: bytes; -EAGAIN: the socket is empty; -ENODATA: the peer has ended. */
static ssize_t pull(struct eddy_transfer *transfer, struct writer *writer, size_t len)
{
	struct eddyi_pipe *pipe;
	size_t in_pipe;
	ssize_t r;
	int error;

	error = eddyi_pipe_take(&pipe);
	if (error < 0)
		return error;
	r = splice(transfer->socket, NULL, pipe->write_fd, NULL, len, SPLICE_F_NONBLOCK);
	if (r <= 0) {
		error = r < 0 ? -errno : -ENODATA;
		eddyi_pipe_put(pipe);
		return error;
	}
	for (in_pipe = (size_t)r; in_pipe;) {
		ssize_t written = write_out(transfer, writer, pipe, in_pipe);

		if (written == -EINTR)
			continue;
		if (written <= 0) {
			eddyi_pipe_discard(pipe);
			return written < 0 ? written : -EIO;
		}
		in_pipe -= (size_t)written;
		progressed(transfer, (size_t)written);
		eddyi_count(eddyi_loop()->transfer_stats.spliced_in, (uint64_t)written);
	}
	eddyi_pipe_put(pipe);
	return r;
}

int eddy_transfer_to_file(struct eddy_transfer *transfer)
{
	struct writer writer = { 0 };

	transfer->moved = 0;
	while (transfer->moved < transfer->len) {
		uint64_t left = transfer->len - transfer->moved;
		ssize_t r = pull(transfer, &writer, left < CHUNK ? (size_t)left : CHUNK);

		if (r == -EAGAIN || r == -EINTR)
			r = await_peer(transfer, POLLIN);
		else if (r > 0)
			r = eddy_yield();
		if (r < 0)
			return (int)r;
	}
	return 0;
}
