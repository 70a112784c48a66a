/* http1.h: the state of a connection that speaks HTTP/1, and of its request. */
#ifndef EDDYI_HTTP1_H
#define EDDYI_HTTP1_H

#include "exchange/exchange.h"
#include "framed.h"
#include "parked/parked.h"
#include "reply_head.h"
#include "request_head.h"
#include "wire/wire.h"

/* A request by HTTP/1.
 *
 * Invariant: `reply` is decided with the head, which is sent as soon as there is something to send
 * with it: until then `head_due` is set. */
struct eddyi_http1 {
	struct eddy_req req;
	struct eddyi_request_head head;
	struct eddyi_framed_body body;
	struct eddyi_pace pace; /* of body and response */
	struct eddyi_reply reply;
	bool head_due;
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
 * 1. While the receive of `parked` is armed and a task owns the connection, `wire.ahead` is set, and
 *    the task ends that receive before it reads the socket.
 * 2. The bytes of one armed receive fit into the inbox, whatever becomes of them. */
struct eddyi_conn {
	struct eddyi_parked parked;
	struct eddyi_stream stream; /* of all its requests */
	struct eddyi_wire wire;
	struct eddyi_end *end;        /* NULL: not yet determined */
	struct eddy_scope *beside;    /* cancels a task's work outside requests; else NULL */
	struct eddyi_http1 *req;      /* its head is arriving, or it is being handled */
	struct eddyi_conn_poll *poll; /* detects that the client disconnects; NULL: none */
	uint8_t presence;             /* enum eddyi_presence, of the request in progress */
	bool fresh;                   /* no request yet */
	bool proxy_due; /* the PROXY header is incomplete; a part may be in the inbox */
	bool brief;     /* the last request had no body, so expect none next */
};

#endif
