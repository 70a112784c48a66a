/* ws_handshake.h: the handshake of a server's WebSocket (RFC 6455 section 4.2), as the handler of a
 * route. */
#ifndef EDDYI_WS_HANDSHAKE_H
#define EDDYI_WS_HANDSHAKE_H

#include "ws_socket.h"

#include <eddy/list.h>

/* The sockets of a route. */
struct eddyi_ws_route {
	eddy_ws_fn *handler;
	struct eddy_ws_options options; /* with defaults filled in */
	const char *pattern;
};

/* A socket of a server. */
struct eddyi_ws_served {
	struct eddy_ws ws;
	const struct eddyi_ws_route *route;
	struct eddyi_observed_socket *observed; /* NULL: no */
	uint64_t began_ns;
};

static inline struct eddyi_ws_served *eddyi_ws_served_of(struct eddy_ws *ws)
{
	return eddy_of(ws, struct eddyi_ws_served, ws);
}

/* Free a socket that has not begun. */
void eddyi_ws_served_free(struct eddyi_ws_served *served);

#endif
