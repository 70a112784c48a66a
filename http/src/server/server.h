/* server.h: one loop of a running app: its listeners, connections and timeouts. */
#ifndef EDDYI_SERVER_H
#define EDDYI_SERVER_H

#include "app/app.h"
#include "balance.h"
#include "http1/conn.h"
#include "listen.h"
#include "wire/clocks.h"

#include <eddy/runtime.h>

struct eddyi_listener {
	struct eddy_op op; /* an accept; while the server is full, a poll */
	struct eddy_timer retry;
	struct eddyi_server *server;
	struct eddyi_door door; /* .fd is -1 once it is closed */
	bool stopping;
	bool lacks_descriptor; /* accepting pauses for want of a descriptor */
	uint64_t failed_ns;    /* time of the last pause of accepting; 0: none */
};

/* How a server stops, the most patient way first. */
enum eddyi_stop {
	/* Another process accepts: connections have the time that they need. */
	EDDYI_STOP_HAND_OVER,
	/* Idle connections are closed, and requests in flight have a time limit. */
	EDDYI_STOP_DRAIN,
	EDDYI_STOP_HURRY, /* requests in flight are cancelled */
};

/* Invariant: no connection outlives eddyi_server_run(). */
struct eddyi_server {
	struct eddy_app *app;
	struct eddy_scope tasks;
	struct eddyi_clocks clocks;
	struct eddyi_conns conns;
	const struct eddyi_balance *balance; /* over the app's loops */
	struct eddyi_share *share;           /* of this loop */
	unsigned conns_max;
	unsigned descriptors_max; /* for connections and files of requests; UINT_MAX by default */
	struct eddyi_listener *listeners;
	size_t listener_count;
	struct eddy_timer look; /* then: the next search for an evictable one */

	bool stopping;
	enum eddyi_stop how;         /* to stop, once `stop` is set or the server is cancelled */
	struct eddy_scope *draining; /* a wait that EDDYI_STOP_HURRY ends */
	struct eddy_event stop;      /* the server must stop */
	struct eddy_event deaf;      /* a listener has been closed */
	struct eddy_event empty;     /* the last connection has been closed */
};

/* Initialize a server, which can be stopped before it runs. `index` is its place in `balance`. */
void eddyi_server_init(struct eddyi_server *server, const struct eddyi_balance *balance,
		       unsigned index);

/* Serve until the server is stopped and the requests in flight are finished. Takes ownership of the
 * sockets, also on failure. Suspends. Return: 0, -ENOMEM, -EINVAL, -ECANCELED. */
int eddyi_server_run(struct eddyi_server *server, struct eddy_app *app,
		     const struct eddyi_doors *doors);

/* Stop the server. A further call can make it less patient, but not more. */
void eddyi_server_stop(struct eddyi_server *server, enum eddyi_stop how);

#endif
