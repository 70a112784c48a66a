/* eddy/event.h: a flag that tasks of one loop wait for. */
#ifndef EDDY_EVENT_H
#define EDDY_EVENT_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_event {
	struct eddy_node waiters; /* private */
	bool is_set;              /* read-only */
	unsigned loop;            /* private: the owning loop; 0 before the first use */
};

/* Make an event that is not set. */
EDDY_API void eddy_event_init(struct eddy_event *event);

/* Set the event, unless it is set, and wake every waiting task. Never suspends; may be called from
 * completion functions of the same loop. Woken tasks do not access the event again. */
EDDY_API void eddy_event_set(struct eddy_event *event, const char *where);

/* Clear the event, so that later waits wait again. */
EDDY_API void eddy_event_clear(struct eddy_event *event, const char *where);

/* Wait until the event is set. Suspends unless it is. Return: 0; -ECANCELED. */
EDDY_API int eddy_event_wait(struct eddy_event *event, const char *where);

/* `where` is filled in: see eddy/base.h. */
#define eddy_event_set(...) eddy_event_set(__VA_ARGS__, EDDY_HERE)
#define eddy_event_clear(...) eddy_event_clear(__VA_ARGS__, EDDY_HERE)
#define eddy_event_wait(...) eddy_event_wait(__VA_ARGS__, EDDY_HERE)

EDDY_END_DECLS

#endif
