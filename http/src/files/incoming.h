/* incoming.h: a file being received, unnamed in its folder until it is complete.
 *
 * Unnamed is O_TMPFILE. If the file system lacks it, or the file can't be named later, neither by
 * its descriptor nor through /proc, it has a hidden name: `.eddy-` and sixteen random hexadecimal
 * digits. Such files are locked (flock(2)) while in use, unlike leftovers. */
#ifndef EDDYI_INCOMING_H
#define EDDYI_INCOMING_H

#include "exchange/stream.h"

#define EDDYI_HIDDEN_PREFIX ".eddy-"
#define EDDYI_HIDDEN_SIZE (sizeof(EDDYI_HIDDEN_PREFIX) + 16)
/* Room also for the names of partial.h. */
#define EDDYI_HIDDEN_MAX 40

/* The file that already has the name. */
struct eddyi_incoming_look {
	const char *name; /* NULL: not yet checked */
	bool is_taken;
	bool is_quick; /* taking the name, and freeing the old file, takes no time */
};

struct eddyi_incoming {
	int dir;        /* that it is published in */
	int hidden_dir; /* that it is hidden in */
	int fd;
	struct eddyi_party *party; /* counted for it; NULL: not counted */
	uint64_t began;            /* `written` at the begin */
	uint64_t written;
	uint64_t reserved; /* disk space is allocated up to here */
	uint64_t max;      /* limit in bytes */
	bool can_reserve;
	bool in_memory; /* no disk: names are changed on the loop's thread */
	bool published;
	struct eddyi_incoming_look seen;
	char hidden[EDDYI_HIDDEN_MAX]; /* its temporary name; empty: none */
	/* Called with `written` after some of a body has been received; NULL: nothing is. */
	void (*tell)(void *arg, uint64_t written);
	void *tell_arg;
};

/* Create the file in the folder `dir`, for `party`, or NULL. `expected` is the size, 0 if unknown.
 * `soon` is the name that the file gets at once, if its content has arrived; else NULL. Without
 * descriptors the loop closes files that it keeps open. Suspends.
 * Return: 0; -ENOSPC if the disk has less free space than `expected`; -errno. */
int eddyi_incoming_open(struct eddyi_incoming *incoming, int dir, struct eddyi_party *party,
			uint64_t expected, uint64_t max, const char *soon);

/* Go on with a file of `size` bytes, which the caller owns; only receiving and renaming are
 * possible. */
void eddyi_incoming_continue(struct eddyi_incoming *incoming, int fd, uint64_t size, uint64_t max);

/* Close the file, and discard it unless it is published. Suspends, and is not cancelled. */
void eddyi_incoming_close(struct eddyi_incoming *incoming);

/* Append bytes. Suspends. Return: 0, -EFBIG beyond the limit, -ENOSPC, -errno. */
int eddyi_incoming_write(struct eddyi_incoming *incoming, const void *buf, size_t len);

/* Append the rest of a body. Suspends. Return: 0, -errno. */
int eddyi_incoming_receive_body(struct eddyi_incoming *incoming, struct eddy_req *req);

/* Write the file to disk (fdatasync). Suspends. */
int eddyi_incoming_sync(struct eddyi_incoming *incoming);

/* Give the file its name. Suspends.
 * Return: 0; -EEXIST if `no_replace` and the name is taken, or if a folder has it; -errno. */
int eddyi_incoming_publish(struct eddyi_incoming *incoming, const char *name, bool no_replace,
			   bool *ret_replaced);

/* Publish several files together: first hide each, then rename each. */
int eddyi_incoming_hide(struct eddyi_incoming *incoming);
int eddyi_incoming_rename(struct eddyi_incoming *incoming, const char *name, bool no_replace,
			  bool *ret_replaced);

#endif
