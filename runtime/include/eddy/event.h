/* eddy/event.h: a flag that tasks of one loop wait for. */
#ifndef EDDY_EVENT_H
#define EDDY_EVENT_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_event {
	struct eddy_node waiters; /* private */
	bool is_set;              /* read-only */
};

/* Make an event that is not set. */
EDDY_API void eddy_event_init(struct eddy_event *event);

/* Set the event and wake all who wait, who do not look at it any more. Does nothing when it is set.
 * Never suspends; may be called from completion functions of the same loop. */
EDDY_API void eddy_event_set(struct eddy_event *event);

/* Make later waits wait again. */
EDDY_API void eddy_event_clear(struct eddy_event *event);

/* Wait until the event is set. Suspends unless it is. Return: 0, -ECANCELED. */
EDDY_API int eddy_event_wait(struct eddy_event *event);

EDDY_END_DECLS

#endif
