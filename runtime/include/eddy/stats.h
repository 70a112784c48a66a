/* eddy/stats.h: counters of all loops of the process together.
 *
 *     struct eddy_stats stats = eddy_stats();
 *
 *     printf("%u loops, %llu tasks\n", stats.loops, (unsigned long long)stats.loop.tasks);
 *
 * For one loop use eddy_loop_stats() of eddy/loop.h.
 */
#ifndef EDDY_STATS_H
#define EDDY_STATS_H

#include <eddy/loop.h>
#include <eddy/offload.h>
#include <eddy/transfer.h>

EDDY_BEGIN_DECLS

/* Counters of the process. Totals include loops that have ended, so they never decrease. */
struct eddy_stats {
	unsigned loops;                      /* loops that run now */
	struct eddy_loop_stats loop;         /* sums; of the stacks, the one used deepest */
	struct eddy_transfer_stats transfer; /* sums */
	struct eddy_offload_stats offload;   /* of the pool, which all loops share */
};

/* Read the counters of the process. Any thread may call it. Never suspends. Numbers of several
 * loops may be from different moments. */
EDDY_API struct eddy_stats eddy_stats(void);

EDDY_END_DECLS

#endif
