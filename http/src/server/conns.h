/* conns.h: the connections of one loop: who goes when there is no room, and how they end. */
#ifndef EDDYI_CONNS_H
#define EDDYI_CONNS_H

#include "wire/wire.h"

#include <eddy/runtime.h>

struct eddy_client;
struct eddy_req;

enum eddyi_conn_state {
	EDDYI_CONN_PARKED,  /* `op` receives; no task */
	EDDYI_CONN_BUSY,    /* a task owns the connection */
	EDDYI_CONN_CLOSING, /* `op` closes, once it receives no more */
};

/* What has come of connections: written by their loop, and read by any thread. */
struct eddyi_conn_counts {
	uint64_t accepted;
	uint64_t closed;
	uint64_t serving; /* now: requests in progress */
	uint64_t refused;
	uint64_t evicted;
	uint64_t accept_failures;
	uint64_t proxy_failures;
};

#define eddyi_conn_count(conns, field) eddyi_conn_count_by(conns, field, 1)
#define eddyi_conn_count_by(conns, field, by)                                                      \
	__atomic_store_n(&(conns)->counts.field, (conns)->counts.field + (by), __ATOMIC_RELAXED)

/* Invariants:
 * 1. Every connection is in `fresh` (parked, no byte of its first request received), in `idle` (parked
 *    between two requests; the longest idle first) or in `active`.
 *    Bytes that are no part of a request give it no new place and no new time.
 * 2. `count` is how many there are.
 * 3. After an impatient eddyi_conns_stop() nothing is parked in `fresh` or `idle`.
 */
struct eddyi_conns {
	const struct eddy_app *app;
	struct eddyi_clocks *clocks;
	struct eddy_scope *tasks; /* one task for each request in progress */
	struct eddy_node fresh;
	struct eddy_node idle;
	struct eddy_node active;
	unsigned count;
	struct eddyi_conn_counts counts; /* zeroed when nobody else can look yet */
	struct eddy_client *client;      /* of handlers; NULL: none has asked for it */
	void (*free_client)(struct eddy_client *client); /* programs that never ask link none */
	bool stopping;          /* the next answer of every connection is its last */
	struct eddy_event stop; /* set with it, for handlers */
	bool patient; /* then a connection that was told it may ask again may still do so */
	void (*became_idle)(struct eddyi_conns *conns); /* one could be evicted now */
	void (*gone)(struct eddyi_conns *conns);        /* one has been closed */
};

/* Invariants:
 * 1. Nobody receives twice. `op` is armed in PARKED; where it still is in BUSY, `wire.ahead` says so, and no
 *    task reads the socket.
 * 2. What one arming brings fits into the inbox, whatever is done with it.
 */
struct eddyi_conn {
	struct eddyi_conns *conns;
	struct eddyi_wire wire;
	struct eddy_op op;
	struct eddy_node node;
	struct eddy_scope *beside; /* while a task does what is no part of a request */
	struct eddy_req *req;      /* whose head is arriving, or that is being answered */
	uint8_t state;
	bool expired;   /* the time of a parked connection is up */
	bool evicted;   /* to be closed for want of room, or at the end */
	bool fresh;     /* no request yet */
	bool proxy_due; /* nor all of the PROXY header that comes first: a part may be in the inbox */
	bool brief;     /* the last request had no body: the next will have none either, it seems */
};

/* Begin without connections; the other members have been set. */
void eddyi_conns_init(struct eddyi_conns *conns);

/* Let go of what is kept for them, when none is left. In a task. */
void eddyi_conns_deinit(struct eddyi_conns *conns);

/* Close the connection that has been idle for longest. Return: false when none is. */
bool eddyi_conns_evict_idle(struct eddyi_conns *conns);

/* From now on every answer is the last one of its connection. Who has not asked anything is closed, unless
 * it is done patiently. */
void eddyi_conns_stop(struct eddyi_conns *conns, bool patient);

/* Close what still waits for the rest of a head. */
void eddyi_conns_evict_parked(struct eddyi_conns *conns);

#endif
