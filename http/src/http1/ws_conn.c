/* A connection that has become a WebSocket: its link, whose receive is that of the parked
 * connection. */
#include "http1.h"

#include "ws/ws_handshake.h"

#include <eddy/scope.h>
#include <errno.h>
#include <stdio.h>

/* Bytes that one receive gets, in as many results as they arrive in. */
#define AHEAD_MAX (64 * EDDY_KIB)
/* Of messages of this size, one buffer gets the begin, and their own memory the rest. */
#define LARGE (16 * EDDY_KIB)

static struct eddyi_conn *conn_of(const struct eddyi_parked *parked)
{
	return eddy_of(parked, struct eddyi_conn, parked);
}

static struct eddyi_conn *conn_below(struct eddy_ws *ws)
{
	return eddy_of(ws->output.sender.wire, struct eddyi_conn, wire);
}

/* ---- the link ---- */

static void receive(struct eddy_ws *ws)
{
	eddyi_parked_receive(&conn_below(ws)->parked, ws->input.frame.len < LARGE ? AHEAD_MAX : 0);
}

static int run(void *arg)
{
	struct eddyi_ws_served *served = arg;

	eddyi_ws_run(&served->ws, served->route->handler, served->route->options.data);
	return 0;
}

static bool start(struct eddy_ws *ws)
{
	struct eddyi_ws_served *served = eddyi_ws_served_of(ws);

	return eddy_scope_spawn(conn_below(ws)->parked.conns->tasks, served->route->pattern, run,
				served) == 0;
}

static void finish(struct eddy_ws *ws)
{
	struct eddyi_conn *conn = conn_below(ws);

	eddyi_wire_give_up(&conn->wire);
	conn->socket = NULL;
	eddyi_ws_served_free(eddyi_ws_served_of(ws));
	eddyi_parked_close(&conn->parked);
}

static const struct eddyi_ws_link link_verbs = { receive, start, finish };

/* ---- the parked connection ---- */

static void resume(struct eddyi_parked *parked, struct eddy_str bytes, int result, bool last)
{
	(void)last;
	eddyi_ws_received(&conn_of(parked)->socket->ws, bytes, result);
}

static void evict(struct eddyi_parked *parked)
{
	if (conn_of(parked)->socket)
		eddyi_ws_abort(&conn_of(parked)->socket->ws, -ECONNRESET);
}

static void stop(struct eddyi_parked *parked)
{
	if (conn_of(parked)->socket)
		eddyi_ws_stop(&conn_of(parked)->socket->ws);
}

/* A crowd may lose sockets whose handler has nothing to do. */
static bool is_waiting(const struct eddyi_parked *parked)
{
	const struct eddyi_ws_served *served = conn_of(parked)->socket;

	return served && (!served->ws.has_task || served->ws.is_awaited);
}

static void describe(const struct eddyi_parked *parked, char text[EDDYI_PARKED_TEXT_SIZE])
{
	snprintf(text, EDDYI_PARKED_TEXT_SIZE, "a WebSocket of %s", conn_of(parked)->stream.bound);
}

static const struct eddyi_parked_verbs verbs = {
	.resume = resume,
	.evict = evict,
	.stop = stop,
	.is_waiting = is_waiting,
	.describe = describe,
	.free = eddyi_conn_free,
};

void eddyi_http1_serve_socket(struct eddyi_conn *conn, struct eddyi_ws_served *served)
{
	conn->parked.verbs = &verbs;
	conn->socket = served;
	conn->wire.ahead = NULL;
	served->ws.has_task = true;
	/* It may still be receiving ahead, as it did for requests. */
	eddyi_ws_begin(&served->ws, &link_verbs, &conn->parked.op, &conn->wire);
	if (conn->parked.last)
		eddyi_ws_stop(&served->ws);
	run(served);
}
