/* eddy/filter.h: functions that stand around handlers.
 *
 *     static int only_mondays(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
 *     {
 *             return is_monday() ? eddy_next(next, req, res) : 503;
 *     }
 *
 * A filter looks at the request, answers it or goes on inwards, and looks at the response, all on the
 * handler's stack. Those of the app come first, then those of each group from the outermost on, then
 * those of the route; of one owner the first that was added is the outermost.
 */
#ifndef EDDY_FILTER_H
#define EDDY_FILTER_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

struct eddy_req;
struct eddy_res;

/* The filters and the handler that a filter stands in front of. */
struct eddy_next;

/* Stand around a handler. May suspend.
 * Return: as a handler: 0 when `res` holds the response, a status, or -errno. */
typedef int eddy_filter_fn(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* Go on to the next filter or the handler, and make what it returns a response. Call it once at most,
 * and return what it returns unless the filter answers itself. Suspends when they do.
 * Return: 0 when `res` holds the response, whatever its status; -errno when the connection must be cut,
 * since a part of a response has been sent. */
EDDY_API int eddy_next(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* The data that the filter was added with; NULL without any. */
EDDY_API void *eddy_next_data(const struct eddy_next *next);

/* Whether this filter stands once more between here and the handler. */
EDDY_API bool eddy_next_has(const struct eddy_next *next, eddy_filter_fn *filter);

EDDY_END_DECLS

#endif
