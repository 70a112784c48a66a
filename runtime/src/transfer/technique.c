/* Techniques of transfer, and the options of a loop. */
#include "technique.h"

#include "base/uapi.h"
#include "base/written.h"
#include "core/loop.h"
#include "core/op.h"
#include "pipe.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/op.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- to a socket through memory, copied or mapped: the fallbacks of other techniques ---- */

/* A buffer for all transfers of the loop, valid until a suspension. NULL on allocation failure. */
#define COPY_SIZE ((size_t)(256 * EDDY_KIB))

static char *copy_buffer(void)
{
	struct eddy_loop *loop = eddyi_loop();

	if (!loop->copy_buffer)
		loop->copy_buffer = malloc(COPY_SIZE);
	return loop->copy_buffer;
}

/* Account for a send(2) of `wanted` bytes with result `r` and errno; adds to `counter`. */
static ssize_t push_taken(struct eddyi_sending *sending, ssize_t r, size_t wanted,
			  uint64_t *counter)
{
	if (r < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	/* Treat an interruption before any byte as a full socket: the poll then returns at once. */
	if (r < 0)
		r = 0;
	sending->full = (size_t)r < wanted;
	eddyi_count(*counter, (uint64_t)r);
	return r;
}

static ssize_t push_read(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	char *buf = copy_buffer();
	ssize_t r;

	if (!buf)
		return -ENOMEM;
	do
		r = eddyi_pread_now(sending->transfer->file, buf, len < COPY_SIZE ? len : COPY_SIZE,
				    (off_t)offset);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r < 0 ? -errno : -ENODATA;
	len = (size_t)r;
	return push_taken(sending,
			  eddyi_send_now(sending->transfer->socket, buf, len,
					 MSG_DONTWAIT | MSG_NOSIGNAL),
			  len, &eddyi_loop()->transfer_stats.read_sent_out);
}

/* A mapped piece of a file. */
struct mapping {
	void *at;
	size_t size;
	const char *bytes; /* the piece within the mapping */
	size_t len;        /* less than requested at the end of the file */
};

/* Map up to `len` bytes from `offset`. Return: 0; -ENODATA at the end of the file; -errno. */
static int map_file(int file, uint64_t offset, size_t len, struct mapping *ret_mapping)
{
	size_t page = (size_t)eddyi_sysconf_now(_SC_PAGESIZE), before = (size_t)(offset % page);
	struct stat st;
	void *at;

	/* A recording would read the bytes, and fault if the file has been truncated. */
	if (EDDYI_HAS_TRACK)
		return -ENODEV;
	if (eddyi_fstat_now(file, &st) < 0)
		return -errno;
	if (offset >= (uint64_t)st.st_size)
		return -ENODATA;
	if (len > (uint64_t)st.st_size - offset)
		len = (size_t)((uint64_t)st.st_size - offset);
	at = eddyi_mmap_now(NULL, before + len, PROT_READ, MAP_SHARED | MAP_POPULATE, file,
			    (off_t)(offset - before));
	if (at == MAP_FAILED)
		return -errno;
	*ret_mapping = (struct mapping){ at, before + len, (char *)at + before, len };
	return 0;
}

static ssize_t push_mapped(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	struct mapping mapping = { 0 };
	int error = map_file(sending->transfer->file, offset, len, &mapping);
	ssize_t r;

	/* The file system does not support mmap. */
	if (error == -ENODEV)
		return push_read(sending, offset, len);
	if (error < 0)
		return error;
	r = eddyi_send_now(sending->transfer->socket, mapping.bytes, mapping.len,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
	/* The file was truncated by whole pages after its length was read. */
	error = r < 0 && errno == EFAULT ? -ENODATA : 0;
	r = error ? error :
		    push_taken(sending, r, mapping.len, &eddyi_loop()->transfer_stats.mapped_out);
	munmap(mapping.at, mapping.size);
	return r;
}

/* ---- to a socket by SEND_ZC ---- */

/* The SEND_ZC technique from a file to a socket: the network card reads pages of the page cache.
 *
 * Invariants:
 * 1. Only one send at a time is unanswered: two could overtake each other.
 * 2. A piece is mapped from before its send until its last completion, which is the notification if
 *    bytes were sent. `busy` counts mapped pieces.
 * 3. settle() does not return while `busy` is not 0.
 */

/* Pieces sent and not acknowledged. */
#define PIECES 4

struct piece {
	struct eddy_op op;
	struct eddyi_zc *zc;
	struct mapping mapping; /* .at is NULL if the piece is free */
	uint32_t sent;
};

struct eddyi_zc {
	struct piece pieces[PIECES];
	struct eddy_event changed;
	unsigned busy;
	int answer; /* result of the last send, once `answered` */
	bool answered;
	bool unreported; /* the kernel (before 6.2) does not report whether it copied */
};

static void completed(struct eddy_op *op, int result, unsigned flags)
{
	struct piece *piece = eddy_of(op, struct piece, op);
	struct eddyi_zc *zc = piece->zc;

	if (!(flags & IORING_CQE_F_NOTIF)) {
		zc->answer = result;
		zc->answered = true;
		piece->sent = result > 0 ? (uint32_t)result : 0;
	} else if ((unsigned)result & EDDYI_NOTIF_ZC_COPIED) {
		eddyi_count(eddyi_loop()->transfer_stats.zc_copied, piece->sent);
	}
	if (!(flags & IORING_CQE_F_MORE)) {
		munmap(piece->mapping.at, piece->mapping.size);
		piece->mapping.at = NULL;
		zc->busy--;
	}
	eddy_event_set(&zc->changed);
}

static int await_change(struct eddyi_zc *zc)
{
	eddy_event_clear(&zc->changed);
	return eddy_event_wait(&zc->changed);
}

static struct eddyi_zc *zc_of(struct eddyi_sending *sending)
{
	if (!sending->zc) {
		sending->zc = calloc(1, sizeof(*sending->zc));
		if (sending->zc)
			eddy_event_init(&sending->zc->changed);
	}
	return sending->zc;
}

/* Wait for a free piece. Return: NULL if cancelled meanwhile. */
static struct piece *take_piece(struct eddyi_zc *zc)
{
	while (zc->busy == PIECES)
		if (await_change(zc) < 0)
			return NULL;
	for (size_t i = 0; i < PIECES; i++)
		if (!zc->pieces[i].mapping.at)
			return &zc->pieces[i];
	return NULL;
}

static void start(struct eddyi_zc *zc, struct piece *piece, int socket)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&piece->op, completed);

	piece->zc = zc;
	zc->answered = false;
	zc->busy++;
	io_uring_prep_send_zc(sqe, socket, piece->mapping.bytes, piece->mapping.len, MSG_NOSIGNAL,
			      zc->unreported ? 0 : EDDYI_SEND_ZC_REPORT_USAGE);
	eddy_op_start(&piece->op, sqe);
}

/* Wait for the answer to the last send, and cancel it with the scope. */
static int await_answer(struct eddyi_zc *zc, struct piece *piece)
{
	struct eddy_scope shield;

	while (!zc->answered) {
		if (await_change(zc) == 0)
			continue;
		eddy_op_cancel(&piece->op);
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		while (!zc->answered)
			await_change(zc);
		eddy_scope_end(&shield);
	}
	return zc->answer;
}

static ssize_t push_zc(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	struct eddyi_zc *zc = zc_of(sending);
	struct piece *piece;
	int r;

	if (!zc)
		return -ENOMEM;
	piece = take_piece(zc);
	if (!piece || eddy_is_cancelled())
		return -ECANCELED;
	r = map_file(sending->transfer->file, offset, len, &piece->mapping);
	if (r < 0)
		return r == -ENODEV ? push_mapped(sending, offset, len) : r;
	start(zc, piece, sending->transfer->socket);
	r = await_answer(zc, piece);
	if (r == -EINVAL && !zc->unreported) {
		zc->unreported = true;
		return 0; /* retry without reporting */
	}
	/* Not supported by the socket, or the limit of locked memory is reached. */
	if (r == -EOPNOTSUPP || r == -ENOMEM || r == -ENOBUFS)
		return push_mapped(sending, offset, len);
	if (r == -EFAULT)
		return -ENODATA; /* truncated by whole pages after its length was read */
	if (r == -EINTR)
		return 0;
	if (r > 0)
		eddyi_count(eddyi_loop()->transfer_stats.zc_out, (uint64_t)r);
	return r;
}

/* Reset the connection, which would keep memory until the peer has acknowledged it. */
static void reset_connection(int socket)
{
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	/* The length of the family only: a sandbox refuses others. */
	eddyi_connect_now(socket, &nobody, sizeof(nobody.sa_family));
}

static int settle_zc(struct eddyi_sending *sending, int r)
{
	struct eddyi_zc *zc = sending->zc;
	bool cancelled = false;
	struct eddy_scope shield;

	if (!zc)
		return r;
	/* Also after an error: the bytes sent before it must arrive. */
	while (zc->busy && !cancelled)
		cancelled = await_change(zc) < 0;
	if (zc->busy) {
		reset_connection(sending->transfer->socket);
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		while (zc->busy)
			await_change(zc);
		eddy_scope_end(&shield);
	}
	free(zc);
	return r == 0 && cancelled ? -ECANCELED : r;
}

static const struct eddyi_technique_out send_zc = {
	.push = push_zc,
	.settle = settle_zc,
	.waits_for_disk = true,
	.no_cork = true,
};

/* ---- to a socket by splice ---- */

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
		return push_read(sending, offset, len);
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

/* ---- to a socket past the page cache ---- */

/* The page cache is filled in folios of up to 2 MiB. A read that ends within one drops all of it,
 * and the next one reads it from the disk again: reads of 1 MiB are half as fast. */
#define UNCACHED_SIZE ((size_t)(2 * EDDY_MIB))

struct eddyi_unsent {
	const char *at;
	size_t len;
	char bytes[UNCACHED_SIZE];
};

/* Read up to `len` bytes, and at most to the next multiple of UNCACHED_SIZE, leaving nothing in the
 * page cache that was not there.
 * Return: bytes; -EOPNOTSUPP if the kernel or the file system can't; -errno. */
static ssize_t read_uncached(int file, void *buf, uint64_t len, uint64_t offset)
{
	struct io_uring_sqe sqe = { 0 };
	size_t most = UNCACHED_SIZE - (size_t)(offset % UNCACHED_SIZE);

	io_uring_prep_read(&sqe, file, buf, (unsigned)(len < most ? len : most), offset);
	sqe.rw_flags = EDDYI_RWF_DONTCACHE;
	/* By a worker: the copy would delay the loop for 0.3 ms. */
	sqe.flags |= IOSQE_ASYNC;
	return eddyi_written(buf, eddyi_op_call(&sqe));
}

static bool hold_unsent(struct eddyi_sending *sending)
{
	if (sending->unsent)
		return true;
	if (!eddyi_pipe_hold())
		return false;
	sending->unsent = malloc(sizeof(*sending->unsent));
	if (!sending->unsent) {
		eddyi_pipe_release();
		return false;
	}
	sending->unsent->len = 0;
	return true;
}

static int settle_uncached(struct eddyi_sending *sending, int r)
{
	if (sending->unsent)
		eddyi_pipe_release();
	free(sending->unsent);
	sending->unsent = NULL;
	return r;
}

static ssize_t push_uncached(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	const struct eddy_transfer *transfer = sending->transfer;
	struct eddyi_unsent *unsent;
	ssize_t r;

	if (!hold_unsent(sending))
		return -EOPNOTSUPP;
	unsent = sending->unsent;
	if (!unsent->len) {
		r = read_uncached(transfer->file, unsent->bytes, transfer->len - transfer->moved,
				  offset);
		if (r == -EOPNOTSUPP)
			return settle_uncached(sending, -EOPNOTSUPP);
		if (r <= 0)
			return r < 0 ? r : -ENODATA;
		unsent->at = unsent->bytes;
		unsent->len = (size_t)r;
	}
	if (len > unsent->len)
		len = unsent->len;
	/* Copying takes as long as several splices. */
	if (len > COPY_SIZE)
		len = COPY_SIZE;
	r = push_taken(sending,
		       eddyi_send_now(transfer->socket, unsent->at, len,
				      MSG_DONTWAIT | MSG_NOSIGNAL),
		       len, &eddyi_loop()->transfer_stats.dontcache_out);
	if (r > 0) {
		unsent->at += r;
		unsent->len -= (size_t)r;
	}
	return r;
}

/* ---- to a socket by sendfile, and the table ---- */

static ssize_t push_sendfile(struct eddyi_sending *sending, uint64_t offset, size_t len)
{
	off_t from = (off_t)offset;
	ssize_t r =
		eddyi_sendfile_now(sending->transfer->socket, sending->transfer->file, &from, len);

	if (r == 0)
		return -ENODATA;
	return push_taken(sending, r, len, &eddyi_loop()->transfer_stats.sendfile_out);
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
	static const struct eddyi_technique_out maps = { .push = push_mapped,
							 .waits_for_disk = true };
	static const struct eddyi_technique_out uncached = { .push = push_uncached,
							     .settle = settle_uncached,
							     .otherwise = &splices };
	static const struct eddyi_technique_out splices_or_uncached = { .push = push_spliced,
									.settle = settle_uncached,
									.otherwise = &uncached,
									.waits_for_disk = true };
	static const struct eddyi_technique_out *const rows[EDDY_TECHNIQUES] = {
		[EDDY_TECHNIQUE_AUTO] = &splices_or_uncached,
		[EDDY_TECHNIQUE_SPLICE] = &splices,
		[EDDY_TECHNIQUE_RING_SPLICE] = &ring_splices,
		[EDDY_TECHNIQUE_SENDFILE] = &sends_file,
		[EDDY_TECHNIQUE_READ_SEND] = &reads,
		[EDDY_TECHNIQUE_MMAP] = &maps,
		[EDDY_TECHNIQUE_SEND_ZC] = &send_zc,
		[EDDY_TECHNIQUE_DONTCACHE] = &uncached,
	};

	return (unsigned)technique < EDDY_TECHNIQUES ? rows[technique] : NULL;
}

/* ---- to a file ---- */

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

/* ---- to a file by splice ---- */

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
static int write_pipe(struct eddy_transfer *transfer, struct eddyi_writer *writer,
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
		r = write_pipe(transfer, writer, pipe, (size_t)in_pipe);
	} else {
		r = in_pipe < 0 ? (int)in_pipe : -ENODATA;
		eddyi_pipe_put(pipe);
	}
	if (held)
		eddyi_pipe_release();
	return r < 0 ? r : in_pipe;
}

/* ---- to a file through memory, and the table ---- */

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
	size_t size = by_ring ? SLOW_COPY_SIZE : COPY_SIZE;
	char *buf = by_ring ? malloc(size) : copy_buffer();
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

/* ---- options of a loop ---- */

#define DEFAULT(member, value)                                                                     \
	if (!filled->member)                                                                       \
		filled->member = (value);

static void fill_in(struct eddy_transfer_options *filled)
{
	DEFAULT(copied_out_max, 8 * EDDY_KIB)
	DEFAULT(sendfile_out_max, 64 * EDDY_KIB)
	DEFAULT(spliced_in_min, 64 * EDDY_KIB)
	DEFAULT(corked_min, 256 * EDDY_KIB + 1)
	DEFAULT(turn_max, EDDY_MIB)
	DEFAULT(pipe_size, EDDY_MIB)
	DEFAULT(pipes_kept, 8)
	DEFAULT(pipes_held_max, 32)
	DEFAULT(slow_write_ns, 2 * EDDY_MS)
}

void eddyi_transfer_options_init(struct eddy_transfer_options *options)
{
	*options = (struct eddy_transfer_options){ 0 };
	fill_in(options);
}

const struct eddy_transfer_options *eddy_transfer_options(void)
{
	return &eddyi_loop()->transfer_options;
}

bool eddyi_transfer_copies_out(uint64_t len)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();

	return options->technique == EDDY_TECHNIQUE_AUTO && len <= options->copied_out_max;
}

bool eddyi_transfer_copies_in(uint64_t len)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();

	return options->technique_in == EDDY_TECHNIQUE_AUTO && len < options->spliced_in_min;
}

/* ---- names ---- */

#define LIMIT(least, most, member)                                                                 \
	if (options->member && (options->member < (least) || options->member > (most)))            \
		return -EINVAL;

static const char *const names[EDDY_TECHNIQUES] = {
	[EDDY_TECHNIQUE_AUTO] = "auto",
	[EDDY_TECHNIQUE_SPLICE] = "splice",
	[EDDY_TECHNIQUE_RING_SPLICE] = "ring-splice",
	[EDDY_TECHNIQUE_SENDFILE] = "sendfile",
	[EDDY_TECHNIQUE_READ_SEND] = "read-send",
	[EDDY_TECHNIQUE_MMAP] = "mmap",
	[EDDY_TECHNIQUE_SEND_ZC] = "send-zc",
	[EDDY_TECHNIQUE_RECV_WRITE] = "recv-write",
	[EDDY_TECHNIQUE_DONTCACHE] = "dontcache",
};

const char *eddy_technique_name(enum eddy_technique technique)
{
	return (unsigned)technique < EDDY_TECHNIQUES ? names[technique] : "?";
}

int eddy_technique_parse(struct eddy_str name, enum eddy_technique *ret_technique)
{
	for (unsigned i = 0; i < EDDY_TECHNIQUES; i++) {
		if (eddy_str_eq_z(name, names[i])) {
			*ret_technique = (enum eddy_technique)i;
			return 0;
		}
	}
	return -EINVAL;
}

int eddy_transfer_options_check(const struct eddy_transfer_options *options)
{
	if (!eddyi_technique_out(options->technique) || !eddyi_technique_in(options->technique_in))
		return -EINVAL;
	LIMIT(1, EDDY_MIB, copied_out_max)
	LIMIT(4 * EDDY_KIB, EDDY_MIB, turn_max)
	LIMIT(4 * EDDY_KIB, EDDY_GIB, pipe_size)
	LIMIT(1, 1024, pipes_kept)
	LIMIT(1, 1024, pipes_held_max)
	return 0;
}

int eddy_transfer_configure(const struct eddy_transfer_options *options)
{
	struct eddy_transfer_options filled = { 0 };

	if (options) {
		if (eddy_transfer_options_check(options) < 0)
			return -EINVAL;
		filled = *options;
	}
	fill_in(&filled);
	eddyi_loop()->transfer_options = filled;
	return 0;
}
