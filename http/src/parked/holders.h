/* holders.h: the source addresses of a loop's connections, and the order of eviction.
 *
 * A connection's standing says whether it may be closed to make room. Within a standing, a
 * connection of the address with the most connections goes first; among equals, of the address that
 * has had that number, and one of this standing, for the longest time; and of its connections the
 * one that entered the standing first. IPv6 addresses are compared by their first 64 bits, the
 * prefix of one customer. */
#ifndef EDDYI_HOLDERS_H
#define EDDYI_HOLDERS_H

#include "exchange/stream.h"
#include "text/network.h"

#include <eddy/list.h>
#include <pthread.h>

/* In order of eviction. */
enum eddyi_standing {
	EDDYI_STANDING_IDLE, /* between two requests */
	EDDYI_STANDING_HEAD, /* an incomplete head or TLS handshake */
	EDDYI_STANDING_SLOW, /* a body or response below its minimum rate */
	EDDYI_STANDING_BUSY, /* never evicted */
};
#define EDDYI_STANDINGS 4

/* Addresses with more connections than this rank equal. */
#define EDDYI_HELD_MAX 4095

struct eddyi_holder {
	struct eddyi_holder *next; /* in its bucket */
	struct eddyi_ip ip;
	unsigned count; /* of connections */
	struct eddyi_holding holding;
	struct eddy_node seats[EDDYI_STANDINGS];
	struct eddy_node ranks[EDDYI_STANDING_BUSY];
};

/* A connection's place at its holder. */
struct eddyi_seat {
	struct eddy_node node;
	struct eddyi_holder *holder;
	struct eddyi_party party; /* for its requests */
	enum eddyi_standing standing;
};

/* The holders with a connection of one standing, by their number of connections. */
struct eddyi_ranking {
	struct eddy_node *by_count; /* .next is NULL in lists never used */
	uint64_t used[(EDDYI_HELD_MAX + 1) / 64];
	uint64_t used_words;
};

/* Invariants:
 * 1. A holder is in a bucket while it has a connection. `nobody` is in none and has a count of 0.
 * 2. A holder with connections of a standing is in its ranking, at min(count, rank_max). Later it
 *    stays until eddyi_holders_first() finds it: most return with the next request.
 * 3. A bit is set in `used` for each list of `by_count` that is not empty, in `used_words` for each
 *    word that is not 0.
 * 4. Each call takes constant time on average, if there are fewer addresses than buckets. */
struct eddyi_holders {
	struct eddyi_holder **buckets; /* NULL: connections have no holder */
	size_t bucket_mask;
	uint64_t secret[2];
	struct eddyi_holder nobody; /* not counted: unix sockets and trusted proxies */
	/* Had more connections than all others when its last one was accepted. */
	struct eddyi_holder *largest;
	struct eddyi_ranking rankings[EDDYI_STANDING_BUSY];
	struct eddy_node *by_count; /* of all rankings, each with rank_max + 1 lists */
	unsigned rank_max;
};

/* Initialize a table without buckets. */
void eddyi_holders_init(struct eddyi_holders *holders);

/* Allocate buckets for `max` connections. Return: 0, -ENOMEM. */
int eddyi_holders_open(struct eddyi_holders *holders, unsigned max);

/* Free the table, which has no seats left. */
void eddyi_holders_deinit(struct eddyi_holders *holders);

/* Seat a busy connection from `ip`; NULL: it is not counted.
 * Return: false on allocation failure. */
bool eddyi_holders_seat(struct eddyi_holders *holders, struct eddyi_seat *seat,
			const struct eddyi_ip *ip);

void eddyi_holders_unseat(struct eddyi_holders *holders, struct eddyi_seat *seat);

/* Change a standing. If it is the same, the seat keeps its place. */
void eddyi_holders_move(struct eddyi_holders *holders, struct eddyi_seat *seat,
			enum eddyi_standing standing);

/* Find the connection of this standing to evict first. Return: NULL if there is none. */
struct eddyi_seat *eddyi_holders_first(struct eddyi_holders *holders, enum eddyi_standing standing);

/* Call `fn` for all connections. It may change the standing of its argument. */
void eddyi_holders_each(struct eddyi_holders *holders, void (*fn)(struct eddyi_seat *seat));

/* Connections of each address over all loops, for a limit by address. */
struct eddyi_tally {
	pthread_mutex_t lock;
	struct eddyi_holders holders;
};

/* Initialize a tally for `max` connections. Return: 0, -ENOMEM. */
int eddyi_tally_init(struct eddyi_tally *tally, unsigned max);

void eddyi_tally_deinit(struct eddyi_tally *tally);

/* Count a connection from `ip`. Any thread may call it.
 * Return: 0; -EDQUOT if there are `max`; -ENOMEM. */
int eddyi_tally_take(struct eddyi_tally *tally, const struct eddyi_ip *ip, unsigned max);

/* Uncount a connection from `ip`. Any thread may call it. */
void eddyi_tally_give_back(struct eddyi_tally *tally, const struct eddyi_ip *ip);

#endif
