#include "descriptors.h"

#include <eddy/task.h>
#include <errno.h>
#include <stddef.h>

/* An evicted connection has to unwind, and to close a file on the offload pool. */
#define TRY_NS (10 * EDDY_MS)
#define TRIES_MAX 50
#define LATE_TRIES 5

static _Thread_local struct {
	const struct eddyi_descriptor_hooks *hooks;
	void *arg;
	unsigned taken;
} descriptors;

void eddyi_descriptors_begin(const struct eddyi_descriptor_hooks *hooks, void *arg)
{
	descriptors.hooks = hooks;
	descriptors.arg = arg;
}

static int await_share(struct eddyi_party *party)
{
	int r = 0;

	for (unsigned tries = 0;
	     r == 0 && descriptors.hooks && !descriptors.hooks->may_hold(descriptors.arg, party);
	     tries++)
		r = tries < TRIES_MAX ? eddy_sleep(TRY_NS) : -EMFILE;
	return r;
}

static int await_room(struct eddyi_party *party)
{
	unsigned tries;
	int r = 0;

	for (tries = 0; r == 0 && descriptors.hooks &&
			!descriptors.hooks->make_room(descriptors.arg, party, tries >= LATE_TRIES);
	     tries++)
		r = tries < TRIES_MAX ? eddy_sleep(TRY_NS) : -EMFILE;
	if (tries > LATE_TRIES && party && descriptors.hooks)
		descriptors.hooks->settle(descriptors.arg, party);
	return r;
}

int eddyi_descriptors_take(struct eddyi_party *party, bool is_upload)
{
	int r = is_upload && party && party->holding ? await_share(party) : 0;

	if (r < 0)
		return r;
	descriptors.taken++;
	if (is_upload && party && party->holding)
		party->holding->files++;
	r = await_room(party);
	if (r < 0)
		eddyi_descriptors_give_back(party, is_upload);
	return r;
}

void eddyi_descriptors_give_back(struct eddyi_party *party, bool is_upload)
{
	descriptors.taken--;
	if (is_upload && party && party->holding)
		party->holding->files--;
}

unsigned eddyi_descriptors_taken(void)
{
	return descriptors.taken;
}
