/* eddy/transfer.h: move whole files to and from sockets, and from socket to socket, without copying
 * their bytes through the program. eddy/technique.h has its options.
 *
 *     r = eddy_transfer_to_socket(&(struct eddy_transfer){
 *             .socket = fd, .file = file, .len = size, .head = head });
 *
 * The kernel moves references to pages through a pipe, by splice(2), on the loop's own thread,
 * which never blocks: a full or empty socket is awaited on the ring, data outside the page cache is
 * first read in through the ring, and kernel workers write to a slow disk. A transfer that waits
 * for its peer holds no pipe and no thread, except that one between sockets keeps the bytes it has
 * taken while the other socket is full.
 */
#ifndef EDDY_TRANSFER_H
#define EDDY_TRANSFER_H

#include <eddy/str.h>
#include <eddy/technique.h>
#include <eddy/timer.h>

EDDY_BEGIN_DECLS

/* What a loop knows of a file that it sends repeatedly: which piece was in the page cache, and
 * when. Zero it first. The owner of the open file keeps it, for one loop. */
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
	struct eddy_str head; /* to sockets only: sent before the file, in the same segment */
	struct eddy_timeout *progress; /* touched whenever bytes moved; default none */
	enum eddy_technique technique; /* default: that of eddy_transfer_configure() */
	/* The file's st_dev, if known: it decides how to ask whether the file is cached. Default 0:
	 * ask the file system each time. */
	uint64_t device;
	/* Of this file: ask once in a turn of the loop, for all transfers, whether a piece is
	 * cached. Default none: each asks. */
	struct eddy_warmth *warmth;
	uint64_t moved; /* set: bytes of the file moved so far */
};

/* Send `head` and then `len` bytes of the file. Suspends. After an error, `moved` is the number of
 * the file's bytes that the socket has taken; it may have taken a part of the head.
 * Return: 0 when the kernel has all of it; -ENODATA if the file ended first; -EPIPE, -ECONNRESET,
 * -ECANCELED, -EIO; -EINVAL if the technique is for the other direction. */
EDDY_API int eddy_transfer_to_socket(struct eddy_transfer *transfer);

/* Receive exactly `len` bytes into the file. Suspends. `moved` is the number of bytes written to
 * it. Cancellation takes effect between pieces of at most .turn_max bytes: a piece taken from the
 * socket is written first, so that exactly `moved` bytes were taken. If writing a piece fails,
 * its rest is lost.
 * Return: 0; -ENODATA if the peer ended first; -ENOSPC, -EDQUOT, -EFBIG, -ECONNRESET, -ECANCELED,
 * -EIO; -EINVAL if the technique is for the other direction. */
EDDY_API int eddy_transfer_to_file(struct eddy_transfer *transfer);

/* A relay from one socket to another: one direction of a proxy. */
struct eddy_relay {
	int from; /* non-blocking stream sockets */
	int to;
	struct eddy_timeout *progress; /* touched whenever bytes moved; default none */
	uint64_t moved;                /* set: bytes that `to` has taken so far */
};

/* Move what `from` receives to `to`, until the stream of `from` ends. Suspends. To pass the end on,
 * shut `to` down afterwards. While `to` is full, up to 256 KiB are in transit, in a pipe; beyond
 * .pipes_held_max (32) of this loop, in a buffer.
 * Return: 0 when the stream has ended and the kernel has all of it; -EPIPE, -ECONNRESET,
 * -ETIMEDOUT, -ECANCELED, -ENOMEM, -EMFILE. After an error, bytes in transit are lost. */
EDDY_API int eddy_transfer_between(struct eddy_relay *relay);

/* Write received bytes from memory to a file. Suspends.
 * Return: 0; -ENOSPC, -EDQUOT, -EFBIG, -ECANCELED, -EIO. A part may have been written. */
EDDY_API int eddy_transfer_write(int file, const void *buf, size_t len, uint64_t offset);

/* Bytes moved by this loop's transfers, by the technique that moved them, which may differ from the
 * one asked for. All fields are uint64_t. */
struct eddy_transfer_stats {
	/* From files to sockets. */
	uint64_t spliced_out;
	uint64_t ring_spliced_out;
	uint64_t sendfile_out;
	uint64_t read_sent_out;
	uint64_t mapped_out;
	uint64_t zc_out;
	uint64_t zc_copied;  /* part of zc_out that the kernel copied, as over loopback */
	uint64_t copied_out; /* read into memory: eddyi_transfer_read() */
	/* From sockets to files. */
	uint64_t spliced_in;
	uint64_t written_by_ring; /* part of spliced_in, by kernel workers, to a slow disk */
	uint64_t ring_spliced_in;
	uint64_t received_in; /* by EDDY_TECHNIQUE_RECV_WRITE */
	uint64_t copied_in;   /* written from memory: eddy_transfer_write() */
	/* From sockets to sockets. */
	uint64_t spliced_between; /* through a pipe all the way */
	uint64_t copied_between;  /* through a buffer */
	uint64_t warmed;          /* bytes of files first read into the page cache */
	uint64_t stalls;          /* times that a peer was awaited */
};

/* Read the counters of this loop's transfers. */
EDDY_API struct eddy_transfer_stats eddy_transfer_stats(void);

EDDY_END_DECLS

#endif
