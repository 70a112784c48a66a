/* eddy/client_ws.h: WebSockets of the client (RFC 6455).
 *
 *     struct eddy_ws *ws;
 *     struct eddy_ws_message message;
 *
 *     r = eddy_client_ws(client, "wss://example.com/chat", NULL, NULL, &ws);
 *     if (r < 0)
 *             return r;
 *     r = eddy_ws_send(ws, EDDY_WS_TEXT, EDDY_STR("hello"));
 *     if (r == 0)
 *             r = eddy_ws_recv(ws, &message);
 *     eddy_ws_free(ws);
 *
 * The functions of eddy/ws.h apply to the socket, on the client's loop. It is independent of the
 * task that has opened it, and frames are received while no task waits for them.
 * eddy_client_error() describes a failed handshake.
 */
#ifndef EDDY_CLIENT_WS_H
#define EDDY_CLIENT_WS_H

#include <eddy/client.h>
#include <eddy/ws.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* How a client opens a socket. A zero field takes its default. Borrowed until the call returns. */
struct eddy_client_ws_options {
	/* Fields of the handshake, as in eddy_client_request; sec-websocket-… fail with -EINVAL. An
	 * origin and cookies are such fields. Default: none. */
	const struct eddy_header *headers;
	uint64_t timeout_ns; /* of the handshake; default: the client's */
	/* Of the socket. A client offers all of .protocols, and its default is to offer none. The
	 * fields .origins, .parks, .open, .closed and .data have no effect. */
	struct eddy_ws_options socket;
};

/* Open a socket to a URL of the scheme ws or wss, or http or https, which mean the same. Suspends.
 *
 * `options` may be NULL. `ret_response` may be NULL; otherwise it gets the response of the server,
 * also on failure, or NULL if there was none. The caller frees it.
 * Return: 0, and a socket, which the caller frees; -EREMOTEIO if the server answers with another
 * status than 101; -ELOOP if it redirects, which is never followed; -EBADMSG if its handshake
 * violates RFC 6455, or chooses a protocol or an extension that was not offered; -errno as
 * eddy_client_send(). */
EDDY_WEBSOCKET_API int eddy_client_ws(struct eddy_client *client, const char *url,
				      const struct eddy_client_ws_options *options,
				      struct eddy_response **ret_response, struct eddy_ws **ret_ws);

/* Close a client's socket with code 1000, wait for the server to close it and the connection, up to
 * 5 s for each, and free it. A cancelled task does not wait for the server. Call it before
 * eddy_client_free(), when no other task uses the socket. NULL is accepted. Suspends. */
EDDY_WEBSOCKET_API void eddy_ws_free(struct eddy_ws *ws);

EDDY_END_DECLS

#endif
