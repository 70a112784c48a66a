/* Invariants:
 * 1. A listed waiter is woken by the thread that removes it from the list, with the lock held: by a
 *    message from eddy_shared_event_set(), or by its own cancellation.
 * 2. Once a waiter's message is posted, only its own loop accesses it, and it waits for the
 *    message. So it may be on its task's stack.
 */
#include <eddy/internal/outside.h>
#include <eddy/shared_event.h>

#include "core/loop.h"
#include "core/wait.h"

#include <errno.h>

#define NOT_MADE "a shared event is not initialised: call eddy_shared_event_init() first"

struct shared_waiter {
	struct eddyi_waiter waiter;
	struct eddy_message message;
	struct eddy_node node; /* in event->waiters; node.next is NULL after removal */
	struct eddy_loop *loop;
	struct eddy_shared_event *event;
};

void eddy_shared_event_init(struct eddy_shared_event *event)
{
	pthread_mutex_init(&event->lock, NULL);
	eddy_list_init(&event->waiters);
	event->is_set = false;
}

static void deliver(struct eddy_message *message)
{
	eddyi_wake(&eddy_of(message, struct shared_waiter, message)->waiter, 0);
}

void eddy_shared_event_set(struct eddy_shared_event *event)
{
	struct eddy_node *node;

	/* A zeroed lock is a valid one. */
	pthread_mutex_lock(&event->lock);
	eddyi_assert(event->waiters.next, NOT_MADE);
	event->is_set = true;
	/* A waiter may cease to exist as soon as its message is posted. */
	while ((node = eddy_list_shift(&event->waiters))) {
		struct shared_waiter *waiter = eddy_of(node, struct shared_waiter, node);

		eddy_loop_post(waiter->loop, &waiter->message);
	}
	pthread_mutex_unlock(&event->lock);
}

static void cancel(struct eddyi_waiter *base)
{
	struct shared_waiter *waiter = eddy_of(base, struct shared_waiter, waiter);
	bool is_ours;

	pthread_mutex_lock(&waiter->event->lock);
	is_ours = waiter->node.next;
	if (is_ours)
		eddy_list_remove(&waiter->node);
	pthread_mutex_unlock(&waiter->event->lock);
	if (is_ours)
		eddyi_wake(base, -ECANCELED);
}

int eddy_shared_event_wait(struct eddy_shared_event *event)
{
	struct shared_waiter waiter = {
		.waiter = { .cancel = cancel, .what = "shared event", .on = event },
		.message = { .deliver = deliver },
		.event = event,
	};
	bool is_set;
	int r;

	eddyi_task();
	waiter.loop = eddyi_loop();
	if (eddy_is_cancelled())
		return -ECANCELED;
	pthread_mutex_lock(&event->lock);
	eddyi_assert(event->waiters.next, NOT_MADE);
	is_set = event->is_set;
	if (!is_set)
		eddy_list_append(&event->waiters, &waiter.node);
	pthread_mutex_unlock(&event->lock);
	if (is_set)
		return 0;
	r = eddyi_wait(&waiter.waiter);
	/* eddy_shared_event_set() may still hold the lock, and the caller may free the event. */
	pthread_mutex_lock(&event->lock);
	pthread_mutex_unlock(&event->lock);
	return r;
}
