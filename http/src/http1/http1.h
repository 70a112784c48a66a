/* http1.h: the state of a connection that speaks HTTP/1, and of its request. */
#ifndef EDDYI_HTTP1_H
#define EDDYI_HTTP1_H

#include "exchange/exchange.h"
#include "framed.h"
#include "parked/parked.h"
#include "reply_head.h"
#include "request_head.h"
#include "wire/pace.h"
#include "wire/wire.h"

/* Watches the rate at which the peer of a connection sends a body or receives a response. */
struct eddyi_conn_pace {
	struct eddyi_pace pace;
	struct eddyi_conn *conn;
};

/* A request by HTTP/1.
 *
 * Invariant: `reply` is decided with the head, which is sent as soon as there is something to send
 * with it: until then `head_due` is set. */
struct eddyi_http1 {
	struct eddy_req req;
	struct eddyi_request_head head;
	struct eddyi_framed_body body;
	struct eddyi_conn_pace watch;
	struct eddyi_reply reply;
	bool head_due;
	struct eddyi_listener *listener; /* that the connection becomes; NULL: none */
};

static inline struct eddyi_http1 *eddyi_http1_of(const struct eddy_req *req)
{
	return eddy_of(req, struct eddyi_http1, req);
}

/* Progress of watching for the client's disconnect during a request. */
enum eddyi_presence {
	EDDYI_PRESENCE_NEW,  /* not seen by a sweep */
	EDDYI_PRESENCE_SEEN, /* seen by one sweep */
	EDDYI_PRESENCE_DONE, /* a poll is armed, was armed, or is not needed */
};

/* Invariants:
 * 1. While the receive of `parked` is armed and a task owns the connection, `wire.ahead` is set,
 *    and the task ends that receive before it reads the socket.
 * 2. The bytes of one armed receive fit into the inbox, whatever becomes of them. */
struct eddyi_conn {
	struct eddyi_parked parked;
	struct eddyi_stream stream; /* of all its requests */
	struct eddyi_wire wire;
	struct eddyi_end *end; /* NULL: not yet determined */
	/* Cancels what the task does outside an exchange: drain, flush, handshake, linger; NULL: it
	 * does none of these. */
	struct eddy_scope *beside;
	struct eddyi_http1 *req;         /* its head is arriving, or it is being handled */
	struct eddyi_ws_served *socket;  /* that it has become; NULL: none */
	struct eddyi_listener *listener; /* that it has become; NULL: none */
	struct eddyi_h2 *h2;             /* that it speaks; NULL: none */
	struct eddyi_conn_poll *poll;    /* detects that the client disconnects; NULL: none */
	uint8_t presence;                /* enum eddyi_presence, of the request in progress */
	bool fresh;                      /* no request yet */
	bool proxy_due; /* the PROXY header is incomplete; a part may be in the inbox */
	bool brief;     /* the last request had no body, so expect none next */
};

/* ---- detecting that the client of a request in progress has disconnected ---- */

/* A receive armed ahead detects it at once. Without one, a sweep, ten times a second, arms a poll
 * for requests that have been in progress for a while. Shorter ones cost a store and a branch. */

#define EDDYI_PRESENCE_NS (100 * EDDY_MS)

/* Arm the timer of the next sweep. */
void eddyi_presence_arm(struct eddyi_conns *conns);

/* Start watching the client at the beginning of a request, which is in progress from now on. */
static inline void eddyi_presence_begin(struct eddyi_conn *conn)
{
	struct eddyi_conns *conns = conn->parked.conns;

	conn->presence = EDDYI_PRESENCE_NEW;
	eddy_list_append(&conns->http1, &conn->req->req.in_progress);
	if (!eddy_timer_is_armed(&conns->sweep))
		eddyi_presence_arm(conns);
}

/* Cancel the poll. Suspends. */
void eddyi_presence_end_poll(struct eddyi_conn *conn);

/* Stop watching at the end of the request. May suspend. */
static inline void eddyi_presence_end(struct eddyi_conn *conn)
{
	eddy_list_remove(&conn->req->req.in_progress);
	if (conn->poll)
		eddyi_presence_end_poll(conn);
}

/* Check the socket after a receive armed ahead has ended, perhaps by the client's disconnect. */
void eddyi_presence_look(struct eddyi_conn *conn);

/* ---- HTTP/1.1 as the stream of a request ---- */

/* Initialize the stream of a connection whose other members are set. */
void eddyi_http1_init(struct eddyi_conn *conn);

/* The connection's state after an exchange. */
enum eddyi_ending {
	EDDYI_ENDING_KEEP,   /* another request may be read */
	EDDYI_ENDING_LINGER, /* it ends, but the client still sends */
	EDDYI_ENDING_CLOSE,
	EDDYI_ENDING_CUT,    /* it ends within the response */
	EDDYI_ENDING_SOCKET, /* it becomes a WebSocket */
	EDDYI_ENDING_LISTEN, /* the response goes on with the messages of a channel */
};

/* Handle a request whose head is complete or rejected. Suspends. */
enum eddyi_ending eddyi_http1_exchange(struct eddyi_http1 *http1);

/* Get the other end of a connection. Return: NULL if the client has reset the connection, or on
 * allocation failure. */
const struct eddyi_end *eddyi_conn_end(struct eddyi_conn *conn);

/* ---- WebSockets ---- */

/* Serve the connection as a socket, on the current task. It owns the connection from now on.
 * Suspends. */
void eddyi_http1_serve_socket(struct eddyi_conn *conn, struct eddyi_ws_served *served);

/* ---- event streams ---- */

/* As a verb of the stream. */
int eddyi_http1_listen(struct eddy_req *req, struct eddy_events_channel *channel,
		       struct eddy_str topic, struct eddyi_post *at);

/* Free one that is not parked. */
void eddyi_listener_free(struct eddyi_listener *listener);

/* Send the messages over the connection, which the listener owns from now on. */
void eddyi_http1_park_listener(struct eddyi_conn *conn, struct eddyi_listener *listener);

/* ---- HTTP/2 ---- */

/* Speak HTTP/2, which h2/ implements. `bytes` begin with the preface. It owns the connection from
 * now on. Return: false on allocation failure: the connection is to be closed. */
bool eddyi_conn_speak_h2(struct eddyi_conn *conn, struct eddy_str bytes);

/* Judge the rate of the current wait of a connection. */
enum eddyi_verdict eddyi_conn_judge_pace(const struct eddyi_conn *conn, struct eddyi_pace *pace);

/* Close a connection that does so no longer. With `lingers`, what it has sent is not lost if the
 * client still sends. */
void eddyi_conn_end_h2(struct eddyi_conn *conn, bool lingers);

/* Free a connection, after its descriptor is closed. */
void eddyi_conn_free(struct eddyi_parked *parked);

#endif
