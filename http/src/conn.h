/* conn.h: the connections of one loop, each from accept to close.
 *
 * Between requests a connection is parked: its structure, a receive armed on the ring, and no stack.
 * The completion function takes in a head as it arrives; a head that is complete (or refused) gets a
 * task, which answers it and what is pipelined behind it, and parks the connection again. The receive may
 * stay armed meanwhile, as the connection's bytes ahead; who wants to receive himself ends it first. A step of a
 * TLS handshake gets a task as well, once it can be done without waiting for the client.
 */
#ifndef EDDYI_CONN_H
#define EDDYI_CONN_H

#include "wire.h"

#include <eddy/runtime.h>

struct eddy_client;
struct eddy_req;
struct eddyi_address;

enum eddyi_conn_state {
	EDDYI_CONN_PARKED,  /* `op` receives; no task */
	EDDYI_CONN_BUSY,    /* a task owns the connection */
	EDDYI_CONN_CLOSING, /* `op` closes, once it receives no more */
};

/* What has come of connections: written by their loop, and read by any thread. */
struct eddyi_conn_counts {
	uint64_t accepted;
	uint64_t closed;
	uint64_t refused;
	uint64_t evicted;
	uint64_t accept_failures;
	uint64_t proxy_failures;
};

#define eddyi_conn_count(conns, field)                                                             \
	__atomic_store_n(&(conns)->counts.field, (conns)->counts.field + 1, __ATOMIC_RELAXED)

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

/* Take over a socket that was accepted at `address`, and park it. Loop's stack or a task. */
void eddyi_conn_new(struct eddyi_conns *conns, int fd, const struct eddyi_address *address);

/* Close the connection that has been idle for longest. Return: false when none is. */
bool eddyi_conns_evict_idle(struct eddyi_conns *conns);

/* From now on every answer is the last one of its connection. Who has not asked anything is closed, unless
 * it is done patiently. */
void eddyi_conns_stop(struct eddyi_conns *conns, bool patient);

/* Close what still waits for the rest of a head. */
void eddyi_conns_evict_parked(struct eddyi_conns *conns);

/* ---- between conn.c, conn_proxy.c and conn_tls.c ---- */

/* Have a new connection begin with a PROXY header. Return: false when it may not, or nobody knows from whom it is: it is
 * to be closed. */
bool eddyi_conn_await_proxy_header(struct eddyi_conn *conn);

/* Take in bytes of that header. Return: how many are of it, and it is whole; 0 when all are, and more is needed;
 * -EBADMSG, -EMSGSIZE, -ENOMEM. */
ssize_t eddyi_conn_take_in_proxy_header(struct eddyi_conn *conn, const char *bytes, size_t len);

/* Take in bytes of the head; what is behind it is kept.
 * Return: 0 when more are needed, else the head's status; -ENOMEM. */
int eddyi_conn_take_in(struct eddyi_conn *conn, const char *bytes, size_t len);

/* Take in encrypted bytes. Return: 1 when a step of the handshake is due; else as eddyi_conn_take_in(),
 * -errno. */
int eddyi_conn_take_in_sealed(struct eddyi_conn *conn, const char *bytes, size_t len);

/* Decrypt what is here, until it is a head. Return: as eddyi_conn_take_in(), -errno. */
int eddyi_conn_take_in_decrypted(struct eddyi_conn *conn);

/* Wait for bytes: of a new request, or of one whose head has begun to arrive. Without a part of one it is
 * closed instead when requests are not waited for any more. */
void eddyi_conn_park(struct eddyi_conn *conn);

/* Nothing of the connection is in use any more. */
void eddyi_conn_close(struct eddyi_conn *conn);

/* Tasks. The first answers requests until the next head is not there yet; the second does what is due of a
 * handshake, and goes on with what came behind it: no task waits for a client. */
int eddyi_conn_serve(void *arg);
int eddyi_conn_shake(void *arg);

#endif
