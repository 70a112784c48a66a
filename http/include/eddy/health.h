/* eddy/health.h: a health check for load balancers.
 *
 *     eddy_app_map_get(app, "/health", eddy_health);
 *
 * With .lame_duck_ns (eddy/app.h), the health check fails for that long before graceful shutdown,
 * while all other requests are served, so that load balancers stop sending them.
 */
#ifndef EDDY_HEALTH_H
#define EDDY_HEALTH_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Answer 200 while the app serves, and 503 once eddy_app_is_draining(). Neither is cached. */
EDDY_API int eddy_health(struct eddy_req *req, struct eddy_res *res);

EDDY_END_DECLS

#endif
