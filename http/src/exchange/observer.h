/* observer.h: observers of requests. */
#ifndef EDDYI_OBSERVER_H
#define EDDYI_OBSERVER_H

#include <eddy/observer.h>

/* An observer of all requests of an app. */
struct eddyi_watch;

/* The observers' data of one request. */
struct eddyi_observed {
	const struct eddy_field *fields; /* of its log records; NULL: none */
	const struct eddy_local *locals;
	uint64_t began_ns;
	uint64_t sent; /* by the connection, before the request */
	void *states[];
};

/* Call the app's observers. On allocation failure none is called, also not at the end. */
void eddyi_observe_begin(struct eddy_req *req);
void eddyi_observe_end(struct eddy_req *req, bool whole);

#endif
