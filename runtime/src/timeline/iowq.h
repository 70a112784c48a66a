/* iowq.h: the kernel's own threads that do what an op would block for (io-wq), as far as /proc shows them. */
#ifndef EDDYI_IOWQ_H
#define EDDYI_IOWQ_H

#include "timeline_text.h"

struct eddyi_iowq_worker {
	pid_t tid;
	pid_t owner; /* the thread whose rings it works for, as the kernel numbers it outside of all namespaces */
	uint64_t busy_ns; /* it has run */
	uint64_t turns; /* times that it was given a processor: at least one for each time that it was woken */
};

/* Look at the workers of the process, `max` of them at most; NULL to count them only. Return: how many there are. */
size_t eddyi_iowq_look(struct eddyi_iowq_worker *workers, size_t max);

/* Append what has changed since the last call as counters, 32 KiB at most: added up for each group that
 * `group_of` names. Looks at /proc, unless a look takes so long that it should not be taken again yet. One thread. */
void eddyi_iowq_tell(struct eddyi_text *text, uint32_t (*group_of)(pid_t owner));

/* Forget what was told: what workers have done up to now is not told later either. */
void eddyi_iowq_reset(void);

#endif
