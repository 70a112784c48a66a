/* eddy/technique.h: the ways in which bytes move between files and sockets, and where one ends and
 * another begins.
 *
 *     eddy_transfer_configure(&(struct eddy_transfer_options){
 *             .technique = EDDY_TECHNIQUE_SENDFILE, .pipes_kept = 32 });
 *
 * Leave it alone unless you measure: the defaults are what was quickest (docs/decisions/0027 and 0030), and
 * a technique is here to be compared with them. Each is whole: cancelled or failed, a call returns only
 * when the kernel has let go of everything, and a file that ends early is -ENODATA.
 */
#ifndef EDDY_TECHNIQUE_H
#define EDDY_TECHNIQUE_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Where it says "warmed", data that is not in the page cache is read in through the ring before, so that the
 * loop does not wait for a disk unless a page is pushed out again at that very moment. Nothing is kept while
 * a peer does not read or send, but where it says so. */
enum eddy_technique {
	/* To sockets: small bodies from memory behind their head, middle ones as _SENDFILE, others as _SPLICE. To
	 * files: as _SPLICE, and small bodies through memory. */
	EDDY_TECHNIQUE_AUTO,
	/* splice(2) through a pooled pipe, on the loop's thread; warmed. Files that are slow to write are
	 * written by the kernel's workers. As _READ_SEND or _RECV_WRITE where no pipe can be had, as when
	 * descriptors have run out. */
	EDDY_TECHNIQUE_SPLICE,
	/* The same two splices as entries of the ring, each of which a worker of the kernel's does: it waits
	 * for the disk, never for the peer. Past .pipes_held_max at a time, as _SPLICE or _RECV_WRITE. */
	EDDY_TECHNIQUE_RING_SPLICE,
	/* To sockets only: sendfile(2) on the loop's thread; warmed. */
	EDDY_TECHNIQUE_SENDFILE,
	/* To sockets only: pread(2) and send(2) through 256 KiB of memory that the loop's transfers share;
	 * warmed. */
	EDDY_TECHNIQUE_READ_SEND,
	/* To sockets only: send(2) from a mapping of the file; warmed. Bytes that the file loses meanwhile may
	 * leave as zeros, to the end of a page. */
	EDDY_TECHNIQUE_MMAP,
	/* To sockets only: SEND_ZC from a mapping of the file; warmed. The kernel pins the pages until the
	 * peer has acknowledged them, and until then the call does not return: that may take a peer 40 ms, and
	 * one that stalls keeps up to four pieces mapped. Cancelled, it resets the connection, which is what
	 * makes the kernel let go. As _MMAP where the socket can't, or no more memory may be locked. */
	EDDY_TECHNIQUE_SEND_ZC,
	/* To files only: recv(2) and pwrite(2) through that memory; a disk that is slow is written through
	 * the ring, from 64 KiB of memory for each transfer that does. */
	EDDY_TECHNIQUE_RECV_WRITE,
};

#define EDDY_TECHNIQUES 8

/* Its name: "auto", "splice", "ring-splice", "sendfile", "read-send", "mmap", "send-zc", "recv-write". */
EDDY_API const char *eddy_technique_name(enum eddy_technique technique);

/* The technique of that name. Return: 0, -EINVAL. */
EDDY_API int eddy_technique_parse(struct eddy_str name, enum eddy_technique *ret_technique);

/* Every field: 0 means its default. */
struct eddy_transfer_options {
	enum eddy_technique technique;    /* of files to sockets */
	enum eddy_technique technique_in; /* of sockets to files */

	/* Bytes of a file up to which its bytes are read into memory behind the head and both are sent at once,
	 * by _AUTO; default 8 KiB, at most 1 MiB. A pipe takes three system calls more; from there on the copies
	 * cost more than they do. */
	size_t copied_out_max;
	/* Bytes of a file up to which it leaves as by _SENDFILE, by _AUTO; default 64 KiB, which is what the pipe
	 * that sendfile(2) itself has holds at once: a system call less, while beyond a large pipe is quicker. */
	size_t sendfile_out_max;
	/* Bytes of an upload from which on it is spliced, by _AUTO; default 64 KiB. */
	size_t spliced_in_min;
	/* Bytes of a file from which on the socket is corked meanwhile; default 256 KiB and one. Full segments
	 * are worth up to 25 % of the time of a body of many turns and 5 % of one of 1 MiB, and two system calls. */
	size_t corked_min;

	size_t turn_max; /* bytes that one transfer moves before others have their turn; default 1 MiB, which
	                    is the most, and 4 KiB the least */

	size_t pipe_size; /* bytes; default 1 MiB; 4 KiB to 1 GiB; less where the kernel refuses (EPERM past
	                     /proc/sys/fs/pipe-max-size, or pipe-user-pages-soft for all of the user's) */
	unsigned pipes_kept; /* empty ones that wait to be used again; default 8, at most 1024. Nearly all
	                        transfers give theirs back before they suspend: few are used at once. */
	unsigned pipes_held_max; /* by transfers that suspend; default 32, at most 1024. A user without
	                            privilege has 64 MiB of pipes. */

	bool no_warming; /* splice what is cold as well, and let the loop wait for the disk; default: warm */
	uint64_t slow_write_ns; /* a write that takes longer is a disk's: the kernel's workers do the next ones;
	                           default 2 ms */
};

/* Whether they can be had. Any thread. Return: 0; -EINVAL. */
EDDY_API int eddy_transfer_options_check(const struct eddy_transfer_options *options);

/* Let the transfers of this loop go so from here on; NULL is all defaults. Those that are under way may go on
 * as they began. Never suspends. Return: 0; -EINVAL, and nothing has changed. */
EDDY_API int eddy_transfer_configure(const struct eddy_transfer_options *options);

/* Those of this loop, the defaults filled in. */
EDDY_API const struct eddy_transfer_options *eddy_transfer_options(void);

/* Whether `len` bytes of a file had better go from memory, behind their head: see .copied_out_max. */
EDDY_API bool eddy_transfer_copies_out(uint64_t len);

/* Whether `len` bytes that are to come had better go through memory: see .spliced_in_min. */
EDDY_API bool eddy_transfer_copies_in(uint64_t len);

EDDY_END_DECLS

#endif
