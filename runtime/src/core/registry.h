/* registry.h: all loops of the process, for reports and debuggers. */
#ifndef EDDYI_REGISTRY_H
#define EDDYI_REGISTRY_H

#include <eddy/list.h>

struct eddy_loop;

/* Add and remove a loop, at its start and end. The registry must be locked for _remove, so that the
 * loop's counters are in exactly one of the sums of live and ended loops. */
void eddyi_registry_add(struct eddy_loop *loop);
void eddyi_registry_remove(struct eddy_loop *loop);

/* Wake the loop with this id, if it still runs. */
void eddyi_registry_wake(unsigned id);

/* Keep loops from starting and ending until _unlock. Fields of a loop that are not atomic may be
 * read by its own thread only.
 * Return: the list of loops, linked by eddy_loop.registered, the oldest first. */
struct eddy_node *eddyi_registry_lock(void);
void eddyi_registry_unlock(void);

#endif
