#include "holders.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/siphash.h>
#include <errno.h>
#include <stdlib.h>

#define BUCKETS_MAX 65536

/* ---- addresses ---- */

static void init_holder(struct eddyi_holder *holder)
{
	for (int i = 0; i < EDDYI_STANDINGS; i++)
		eddy_list_init(&holder->seats[i]);
}

void eddyi_holders_init(struct eddyi_holders *holders)
{
	*holders = (struct eddyi_holders){ 0 };
	init_holder(&holders->nobody);
}

int eddyi_holders_open(struct eddyi_holders *holders, unsigned max)
{
	size_t buckets = 1, counts;

	while (buckets < max && buckets < BUCKETS_MAX)
		buckets *= 2;
	if (eddyi_random(holders->secret, sizeof(holders->secret), 0) < 0)
		return -ENOMEM;
	holders->rank_max = max < EDDYI_HELD_MAX ? max : EDDYI_HELD_MAX;
	counts = (size_t)holders->rank_max + 1;
	/* Pages that are never used take no memory. */
	holders->buckets = calloc(buckets, sizeof(*holders->buckets));
	holders->by_count = calloc(counts * EDDYI_STANDING_BUSY, sizeof(*holders->by_count));
	if (!holders->buckets || !holders->by_count) {
		eddyi_holders_deinit(holders);
		return -ENOMEM;
	}
	holders->bucket_mask = buckets - 1;
	for (int i = 0; i < EDDYI_STANDING_BUSY; i++)
		holders->rankings[i].by_count = holders->by_count + (size_t)i * counts;
	return 0;
}

void eddyi_holders_deinit(struct eddyi_holders *holders)
{
	free(holders->buckets);
	free(holders->by_count);
	holders->buckets = NULL;
	holders->by_count = NULL;
}

static struct eddyi_ip network_of(const struct eddyi_ip *ip)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct eddyi_ip network = *ip;

	if (memcmp(ip->bytes, mapped, sizeof(mapped)) != 0)
		memset(network.bytes + 8, 0, 8);
	return network;
}

static struct eddyi_holder **find(struct eddyi_holders *holders, const struct eddyi_ip *network)
{
	uint64_t hash = eddyi_siphash(eddy_str((const char *)network->bytes, sizeof(*network)),
				      holders->secret);
	struct eddyi_holder **at = &holders->buckets[hash & holders->bucket_mask];

	while (*at && memcmp(&(*at)->ip, network, sizeof(*network)) != 0)
		at = &(*at)->next;
	return at;
}

/* Return: NULL on allocation failure. */
static struct eddyi_holder *find_or_make(struct eddyi_holders *holders, const struct eddyi_ip *ip)
{
	struct eddyi_ip network = network_of(ip);
	struct eddyi_holder **at = find(holders, &network), *holder = *at;

	if (holder)
		return holder;
	holder = calloc(1, sizeof(*holder));
	if (!holder)
		return NULL;
	init_holder(holder);
	holder->ip = network;
	*at = holder;
	return holder;
}

/* ---- ranking ---- */

static unsigned rank_of(const struct eddyi_holders *holders, const struct eddyi_holder *holder)
{
	return holder->count < holders->rank_max ? holder->count : holders->rank_max;
}

static void rank(struct eddyi_ranking *ranking, struct eddy_node *node, unsigned at)
{
	struct eddy_node *list = &ranking->by_count[at];

	if (!list->next)
		eddy_list_init(list);
	eddy_list_append(list, node);
	ranking->used[at / 64] |= 1ull << at % 64;
	ranking->used_words |= 1ull << at / 64;
}

static void unrank(struct eddyi_ranking *ranking, struct eddy_node *node, unsigned at)
{
	eddy_list_remove(node);
	if (!eddy_list_is_empty(&ranking->by_count[at]))
		return;
	ranking->used[at / 64] &= ~(1ull << at % 64);
	if (!ranking->used[at / 64])
		ranking->used_words &= ~(1ull << at / 64);
}

/* Move a ranked holder to the end of its list. */
static inline void rank_last(struct eddyi_ranking *ranking, struct eddy_node *node, unsigned at)
{
	struct eddy_node *list = &ranking->by_count[at];

	if (list->prev == node)
		return;
	eddy_list_remove(node);
	eddy_list_append(list, node);
}

static void count(struct eddyi_holders *holders, struct eddyi_holder *holder, int by)
{
	unsigned before = rank_of(holders, holder), after;

	if (holder == &holders->nobody)
		return;
	holder->count += (unsigned)by;
	if (by > 0 && (!holders->largest || holder->count > holders->largest->count))
		holders->largest = holder;
	after = rank_of(holders, holder);
	if (before == after)
		return;
	for (int i = 0; i < EDDYI_STANDING_BUSY; i++) {
		if (!holder->ranks[i].next)
			continue;
		unrank(&holders->rankings[i], &holder->ranks[i], before);
		rank(&holders->rankings[i], &holder->ranks[i], after);
	}
}

static void drop(struct eddyi_holders *holders, struct eddyi_holder *holder)
{
	struct eddyi_holder **at = find(holders, &holder->ip);

	for (int i = 0; i < EDDYI_STANDING_BUSY; i++)
		if (holder->ranks[i].next)
			unrank(&holders->rankings[i], &holder->ranks[i], rank_of(holders, holder));
	*at = holder->next;
	if (holders->largest == holder)
		holders->largest = NULL;
	free(holder);
}

/* ---- seats ---- */

static inline void enter(struct eddyi_holders *holders, struct eddyi_seat *seat)
{
	struct eddyi_holder *holder = seat->holder;
	enum eddyi_standing standing = seat->standing;
	struct eddy_node *list = &holder->seats[standing], *node;

	if (standing != EDDYI_STANDING_BUSY && eddy_list_is_empty(list) && holders->by_count) {
		node = &holder->ranks[standing];
		if (node->next)
			rank_last(&holders->rankings[standing], node, rank_of(holders, holder));
		else
			rank(&holders->rankings[standing], node, rank_of(holders, holder));
	}
	eddy_list_append(list, &seat->node);
}

bool eddyi_holders_seat(struct eddyi_holders *holders, struct eddyi_seat *seat,
			const struct eddyi_ip *ip)
{
	struct eddyi_holder *holder = &holders->nobody;

	if (ip && holders->buckets)
		holder = find_or_make(holders, ip);
	if (!holder)
		return false;
	count(holders, holder, 1);
	*seat = (struct eddyi_seat){ .holder = holder, .standing = EDDYI_STANDING_BUSY };
	seat->party.holding = holder == &holders->nobody ? NULL : &holder->holding;
	enter(holders, seat);
	return true;
}

void eddyi_holders_unseat(struct eddyi_holders *holders, struct eddyi_seat *seat)
{
	struct eddyi_holder *holder = seat->holder;

	eddy_list_remove(&seat->node);
	count(holders, holder, -1);
	if (holder != &holders->nobody && !holder->count)
		drop(holders, holder);
}

void eddyi_holders_move(struct eddyi_holders *holders, struct eddyi_seat *seat,
			enum eddyi_standing standing)
{
	if (seat->standing == standing)
		return;
	eddy_list_remove(&seat->node);
	seat->standing = standing;
	enter(holders, seat);
}

struct eddyi_seat *eddyi_holders_first(struct eddyi_holders *holders, enum eddyi_standing standing)
{
	struct eddyi_ranking *ranking = &holders->rankings[standing];

	while (ranking->used_words) {
		unsigned word = 63 - (unsigned)__builtin_clzll(ranking->used_words);
		unsigned at = word * 64 + 63 - (unsigned)__builtin_clzll(ranking->used[word]);
		struct eddy_node *node = ranking->by_count[at].next;
		struct eddyi_holder *holder = eddy_of(node, struct eddyi_holder, ranks[standing]);

		if (!eddy_list_is_empty(&holder->seats[standing]))
			return eddy_of(holder->seats[standing].next, struct eddyi_seat, node);
		unrank(ranking, node, at);
	}
	return NULL;
}

static void each_of(struct eddyi_holder *holder, void (*fn)(struct eddyi_seat *seat))
{
	/* From the last standing, so that `fn` is not called again for those it moves there. */
	for (int i = EDDYI_STANDINGS - 1; i >= 0; i--) {
		struct eddy_node *list = &holder->seats[i], *node = list->next, *next;

		for (; node != list; node = next) {
			next = node->next;
			fn(eddy_of(node, struct eddyi_seat, node));
		}
	}
}

void eddyi_holders_each(struct eddyi_holders *holders, void (*fn)(struct eddyi_seat *seat))
{
	each_of(&holders->nobody, fn);
	for (size_t i = 0; holders->buckets && i <= holders->bucket_mask; i++)
		for (struct eddyi_holder *holder = holders->buckets[i]; holder;
		     holder = holder->next)
			each_of(holder, fn);
}

/* ---- tally of all loops ---- */

int eddyi_tally_init(struct eddyi_tally *tally, unsigned max)
{
	pthread_mutex_init(&tally->lock, NULL);
	eddyi_holders_init(&tally->holders);
	return eddyi_holders_open(&tally->holders, max);
}

void eddyi_tally_deinit(struct eddyi_tally *tally)
{
	eddyi_holders_deinit(&tally->holders);
	pthread_mutex_destroy(&tally->lock);
}

int eddyi_tally_take(struct eddyi_tally *tally, const struct eddyi_ip *ip, unsigned max)
{
	struct eddyi_holder *holder;
	int r = 0;

	pthread_mutex_lock(&tally->lock);
	holder = find_or_make(&tally->holders, ip);
	if (!holder)
		r = -ENOMEM;
	else if (holder->count >= max)
		r = -EDQUOT;
	else
		holder->count++;
	pthread_mutex_unlock(&tally->lock);
	return r;
}

void eddyi_tally_give_back(struct eddyi_tally *tally, const struct eddyi_ip *ip)
{
	struct eddyi_ip network = network_of(ip);
	struct eddyi_holder *holder;

	pthread_mutex_lock(&tally->lock);
	holder = *find(&tally->holders, &network);
	if (!--holder->count)
		drop(&tally->holders, holder);
	pthread_mutex_unlock(&tally->lock);
}
