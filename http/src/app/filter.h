/* filter.h: the filters of an app, a group or a route. */
#ifndef EDDYI_FILTER_H
#define EDDYI_FILTER_H

#include "text/arena.h"

#include <eddy/route.h>

struct eddyi_filter {
	struct eddyi_filter *next;
	eddy_filter_fn *fn;
	void *data;
};

/* Invariant: from any owner, `outer` leads to the app's in a few steps. An outer one may get filters
 * after an inner one was made; therefore the chain of a route is walked anew by each request. */
struct eddyi_filters {
	const struct eddyi_filters *outer; /* of what the owner is part of; NULL for the app's */
	struct eddyi_filter *first;
	struct eddyi_filter **end;
};

void eddyi_filters_init(struct eddyi_filters *filters, const struct eddyi_filters *outer);

/* Add one, inside of those that are there. Return: false when memory is out. */
bool eddyi_filters_add(struct eddyi_filters *filters, struct eddyi_arena *arena, eddy_filter_fn *fn,
		       void *data);

#endif
