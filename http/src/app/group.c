#include "app.h"

/* A group inside an invalid one is inert too; the mistake is reported once. */
struct eddy_group *eddy_app_group(union eddy_router router, const char *prefix)
{
	const struct eddy_group *outer = router.group;
	struct eddy_app *app = outer->owner.app;
	struct eddy_group *group = eddy_app_alloc(app, sizeof(*group));
	const char *reason = "";
	int r;

	*group = (struct eddy_group){ .owner.app = app, .inert = outer->inert };
	eddyi_filters_init(&group->owner.filters, &outer->owner.filters);
	group->prefix =
		eddyi_app_printf(app, "%.*s%s", EDDY_FMT(outer->prefix), prefix ? prefix : "");
	/* A trailing slash is ignored; the next pattern begins with one. */
	if (group->prefix.len && group->prefix.ptr[group->prefix.len - 1] == '/')
		group->prefix.len--;
	if (group->inert)
		return group;
	r = eddyi_router_add_prefix(app->router, group->prefix, group, &reason);
	group->inert = r < 0;
	if (r < 0)
		eddy_app_mistake(app, "can't make the group \"%.*s\": %s", EDDY_FMT(group->prefix),
				 reason);
	return group;
}

struct eddy_route *eddy_app_map(union eddy_router router, const char *method, const char *pattern,
				eddy_handler_fn *handler)
{
	const struct eddy_group *group = router.group;
	struct eddy_app *app = group->owner.app;
	enum eddyi_method known = eddyi_method_from(eddy_str_from(method));
	struct eddy_str whole =
		eddyi_app_printf(app, "%.*s%s", EDDY_FMT(group->prefix), pattern ? pattern : "");
	struct eddy_route *route = eddy_app_alloc(app, sizeof(*route));
	const char *reason = "the handler is NULL";
	int r = 0;

	*route = (struct eddy_route){ .owner.app = app, .handler = handler };
	route->label = eddyi_app_printf(app, "%s %.*s", method, EDDY_FMT(whole)).ptr;
	eddyi_filters_init(&route->owner.filters, &group->owner.filters);
	*app->routes_end = route;
	app->routes_end = &route->next;
	if (group->inert)
		return route;
	if (handler)
		r = eddyi_router_add(app->router, known, whole, route, &reason);
	if (!handler || r < 0)
		eddy_app_mistake(app, "can't map %s \"%.*s\": %s", method, EDDY_FMT(whole), reason);
	return route;
}

#define MAPPER(verb, method)                                                                       \
	struct eddy_route *eddy_app_map_##verb(union eddy_router router, const char *pattern,      \
					       eddy_handler_fn *handler)                           \
	{                                                                                          \
		return eddy_app_map(router, method, pattern, handler);                             \
	}

MAPPER(get, "GET")
MAPPER(head, "HEAD")
MAPPER(post, "POST")
MAPPER(put, "PUT")
MAPPER(patch, "PATCH")
MAPPER(delete, "DELETE")
MAPPER(options, "OPTIONS")
MAPPER(trace, "TRACE")
MAPPER(connect, "CONNECT")

void eddy_route_with(struct eddy_route *route, const struct eddy_route_options *options)
{
	route->options = *options;
}

struct eddy_route *eddy_route_next(const struct eddy_app *app, const struct eddy_route *route)
{
	return route ? route->next : app->routes;
}

const char *eddy_route_label(const struct eddy_route *route)
{
	return route->label;
}

const struct eddy_guard *eddy_route_guard(const struct eddy_route *route, size_t index)
{
	for (const struct eddyi_filters *filters = &route->owner.filters; filters;
	     filters = filters->outer)
		for (const struct eddyi_filter *filter = filters->first; filter;
		     filter = filter->next)
			if (filter->is_guard && index-- == 0)
				return &filter->guard;
	return NULL;
}
