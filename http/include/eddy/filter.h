/* eddy/filter.h: filters (middleware): functions that wrap handlers.
 *
 *     static int only_mondays(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
 *     {
 *             return is_monday() ? eddy_next(next, req, res) : 503;
 *     }
 *
 * A filter inspects the request, answers it or calls eddy_next(), and inspects the response, all on
 * the handler's stack. Order: the filters of the app, of each group from the outermost, of the
 * route; in each, the one added first is outermost.
 */
#ifndef EDDY_FILTER_H
#define EDDY_FILTER_H

#include <eddy/target.h>

EDDY_BEGIN_DECLS

struct eddy_req;
struct eddy_res;

/* The filters and the handler inside a filter. */
struct eddy_next;

/* Filter a request. May suspend.
 * Return: as a handler: 0 if `res` holds the response; a status; -errno. */
typedef int eddy_filter_fn(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* Call the next filter or the handler, and turn its result into a response. Call it at most once,
 * and return its result unless the filter answers itself. May suspend.
 * Return: 0 if `res` holds the response, of any status; -errno if part of a response has been sent
 * and the connection must be cut. */
EDDY_API int eddy_next(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* Get the data that the filter was added with; NULL if none. */
EDDY_API void *eddy_next_data(const struct eddy_next *next);

/* Tell whether this filter occurs again between here and the handler. */
EDDY_API bool eddy_next_has(const struct eddy_next *next, eddy_filter_fn *filter);

/* The credentials that a guard demands, for documents of the API (eddy/openapi.h). The strings are
 * borrowed for the app's life. */
struct eddy_guard {
	const char *scheme;     /* its name: "bearer" */
	const char *definition; /* a Security Scheme Object of OpenAPI, as JSON */
	const char *scopes;     /* separated by blanks; NULL: none */
};

/* Add a guard: a filter that rejects requests without credentials. As eddy_app_add_filter();
 * `guard` is copied. NULL: a filter that is no guard. */
EDDY_API void eddy_app_add_guard(union eddy_target target, eddy_filter_fn *filter, void *data,
				 const struct eddy_guard *guard);

EDDY_END_DECLS

#endif
