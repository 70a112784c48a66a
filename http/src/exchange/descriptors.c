#include "descriptors.h"

#include <eddy/task.h>
#include <errno.h>
#include <stddef.h>

/* A connection that is closed has to unwind, and to close a file on the offload pool. */
#define TRY_NS (10 * EDDY_MS)
#define TRIES_MAX 50
#define LATE_TRIES 5

static _Thread_local struct {
	eddyi_make_room_fn *make_room;
	void *arg;
	unsigned taken;
} descriptors;

void eddyi_descriptors_begin(eddyi_make_room_fn *fn, void *arg)
{
	descriptors.make_room = fn;
	descriptors.arg = arg;
}

static bool make_room(struct eddyi_party *party, unsigned tries)
{
	return !descriptors.make_room ||
	       descriptors.make_room(descriptors.arg, party, tries >= LATE_TRIES);
}

int eddyi_descriptors_take(struct eddyi_party *party)
{
	int r = 0;

	descriptors.taken++;
	for (unsigned tries = 0; r == 0 && !make_room(party, tries); tries++)
		r = tries < TRIES_MAX ? eddy_sleep(TRY_NS) : -EMFILE;
	if (r < 0)
		eddyi_descriptors_give_back();
	return r;
}

void eddyi_descriptors_give_back(void)
{
	descriptors.taken--;
}

unsigned eddyi_descriptors_taken(void)
{
	return descriptors.taken;
}
