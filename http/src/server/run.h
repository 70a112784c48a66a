/* run.h: a running app. */
#ifndef EDDYI_RUN_H
#define EDDYI_RUN_H

#include "app/app.h"
#include "notify.h"
#include "server.h"

#include <eddy/shared_event.h>
#include <eddy/signal.h>
#include <pthread.h>

struct eddyi_run;

/* One loop of the app. Worker 0 is the loop that called eddy_app_run(). */
struct eddyi_worker {
	struct eddyi_run *run;
	struct eddyi_server server;
	struct eddy_loop *loop;
	struct eddy_message stop; /* posted at most once, like `hurry` */
	struct eddy_message hurry;
};

struct eddyi_run {
	struct eddy_app *app;
	struct eddyi_worker *workers;
	unsigned count;
	struct eddyi_balance balance;
	struct eddyi_tally tally; /* used if connections by address are limited */
	struct eddyi_listening listening;
	struct eddy_scope watching; /* on worker 0: signals, until `tasks` have ended */
	struct eddy_scope tasks;    /* on worker 0: reload, restart, notifier */
	struct eddyi_beside_keeper beside;
	struct eddyi_notifier notifier;
	struct eddy_signals signals;
	struct eddy_message restart;
	struct eddy_message reload;
	/* Under `eddyi_run_lock`. */
	bool reload_wanted;
	bool reload_posted;
	bool restarting; /* requested, and neither done nor given up */
	/* Worker 0 only, like `reload_more`: a task is reloading the certificates. */
	bool reloading;
	bool reload_more;                   /* requested again meanwhile */
	bool began;                         /* worker 0 only: all loops run and may serve */
	bool failed;                        /* to begin; log records say why */
	struct eddy_shared_event may_serve; /* set by worker 0 when it has begun or failed */
	bool handed_over;
	unsigned stops;   /* number of requests: the first drains, the second hurries */
	bool stops_early; /* worker 0 only: the shutdown was requested before it had begun */
};

/* ---- graceful shutdown: the loops first drain, then hurry ---- */

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

/* ---- starting this program again, with the listening sockets of this process ---- */

/* As eddy_app_restart(), with `eddyi_run_lock` held. */
void eddyi_app_restart(struct eddy_app *app);

/* Handle the message that eddy_app_restart() posts. */
void eddyi_run_deliver_restart(struct eddy_message *message);

/* ---- the sandbox ---- */

/* Enter the app's sandbox, if it has one. Return: 0; -errno, and a log record says why. */
int eddyi_app_sandbox_enter(const struct eddy_app *app);

#endif
