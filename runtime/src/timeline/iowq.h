/* iowq.h: the kernel's worker threads for blocking ops (io-wq), as shown in /proc. */
#ifndef EDDYI_IOWQ_H
#define EDDYI_IOWQ_H

#include <eddy/internal/text.h>

struct eddyi_iowq_worker {
	pid_t tid;
	pid_t owner;      /* thread whose rings it serves, by its id in the initial PID namespace */
	uint64_t busy_ns; /* total CPU time */
	uint64_t turns;   /* times it was scheduled: at least one for each wake-up */
};

/* List the process's workers, at most `max`; NULL only counts them. Return: their number. */
size_t eddyi_iowq_look(struct eddyi_iowq_worker *workers, size_t max);

/* Append changes since the last call as counters, summed for each group that `group_of` returns, at
 * most 32 KiB. Looks at /proc, but seldom if that takes long. Call it on one thread only. */
void eddyi_iowq_tell(struct eddyi_text *text, uint32_t (*group_of)(pid_t owner));

/* Reset the reported values; earlier work of workers will not be reported. */
void eddyi_iowq_reset(void);

#endif
