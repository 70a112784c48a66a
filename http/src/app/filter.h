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

/* Invariant: `outer` leads to the app's filters. Outer filters may be added after inner ones, so
 * each request walks the chain of its route. */
struct eddyi_filters {
	const struct eddyi_filters *outer; /* of the surrounding owner; NULL for the app's */
	struct eddyi_filter *first;
	struct eddyi_filter **end;
};

void eddyi_filters_init(struct eddyi_filters *filters, const struct eddyi_filters *outer);

/* Add a filter inside the existing ones. Return: false on allocation failure. */
bool eddyi_filters_add(struct eddyi_filters *filters, struct eddyi_arena *arena, eddy_filter_fn *fn,
		       void *data);

#endif
