/* queue.h: queues of tasks that wait for something on one loop, and direct hand-over to them.
 *
 * Invariants:
 * 1. An entry is in a queue exactly while it can be served: it is removed before its task is woken
 *    or its wait cancelled. So every queued entry is valid, and the object waited for may be freed
 *    once its queues are empty, even before the tasks have run.
 * 2. A served task does not look at the queue again: the waker has handed over what it waited for,
 *    even if the task is cancelled before it runs.
 * 3. Entries are served in order of arrival.
 *
 * An entry is a struct eddyi_entry (eddy/select.h): one for each task, or one for each case of a
 * select.
 */
#ifndef EDDYI_QUEUE_H
#define EDDYI_QUEUE_H

#include "core/wait.h"

#include <eddy/select.h>

/* A task waiting in one queue; on its stack. */
struct eddyi_queued {
	struct eddyi_waiter waiter; /* .cancel is eddyi_queue_cancel or NULL */
	struct eddyi_entry entry;
	/* Called when the wait is cancelled, after the entry was removed; may be NULL. */
	void (*left)(struct eddyi_queued *queued);
};

/* Wait at the end of `queue`, in a call at `where`. Suspends.
 * Return: the result it was served with; -ECANCELED. */
int eddyi_queue_wait(struct eddy_node *queue, struct eddyi_queued *queued, const char *where);

/* The .cancel function of such a wait. */
void eddyi_queue_cancel(struct eddyi_waiter *waiter);

/* Get the first entry; NULL if the queue is empty. */
static inline struct eddyi_entry *eddyi_queue_first(struct eddy_node *queue)
{
	return eddy_list_is_empty(queue) ? NULL : eddy_of(queue->next, struct eddyi_entry, node);
}

/* Wake the task of an entry with `result`. The caller has handed over what it waited for. */
static inline void eddyi_entry_serve(struct eddyi_entry *entry, int result)
{
	eddy_list_remove(&entry->node);
	if (entry->served)
		entry->served(entry, result);
	else
		eddyi_wake(entry->waiter, result);
}

static inline void eddyi_queue_serve_all(struct eddy_node *queue, int result)
{
	struct eddyi_entry *entry;

	while ((entry = eddyi_queue_first(queue)))
		eddyi_entry_serve(entry, result);
}

#endif
