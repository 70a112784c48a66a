/* stop.h: graceful shutdown of a running app: its loops first drain, then hurry. */
#ifndef EDDYI_STOP_H
#define EDDYI_STOP_H

#include "run_state.h"

#include <pthread.h>

/* Guards app->run against other threads, `stops`, `restarting`, and every worker's `loop`. */
extern pthread_mutex_t eddyi_run_lock;

/* Begin the shutdown, or hurry it. The lock is held. */
void eddyi_run_stop(struct eddyi_run *run);

/* As eddy_app_shutdown(), with the lock held. */
void eddyi_app_stop(struct eddy_app *app);

/* Begin the shutdown unless it has begun: an error stops the app, but does not hurry it. */
void eddyi_run_stop_once(struct eddyi_run *run);

/* Emit the log record of the shutdown, with the number of requests in progress. On worker 0. */
void eddyi_run_announce_stop(const struct eddyi_run *run);

void eddyi_worker_init(struct eddyi_worker *worker, struct eddyi_run *run);

#endif
