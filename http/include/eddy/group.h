/* eddy/group.h: routes that share the beginning of their patterns, and filters.
 *
 *     struct eddy_group *api = eddy_app_group(app, "/api");
 *
 *     eddy_group_add_filter(api, log_in);
 *     eddy_group_map_get(api, "/orders/{id}", order);
 *
 * The filters of a group stand around its routes, inside of those of the app and of the groups that it
 * is in. They also stand around what is answered beneath the prefix without a route: 404, 405, OPTIONS
 * that nobody mapped, and the app's fallback. There the group with the longest prefix counts, and of
 * several with the same the first: a group with an empty prefix never does.
 *
 * Groups belong to their app and are not changed once it runs.
 */
#ifndef EDDY_GROUP_H
#define EDDY_GROUP_H

#include <eddy/route.h>

EDDY_BEGIN_DECLS

struct eddy_app;
struct eddy_group;

/* Make a group of an app. The prefix is a pattern without `{name...}`, parameters included; the empty
 * one is fine. Return: the group, never NULL: what is wrong with the prefix is reported by run. */
EDDY_API struct eddy_group *eddy_app_group(struct eddy_app *app, const char *prefix);

/* Make a group within a group: its prefix stands behind that one's, its filters inside of those. */
EDDY_API struct eddy_group *eddy_group_group(struct eddy_group *group, const char *prefix);

/* Put a filter around all that the group answers; `data` is for eddy_next_data() and borrowed for as
 * long as the app lives. */
EDDY_API void eddy_group_add_filter(struct eddy_group *group, eddy_filter_fn *filter);
EDDY_API void eddy_group_add_filter_with(struct eddy_group *group, eddy_filter_fn *filter,
					 void *data);

/* Map a handler to a method and to the group's prefix with the pattern behind it; the pattern "" is
 * the prefix itself. Return: as eddy_app_map(). */
EDDY_API struct eddy_route *eddy_group_map(struct eddy_group *group, const char *method,
					   const char *pattern, eddy_handler_fn *handler);

/* eddy_group_map_get() and so on; see route.h. */
EDDYI_MAPPERS(group, EDDYI_MAPPER)

EDDY_END_DECLS

#endif
