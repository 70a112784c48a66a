/* queue.h: tasks of one loop that wait in line, and how what they wait for is handed to them.
 *
 * Invariants:
 * 1. An entry is in a queue exactly as long as it can be served: whoever serves it, or cancels its
 *    task's wait, takes it out first. So every entry that is found in a queue is good, and what a
 *    task waited for may be freed once its queues are empty, before that task has run.
 * 2. A task that is served does not look at the queue again: what it waited for was handed to it by
 *    whoever served it, also when it is cancelled before it runs.
 * 3. The first to come is the first to be served.
 *
 * An entry is a struct eddyi_entry (eddy/select.h): a task has one, or one for each case of a select.
 */
#ifndef EDDYI_QUEUE_H
#define EDDYI_QUEUE_H

#include "wait.h"

#include <eddy/select.h>

/* A task that waits in one queue, on its stack. */
struct eddyi_queued {
	struct eddyi_waiter waiter; /* .cancel is eddyi_queue_cancel or NULL */
	struct eddyi_entry entry;
	/* Called when the wait is cancelled, with the entry out of the queue; NULL for nothing. */
	void (*left)(struct eddyi_queued *queued);
};

/* Wait at the end of `queue`. Suspends.
 * Return: what it was served with; -ECANCELED. */
int eddyi_queue_wait(struct eddy_node *queue, struct eddyi_queued *queued);

/* The `cancel` of such a wait. */
void eddyi_queue_cancel(struct eddyi_waiter *waiter);

/* Who is next; NULL when nobody waits. */
static inline struct eddyi_entry *eddyi_queue_first(struct eddy_node *queue)
{
	return eddy_list_is_empty(queue) ? NULL : eddy_of(queue->next, struct eddyi_entry, node);
}

/* Let the task of an entry go on with `result`; what it waits for has been handed to it. */
static inline void eddyi_entry_serve(struct eddyi_entry *entry, int result)
{
	eddy_list_remove(&entry->node);
	if (entry->served)
		entry->served(entry, result);
	else
		eddyi_wake(entry->waiter, result);
}

/* Let all go on with `result`. */
static inline void eddyi_queue_serve_all(struct eddy_node *queue, int result)
{
	struct eddyi_entry *entry;

	while ((entry = eddyi_queue_first(queue)))
		eddyi_entry_serve(entry, result);
}

#endif
