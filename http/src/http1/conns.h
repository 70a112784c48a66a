/* conns.h: the connections of one loop, their eviction if there is no room, and their shutdown. */
#ifndef EDDYI_CONNS_H
#define EDDYI_CONNS_H

#include "exchange/exchange.h"
#include "framed.h"
#include "parked/holders.h"
#include "reply_head.h"
#include "request_head.h"
#include "wire/wire.h"

#include <eddy/runtime.h>

enum eddyi_conn_state {
	EDDYI_CONN_PARKED,  /* `op` receives; no task */
	EDDYI_CONN_BUSY,    /* a task owns the connection */
	EDDYI_CONN_CLOSING, /* `op` closes, after the receive has ended */
};

/* Progress of watching for the client's disconnect during a request. */
enum eddyi_presence {
	EDDYI_PRESENCE_NEW,  /* not seen by a sweep */
	EDDYI_PRESENCE_SEEN, /* seen by one sweep */
	EDDYI_PRESENCE_DONE, /* a poll is armed, was armed, or is not needed */
};

/* Counters of connections, written by their loop and read by any thread. */
struct eddyi_conn_counts {
	uint64_t accepted;
	uint64_t closed;
	uint64_t serving; /* requests in progress now */
	uint64_t refused;
	uint64_t over_address;
	uint64_t evicted[EDDYI_STANDING_BUSY]; /* by standing */
	uint64_t slow_bodies;
	uint64_t slow_writes;
	uint64_t accept_failures;
	uint64_t proxy_failures;
};

#define eddyi_conn_count(conns, field) eddyi_conn_count_by(conns, field, 1)
#define eddyi_conn_count_by(conns, field, by)                                                      \
	__atomic_store_n(&(conns)->counts.field, (conns)->counts.field + (by), __ATOMIC_RELAXED)

/* Invariants:
 * 1. Every connection has a seat in `holders`: IDLE while it is parked between two requests, HEAD
 *    while it is parked otherwise, SLOW or BUSY while a task owns it, and BUSY once it is closed or
 *    about to be. Bytes that are not part of a request change neither its place nor its timeout.
 * 2. `count` is the number of connections.
 * 3. After a stop that is not patient, each parked connection has a part of a request. */
struct eddyi_conns {
	const struct eddy_app *app;
	struct eddyi_clocks *clocks;
	struct eddy_scope *tasks; /* one for each request in progress */
	struct eddyi_holders holders;
	struct eddyi_tally *tally;    /* over all loops; NULL: no limit by address */
	struct eddy_node in_progress; /* connections whose request is being handled */
	struct eddy_timer sweep; /* armed while in_progress is not empty, until it finds none */
	unsigned count;
	unsigned leaving;                /* of `count`, evicted and not yet closed */
	uint64_t crowd_seen_ns;          /* the last check of a crowd (conn_pace.h) */
	struct eddyi_conn_counts counts; /* zeroed before other threads can read them */
	struct eddyi_service service;    /* its `stop` is set together with: */
	bool stopping;                   /* the next response of every connection is its last */
	/* Then clients with an open connection may still send a request. */
	bool patient;
	/* A connection has become evictable. */
	void (*evictable)(struct eddyi_conns *conns);
	void (*gone)(struct eddyi_conns *conns); /* one has been closed */
};

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
	bool unread; /* the rest of the request's body was too long or malformed */
};

static inline struct eddyi_http1 *eddyi_http1_of(const struct eddy_req *req)
{
	return eddy_of(req, struct eddyi_http1, req);
}

/* Invariants:
 * 1. A socket has one receiver. `op` is armed in PARKED; if it is still armed in BUSY, `wire.ahead`
 *    is set, and no task reads the socket.
 * 2. The bytes of one armed receive fit into the inbox, whatever becomes of them. */
struct eddyi_conn {
	struct eddyi_conns *conns;
	struct eddyi_stream stream; /* of all its requests */
	struct eddyi_wire wire;
	struct eddyi_end *end; /* NULL: not yet determined */
	struct eddy_op op;
	struct eddyi_seat seat;
	struct eddy_scope *beside;    /* cancels a task's work outside requests; else NULL */
	struct eddyi_http1 *req;      /* its head is arriving, or it is being handled */
	struct eddy_node progress;    /* in in_progress, while `req` is being handled */
	struct eddyi_conn_poll *poll; /* detects that the client disconnects; NULL: none */
	uint8_t state;
	uint8_t presence; /* enum eddyi_presence, of the request in progress */
	bool expired;     /* the timeout of a parked connection has expired */
	bool evicted;     /* to be closed to make room, or for shutdown */
	bool fresh;       /* no request yet */
	bool arriving;    /* parked with a part of a request */
	bool proxy_due;   /* the PROXY header is incomplete; a part may be in the inbox */
	bool brief;       /* the last request had no body, so expect none next */
};

/* Initialize an empty set. The caller has set the other members. */
void eddyi_conns_init(struct eddyi_conns *conns);

/* Free what is kept for connections, after the last has closed. Call it in a task. */
void eddyi_conns_deinit(struct eddyi_conns *conns);

/* Minimum time of a head or handshake before eviction; less in a crowd. Without it, new connections
 * would evict each other before sending a request while all others are busy. */
#define EDDYI_SPARED_NS (500 * EDDY_MS)
#define EDDYI_CROWD_SPARED_NS (50 * EDDY_MS)

/* Whether a holder crowds out others: more than 16 connections, and more than an eighth of all. */
static inline bool eddyi_conns_is_crowd(const struct eddyi_conns *conns,
					const struct eddyi_holder *holder)
{
	return holder->count > 16 && holder->count > conns->count / 8;
}

/* Close a connection to make room: an idle one, else one with an incomplete head, else a slow one.
 * holders.h says which of them.
 * Return: 0; -ENOENT if there is none; -EAGAIN if there will be one at `*ret_until_ns`. */
int eddyi_conns_evict(struct eddyi_conns *conns, uint64_t *ret_until_ns);

/* Cancel a connection's work, and close it without a response. */
void eddyi_conn_evict(struct eddyi_conn *conn);

/* Count an accepted connection for its source address.
 * Return: 0; -EDQUOT if the address has reached its limit, -ENOMEM: it has no seat. */
int eddyi_conn_seat(struct eddyi_conn *conn);

/* Count the connection for another address: that of the client behind a proxy.
 * Return: 0; -EDQUOT, -ENOMEM: it must be closed. */
int eddyi_conn_reseat(struct eddyi_conn *conn, const struct eddyi_ip *ip);

void eddyi_conn_unseat(struct eddyi_conn *conn);

/* Emit a DEBUG log record that says why a connection is closed. */
void eddyi_conn_tell(const struct eddyi_conn *conn, const char *why);

/* Make the next response of every connection its last. Unless `patient`, close connections without
 * a part of a request. */
void eddyi_conns_stop(struct eddyi_conns *conns, bool patient);

/* Close connections that wait for the rest of a head. */
void eddyi_conns_evict_parked(struct eddyi_conns *conns);

#endif
