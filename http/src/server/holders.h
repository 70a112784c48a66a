/* holders.h: the addresses that a loop's connections come from, and which connection goes first when there is no room.
 *
 * A connection has a standing, which says whether it may be closed to make room. Of those of one standing a
 * connection of the address that holds most goes first; among addresses that hold as many, that which has had as many, and one of
 * this standing, for longest, and of that the connection that took it first. IPv6 addresses are told apart by their
 * first 64 bits: that is what one customer has.
 */
#ifndef EDDYI_HOLDERS_H
#define EDDYI_HOLDERS_H

#include "exchange/holding.h"
#include "text/network.h"

#include <eddy/list.h>
#include <pthread.h>

/* In the order in which they go. */
enum eddyi_standing {
	EDDYI_STANDING_IDLE, /* between two requests */
	EDDYI_STANDING_HEAD, /* a head, or a TLS handshake, is incomplete */
	EDDYI_STANDING_SLOW, /* a body or an answer makes less progress than it must */
	EDDYI_STANDING_BUSY, /* never closed to make room */
};
#define EDDYI_STANDINGS 4

/* Addresses that hold more connections than this are alike. */
#define EDDYI_HELD_MAX 4095

struct eddyi_holder {
	struct eddyi_holder *next; /* in its bucket */
	struct eddyi_ip ip;
	unsigned count; /* connections */
	struct eddyi_holding holding;
	struct eddy_node seats[EDDYI_STANDINGS];
	struct eddy_node ranks[EDDYI_STANDING_BUSY];
};

/* A connection's place at its holder. */
struct eddyi_seat {
	struct eddy_node node;
	struct eddyi_holder *holder;
	struct eddyi_party party; /* as requests know it */
	enum eddyi_standing standing;
};

/* The holders that have a connection of one standing, by how many connections they hold. */
struct eddyi_ranking {
	struct eddy_node *by_count; /* .next is NULL in what has never been used */
	uint64_t used[(EDDYI_HELD_MAX + 1) / 64];
	uint64_t used_words;
};

/* Invariants:
 * 1. A holder is in a bucket as long as it holds a connection; `nobody` is in none, and counts as one that holds none.
 * 2. A holder that has connections of a standing is in its ranking, at min(count, rank_max). One that has none any
 *    more stays until somebody looks for the first: most come back with the next request.
 * 3. A bit is set in `used` for each list of `by_count` that is not empty, in `used_words` for each word that is not 0.
 * 4. Each call takes the same time, on average, however many there are, as long as the addresses do not outnumber
 *    the buckets.
 */
struct eddyi_holders {
	struct eddyi_holder **buckets; /* NULL: everybody is nobody */
	size_t bucket_mask;
	uint64_t secret[2];
	struct eddyi_holder nobody;   /* unix sockets, trusted proxies: those who are not counted */
	struct eddyi_holder *largest; /* held more than all others when its last connection came */
	struct eddyi_ranking rankings[EDDYI_STANDING_BUSY];
	struct eddy_node *by_count; /* of all rankings, each with as many as: */
	unsigned rank_max;
};

/* Make a table without buckets. */
void eddyi_holders_init(struct eddyi_holders *holders);

/* Have buckets for `max` connections. Return: 0, -ENOMEM. */
int eddyi_holders_open(struct eddyi_holders *holders, unsigned max);

/* Free the table; no seat is left. */
void eddyi_holders_deinit(struct eddyi_holders *holders);

/* Seat a busy connection that comes from `ip`; NULL: it is not counted. Return: false when memory is out. */
bool eddyi_holders_seat(struct eddyi_holders *holders, struct eddyi_seat *seat,
			const struct eddyi_ip *ip);

void eddyi_holders_unseat(struct eddyi_holders *holders, struct eddyi_seat *seat);

/* Change a standing. One that stays keeps its place. */
void eddyi_holders_move(struct eddyi_holders *holders, struct eddyi_seat *seat,
			enum eddyi_standing standing);

/* Return: the one of this standing that goes first; NULL when there is none. */
struct eddyi_seat *eddyi_holders_first(struct eddyi_holders *holders, enum eddyi_standing standing);

/* Call `fn` for all connections; it may change the standing of this one. */
void eddyi_holders_each(struct eddyi_holders *holders, void (*fn)(struct eddyi_seat *seat));

/* How many connections each address has on all loops, for those who limit that. */
struct eddyi_tally {
	pthread_mutex_t lock;
	struct eddyi_holders holders;
};

/* Make a tally for `max` connections. Return: 0, -ENOMEM. */
int eddyi_tally_init(struct eddyi_tally *tally, unsigned max);

void eddyi_tally_deinit(struct eddyi_tally *tally);

/* Count a connection from `ip`. Any thread. Return: 0, -EDQUOT when there are `max` already, -ENOMEM. */
int eddyi_tally_take(struct eddyi_tally *tally, const struct eddyi_ip *ip, unsigned max);

/* Uncount a connection from `ip`. Any thread. */
void eddyi_tally_give_back(struct eddyi_tally *tally, const struct eddyi_ip *ip);

#endif
