/* eddy/body_limit.h: a filter (middleware) that limits the size of request bodies. */
#ifndef EDDY_BODY_LIMIT_H
#define EDDY_BODY_LIMIT_H

#include <eddy/app.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* Limit request bodies to `max` bytes, read into memory or saved to files. A larger announced
 * length gets 413 at once; reading a body that turns out larger stops with 413. The smallest of all
 * limits counts, .body_max and .file_max included. */
EDDY_API void eddy_app_use_body_limit(union eddy_target target, uint64_t max);

EDDY_END_DECLS

#endif
