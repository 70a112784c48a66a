/* eddy/route.h: a route: a handler, mapped to a method and a pattern, and what is its own.
 *
 *     struct eddy_route *route = eddy_app_map_put(app, "/avatars/{name}", save_avatar);
 *
 *     eddy_route_set_file_max(route, 256 * EDDY_KIB);
 *     eddy_route_add_filter(route, only_members);
 *
 * A pattern is made of static segments, `{name}` for any one segment, and `{name...}`, last, for the
 * rest of the path. A GET also answers HEAD, without the body, unless a HEAD is mapped beside it.
 * Routes belong to their app and are not changed once it runs.
 */
#ifndef EDDY_ROUTE_H
#define EDDY_ROUTE_H

#include <eddy/filter.h>

EDDY_BEGIN_DECLS

struct eddy_route;

/* Answer a request. Runs in a task of its own and may suspend.
 * Return: 0 when `res` holds the response; a status from 200 to 599 to finish with it; -errno, which
 * becomes a status (-ENOENT is 404, -EACCES 403, what has no better one 500). */
typedef int eddy_handler_fn(struct eddy_req *req, struct eddy_res *res);

/* Declare the mappers of an app or a group:
 *     struct eddy_route *eddy_app_map_get(struct eddy_app *app, const char *pattern,
 *                                         eddy_handler_fn *handler);
 * and likewise _head, _post, _put, _patch, _delete, _options, _trace and _connect. Each returns the
 * route, never NULL: what can't be mapped is kept as a mistake that run reports. */
#define EDDYI_MAPPERS(owner, X)                                                                    \
	X(owner, get, "GET")                                                                       \
	X(owner, head, "HEAD")                                                                     \
	X(owner, post, "POST")                                                                     \
	X(owner, put, "PUT")                                                                       \
	X(owner, patch, "PATCH")                                                                   \
	X(owner, delete, "DELETE")                                                                 \
	X(owner, options, "OPTIONS")                                                               \
	X(owner, trace, "TRACE")                                                                   \
	X(owner, connect, "CONNECT")
#define EDDYI_MAPPER(owner, verb, method)                                                          \
	EDDY_API struct eddy_route *eddy_##owner##_map_##verb(                                     \
		struct eddy_##owner *owner, const char *pattern, eddy_handler_fn *handler);

/* Put a filter around the route's handler, inside of all filters of its groups and the app. */
EDDY_API void eddy_route_add_filter(struct eddy_route *route, eddy_filter_fn *filter);

/* The same with data for eddy_next_data(); it is borrowed for as long as the app lives. */
EDDY_API void eddy_route_add_filter_with(struct eddy_route *route, eddy_filter_fn *filter,
					 void *data);

/* Keep a pointer for the handler; see eddy_req_route_data(). */
EDDY_API void eddy_route_set_data(struct eddy_route *route, void *data);

/* Limit the bodies that this route reads into memory or saves to files, in bytes, instead of the
 * app's body_max and file_max; EDDY_NEVER is no limit. */
EDDY_API void eddy_route_set_body_max(struct eddy_route *route, uint64_t max);
EDDY_API void eddy_route_set_file_max(struct eddy_route *route, uint64_t max);

/* Let bodies come, or answers leave, at this rate at least, in bytes a second, instead of the app's body_rate_min
 * and write_rate_min, up to 1 MiB/s; 0 or EDDY_NEVER: at any. */
EDDY_API void eddy_route_set_body_rate_min(struct eddy_route *route, uint64_t rate);
EDDY_API void eddy_route_set_write_rate_min(struct eddy_route *route, uint64_t rate);

/* The event on the client's connection that cancels a request before it is answered: waiting calls return
 * -ECANCELED, and eddy_req_client_left() says why. It is noticed within a fifth of a second. */
enum eddy_cancel_on {
	EDDY_CANCEL_ON_DEFAULT, /* of GET and HEAD as _RESET, of other methods as _NOTHING */
	EDDY_CANCEL_ON_NOTHING, /* the handler completes */
	EDDY_CANCEL_ON_RESET,   /* the connection is reset */
	/* It is reset, or the client has ended its stream. Most clients do so when they leave; one that has
	 * only said all, as `nc -N` does, gets no answer then. */
	EDDY_CANCEL_ON_END,
};

/* Choose which event on the client's connection cancels the requests of a route. */
EDDY_API void eddy_route_set_cancel_on(struct eddy_route *route, enum eddy_cancel_on cancel_on);

EDDY_END_DECLS

#endif
