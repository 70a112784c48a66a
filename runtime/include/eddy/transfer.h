/* eddy/transfer.h: whole files to and from sockets, and what one socket receives to another, without
 * the bytes passing through the program. Other ways than its own, and its limits, are in eddy/technique.h.
 *
 *     r = eddy_transfer_to_socket(&(struct eddy_transfer){
 *             .socket = fd, .file = file, .len = size, .head = head });
 *
 * The kernel moves page references: a file leaves through a pipe by splice(2), an upload comes in
 * the same way. Both run on the loop's own thread and never block it: a full or empty socket is
 * awaited on the ring, data that is not in the page cache is read in through the ring first, and a
 * slow disk is written by the kernel's workers. A transfer that waits for its peer holds no pipe
 * and no thread; only one between sockets has to keep what it took from the first while the other is
 * full.
 */
#ifndef EDDY_TRANSFER_H
#define EDDY_TRANSFER_H

#include <eddy/str.h>
#include <eddy/technique.h>
#include <eddy/timer.h>

EDDY_BEGIN_DECLS

/* What a loop knows of a file that it sends again and again: which piece was in the page cache, and when. All zeros:
 * nothing. Kept by who keeps the file open, for one loop. */
struct eddy_warmth {
	uint64_t offset;
	uint64_t end;
	uint64_t turn;
};

struct eddy_transfer {
	int socket;           /* a non-blocking stream socket */
	int file;             /* a regular file */
	uint64_t offset;      /* where in the file */
	uint64_t len;         /* bytes to move */
	struct eddy_str head; /* to the socket only: sent in front, sharing its first segment */
	struct eddy_timeout *progress; /* touched whenever bytes moved; default none */
	enum eddy_technique technique; /* default: the loop's, of eddy_transfer_configure() */
	/* The file's st_dev, where somebody has looked: how to ask whether it is cached goes by it; default 0: the
	 * file system is asked each time. */
	uint64_t device;
	/* Of this very file: whether a piece is cached is asked once in a turn of the loop, for all that send it; default
	 * none: each asks. */
	struct eddy_warmth *warmth;
	uint64_t moved; /* set: bytes of the file that have been moved so far */
};

/* Send `head` and then `len` bytes of the file. Suspends.
 * Return: 0 when all of it is with the kernel; -ENODATA when the file ended first; -EPIPE,
 * -ECONNRESET, -ECANCELED, -EIO; -EINVAL for a technique that goes in the other direction. After an error
 * `moved` says how many bytes of the file the socket has taken; of the head it may have taken a part. */
EDDY_API int eddy_transfer_to_socket(struct eddy_transfer *transfer);

/* Receive exactly `len` bytes into the file. Suspends. `moved` says how many bytes the file got. Cancellation is
 * noticed between two pieces of at most .turn_max bytes: a piece that was taken off the socket is written to the
 * file first, so that `moved` bytes were taken as well. When the file refuses a piece, the rest of that piece is
 * lost.
 * Return: 0; -ENODATA when the peer ended first; -ENOSPC, -EDQUOT, -EFBIG, -ECONNRESET, -ECANCELED,
 * -EIO; -EINVAL as above. */
EDDY_API int eddy_transfer_to_file(struct eddy_transfer *transfer);

/* From one socket to another: one direction of a proxy. */
struct eddy_relay {
	int from; /* non-blocking stream sockets */
	int to;
	struct eddy_timeout *progress; /* touched whenever bytes moved; default none */
	uint64_t moved;                /* set: bytes that `to` has taken so far */
};

/* Move what `from` receives to `to`, until its stream ends; to let the end pass on as well, shut `to`
 * down afterwards. Suspends. While `to` is full, up to 256 KiB are on the way: in a pipe, or, for those
 * beyond the 32nd of this loop, in a buffer.
 * Return: 0 when the stream has ended and all of it is with the kernel; -EPIPE, -ECONNRESET,
 * -ETIMEDOUT, -ECANCELED, -ENOMEM, -EMFILE. After an error what was on the way is lost. */
EDDY_API int eddy_transfer_between(struct eddy_relay *relay);

/* Read exactly `len` bytes of a file into memory, to be sent from there: what is too small to gain by a pipe, or
 * is encoded first. From the page cache at once, else through the ring. Suspends.
 * Return: 0; -ENODATA when the file ends first; -EIO, -ECANCELED. */
EDDY_API int eddy_transfer_read(int file, void *buf, size_t len, uint64_t offset);

/* Write all of what was received into memory to a file. Suspends.
 * Return: 0; -ENOSPC, -EDQUOT, -EFBIG, -ECANCELED, -EIO: a part may have been written. */
EDDY_API int eddy_transfer_write(int file, const void *buf, size_t len, uint64_t offset);

/* What the transfers of this loop have done, ever: bytes by the technique that moved them, which where one
 * can't is another than was asked for. All are uint64_t. */
struct eddy_transfer_stats {
	/* From files to sockets. */
	uint64_t spliced_out;
	uint64_t ring_spliced_out;
	uint64_t sendfile_out;
	uint64_t read_sent_out;
	uint64_t mapped_out;
	uint64_t zc_out;
	uint64_t zc_copied; /* those of zc_out that the kernel copied all the same, as it does over the loopback */
	uint64_t copied_out; /* read into memory: eddy_transfer_read() */
	/* From sockets to files. */
	uint64_t spliced_in;
	uint64_t written_by_ring; /* those of spliced_in that the kernel's workers wrote, as the disk was slow */
	uint64_t ring_spliced_in;
	uint64_t received_in; /* by EDDY_TECHNIQUE_RECV_WRITE */
	uint64_t copied_in;   /* written from memory: eddy_transfer_write() */
	/* From sockets to sockets. */
	uint64_t spliced_between; /* through a pipe all the way */
	uint64_t copied_between;  /* through a buffer */
	uint64_t warmed;          /* bytes of files that were read in first */
	uint64_t stalls;          /* times a peer was awaited */
};

/* Read this loop's counts. */
EDDY_API struct eddy_transfer_stats eddy_transfer_stats(void);

EDDY_END_DECLS

#endif
