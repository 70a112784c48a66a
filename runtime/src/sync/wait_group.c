#include <eddy/wait_group.h>

#include "core/own.h"
#include "core/queue.h"

#include <errno.h>

void eddy_wait_group_init(struct eddy_wait_group *group)
{
	*group = (struct eddy_wait_group){ 0 };
	eddy_list_init(&group->waiters);
}

void(eddy_wait_group_add)(struct eddy_wait_group *group, size_t n, const char *where)
{
	eddyi_own(&group->loop, "a wait group", where);
	eddyi_assert(n <= SIZE_MAX - group->count, "more things to be done than can be counted");
	group->count += n;
}

void eddyi_wait_group_done(struct eddy_wait_group *group, const char *where)
{
	eddyi_own(&group->loop, "a wait group", where);
	eddyi_assert(group->count, "more has been done than there was to be done");
	if (--group->count == 0)
		eddyi_queue_serve_all(&group->waiters, 0);
}

EDDYI_WITHOUT_WHERE(wait_group_done, struct eddy_wait_group)

int(eddy_wait_group_wait)(struct eddy_wait_group *group, const char *where)
{
	struct eddyi_queued queued = {
		.waiter = { .cancel = eddyi_queue_cancel, .what = "wait group", .on = group },
	};

	eddyi_own(&group->loop, "a wait group", where);
	if (!group->count)
		return eddy_is_cancelled() ? -ECANCELED : 0;
	return eddyi_queue_wait(&group->waiters, &queued);
}
