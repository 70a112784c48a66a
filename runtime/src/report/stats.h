/* stats.h: keeps the counters of loops that end. */
#ifndef EDDYI_STATS_H
#define EDDYI_STATS_H

struct eddy_loop;

/* Add the counters of an ending loop to the sums of eddy_stats(). The registry must be locked. */
void eddyi_stats_keep(const struct eddy_loop *loop);

#endif
