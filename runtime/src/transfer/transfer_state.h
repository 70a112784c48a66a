/* transfer_state.h: a transfer while it goes on, and how it goes: one row of a table for each technique and direction. */
#ifndef EDDYI_TRANSFER_STATE_H
#define EDDYI_TRANSFER_STATE_H

#include <eddy/technique.h>
#include <eddy/timer.h>
#include <eddy/transfer.h>

struct eddyi_zc;

/* A transfer to a socket while it goes on. */
struct eddyi_sending {
	struct eddy_transfer *transfer;
	struct eddyi_zc *zc; /* what SEND_ZC has under way; NULL where it is not used */
	bool full;           /* set by `push`: the socket would take no more */
};

struct eddyi_technique_out {
	/* Move up to `len` bytes from `offset` to the socket, count them, and hold nothing that the peer could
	 * keep. Return: bytes; 0 with `full`, when it takes none; -ENODATA at the end of the file; -errno. */
	ssize_t (*push)(struct eddyi_sending *sending, uint64_t offset, size_t len);
	/* Wait until the kernel has let go of what was sent; `r` is what came of it. NULL: it has, always.
	 * Return: `r`, or an error. */
	int (*settle)(struct eddyi_sending *sending, int r);
	bool waits_for_disk; /* if the piece is not in the page cache: on the loop's thread */
	bool no_cork;        /* what is held back would be waited for */
};

/* How this transfer writes. */
struct eddyi_writer {
	bool by_ring;   /* by the kernel's workers */
	bool always;    /* by them, whatever it takes */
	bool never;     /* there is no disk: who takes long was pushed aside */
	unsigned quick; /* quick writes in a row */
	uint64_t heard; /* the last slow write of any transfer of this loop that this one knows of */
};

struct eddyi_technique_in {
	/* Move up to `len` bytes to the file, as many as the socket has, count them and say so in the transfer.
	 * Return: above 0: bytes; -EAGAIN: the socket is empty; -ENODATA: the peer has ended; -errno. */
	ssize_t (*pull)(struct eddy_transfer *transfer, struct eddyi_writer *writer, size_t len);
	bool by_ring;
};

/* Its row; NULL for one that does not go in that direction. */
const struct eddyi_technique_out *eddyi_technique_out(enum eddy_technique technique);
const struct eddyi_technique_in *eddyi_technique_in(enum eddy_technique technique);

/* The row of SEND_ZC. */
extern const struct eddyi_technique_out eddyi_send_zc;

/* `push` of two that others fall back on: SEND_ZC on a mapping, and all on a copy. */
ssize_t eddyi_push_mapped(struct eddyi_sending *sending, uint64_t offset, size_t len);
ssize_t eddyi_push_read(struct eddyi_sending *sending, uint64_t offset, size_t len);

/* What one call has brought to the socket, of `wanted` bytes; counted in `counter`. `r` as of send(2), with its errno. */
ssize_t eddyi_push_taken(struct eddyi_sending *sending, ssize_t r, size_t wanted,
			 uint64_t *counter);

/* A piece of a file in memory. */
struct eddyi_mapping {
	void *at;
	size_t size;
	const char *bytes; /* the piece */
	size_t len;        /* less than asked where the file ends */
};

/* Map up to `len` bytes from `offset`. Return: 0; -ENODATA at the end of the file; -errno. */
int eddyi_map(int file, uint64_t offset, size_t len, struct eddyi_mapping *ret_mapping);

/* Memory that all transfers of the loop share: nothing that it holds outlives a suspend. NULL where memory is
 * out. */
#define EDDYI_COPY_SIZE ((size_t)(256 * EDDY_KIB))
char *eddyi_copy_buffer(void);

/* Bytes of the transfer have moved. */
static inline void eddyi_transfer_progressed(struct eddy_transfer *transfer, size_t bytes)
{
	transfer->moved += bytes;
	if (transfer->progress)
		eddy_timeout_touch(transfer->progress);
}

/* All defaults; or those of what is not set. */
void eddyi_transfer_options_init(struct eddy_transfer_options *options);
void eddyi_transfer_options_fill_in(struct eddy_transfer_options *filled);

#endif
