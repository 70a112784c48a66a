/* eddy/shared_event.h: a flag that any thread sets, once, and that tasks of all loops wait for. For
 * the tasks of one loop use eddy/event.h. */
#ifndef EDDY_SHARED_EVENT_H
#define EDDY_SHARED_EVENT_H

#include <eddy/base.h>
#include <pthread.h>

EDDY_BEGIN_DECLS

struct eddy_shared_event {
	pthread_mutex_t lock;     /* private */
	struct eddy_node waiters; /* private */
	bool is_set;              /* private */
};

/* Make an event that is not set. */
EDDY_API void eddy_shared_event_init(struct eddy_shared_event *event);

/* Set the event and wake every waiting task, on any loop. Any thread may call it. Never suspends.
 * Does nothing if it is set. The event may be freed when every wait has returned. */
EDDY_API void eddy_shared_event_set(struct eddy_shared_event *event);

/* Wait until the event is set. Suspends unless it is. Return: 0; -ECANCELED. */
EDDY_API int eddy_shared_event_wait(struct eddy_shared_event *event);

EDDY_END_DECLS

#endif
