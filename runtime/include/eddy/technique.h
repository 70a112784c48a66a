/* eddy/technique.h: the ways to move bytes between files and sockets, and the limits between them.
 *
 *     eddy_transfer_configure(&(struct eddy_transfer_options){
 *             .technique = EDDY_TECHNIQUE_SENDFILE, .pipes_kept = 32 });
 *
 * Keep the defaults unless you measure: they were the fastest (docs/decisions/0027, 0030, 0052).
 * Other techniques are for comparison. With each, a call returns only when the kernel no longer
 * uses its arguments, even if it failed or was cancelled, and returns -ENODATA if a file ends
 * early.
 */
#ifndef EDDY_TECHNIQUE_H
#define EDDY_TECHNIQUE_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* "Warmed" means that data outside the page cache is first read in through the ring, so that the
 * loop does not wait for a disk unless a page is evicted at that very moment. Unless stated
 * otherwise, nothing is held while a peer does not read or send. */
enum eddy_technique {
	/* To sockets: small bodies are sent from memory with their head, medium ones like
	 * _SENDFILE, large ones like _SPLICE, and what is not cached of files that the page cache
	 * can't hold like _DONTCACHE. To files: like _SPLICE, small bodies through memory. */
	EDDY_TECHNIQUE_AUTO,
	/* splice(2) through a pooled pipe, on the loop's thread; warmed. Kernel workers write to
	 * slow files. Like _READ_SEND or _RECV_WRITE if no pipe can be opened. */
	EDDY_TECHNIQUE_SPLICE,
	/* The same two splices as io_uring operations, each made by a kernel worker, which waits
	 * for the disk, never for the peer. Beyond .pipes_held_max at a time, like _SPLICE or
	 * _RECV_WRITE. */
	EDDY_TECHNIQUE_RING_SPLICE,
	/* To sockets only: sendfile(2) on the loop's thread; warmed. */
	EDDY_TECHNIQUE_SENDFILE,
	/* To sockets only: pread(2) and send(2) through a buffer of 256 KiB that the loop's
	 * transfers share; warmed. */
	EDDY_TECHNIQUE_READ_SEND,
	/* To sockets only: send(2) from a mapping of the file; warmed. Bytes that the file loses
	 * meanwhile may be sent as zeros, to the end of a page. */
	EDDY_TECHNIQUE_MMAP,
	/* To sockets only: SEND_ZC from a mapping of the file; warmed. The call returns when the
	 * peer has acknowledged all, since the kernel pins the pages until then: a peer may take 40
	 * ms, and a stalled peer keeps up to four pieces mapped. Cancellation resets the
	 * connection, so that the kernel releases the pages. Like _MMAP if the socket does not
	 * support it, or no more memory may be locked. */
	EDDY_TECHNIQUE_SEND_ZC,
	/* To files only: recv(2) and pwrite(2) through the buffer of _READ_SEND. A slow disk is
	 * written through the ring, from 64 KiB of memory for each transfer. */
	EDDY_TECHNIQUE_RECV_WRITE,
	/* To sockets only: reads with RWF_DONTCACHE (Linux 6.14) through the ring, which leave
	 * nothing in the page cache that was not there but what the kernel has read ahead, and
	 * send(2). A transfer holds 2 MiB of memory until all is sent. Beyond .pipes_held_max at a
	 * time, and on file systems without the flag, like _SPLICE. */
	EDDY_TECHNIQUE_DONTCACHE,
};

#define EDDY_TECHNIQUES 9

/* Get the name of a technique: "auto", "splice", "ring-splice", "sendfile", "read-send", "mmap",
 * "send-zc", "recv-write" or "dontcache". */
EDDY_API const char *eddy_technique_name(enum eddy_technique technique);

/* Find a technique by its name. Return: 0; -EINVAL if there is none. */
EDDY_API int eddy_technique_parse(struct eddy_str name, enum eddy_technique *ret_technique);

/* A zero field takes its default. */
struct eddy_transfer_options {
	enum eddy_technique technique;    /* from files to sockets */
	enum eddy_technique technique_in; /* from sockets to files */

	/* Largest file, in bytes, that _AUTO reads into memory and sends with its head;
	 * default 8 KiB, at most 1 MiB. A pipe takes three more system calls; copying more
	 * costs more than these. */
	size_t copied_out_max;
	/* Largest file, in bytes, for which _AUTO uses _SENDFILE; default 64 KiB, the size of the
	 * pipe inside sendfile(2). It saves a system call; beyond, a large pipe is faster. */
	size_t sendfile_out_max;
	/* Smallest upload, in bytes, that _AUTO splices; default 64 KiB. */
	size_t spliced_in_min;
	/* Smallest file, in bytes, for which the socket is corked; default 256 KiB and one. Full
	 * segments save up to 25 % of the time of a body of many turns and 5 % of one of 1 MiB, and
	 * cost two system calls. */
	size_t corked_min;
	/* Bytes of the smallest file that _AUTO may send by _DONTCACHE: once a piece of it is not
	 * in the page cache, for the rest of the transfer. Default 0: half of the machine's memory,
	 * in an app at most half of its control group's; EDDY_NEVER: none. In the page cache such a
	 * file would displace all others. */
	uint64_t uncached_min;

	/* Bytes that one transfer moves before others may; 4 KiB to 1 MiB; default 1 MiB. */
	size_t turn_max;

	/* Bytes; default 1 MiB; 4 KiB to 1 GiB. Less if the kernel refuses (EPERM beyond
	 * /proc/sys/fs/pipe-max-size, or pipe-user-pages-soft for all of the user's pipes). */
	size_t pipe_size;
	/* Empty pipes kept for reuse; default 8, at most 1024. Few are in use at once: nearly all
	 * transfers release theirs before they suspend. */
	unsigned pipes_kept;
	/* Pipes held by transfers that suspend; default 32, at most 1024. An unprivileged user has
	 * 64 MiB of pipes. */
	unsigned pipes_held_max;

	bool no_warming; /* splice cold data, and let the loop wait for the disk; default: warm */
	/* If a write takes longer, kernel workers make the next writes; default 2 ms. */
	uint64_t slow_write_ns;
};

/* Check whether options are valid. Any thread may call it. Return: 0; -EINVAL. */
EDDY_API int eddy_transfer_options_check(const struct eddy_transfer_options *options);

/* Set the options of this loop's transfers; NULL takes all defaults. Never suspends. Transfers in
 * progress may go on as they began. Return: 0; -EINVAL, and nothing has changed. */
EDDY_API int eddy_transfer_configure(const struct eddy_transfer_options *options);

/* Get the transfer options of this loop, with the defaults filled in, but for .uncached_min. */
EDDY_API const struct eddy_transfer_options *eddy_transfer_options(void);

EDDY_END_DECLS

#endif
