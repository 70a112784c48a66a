/* eddy/group.h: groups: routes that share a path prefix and filters (middleware).
 *
 *     struct eddy_group *api = eddy_app_group(app, "/api");
 *
 *     eddy_group_add_filter(api, log_in);
 *     eddy_group_map_get(api, "/orders/{id}", order);
 *
 * A group's filters run inside those of the app and of the groups around it. They also wrap
 * responses beneath the prefix that have no route: 404, 405, an unmapped OPTIONS and the fallback.
 * These use the group with the longest prefix, the first of equal ones, and never one with an empty
 * prefix.
 *
 * Groups belong to their app. Do not change them once it runs.
 */
#ifndef EDDY_GROUP_H
#define EDDY_GROUP_H

#include <eddy/route.h>

EDDY_BEGIN_DECLS

struct eddy_app;
struct eddy_group;

/* Create a group of routes. `prefix` is a pattern (eddy/route.h), possibly empty, parameters
 * included but not `{name...}`. Return: the group, never NULL; eddy_app_run() reports mistakes. */
EDDY_API struct eddy_group *eddy_app_group(struct eddy_app *app, const char *prefix);

/* Create a group within a group. Its prefix follows the outer one, its filters run inside. */
EDDY_API struct eddy_group *eddy_group_group(struct eddy_group *group, const char *prefix);

/* Add a filter around all responses of a group. `data` is for eddy_next_data(), and borrowed for
 * the app's life. */
EDDY_API void eddy_group_add_filter(struct eddy_group *group, eddy_filter_fn *filter);
EDDY_API void eddy_group_add_filter_with(struct eddy_group *group, eddy_filter_fn *filter,
					 void *data);

/* Map a handler to a method, and to the group's prefix followed by `pattern`; "" is the prefix
 * itself. Return: as eddy_app_map(). */
EDDY_API struct eddy_route *eddy_group_map(struct eddy_group *group, const char *method,
					   const char *pattern, eddy_handler_fn *handler);

/* Map a handler to a pattern and the method in the function's name. Return: as eddy_group_map(). */
EDDYI_MAPPERS(group, EDDYI_MAPPER)

EDDY_END_DECLS

#endif
