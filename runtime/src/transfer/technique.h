/* technique.h: the table of techniques for each direction, and the state of a transfer. */
#ifndef EDDYI_TECHNIQUE_H
#define EDDYI_TECHNIQUE_H

#include <eddy/technique.h>
#include <eddy/timer.h>
#include <eddy/transfer.h>

struct eddyi_zc;
struct eddyi_unsent;

/* State of a transfer to a socket. */
struct eddyi_sending {
	struct eddy_transfer *transfer;
	struct eddyi_zc *zc;         /* sends of SEND_ZC in progress; NULL if it is not used */
	struct eddyi_unsent *unsent; /* what DONTCACHE has read; NULL if it is not used */
	bool full;                   /* set by `push`: the socket accepts no more */
};

struct eddyi_technique_out {
	/* Move up to `len` bytes from `offset` to the socket and count them. Must not hold anything
	 * that depends on the peer, unless its technique says so. Return: bytes; 0 with `full` if
	 * it accepts none; -ENODATA at the end of the file; -EOPNOTSUPP if SPLICE is to do it;
	 * -errno. */
	ssize_t (*push)(struct eddyi_sending *sending, uint64_t offset, size_t len);
	/* Free what the transfer holds, and wait until the kernel no longer uses sent memory. `r`
	 * is the transfer's result. NULL if there is nothing to do. Return: `r`, or an error. */
	int (*settle)(struct eddyi_sending *sending, int r);
	/* Used instead for the rest of the transfer, if `push` returns -EOPNOTSUPP, or if
	 * `waits_for_disk` and the file is too large for the page cache. NULL: none. */
	const struct eddyi_technique_out *otherwise;
	bool waits_for_disk; /* blocks the loop's thread on pages that are not cached */
	bool no_cork;        /* corked bytes would be waited for */
};

/* How a transfer writes to its file. */
struct eddyi_writer {
	bool by_ring;   /* kernel workers write */
	bool always;    /* workers always write, however quick */
	bool never;     /* there is no disk: a slow write was merely preempted */
	unsigned quick; /* quick writes in a row */
	uint64_t heard; /* time of the loop's last slow write that this transfer has seen */
};

struct eddyi_technique_in {
	/* Move up to `len` available bytes to the file, count them and report progress. Return:
	 * above 0: bytes; -EAGAIN: the socket is empty; -ENODATA: the peer has ended; -errno. */
	ssize_t (*pull)(struct eddy_transfer *transfer, struct eddyi_writer *writer, size_t len);
	bool by_ring;
};

/* Get a technique's row; NULL if it does not support this direction. */
const struct eddyi_technique_out *eddyi_technique_out(enum eddy_technique technique);
const struct eddyi_technique_in *eddyi_technique_in(enum eddy_technique technique);

static inline void eddyi_transfer_progressed(struct eddy_transfer *transfer, size_t bytes)
{
	transfer->moved += bytes;
	if (transfer->progress)
		eddy_timeout_touch(transfer->progress);
}

/* Set all options to their defaults. */
void eddyi_transfer_options_init(struct eddy_transfer_options *options);

#endif
