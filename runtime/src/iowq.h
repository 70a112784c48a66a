/* iowq.h: the kernel's own threads that do what an op would block for (io-wq), as far as /proc shows them. */
#ifndef EDDYI_IOWQ_H
#define EDDYI_IOWQ_H

#include "timeline_text.h"

/* The workers of one ring. */
struct eddyi_iowq {
	pid_t owner; /* the thread that made the ring, as the kernel numbers it outside of all namespaces */
	unsigned workers;
	uint64_t busy_ns; /* all of them together have run */
	uint64_t turns; /* times that one was given a processor: at least one for each time that it was woken */
};

/* Look at all workers of the process, of `max` rings at most. Return: how many rings have any. */
size_t eddyi_iowq_look(struct eddyi_iowq *rings, size_t max);

/* Append what has changed since the last call as counters, 32 KiB at most: of the group that `group_of` names.
 * Looks at /proc, unless a look takes so long that it should not be taken again yet. One thread. */
void eddyi_iowq_tell(struct eddyi_text *text, uint32_t (*group_of)(pid_t owner));

/* Forget what was seen. */
void eddyi_iowq_reset(void);

#endif
