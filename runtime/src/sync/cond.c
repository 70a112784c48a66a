#include <eddy/cond.h>

#include "core/own.h"
#include "core/queue.h"
#include "mutex.h"

#include <errno.h>

void eddy_cond_init(struct eddy_cond *cond)
{
	*cond = (struct eddy_cond){ 0 };
	eddy_list_init(&cond->waiters);
}

int(eddy_cond_wait)(struct eddy_cond *cond, struct eddy_mutex *mutex, const char *where)
{
	struct eddyi_queued queued = {
		.waiter = { .cancel = eddyi_queue_cancel, .what = "cond", .on = cond },
	};
	int r;

	eddyi_own(&cond->loop, "a condition", where);
	eddyi_own(&mutex->loop, "a mutex", where);
	if (eddy_is_cancelled())
		return -ECANCELED;
	/* No other task runs, and so none can signal, before this one suspends. */
	eddy_mutex_unlock(mutex);
	r = eddyi_queue_wait(&cond->waiters, &queued);
	eddyi_mutex_lock_anyway(mutex);
	return r;
}

void(eddy_cond_signal)(struct eddy_cond *cond, const char *where)
{
	struct eddyi_entry *entry;

	eddyi_own(&cond->loop, "a condition", where);
	entry = eddyi_queue_first(&cond->waiters);
	if (entry)
		eddyi_entry_serve(entry, 0);
}

void(eddy_cond_broadcast)(struct eddy_cond *cond, const char *where)
{
	eddyi_own(&cond->loop, "a condition", where);
	eddyi_queue_serve_all(&cond->waiters, 0);
}
