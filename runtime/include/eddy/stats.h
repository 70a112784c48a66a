/* eddy/stats.h: what all loops of the process have done together, and what they have now.
 *
 *     struct eddy_stats stats = eddy_stats();
 *
 *     printf("%u loops, %llu tasks\n", stats.loops, (unsigned long long)stats.loop.tasks);
 *
 * One loop's alone are eddy_loop_stats() of loop.h.
 */
#ifndef EDDY_STATS_H
#define EDDY_STATS_H

#include <eddy/loop.h>
#include <eddy/offload.h>
#include <eddy/transfer.h>

EDDY_BEGIN_DECLS

/* What counts up includes the loops that have ended: it never goes back. */
struct eddy_stats {
	unsigned loops;              /* that run now */
	struct eddy_loop_stats loop; /* added up; of the stacks the one that was used deepest */
	struct eddy_transfer_stats transfer; /* added up */
	struct eddy_offload_stats offload;   /* of the pool, which all share */
};

/* Read all of them. Any thread; never suspends. Numbers of several loops may be from different moments. */
EDDY_API struct eddy_stats eddy_stats(void);

/* Count the kernel's threads that do for the loops what would block them (io-wq). Reads /proc: some 10 us for each thread
 * of the process. Any thread; never suspends. Return: 0 also where /proc is not to be had. */
EDDY_API unsigned eddy_stats_io_workers(void);

EDDY_END_DECLS

#endif
