#include "app.h"

void eddy_route_add_filter(struct eddy_route *route, eddy_filter_fn *filter)
{
	eddy_route_add_filter_with(route, filter, NULL);
}

void eddy_route_add_filter_with(struct eddy_route *route, eddy_filter_fn *filter, void *data)
{
	eddyi_app_add_filter_to(route->app, &route->filters, filter, data);
}

void eddy_route_set_data(struct eddy_route *route, void *data)
{
	route->data = data;
}

void eddy_route_set_body_max(struct eddy_route *route, uint64_t max)
{
	route->body_max = max;
}

void eddy_route_set_file_max(struct eddy_route *route, uint64_t max)
{
	route->file_max = max;
}

void eddy_route_set_body_rate_min(struct eddy_route *route, uint64_t rate)
{
	route->body_rate_min = rate == EDDY_NEVER ? 0 : rate;
	route->has_body_rate_min = true;
}

void eddy_route_set_write_rate_min(struct eddy_route *route, uint64_t rate)
{
	route->write_rate_min = rate == EDDY_NEVER ? 0 : rate;
	route->has_write_rate_min = true;
}

void eddy_route_set_cancel_on(struct eddy_route *route, enum eddy_cancel_on cancel_on)
{
	route->cancel_on = cancel_on;
}
