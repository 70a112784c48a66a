/* server.h: one loop's share of a running app: its listeners, connections and clocks. */
#ifndef EDDYI_SERVER_H
#define EDDYI_SERVER_H

#include "app/app.h"
#include "balance.h"
#include "conn.h"
#include "listen.h"

#include <eddy/runtime.h>

struct eddyi_listener {
	struct eddy_op op; /* accept; while the server is full, a poll */
	struct eddy_timer retry;
	struct eddyi_server *server;
	struct eddyi_door door; /* .fd is -1 once it is closed */
	bool stopping;
	bool lacks_descriptor; /* for which accepting pauses, if it does */
	uint64_t failed_ns;    /* when accepting paused last; 0: it never has */
};

/* How a server ends, from the most patient on. */
enum eddyi_stop {
	EDDYI_STOP_HAND_OVER, /* somebody else accepts: what is here has the time that it needs */
	EDDYI_STOP_DRAIN, /* silent connections are closed, requests in flight have a time limit */
	EDDYI_STOP_HURRY, /* requests in flight are cut */
};

/* Invariant: no connection outlives eddyi_server_run(). */
struct eddyi_server {
	struct eddy_app *app;
	struct eddy_scope tasks;
	struct eddyi_clocks clocks;
	struct eddyi_conns conns;
	const struct eddyi_balance *balance; /* of the app's loops, set with: */
	struct eddyi_share *share;           /* this one's */
	unsigned conns_max;
	unsigned descriptors_max; /* of connections and files of their requests; by default enough */
	struct eddyi_listener *listeners;
	size_t listener_count;
	bool crowded; /* somebody waits to be accepted, and no connection could be closed */
	struct eddy_timer look; /* then: for one that can be */

	bool stopping;
	enum eddyi_stop how;         /* to end, once `stop` is set; before, if it is cancelled */
	struct eddy_scope *draining; /* while they are waited for and could be cut */
	struct eddy_event stop;      /* asked to end */
	struct eddy_event deaf;      /* a listener has been closed */
	struct eddy_event empty;     /* the last connection has gone */
};

/* Prepare a server that can be stopped, also before it runs. `index` is its place among those of `balance`. */
void eddyi_server_init(struct eddyi_server *server, const struct eddyi_balance *balance,
		       unsigned index);

/* Serve at these doors, whose sockets are closed at the end, until the server is stopped and the requests
 * in flight have been answered. Suspends. Return: 0, -ENOMEM, -EINVAL, -ECANCELED. */
int eddyi_server_run(struct eddyi_server *server, struct eddy_app *app,
		     const struct eddyi_doors *doors);

/* Ask the server to end. Asked again, it may become less patient, but not more. */
void eddyi_server_stop(struct eddyi_server *server, enum eddyi_stop how);

#endif
