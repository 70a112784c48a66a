#include "app.h"

/* What is in a group of a bad prefix is as bad; that is said once. */
struct eddy_group *eddy_group_group(struct eddy_group *group, const char *prefix)
{
	struct eddy_app *app = group->app;
	struct eddy_group *inner = eddy_app_alloc(app, sizeof(*inner));
	const char *reason = "";
	int r;

	*inner = (struct eddy_group){ .app = app, .inert = group->inert };
	eddyi_filters_init(&inner->filters, &group->filters);
	inner->prefix = eddyi_app_join(app, group->prefix, eddy_str_from(prefix));
	/* A trailing slash is ignored in every pattern; the next one brings its own. */
	if (inner->prefix.len && inner->prefix.ptr[inner->prefix.len - 1] == '/')
		inner->prefix.len--;
	if (inner->inert)
		return inner;
	r = eddyi_router_add_prefix(app->router, inner->prefix, inner, &reason);
	inner->inert = r < 0;
	if (r < 0)
		eddy_app_mistake(app, "can't make the group \"%.*s\": %s", EDDY_FMT(inner->prefix),
				 reason);
	return inner;
}

struct eddy_group *eddy_app_group(struct eddy_app *app, const char *prefix)
{
	return eddy_group_group(&app->root, prefix);
}

void eddy_group_add_filter(struct eddy_group *group, eddy_filter_fn *filter)
{
	eddy_group_add_filter_with(group, filter, NULL);
}

void eddy_group_add_filter_with(struct eddy_group *group, eddy_filter_fn *filter, void *data)
{
	eddyi_app_add_filter_to(group->app, &group->filters, filter, data);
}

struct eddy_route *eddy_group_map(struct eddy_group *group, const char *method, const char *pattern,
				  eddy_handler_fn *handler)
{
	struct eddy_app *app = group->app;
	enum eddyi_method known = eddyi_method_from(eddy_str_from(method));
	struct eddy_str whole = eddyi_app_join(app, group->prefix, eddy_str_from(pattern));
	struct eddy_route *route = eddy_app_alloc(app, sizeof(*route));
	const char *reason = "the handler is NULL";
	int r = 0;

	*route = (struct eddy_route){ .app = app, .handler = handler };
	eddyi_filters_init(&route->filters, &group->filters);
	if (group->inert)
		return route;
	if (handler)
		r = eddyi_router_add(app->router, known, whole, route, &reason);
	if (!handler || r < 0)
		eddy_app_mistake(app, "can't map %s \"%.*s\": %s", method, EDDY_FMT(whole), reason);
	return route;
}

#define MAPPER(owner, verb, method)                                                                \
	struct eddy_route *eddy_group_map_##verb(struct eddy_group *group, const char *pattern,    \
						 eddy_handler_fn *handler)                         \
	{                                                                                          \
		return eddy_group_map(group, method, pattern, handler);                            \
	}                                                                                          \
	struct eddy_route *eddy_app_map_##verb(struct eddy_app *app, const char *pattern,          \
					       eddy_handler_fn *handler)                           \
	{                                                                                          \
		return eddy_group_map(&app->root, method, pattern, handler);                       \
	}

EDDYI_MAPPERS(app, MAPPER)

struct eddy_route *eddy_app_map(struct eddy_app *app, const char *method, const char *pattern,
				eddy_handler_fn *handler)
{
	return eddy_group_map(&app->root, method, pattern, handler);
}
