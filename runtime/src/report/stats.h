/* stats.h: what a loop has counted, as it ends. */
#ifndef EDDYI_STATS_H
#define EDDYI_STATS_H

struct eddy_loop;

/* The loop ends: keep what it has counted for eddy_stats(). The registry is locked. */
void eddyi_stats_keep(const struct eddy_loop *loop);

#endif
