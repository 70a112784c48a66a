/* parked.h: connections that wait on a loop without a stack, and the set of all of them.
 *
 * A parked connection is a structure with a receive armed on the ring, a timeout and a place in the
 * order of eviction (holders.h). Bytes that arrive resume it; it may then be busy with a task,
 * which parks it again. The set makes room for others, and ends all of them at a shutdown. */
#ifndef EDDYI_PARKED_H
#define EDDYI_PARKED_H

#include "blocks.h"
#include "holders.h"

#include <eddy/runtime.h>

struct eddy_app;
struct eddyi_clocks;
struct eddyi_parked;

/* Room for the description of one. */
#define EDDYI_PARKED_TEXT_SIZE 256

/* Functions of each kind of connection. None of them suspends. */
struct eddyi_parked_verbs {
	/* Handle the result of a receive: `result` is its bytes or -errno, 0 at the end of the
	 * stream; if `last`, it has ended. Idle: become busy, wait again, or close. Busy: keep
	 * it. */
	void (*resume)(struct eddyi_parked *parked, struct eddy_str bytes, int result, bool last);
	/* Cancel the work of a busy one, which then closes. */
	void (*evict)(struct eddyi_parked *parked);
	/* The server begins to stop; NULL: nothing. */
	void (*stop)(struct eddyi_parked *parked);
	/* Whether a busy one waits for its client, and may be marked slow; NULL: it never is. */
	bool (*is_waiting)(const struct eddyi_parked *parked);
	/* Name it for a log record, such as "a connection to 127.0.0.1:80". */
	void (*describe)(const struct eddyi_parked *parked, char text[EDDYI_PARKED_TEXT_SIZE]);
	/* Free it, after its descriptor is closed. */
	void (*free)(struct eddyi_parked *parked);
};

enum eddyi_parked_state {
	EDDYI_PARKED_IDLE,    /* `op` receives; no task */
	EDDYI_PARKED_BUSY,    /* a task owns it; `op` may receive ahead */
	EDDYI_PARKED_CLOSING, /* `op` closes, after the receive has ended */
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
	uint64_t h2_begun;
	uint64_t h2_calmed;
	uint64_t h2_reset;
	uint64_t h2_refused;
};

#define eddyi_conn_count(conns, field) eddyi_conn_count_by(conns, field, 1)
#define eddyi_conn_count_by(conns, field, by)                                                      \
	__atomic_store_n(&(conns)->counts.field, (conns)->counts.field + (by), __ATOMIC_RELAXED)

/* Invariants:
 * 1. Every member has a seat in `holders`: IDLE while it waits without a part of a request, HEAD
 *    while it waits with one or before the first, SLOW or BUSY while a task owns it, and BUSY once
 *    it is closed or about to be. Bytes that are not part of a request change neither its place
 *    nor its timeout.
 * 2. `count` is the number of members.
 * 3. After a stop that is not patient, each idle member has a part of a request. */
struct eddyi_conns {
	const struct eddy_app *app;
	struct eddyi_clocks *clocks;
	struct eddy_scope *tasks; /* one for each request in progress */
	struct eddyi_holders holders;
	struct eddyi_tally *tally; /* over all loops; NULL: no limit by address */
	struct eddy_node http1;    /* its requests in progress */
	struct eddy_timer sweep;   /* of those, by http1/presence.c */
	struct eddyi_blocks blocks;
	unsigned count;
	unsigned leaving;                /* of `count`, evicted and not yet closed */
	uint64_t crowd_seen_ns;          /* the last check of a crowd */
	struct eddyi_conn_counts counts; /* zeroed before other threads can read them */
	struct eddyi_service service;    /* its `stop` is set together with: */
	bool stopping;                   /* the next response of every member is its last */
	/* Then clients with an open connection may still send a request. */
	bool patient;
	bool crowded; /* a client waits to be accepted, and no member is evictable */
	/* A member has become evictable while `crowded` is set. */
	void (*evictable)(struct eddyi_conns *conns);
	void (*gone)(struct eddyi_conns *conns); /* one has been closed */
};

/* Invariants:
 * 1. A socket has one receiver: while `op` is armed, no task reads it.
 * 2. `timeout` is in one queue at a time: that of the current wait. It is disarmed in CLOSING. */
struct eddyi_parked {
	const struct eddyi_parked_verbs *verbs;
	struct eddyi_conns *conns;
	struct eddy_timeout *timeout; /* owned by the connection, which also uses it while busy */
	struct eddy_op op;
	struct eddyi_seat seat;
	int fd;
	uint8_t state;
	bool expired; /* the timeout of an idle one has expired */
	bool evicted; /* to be closed to make room, or for shutdown */
	bool partial; /* idle with a part of a request */
	bool last;    /* no further request will be read */
};

/* ---- a connection ---- */

/* Begin with a descriptor, as a member of `conns` that is busy. The owner has set the other
 * members.
 * Return: 0; -EDQUOT if its address has reached its limit, -ENOMEM: it is no member. */
int eddyi_parked_begin(struct eddyi_parked *parked, struct eddyi_conns *conns, int fd);

/* Leave the set. The descriptor stays open. */
void eddyi_parked_end(struct eddyi_parked *parked);

/* Count it for another address: that of the client behind a proxy.
 * Return: 0; -EDQUOT, -ENOMEM: it must be closed. */
int eddyi_parked_reseat(struct eddyi_parked *parked, const struct eddyi_ip *ip);

/* Whether a timeout is armed in this queue. */
static inline bool eddyi_is_limited_by(const struct eddy_timeout *timeout,
				       const struct eddy_timeout_queue *queue)
{
	return timeout->node.next && timeout->queue == queue;
}

/* Wait for bytes with this standing, until the timeout of `queue`, which continues if it is that of
 * the last wait. Receive at most `len` bytes at once; 0: the size of a buffer. The connection has
 * not been evicted. */
void eddyi_parked_wait(struct eddyi_parked *parked, enum eddyi_standing standing,
		       struct eddy_timeout_queue *queue, size_t len);

/* Receive at most `len` bytes at once, as eddyi_parked_wait() does, whatever the state. It is not
 * receiving. */
void eddyi_parked_receive(struct eddyi_parked *parked, size_t len);

/* The timeout of an idle one has expired: it is resumed with an error. */
void eddyi_parked_expire(struct eddyi_parked *parked);

/* Become busy, before a task is started for it. */
static inline void eddyi_parked_leave(struct eddyi_parked *parked)
{
	/* A request that completes just as its timeout expires counts as arrived. */
	parked->expired = false;
	parked->state = EDDYI_PARKED_BUSY;
	eddyi_holders_move(&parked->conns->holders, &parked->seat, EDDYI_STANDING_BUSY);
}

/* Close the descriptor, and leave the set. No task uses it any more. */
void eddyi_parked_close(struct eddyi_parked *parked);

/* Cancel its work, and close it without a response. */
void eddyi_parked_evict(struct eddyi_parked *parked);

/* Emit a DEBUG log record that says why it is closed. */
void eddyi_parked_tell(const struct eddyi_parked *parked, const char *why);

/* ---- the set ---- */

/* Initialize an empty set. The caller has set the other members. */
void eddyi_conns_init(struct eddyi_conns *conns);

/* Free what is kept for members, after the last has closed. Call it in a task. */
void eddyi_conns_deinit(struct eddyi_conns *conns);

/* A member has become evictable. */
static inline void eddyi_conns_evictable(struct eddyi_conns *conns)
{
	if (conns->crowded)
		conns->evictable(conns);
}

/* Close a member to make room: an idle one, else one with an incomplete head, else a slow one.
 * holders.h says which of them.
 * Return: 0; -ENOENT if there is none; -EAGAIN if there will be one at `*ret_until_ns`. */
int eddyi_conns_evict(struct eddyi_conns *conns, uint64_t *ret_until_ns);

/* If one address crowds out others, mark some of its connections without progress as slow.
 * Return: whether there are any. */
bool eddyi_conns_find_slow(struct eddyi_conns *conns);

/* Make the next response of every member its last. Unless `patient`, close members without a part
 * of a request. */
void eddyi_conns_stop(struct eddyi_conns *conns, bool patient);

/* Close members that wait for the rest of a head. */
void eddyi_conns_evict_idle(struct eddyi_conns *conns);

#endif
