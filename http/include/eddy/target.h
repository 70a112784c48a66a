/* eddy/target.h: the target of a call: an app, one of its groups, or one of its routes.
 *
 *     eddy_app_use_security(app, NULL);
 *     eddy_app_use_rate_limit(api, &limit);       // a group
 *     eddy_app_authorize(route, eddy_roles("admin"));
 *
 * Functions that take a target or a router are called with a plain pointer to any of these.
 */
#ifndef EDDY_TARGET_H
#define EDDY_TARGET_H

#include <eddy/base.h>

/* ISO C has no such parameters: gcc -pedantic accepts them in headers of the system. */
#pragma GCC system_header

struct eddy_app;
struct eddy_group;
struct eddy_route;

/* An app, a group or a route. */
union eddy_target {
	struct eddy_app *app;
	struct eddy_group *group;
	struct eddy_route *route;
#ifdef __cplusplus
	eddy_target(struct eddy_app *a) : app(a)
	{
	}
	eddy_target(struct eddy_group *g) : group(g)
	{
	}
	eddy_target(struct eddy_route *r) : route(r)
	{
	}
};
#else
} __attribute__((transparent_union));
#endif

/* An app or a group: where routes are mapped. */
union eddy_router {
	struct eddy_app *app;
	struct eddy_group *group;
#ifdef __cplusplus
	eddy_router(struct eddy_app *a) : app(a)
	{
	}
	eddy_router(struct eddy_group *g) : group(g)
	{
	}
};
#else
} __attribute__((transparent_union));
#endif

#endif
