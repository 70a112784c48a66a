/* registry.h: all loops of the process, for what looks at more than one: reports, and debuggers. */
#ifndef EDDYI_REGISTRY_H
#define EDDYI_REGISTRY_H

#include <eddy/list.h>

struct eddy_loop;

/* From its start to its end a loop is in the registry. It leaves with the registry locked, so that what it has counted is in
 * one sum or the other. */
void eddyi_registry_add(struct eddy_loop *loop);
void eddyi_registry_remove(struct eddy_loop *loop);

/* Wake the loop of that id, if it is still there. */
void eddyi_registry_wake(unsigned id);

/* Keep loops from starting and ending, until _unlock. What a loop owns is its own thread's to read, save
 * what is atomic.
 * Return: the list of loops, linked by eddy_loop.registered, the oldest first. */
struct eddy_node *eddyi_registry_lock(void);
void eddyi_registry_unlock(void);

#endif
