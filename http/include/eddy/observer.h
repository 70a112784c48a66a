/* eddy/observer.h: hooks around every request of an app, for tracing, metrics and access logs.
 *
 *     static void *begin(void *data, struct eddy_req *req, struct eddy_res *res)
 *     {
 *             struct visit *visit = eddy_req_alloc(req, sizeof(*visit));
 *
 *             …
 *             return visit;
 *     }
 *
 *     static void end(void *data, void *state, struct eddy_req *req, const struct eddy_outcome *outcome)
 *     {
 *             count(data, outcome->status);
 *     }
 *
 *     static const struct eddy_observer observer = { .begin = begin, .end = end };
 *
 *     eddy_app_observe(app, &observer, journal);
 *
 * Unlike filters (middleware), observers also see requests that are rejected before any filter
 * runs, and how the sending of the response ends. A request that becomes a WebSocket ends with
 * status 101; its socket is observed until its own end.
 */
#ifndef EDDY_OBSERVER_H
#define EDDY_OBSERVER_H

#include <eddy/req.h>
#include <eddy/res.h>

EDDY_BEGIN_DECLS

struct eddy_field;
struct eddy_local;

/* The outcome of a request. */
struct eddy_outcome {
	int status; /* sent, or to be sent */
	/* Bytes of its body, as sent, that were read before the response was sent; discarded bytes
	 * don't count. */
	uint64_t received;
	uint64_t sent;        /* bytes of the response that the kernel took, with the head */
	uint64_t duration_ns; /* since its head was complete */
	bool whole;           /* sent to the end; else the connection was cut */
};

/* The outcome of a WebSocket. */
struct eddy_socket_outcome {
	unsigned code; /* of the first close frame, of either side; 1006: there was none */
	uint64_t messages_received, messages_sent;
	uint64_t received, sent; /* bytes of frames, before TLS */
	uint64_t duration_ns;    /* since the handshake */
};

/* Log fields, and values for eddy_local_get(), of a socket's handler; as for eddy_req_annotate(),
 * but borrowed until the socket's end. */
struct eddy_socket_notes {
	const struct eddy_field *fields;
	const struct eddy_local *locals;
};

struct eddy_observer {
	/* Called when a head has arrived, or was rejected (eddy_req_refusal()). Fields set in `res`
	 * are in every response. Must not suspend. Return: the `state` for end(). */
	void *(*begin)(void *data, struct eddy_req *req, struct eddy_res *res);
	/* Called when the exchange is over; `req` is still valid. Must not suspend. */
	void (*end)(void *data, void *state, struct eddy_req *req,
		    const struct eddy_outcome *outcome);
	/* Called when the handler has accepted a socket's handshake, before the response is sent;
	 * may be NULL. If the response is not sent, because a filter has replaced it or the client
	 * has left, the socket ends with code 1006. `state` is of begin(). It may set `notes`. Must
	 * not suspend. Return: the state for socket_end(), which the request does not own. */
	void *(*socket)(void *data, void *state, struct eddy_req *req,
			struct eddy_socket_notes *notes);
	/* Called when the socket is over; may be NULL. `socket` is NULL if there is no socket().
	 * Must not suspend. */
	void (*socket_end)(void *data, void *socket, const struct eddy_socket_outcome *outcome);
};

/* Observe every request of an app; `data` is borrowed for the app's life. The last observer ends
 * first. */
EDDY_API void eddy_app_observe(struct eddy_app *app, const struct eddy_observer *observer,
			       void *data);

/* Add log fields, and values for eddy_local_get(), to a request: its filters, handler and tasks,
 * and the sending of the response. Lists are shaped like those of EDDY_FIELDS() and EDDY_LOCALS(),
 * or NULL, and borrowed for the request's life; a list on the stack of the calling task is copied,
 * but not what its items point to. Only from begin(). Return: 0, -ENOMEM. */
EDDY_API int eddy_req_annotate(struct eddy_req *req, const struct eddy_field *fields,
			       const struct eddy_local *locals);

/* Get the pattern of the route that answers, groups included; .ptr is NULL if there is none. */
EDDY_API struct eddy_str eddy_req_pattern(const struct eddy_req *req);

EDDY_END_DECLS

#endif
