#include <eddy/join.h>

#include "core/own.h"
#include "queue.h"
#include "core/scope.h"

#include <errno.h>

/* Called when the task has ended. */
static void end(void *arg, int result)
{
	struct eddy_join *join = arg;
	struct eddyi_entry *entry;

	join->result = result;
	/* Write the results now: the first waiter to run may free the join. */
	while ((entry = eddyi_queue_first(&join->ended.waiters))) {
		if (entry->item)
			*(int *)entry->item = result;
		eddyi_entry_serve(entry, 0);
	}
	join->ended.is_set = true;
}

int(eddy_scope_spawn_join)(struct eddy_scope *scope, struct eddy_join *join, const char *name,
			   eddy_task_fn *fn, void *arg, const char *where)
{
	int r;

	eddyi_own_made(&scope->loop, &scope->tasks, "a scope", "eddy_scope_begin", where);
	eddy_event_init(&join->ended);
	join->ended.loop = scope->loop;
	join->result = 0;
	r = eddyi_scope_spawn(scope, (struct eddyi_told){ end, join }, name, fn, arg, where);
	if (r < 0)
		end(join, r);
	return r;
}

int(eddy_join_wait)(struct eddy_join *join, int *ret_result, const char *where)
{
	struct eddyi_queued queued = {
		.waiter = { .cancel = eddyi_queue_cancel, .what = "task", .on = join },
		.entry = { .item = ret_result },
	};

	eddyi_own_made(&join->ended.loop, &join->ended.waiters, "a join", "eddy_scope_spawn_join",
		       where);
	if (!join->ended.is_set)
		return eddyi_queue_wait(&join->ended.waiters, &queued, where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	if (ret_result)
		*ret_result = join->result;
	return 0;
}
