#include <eddy/event.h>

#include "core/own.h"
#include "queue.h"

#include <errno.h>

void eddy_event_init(struct eddy_event *event)
{
	*event = (struct eddy_event){ 0 };
	eddy_list_init(&event->waiters);
}

void(eddy_event_set)(struct eddy_event *event, const char *where)
{
	eddyi_own_made(&event->loop, &event->waiters, "an event", "eddy_event_init", where);
	event->is_set = true;
	eddyi_queue_serve_all(&event->waiters, 0);
}

void(eddy_event_clear)(struct eddy_event *event, const char *where)
{
	eddyi_own_made(&event->loop, &event->waiters, "an event", "eddy_event_init", where);
	event->is_set = false;
}

int(eddy_event_wait)(struct eddy_event *event, const char *where)
{
	struct eddyi_queued queued = {
		.waiter = { .cancel = eddyi_queue_cancel, .what = "event", .on = event },
	};

	eddyi_own_made(&event->loop, &event->waiters, "an event", "eddy_event_init", where);
	if (event->is_set)
		return eddy_is_cancelled() ? -ECANCELED : 0;
	return eddyi_queue_wait(&event->waiters, &queued, where);
}
