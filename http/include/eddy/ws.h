/* eddy/ws.h: WebSockets (RFC 6455).
 *
 *     static int echo(struct eddy_ws *ws, void *data)
 *     {
 *             struct eddy_ws_message message;
 *             int r;
 *
 *             while ((r = eddy_ws_recv(ws, &message)) > 0)
 *                     if ((r = eddy_ws_send(ws, message.type, message.bytes)) < 0)
 *                             break;
 *             return r;
 *     }
 *
 *     eddy_app_map_ws(app, "/echo", echo, NULL);
 *
 * A handler runs for each socket, on a task of its own. When it returns, the socket is closed: with
 * code 1000 for 0 and above, 1001 for -ECANCELED and during a shutdown, else 1011. Frames are
 * received while it does something else: pings are answered, fragments joined, text is checked to
 * be UTF-8. A peer that breaks the protocol gets the close code for it, and the handler -EPROTO.
 *
 * On a route with .parks, eddy_ws_recv() returns -EAGAIN where it would wait. The handler returns
 * that, and no other -EAGAIN, and is called again when a message has come; an idle socket then has neither a task nor a
 * buffer. If the socket ends without another message, only .closed is called. State of the socket
 * is kept at eddy_ws_set_data().
 *
 * A socket belongs to its loop. A room (eddy/ws_room.h) sends to sockets of all loops, from any
 * thread.
 */
#ifndef EDDY_WS_H
#define EDDY_WS_H

#include <eddy/group.h>
#include <eddy/req.h>

#ifdef EDDY_NO_WEBSOCKET
#define EDDY_WEBSOCKET_API                                                                         \
	__attribute__((error("eddy-http was built without WebSockets (-Dwebsocket=disabled)")))
#else
#define EDDY_WEBSOCKET_API EDDY_API
#endif

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

struct eddy_ws;

enum eddy_ws_type {
	EDDY_WS_TEXT = 1, /* UTF-8, checked when it is received, not when it is sent */
	EDDY_WS_BINARY = 2,
};

struct eddy_ws_message {
	enum eddy_ws_type type;
	struct eddy_str bytes; /* valid until the next eddy_ws_recv() */
	bool is_last;          /* with .streams: the message ends with these bytes */
};

/* Close codes (RFC 6455 section 7.4.1). */
enum eddy_ws_code {
	EDDY_WS_NORMAL = 1000,
	EDDY_WS_GOING_AWAY = 1001,
	EDDY_WS_PROTOCOL_ERROR = 1002,
	EDDY_WS_UNSUPPORTED = 1003,
	EDDY_WS_NO_CODE = 1005,  /* received: a close without a code */
	EDDY_WS_ABNORMAL = 1006, /* the connection was lost */
	EDDY_WS_NOT_UTF8 = 1007,
	EDDY_WS_POLICY = 1008,
	EDDY_WS_TOO_LARGE = 1009,
	EDDY_WS_FAILED = 1011,
	EDDY_WS_TRY_LATER = 1013,
};

/* Compression by permessage-deflate (RFC 7692), if the peer takes part. */
struct eddy_ws_deflate {
	bool on;
	int level; /* 1 to 9; default 1 */
	/* Messages may refer to those before: smaller, but about 300 KiB for a socket that sends,
	 * and 40 KiB for one that receives. Default: each message for itself. */
	bool takeover;
	uint64_t min; /* smaller messages are sent as they are; default 64 bytes */
};

/* How sockets of a route behave. A zero field takes its default. Strings are copied. */
struct eddy_ws_options {
	/* Subprotocols, the preferred first, ended by NULL: the first that the client offers is
	 * chosen. Default: none. */
	const char *const *protocols;
	/* Origins of pages that may connect, such as "https://example.org", ended by NULL; "*":
	 * all. Default: that of this server. Clients other than browsers send none, and may
	 * connect. */
	const char *const *origins;
	uint64_t message_max; /* bytes, also after expansion; default 16 MiB; beyond: 1009 */
	/* Messages come in pieces, as they arrive, and of any length; .message_max does not
	 * apply. */
	bool streams;
	bool parks;
	/* Unsent bytes of a socket, and some 60 for each frame: beyond them eddy_ws_send() waits.
	 * Default 1 MiB. */
	size_t queue_max;
	/* A ping is sent after this silence of the peer, default 30 s; and the connection is given
	 * up after this silence since, default 30 s. EDDY_NEVER: none. */
	uint64_t ping_ns;
	uint64_t pong_ns;
	struct eddy_ws_deflate deflate;
	/* Before the response to the handshake, while the request exists. May set fields and the
	 * data of the socket, and let it join rooms. Messages that it sends follow the response: up
	 * to .queue_max bytes, then -ENOBUFS; eddy_ws_recv() is -EINVAL. May suspend. If it fails,
	 * .closed is not called.
	 * Return: 0; a status or -errno, which rejects the handshake. */
	int (*open)(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws);
	/* After the socket has ended, and its handler; or without either, if a filter has replaced
	 * the response to the handshake, or it could not be sent. Never suspends. */
	void (*closed)(struct eddy_ws *ws);
	void *data; /* for the handler; borrowed for the app's life */
};

/* Serves a socket. Runs on a task of its own. Return: see above. */
typedef int eddy_ws_fn(struct eddy_ws *ws, void *data);

/* Map GET of a pattern to sockets. */
EDDY_WEBSOCKET_API struct eddy_route *eddy_app_map_ws(union eddy_router router, const char *pattern,
						      eddy_ws_fn *handler,
						      const struct eddy_ws_options *options);

/* Receive the next message; with .streams, some of one. Suspends.
 * Return: 1; 0 once the peer has closed the socket; -EAGAIN on a route with .parks, if none is
 * here; -EPROTO, -EMSGSIZE or -EILSEQ after a violation by the peer; -ECONNRESET if the connection
 * was lost; -ETIMEDOUT if the peer has fallen silent; -ESHUTDOWN if the server stops; -ECANCELED;
 * -ENOMEM without memory for what arrives, of which the peer is told by 1013. */
EDDY_WEBSOCKET_API int eddy_ws_recv(struct eddy_ws *ws, struct eddy_ws_message *ret_message);

/* Send a message. Bytes that the kernel does not take at once are copied. Suspends while more than
 * .queue_max bytes are unsent. Other tasks of the loop may send as well.
 * Return: 0; -EPIPE once the socket is closed; -ECANCELED; -ENOMEM. */
EDDY_WEBSOCKET_API int eddy_ws_send(struct eddy_ws *ws, enum eddy_ws_type type,
				    struct eddy_str bytes);

/* Send a message in pieces. Messages of other tasks wait for its end, which the same task sends: a
 * handler that returns before, also with -EAGAIN, closes the socket with 1011. Compressed pieces may
 * be sent with a later one. Suspends, and returns, as eddy_ws_send(). */
EDDY_WEBSOCKET_API int eddy_ws_send_some(struct eddy_ws *ws, enum eddy_ws_type type,
					 struct eddy_str bytes, bool is_last);

/* Begin the closing handshake; `reason` is UTF-8 of at most 123 bytes; NULL: none. A code that no
 * endpoint may send becomes 1011; EDDY_WS_NO_CODE sends none. Messages that are still received can
 * be read. Never suspends. Does nothing once the socket is closed. */
EDDY_WEBSOCKET_API void eddy_ws_close(struct eddy_ws *ws, unsigned code, const char *reason);

/* Get the code of the close frame that the peer has sent; EDDY_WS_ABNORMAL: none. */
EDDY_WEBSOCKET_API unsigned eddy_ws_peer_code(const struct eddy_ws *ws);

/* Get the chosen subprotocol; .ptr NULL: none. */
EDDY_WEBSOCKET_API struct eddy_str eddy_ws_protocol(const struct eddy_ws *ws);

/* Get and set data of the program's. */
EDDY_WEBSOCKET_API void *eddy_ws_data(const struct eddy_ws *ws);
EDDY_WEBSOCKET_API void eddy_ws_set_data(struct eddy_ws *ws, void *data);

EDDY_END_DECLS

#endif
