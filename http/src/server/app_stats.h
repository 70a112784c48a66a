/* app_stats.h: what the connections of an app have come to. */
#ifndef EDDYI_APP_STATS_H
#define EDDYI_APP_STATS_H

#include "run_state.h"

/* The run is over: keep what its connections have come to. The lock is held. */
void eddyi_run_keep_stats(const struct eddyi_run *run);

#endif
