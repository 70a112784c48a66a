/* run_state.h: the state of a running app. */
#ifndef EDDYI_RUN_STATE_H
#define EDDYI_RUN_STATE_H

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

#endif
