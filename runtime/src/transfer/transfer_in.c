/* Techniques from a socket to a file. */
#include "transfer_state.h"

#include <eddy/internal/outside.h>
#include <eddy/io.h>

#include "core/loop.h"
#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Quick writes by workers after which the loop writes itself again. */
#define QUICK_WRITES 4
/* Time during which no other transfer tries a slow disk: each try would block the loop. */
#define SLOW_NS EDDY_SECOND
/* Buffer of a transfer while its disk is slow. */
#define SLOW_COPY_SIZE ((size_t)(64 * EDDY_KIB))

/* Decide by a write's duration who makes the next one. */
static void learn(struct eddyi_writer *writer, uint64_t ns)
{
	if (writer->never)
		return;
	if (ns > eddy_transfer_options()->slow_write_ns) {
		if (!writer->by_ring)
			writer->heard = eddyi_loop()->slow_write_at = eddy_now();
		writer->by_ring = true;
		writer->quick = 0;
	} else if (++writer->quick >= QUICK_WRITES) {
		writer->by_ring = writer->always;
	}
}

/* Whether workers write the next piece: also if another transfer's write just blocked the loop. */
static bool goes_by_ring(struct eddyi_writer *writer)
{
	uint64_t slow_at = eddyi_loop()->slow_write_at;

	if (writer->never || slow_at == writer->heard)
		return writer->by_ring;
	writer->heard = slow_at;
	if (eddy_now() - slow_at < SLOW_NS) {
		writer->by_ring = true;
		writer->quick = 0;
	}
	return writer->by_ring;
}

/* ---- splice ---- */

/* Move bytes from the pipe into the file. Return: bytes, 0 for none, -errno. */
static ssize_t write_out(struct eddy_transfer *transfer, struct eddyi_writer *writer,
			 struct eddyi_pipe *pipe, size_t len)
{
	uint64_t offset = transfer->offset + transfer->moved, started = eddy_now();
	loff_t to = (loff_t)offset;
	ssize_t r;

	if (writer->by_ring) {
		r = eddy_splice(pipe->read_fd, EDDY_OFFSET_NONE, transfer->file, offset, len, 0);
	} else {
		r = eddyi_splice_now(pipe->read_fd, NULL, transfer->file, &to, len, 0);
		r = r < 0 ? -errno : r;
	}
	if (r > 0 && writer->by_ring && !writer->always)
		eddyi_count(eddyi_loop()->transfer_stats.written_by_ring, (uint64_t)r);
	learn(writer, eddy_now() - started);
	return r;
}

/* Move all of the pipe to the file. Takes ownership of the pipe. Return: 0, -errno. */
static int empty_pipe(struct eddy_transfer *transfer, struct eddyi_writer *writer,
		      struct eddyi_pipe *pipe, size_t len)
{
	struct eddy_transfer_stats *stats = &eddyi_loop()->transfer_stats;

	while (len) {
		ssize_t r = write_out(transfer, writer, pipe, len);

		if (r == -EINTR)
			continue;
		if (r <= 0) {
			eddyi_pipe_discard(pipe);
			return r < 0 ? (int)r : -EIO;
		}
		len -= (size_t)r;
		eddyi_transfer_progressed(transfer, (size_t)r);
		if (writer->always)
			eddyi_count(stats->ring_spliced_in, (uint64_t)r);
		else
			eddyi_count(stats->spliced_in, (uint64_t)r);
	}
	eddyi_pipe_put(pipe);
	return 0;
}

static ssize_t pull_copied(struct eddy_transfer *transfer, struct eddyi_writer *writer, size_t len);

static ssize_t pull_spliced(struct eddy_transfer *transfer, struct eddyi_writer *writer, size_t len)
{
	struct eddyi_pipe *pipe;
	bool held = false;
	ssize_t in_pipe;
	int r;

	/* Out of descriptors. */
	if (eddyi_pipe_take_optional(&pipe) < 0)
		return pull_copied(transfer, writer, len);
	/* The disk may take long, and many transfers may wait for it. */
	if (goes_by_ring(writer)) {
		held = eddyi_pipe_hold();
		if (!held) {
			eddyi_pipe_put(pipe);
			return pull_copied(transfer, writer, len);
		}
	}
	if (writer->always)
		in_pipe = eddy_splice(transfer->socket, EDDY_OFFSET_NONE, pipe->write_fd,
				      EDDY_OFFSET_NONE, len, SPLICE_F_NONBLOCK);
	else
		in_pipe = eddyi_splice_now(transfer->socket, NULL, pipe->write_fd, NULL, len,
					   SPLICE_F_NONBLOCK);
	if (in_pipe < 0 && !writer->always)
		in_pipe = -errno;
	if (in_pipe > 0) {
		r = empty_pipe(transfer, writer, pipe, (size_t)in_pipe);
	} else {
		r = in_pipe < 0 ? (int)in_pipe : -ENODATA;
		eddyi_pipe_put(pipe);
	}
	if (held)
		eddyi_pipe_release();
	return r < 0 ? r : in_pipe;
}

/* ---- memory ---- */

/* Write all bytes, with `by_ring` by workers throughout: a shared buffer must not be used across a
 * suspension. Return: 0, -errno. */
static int write_copied(struct eddy_transfer *transfer, struct eddyi_writer *writer, bool by_ring,
			const char *buf, size_t len)
{
	while (len) {
		uint64_t offset = transfer->offset + transfer->moved, started = eddy_now();
		ssize_t r;

		if (by_ring) {
			r = eddy_write(transfer->file, buf, len, offset);
		} else {
			r = eddyi_pwrite_now(transfer->file, buf, len, (off_t)offset);
			r = r < 0 ? -errno : r;
		}
		learn(writer, eddy_now() - started);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? (int)r : -EIO;
		buf += r;
		len -= (size_t)r;
		eddyi_transfer_progressed(transfer, (size_t)r);
		eddyi_count(eddyi_loop()->transfer_stats.received_in, (uint64_t)r);
	}
	return 0;
}

static ssize_t pull_copied(struct eddy_transfer *transfer, struct eddyi_writer *writer, size_t len)
{
	bool by_ring = goes_by_ring(writer);
	size_t size = by_ring ? SLOW_COPY_SIZE : EDDYI_COPY_SIZE;
	char *buf = by_ring ? malloc(size) : eddyi_copy_buffer();
	ssize_t r;

	if (!buf)
		return -ENOMEM;
	r = eddyi_recv_now(transfer->socket, buf, len < size ? len : size, MSG_DONTWAIT);
	if (r > 0) {
		int error = write_copied(transfer, writer, by_ring, buf, (size_t)r);

		r = error < 0 ? error : r;
	} else {
		r = r < 0 ? -errno : -ENODATA;
	}
	if (by_ring)
		free(buf);
	return r;
}

const struct eddyi_technique_in *eddyi_technique_in(enum eddy_technique technique)
{
	static const struct eddyi_technique_in splices = { .pull = pull_spliced };
	static const struct eddyi_technique_in ring_splices = { .pull = pull_spliced,
								.by_ring = true };
	static const struct eddyi_technique_in copies = { .pull = pull_copied };
	static const struct eddyi_technique_in *const rows[EDDY_TECHNIQUES] = {
		[EDDY_TECHNIQUE_AUTO] = &splices,
		[EDDY_TECHNIQUE_SPLICE] = &splices,
		[EDDY_TECHNIQUE_RING_SPLICE] = &ring_splices,
		[EDDY_TECHNIQUE_RECV_WRITE] = &copies,
	};

	return (unsigned)technique < EDDY_TECHNIQUES ? rows[technique] : NULL;
}
