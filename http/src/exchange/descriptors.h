/* descriptors.h: the descriptors of a loop's requests. A connection takes one, and its request one more for each file that eddy
 * opens for it; files of handlers are not counted. Where these are as many as the process has descriptors for, other connections are
 * closed for a request that needs one, or the request's own: one that waits holds a descriptor too. The uploads of an
 * address hold no more files than it has connections and leaves descriptors free. */
#ifndef EDDYI_DESCRIPTORS_H
#define EDDYI_DESCRIPTORS_H

#include "holding.h"

/* Make room for the files that are counted, if there are too many: what is closed for it may take a while. `party` has one of them, or
 * is NULL; `is_late`: it has waited for long, and may be closed itself. Never suspends. Return: whether there is room now. */
typedef bool eddyi_make_room_fn(void *arg, struct eddyi_party *party, bool is_late);

/* Say how this thread's loop makes room; NULL: there always is room. */
void eddyi_descriptors_begin(eddyi_make_room_fn *fn, void *arg);

/* Count a file that is about to be opened for a party, or NULL. Suspends while there is no room; its place is reserved meanwhile.
 * Return: 0; -EMFILE, -ECANCELED. */
int eddyi_descriptors_take(struct eddyi_party *party);

/* It was closed, or could not be opened. */
void eddyi_descriptors_give_back(void);

/* Files that are counted on this thread, and those that are waited for. */
unsigned eddyi_descriptors_taken(void);

#endif
