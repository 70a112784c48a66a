/* server.h: one loop's share of a running app: its listeners, connections and clocks. */
#ifndef EDDYI_SERVER_H
#define EDDYI_SERVER_H

#include "app.h"
#include "conn.h"

#include <eddy/runtime.h>

struct eddyi_listener {
	struct eddy_op op; /* accept; while the server is full, a poll */
	struct eddy_timer retry;
	struct eddyi_server *server;
	int fd; /* -1 once it is closed */
	bool stopping;
	bool failing; /* accepting has paused, and it has been said */
};

/* Invariant: no connection outlives eddyi_server_run(). */
struct eddyi_server {
	struct eddy_app *app;
	struct eddy_scope tasks;
	struct eddyi_clocks clocks;
	struct eddyi_conns conns;
	unsigned conns_max;
	struct eddyi_listener *listeners;
	size_t listener_count;
	bool crowded; /* somebody waits to be accepted, and nobody was idle */

	bool stopping;
	bool hurry;                  /* requests in flight are cut at once */
	struct eddy_scope *draining; /* while they are waited for and could be cut */
	struct eddy_event stop;      /* asked to end */
	struct eddy_event deaf;      /* a listener has been closed */
	struct eddy_event empty;     /* the last connection has gone */
};

/* Prepare a server that can be stopped, also before it runs. */
void eddyi_server_init(struct eddyi_server *server);

/* Serve on the listening sockets `fds`, which are closed at the end, until the server is stopped and
 * the requests in flight have been answered. Suspends. Return: 0, -ENOMEM, -EINVAL, -ECANCELED. */
int eddyi_server_run(struct eddyi_server *server, struct eddy_app *app, const int *fds,
		     size_t count);

/* Ask the server to end; with `hurry` without waiting for requests in flight. */
void eddyi_server_stop(struct eddyi_server *server, bool hurry);

#endif
