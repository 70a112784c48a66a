#include <eddy/event.h>

#include "loop.h"

#include <errno.h>

struct event_waiter {
	struct eddyi_waiter waiter;
	struct eddy_node node; /* in event->waiters until it is set */
};

void eddy_event_init(struct eddy_event *event)
{
	*event = (struct eddy_event){ 0 };
	eddy_list_init(&event->waiters);
}

void eddy_event_set(struct eddy_event *event)
{
	struct eddy_node *node;

	event->is_set = true;
	while ((node = eddy_list_shift(&event->waiters)))
		eddyi_wake(&eddy_of(node, struct event_waiter, node)->waiter, 0);
}

void eddy_event_clear(struct eddy_event *event)
{
	event->is_set = false;
}

int eddy_event_wait(struct eddy_event *event)
{
	struct event_waiter waiter = {
		.waiter = { .cancel = eddyi_cancel_wait, .what = "event", .on = event },
	};
	int r;

	if (event->is_set)
		return eddy_is_cancelled() ? -ECANCELED : 0;
	eddy_list_append(&event->waiters, &waiter.node);
	r = eddyi_wait(&waiter.waiter);
	if (waiter.node.next)
		eddy_list_remove(&waiter.node);
	return r;
}
