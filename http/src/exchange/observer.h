/* observer.h: those who observe a request. */
#ifndef EDDYI_OBSERVER_H
#define EDDYI_OBSERVER_H

#include <eddy/observer.h>

/* One who observes all requests of an app. */
struct eddyi_watch;

/* What they have of one request. */
struct eddyi_observed {
	const struct eddy_field *fields; /* of its records; NULL for none */
	const struct eddy_local *locals;
	uint64_t began_ns;
	uint64_t sent; /* by the connection, before it */
	void *states[];
};

/* Tell those who observe the app. When memory is out nobody is told, at the end neither. */
void eddyi_observe_begin(struct eddy_req *req);
void eddyi_observe_end(struct eddy_req *req, bool whole);

#endif
