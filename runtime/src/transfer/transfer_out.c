/* From a file to a socket: the techniques, but for SEND_ZC. */
#include "technique.h"

#include <eddy/io.h>

#include "coldness.h"
#include "core/loop.h"
#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* What one call has brought to the socket, of `wanted` bytes; counted in `counter`. */
static ssize_t taken(struct eddyi_sending *sending, ssize_t r, size_t wanted, uint64_t *counter)
{
	if (r < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	/* Interrupted before anything: asked again as if it were full, which says so at once. */
	if (r < 0)
		r = 0;
	sending->full = (size_t)r < wanted;
	eddyi_count(*counter, (uint64_t)r);
	return r;
}

/* ---- memory ---- */

static ssize_t push_read(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	char *buf = eddyi_copy_buffer();
	ssize_t r;

	if (!buf)
		return -ENOMEM;
	do
		r = pread(sending->transfer->file, buf,
			  len < EDDYI_COPY_SIZE ? len : EDDYI_COPY_SIZE, (off_t)offset);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r < 0 ? -errno : -ENODATA;
	len = (size_t)r;
	return taken(sending,
		     send(sending->transfer->socket, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL), len,
		     &eddyi_loop()->transfer_stats.read_sent_out);
}

/* ---- splice ---- */

/* Bring what is in the pipe, which is taken over, to the socket, by splice(2) or through the ring; what the
 * socket does not take is thrown away. Return: bytes, -errno. */
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
			r = splice(pipe->read_fd, NULL, socket, NULL, left, SPLICE_F_NONBLOCK);
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
			return r < 0 ? r : -EPIPE;
		}
		moved += (size_t)r;
	}
	eddyi_pipe_put(pipe);
	return (ssize_t)moved;
}

/* The file gave `r` bytes to the pipe, or an error. Return: bytes that the socket took, -errno. */
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

	/* Descriptors have run out. */
	if (eddyi_pipe_take(&pipe) < 0)
		return push_read(sending, offset, len);
	do
		r = splice(sending->transfer->file, &from, pipe->write_fd, NULL, len,
			   SPLICE_F_NONBLOCK);
	while (r < 0 && errno == EINTR);
	return filled(sending, pipe, r < 0 ? -errno : r, false,
		      &eddyi_loop()->transfer_stats.spliced_out);
}

static ssize_t push_ring_spliced(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	struct eddyi_pipe *pipe;
	ssize_t r;

	if (eddyi_pipe_take(&pipe) < 0)
		return push_read(sending, offset, len);
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
	ssize_t r = sendfile(sending->transfer->socket, sending->transfer->file, &from, len);

	if (r == 0)
		return -ENODATA;
	return taken(sending, r, len, &eddyi_loop()->transfer_stats.sendfile_out);
}

int eddyi_map(int file, uint64_t offset, size_t len, struct eddyi_mapping *ret_mapping)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (size_t)(offset % page);
	struct stat st;
	void *at;

	if (fstat(file, &st) < 0)
		return -errno;
	if (offset >= (uint64_t)st.st_size)
		return -ENODATA;
	if (len > (uint64_t)st.st_size - offset)
		len = (size_t)((uint64_t)st.st_size - offset);
	at = mmap(NULL, before + len, PROT_READ, MAP_SHARED | MAP_POPULATE, file,
		  (off_t)(offset - before));
	if (at == MAP_FAILED)
		return -errno;
	*ret_mapping = (struct eddyi_mapping){ at, before + len, (char *)at + before, len };
	return 0;
}

ssize_t eddyi_push_mapped(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	struct eddyi_mapping mapping;
	int error = eddyi_map(sending->transfer->file, offset, len, &mapping);
	ssize_t r;

	/* A file system that can't map. */
	if (error == -ENODEV)
		return push_read(sending, offset, len);
	if (error < 0)
		return error;
	r = send(sending->transfer->socket, mapping.bytes, mapping.len,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	/* Whole pages are gone since it was asked how long it is. */
	error = r < 0 && errno == EFAULT ? -ENODATA : 0;
	r = error ? error :
		    taken(sending, r, mapping.len, &eddyi_loop()->transfer_stats.mapped_out);
	munmap(mapping.at, mapping.size);
	return r;
}

const struct eddyi_technique_out *eddyi_technique_out(enum eddy_technique technique)
{
	static const struct eddyi_technique_out splices = { .push = push_spliced,
							    .waits_for_disk = true };
	static const struct eddyi_technique_out ring_splices = { .push = push_ring_spliced };
	static const struct eddyi_technique_out sends_file = { .push = push_sendfile,
							       .waits_for_disk = true };
	static const struct eddyi_technique_out reads = { .push = push_read,
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
