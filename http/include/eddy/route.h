/* eddy/route.h: a route: a handler for a method and a path pattern, with filters and limits.
 *
 *     struct eddy_route *route = eddy_app_map_put(app, "/avatars/{name}", save_avatar);
 *
 *     eddy_route_set_file_max(route, 256 * EDDY_KIB);
 *     eddy_route_add_filter(route, only_members);
 *
 * A pattern has static segments, `{name}` for any one segment, and `{name...}`, last, for the rest
 * of the path. A GET route also answers HEAD, without the body, unless a HEAD is mapped. Routes
 * belong to their app. Do not change them once it runs.
 */
#ifndef EDDY_ROUTE_H
#define EDDY_ROUTE_H

#include <eddy/filter.h>

EDDY_BEGIN_DECLS

struct eddy_route;

/* Handle a request, in a task of its own. May suspend.
 * Return: 0 if `res` holds the response; a status from 200 to 599; -errno, which becomes a status
 * (-ENOENT is 404, -EACCES 403, those without a better one 500). */
typedef int eddy_handler_fn(struct eddy_req *req, struct eddy_res *res);

/* Declare the mappers of an app or a group:
 *     struct eddy_route *eddy_app_map_get(struct eddy_app *app, const char *pattern,
 *                                         eddy_handler_fn *handler);
 * and likewise _head, _post, _put, _patch, _delete, _options, _trace and _connect.
 * Return: the route, never NULL; eddy_app_run() reports mistakes. */
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

/* Add a filter around a route's handler, inside all filters of its groups and the app. */
EDDY_API void eddy_route_add_filter(struct eddy_route *route, eddy_filter_fn *filter);

/* Add a filter with data for eddy_next_data(), borrowed for the app's life. */
EDDY_API void eddy_route_add_filter_with(struct eddy_route *route, eddy_filter_fn *filter,
					 void *data);

/* Set the pointer that the handler gets from eddy_req_route_data(). */
EDDY_API void eddy_route_set_data(struct eddy_route *route, void *data);

/* Limit the bodies that a route reads into memory or saves to files, in bytes, in place of the
 * app's .body_max and .file_max; EDDY_NEVER: no limit. */
EDDY_API void eddy_route_set_body_max(struct eddy_route *route, uint64_t max);
EDDY_API void eddy_route_set_file_max(struct eddy_route *route, uint64_t max);

/* Set a route's minimum rate of request bodies or responses, in bytes a second up to 1 MiB/s, in
 * place of the app's .body_rate_min and .write_rate_min; 0 or EDDY_NEVER: any rate. */
EDDY_API void eddy_route_set_body_rate_min(struct eddy_route *route, uint64_t rate);
EDDY_API void eddy_route_set_write_rate_min(struct eddy_route *route, uint64_t rate);

/* The client's event that cancels a request before it is answered: waiting calls return -ECANCELED,
 * and eddy_req_client_left() is true. It is noticed within 200 ms. */
enum eddy_cancel_on {
	EDDY_CANCEL_ON_DEFAULT, /* GET and HEAD: _RESET; other methods: _NOTHING */
	EDDY_CANCEL_ON_NOTHING, /* the handler completes */
	EDDY_CANCEL_ON_RESET,   /* the connection is reset */
	/* A reset, or the end of the client's stream. Most clients end it when they leave; one that
	 * only ends its sending, as `nc -N` does, then gets no response. */
	EDDY_CANCEL_ON_END,
};

/* Choose the client's event that cancels the requests of a route. */
EDDY_API void eddy_route_set_cancel_on(struct eddy_route *route, enum eddy_cancel_on cancel_on);

EDDY_END_DECLS

#endif
