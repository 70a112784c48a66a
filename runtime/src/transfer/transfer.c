/* Invariants:
 * 1. To a socket: nothing is held while waiting for the peer, except by SEND_ZC and DONTCACHE.
 *    Bytes that the socket did not accept are read from the file again.
 * 2. To a file: nothing is held while waiting for the peer, and a pipe or a buffer while waiting
 *    for a disk. Cancellation takes effect only when both are empty: bytes received from the socket
 *    are in the file, or the file refused them.
 * 3. A pipe returns to the pool empty, or is closed.
 */
#include "core/loop.h"
#include "pipe.h"
#include "technique.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- whether a read from a file would wait for a disk ---- */

enum coldness {
	ALWAYS_WARM, /* the file system has no disk */
	CACHESTAT,   /* cachestat(2) tells for each page */
	PROBE,       /* a read with RWF_NOWAIT tells for a byte */
	UNKNOWN,     /* no way to tell: treat as cold */
};

/* The kernel's structures, which Debian 12's headers lack. */
struct cachestat_range {
	uint64_t offset;
	uint64_t len;
};

struct cachestat {
	uint64_t cached;
	uint64_t dirty;
	uint64_t writeback;
	uint64_t evicted;
	uint64_t recently_evicted;
};

/* Count the cached pages of a range. Return: 0; -ENOSYS if the kernel has no cachestat; since Linux
 * 6.14, -EPERM if this user may not write the file. */
static int pages_cached(int fd, uint64_t offset, uint64_t len, uint64_t *ret_pages)
{
	struct cachestat_range range = { offset, len };
	struct cachestat stat;

	if (eddyi_cachestat_now(fd, &range, &stat) < 0)
		return -errno;
	*ret_pages = stat.cached;
	return 0;
}

static bool probe_supported(int fd)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	return eddyi_preadv2_now(fd, &iov, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
}

/* Whether the kernel has cachestat; tested once per process. */
static bool cachestat_supported(int fd)
{
	static atomic_int known; /* 0 untested, 1 yes, -1 no */
	int value = atomic_load_explicit(&known, memory_order_relaxed);
	uint64_t pages;

	if (!value) {
		value = pages_cached(fd, 0, 1, &pages) != -ENOSYS ? 1 : -1;
		atomic_store_explicit(&known, value, memory_order_relaxed);
	}
	return value > 0;
}

/* After an unmount, the device number may be reused for another kind of file system. */
#define DEVICE_NS EDDY_SECOND

static enum coldness ask(int fd, const struct statfs *fs)
{
	switch ((unsigned long)fs->f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return ALWAYS_WARM;
	case OVERLAYFS_SUPER_MAGIC: /* cachestat does not see the underlying file */
		return probe_supported(fd) ? PROBE : UNKNOWN;
	default:
		if (!probe_supported(fd))
			return UNKNOWN;
		return cachestat_supported(fd) ? CACHESTAT : PROBE;
	}
}

/* Get the method for the file system of `fd`; `device` is its st_dev, or 0. Never suspends. */
static enum coldness coldness_of(int fd, uint64_t device)
{
	/* The last answer, since a loop sends most files from one file system. */
	static _Thread_local struct {
		struct statfs fs;
		enum coldness how;
		bool known;
		uint64_t device; /* 0: unknown */
		uint64_t at_ns;
	} last;
	struct statfs fs;
	uint64_t now = device ? eddy_loop_now() : 0;

	if (device && device == last.device && now - last.at_ns < DEVICE_NS)
		return last.how;
	last.device = 0;
	if (eddyi_fstatfs_now(fd, &fs) < 0)
		return UNKNOWN;
	if (!last.known || last.fs.f_type != fs.f_type ||
	    memcmp(&last.fs.f_fsid, &fs.f_fsid, sizeof(fs.f_fsid)) != 0) {
		last.how = ask(fd, &fs);
		last.fs = fs;
		last.known = true;
	}
	last.device = device;
	last.at_ns = now;
	return last.how;
}

static bool byte_is_warm(int fd, uint64_t offset)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	/* The end of the file or an error does not block either; the reader will see it. */
	return eddyi_preadv2_now(fd, &iov, 1, (off_t)offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

/* Whether all pages of the range are in the page cache. Never suspends, never waits for a disk. */
static bool is_range_warm(enum coldness how, int fd, uint64_t offset, uint64_t len)
{
	uint64_t page = (uint64_t)eddyi_sysconf_now(_SC_PAGESIZE);
	uint64_t pages = 0, wanted = (offset + len + page - 1) / page - offset / page;

	switch (how) {
	case ALWAYS_WARM:
		return true;
	case CACHESTAT:
		if (pages_cached(fd, offset, len, &pages) == 0)
			return pages >= wanted;
		/* It failed for this file only. */
		/* fallthrough */
	case PROBE:
		return byte_is_warm(fd, offset) && byte_is_warm(fd, offset + len - 1);
	case UNKNOWN:
		break;
	}
	return false;
}

/* ---- pieces copied through the program's memory ---- */

/* Writing this much to memory takes some hundred microseconds at most. */
#define QUICK_WRITE EDDY_MIB

ssize_t eddyi_transfer_read_now(int file, uint64_t device, void *buf, size_t len, uint64_t offset)
{
	struct iovec iov = { buf, len };
	ssize_t r;

	/* tmpfs knows no RWF_NOWAIT. */
	if (device && coldness_of(file, device) == ALWAYS_WARM)
		r = eddyi_pread_now(file, buf, len, (off_t)offset);
	else
		r = eddyi_preadv2_now(file, &iov, 1, (off_t)offset, RWF_NOWAIT);
	if (r < 0)
		return errno == EOPNOTSUPP ? -EAGAIN : -errno;
	eddyi_count(eddyi_loop()->transfer_stats.copied_out, (uint64_t)r);
	return r;
}

int eddyi_transfer_read(int file, void *buf, size_t len, uint64_t offset)
{
	char *at = buf;

	while (len) {
		ssize_t r = eddyi_transfer_read_now(file, 0, at, len, offset);

		if (r == -EAGAIN) {
			r = eddy_read(file, at, len, offset);
			eddyi_count(eddyi_loop()->transfer_stats.copied_out,
				    r > 0 ? (uint64_t)r : 0);
		}
		if (r <= 0)
			return r < 0 ? (int)r : -ENODATA;
		at += r;
		len -= (size_t)r;
		offset += (uint64_t)r;
	}
	return 0;
}

int eddy_transfer_write(int file, const void *buf, size_t len, uint64_t offset)
{
	/* The ring would use a worker, which costs more than the copy. */
	bool in_memory = coldness_of(file, 0) == ALWAYS_WARM;
	const char *at = buf;

	while (len) {
		ssize_t r;

		if (in_memory && len <= QUICK_WRITE && !eddy_is_cancelled()) {
			r = eddyi_pwrite_now(file, at, len, (off_t)offset);
			r = r < 0 ? -errno : r;
		} else {
			r = eddy_write(file, at, len, offset);
		}
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? (int)r : -EIO;
		eddyi_count(eddyi_loop()->transfer_stats.copied_in, (uint64_t)r);
		at += r;
		len -= (size_t)r;
		offset += (uint64_t)r;
	}
	return 0;
}

struct eddy_transfer_stats eddy_transfer_stats(void)
{
	return eddyi_loop()->transfer_stats;
}

/* Wait for the peer; counts a stall. Return: 0, -errno. */
static int await_peer(struct eddy_transfer *transfer, unsigned events)
{
	int r;

	eddyi_count(eddyi_loop()->transfer_stats.stalls, 1);
	r = eddy_poll(transfer->socket, events);
	return r < 0 ? r : 0;
}

/* ---- to a socket ---- */

static void set_cork(int fd, int on)
{
	/* Fails if the socket is not TCP; then there is nothing to cork. */
	eddyi_setsockopt_now(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
}

static int send_head(struct eddy_transfer *transfer, int flags)
{
	struct eddy_str head = transfer->head;
	ssize_t r;

	if (!head.len)
		return 0;
	/* Sent at once, to precede the spliced bytes. */
	r = eddyi_send_now(transfer->socket, head.ptr, head.len,
			   MSG_DONTWAIT | MSG_NOSIGNAL | flags);
	if (r < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (r > 0)
		head = eddy_str_skip(head, (size_t)r);
	if (!head.len)
		return 0;
	return eddy_send_all(transfer->socket, head.ptr, head.len, flags);
}

/* Read the range into the page cache through the ring. The loop's shared scratch buffer receives
 * the bytes, which are ignored. */
static int warm(struct eddy_transfer *transfer, uint64_t offset, size_t len)
{
	struct eddy_loop *loop = eddyi_loop();
	ssize_t r;

	if (!loop->scratch)
		loop->scratch = malloc(EDDY_MIB); /* the maximum of a turn */
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

/* Whether the range was found in the page cache in this turn. */
static bool was_warm(const struct eddy_transfer *transfer, uint64_t offset, size_t len)
{
	const struct eddy_warmth *seen = transfer->warmth;

	return seen && seen->turn == eddyi_loop()->stats.turns && seen->offset <= offset &&
	       offset + len <= seen->end;
}

/* Whether the range is in the page cache. A positive answer is reused within the turn. */
static bool is_warm(const struct eddy_transfer *transfer, enum coldness coldness, uint64_t offset,
		    size_t len)
{
	if (was_warm(transfer, offset, len))
		return true;
	if (!is_range_warm(coldness, transfer->file, offset, len))
		return false;
	if (transfer->warmth)
		*transfer->warmth =
			(struct eddy_warmth){ offset, offset + len, eddyi_loop()->stats.turns };
	return true;
}

/* One answer is for this much. */
#define WARM_STEP EDDY_MIB

bool eddyi_transfer_is_warm(const struct eddy_transfer *transfer, size_t len)
{
	uint64_t offset = transfer->offset + transfer->moved;
	uint64_t left = transfer->len - transfer->moved;
	struct stat st;

	if (was_warm(transfer, offset, len))
		return true;
	if (len < WARM_STEP)
		len = (size_t)(left < WARM_STEP ? left : WARM_STEP);
	return eddyi_fstat_now(transfer->file, &st) == 0 && (uint64_t)st.st_size >= offset + len &&
	       is_warm(transfer, coldness_of(transfer->file, transfer->device), offset, len);
}

static _Atomic uint64_t memory; /* 0: that of the machine */

void eddyi_transfer_set_memory(uint64_t bytes)
{
	atomic_store_explicit(&memory, bytes, memory_order_relaxed);
}

/* Get .uncached_min with its default. */
static uint64_t uncached_min(void)
{
	uint64_t min = eddy_transfer_options()->uncached_min;

	if (!min)
		min = atomic_load_explicit(&memory, memory_order_relaxed) / 2;
	if (!min)
		min = (uint64_t)eddyi_sysconf_now(_SC_PHYS_PAGES) *
		      (uint64_t)eddyi_sysconf_now(_SC_PAGESIZE) / 2;
	return min;
}

/* Whether what is not in the page cache should stay outside: see .uncached_min. */
static bool is_too_large(const struct eddy_transfer *transfer)
{
	uint64_t min = uncached_min();
	struct stat st;

	if (transfer->len >= min || min == EDDY_NEVER)
		return min != EDDY_NEVER;
	return eddyi_fstat_now(transfer->file, &st) == 0 && (uint64_t)st.st_size >= min;
}

static int send_body(struct eddyi_sending *sending, const struct eddyi_technique_out *how)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	struct eddy_transfer *transfer = sending->transfer;
	bool asks = (how->waits_for_disk || how->otherwise) && !options->no_warming;
	enum coldness coldness = asks ? coldness_of(transfer->file, transfer->device) : ALWAYS_WARM;
	uint64_t warm_to = 0;

	while (transfer->moved < transfer->len) {
		uint64_t offset = transfer->offset + transfer->moved;
		uint64_t left = transfer->len - transfer->moved;
		size_t len = left < options->turn_max ? (size_t)left : options->turn_max;
		ssize_t r = 0;

		/* Check each piece once, not again for its part that the socket did not accept. */
		if (how->waits_for_disk && offset + len > warm_to) {
			if (!is_warm(transfer, coldness, offset, len)) {
				if (how->otherwise && is_too_large(transfer)) {
					how = how->otherwise;
					continue;
				}
				r = warm(transfer, offset, len);
				if (r < 0)
					return (int)r;
			}
			warm_to = offset + len;
		}
		sending->full = false;
		r = how->push(sending, offset, len);
		if (r == -EOPNOTSUPP && how->otherwise) {
			how = how->otherwise;
			continue;
		}
		if (r < 0)
			return (int)r;
		if (r > 0)
			eddyi_transfer_progressed(transfer, (size_t)r);
		if (transfer->moved == transfer->len)
			break;
		r = sending->full ? await_peer(transfer, POLLOUT) : eddy_yield();
		if (r < 0)
			return (int)r;
	}
	return 0;
}
static const struct eddyi_technique_out *choose(const struct eddy_transfer *transfer)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	enum eddy_technique technique = transfer->technique ? transfer->technique :
							      options->technique;

	if (technique == EDDY_TECHNIQUE_AUTO)
		technique = transfer->len <= options->sendfile_out_max ? EDDY_TECHNIQUE_SENDFILE :
									 EDDY_TECHNIQUE_AUTO;
	return eddyi_technique_out(technique);
}

int eddy_transfer_to_socket(struct eddy_transfer *transfer)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	const struct eddyi_technique_out *how = choose(transfer);
	struct eddyi_sending sending = { .transfer = transfer };
	bool cork;
	int r;

	transfer->moved = 0;
	if (!how)
		return -EINVAL;
	if (eddy_is_cancelled())
		return -ECANCELED;
	cork = transfer->len >= options->corked_min && !how->no_cork;
	if (cork)
		set_cork(transfer->socket, 1);
	r = send_head(transfer, !cork && transfer->len && !how->no_cork ? MSG_MORE : 0);
	if (r == 0)
		r = send_body(&sending, how);
	if (how->settle)
		r = how->settle(&sending, r);
	if (cork)
		set_cork(transfer->socket, 0);
	/* The end of the file is on its way: let other tasks run. */
	if (r == 0)
		eddy_yield();
	return r;
}

/* ---- to a file ---- */

/* Pull once, not cancelled between the socket and the file. Never waits for the peer. */
static ssize_t pull_whole(struct eddy_transfer *transfer, const struct eddyi_technique_in *how,
			  struct eddyi_writer *writer, size_t len)
{
	struct eddy_scope shield;
	ssize_t r;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	r = how->pull(transfer, writer, len);
	eddy_scope_end(&shield);
	return r;
}

int eddy_transfer_to_file(struct eddy_transfer *transfer)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();
	const struct eddyi_technique_in *how = eddyi_technique_in(
		transfer->technique ? transfer->technique : options->technique_in);
	struct eddyi_writer writer = { 0 };

	transfer->moved = 0;
	if (!how)
		return -EINVAL;
	if (eddy_is_cancelled())
		return -ECANCELED;
	writer.by_ring = writer.always = how->by_ring;
	writer.never = !how->by_ring &&
		       coldness_of(transfer->file, transfer->device) == ALWAYS_WARM;
	while (transfer->moved < transfer->len) {
		uint64_t left = transfer->len - transfer->moved;
		ssize_t r = pull_whole(transfer, how, &writer,
				       left < options->turn_max ? (size_t)left : options->turn_max);

		if (r == -EAGAIN || r == -EINTR)
			r = await_peer(transfer, POLLIN);
		else if (r > 0 && transfer->moved < transfer->len)
			r = eddy_yield();
		if (r < 0)
			return (int)r;
	}
	return 0;
}

/* ---- between sockets ---- */

/* Invariants:
 * 1. A relay that waits for bytes holds no pipe.
 * 2. A relay that waits for space holds a pipe if fewer than .pipes_held_max are held. Otherwise it
 *    copies the bytes out and returns the pipe first: a user may own 64 MiB of pipes, which slow
 *    readers must not exhaust.
 * 3. A pipe returns to the pool empty, or is closed.
 */

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
