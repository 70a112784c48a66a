/* eddy/group.h: groups: routes that share a path prefix and filters (middleware).
 *
 *     struct eddy_group *api = eddy_app_group(app, "/api");
 *
 *     eddy_app_add_filter(api, log_in, NULL);
 *     eddy_app_map_get(api, "/orders/{id}", order);
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

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* Create a group of an app, or within a group: its prefix follows the outer one, its filters run
 * inside. `prefix` is a pattern (eddy/route.h), possibly empty, parameters included but not
 * `{name...}`. Return: the group, never NULL; eddy_app_run() reports mistakes. */
EDDY_API struct eddy_group *eddy_app_group(union eddy_router router, const char *prefix);

EDDY_END_DECLS

#endif
