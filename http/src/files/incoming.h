/* incoming.h: a file that is arriving: unnamed in its folder until all of it is there.
 *
 * Unnamed is O_TMPFILE; where the file system has none, or there is neither a kernel that names a descriptor nor a
 * /proc to name it through, a hidden name. Hidden names are `.eddy-` and sixteen random hexadecimal digits; their files are held
 * locked (flock(2)) while somebody works on them, which tells litter from work.
 */
#ifndef EDDYI_INCOMING_H
#define EDDYI_INCOMING_H

#include <eddy/str.h>

#define EDDYI_HIDDEN_PREFIX ".eddy-"
#define EDDYI_HIDDEN_SIZE (sizeof(EDDYI_HIDDEN_PREFIX) + 16)

struct eddyi_party;
struct eddyi_wire;
struct eddyi_body;

/* The file that has the name already, if there is one. */
struct eddyi_incoming_look {
	const char *name; /* NULL: nobody has looked */
	bool is_taken;
	bool is_quick; /* to give the file this name, and to free what has it */
};

struct eddyi_incoming {
	int dir;
	int fd;
	struct eddyi_party *party; /* whom it is from; NULL: nobody counts it */
	uint64_t written;
	uint64_t reserved; /* the file has disk space up to here */
	uint64_t max;      /* bytes */
	bool can_reserve;
	bool in_memory; /* the file system has no disk: names are given on the loop's thread */
	bool published;
	struct eddyi_incoming_look seen;
	char hidden[EDDYI_HIDDEN_SIZE]; /* its name for now; empty when it has none */
};

/* Create the file in the folder `dir`, for `party`, or NULL. `expected` is how much is to come, 0 when nobody knows.
 * `soon` is the name that it is going to get at once, as all that is to come is here; NULL: it takes longer, or the name is not known. Where descriptors have run out, the loop closes files that it keeps open. Suspends. Return: 0; -ENOSPC when the disk has
 * less room than `expected`; -errno. */
int eddyi_incoming_open(struct eddyi_incoming *incoming, int dir, struct eddyi_party *party,
			uint64_t expected, uint64_t max, const char *soon);

/* Throw the file away, unless it has been published. Suspends, and is not cancelled. */
void eddyi_incoming_close(struct eddyi_incoming *incoming);

/* Append bytes. Suspends. Return: 0, -EFBIG past the limit, -ENOSPC, -errno. */
int eddyi_incoming_write(struct eddyi_incoming *incoming, const void *buf, size_t len);

/* Append all that is left of a body. Suspends. Return: 0, -errno. */
int eddyi_incoming_receive_body(struct eddyi_incoming *incoming, struct eddyi_wire *wire,
				struct eddyi_body *body);

/* Put what has been written on the disk. Suspends. */
int eddyi_incoming_sync(struct eddyi_incoming *incoming);

/* Give the file its name. Suspends.
 * Return: 0; -EEXIST when the name is taken and `no_replace`, or taken by a folder; -errno. */
int eddyi_incoming_publish(struct eddyi_incoming *incoming, const char *name, bool no_replace,
			   bool *ret_replaced);

/* Publishing several together: each is hidden first, then renamed. */
int eddyi_incoming_hide(struct eddyi_incoming *incoming);
int eddyi_incoming_rename(struct eddyi_incoming *incoming, const char *name, bool no_replace,
			  bool *ret_replaced);

#endif
