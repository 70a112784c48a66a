/* eddy/health.h: what a load balancer asks to see whether requests may come here.
 *
 *     eddy_app_map_get(app, "/health", eddy_health);
 *
 * With .lame_duck_ns (app.h) it hears that the app is about to end while everything else is still answered: by the
 * time that accepting stops nobody sends requests here any more.
 */
#ifndef EDDY_HEALTH_H
#define EDDY_HEALTH_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* A handler: 200 while the app serves, 503 once eddy_app_is_draining(). No cache keeps either. */
EDDY_API int eddy_health(struct eddy_req *req, struct eddy_res *res);

EDDY_END_DECLS

#endif
