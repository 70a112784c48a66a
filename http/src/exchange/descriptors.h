/* descriptors.h: the descriptors of a loop's requests. A connection takes one, and its request one more for each file that eddy
 * opens for it; files of handlers are not counted. Where these are as many as the process has descriptors for, other connections are
 * closed for a request that needs one, or the request's own by others: one that waits holds a descriptor too. The uploads of an
 * address hold no more files than it has connections and leaves descriptors free. */
#ifndef EDDYI_DESCRIPTORS_H
#define EDDYI_DESCRIPTORS_H

#include "holding.h"

/* The server's part on this thread's loop. None of these suspends. */
struct eddyi_descriptor_hooks {
	/* Return: whether the party's address may hold one more file of an upload. */
	bool (*may_hold)(void *arg, struct eddyi_party *party);
	/* Make room for the files that are counted, if there are too many: what is closed for it may take a while. `party` has one of
	 * them, or is NULL; `is_late`: it has waited for long, and may be closed itself. Return: whether there is room now. */
	bool (*make_room)(void *arg, struct eddyi_party *party, bool is_late);
	/* A party that was late waits no more. */
	void (*settle)(void *arg, struct eddyi_party *party);
};

/* Set the hooks of this thread's loop; NULL: there always is room. */
void eddyi_descriptors_begin(const struct eddyi_descriptor_hooks *hooks, void *arg);

/* Count a file that is about to be opened for a party, or NULL. Suspends while there is no room; its place is reserved meanwhile, unless
 * it is an upload of an address that holds too much. Return: 0; -EMFILE, -ECANCELED. */
int eddyi_descriptors_take(struct eddyi_party *party, bool is_upload);

/* It was closed, or could not be opened. */
void eddyi_descriptors_give_back(struct eddyi_party *party, bool is_upload);

/* Files that are counted on this thread, and those that are waited for. */
unsigned eddyi_descriptors_taken(void);

#endif
