#include "next.h"

#include "error.h"

struct eddy_next {
	const struct eddyi_filters *at;    /* whose filters are being run */
	const struct eddyi_filter *filter; /* the next of them; NULL after the last */
	const struct eddyi_filters *innermost;
	eddy_handler_fn *handler;
	void *data; /* of the current filter */
};

/* Go inwards to the next owner with a filter, if any; else the handler is next. */
static void find_filter(struct eddy_next *next)
{
	while (!next->filter && next->at != next->innermost) {
		const struct eddyi_filters *inner = next->innermost;

		while (inner->outer != next->at)
			inner = inner->outer;
		next->at = inner;
		next->filter = inner->first;
	}
}

int eddy_next(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_next inner = *next;
	const struct eddyi_filter *filter;

	find_filter(&inner);
	filter = inner.filter;
	if (!filter)
		return eddyi_finish(req, inner.handler(req, res));
	inner.filter = filter->next;
	inner.data = filter->data;
	return eddyi_finish(req, filter->fn(&inner, req, res));
}

void *eddy_next_data(const struct eddy_next *next)
{
	return next->data;
}

bool eddy_next_has(const struct eddy_next *next, eddy_filter_fn *filter)
{
	struct eddy_next inner = *next;

	for (find_filter(&inner); inner.filter; find_filter(&inner)) {
		if (inner.filter->fn == filter)
			return true;
		inner.filter = inner.filter->next;
	}
	return false;
}

int eddyi_filters_run(const struct eddyi_filters *innermost, eddy_handler_fn *handler,
		      struct eddy_req *req, struct eddy_res *res)
{
	const struct eddyi_filters *outermost = innermost;
	struct eddy_next next;

	while (outermost->outer)
		outermost = outermost->outer;
	next = (struct eddy_next){ outermost, outermost->first, innermost, handler, NULL };
	return eddy_next(&next, req, res);
}
