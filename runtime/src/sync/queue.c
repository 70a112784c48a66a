#include "queue.h"

#include <errno.h>

int eddyi_queue_wait(struct eddy_node *queue, struct eddyi_queued *queued, const char *where)
{
	if (eddyi_task_at(where)->scope->cancelled && queued->waiter.cancel)
		return -ECANCELED;
	queued->entry.waiter = &queued->waiter;
	eddy_list_append(queue, &queued->entry.node);
	return eddyi_wait(&queued->waiter);
}

void eddyi_queue_cancel(struct eddyi_waiter *waiter)
{
	struct eddyi_queued *queued = eddy_of(waiter, struct eddyi_queued, waiter);

	eddy_list_remove(&queued->entry.node);
	eddyi_wake(waiter, -ECANCELED);
	if (queued->left)
		queued->left(queued);
}
