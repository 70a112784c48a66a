#include "balance.h"

#include <eddy/internal/outside.h>
#include <stdlib.h>

struct handed {
	struct eddy_message message;
	struct eddyi_share *share;
	const struct eddyi_address *address;
	int fd;
};

static uint64_t load(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Count a loop's connections, including those on their way to it. */
static uint64_t held_by(const struct eddyi_share *share)
{
	const struct eddyi_conn_counts *counts = &share->conns->counts;
	/* Loaded first: a connection that arrives meanwhile is counted twice rather than missed. */
	uint64_t coming = atomic_load(&share->coming);
	uint64_t gone = load(&counts->closed) + load(&counts->refused);
	uint64_t accepted = load(&counts->accepted);

	return (accepted > gone ? accepted - gone : 0) + coming;
}

void eddyi_share_open(struct eddyi_share *share, struct eddyi_conns *conns, unsigned max)
{
	share->conns = conns;
	share->max = max;
	share->loop = eddy_loop_self();
	atomic_store(&share->open, true);
}

void eddyi_share_close(struct eddyi_share *share)
{
	atomic_store(&share->open, false);
	/* Until this loop's next turn, or until another loop finds the share closed. */
	while (atomic_load(&share->coming))
		eddy_sleep(EDDY_MS);
}

static void deliver(struct eddy_message *message)
{
	struct handed *handed = eddy_of(message, struct handed, message);
	struct eddyi_share *share = handed->share;

	eddyi_conn_new(share->conns, handed->fd, handed->address);
	atomic_fetch_sub(&share->coming, 1);
	free(handed);
}

static struct eddyi_share *least_of(const struct eddyi_balance *balance, uint64_t *ret_held)
{
	struct eddyi_share *least = NULL;
	uint64_t held;

	for (unsigned i = 0; i < balance->count; i++) {
		struct eddyi_share *share = &balance->shares[i];

		if (!atomic_load(&share->open))
			continue;
		held = held_by(share);
		if (!least || held < *ret_held) {
			least = share;
			*ret_held = held;
		}
	}
	return least;
}

/* Reserve a place at the loop with the fewest connections. Return: NULL if this loop keeps its own. */
static struct eddyi_share *reserve(const struct eddyi_balance *balance,
				   const struct eddyi_share *own)
{
	uint64_t mine, least_held = 0;
	struct eddyi_share *least;

	if (balance->count < 2 || !atomic_load(&own->open))
		return NULL;
	mine = held_by(own);
	if (!mine)
		return NULL;
	least = least_of(balance, &least_held);
	if (!least || mine <= least_held || mine + 1 <= least_held + least_held / 8)
		return NULL;
	atomic_fetch_add(&least->coming, 1);
	if (atomic_load(&least->open) && held_by(least) < least->max)
		return least;
	atomic_fetch_sub(&least->coming, 1);
	return NULL;
}

bool eddyi_balance_hand_over(const struct eddyi_balance *balance, const struct eddyi_share *own,
			     int fd, const struct eddyi_address *address)
{
	struct eddyi_share *least = reserve(balance, own);
	struct handed *handed;

	if (!least)
		return false;
	handed = malloc(sizeof(*handed));
	if (!handed) {
		atomic_fetch_sub(&least->coming, 1);
		return false;
	}
	*handed = (struct handed){ { .deliver = deliver }, least, address, fd };
	eddy_loop_post(least->loop, &handed->message);
	return true;
}
