/* descriptors.h: the descriptors of a loop's requests. A connection takes one, and its request one more for each file that eddy
 * opens for it; files of handlers are not counted. Where these are as many as the process has descriptors for, other connections are
 * closed for a request that needs one. */
#ifndef EDDYI_DESCRIPTORS_H
#define EDDYI_DESCRIPTORS_H

#include <stdbool.h>

/* Make room for the files that are counted, if there are too many: what is closed for it may take a while. Never suspends.
 * Return: whether there is room now. */
typedef bool eddyi_make_room_fn(void *arg);

/* Say how this thread's loop makes room; NULL: there always is room. */
void eddyi_descriptors_begin(eddyi_make_room_fn *fn, void *arg);

/* Count a file that is about to be opened. Suspends while there is no room; its place is reserved meanwhile.
 * Return: 0; -EMFILE, -ECANCELED. */
int eddyi_descriptors_take(void);

/* It was closed, or could not be opened. */
void eddyi_descriptors_give_back(void);

/* Files that are counted on this thread, and those that are waited for. */
unsigned eddyi_descriptors_taken(void);

#endif
