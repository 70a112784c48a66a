/* stop.h: how a running app ends: its loops are told, first to drain, then to hurry. */
#ifndef EDDYI_STOP_H
#define EDDYI_STOP_H

#include "run_state.h"

#include <pthread.h>

/* Guards app->run against calls of other threads, `stops`, `restarting`, and every worker's `loop`. */
extern pthread_mutex_t eddyi_run_lock;

/* Begin to end, or hurry. The lock is held. */
void eddyi_run_stop(struct eddyi_run *run);

/* Begin to end, unless that was asked for already: what has gone wrong ends everything, but hurries nobody. */
void eddyi_run_stop_once(struct eddyi_run *run);

/* Emit the record of an end that begins, with the number of requests that it waits for. On worker 0. */
void eddyi_run_announce_stop(const struct eddyi_run *run);

/* Make a worker's messages ready to be posted. */
void eddyi_worker_init(struct eddyi_worker *worker, struct eddyi_run *run);

#endif
