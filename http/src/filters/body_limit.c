#include "exchange/decoded.h"

#include <eddy/body_limit.h>

static int limit(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const uint64_t *max = eddy_next_data(next);
	uint64_t length = eddy_req_length(req);

	if (length != EDDY_LENGTH_UNKNOWN && length > *max)
		return 413;
	eddyi_decoded_limit(req, *max);
	return eddy_next(next, req, res);
}

static void use(struct eddy_app *app, struct eddyi_filters *filters, uint64_t max)
{
	uint64_t *own = eddy_app_alloc(app, sizeof(*own));

	*own = max;
	eddyi_app_add_filter_to(app, filters, limit, own);
}

void eddy_app_use_body_limit(struct eddy_app *app, uint64_t max)
{
	use(app, &app->root.filters, max);
}

void eddy_group_use_body_limit(struct eddy_group *group, uint64_t max)
{
	use(group->app, &group->filters, max);
}

void eddy_route_use_body_limit(struct eddy_route *route, uint64_t max)
{
	use(route->app, &route->filters, max);
}
