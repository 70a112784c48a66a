/* app_stats.h: connection statistics of an app. */
#ifndef EDDYI_APP_STATS_H
#define EDDYI_APP_STATS_H

#include "run_state.h"

/* Add a run's statistics to the app's at the end of the run. The lock is held. */
void eddyi_run_keep_stats(const struct eddyi_run *run);

#endif
