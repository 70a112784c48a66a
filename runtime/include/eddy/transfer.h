/* eddy/transfer.h: move whole files to and from sockets, and from socket to socket, without copying
 * their bytes through the program. Options of transfers are in eddy/technique.h.
 *
 *     r = eddy_transfer_to_socket(&(struct eddy_transfer){
 *             .socket = fd, .file = file, .len = size, .head = head });
 *
 * By default eddy calls splice(2) through a pipe, on the loop's thread, which does not block: full
 * and empty sockets are awaited in io_uring, data outside the page cache is read in by io_uring
 * first, and kernel workers write to a slow disk. A transfer that waits for its peer occupies no
 * thread and no pipe. The exception is eddy_transfer_between() while the receiving socket is full.
 */
#ifndef EDDY_TRANSFER_H
#define EDDY_TRANSFER_H

#include <eddy/str.h>
#include <eddy/technique.h>
#include <eddy/timer.h>

EDDY_BEGIN_DECLS

/* The part of a file that was in the page cache, and the turn of the loop (a round of tasks and
 * completions) that found it there. Keep one beside each open file that a loop sends repeatedly,
 * set to zero at first. */
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
	struct eddy_timeout *progress; /* restarted whenever bytes moved; default none */
	enum eddy_technique technique; /* default: that of eddy_transfer_configure() */
	/* The file's st_dev, which saves a system call. Default 0: unknown. */
	uint64_t device;
	/* Shared by the loop's transfers of this file, so that the page cache is asked only once a
	 * turn. Default none: each transfer asks. */
	struct eddy_warmth *warmth;
	uint64_t moved; /* result: bytes of the file moved so far */
};

/* Send `head` and then `len` bytes of the file. Suspends. After an error, `moved` is the number of
 * the file's bytes that the socket has taken; it may have taken a part of the head.
 * Return: 0 when the kernel has all of it; -ENODATA if the file ended first; -EPIPE, -ECONNRESET,
 * -ECANCELED, -EIO; -EINVAL if the technique is for the other direction. */
EDDY_API int eddy_transfer_to_socket(struct eddy_transfer *transfer);

/* Receive exactly `len` bytes into the file. Suspends. `moved` is the number of bytes written to
 * it. Cancellation takes effect between pieces of at most .turn_max bytes (eddy/technique.h): a
 * piece taken from the socket is written first, so that exactly `moved` bytes were taken. If
 * writing a piece fails, its rest is lost.
 * Return: 0; -ENODATA if the peer ended first; -ENOSPC, -EDQUOT, -EFBIG, -ECONNRESET, -ECANCELED,
 * -EIO; -EINVAL if the technique is for the other direction. */
EDDY_API int eddy_transfer_to_file(struct eddy_transfer *transfer);

/* A relay from one socket to another: one direction of a proxy. */
struct eddy_relay {
	int from; /* non-blocking stream sockets */
	int to;
	struct eddy_timeout *progress; /* restarted whenever bytes moved; default none */
	uint64_t moved;                /* result: bytes that `to` has taken so far */
};

/* Move what `from` receives to `to`, until the stream of `from` ends. Suspends. To pass the end on,
 * shut `to` down afterwards. While `to` is full, up to 256 KiB are in transit: in a pipe, or in
 * allocated memory if .pipes_held_max waiting transfers of this loop hold pipes (eddy/technique.h).
 * Return: 0 when the stream has ended and the kernel has all of it; -EPIPE, -ECONNRESET,
 * -ETIMEDOUT, -ECANCELED, -ENOMEM, -EMFILE. After an error, bytes in transit are lost. */
EDDY_API int eddy_transfer_between(struct eddy_relay *relay);

/* Write received bytes to a file, like eddy_write_all(). Suspends. On a RAM file system, buffers of
 * at most 1 MiB are written directly, without a kernel worker. The bytes count as `copied_in`.
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
	uint64_t dontcache_out;
	uint64_t mapped_out;
	uint64_t zc_out;
	uint64_t zc_copied;  /* part of zc_out that the kernel copied, as over loopback */
	uint64_t copied_out; /* read into memory, such as small files */
	/* From sockets to files. */
	uint64_t spliced_in;
	uint64_t written_by_ring; /* part of spliced_in, by kernel workers, to a slow disk */
	uint64_t ring_spliced_in;
	uint64_t received_in; /* by EDDY_TECHNIQUE_RECV_WRITE */
	uint64_t copied_in;   /* written from memory: eddy_transfer_write() */
	/* From sockets to sockets. */
	uint64_t spliced_between; /* through a pipe all the way */
	uint64_t copied_between;  /* through memory */
	/* Of all transfers. */
	uint64_t warmed; /* bytes of files first read into the page cache */
	uint64_t stalls; /* times that a peer was awaited */
};

/* Read the counters of this loop's transfers. */
EDDY_API struct eddy_transfer_stats eddy_transfer_stats(void);

EDDY_END_DECLS

#endif
