/* descriptors.h: counts the descriptors of a loop's requests: one for each connection, and one for
 * each file that eddy opens for a request, but not files of handlers. At the process's limit, a
 * request that needs one evicts other connections, and may be evicted while it waits. Uploads of an
 * address hold one file for each connection, and as many more as are free. */
#ifndef EDDYI_DESCRIPTORS_H
#define EDDYI_DESCRIPTORS_H

#include "exchange/stream.h"

/* The server's functions for this thread's loop. None of them suspends. */
struct eddyi_descriptor_hooks {
	/* Return: whether the party's address may hold one more upload file. */
	bool (*may_hold)(void *arg, struct eddyi_party *party);
	/* Make room if too many files are counted, which may take a while. `party` has one of them,
	 * or is NULL; if `is_late`, it has waited for long and may be evicted itself.
	 * Return: whether there is room now. */
	bool (*make_room)(void *arg, struct eddyi_party *party, bool is_late);
	/* A party that was late has stopped waiting. */
	void (*settle)(void *arg, struct eddyi_party *party);
};

/* Set the hooks of this thread's loop; NULL: there is always room. */
void eddyi_descriptors_begin(const struct eddyi_descriptor_hooks *hooks, void *arg);

/* Count a file about to be opened for a party, or NULL. Suspends while there is no room. Its place
 * is reserved, except for an upload of an address at its limit. Return: 0; -EMFILE, -ECANCELED. */
int eddyi_descriptors_take(struct eddyi_party *party, bool is_upload);

/* Uncount a file that was closed, or could not be opened. */
void eddyi_descriptors_give_back(struct eddyi_party *party, bool is_upload);

/* Get the number of files that this thread counts, including those waited for. */
unsigned eddyi_descriptors_taken(void);

#endif
