/* conns.h: the connections of one loop: which go when there is no room, and how they end. */
#ifndef EDDYI_CONNS_H
#define EDDYI_CONNS_H

#include "holders.h"
#include "wire/wire.h"

#include <eddy/runtime.h>

struct eddy_client;
struct eddy_req;

enum eddyi_conn_state {
	EDDYI_CONN_PARKED,  /* `op` receives; no task */
	EDDYI_CONN_BUSY,    /* a task owns the connection */
	EDDYI_CONN_CLOSING, /* `op` closes, once it receives no more */
};

/* How far a request is looked after. */
enum eddyi_presence {
	EDDYI_PRESENCE_NEW,  /* no sweep has seen it */
	EDDYI_PRESENCE_SEEN, /* one has */
	EDDYI_PRESENCE_DONE, /* a poll is armed, or was, or is not wanted */
};

/* What has come of connections: written by their loop, and read by any thread. */
struct eddyi_conn_counts {
	uint64_t accepted;
	uint64_t closed;
	uint64_t serving; /* now: requests in progress */
	uint64_t refused;
	uint64_t over_address;
	uint64_t evicted[EDDYI_STANDING_BUSY]; /* by what they were */
	uint64_t slow_bodies;
	uint64_t slow_writes;
	uint64_t accept_failures;
	uint64_t proxy_failures;
};

#define eddyi_conn_count(conns, field) eddyi_conn_count_by(conns, field, 1)
#define eddyi_conn_count_by(conns, field, by)                                                      \
	__atomic_store_n(&(conns)->counts.field, (conns)->counts.field + (by), __ATOMIC_RELAXED)

/* Invariants:
 * 1. Every connection has a seat in `holders`. It is IDLE while it is parked between two requests, HEAD while it is
 *    parked for any other reason, SLOW or BUSY while a task has it, and BUSY once it is closed or about to be.
 *    Bytes that are no part of a request give it no new place and no new time.
 * 2. `count` is how many there are.
 * 3. After an impatient eddyi_conns_stop() none is parked but those of which a part of a request has arrived.
 */
struct eddyi_conns {
	const struct eddy_app *app;
	struct eddyi_clocks *clocks;
	struct eddy_scope *tasks; /* one task for each request in progress */
	struct eddyi_holders holders;
	struct eddyi_tally *tally;    /* of all loops; NULL: an address may have any number */
	struct eddy_node in_progress; /* connections with a request that is being answered */
	struct eddy_timer sweep; /* armed while there are any, and until the next one finds none */
	unsigned count;
	unsigned leaving;                /* of them, that have been evicted */
	uint64_t crowd_seen_ns;          /* when those of one address were last looked at */
	struct eddyi_conn_counts counts; /* zeroed when nobody else can look yet */
	struct eddy_client *client;      /* of handlers; NULL: none has asked for it */
	void (*free_client)(struct eddy_client *client); /* programs that never ask link none */
	bool stopping;          /* the next answer of every connection is its last */
	struct eddy_event stop; /* set with it, for handlers */
	bool patient; /* then a connection that was told it may ask again may still do so */
	void (*evictable)(
		struct eddyi_conns *conns); /* one could be evicted now that could not be before */
	void (*gone)(struct eddyi_conns *conns); /* one has been closed */
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
	struct eddyi_seat seat;
	struct eddy_scope *beside;    /* while a task does what is no part of a request */
	struct eddy_req *req;         /* whose head is arriving, or that is being answered */
	struct eddy_node progress;    /* in in_progress, while it is being answered */
	struct eddyi_conn_poll *poll; /* tells that the client has left; NULL: none */
	uint8_t state;
	uint8_t presence; /* enum eddyi_presence, of the request in progress */
	bool expired;     /* the time of a parked connection is up */
	bool evicted;     /* to be closed for want of room, or at the end */
	bool fresh;       /* no request yet */
	bool arriving;    /* parked, and a part of a request is here */
	bool proxy_due; /* nor all of the PROXY header that comes first: a part may be in the inbox */
	bool brief;     /* the last request had no body: the next will have none either, it seems */
};

/* Begin without connections; the other members have been set. */
void eddyi_conns_init(struct eddyi_conns *conns);

/* Let go of what is kept for them, when none is left. In a task. */
void eddyi_conns_deinit(struct eddyi_conns *conns);

/* A head or a handshake has this time before its connection may be closed to make room. Without it those who come
 * while all others are busy would be closed one for the other, before any of them could ask. Those of a crowd have less. */
#define EDDYI_SPARED_NS (500 * EDDY_MS)
#define EDDYI_CROWD_SPARED_NS (50 * EDDY_MS)

/* Whether a holder has so many connections that others wait for it: more than 16, and an eighth of all. */
static inline bool eddyi_conns_is_crowd(const struct eddyi_conns *conns,
					const struct eddyi_holder *holder)
{
	return holder->count > 16 && holder->count > conns->count / 8;
}

/* Close a connection to make room: of those that are idle, whose head is incomplete, or whose body or answer is too
 * slow, in this order, that which holders.h says.
 * Return: 0; -ENOENT when there is none; -EAGAIN when there is one at `*ret_until_ns`. */
int eddyi_conns_evict(struct eddyi_conns *conns, uint64_t *ret_until_ns);

/* Cut what a connection is doing short: it is closed without an answer. */
void eddyi_conn_evict(struct eddyi_conn *conn);

/* Have the connection that has been accepted counted for the address that it comes from.
 * Return: 0; -EDQUOT when that has as many as it may have, -ENOMEM: it has no seat. */
int eddyi_conn_seat(struct eddyi_conn *conn);

/* Count it for another address instead: that of the client for which a proxy speaks.
 * Return: 0; -EDQUOT, -ENOMEM: to be closed. */
int eddyi_conn_reseat(struct eddyi_conn *conn, const struct eddyi_ip *ip);

/* Remove the connection from its holder and the tally. */
void eddyi_conn_unseat(struct eddyi_conn *conn);

/* Emit a DEBUG record of a connection that is closed, and say why. */
void eddyi_conn_tell(const struct eddyi_conn *conn, const char *why);

/* From now on every answer is the last one of its connection. Connections that have not asked anything are closed,
 * unless it is done patiently. */
void eddyi_conns_stop(struct eddyi_conns *conns, bool patient);

/* Close what still waits for the rest of a head. */
void eddyi_conns_evict_parked(struct eddyi_conns *conns);

#endif
