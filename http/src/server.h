/* server.h: one loop's share of a running app: its listeners, connections and clocks. */
#ifndef EDDYI_SERVER_H
#define EDDYI_SERVER_H

#include "app.h"
#include "date.h"

#include <eddy/runtime.h>

struct eddyi_listener {
	struct eddy_op op; /* accept; while the server is full, a poll */
	struct eddy_timer retry;
	struct eddyi_server *server;
	int fd; /* -1 once it is closed */
	bool stopping;
};

/* Invariants:
 * 1. Every connection is in `fresh` (parked, no byte of its first request received), in `idle` (parked
 *    between two requests; the longest idle first) or in `active`.
 * 2. No connection outlives eddyi_server_run().
 */
struct eddyi_server {
	struct eddy_app *app;
	struct eddy_scope tasks; /* one task for each request in progress */
	struct eddyi_listener *listeners;
	size_t listener_count;
	struct eddy_node fresh;
	struct eddy_node idle;
	struct eddy_node active;
	unsigned connections;
	unsigned connections_max;
	bool crowded; /* somebody waits to be accepted, and nobody was idle */

	bool stopping;
	bool hurry;                  /* requests in flight are cut at once */
	struct eddy_scope *draining; /* while they are waited for */
	struct eddy_event stop;      /* asked to end */
	struct eddy_event deaf;      /* a listener has been closed */
	struct eddy_event empty;     /* the last connection has gone */

	struct eddy_timeout_queue idle_timeouts;
	struct eddy_timeout_queue head_timeouts;
	struct eddy_timeout_queue body_timeouts;
	struct eddy_timeout_queue write_timeouts;

	time_t date_at;
	char date[EDDYI_DATE_LEN + 1];
};

/* Prepare a server that can be stopped, also before it runs. */
void eddyi_server_init(struct eddyi_server *server);

/* Serve on the listening sockets `fds`, which are closed at the end, until the server is stopped and
 * the requests in flight have been answered. Suspends. Return: 0, -ENOMEM, -EINVAL, -ECANCELED. */
int eddyi_server_run(struct eddyi_server *server, struct eddy_app *app, const int *fds,
		     size_t count);

/* Ask the server to end; with `hurry` without waiting for requests in flight. */
void eddyi_server_stop(struct eddyi_server *server, bool hurry);

/* The value of the date field, for now. */
const char *eddyi_server_date(struct eddyi_server *server);

/* A connection has become idle: it is closed when others wait for its place. */
void eddyi_server_conn_idle(struct eddyi_server *server);

/* A connection has been closed: there is room for another. */
void eddyi_server_conn_gone(struct eddyi_server *server);

#endif
