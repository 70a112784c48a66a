#include "filter.h"

void eddyi_filters_init(struct eddyi_filters *filters, const struct eddyi_filters *outer)
{
	*filters = (struct eddyi_filters){ .outer = outer, .end = &filters->first };
}

bool eddyi_filters_add(struct eddyi_filters *filters, struct eddyi_arena *arena, eddy_filter_fn *fn,
		       void *data)
{
	struct eddyi_filter *filter = eddyi_arena_alloc(arena, sizeof(*filter));

	if (!filter)
		return false;
	*filter = (struct eddyi_filter){ .fn = fn, .data = data };
	*filters->end = filter;
	filters->end = &filter->next;
	return true;
}
