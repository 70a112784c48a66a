/* run_state.h: an app while it runs, as this layer's files see it. */
#ifndef EDDYI_RUN_STATE_H
#define EDDYI_RUN_STATE_H

#include "app/beside.h"
#include "notify.h"
#include "server.h"

#include <eddy/shared_event.h>
#include <eddy/signal.h>
#include <pthread.h>

struct eddyi_run;

/* One loop's share. Worker 0 is the loop that eddy_app_run() was called in. */
struct eddyi_worker {
	struct eddyi_run *run;
	struct eddyi_server server;
	struct eddy_loop *loop;
	struct eddy_message stop; /* posted once at most, and once again to hurry */
	struct eddy_message hurry;
};

struct eddyi_run {
	struct eddy_app *app;
	struct eddyi_worker *workers;
	unsigned count;
	struct eddyi_balance balance;
	struct eddyi_tally tally; /* where connections of one address are limited */
	struct eddyi_listening listening;
	struct eddy_scope tasks; /* on worker 0: what goes on beside the serving */
	struct eddyi_beside_keeper beside;
	struct eddyi_notifier notifier;
	struct eddy_signals signals;
	struct eddy_message restart;
	bool restarting;  /* asked for, and not yet done or given up */
	bool reloading;   /* on worker 0, as the next one: a task reads the certificates again */
	bool reload_more; /* asked for once more meanwhile */
	bool began;       /* on worker 0: all loops are there, and serve */
	bool failed;      /* to begin, and records say why */
	struct eddy_shared_event may_serve; /* set by worker 0, when it has begun or failed */
	bool handed_over;
	unsigned stops; /* asked for: the first drains, the second hurries */
};

#endif
