/* eddy/body_limit.h: bodies of requests that are too long are refused before they arrive. */
#ifndef EDDY_BODY_LIMIT_H
#define EDDY_BODY_LIMIT_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Refuse by 413 a body that announces more than `max` bytes, and stop reading one that turns out to have
 * more, whether it goes into memory or to files. Of several limits, body_max and file_max among them, the
 * smallest counts. */
EDDY_API void eddy_app_use_body_limit(struct eddy_app *app, uint64_t max);
EDDY_API void eddy_group_use_body_limit(struct eddy_group *group, uint64_t max);
EDDY_API void eddy_route_use_body_limit(struct eddy_route *route, uint64_t max);

EDDY_END_DECLS

#endif
